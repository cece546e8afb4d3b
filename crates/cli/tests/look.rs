//! `rostrace nodes`, `topics`, `callbacks`, `processes` and `executors` at their boundary.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Folder, Says, assert_expected, finished, recording, rostrace, rows, saved, stderr_of, stdout_of,
};
use crate::trace_support::{Flavour, Recording, stamp};

const VERBS: [&str; 5] = ["nodes", "topics", "callbacks", "processes", "executors"];
const RECORDINGS: [(&str, i32); 3] = [("pingpong", 0), ("lifecycle_caret", 0), ("lossy", 3)];

fn find<'r>(rows: &'r [Value], key: &str, value: &str) -> &'r Value {
    let found: Vec<&Value> = rows.iter().filter(|row| row[key] == value).collect();
    assert_eq!(found.len(), 1, "{key} {value}");
    found[0]
}

#[test]
fn tables_are_what_was_reviewed() {
    for (name, status) in RECORDINGS {
        for verb in VERBS {
            let (out, err) = finished(&mut rostrace(&[verb, &recording(name)]), status);
            assert_expected(&format!("{name}/{verb}.txt"), &(out + &err));
        }
    }
}

#[test]
fn all_shows_what_is_built_in() {
    for verb in VERBS {
        let table = stdout_of(&[verb, "--all", &recording("lifecycle_caret")], 0);
        table.lacks("built-in");
        assert_expected(&format!("lifecycle_caret/{verb}_all.txt"), &table);
    }
}

#[test]
fn csv_has_a_header_and_a_line_for_each_row_of_the_json() {
    for (name, status) in RECORDINGS {
        for verb in VERBS {
            let trace = recording(name);
            let text = stdout_of(&[verb, "--format", "csv", &trace], status);
            // The reader refuses lines that are longer or shorter than the first.
            let lines = csv::Reader::from_reader(text.as_bytes()).into_records();
            let lines: Result<Vec<_>, _> = lines.collect();
            let rows = rows(&[verb, &trace], status);
            assert_eq!(lines.unwrap().len(), rows.len(), "{verb} {name}");
        }
    }
    let text = stdout_of(&["topics", "--format", "csv", &recording("pingpong")], 0);
    assert_expected("pingpong/topics.csv", &text);
}

#[test]
fn the_json_of_callbacks_keeps_its_contract() {
    let rows = rows(&["callbacks", &recording("pingpong")], 0);
    assert_eq!(rows.len(), 19);
    let timer = find(&rows, "kind", "timer");
    assert_eq!(timer["node"], "/pinger");
    assert_eq!(timer["period_ns"], 10_000_000);
    assert_eq!(timer["count"], 341);
    assert_eq!(timer["pid"], 22091);
    assert!(timer["symbol"].is_string());
    assert!(timer["topic"].is_null() && timer["service"].is_null());
    let ping = find(&rows, "topic", "/ping");
    assert_eq!(ping["kind"], "subscription");
    assert_eq!(ping["node"], "/ponger");
    assert_eq!(ping["count"], 301);
    for key in ["duration_ns", "period_ns_observed"] {
        let values = ["min", "p50", "p90", "p99", "max"].map(|name| ping[key][name].as_i64());
        assert!(values.iter().all(Option::is_some), "{ping}");
        assert!(values.is_sorted(), "{ping}");
        assert!(ping[key]["mean"].is_number());
    }
    let service = find(&rows, "service", "/ponger/get_parameters");
    assert_eq!(service["kind"], "service");
    assert_eq!(service["count"], 0);
    assert_eq!(service["duration_ns"], Value::Null);
}

#[test]
fn clients_are_listed_although_nothing_tells_when_they_run() {
    let rows = rows(&["callbacks", &recording("lifecycle_caret")], 0);
    let client = rows
        .iter()
        .find(|row| row["kind"] == "client" && row["service"] == "/talker/get_state")
        .unwrap();
    assert_eq!(client["node"], "/lc_driver");
    assert_eq!(client["count"], 0);
}

#[test]
fn what_the_trace_does_not_name_is_called_by_its_address() {
    let rows = rows(&["callbacks", &recording("lossy")], 3);
    let unknown: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "").collect();
    assert!(!unknown.is_empty());
    for row in unknown {
        let name = row["name"].as_str().unwrap();
        assert!(name.starts_with("callback 0x") && name.ends_with(" (unnamed)"));
        assert_eq!(row["node"], Value::Null);
        assert!(row["count"].as_u64().unwrap() > 0);
    }
}

#[test]
fn the_lifecycle_state_is_that_at_the_end_of_the_range() {
    let trace = recording("lifecycle_caret");
    let state = |node: &str, options: &[&str]| {
        let nodes = rows(&[&["nodes", &trace], options].concat(), 0);
        find(&nodes, "node", node)["lifecycle_state"].clone()
    };
    assert_eq!(state("/talker", &[]), "finalized");
    assert_eq!(state("/talker", &["--until", "+0s"]), "unconfigured");
    assert_eq!(state("/listener", &[]), Value::Null);
}

#[test]
fn a_range_of_time_limits_what_is_counted_and_not_what_exists() {
    let trace = recording("pingpong");
    let all = rows(&["callbacks", &trace], 0);
    let first = rows(&["callbacks", &trace, "--until", "+3s"], 0);
    let second = rows(&["callbacks", &trace, "--since", "+3.000000001s"], 0);
    assert_eq!(all.len(), first.len());
    assert_eq!(all.len(), second.len());
    let mut parts = 0;
    for ((all, first), second) in all.iter().zip(&first).zip(&second) {
        let count = |row: &Value| row["count"].as_u64().unwrap();
        assert_eq!(all["name"], first["name"]);
        assert_eq!(count(all), count(first) + count(second), "{all}");
        parts += u64::from(count(first) > 0 && count(second) > 0);
    }
    assert!(parts > 0);
    let none = rows(&["topics", &trace, "--since", "1"], 0);
    assert_eq!(find(&none, "topic", "/ping")["messages"], 301);
    let none = rows(&["topics", &trace, "--until", "1"], 0);
    let ping = find(&none, "topic", "/ping");
    assert_eq!([&ping["messages"], &ping["delivered"]], [0, 0]);
}

#[test]
fn filters_limit_the_entities_of_every_verb() {
    let (pingpong, caret) = (recording("pingpong"), recording("lifecycle_caret"));
    for (trace, question, key, expected) in [
        (&pingpong, "nodes --node /pi*", "node", &["/pinger"][..]),
        (
            &pingpong,
            "nodes --topic /ping",
            "node",
            &["/pinger", "/ponger"],
        ),
        (&pingpong, "callbacks --node /pi*", "node", &["/pinger"]),
        (
            &pingpong,
            "callbacks --topic /p[io]ng",
            "topic",
            &["/ping", "/pong"],
        ),
        (&pingpong, "processes --node /ponger", "pid", &["22096"]),
        (&pingpong, "processes --pid 22091", "pid", &["22091"]),
        (&pingpong, "topics --topic /ping", "topic", &["/ping"]),
        (
            &caret,
            "executors --node /talker",
            "executor",
            &["executor_3"],
        ),
    ] {
        let rows = rows(&format!("{question} {trace}"), 0).into_iter();
        let names = rows.map(|row| row[key].to_string().replace('"', ""));
        let names: BTreeSet<String> = names.collect();
        assert!(names.iter().eq(expected), "{question}: {names:?}");
    }
    let of_node = rows(&["topics", &pingpong, "--node", "/pinger"], 0);
    find(&of_node, "topic", "/pong");
}

#[test]
fn a_filter_that_nothing_fits_is_reported() {
    let trace = recording("pingpong");
    for (question, sentence) in [
        (
            "nodes --node /pingr",
            "rostrace: --node: no node of this trace is named `/pingr`; similar: /pinger, /ponger\n",
        ),
        (
            "topics --topic /zzz",
            "no topic of this trace is named `/zzz`\n",
        ),
        ("topics --pid 7", "no process of this trace has the pid 7; "),
        (
            "nodes --since +2s --until +1s",
            "--since is a later time than --until",
        ),
    ] {
        stderr_of(&format!("{question} {trace}"), 2).says(sentence);
    }
}

#[test]
fn losses_come_first_and_in_json_on_standard_error() {
    let table = stdout_of(&["nodes", &recording("lossy")], 3);
    let headline = "43,809 events were lost between 04:15:02.529502 and 04:15:05.776649: counts are lower bounds";
    assert_eq!(table.lines().next(), Some(headline));
    let said = stderr_of(&["nodes", "--format", "json", &recording("lossy")], 3);
    assert!(
        said.starts_with(&format!("rostrace: {headline}\n")),
        "{said}"
    );
}

#[test]
fn executors_say_what_they_execute_and_how_busy_they_were() {
    let rows = rows(&["executors", &recording("lifecycle_caret")], 0);
    assert_eq!(rows.len(), 4);
    let executor = find(&rows, "executor", "executor_3");
    assert_eq!(executor["type"], "single_threaded_executor");
    assert_eq!(executor["nodes"], json!(["/inner", "/listener", "/talker"]));
    let busy = executor["busy_ns"].as_f64().unwrap();
    let observed = executor["observed_ns"].as_f64().unwrap();
    assert_eq!(executor["busy_share"].as_f64().unwrap(), busy / observed);
    assert!(executor["groups"].as_u64() > Some(0));
    assert!(rows.iter().all(|row| row["observed"] == false));
}

#[test]
fn without_events_of_executors_the_threads_that_ran_callbacks_stand_for_them() {
    let rows = rows(&["executors", &recording("pingpong")], 0);
    assert!(rows.iter().all(|row| row["observed"] == true));
    assert!(rows.iter().all(|row| row["address"].is_null()));
    let nodes: Vec<_> = rows.iter().map(|row| row["nodes"].clone()).collect();
    assert_eq!(nodes, [json!(["/pinger"]), json!(["/ponger"])]);
}

#[test]
fn two_traces_are_listed_as_one() {
    let (a, b) = (recording("pingpong"), recording("lifecycle_caret"));
    assert_eq!(rows(&["nodes", &a, &b], 0).len(), 2 + 6);
}

/// Blocks of `docs/guides/look.md` that begin with `$ rostrace`; a line `…` stands for lines that are left out.
#[test]
fn the_guides_show_what_the_program_prints() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guides = ["docs/guides/look.md", "docs/guides/latency.md"];
    let guide = guides.map(|guide| std::fs::read_to_string(root.join(guide)).unwrap());
    let guide = guide.concat();
    let mut compared = 0;
    for block in guide.split("```\n$ rostrace ").skip(1) {
        let (block, _) = block.split_once("\n```").unwrap();
        let (command, shown) = block.split_once('\n').unwrap();
        let arguments = command.split(' ').map(|word| word.trim_matches('\''));
        let arguments: Vec<&str> = arguments.collect();
        let output = rostrace(&arguments).current_dir(&root).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        if shown.contains('…') {
            for part in shown.split('…').map(str::trim_end) {
                assert!(printed.contains(part), "{command}:\n{part}\n{printed}");
            }
        } else {
            assert_eq!(printed.trim_end(), shown, "{command}");
        }
        compared += 1;
    }
    assert!(compared >= 10);
}

#[test]
fn clients_have_a_count_where_their_callbacks_are_recorded() {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording
        .process(100, "client")
        .context(0x1)
        .node(0x10, "/c")
        .client(0x70, 0x10, "/ask", 7);
    for number in 1..=3 {
        let at = stamp(recording.now());
        recording
            .take_response(0x70, number, at)
            .client_callback_start(0x70, number)
            .client_callback_end(0x70, number);
    }
    let folder = saved(&recording);
    let trace = folder.here();
    let rows = rows(&["callbacks", trace], 0);
    let client = find(&rows, "kind", "client");
    assert_eq!([&client["count"], &client["answers"]], [0, 3]);
    assert_eq!(client["duration_ns"]["max"], 1000);
    let table = stdout_of(&["callbacks", trace], 0);
    let line = table.lines().find(|line| line.contains("client /ask"));
    assert!(line.unwrap().contains("  3  "), "{table}");
}

#[test]
fn a_topic_that_stutters_shows_its_longest_pause() {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording
        .process(100, "talker")
        .context(0x1)
        .node(0x10, "/talker")
        .publisher(0x20, 0x10, "/chatter");
    for milliseconds in [10, 10, 250, 10] {
        recording.wait(milliseconds * 1_000_000);
        let at = stamp(recording.now());
        recording.publish(0x20, 0x900, at);
    }
    // As after shutdown(): rcl refuses, so that nothing below rclcpp says whose message it is.
    recording.rclcpp_publish(0x20, 0x900);
    let folder = saved(&recording);
    let trace = folder.here();
    let rows = rows(&["topics", trace], 0);
    let pause = find(&rows, "topic", "/chatter")["longest_pause_ns"].as_i64();
    assert!((250_000_000..251_000_000).contains(&pause.unwrap()));
    let table = stdout_of(&["topics", trace], 0);
    let line = table.lines().find(|line| line.contains("/chatter"));
    assert!(line.unwrap().contains("  250.0"), "{table}");
    let said = stderr_of(&["topics", trace], 0);
    said.says("1 message was handed to rclcpp and went no further");
    said.lacks("have no name");
}

/// As of rclpy under LTTng, or r2r: rcl and rmw tell of messages, nobody of callbacks.
#[test]
fn processes_whose_client_library_tells_nothing_of_callbacks_are_named() {
    let folder = Folder::new();
    let (trace, cut) = (recording("pingpong"), folder.at("cut"));
    stdout_of(
        &format!("cut {trace} --no-init -o {cut} --event ros2:r??_*"),
        0,
    );
    for verb in ["callbacks", "latency"] {
        let said = stderr_of(&[verb, &cut], 0);
        said.says("no callbacks are known of 2 subscriptions and timers in ");
        stderr_of(&[verb, &trace], 0).lacks("no callbacks are known");
    }
}

/// A librclcpp that calls its own functions past the tracer.
#[test]
fn executors_whose_library_hides_its_calls_say_so() {
    let mut made = Recording::talker(Flavour::Jazzy);
    made.by_caret()
        .executor(0x500, 0x501, "multi_threaded_executor");
    for hook in [
        "_ZN6rclcpp8ExecutorC2E",
        "_ZN6rclcpp8Executor14execute_clientE",
    ] {
        made.hook_state(hook, "bypassed", "librclcpp.so");
    }
    made.run(0x31);
    let folder = saved(&made);
    let trace = folder.here();
    let reason = "librclcpp.so was linked so that its calls cannot be observed";
    let rows = rows(&["executors", trace], 0);
    let executor = find(&rows, "executor", "executor_0");
    assert_eq!(executor["not_seen"], format!("not seen: {reason}"));
    assert!(executor["busy_share"].is_null());
    let observed = find(&rows, "executor", "observed_0");
    assert_eq!(observed["callback_instances"], 1);
    stdout_of(&["executors", trace], 0).says(&format!("not seen: {reason}"));
    let sentence = format!(
        "executors and callback groups, callbacks of clients of 1 process were not all seen: {reason}"
    );
    for verb in ["executors", "callbacks"] {
        stderr_of(&[verb, trace], 0).says(&sentence);
    }
    let info = stdout_of(&["info", trace], 0);
    info.says_all(&[&sentence, "1 (callback groups not known)"]);
}
