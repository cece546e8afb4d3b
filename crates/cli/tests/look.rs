//! `rostrace nodes`, `topics`, `callbacks`, `processes` and `executors` at their boundary.

use serde_json::Value;

use crate::support::{assert_expected, recording, rostrace, stderr_of, stdout_of};

const VERBS: [&str; 5] = ["nodes", "topics", "callbacks", "processes", "executors"];
const RECORDINGS: [(&str, i32); 3] = [("pingpong", 0), ("lifecycle_caret", 0), ("lossy", 3)];

fn json(arguments: &[&str], status: i32) -> Vec<Value> {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    serde_json::from_str(&stdout_of(&all, status)).unwrap()
}

fn find<'r>(rows: &'r [Value], key: &str, value: &str) -> &'r Value {
    let found: Vec<&Value> = rows.iter().filter(|row| row[key] == value).collect();
    assert_eq!(found.len(), 1, "{key} {value}");
    found[0]
}

#[test]
fn tables_are_what_was_reviewed() {
    for (name, status) in RECORDINGS {
        for verb in VERBS {
            let output = rostrace(&[verb, &recording(name)]).output().unwrap();
            assert_eq!(output.status.code(), Some(status), "{verb} {name}");
            let text = |bytes| String::from_utf8(bytes).unwrap();
            let shown = format!("{}{}", text(output.stdout), text(output.stderr));
            assert_expected(&format!("{name}/{verb}.txt"), &shown);
        }
    }
}

#[test]
fn all_shows_what_is_built_in() {
    for verb in VERBS {
        let table = stdout_of(&[verb, "--all", &recording("lifecycle_caret")], 0);
        assert!(!table.contains("built-in"), "{table}");
        assert_expected(&format!("lifecycle_caret/{verb}_all.txt"), &table);
    }
}

#[test]
fn csv_has_a_header_and_a_line_for_each_row_of_the_json() {
    for (name, status) in RECORDINGS {
        for verb in VERBS {
            let trace = recording(name);
            let text = stdout_of(&[verb, "--format", "csv", &trace], status);
            let mut lines = csv_lines(&text);
            let header = lines.remove(0);
            let rows = json(&[verb, &trace], status);
            assert_eq!(lines.len(), rows.len(), "{verb} {name}");
            for line in &lines {
                assert_eq!(line.len(), header.len(), "{verb} {name}: {line:?}");
            }
        }
    }
    let text = stdout_of(&["topics", "--format", "csv", &recording("pingpong")], 0);
    assert_expected("pingpong/topics.csv", &text);
}

/// Enough of CSV for what is written here.
fn csv_lines(text: &str) -> Vec<Vec<String>> {
    let mut lines = vec![vec![String::new()]];
    let mut quoted = false;
    for c in text.trim_end().chars() {
        let line = lines.last_mut().unwrap();
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(String::new()),
            '\n' if !quoted => lines.push(vec![String::new()]),
            c => line.last_mut().unwrap().push(c),
        }
    }
    lines
}

#[test]
fn the_json_of_callbacks_keeps_its_contract() {
    let rows = json(&["callbacks", &recording("pingpong")], 0);
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
    let rows = json(&["callbacks", &recording("lifecycle_caret")], 0);
    let client = rows
        .iter()
        .find(|row| row["kind"] == "client" && row["service"] == "/talker/get_state")
        .unwrap();
    assert_eq!(client["node"], "/lc_driver");
    assert_eq!(client["count"], 0);
}

#[test]
fn what_the_trace_does_not_name_is_called_by_its_address() {
    let rows = json(&["callbacks", &recording("lossy")], 3);
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
    let state = |arguments: &[&str]| {
        let mut all = vec!["nodes", &trace];
        all.extend(arguments);
        find(&json(&all, 0), "node", "/talker")["lifecycle_state"].clone()
    };
    assert_eq!(state(&[]), "finalized");
    assert_eq!(state(&["--until", "+0s"]), "unconfigured");
    let rows = json(&["nodes", &trace], 0);
    assert_eq!(
        find(&rows, "node", "/listener")["lifecycle_state"],
        Value::Null
    );
}

#[test]
fn a_range_of_time_limits_what_is_counted_and_not_what_exists() {
    let trace = recording("pingpong");
    let all = json(&["callbacks", &trace], 0);
    let first = json(&["callbacks", &trace, "--until", "+3s"], 0);
    let second = json(&["callbacks", &trace, "--since", "+3.000000001s"], 0);
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
    let none = json(&["topics", &trace, "--since", "1"], 0);
    assert_eq!(find(&none, "topic", "/ping")["messages"], 301);
    let none = json(&["topics", &trace, "--until", "1"], 0);
    let ping = find(&none, "topic", "/ping");
    assert_eq!(
        (&ping["messages"], &ping["delivered"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn filters_limit_the_entities_of_every_verb() {
    let trace = recording("pingpong");
    let names = |arguments: &[&str], key: &str| {
        let rows = json(arguments, 0).into_iter();
        let mut names: Vec<String> = rows.map(|row| row[key].to_string()).collect();
        names.dedup();
        names
    };
    assert_eq!(
        names(&["nodes", &trace, "--node", "/pi*"], "node"),
        ["\"/pinger\""]
    );
    assert_eq!(
        names(&["callbacks", &trace, "--node", "/pi*"], "node"),
        ["\"/pinger\""]
    );
    assert_eq!(
        names(&["callbacks", &trace, "--topic", "/p[io]ng"], "topic").len(),
        2
    );
    assert_eq!(
        names(&["processes", &trace, "--node", "/ponger"], "pid"),
        ["22096"]
    );
    assert_eq!(
        names(&["processes", &trace, "--pid", "22091"], "pid"),
        ["22091"]
    );
    assert_eq!(
        names(&["nodes", &trace, "--topic", "/ping"], "node").len(),
        2
    );
    assert_eq!(
        names(&["topics", &trace, "--topic", "/ping"], "topic"),
        ["\"/ping\""]
    );
    let of_node = names(&["topics", &trace, "--node", "/pinger"], "topic");
    assert!(of_node.contains(&"\"/pong\"".to_owned()), "{of_node:?}");
    let caret = recording("lifecycle_caret");
    assert_eq!(
        names(&["executors", &caret, "--node", "/talker"], "executor"),
        ["\"executor_3\""]
    );
}

#[test]
fn a_filter_that_nothing_fits_is_told() {
    let trace = recording("pingpong");
    let said = stderr_of(&["nodes", &trace, "--node", "/pingr"], 2);
    assert_eq!(
        said,
        "rostrace: --node: no node of this trace is named `/pingr`; similar: /pinger, /ponger\n"
    );
    let said = stderr_of(&["topics", &trace, "--topic", "/zzz"], 2);
    assert!(said.contains("no topic of this trace is named `/zzz`\n"));
    let said = stderr_of(&["topics", &trace, "--pid", "7"], 2);
    assert!(said.contains("no process of this trace has the pid 7; "));
}

#[test]
fn a_range_of_time_that_ends_before_it_begins_is_refused() {
    let trace = recording("pingpong");
    let said = stderr_of(&["nodes", &trace, "--since", "+2s", "--until", "+1s"], 2);
    assert!(
        said.contains("--since is a later time than --until"),
        "{said}"
    );
}

#[test]
fn losses_come_first_and_in_json_on_standard_error() {
    let table = stdout_of(&["nodes", &recording("lossy")], 3);
    let headline = "43,809 events were lost between 04:15:02.529502 and 04:15:05.776649: counts are lower bounds";
    assert_eq!(table.lines().next(), Some(headline));
    let said = stderr_of(&["nodes", "--format", "json", &recording("lossy")], 3);
    assert_eq!(
        said.lines().next(),
        Some(format!("rostrace: {headline}").as_str())
    );
}

#[test]
fn executors_say_what_they_execute_and_how_busy_they_were() {
    let rows = json(&["executors", &recording("lifecycle_caret")], 0);
    assert_eq!(rows.len(), 4);
    let executor = find(&rows, "executor", "executor_3");
    assert_eq!(executor["type"], "single_threaded_executor");
    assert_eq!(
        executor["nodes"],
        serde_json::json!(["/inner", "/listener", "/talker"])
    );
    let busy = executor["busy_ns"].as_f64().unwrap();
    let observed = executor["observed_ns"].as_f64().unwrap();
    assert_eq!(executor["busy_share"].as_f64().unwrap(), busy / observed);
    assert!(executor["groups"].as_u64() > Some(0));
    assert!(rows.iter().all(|row| row["observed"] == false));
}

#[test]
fn without_events_of_executors_the_threads_that_ran_callbacks_stand_for_them() {
    let rows = json(&["executors", &recording("pingpong")], 0);
    assert!(rows.iter().all(|row| row["observed"] == true));
    assert!(rows.iter().all(|row| row["address"].is_null()));
    let nodes: Vec<_> = rows.iter().map(|row| row["nodes"].clone()).collect();
    assert_eq!(
        nodes,
        [
            serde_json::json!(["/pinger"]),
            serde_json::json!(["/ponger"])
        ]
    );
}

#[test]
fn two_traces_are_listed_as_one() {
    let (a, b) = (recording("pingpong"), recording("lifecycle_caret"));
    assert_eq!(json(&["nodes", &a, &b], 0).len(), 2 + 6);
}

/// Blocks of `docs/guides/look.md` that begin with `$ rostrace`; a line `…` stands for lines that are left out.
#[test]
fn the_guides_show_what_the_program_prints() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guides = ["docs/guides/look.md", "docs/guides/latency.md"];
    let guide: String = guides
        .iter()
        .map(|guide| std::fs::read_to_string(root.join(guide)).unwrap())
        .collect();
    let mut compared = 0;
    for block in guide.split("```\n$ rostrace ").skip(1) {
        let (block, _) = block.split_once("\n```").unwrap();
        let (command, shown) = block.split_once('\n').unwrap();
        let arguments: Vec<&str> = command
            .split(' ')
            .map(|word| word.trim_matches('\''))
            .collect();
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
    use crate::trace_support::{Flavour, Recording, stamp};
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
    let folder = tempfile::tempdir().unwrap();
    recording.save(folder.path());
    let trace = folder.path().to_str().unwrap();
    let rows = json(&["callbacks", trace], 0);
    let client = find(&rows, "kind", "client");
    assert_eq!(
        (&client["count"], &client["answers"]),
        (&0.into(), &3.into())
    );
    assert_eq!(client["duration_ns"]["max"], 1000);
    let table = stdout_of(&["callbacks", trace], 0);
    let line = table.lines().find(|line| line.contains("client /ask"));
    assert!(line.unwrap().contains("  3  "), "{table}");
}

#[test]
fn a_topic_that_stutters_shows_its_longest_pause() {
    use crate::trace_support::{Flavour, Recording, stamp};
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
    let folder = tempfile::tempdir().unwrap();
    recording.save(folder.path());
    let trace = folder.path().to_str().unwrap();
    let rows = json(&["topics", trace], 0);
    let pause = find(&rows, "topic", "/chatter")["longest_pause_ns"].as_i64();
    assert!((250_000_000..251_000_000).contains(&pause.unwrap()));
    let table = stdout_of(&["topics", trace], 0);
    let line = table.lines().find(|line| line.contains("/chatter"));
    assert!(line.unwrap().contains("  250.0"), "{table}");
    let said = stderr_of(&["topics", trace], 0);
    assert!(
        said.contains("1 message was handed to rclcpp and went no further"),
        "{said}"
    );
    assert!(!said.contains("have no name"), "{said}");
}

/// As of rclpy under LTTng, or r2r: rcl and rmw tell of messages, nobody of callbacks.
#[test]
fn processes_whose_client_library_tells_nothing_of_callbacks_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut");
    let cut = cut.to_str().unwrap();
    let arguments = ["cut", &recording("pingpong"), "--no-init", "-o", cut];
    rostrace(&[&arguments[..], &["--event", "ros2:r??_*"]].concat())
        .assert()
        .code(0);
    for verb in ["callbacks", "latency"] {
        let said = stderr_of(&[verb, cut], 0);
        assert!(
            said.contains("no callbacks are known of 2 subscriptions and timers in "),
            "{said}"
        );
        assert!(!stderr_of(&[verb, &recording("pingpong")], 0).contains("no callbacks are known"));
    }
}

/// A librclcpp that calls its own functions past the tracer.
#[test]
fn executors_whose_library_hides_its_calls_say_so() {
    use crate::trace_support::{Flavour, Recording};
    let mut made = Recording::talker(Flavour::Jazzy);
    made.by_caret()
        .executor(0x500, 0x501, "multi_threaded_executor");
    made.hook_state("_ZN6rclcpp8ExecutorC2E", "bypassed", "librclcpp.so");
    made.hook_state(
        "_ZN6rclcpp8Executor14execute_clientE",
        "bypassed",
        "librclcpp.so",
    );
    made.run(0x31);
    let folder = tempfile::tempdir().unwrap();
    made.save(folder.path());
    let trace = folder.path().to_str().unwrap();
    let reason = "librclcpp.so was linked so that its calls cannot be observed";
    let rows = json(&["executors", trace], 0);
    let executor = find(&rows, "executor", "executor_0");
    assert_eq!(executor["not_seen"], format!("not seen: {reason}"));
    assert!(executor["busy_share"].is_null());
    assert_eq!(
        find(&rows, "executor", "observed_0")["callback_instances"],
        1
    );
    assert!(stdout_of(&["executors", trace], 0).contains(&format!("not seen: {reason}")));
    let sentence = format!(
        "executors and callback groups, callbacks of clients of 1 process were not all seen: {reason}"
    );
    for verb in ["executors", "callbacks"] {
        assert!(stderr_of(&[verb, trace], 0).contains(&sentence), "{verb}");
    }
    let info = stdout_of(&["info", trace], 0);
    assert!(info.contains(&sentence), "{info}");
    assert!(info.contains("1 (callback groups not known)"), "{info}");
}
