//! What the program says when its input is not a trace.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use crate::support::{Folder, HandMade, Says, spawn, stderr_of, stdout_of};

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
fn what_is_no_trace_is_named_and_explained() {
    let said = sentence("/no/such/trace");
    assert_eq!(said, "rostrace: /no/such/trace: no such file or folder\n");
    let folder = Folder::new();
    sentence(folder.here()).says("no trace here");
    folder.write("notes.txt", "buy milk\n");
    sentence(folder.here()).says("no trace here");
    folder.write("metadata", "buy milk\n");
    sentence(folder.here()).says("the metadata cannot be understood");
    let packed = folder.write("session.tar.zst", "packed");
    sentence(&packed).says("is a file, but a trace is a folder");
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
    said.says("metadata: cannot be read: Permission denied");
    assert_eq!(said.matches("Permission denied").count(), 1);
}

#[test]
fn a_broken_trace_beside_a_good_one_is_damage() {
    let folder = Folder::new();
    let good = HandMade::new("event", b"process", b"");
    crate::support::copy(good.path().as_ref(), &folder.join("good"));
    std::fs::create_dir(folder.join("bad")).unwrap();
    folder.write("bad/metadata", "milk");
    let reported = stderr_of(&["dump", folder.here()], 3);
    reported.says("1 trace unreadable");
}

#[test]
fn a_file_that_becomes_shorter_is_explained() {
    let trace = HandMade::new("event", b"process", b"");
    let once = std::fs::read(trace.file("stream")).unwrap();
    let (header, events) = once.split_at(24);
    let many = [header, &events.repeat(200_000)].concat();
    std::fs::write(trace.file("stream"), many).unwrap();
    let mut child = spawn(&["dump", trace.path()]);
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
    said.says("a file became shorter while it was read");
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
    said.says("/ch_9: cannot be read: No such file");
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
    said.says("cannot be read: No such file");
}

#[test]
fn a_stream_file_that_is_gone_or_empty_is_lost_data() {
    let folder = Folder::with("pingpong");
    let (path, trace) = (folder.here(), folder.join("ust/uid/0/64-bit"));
    let all = stdout_of(&["info", path, "--format", "json"], 0);
    std::fs::write(trace.join("ros2_1"), "").unwrap();
    let less = stdout_of(&["info", path, "--format", "json"], 3);
    assert_ne!(all, less);
    less.says("\"missing_stream\"");
    std::fs::remove_file(trace.join("ros2_1")).unwrap();
    let said = stderr_of(&["dump", path], 3);
    said.says_all(&["ros2_1, ", "the stream file is gone; its index lists"]);
    for verb in ["latency", "callbacks", "topics", "nodes"] {
        stdout_of(&[verb, path], 3);
    }
    std::fs::remove_dir_all(trace.join("index")).unwrap();
    std::fs::remove_file(trace.join("ros2_0")).unwrap();
    let said = stdout_of(&["info", path], 3);
    said.says("not one stream file");
}

#[test]
fn a_cut_that_keeps_nothing_of_a_stream_does_not_miss_it() {
    let folder = Folder::with("pingpong");
    let (trace, part) = (folder.at("ust"), folder.at("part"));
    let cut = format!("cut {trace} --no-init -o {part} --force");
    stderr_of(&format!("{cut} --until 1"), 0);
    assert_eq!(stdout_of(&["dump", &part], 0), "");
    for cpu in [0, 1] {
        stderr_of(&format!("{cut} --cpu {cpu}"), 0);
        assert_ne!(stdout_of(&["dump", &part], 0), "");
    }
}

#[test]
fn every_file_that_an_option_names_has_to_be_one() {
    let folder = Folder::with("pingpong");
    let (trace, output) = (folder.here(), folder.at("output"));
    let fifo = folder.at("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for (file, reason) in [
        ("/no/such/file", "No such file"),
        (&fifo, "it is a FIFO"),
        ("/dev/zero", "it is a device"),
    ] {
        for question in [
            format!("latency {trace} --architecture {file}"),
            format!("latency {trace} --from /ping --to /pong --architecture {file}"),
            format!("paths {trace} --architecture {file}"),
            format!("why {trace} --architecture {file}"),
            format!("export {trace} -o {output} --architecture {file}"),
            format!("report {trace} -o {output} --architecture {file}"),
            format!("check {file} {trace}"),
            format!("architecture check {file}"),
            format!("architecture diff {file} {file}"),
            format!("architecture graph {file}"),
            format!("architecture paths {file} --from /ping --to /pong"),
        ] {
            let said = stderr_of(&question, 1);
            said.says_all(&[file, "cannot be read", reason]);
        }
    }
}
