//! `rostrace timeline` at its boundary: files, formats, exit status.

use serde_json::Value;

use crate::support::{recording, rostrace, shared_recordings, stderr_of};

#[test]
fn a_file_appears_and_one_line_says_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.perfetto-trace");
    let (trace, path) = (recording("pingpong"), file.to_str().unwrap());
    let said = stderr_of(&["timeline", &trace, "-o", path], 0);
    let expected = format!("rostrace: {path}: 959 callback executions, 618 messages, ");
    assert!(said.starts_with(&expected), "{said}");
    assert!(
        said.contains("open it in https://ui.perfetto.dev"),
        "{said}"
    );
    let bytes = std::fs::read(&file).unwrap();
    // A packet, and in it first of all its sequence.
    assert_eq!((bytes[0], &bytes[2..4]), (0x0a, &[0x50, 0x01][..]));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_trace_that_lost_events_is_written_and_the_exit_status_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.pftrace");
    let said = stderr_of(
        &[
            "timeline",
            &recording("lossy"),
            "-o",
            file.to_str().unwrap(),
        ],
        3,
    );
    assert!(said.contains("43,809 events were lost"), "{said}");
    assert!(file.is_file());
}

#[test]
fn a_profile_is_packed_if_its_name_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recording("pingpong");
    for (name, first) in [
        ("profile.json.gz", [0x1f, 0x8b]),
        ("a.firefox.json", *b"{\""),
    ] {
        let file = folder.path().join(name);
        let said = stderr_of(&["timeline", &trace, "-o", file.to_str().unwrap()], 0);
        assert!(said.contains("959 callback executions"), "{said}");
        assert!(said.contains("https://profiler.firefox.com"), "{said}");
        assert_eq!(std::fs::read(&file).unwrap()[..2], first, "{name}");
    }
}

#[test]
fn the_ending_of_the_file_says_the_format_unless_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recording("lifecycle_caret");
    for (name, format, is_json) in [
        ("a.json", None, true),
        ("a.trace", None, false),
        ("b.json", Some("perfetto"), false),
        ("b.trace", Some("chrome"), true),
    ] {
        let file = folder.path().join(name);
        let mut arguments = vec!["timeline", &trace, "-o", file.to_str().unwrap()];
        arguments.extend(format.iter().flat_map(|format| ["--format", *format]));
        rostrace(&arguments).assert().code(0);
        let bytes = std::fs::read(&file).unwrap();
        let read = serde_json::from_slice::<Value>(&bytes);
        assert_eq!(read.is_ok(), is_json, "{name}");
        if let Ok(read) = read {
            assert_eq!(read["otherData"]["rostrace.damage"], "nothing was lost");
            let events = read["traceEvents"].as_array().unwrap();
            let is_state =
                |event: &&Value| event["cat"] == "lifecycle" && event["name"] == "active";
            assert!(events.iter().any(|event| is_state(&event)));
        }
    }
}

#[test]
fn filters_narrow_and_what_fits_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.pftrace");
    let (trace, path) = (recording("pingpong"), file.to_str().unwrap());
    let said = stderr_of(&["timeline", &trace, "-o", path, "--node", "/ponger"], 0);
    assert!(said.contains("306 callback executions"), "{said}");
    let said = stderr_of(&["timeline", &trace, "-o", path, "--node", "/nobody"], 2);
    assert!(
        said.contains("no node of this trace is named `/nobody`"),
        "{said}"
    );
    let said = stderr_of(&["timeline", &trace, "-o", path, "--skip-start", "5s"], 0);
    assert!(!said.contains("959 callback"), "{said}");
}

#[test]
fn of_a_kernel_alone_the_cpus_are_shown_and_what_is_missing_is_said() {
    let Some(shared) = shared_recordings() else {
        return;
    };
    let trace = shared.join("../ctf-suite/1/succeed/lttng-tracefile-rotation");
    if !trace.is_dir() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let trace = trace.to_str().unwrap();
    let said = stderr_of(&["timeline", trace, "-o", &at("a.pftrace")], 0);
    assert!(said.contains("no callback events"), "{said}");
    assert!(said.contains("4,687 CPU switches"), "{said}");
    let said = stderr_of(&["report", trace, "-o", &at("a.html")], 0);
    assert!(said.contains("no callback events"), "{said}");
    let said = stderr_of(&["why", trace], 1);
    assert!(said.contains("no callback events"), "{said}");
}

#[test]
fn a_folder_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recording("pingpong");
    let path = folder.path().to_str().unwrap();
    let said = stderr_of(&["timeline", &trace, "-o", path], 1);
    assert!(said.contains("this is a folder, not a file"), "{said}");
}
