//! What goes wrong while something is recorded, and is reported: other versions, too few files, filter files with mistakes.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Says;
use crate::support::place::{Place, finished, kill, pid_of, signal, ticker, wait_for_ready};

/// Where the control page has the number of its layout, in every version.
const LAYOUT_AT: u64 = 8;

fn set_layout(control: &Path, layout: u32) {
    let file = OpenOptions::new().write(true).open(control).unwrap();
    file.write_all_at(&layout.to_ne_bytes(), LAYOUT_AT).unwrap();
}

fn layout(control: &Path) -> u32 {
    let bytes = std::fs::read(control).unwrap();
    u32::from_ne_bytes(bytes[8..12].try_into().unwrap())
}

/// The library that belongs to the program.
fn library(place: &Place) -> PathBuf {
    let answer = place.json(&["doctor"], 0);
    let text = answer["checks"][0]["found"].as_str();
    let path = text.unwrap().strip_suffix(" can be loaded").unwrap();
    PathBuf::from(path)
}

#[test]
fn a_library_of_another_version_is_refused_before_anything_is_started() {
    let place = Place::new();
    let mut bytes = std::fs::read(library(&place)).unwrap();
    let name = b"rostrace\0\0\0\0";
    let mut found = 0;
    for at in 4..bytes.len() - name.len() - 4 {
        if bytes[at..].starts_with(name) && bytes[at - 4..at] == *b"TSOR" {
            bytes[at + name.len()] = 200;
            found += 1;
        }
    }
    assert_eq!(found, 1, "one note");
    let other = place.path("other.so");
    std::fs::write(&other, bytes).unwrap();
    for verb in [
        &["record", "-o", "trace", "--", ticker(), "50"][..],
        &["run", "--", ticker(), "50"],
    ] {
        let mut command = place.command(verb);
        command.env("ROSTRACE_TRACER", &other);
        let (_, err) = finished(command.output().unwrap(), 1);
        err.says_all(&["other.so is of another version", "layout 200"]);
    }
    assert!(!place.path("trace").exists());
    let mut command = place.command(&["doctor"]);
    command.env("ROSTRACE_TRACER", &other);
    let (out, _) = finished(command.output().unwrap(), 1);
    out.says("is of another version");
}

#[test]
fn a_process_with_a_tracer_of_another_version_is_reported_by_all() {
    let place = Place::new();
    let control = place.path("control");
    let script = format!(
        "{0} 600000 & until test -e go; do sleep 0.02; done; {0} 600000; wait",
        ticker()
    );
    let mut run = place.command(&["run", "--control", "control", "--", "sh", "-c", &script]);
    let mut child = run.spawn().unwrap();
    let _rest = wait_for_ready(&mut child);
    // While the second process starts, the page is of another version.
    let own = layout(&control);
    set_layout(&control, own + 7);
    let mut status = place.command(&["status", "--control", "control"]);
    let (_, err) = finished(status.output().unwrap(), 1);
    err.says("another version of rostrace");
    std::fs::write(place.path("go"), "").unwrap();
    let begin = Instant::now();
    while std::fs::read(&control).unwrap()[96] == 0 {
        assert!(begin.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(10));
    }
    set_layout(&control, own);
    let (_, err) = place.run(&["status", "--control", "control"], 0);
    err.says("a tracer of another version");
    let arguments = ["record", "--attach", "--control", "control", "--duration"];
    let mut attach = place.command(&arguments);
    attach.args(["400ms", "-o", "trace"]);
    let (out, err) = finished(attach.output().unwrap(), 3);
    out.says("1 process");
    err.says("a tracer of another version");
    signal(&child, libc::SIGTERM);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    said.says("is not recorded. ");
}

#[test]
fn a_session_of_another_version_is_reported() {
    let place = Place::new();
    let (mut child, _rest) = place.idle_ticker();
    let sessions = place.until(|sessions| sessions.len() == 1);
    let control = PathBuf::from(sessions[0]["control"].as_str().unwrap());
    let own = layout(&control);
    set_layout(&control, own + 1);
    let (_, err) = place.run(&["status"], 0);
    err.says("another version of rostrace");
    let (_, err) = place.run(&["record", "--attach"], 1);
    err.says("another version of rostrace");
    set_layout(&control, own);
    signal(&child, libc::SIGTERM);
    child.wait().unwrap();
}

/// Events need no file of the process, so nothing depends on whether it can open one.
#[test]
fn a_process_that_has_no_files_left_loses_nothing() {
    for (files, flood) in [("late", "1"), ("early", "")] {
        let place = Place::new();
        let script = format!("ulimit -n 24; exec {} 100", ticker());
        let mut record = place.command(&["record", "-o", "trace", "--", "sh", "-c", &script]);
        record.env("TICKER_FILES", files);
        if !flood.is_empty() {
            record.env("TICKER_FLOOD", flood);
        }
        let (out, err) = finished(record.output().unwrap(), 0);
        assert!(out.contains("lost: 0"), "{files}: {out}\n{err}");
    }
}

#[test]
fn a_recording_begins_although_the_process_has_no_files_left() {
    let place = Place::new();
    let script = format!("ulimit -n 24; exec {} 6000000", ticker());
    let mut run = place.command(&["run", "--", "sh", "-c", &script]);
    run.env("TICKER_FILES", "asked");
    let mut child = run.spawn().unwrap();
    let _rest = wait_for_ready(&mut child);
    let has_process =
        |sessions: &[Value]| sessions.len() == 1 && !sessions[0]["processes"][0].is_null();
    let pid = pid_of(&place.until(has_process));
    // It opens all the files that it may.
    kill(pid, libc::SIGHUP);
    let mut attach = place.command(&["record", "--attach", "-o", "trace"]);
    let attach = attach.spawn().unwrap();
    place.until(|sessions| sessions[0]["processes"][0]["events"].as_u64() > Some(50));
    signal(&attach, libc::SIGINT);
    let (out, err) = finished(attach.wait_with_output().unwrap(), 0);
    assert!(out.contains("/ticker · timer 1 ms"), "{out}\n{err}");
    assert!(out.contains("lost: 0"), "{out}\n{err}");
    signal(&child, libc::SIGTERM);
    child.wait().unwrap();
}

#[test]
fn a_filter_file_of_caret_decides_what_is_recorded() {
    let place = Place::new();
    let both = format!(
        "TICKER_NODE=left {0} 60 & TICKER_NODE=right {0} 60; wait",
        ticker()
    );
    let record = |file: &str, folder: &str, status: i32| {
        std::fs::write(place.path("filter.bash"), file).unwrap();
        let mut command =
            place.command(&format!("record --caret-filter filter.bash -o {folder} --"));
        command
            .args(["sh", "-c", &both])
            .env("CARET_IGNORE_NODES", "/right");
        finished(command.output().unwrap(), status).1
    };
    let text = "#!/bin/bash\n\nexport CARET_IGNORE_NODES=\\\n\"\\\n/lef*:\\\n/rviz*\\\n\"\n";
    let err = record(text, "one", 0);
    err.says("filtered as CARET_IGNORE_NODES says");
    for row in place.callbacks("one") {
        let is_ignored = row["node"] == "/left";
        assert_eq!(row["count"] == 0, is_ignored, "{row}");
    }
    let err = record("\n\nsource other.bash\n", "two", 1);
    err.says("filter.bash, line 3: `source other.bash` is not understood");
    assert!(!place.path("two").exists());
    let err = record("export CARET_IGNORE_NODES=\"[ab]\"\n", "three", 1);
    err.says("CARET_IGNORE_NODES contains `[ab]`");
    let (_, err) = place.run("record --caret-filter f --ignore-node /x -- true", 2);
    err.says("--caret-filter");
}
