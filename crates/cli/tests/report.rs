//! `rostrace report` at its boundary: where it writes, and where it refuses to.

use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{Folder, Opener, Says, finished, recording, rostrace, stderr_of, stdout_of};

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
fn a_place_that_takes_no_file_is_reported_before_anything_is_written() {
    let folder = Folder::new();
    for verb in ["report", "timeline"] {
        for (place, sentence) in [
            ("", "this is a folder, not a file"),
            ("missing/report.html", "missing: there is no such folder"),
        ] {
            let place = folder.at(place);
            stderr_of(&[verb, &recording("pingpong"), "-o", &place], 1).says(sentence);
        }
    }
    assert_eq!(below(folder.path()).len(), 0);
}

#[test]
fn a_pipe_is_written_and_stays_a_pipe() {
    let folder = Folder::new();
    let pipe = folder.at("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let read = pipe.clone();
    let reader = std::thread::spawn(move || std::fs::read_to_string(read).unwrap());
    let said = stderr_of(&["report", &recording("pingpong"), "-o", &pipe], 0);
    said.says("pipe: written");
    assert!(reader.join().unwrap().ends_with("</html>\n"));
    let kind = std::fs::metadata(&pipe).unwrap().file_type();
    assert!(kind.is_fifo());
}

#[test]
fn a_full_device_is_an_error_and_stays_a_device() {
    // A link, so that not even a broken program can harm the device.
    let folder = Folder::new();
    let link = folder.at("full");
    symlink("/dev/full", &link).unwrap();
    for verb in ["report", "timeline"] {
        let said = stderr_of(&[verb, &recording("pingpong"), "-o", &link], 1);
        said.says("full: cannot be written: No space");
    }
    let kind = std::fs::metadata(&link).unwrap().file_type();
    assert!(kind.is_char_device());
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn behind_a_link_the_file_is_replaced_and_the_link_stays() {
    let folder = Folder::new();
    let (file, link) = (folder.write("old", "old"), folder.at("link"));
    symlink(file, &link).unwrap();
    stdout_of(&["report", &recording("pingpong"), "-o", &link], 0);
    assert!(Path::new(&link).is_symlink());
    assert!(folder.read("old").ends_with("</html>\n"));
}

#[test]
fn no_file_of_the_trace_is_replaced() {
    let folder = Folder::with("pingpong");
    let trace = folder.here();
    for file in below(folder.path()) {
        let is_index = file.components().any(|it| it.as_os_str() == "index");
        let is_trace = file.components().any(|it| it.as_os_str() == "64-bit");
        if is_index || !is_trace {
            continue;
        }
        let before = std::fs::read(&file).unwrap();
        for verb in ["report", "timeline"] {
            let said = stderr_of(&[verb, trace, "-o", file.to_str().unwrap()], 1);
            said.says("this is a file of the trace");
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}

#[test]
fn a_folder_with_its_report_is_read_as_before() {
    let folder = Folder::with("pingpong");
    let trace = folder.here();
    let listed = || stdout_of(&["callbacks", trace, "--format", "json"], 0);
    let before = listed();
    let metadata = below(folder.path());
    let metadata = metadata.iter().find(|file| file.ends_with("metadata"));
    let streams = metadata.unwrap().parent().unwrap();
    let places = streams.ancestors();
    for place in places.take_while(|it| it.starts_with(folder.path())) {
        let report = place.join("report.html");
        // Every reader takes all files beside the metadata for streams.
        let status = i32::from(place == streams);
        stderr_of(&["report", trace, "-o", report.to_str().unwrap()], status);
    }
    assert_eq!(listed(), before);
    let (_, said) = finished(rostrace("report .").current_dir(streams), 1);
    said.says("choose another folder with -o");
}

#[test]
fn a_path_that_is_not_there_is_reported() {
    let folder = Folder::new();
    let (trace, page) = (recording("pingpong"), folder.at("report.html"));
    let said = stderr_of(&format!("report {trace} --path nothing -o {page}"), 2);
    said.says("no path is named `nothing`");
    assert!(folder.names().is_empty());
}

#[test]
fn it_is_opened_where_there_is_a_desktop_and_named_where_there_is_none() {
    let folder = Folder::new();
    let (trace, page) = (recording("pingpong"), folder.at("report.html"));
    let arguments = ["report", &trace, "--open", "-o", &page];
    let mut command = rostrace(&arguments);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let (_, said) = finished(&mut command, 0);
    let absolute = std::fs::canonicalize(&page).unwrap();
    said.says(&format!("open {} in a browser", absolute.display()));

    let opener = Opener::new(&folder, "echo \"$1\"");
    let mut command = rostrace(&arguments);
    finished(command.env("PATH", &opener.path).env("DISPLAY", ":7"), 0);
    assert_eq!(opener.reported().trim(), absolute.to_str().unwrap());
}
