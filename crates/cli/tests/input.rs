//! What the program says when its input is not a trace.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{HandMade, stderr_of, stdout_of};

fn sentence(path: &str) -> String {
    let said = stderr_of(&["info", path], 1);
    assert!(
        said.starts_with("rostrace: ") && said.ends_with('\n'),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(stderr_of(&["dump", path], 1), said);
    said
}

#[test]
fn a_path_that_does_not_exist_is_named() {
    assert_eq!(
        sentence("/no/such/trace"),
        "rostrace: /no/such/trace: no such file or folder\n"
    );
}

#[test]
fn an_empty_folder_is_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert!(sentence(path).contains("no trace here"));
}

#[test]
fn a_folder_with_a_text_file_is_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "buy milk\n").unwrap();
    assert!(sentence(folder.path().to_str().unwrap()).contains("no trace here"));
}

#[test]
fn metadata_that_is_none_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metadata"), "buy milk\n").unwrap();
    assert!(
        sentence(folder.path().to_str().unwrap()).contains("the metadata cannot be understood")
    );
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let trace = HandMade::new("event", b"process", b"");
    let metadata = trace.file("metadata");
    std::fs::set_permissions(&metadata, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&metadata).is_ok() {
        eprintln!("NOT TESTED: this user (root?) may read every file");
        return;
    }
    let said = sentence(trace.path());
    assert!(
        said.contains("metadata: cannot be read: Permission denied"),
        "{said}"
    );
    assert_eq!(said.matches("Permission denied").count(), 1);
}

#[test]
fn a_broken_trace_beside_a_good_one_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let good = HandMade::new("event", b"process", b"");
    for (name, metadata) in [
        ("good", std::fs::read(good.file("metadata")).unwrap()),
        ("bad", b"milk".to_vec()),
    ] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("metadata"), metadata).unwrap();
    }
    std::fs::copy(good.file("stream"), folder.path().join("good/stream")).unwrap();
    let told = stderr_of(&["dump", folder.path().to_str().unwrap()], 3);
    assert!(told.contains("1 trace unreadable"), "{told}");
}

#[test]
fn a_file_that_becomes_shorter_is_explained() {
    let trace = HandMade::new("event", b"process", b"");
    let once = std::fs::read(trace.file("stream")).unwrap();
    let (header, events) = once.split_at(24);
    let many = [header, &events.repeat(200_000)].concat();
    std::fs::write(trace.file("stream"), many).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_rostrace"))
        .args(["dump", trace.path()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It is in the middle of the file when its first text comes, and waits for a reader of the rest.
    let mut text = child.stdout.take().unwrap();
    text.read_exact(&mut [0; 1000]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let file = std::fs::File::options()
        .write(true)
        .open(trace.file("stream"));
    file.unwrap().set_len(0).unwrap();
    std::io::copy(&mut text, &mut std::io::sink()).unwrap();
    let result = child.wait_with_output().unwrap();
    let said = String::from_utf8(result.stderr).unwrap();
    assert_eq!(result.status.code(), Some(1), "{said}");
    assert!(
        said.contains("a file became shorter while it was read"),
        "{said}"
    );
}

#[test]
fn a_packed_trace_is_told_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session.tar.zst");
    std::fs::write(&file, "packed").unwrap();
    let said = sentence(file.to_str().unwrap());
    assert!(
        said.contains("is a file, but a trace is a folder"),
        "{said}"
    );
}

#[test]
fn a_stream_that_cannot_be_read_does_not_take_the_others_with_it() {
    let trace = HandMade::new("event", b"process", b"");
    let events = stdout_of(&["dump", trace.path()], 0);
    // A link to nothing cannot be read by anybody, so that the test means the same for root.
    std::os::unix::fs::symlink("/nowhere", trace.file("ch_9")).unwrap();
    assert_eq!(stdout_of(&["dump", trace.path()], 3), events);
    let said = stderr_of(&["dump", trace.path()], 3);
    assert!(
        said.starts_with("rostrace: 1 file that cannot be read\n"),
        "{said}"
    );
    assert!(
        said.contains("/ch_9: cannot be read: No such file"),
        "{said}"
    );
}

#[test]
fn a_trace_with_nothing_that_can_be_read_is_an_error() {
    let trace = HandMade::new("event", b"process", b"");
    for entry in std::fs::read_dir(trace.path()).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("metadata") {
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/nowhere", &path).unwrap();
        }
    }
    let said = sentence(trace.path());
    assert!(said.contains("cannot be read: No such file"), "{said}");
}

/// A copy of a recording, and its trace folder.
fn copy_of(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new("cp")
        .args(["-r", &format!("{}/.", crate::support::recording(name))])
        .arg(folder.path())
        .status();
    assert!(status.unwrap().success());
    let trace = folder.path().join("ust/uid/0/64-bit");
    (folder, trace)
}

#[test]
fn a_stream_file_that_is_gone_or_empty_is_lost_data() {
    let (folder, trace) = copy_of("pingpong");
    let path = folder.path().to_str().unwrap();
    let all = stdout_of(&["info", path, "--format", "json"], 0);
    std::fs::write(trace.join("ros2_1"), "").unwrap();
    let less = stdout_of(&["info", path, "--format", "json"], 3);
    assert_ne!(all, less);
    assert!(less.contains("\"missing_stream\""), "{less}");
    std::fs::remove_file(trace.join("ros2_1")).unwrap();
    let said = stderr_of(&["dump", path], 3);
    assert!(
        said.contains("ros2_1, ") && said.contains("the stream file is gone; its index lists"),
        "{said}"
    );
    for verb in ["latency", "callbacks", "topics", "nodes"] {
        stdout_of(&[verb, path], 3);
    }
    std::fs::remove_dir_all(trace.join("index")).unwrap();
    std::fs::remove_file(trace.join("ros2_0")).unwrap();
    let said = stdout_of(&["info", path], 3);
    assert!(said.contains("not one stream file"), "{said}");
}

#[test]
fn a_cut_that_keeps_nothing_of_a_stream_does_not_miss_it() {
    let (folder, _) = copy_of("pingpong");
    let part = folder.path().join("part");
    let part = part.to_str().unwrap();
    let trace = folder.path().join("ust");
    let cut = [
        "cut",
        trace.to_str().unwrap(),
        "--no-init",
        "-o",
        part,
        "--force",
    ];
    stderr_of(&[&cut[..], &["--until", "1"]].concat(), 0);
    assert_eq!(stdout_of(&["dump", part], 0), "");
    for cpu in ["0", "1"] {
        stderr_of(&[&cut[..], &["--cpu", cpu]].concat(), 0);
        assert_ne!(stdout_of(&["dump", part], 0), "");
    }
}

#[test]
fn every_file_that_an_option_names_has_to_be_one() {
    let (folder, _) = copy_of("pingpong");
    let trace = folder.path().to_str().unwrap();
    let output = folder.path().join("output");
    let output = output.to_str().unwrap();
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let fifo = fifo.to_str().unwrap();
    for (file, reason) in [
        ("/no/such/file", "No such file"),
        (fifo, "it is a FIFO"),
        ("/dev/zero", "it is a device"),
    ] {
        for arguments in [
            &["latency", trace, "--architecture", file][..],
            &[
                "latency",
                trace,
                "--from",
                "/ping",
                "--to",
                "/pong",
                "--architecture",
                file,
            ],
            &["paths", trace, "--architecture", file],
            &["why", trace, "--architecture", file],
            &["export", trace, "-o", output, "--architecture", file],
            &["report", trace, "-o", output, "--architecture", file],
            &["check", file, trace],
            &["architecture", "check", file],
            &["architecture", "diff", file, file],
            &["architecture", "graph", file],
            &[
                "architecture",
                "paths",
                file,
                "--from",
                "/ping",
                "--to",
                "/pong",
            ],
        ] {
            let said = stderr_of(arguments, 1);
            assert!(
                said.contains(file) && said.contains("cannot be read") && said.contains(reason),
                "{arguments:?}: {said}"
            );
        }
    }
}
