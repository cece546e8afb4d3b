//! Publishers and subscriptions, judged by what the programs logged.

#[path = "support/recordings.rs"]
mod recordings;

use std::collections::BTreeMap;

use recordings::{load, rows};

type Counts = BTreeMap<(i64, String, String), i64>;

const WITHOUT_LOSSES: [&str; 10] = [
    "jazzy/pingpong",
    "jazzy/pingpong_caret",
    "jazzy/chain",
    "jazzy/chain_fastdds_caret",
    "jazzy/intra",
    "jazzy/multi",
    "humble/pingpong",
    "humble/chain_caret",
    "humble/intra",
    "humble/multi_caret",
];

/// The node in a key such as `/sensors#pub.raw_a`.
fn node(key: &str) -> String {
    key.split('#').next().unwrap_or_default().to_owned()
}

#[test]
fn publishers_published_what_their_programs_logged() {
    for name in WITHOUT_LOSSES {
        let Some(recording) = load(name) else { return };
        let mut logged = Counts::new();
        // On Humble and with CARET, serialized messages leave no event that tells their publisher.
        let tells_serialized = name.starts_with("jazzy") && !name.ends_with("_caret");
        for (pid, words) in recording.lines("pub") {
            if !tells_serialized && words.iter().any(|word| word == "how=serialized") {
                continue;
            }
            *logged
                .entry((pid, node(&words[4]), words[2].clone()))
                .or_default() += 1;
        }
        let analysis = recording.analysis();
        let mut counted = Counts::new();
        for row in rows(&analysis, "publishers") {
            if row.flag("built_in") || row.integer("messages") == 0 {
                continue;
            }
            let key = (
                row.integer("pid"),
                row.text("node").into(),
                row.text("topic").into(),
            );
            *counted.entry(key).or_default() += row.integer("messages");
        }
        assert_eq!(counted, logged, "{name}");
    }
}

#[test]
fn subscriptions_received_what_their_programs_logged() {
    for name in WITHOUT_LOSSES {
        let Some(recording) = load(name) else { return };
        let mut logged = Counts::new();
        let mut taken = 0;
        for (pid, words) in recording.lines("recv").chain(recording.lines("take")) {
            *logged
                .entry((pid, node(&words[5]), words[2].clone()))
                .or_default() += 1;
            taken += i64::from(words[1] == "take");
        }
        let analysis = recording.analysis();
        let mut counted = Counts::new();
        let mut by_hand = 0;
        for row in rows(&analysis, "subscriptions") {
            if row.flag("built_in") || row.integer("received") == 0 {
                continue;
            }
            let key = (
                row.integer("pid"),
                row.text("node").into(),
                row.text("topic").into(),
            );
            *counted.entry(key).or_default() += row.integer("received");
            by_hand += row.integer("by_hand");
        }
        assert_eq!(counted, logged, "{name}");
        assert_eq!(by_hand, taken, "{name}");
    }
}

#[test]
fn the_mean_period_is_the_inverse_of_the_rate() {
    let Some(recording) = load("jazzy/chain") else {
        return;
    };
    let analysis = recording.analysis();
    let mut compared = 0;
    for table in ["publishers", "subscriptions"] {
        for row in rows(&analysis, table) {
            if row.has("rate_hz") {
                let product = row.number("rate_hz") * row.number("period_mean_ns") / 1e9;
                assert!((product - 1.0).abs() < 1e-9, "{row:?}");
                assert_eq!(row.integer("damaged"), 0);
                compared += 1;
            }
        }
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn no_period_spans_a_time_in_which_events_were_lost() {
    let Some(recording) = load("jazzy/lossy") else {
        return;
    };
    let analysis = recording.analysis();
    let rows = rows(&analysis, "publishers");
    assert!(rows.iter().any(|row| row.integer("damaged") > 0));
    for row in &rows {
        assert!(row.integer("damaged") <= row.integer("messages"));
    }
}
