//! `rostrace why` and `latency` on real recordings that are awkward: executions that overlap, have no end, no name, or messages of which nobody knows whether they
//! arrived.

use std::process::Command;

use serde_json::Value;

use crate::support::{
    Folder, Says, array, integer, json_of_any as json, shared, stderr_of, stdout_of, text,
};

/// Parts follow each other, none is negative, and they add up.
pub fn adds_up(why: &Value, of: &str) {
    let begin = integer(&why["begin_ns"]);
    let mut at = begin;
    for part in array(&why["parts"]) {
        assert_eq!(part["begin_ns"], at, "{of}: {part}");
        assert!(integer(&part["duration_ns"]) > 0, "{of}: {part}");
        at += integer(&part["duration_ns"]);
    }
    assert_eq!(why["end_ns"], at, "{of}");
    assert_eq!(why["total_ns"], at - begin, "{of}");
}

#[test]
fn parts_of_executions_that_overlap_follow_each_other() {
    for name in ["jazzy/executors_caret", "humble/executors_caret"] {
        let Some(trace) = shared(name) else { return };
        for rank in ["1", "2", "3", "4", "5"] {
            let callback = "/mt_node · timer 15 ms";
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
        for row in array(&json(&["callbacks", &trace])) {
            let callback = text(&row["name"]);
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
    let mut paths = array(&paths).iter();
    assert!(paths.any(|path| array(&path["hops"]).len() > 2));
    let shown = stdout_of(&["latency", &trace], 0);
    shown.says("(filter ");
    let topics = json(&["topics", &trace]);
    let received: i64 = array(&topics)
        .iter()
        .map(|it| integer(&it["received"]))
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
    let folder = Folder::new();
    let unpacked = Command::new("tar")
        .args(["--use-compress-program", "zstd -d", "-xf", &packed, "-C"])
        .arg(folder.path())
        .status();
    if !unpacked.is_ok_and(|status| status.success()) {
        return;
    }
    let trace = folder.here();
    let topics = json(&["topics", trace]);
    // Any two nodes with a topic between them that somebody sends to.
    let topic = array(&topics).iter().find(|it| {
        let has = |key: &str| it[key].as_u64() > Some(0);
        let is_own = it["built_in"].as_bool() == Some(true);
        it["messages"].as_u64() > Some(100) && has("publishers") && has("subscriptions") && !is_own
    });
    let topic = topic.unwrap();
    let from = topic["publisher_nodes"][0]
        .as_str()
        .unwrap_or("/aggregator_node");
    let to = topic["subscription_nodes"][0]
        .as_str()
        .unwrap_or("/system/emergency_handler");
    let latency = ["latency", trace, "--from", from, "--to", to];
    let shown = stdout_of(&latency, 1);
    shown.says("is not known");
    shown.lacks(" came through;");
    shown.lacks("0 of ");
    let said = stderr_of(&latency, 1);
    said.says("no take events");
    let name = topic["topic"].as_str().unwrap();
    let said = stderr_of(&["why", trace, "--topic", name], 1);
    said.says("is not known: no take events");
}

#[test]
fn why_assumes_what_latency_assumes() {
    for name in ["jazzy/chain", "humble/chain_caret"] {
        let Some(trace) = shared(name) else { return };
        let ends = ["--from", "/sensors", "--to", "/actuator"];
        let latency = json(&[&["latency", &trace], &ends[..]].concat());
        let assumed = &latency[0]["assumed_latest_message"];
        assert!(!array(assumed).is_empty(), "{name}: {latency}");
        let question = [&["why", &trace], &ends[..]].concat();
        let why = json(&question);
        adds_up(&why, name);
        assert!(!array(&why["assumed_latest_message"]).is_empty());
        let slowest = array(&latency)
            .iter()
            .filter_map(|it| it["latency_ns"]["max"].as_i64());
        assert_eq!(why["total_ns"].as_i64(), slowest.max(), "{name}");
        let shown = stdout_of(&question, 0);
        shown.says("/planner published the newest message that it had received");
    }
}

#[test]
fn causes_below_a_thousandth_are_reported_together() {
    let Some(trace) = shared("jazzy/chain") else {
        return;
    };
    let shown = stdout_of(&format!("why {trace} --from /sensors --to /actuator"), 0);
    let small = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = words.iter().rposition(|word| *word == "%");
        let share = unit.and_then(|unit| words[unit - 1].parse::<f64>().ok());
        share.is_some_and(|share| share < 0.1) && !line.contains("below 0.1 % each")
    };
    shown.says("below 0.1 % each");
    assert!(!shown.lines().any(small), "{shown}");
}

/// Not the next one that did: at the instant of its publication, or somewhat later.
#[test]
fn a_message_that_did_not_arrive_is_explained_at_its_time() {
    for (name, topic, causes) in [
        ("jazzy/multi", "/burst", ["history_full", "middleware"]),
        ("jazzy/intra", "/t_fast", ["ring_buffer_full", "middleware"]),
    ] {
        let Some(trace) = shared(name) else { return };
        let worst = ["why", &trace, "--topic", topic];
        let why = json(&worst);
        assert_eq!(why["arrived"], true, "{name}");
        let missing = &why["not_arrived"];
        assert!(integer(&missing["messages"]) > 10, "{name}: {missing}");
        stdout_of(&worst, 0).says(" messages did not arrive (");
        let first = integer(&missing["first_ns"]);
        for after in [0, 1_000] {
            let at = (first + after).to_string();
            let question = ["why", &trace, "--topic", topic, "--at", &at];
            let why = json(&question);
            adds_up(&why, name);
            assert_eq!(why["arrived"], false, "{name}");
            assert_eq!(integer(&why["begin_ns"]), first, "{name}");
            assert!(causes.contains(&text(&why["drop_cause"])), "{name}: {why}");
            stdout_of(&question, 0).says("it did not arrive: ");
        }
    }
}

#[test]
fn each_part_says_what_it_was_and_where() {
    let Some(trace) = shared("jazzy/multi") else {
        return;
    };
    let question = ["why", &trace, "--topic", "/burst"];
    let why = json(&question);
    let shown = stdout_of(&[&question[..], &["--parts"]].concat(), 0);
    for part in array(&why["parts"]) {
        shown.says(text(&part["sentence"]));
        assert!(
            integer(&part["pid"]) > 0 && integer(&part["tid"]) > 0,
            "{part}"
        );
        assert!(!text(&part["process"]).is_empty(), "{part}");
    }
}
