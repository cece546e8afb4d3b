//! Rates per second: whole seconds of each object, never more than it did.

use std::collections::BTreeMap;

use crate::recordings::{load, rows};

#[test]
fn the_seconds_of_a_regular_publisher_have_its_rate() {
    let Some(recording) = load("jazzy/pingpong") else {
        return;
    };
    let analysis = recording.analysis();
    let rates = rows(&analysis, "rates");
    let publishers = rows(&analysis, "publishers");
    let mut compared = 0;
    for publisher in publishers
        .iter()
        .filter(|row| row.integer("messages") > 100)
    {
        let rate = publisher.number("rate_hz").unwrap();
        let seconds = rates.iter().filter(|row| {
            row.text("kind") == "publisher" && row.text("topic") == publisher.text("topic")
        });
        for second in seconds {
            assert!(
                (second.integer("count") as f64 - rate).abs() <= 2.0,
                "{second:?} {rate}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared}");
}

#[test]
fn seconds_follow_each_other_and_count_no_more_than_happened() {
    for name in ["jazzy/chain", "jazzy/executors", "humble/multi_caret"] {
        let Some(recording) = load(name) else { return };
        let analysis = recording.analysis();
        let mut objects: BTreeMap<(String, i64), Vec<(i64, i64)>> = BTreeMap::new();
        for row in rows(&analysis, "rates") {
            let key = (row.text("kind").to_owned(), row.integer("object"));
            let second = (row.integer("begin_ns"), row.integer("count"));
            objects.entry(key).or_default().push(second);
        }
        assert!(!objects.is_empty());
        for ((kind, object), seconds) in objects {
            let steps = seconds.windows(2).map(|pair| pair[1].0 - pair[0].0);
            assert!(
                steps.clone().all(|step| step == 1_000_000_000),
                "{name} {kind} {object}"
            );
            let counted: i64 = seconds.iter().map(|(_, count)| count).sum();
            let all = match kind.as_str() {
                "publisher" => rows(&analysis, "publishers")[object as usize].integer("messages"),
                "subscription" => {
                    rows(&analysis, "subscriptions")[object as usize].integer("received")
                }
                _ => i64::MAX,
            };
            assert!(counted <= all, "{name} {kind} {object}");
        }
    }
}
