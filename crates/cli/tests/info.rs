//! `rostrace info` at its boundary.

use serde_json::{Value, json};

use crate::support::{HandMade, Says, array, integer, json, recording, rows, stdout_of, text};

fn info(trace: &str, status: i32) -> Value {
    json(&["info", trace], status)
}

#[test]
fn the_json_says_what_a_complete_recording_contains() {
    let info = info(&recording("pingpong"), 0);
    assert_eq!(info["events"], 9644);
    assert_eq!(info["discarded_events"], 0);
    assert_eq!(info["lost_packets"], 0);
    assert_eq!(info["streams"], 2);
    assert_eq!(array(&info["stream_list"]).len(), 2);
    assert_eq!(info["damage"], json!([]));
    let processes = array(&info["processes"]);
    let names: Vec<_> = processes.iter().map(|process| &process["name"]).collect();
    assert_eq!(names, ["ping", "pong"]);
    assert_eq!(processes[0]["vpid"], 22091);
    assert_eq!(processes[0]["host"], "vm");
    let events = processes.iter().map(|process| integer(&process["events"]));
    assert_eq!(events.sum::<i64>(), 9644);
    let (begin, end) = (integer(&info["begin_ns"]), integer(&info["end_ns"]));
    assert_eq!(info["duration_ns"], end - begin);
    for process in processes {
        assert!(integer(&process["begin_ns"]) >= begin && integer(&process["end_ns"]) <= end);
    }
    let trace = &info["traces"][0];
    assert_eq!(trace["host"], "vm");
    assert_eq!(trace["clock"]["frequency_hz"], 1_000_000_000);
    assert!(text(&trace["tracer"]).starts_with("lttng-ust 2.13"));
}

#[test]
fn event_names_are_counted_and_sorted() {
    let info = info(&recording("pingpong"), 0);
    let names = array(&info["event_names"]);
    let counts: Vec<i64> = names.iter().map(|name| integer(&name["events"])).collect();
    assert_eq!(counts.iter().sum::<i64>(), 9644);
    assert!(counts.is_sorted_by(|a, b| a >= b));
    let start = names
        .iter()
        .find(|name| name["name"] == "ros2:callback_start");
    assert_eq!(start.unwrap()["events"], 959);
}

#[test]
fn losses_are_rows_and_the_exit_status_is_3() {
    let info = info(&recording("lossy"), 3);
    assert_eq!(info["events"], 7955);
    assert_eq!(info["discarded_events"], 43809);
    let damage = array(&info["damage"]);
    let counts = damage.iter().map(|row| integer(&row["count"]));
    assert_eq!(counts.sum::<i64>(), 43809);
    for row in damage {
        assert_eq!(row["kind"], "discarded_events");
        assert!(integer(&row["begin_ns"]) < integer(&row["end_ns"]));
        text(&row["path"]).says("lossy");
        assert!(row["offset"].is_u64() && row["message"].is_string());
    }
}

#[test]
fn the_table_begins_with_the_damage() {
    let table = stdout_of(&["info", &recording("lossy")], 3);
    assert!(table.starts_with("Damage\n 43,809 events discarded\n"));
    table.says("and 46 more");
    let all = stdout_of(&["info", "--all-damage", &recording("lossy")], 3);
    all.lacks("more; --all-damage");
    assert_eq!(all.matches("the tracer lost").count(), 56);
}

#[test]
fn the_table_has_no_colour_where_there_is_no_terminal() {
    let table = stdout_of(&["info", &recording("pingpong")], 0);
    assert!(table.starts_with("Recording\n"), "{table}");
    assert!(!table.contains('\x1b'));
    for word in [
        "2026-11-15 04:11:19.",
        "+00:00",
        "lttng-ust",
        "22091",
        "ros2:callback_start",
        "9,644",
    ] {
        table.says(word);
    }
}

#[test]
fn two_traces_are_one_recording() {
    let (a, b) = (recording("pingpong"), recording("lifecycle_caret"));
    let info = json(&["info", &a, &b], 0);
    assert_eq!(info["events"], 9644 + 1758);
    assert_eq!(array(&info["traces"]).len(), 2);
    let names = array(&info["event_names"]).iter();
    let starts = names.filter(|name| name["name"] == "ros2:callback_start");
    assert_eq!(starts.count(), 1);
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let trace = HandMade::new("evil\\033[2Jevent", b"pro\x1b]0;title\x07cess", b"");
    let table = stdout_of(&["info", trace.path()], 0);
    let mut characters = table.chars();
    assert!(
        characters.all(|c| c == '\n' || !c.is_control()),
        "{table:?}"
    );
    table.says_all(&["evil\\u{1b}[2Jevent", "pro\\u{1b}]0;title\\u{7}cess"]);
}

#[test]
fn the_ros_2_content_of_a_recording_is_counted() {
    let ros = &info(&recording("lifecycle_caret"), 0)["ros"];
    assert_eq!(ros["distributions"], json!(["Jazzy"]));
    assert_eq!(ros["rmw_implementations"], json!(["rmw_cyclonedds_cpp"]));
    let entities = &ros["entities"];
    // What nobody wrote is counted apart: two of CARET's nodes.
    assert_eq!(entities["built_in_nodes"], 2);
    // As many as the verbs list.
    for verb in ["nodes", "topics", "callbacks", "executors"] {
        let listed = rows(&[verb, &recording("lifecycle_caret")], 0);
        assert_eq!(entities[verb], listed.len(), "{verb}");
    }
}

#[test]
fn capabilities_say_what_can_and_what_cannot_be_known() {
    let ros = &info(&recording("pingpong"), 0)["ros"];
    let events = |name: &str| {
        let mut capabilities = array(&ros["capabilities"]).iter();
        let row = capabilities.find(|row| row["name"] == name);
        row.unwrap()["events"].as_u64().unwrap()
    };
    assert_eq!(events("callbacks"), 2 * 959);
    assert_eq!(events("intra-process"), 0);
    assert_eq!(events("kernel scheduling"), 0);
    let limits = ros["limits"].to_string();
    limits.says("no executors and callback groups");
    limits.says("no kernel scheduling events");
    limits.lacks("no take events");
}

#[test]
fn the_table_says_what_can_and_what_cannot_be_known() {
    for (name, status) in [("pingpong", 0), ("lifecycle_caret", 0), ("lossy", 3)] {
        let table = stdout_of(&["info", &recording(name)], status);
        let (_, from) = table.split_once("\nROS 2\n").unwrap();
        let (chapters, _) = from.split_once("\nProcesses\n").unwrap();
        crate::support::assert_expected(&format!("{name}/info_ros.txt"), chapters);
    }
}

#[test]
fn a_trace_without_ros_2_has_no_such_chapters() {
    let trace = HandMade::new("somebody:something", b"process", b"");
    let table = stdout_of(&["info", trace.path()], 0);
    table.lacks("ROS 2");
    table.says("Events that rostrace does not know");
    let ros = &info(trace.path(), 0)["ros"];
    assert_eq!(ros["entities"], Value::Null);
    assert_eq!(ros["limits"], json!([]));
    let unknown = json!([{ "name": "somebody:something", "events": 2 }]);
    assert_eq!(ros["unknown_events"], unknown);
}
