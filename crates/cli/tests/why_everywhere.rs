//! `rostrace why` and `latency` on real recordings that are awkward: executions that overlap, have no end, no name, or messages of which nobody knows whether they
//! arrived.

use std::process::Command;

use serde_json::Value;

use crate::support::{rostrace, shared_recordings, stderr_of, stdout_of};

fn shared(name: &str) -> Option<String> {
    let folder = shared_recordings()?.join(name);
    Some(folder.to_str().unwrap().to_owned())
}

fn json(arguments: &[&str]) -> Value {
    let output = rostrace(&[arguments, &["--format", "json"]].concat())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{arguments:?}: {said}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Parts follow each other, none is negative, and they add up.
fn adds_up(why: &Value, of: &str) {
    let number = |value: &Value| value.as_i64().unwrap();
    let mut at = number(&why["begin_ns"]);
    for part in why["parts"].as_array().unwrap() {
        assert_eq!(number(&part["begin_ns"]), at, "{of}: {part}");
        assert!(number(&part["duration_ns"]) > 0, "{of}: {part}");
        at += number(&part["duration_ns"]);
    }
    assert_eq!(at, number(&why["end_ns"]), "{of}");
    assert_eq!(
        at - number(&why["begin_ns"]),
        number(&why["total_ns"]),
        "{of}"
    );
}

#[test]
fn parts_of_executions_that_overlap_follow_each_other() {
    for (name, callback) in [
        ("jazzy/executors_caret", "/mt_node · timer 15 ms"),
        ("humble/executors_caret", "/mt_node · timer 15 ms"),
    ] {
        let Some(trace) = shared(name) else { return };
        for rank in ["1", "2", "3", "4", "5"] {
            let why = ["why", &trace, "--callback", callback, "--rank", rank];
            adds_up(&json(&why), &format!("{name} {rank}"));
            for line in stdout_of(&why, 0).lines() {
                let mut words = line.split_whitespace().zip(line.split_whitespace().skip(1));
                let share = words.find(|(_, unit)| *unit == "%");
                let share = share.map_or(0.0, |(number, _)| number.parse::<f64>().unwrap());
                assert!(share <= 100.0, "{name} {rank}: {line}");
            }
        }
    }
}

#[test]
fn why_knows_every_name_that_callbacks_prints() {
    for name in ["jazzy/late", "jazzy/lossy", "jazzy/lifecycle"] {
        let Some(trace) = shared(name) else { return };
        let mut unnamed = 0;
        for row in json(&["callbacks", &trace]).as_array().unwrap() {
            let callback = row["name"].as_str().unwrap();
            if row["count"].as_u64() == Some(0) {
                continue;
            }
            let pid = row["pid"].to_string();
            let why = json(&["why", &trace, "--callback", callback, "--pid", &pid]);
            assert_eq!(why["subject"].as_str(), Some(callback), "{name}");
            adds_up(&why, &format!("{name} {callback}"));
            unnamed += u64::from(callback.ends_with("(unnamed)"));
        }
        // Lifecycle services have names.
        assert_eq!(unnamed > 0, name != "jazzy/lifecycle", "{name}");
    }
}

#[test]
fn a_recording_that_began_late_has_latencies() {
    let Some(trace) = shared("jazzy/late") else {
        return;
    };
    let paths = json(&["latency", &trace]);
    let paths = paths.as_array().unwrap();
    assert!(
        paths
            .iter()
            .any(|path| path["hops"].as_array().unwrap().len() > 2)
    );
    let shown = stdout_of(&["latency", &trace], 0);
    assert!(shown.contains("(filter "), "{shown}");
    let shown = stdout_of(&["topics", &trace, "--format", "json"], 0);
    let topics: Vec<Value> = serde_json::from_str(&shown).unwrap();
    let received: u64 = topics
        .iter()
        .map(|it| it["received"].as_u64().unwrap())
        .sum();
    assert!(received > 850, "{received}");
    // Without a name the slowest execution of all is explained.
    adds_up(&json(&["why", &trace]), "the worst");
}

#[test]
fn where_nothing_is_taken_nobody_knows_what_came_through() {
    let Some(packed) = shared("public/autoware-carla-galactic.tar.zst") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar")
        .args(["--use-compress-program", "zstd -d", "-xf", &packed, "-C"])
        .arg(folder.path())
        .status();
    if !unpacked.is_ok_and(|status| status.success()) {
        return;
    }
    let trace = folder.path().to_str().unwrap();
    let ends = [
        "--from",
        "/aggregator_node",
        "--to",
        "/system/emergency_handler",
    ];
    let topics = json(&["topics", trace]);
    // Any two nodes with a topic between them that somebody sends to.
    let topic = topics.as_array().unwrap().iter().find(|it| {
        let has = |key: &str| it[key].as_u64() > Some(0);
        let is_own = it["built_in"].as_bool() == Some(true);
        it["messages"].as_u64() > Some(100) && has("publishers") && has("subscriptions") && !is_own
    });
    let topic = topic.unwrap();
    let from = topic["publisher_nodes"][0].as_str().unwrap_or(ends[1]);
    let to = topic["subscription_nodes"][0].as_str().unwrap_or(ends[3]);
    let latency = ["latency", trace, "--from", from, "--to", to];
    let shown = stdout_of(&latency, 1);
    assert!(shown.contains("is not known"), "{shown}");
    assert!(
        !shown.contains(" came through;") && !shown.contains("0 of "),
        "{shown}"
    );
    let said = stderr_of(&latency, 1);
    assert!(said.contains("no take events"), "{said}");
    let name = topic["topic"].as_str().unwrap();
    let said = stderr_of(&["why", trace, "--topic", name], 1);
    assert!(said.contains("is not known: no take events"), "{said}");
}

#[test]
fn why_assumes_what_latency_assumes() {
    for name in ["jazzy/chain", "humble/chain_caret"] {
        let Some(trace) = shared(name) else { return };
        let ends = ["--from", "/sensors", "--to", "/actuator"];
        let latency = json(&[&["latency", &trace], &ends[..]].concat());
        let assumed = &latency[0]["assumed_latest_message"];
        assert!(!assumed.as_array().unwrap().is_empty(), "{name}: {latency}");
        let question = [&["why", &trace], &ends[..]].concat();
        let why = json(&question);
        adds_up(&why, name);
        assert!(!why["assumed_latest_message"].as_array().unwrap().is_empty());
        let slowest = latency.as_array().unwrap().iter();
        let slowest = slowest
            .filter_map(|it| it["latency_ns"]["max"].as_i64())
            .max();
        assert_eq!(why["total_ns"].as_i64(), slowest, "{name}");
        let shown = stdout_of(&question, 0);
        assert!(
            shown.contains("/planner published the newest message that it had received"),
            "{shown}"
        );
    }
}

#[test]
fn causes_below_a_thousandth_are_told_together() {
    let Some(trace) = shared("jazzy/chain") else {
        return;
    };
    let shown = stdout_of(
        &["why", &trace, "--from", "/sensors", "--to", "/actuator"],
        0,
    );
    let small = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = words.iter().rposition(|word| *word == "%");
        let share = unit.and_then(|unit| words[unit - 1].parse::<f64>().ok());
        share.is_some_and(|share| share < 0.1) && !line.contains("below 0.1 % each")
    };
    assert!(shown.contains("below 0.1 % each"), "{shown}");
    assert!(!shown.lines().any(small), "{shown}");
}
