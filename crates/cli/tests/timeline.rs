//! `rostrace timeline` at its boundary: files, formats, exit status.

use serde_json::Value;

use crate::support::{Folder, Says, recording, shared, stderr_of, stdout_of};

#[test]
fn a_file_appears_and_one_line_says_what_is_in_it() {
    let folder = Folder::new();
    let (trace, path) = (recording("pingpong"), folder.at("a.perfetto-trace"));
    let said = stderr_of(&["timeline", &trace, "-o", &path], 0);
    let expected = format!("rostrace: {path}: 959 callback executions, 618 messages, ");
    assert!(said.starts_with(&expected), "{said}");
    said.says("open it in https://ui.perfetto.dev");
    let bytes = std::fs::read(&path).unwrap();
    // A packet, and in it first of all its sequence.
    assert_eq!((bytes[0], &bytes[2..4]), (0x0a, &[0x50, 0x01][..]));
    assert_eq!(folder.names().len(), 1);
}

#[test]
fn a_trace_that_lost_events_is_written_and_the_exit_status_says_so() {
    let folder = Folder::new();
    let said = stderr_of(
        &[
            "timeline",
            &recording("lossy"),
            "-o",
            &folder.at("a.pftrace"),
        ],
        3,
    );
    said.says("43,809 events were lost");
    assert_eq!(folder.names(), ["a.pftrace"]);
}

#[test]
fn a_profile_is_packed_if_its_name_says_so() {
    let folder = Folder::new();
    let trace = recording("pingpong");
    for (name, first) in [
        ("profile.json.gz", [0x1f, 0x8b]),
        ("a.firefox.json", *b"{\""),
    ] {
        let file = folder.at(name);
        let said = stderr_of(&["timeline", &trace, "-o", &file], 0);
        said.says_all(&["959 callback executions", "https://profiler.firefox.com"]);
        assert_eq!(std::fs::read(&file).unwrap()[..2], first, "{name}");
    }
}

#[test]
fn the_ending_of_the_file_says_the_format_unless_it_is_said() {
    let folder = Folder::new();
    let trace = recording("lifecycle_caret");
    for (name, format, is_json) in [
        ("a.json", "", true),
        ("a.trace", "", false),
        ("b.json", "--format perfetto", false),
        ("b.trace", "--format chrome", true),
    ] {
        let file = folder.at(name);
        stdout_of(&format!("timeline {trace} -o {file} {format}"), 0);
        let bytes = std::fs::read(&file).unwrap();
        let read = serde_json::from_slice::<Value>(&bytes);
        assert_eq!(read.is_ok(), is_json, "{name}");
        if let Ok(read) = read {
            assert_eq!(read["otherData"]["rostrace.damage"], "nothing was lost");
            let events = read["traceEvents"].as_array().unwrap();
            let is_state = |event: &Value| event["cat"] == "lifecycle" && event["name"] == "active";
            assert!(events.iter().any(is_state));
        }
    }
}

#[test]
fn filters_narrow_and_what_fits_nothing_is_said() {
    let folder = Folder::new();
    let (trace, path) = (recording("pingpong"), folder.at("a.pftrace"));
    let asked =
        |filter: &str, status| stderr_of(&format!("timeline {trace} -o {path} {filter}"), status);
    asked("--node /ponger", 0).says("306 callback executions");
    asked("--node /nobody", 2).says("no node of this trace is named `/nobody`");
    asked("--skip-start 5s", 0).lacks("959 callback");
}

#[test]
fn of_a_kernel_alone_the_cpus_are_shown_and_what_is_missing_is_said() {
    let name = "../ctf-suite/1/succeed/lttng-tracefile-rotation";
    let Some(trace) = shared(name).filter(|it| std::path::Path::new(it).is_dir()) else {
        return;
    };
    let folder = Folder::new();
    let said = stderr_of(&["timeline", &trace, "-o", &folder.at("a.pftrace")], 0);
    said.says_all(&["no callback events", "4,687 CPU switches"]);
    let said = stderr_of(&["report", &trace, "-o", &folder.at("a.html")], 0);
    said.says("no callback events");
    stderr_of(&["why", &trace], 1).says("no callback events");
}
