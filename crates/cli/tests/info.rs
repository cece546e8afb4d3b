//! `rostrace info` at its boundary.

use crate::support::{HandMade, recording, rostrace, stdout_of};

fn json(trace: &str, status: i32) -> serde_json::Value {
    serde_json::from_str(&stdout_of(&["info", "--format", "json", trace], status)).unwrap()
}

#[test]
fn the_json_says_what_a_complete_recording_contains() {
    let info = json(&recording("pingpong"), 0);
    assert_eq!(info["events"], 9644);
    assert_eq!(info["discarded_events"], 0);
    assert_eq!(info["lost_packets"], 0);
    assert_eq!(info["streams"], 2);
    assert_eq!(info["stream_list"].as_array().unwrap().len(), 2);
    assert_eq!(info["damage"], serde_json::json!([]));
    let processes = info["processes"].as_array().unwrap();
    let names: Vec<_> = processes.iter().map(|process| &process["name"]).collect();
    assert_eq!(names, ["ping", "pong"]);
    assert_eq!(processes[0]["vpid"], 22091);
    assert_eq!(processes[0]["host"], "vm");
    let events: u64 = processes
        .iter()
        .map(|process| process["events"].as_u64().unwrap())
        .sum();
    assert_eq!(events, 9644);
    let (begin, end) = (
        info["begin_ns"].as_i64().unwrap(),
        info["end_ns"].as_i64().unwrap(),
    );
    assert_eq!(info["duration_ns"].as_i64().unwrap(), end - begin);
    assert!(
        processes
            .iter()
            .all(|process| process["begin_ns"].as_i64().unwrap() >= begin)
    );
    assert!(
        processes
            .iter()
            .all(|process| process["end_ns"].as_i64().unwrap() <= end)
    );
    let trace = &info["traces"][0];
    assert_eq!(trace["host"], "vm");
    assert_eq!(trace["clock"]["frequency_hz"], 1_000_000_000);
    assert!(
        trace["tracer"]
            .as_str()
            .unwrap()
            .starts_with("lttng-ust 2.13")
    );
}

#[test]
fn event_names_are_counted_and_sorted() {
    let info = json(&recording("pingpong"), 0);
    let names = info["event_names"].as_array().unwrap();
    let counts: Vec<u64> = names
        .iter()
        .map(|name| name["events"].as_u64().unwrap())
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 9644);
    assert!(counts.is_sorted_by(|a, b| a >= b));
    let start = names
        .iter()
        .find(|name| name["name"] == "ros2:callback_start")
        .unwrap();
    assert_eq!(start["events"], 959);
}

#[test]
fn losses_are_rows_and_the_exit_status_is_3() {
    let info = json(&recording("lossy"), 3);
    assert_eq!(info["events"], 7955);
    assert_eq!(info["discarded_events"], 43809);
    let damage = info["damage"].as_array().unwrap();
    let counts = damage.iter().map(|row| row["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 43809);
    for row in damage {
        assert_eq!(row["kind"], "discarded_events");
        assert!(row["begin_ns"].as_i64().unwrap() < row["end_ns"].as_i64().unwrap());
        assert!(row["path"].as_str().unwrap().contains("lossy"));
        assert!(row["offset"].is_u64() && row["message"].is_string());
    }
}

#[test]
fn the_table_begins_with_the_damage() {
    let table = stdout_of(&["info", &recording("lossy")], 3);
    assert!(
        table.starts_with("Damage\n 43,809 events discarded\n"),
        "{table}"
    );
    assert!(table.contains("and 46 more"));
    let all = stdout_of(&["info", "--all-damage", &recording("lossy")], 3);
    assert!(!all.contains("more; --all-damage"));
    assert_eq!(
        all.lines()
            .filter(|line| line.contains("the tracer lost"))
            .count(),
        56
    );
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
        assert!(table.contains(word), "{word} in {table}");
    }
}

#[test]
fn two_traces_are_one_recording() {
    let (a, b) = (recording("pingpong"), recording("lifecycle_caret"));
    let text = stdout_of(&["info", "--format", "json", &a, &b], 0);
    let info: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(info["events"], 9644 + 1758);
    assert_eq!(info["traces"].as_array().unwrap().len(), 2);
    let names = info["event_names"].as_array().unwrap();
    let starts = names
        .iter()
        .filter(|name| name["name"] == "ros2:callback_start");
    assert_eq!(starts.count(), 1);
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let trace = HandMade::new("evil\\033[2Jevent", b"pro\x1b]0;title\x07cess", b"");
    let output = rostrace(&["info", trace.path()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        !table.chars().any(|c| c.is_control() && c != '\n'),
        "{table:?}"
    );
    assert!(table.contains("evil\\u{1b}[2Jevent"), "{table}");
    assert!(table.contains("pro\\u{1b}]0;title\\u{7}cess"), "{table}");
}

#[test]
fn the_ros_2_content_of_a_recording_is_counted() {
    let ros = &json(&recording("lifecycle_caret"), 0)["ros"];
    assert_eq!(ros["distributions"], serde_json::json!(["Jazzy"]));
    assert_eq!(
        ros["rmw_implementations"],
        serde_json::json!(["rmw_cyclonedds_cpp"])
    );
    let entities = &ros["entities"];
    // What nobody wrote is counted apart: two of CARET's nodes.
    assert_eq!(entities["built_in_nodes"], 2);
    // As many as the verbs list.
    let listed = |verb: &str| {
        let text = stdout_of(
            &[verb, "--format", "json", &recording("lifecycle_caret")],
            0,
        );
        let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        rows.len()
    };
    for verb in ["nodes", "topics", "callbacks", "executors"] {
        assert_eq!(entities[verb], listed(verb), "{verb}");
    }
}

#[test]
fn capabilities_say_what_can_and_what_cannot_be_known() {
    let ros = &json(&recording("pingpong"), 0)["ros"];
    let events = |name: &str| {
        let capabilities = ros["capabilities"].as_array().unwrap();
        let row = capabilities.iter().find(|row| row["name"] == name);
        row.unwrap()["events"].as_u64().unwrap()
    };
    assert_eq!(events("callbacks"), 2 * 959);
    assert_eq!(events("intra-process"), 0);
    assert_eq!(events("kernel scheduling"), 0);
    let limits = ros["limits"].as_array().unwrap();
    let says = |word: &str| {
        limits
            .iter()
            .any(|limit| limit.as_str().unwrap().contains(word))
    };
    assert!(says("no executors and callback groups"), "{limits:?}");
    assert!(says("no kernel scheduling events"), "{limits:?}");
    assert!(!says("no take events"), "{limits:?}");
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
    assert!(!table.contains("ROS 2"), "{table}");
    assert!(
        table.contains("Events that rostrace does not know"),
        "{table}"
    );
    let ros = &json(trace.path(), 0)["ros"];
    assert_eq!(ros["entities"], serde_json::Value::Null);
    assert_eq!(ros["limits"], serde_json::json!([]));
    assert_eq!(
        ros["unknown_events"],
        serde_json::json!([{ "name": "somebody:something", "events": 2 }])
    );
}
