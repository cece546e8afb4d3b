//! `rostrace report` at its boundary: where it writes, and where it refuses to.

use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{recording, rostrace, stderr_of};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::write(target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn a_place_that_takes_no_file_is_told_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    let missing = format!("{here}/missing/report.html");
    for verb in ["report", "timeline"] {
        let said = stderr_of(&[verb, &recording("pingpong"), "-o", here], 1);
        assert!(said.contains("this is a folder, not a file"), "{said}");
        let said = stderr_of(&[verb, &recording("pingpong"), "-o", &missing], 1);
        assert!(said.contains("missing: there is no such folder"), "{said}");
    }
    assert_eq!(below(folder.path()).len(), 0);
}

#[test]
fn a_pipe_is_written_and_stays_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap())
    };
    let said = stderr_of(
        &[
            "report",
            &recording("pingpong"),
            "-o",
            pipe.to_str().unwrap(),
        ],
        0,
    );
    assert!(said.contains("pipe: written"), "{said}");
    assert!(reader.join().unwrap().ends_with("</html>\n"));
    let kind = std::fs::metadata(&pipe).unwrap().file_type();
    assert!(kind.is_fifo());
}

#[test]
fn a_full_device_is_an_error_and_stays_a_device() {
    // A link, so that not even a broken program can harm the device.
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("full");
    symlink("/dev/full", &link).unwrap();
    for verb in ["report", "timeline"] {
        let path = link.to_str().unwrap();
        let said = stderr_of(&[verb, &recording("pingpong"), "-o", path], 1);
        assert!(said.contains("full: cannot be written: No space"), "{said}");
    }
    let kind = std::fs::metadata(&link).unwrap().file_type();
    assert!(kind.is_char_device());
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn behind_a_link_the_file_is_replaced_and_the_link_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("old"), folder.path().join("link"));
    std::fs::write(&file, "old").unwrap();
    symlink(&file, &link).unwrap();
    rostrace(&[
        "report",
        &recording("pingpong"),
        "-o",
        link.to_str().unwrap(),
    ])
    .assert()
    .code(0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .ends_with("</html>\n")
    );
}

#[test]
fn no_file_of_the_trace_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    copy(Path::new(&recording("pingpong")), folder.path());
    let trace = folder.path().to_str().unwrap();
    for file in below(folder.path()) {
        let is_index = file.components().any(|it| it.as_os_str() == "index");
        let is_trace = file.components().any(|it| it.as_os_str() == "64-bit");
        if is_index || !is_trace {
            continue;
        }
        let before = std::fs::read(&file).unwrap();
        for verb in ["report", "timeline"] {
            let said = stderr_of(&[verb, trace, "-o", file.to_str().unwrap()], 1);
            assert!(said.contains("this is a file of the trace"), "{said}");
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}

#[test]
fn a_folder_with_its_report_is_read_as_before() {
    let folder = tempfile::tempdir().unwrap();
    copy(Path::new(&recording("pingpong")), folder.path());
    let trace = folder.path().to_str().unwrap();
    let listed = || {
        let output = rostrace(&["callbacks", trace, "--format", "json"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        output.stdout
    };
    let before = listed();
    let metadata = below(folder.path());
    let metadata = metadata.iter().find(|file| file.ends_with("metadata"));
    let streams = metadata.unwrap().parent().unwrap();
    for place in streams
        .ancestors()
        .take_while(|it| *it != folder.path().parent().unwrap())
    {
        let report = place.join("report.html");
        // Every reader takes all files beside the metadata for streams.
        let status = i32::from(place == streams);
        rostrace(&["report", trace, "-o", report.to_str().unwrap()])
            .assert()
            .code(status);
    }
    assert_eq!(listed(), before);
    let output = rostrace(&["report", "."])
        .current_dir(streams)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("choose another folder with -o"), "{said}");
}

#[test]
fn a_path_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let arguments = ["report", &recording("pingpong"), "--path", "nothing", "-o"];
    let output = rostrace(&arguments).arg(&page).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no path is named `nothing`"), "{said}");
    assert!(!page.exists());
}

#[test]
fn it_is_opened_where_there_is_a_desktop_and_named_where_there_is_none() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let trace = recording("pingpong");
    let arguments = ["report", &trace, "--open", "-o", page.to_str().unwrap()];
    let output = rostrace(&arguments)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains(&format!(
            "open {} in a browser",
            page.canonicalize().unwrap().display()
        )),
        "{said}"
    );

    let told = folder.path().join("told");
    let opener = folder.path().join("xdg-open");
    let script = format!(
        "#!/bin/sh\necho \"$1\" > {told}.part\nmv {told}.part {told}\n",
        told = told.display()
    );
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    rostrace(&arguments)
        .env("PATH", path)
        .env("DISPLAY", ":7")
        .assert()
        .code(0);
    while !told.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let opened = std::fs::read_to_string(&told).unwrap();
    assert_eq!(
        opened.trim(),
        page.canonicalize().unwrap().to_str().unwrap()
    );
}
