//! `rostrace latency` and `rostrace why` at their boundary.

use serde_json::Value;

use crate::support::{recording, rostrace, shared_recordings, stderr_of, stdout_of};

fn json(arguments: &[&str], status: i32) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    serde_json::from_str(&stdout_of(&all, status)).unwrap()
}

/// The cells of a printed table: columns are parted by two spaces or more.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect()
}

#[test]
fn the_way_of_a_message_is_found_without_a_word() {
    let shown = stdout_of(&["latency", &recording("pingpong")], 0);
    let mut lines = shown.lines();
    assert_eq!(
        lines.next(),
        Some("/pinger → /ping → /ponger → /pong → /pinger")
    );
    let first: Vec<&str> = lines
        .map(cells)
        .filter_map(|line| line.first().copied())
        .collect();
    assert_eq!(first[1..5], ["/ping", "/ponger", "/pong", "end to end"]);
    assert!(
        shown.contains("301 of 301 messages came through"),
        "{shown}"
    );
}

#[test]
fn the_means_of_the_stages_are_that_of_the_path() {
    let paths = json(&["latency", &recording("pingpong")], 0);
    let path = &paths[0];
    let mean = |value: &Value| value["mean"].as_f64().unwrap();
    let mut sum = 0.0;
    for hop in path["hops"].as_array().unwrap() {
        let stages = hop["stages_ns"].as_object().unwrap().values().map(mean);
        let communication = mean(&hop["communication_ns"]);
        assert!((stages.sum::<f64>() - communication).abs() < 0.01);
        sum += communication;
        sum += hop["node_ns"]
            .as_object()
            .map_or(0.0, |_| mean(&hop["node_ns"]));
    }
    assert!((sum - mean(&path["latency_ns"])).abs() < 0.01, "{path}");
    assert_eq!(path["flows"], 301);
    assert_eq!(path["latency_ns"]["count"], 301);
}

#[test]
fn ends_and_times_share_their_options() {
    let pingpong = recording("pingpong");
    let to_topic = json(&["latency", &pingpong, "--to", "/ping"], 0);
    assert_eq!(to_topic[0]["path"], "/pinger → /ping → /ponger");
    let from_node = json(&["latency", &pingpong, "--from", "/pong*"], 0);
    assert_eq!(from_node[0]["path"], "/ponger → /pong → /pinger");
    let limited = [
        "latency", &pingpong, "--to", "/ping", "--since", "+3s", "--until", "+4s",
    ];
    let limited = json(&limited, 0);
    let flows = limited[0]["flows"].as_u64().unwrap();
    assert!((90..=110).contains(&flows), "{flows}");
    let longer = [
        "latency",
        &pingpong,
        "--include-first-callback",
        "--include-last-callback",
    ];
    let longer = json(&longer, 0);
    let plain = json(&["latency", &pingpong], 0);
    let mean = |paths: &Value| paths[0]["latency_ns"]["mean"].as_f64().unwrap();
    assert!(mean(&longer) > mean(&plain));
}

#[test]
fn csv_has_a_line_for_each_stage_and_one_for_the_path() {
    let shown = stdout_of(&["latency", &recording("pingpong"), "--format", "csv"], 0);
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert!(lines.iter().all(|line| line.len() == 18));
    assert_eq!(lines[0][..4], ["path", "stage", "kind", "name"]);
    let kinds: Vec<&str> = lines[1..].iter().map(|line| line[2]).collect();
    assert_eq!(kinds, ["communication", "node", "communication", "path"]);
}

#[test]
fn lost_events_are_told_and_end_with_3() {
    let lossy = recording("lossy");
    let shown = stdout_of(&["latency", &lossy], 3);
    assert!(shown.starts_with("43,809 events were lost"), "{shown}");
    let shown = stdout_of(&["why", &lossy], 3);
    assert!(shown.starts_with("43,809 events were lost"), "{shown}");
    let note = stderr_of(&["latency", &lossy, "--format", "json"], 3);
    assert!(note.contains("events were lost"), "{note}");
}

#[test]
fn a_name_that_is_not_there_comes_with_similar_ones() {
    let note = stderr_of(&["latency", &recording("pingpong"), "--from", "/pnig"], 2);
    assert!(note.contains("no node and no topic of this trace is named `/pnig`"));
    assert!(note.contains("/ping"), "{note}");
    let note = stderr_of(
        &[
            "latency",
            &recording("pingpong"),
            "--from",
            "/pong",
            "--to",
            "/ping",
        ],
        0,
    );
    assert!(note.contains("without a break"), "{note}");
}

fn adds_up(explained: &Value) {
    let parts = explained["parts"].as_array().unwrap();
    let mut at = explained["begin_ns"].as_i64().unwrap();
    for part in parts {
        assert_eq!(part["begin_ns"].as_i64(), Some(at), "{explained}");
        at += part["duration_ns"].as_i64().unwrap();
    }
    assert_eq!(explained["end_ns"].as_i64(), Some(at));
    let total = at - explained["begin_ns"].as_i64().unwrap();
    assert_eq!(explained["total_ns"].as_i64(), Some(total));
}

#[test]
fn what_is_explained_adds_up_whatever_it_is() {
    let pingpong = recording("pingpong");
    let questions: [(&[&str], &str); 6] = [
        (&[], "callback"),
        (&["--callback", "/pinger*timer*"], "callback"),
        (&["--topic", "/ping", "--node", "/ponger"], "communication"),
        (&["--topic", "/ping", "--at", "+3s"], "communication"),
        (&["--to", "/pinger"], "path"),
        (&["--rank", "5"], "callback"),
    ];
    for (question, kind) in questions {
        let mut arguments = vec!["why", pingpong.as_str()];
        arguments.extend(question);
        let explained = json(&arguments, 0);
        assert_eq!(explained["kind"], kind, "{question:?}");
        adds_up(&explained);
    }
}

#[test]
fn the_worst_comes_first_and_the_others_by_rank() {
    let pingpong = recording("pingpong");
    let total = |rank: &str| {
        let arguments = ["why", &pingpong, "--topic", "/ping", "--rank", rank];
        json(&arguments, 0)["total_ns"].as_i64().unwrap()
    };
    let worst = total("1");
    assert!(worst >= total("2") && total("2") >= total("3"));
    let paths = json(&["latency", &pingpong, "--to", "/ping"], 0);
    assert_eq!(paths[0]["latency_ns"]["max"].as_i64(), Some(worst));
}

#[test]
fn parts_are_listed_in_the_order_of_time() {
    let pingpong = recording("pingpong");
    let shown = stdout_of(&["why", &pingpong, "--topic", "/ping", "--parts"], 0);
    let (table, parts) = shown.split_once("\n\n").unwrap();
    assert!(table.starts_with("/pinger → /ping → /ponger\n"), "{table}");
    assert!(table.contains("total"), "{table}");
    assert_eq!(cells(parts.lines().next().unwrap()), ["after", "time"]);
    assert!(parts.contains("publishing"), "{parts}");
}

#[test]
fn nonsense_is_answered_with_a_sentence() {
    let pingpong = recording("pingpong");
    let questions: [(&[&str], i32, &str); 13] = [
        (
            &["latency", "--to", "banana"],
            2,
            "no topic of this trace is named `banana`",
        ),
        (
            &["latency", "--since", "+1s", "--since", "+2s"],
            2,
            "cannot be used multiple times",
        ),
        (&["latency", "--limit", "many"], 2, "invalid value"),
        (
            &["why", "--callback", "nonsense"],
            2,
            "no callback and no node of this trace is named",
        ),
        (
            &["why", "--topic", "/nonsense"],
            2,
            "--topic: no topic of this trace is named `/nonsense`",
        ),
        (&["why", "--rank", "0"], 2, "0 is not in 1"),
        (
            &["why", "--rank", "99999"],
            1,
            "--rank 99999: there are only 301 executions to choose from",
        ),
        (
            &["why", "--callback", "/pongr"],
            2,
            "is named `/pongr`; similar: /ponger",
        ),
        (
            &["why", "--node", "/nonsense"],
            2,
            "--node: no node of this trace is named `/nonsense`",
        ),
        (
            &["why", "--at", "+1s", "--rank", "2"],
            2,
            "cannot be used with",
        ),
        (
            &["why", "--to", "/ping", "--callback", "/ponger"],
            2,
            "cannot be used together",
        ),
        (
            &["why", "--from", "/nowhere"],
            2,
            "--from: no node and no topic of this trace is named `/nowhere`",
        ),
        (
            &["why", "--from", "/pingr", "--to", "/ponger"],
            2,
            "is named `/pingr`; similar: ",
        ),
    ];
    for (question, status, sentence) in questions {
        let mut arguments = question.to_vec();
        arguments.insert(1, &pingpong);
        let said = stderr_of(&arguments, status);
        assert!(said.contains(sentence), "{question:?}: {said}");
    }
    let output = rostrace(&["why", "/no/such/trace"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

/// A recording, and an architecture file that names paths of it.
fn chain() -> Option<(String, String)> {
    let folder = shared_recordings()?.join("jazzy/chain_caret");
    let trace = folder.to_str().unwrap().to_owned();
    let file = format!("{trace}/expected/edited_architecture.yaml");
    Some((trace, file))
}

#[test]
fn a_path_that_a_file_names_is_explained_like_an_observed_one() {
    let Some((trace, file)) = chain() else { return };
    let why = ["why", &trace, "--architecture", &file];
    let paths = json(&["paths", &trace, "--architecture", &file], 0);
    let paths = paths.as_array().unwrap();
    let latency = |path: &Value| path["latency_ns"]["max"].as_i64();
    let slowest = paths.iter().filter_map(latency).max().unwrap();
    let explained = json(&why, 0);
    adds_up(&explained);
    assert_eq!(explained["kind"], "path");
    assert_eq!(explained["total_ns"], slowest);
    let mut stored = 0;
    for path in paths.iter().filter(|path| latency(path).is_some()) {
        let name = path["name"].as_str().unwrap();
        let mut arguments = why.to_vec();
        arguments.extend(["--path", name]);
        let explained = json(&arguments, 0);
        adds_up(&explained);
        assert_eq!(explained["subject"], path["path"]);
        assert_eq!(explained["total_ns"].as_i64(), latency(path), "{name}");
        let parts = explained["parts"].as_array().unwrap();
        let is_stored = |part: &&Value| part["cause"] == "stored";
        stored += parts.iter().filter(is_stored).count();
        arguments.extend(["--rank", "2"]);
        assert!(json(&arguments, 0)["total_ns"].as_i64() <= latency(path));
    }
    assert!(
        stored > 0,
        "a timer of this recording publishes what it was sent"
    );
}

#[test]
fn a_path_that_a_file_does_not_name_is_told() {
    let Some((trace, file)) = chain() else { return };
    let why = ["why", &trace, "--architecture", &file];
    let says = |more: &[&str], sentence: &str| {
        let mut arguments = why.to_vec();
        arguments.extend(more);
        let said = stderr_of(&arguments, 2);
        assert!(said.contains(sentence), "{said}");
    };
    says(
        &["--path", "nowhere"],
        "no path of this file is named `nowhere`; it names",
    );
    says(
        &["--from", "/nowhere"],
        "no node and no topic of this trace or of the file is named `/nowhere`",
    );
    says(
        &["--node", "/nowhere"],
        "no node of this trace is named `/nowhere`",
    );
}

#[test]
fn ends_that_nothing_connects_are_not_called_a_broken_flow() {
    let lifecycle = recording("lifecycle_caret");
    let ends = [
        "latency",
        &lifecycle,
        "--from",
        "/listener",
        "--to",
        "/talker",
    ];
    let said = stderr_of(&ends, 0);
    assert!(
        said.contains("no topics were found that lead from what --from names"),
        "{said}"
    );
}
