//! `rostrace cut` at its boundary: what is in the new folder, what is refused, and that no half of it is left behind.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, HandMade, Says, dump, recording, spawn, stderr_of, stdout_of, text};

/// A folder for the new trace, which does not exist yet.
struct Output {
    parent: Folder,
}

impl Output {
    fn new() -> Output {
        let parent = Folder::new();
        Output { parent }
    }

    fn path(&self) -> String {
        self.parent.at("part")
    }

    fn events(&self) -> Vec<Value> {
        dump(&self.path(), &[], 0)
    }

    /// Everything beside the new trace.
    fn others(&self) -> Vec<String> {
        let names = self.parent.names().into_iter();
        names.filter(|name| name != "part").collect()
    }
}

/// Cuts, and gives what was said.
fn cut(trace: &str, options: &[&str], output: &Output, status: i32) -> String {
    let path = output.path();
    let arguments = [&["cut", trace, "-o", &path], options].concat();
    let said = stderr_of(&arguments, status);
    assert_eq!(output.others(), [""; 0], "{arguments:?}");
    said
}

/// Compares event by event, for messages that one can read.
fn same(found: &[Value], expected: &[Value]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_part_is_what_dump_shows_of_it() {
    let output = Output::new();
    let part = ["--since", "+2.5s", "--until", "+3s"];
    let options = [&part[..], &["--no-init"]].concat();
    let said = cut(&recording("pingpong"), &options, &output, 0);
    let expected = dump(&recording("pingpong"), &part, 0);
    assert!(expected.len() > 100);
    same(&output.events(), &expected);
    let summary = format!("part: {} of the ", expected.len());
    assert!(said.replace(',', "").contains(&summary), "{said}");
}

#[test]
fn initialisation_is_kept_from_before_the_part() {
    let output = Output::new();
    let part = ["--since", "+2.5s", "--until", "+3s"];
    let said = cut(&recording("pingpong"), &part, &output, 0);
    said.says("for initialisation");
    let expected = dump(&recording("pingpong"), &part, 0);
    let events = output.events();
    let before = events.len() - expected.len();
    same(&events[before..], &expected);
    let names = events[..before].iter().map(|event| text(&event["name"]));
    let names: Vec<&str> = names.collect();
    assert!(names.contains(&"ros2:rcl_node_init"));
    assert!(names.contains(&"ros2:rclcpp_callback_register"));
    assert!(!names.contains(&"ros2:callback_start"));
    let nodes = ["--event", "ros2:rcl_node_init"];
    let expected = dump(&recording("pingpong"), &nodes, 0);
    same(&dump(&output.path(), &nodes, 0), &expected);
}

#[test]
fn everything_can_be_cut() {
    let output = Output::new();
    let trace = recording("lifecycle_caret");
    cut(&trace, &[], &output, 0);
    same(&output.events(), &dump(&trace, &[], 0));
}

#[test]
fn filters_are_those_of_dump() {
    for filter in [
        &["--event", "ros2:callback_*"][..],
        &["--vpid", "22091"],
        &["--vtid", "22091", "--since", "+2s"],
        &["--cpu", "0"],
    ] {
        let output = Output::new();
        let options = [filter, &["--no-init"]].concat();
        cut(&recording("pingpong"), &options, &output, 0);
        same(&output.events(), &dump(&recording("pingpong"), filter, 0));
    }
}

#[test]
fn losses_in_the_part_are_exit_status_3_and_stay_in_the_trace() {
    let output = Output::new();
    let part = ["--since", "+2s", "--until", "+3s"];
    let said = cut(&recording("lossy"), &part, &output, 3);
    said.says("30,710 events discarded");
    let reported = stderr_of(&["dump", "--format", "csv", &output.path()], 3);
    reported.says("30,710 events discarded");
    let quiet = Output::new();
    let options = ["--since", "+0.5s", "--until", "+1s"];
    cut(&recording("lossy"), &options, &quiet, 0);
    stdout_of(&["info", &quiet.path()], 0);
}

#[test]
fn a_part_without_events_is_a_trace() {
    let output = Output::new();
    let nothing = ["--until", "1", "--no-init"];
    let said = cut(&recording("pingpong"), &nothing, &output, 0);
    said.says("no event is selected");
    assert!(output.events().is_empty());
}

#[test]
fn a_folder_that_is_not_empty_is_replaced_by_force_alone() {
    let output = Output::new();
    cut(&recording("pingpong"), &["--until", "+1s"], &output, 0);
    let before = output.events();
    let said = cut(&recording("lifecycle_caret"), &[], &output, 1);
    said.says("--force");
    same(&output.events(), &before);
    cut(&recording("lifecycle_caret"), &["--force"], &output, 0);
    assert_eq!(output.events().len(), 1758);
}

#[test]
fn force_does_not_delete_what_is_no_trace() {
    let output = Output::new();
    let letter = Path::new(&output.path()).join("letters/mother.txt");
    fs::create_dir_all(letter.parent().unwrap()).unwrap();
    fs::write(&letter, "Dear").unwrap();
    let said = cut(&recording("pingpong"), &["--force"], &output, 1);
    said.says("mother.txt");
    assert_eq!(fs::read_to_string(letter).unwrap(), "Dear");
}

#[test]
fn an_empty_folder_is_as_good_as_none() {
    let output = Output::new();
    fs::create_dir(output.path()).unwrap();
    cut(&recording("pingpong"), &["--until", "+1s"], &output, 0);
    assert!(!output.events().is_empty());
}

#[test]
fn the_new_trace_is_not_in_the_old_one_nor_around_it() {
    let trace = HandMade::new("event", b"process", b"text");
    let inside = trace.file("part");
    let around = Path::new(trace.path()).parent().unwrap();
    let metadata = trace.file("metadata");
    for (source, output) in [
        (trace.path(), trace.path()),
        (trace.path(), inside.to_str().unwrap()),
        (trace.path(), around.to_str().unwrap()),
        (metadata.to_str().unwrap(), inside.to_str().unwrap()),
    ] {
        let said = stderr_of(&["cut", source, "--force", "-o", output], 1);
        said.says("must not be in the trace");
    }
    assert_eq!(dump(trace.path(), &[], 0).len(), 2);
}

#[test]
fn nonsense_is_refused_before_anything_is_written() {
    let output = Output::new();
    let trace = recording("pingpong");
    let backwards = ["--since", "+2s", "--until", "+1s"];
    cut(&trace, &backwards, &output, 2).says("--since");
    assert!(output.parent.names().is_empty());
    stderr_of(&["cut", &trace], 2);
    let file = output.parent.write("file", "");
    stderr_of(&["cut", &trace, "-o", &file], 1).says("a file");
}

#[test]
fn a_stream_of_one_packet_without_sizes_is_cut_too() {
    let trace = HandMade::new("event", b"process", b"text");
    let output = Output::new();
    cut(trace.path(), &["--since", "+0.5s"], &output, 0);
    same(
        &output.events(),
        &dump(trace.path(), &["--since", "+0.5s"], 0),
    );
}

#[test]
fn several_traces_are_cut_as_one() {
    let output = Output::new();
    let (a, b) = (recording("pingpong"), recording("lifecycle_caret"));
    stderr_of(&["cut", &a, &b, "-o", &output.path()], 0);
    assert_eq!(output.events().len(), 9644 + 1758);
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let output = Output::new();
    let mut child = spawn(&["cut", &recording("pingpong"), "-o", &output.path()]);
    let id = child.id().to_string();
    let _ = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    let status = child.wait().unwrap();
    // Whoever is first wins, but there is a whole trace or none.
    match Path::new(&output.path()).exists() {
        true => assert_eq!(output.events().len(), 9644),
        false => assert_ne!(status.code(), Some(0)),
    }
    assert_eq!(output.others(), [""; 0]);
}

#[test]
fn babeltrace_reads_a_cut_without_a_word() {
    let output = Output::new();
    cut(&recording("pingpong"), &["--since", "+3s"], &output, 0);
    let Ok(printed) = std::process::Command::new("babeltrace2")
        .arg(output.path())
        .output()
    else {
        eprintln!("SKIPPED: there is no babeltrace2 on the PATH");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&printed.stderr), "");
    let lines = printed.stdout.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(lines, output.events().len());
    let ours = stdout_of(&["dump", &output.path()], 0);
    let theirs = std::process::Command::new("babeltrace2")
        .env("TZ", "UTC")
        .arg(output.path())
        .output()
        .unwrap();
    assert!(ours.as_bytes() == theirs.stdout);
}
