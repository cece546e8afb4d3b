//! Observed causality against the log: which output was made from which input.

#![allow(clippy::unwrap_used)]

mod observed;
#[path = "../../trace/tests/support/mod.rs"]
mod support;

use std::collections::{HashMap, HashSet};

use observed::truth::{dependences, logs, messages};
use observed::{Recorded, recordings, whole};
use rostrace_analyze::flow_latency::{Include, path_latency};
use rostrace_analyze::flow_path::{Ends, FlowPaths};
use rostrace_analyze::table::{Cell, TABLES};
use rostrace_trace::entity::InstanceId;
use support::{Recording, stamp};

/// Each as often as it occurs: processes that run twice count from 1 again.
fn tally<T: std::hash::Hash + Eq>(all: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut tally = HashMap::new();
    for one in all {
        *tally.entry(one).or_default() += 1;
    }
    tally
}

#[test]
fn what_went_out_because_of_what_came_in_is_what_the_log_says() {
    let mut compared = 0;
    for name in recordings() {
        let recorded = Recorded::open(&name).unwrap();
        let model = &recorded.model;
        let logs = logs(&recorded);
        let (direct, _) = dependences(&logs);
        let known = messages(model, &logs);
        let analysis = whole(model);
        let paths = FlowPaths::of(&analysis);
        let mut ours = Vec::new();
        for index in 0..model.instances.len() {
            let id = InstanceId::from_index(index);
            let Some(cause) = paths.cause(id) else {
                continue;
            };
            let input = known.get(&analysis.delivery(cause).publication);
            for output in analysis.publications_in(id) {
                if let (Some(output), Some(input)) = (known.get(output), input) {
                    ours.push([output.1.clone(), input.1.clone()]);
                }
            }
        }
        // Processes that lose their begin, or events: what is not in the trace cannot be told.
        let told: HashSet<_> = known.values().map(|(_, message)| message).collect();
        let (ours, direct) = (tally(ours), tally(direct));
        for (pair, number) in &direct {
            let is_told = pair.iter().all(|message| told.contains(message));
            let is_named = name != "jazzy/late";
            if is_told && is_named {
                assert_eq!(ours.get(pair), Some(number), "{name}: missing {pair:?}");
                compared += number;
            }
        }
        // The programs of these log no dependences.
        if !name.contains("lossy") {
            for (pair, number) in &ours {
                assert_eq!(direct.get(pair), Some(number), "{name}: made up {pair:?}");
            }
        }
    }
    if !recordings().is_empty() {
        assert!(compared > 4_000, "{compared}");
    }
}

/// A timer publishes; the message is passed on by every second execution of the next node.
fn relay() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(1, "source").context(1).node(2, "/source");
    recording
        .publisher(0x10, 2, "/a")
        .timer(0x60, 2, 1_000_000, 0x70);
    recording.timer(0x61, 2, 7_000_000, 0x71);
    recording.process(2, "relay").context(1).node(2, "/relay");
    recording
        .subscription(0x20, 2, "/a", 0x30)
        .publisher(0x10, 2, "/b");
    recording.process(3, "sink").context(1).node(2, "/sink");
    recording.subscription(0x20, 2, "/b", 0x30);
    for k in 0..4u64 {
        recording
            .at(10_000_000 + k * 1_000_000)
            .process(1, "source");
        let first = stamp(recording.now() + 3_300);
        recording.start(0x70).publish(0x10, 0x5000, first).end(0x70);
        recording
            .process(2, "relay")
            .rmw_take(0x20, 0x7000, first)
            .start(0x30);
        let second = stamp(recording.now() + 2_300);
        if k % 2 == 0 {
            recording.publish(0x10, 0x5000, second);
        }
        recording.end(0x30);
        if k % 2 == 0 {
            recording.process(3, "sink").receive(0x20, second, 0x30);
        }
    }
    // Another callback publishes the same topic: another path.
    recording.at(20_000_000).process(1, "source");
    let first = stamp(recording.now() + 3_300);
    recording.start(0x71).publish(0x10, 0x5000, first).end(0x71);
    recording.process(2, "relay").receive(0x20, first, 0x30);
    recording
}

#[test]
fn paths_say_what_was_sent_and_where_it_ended() {
    let model = relay().load();
    let analysis = whole(&model);
    let ends = Ends {
        from: None,
        to: None,
    };
    let mut found = Vec::new();
    for path in FlowPaths::of(&analysis).paths(&ends) {
        let latency = path_latency(&analysis, &path, Include::default());
        let outcomes = latency.hops.iter().map(|hop| {
            let outcome = &hop.outcome;
            (outcome.sent, outcome.arrived, outcome.not_passed_on)
        });
        let origin = format!("{:?}", path.origin).contains("timer 1 ms");
        found.push((
            path.title(),
            origin,
            path.flows.len(),
            outcomes.collect::<Vec<_>>(),
        ));
    }
    let long = "/source → /a → /relay → /b → /sink".to_owned();
    let short = "/source → /a → /relay".to_owned();
    let expected = [
        (long, true, 2, vec![(4, 4, 2), (2, 2, 0)]),
        (short.clone(), true, 2, vec![(4, 4, 0)]),
        (short, false, 1, vec![(1, 1, 0)]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn response_times_count_messages_that_nothing_was_made_from() {
    let model = relay().load();
    let analysis = whole(&model);
    let table = TABLES.iter().find(|table| table.name == "response_times");
    let mut times: HashMap<(i64, String), Vec<i64>> = HashMap::new();
    (table.unwrap().rows)(&analysis, &mut |row| {
        if let [
            Cell::Integer(path),
            Cell::Text(case),
            Cell::Integer(start),
            Cell::Integer(_),
        ] = row
        {
            let milliseconds = (start - support::recording::EPOCH) / 1_000_000;
            let of_case = times.entry((*path, (*case).to_owned())).or_default();
            of_case.push(milliseconds);
        }
        Ok(())
    })
    .unwrap();
    let starts = |path: i64, case: &str| times.get(&(path, case.to_owned())).cloned();
    // Along the whole path every second message comes through; the second output also answers the one before.
    assert_eq!(starts(0, "all"), Some(vec![10, 12]));
    assert_eq!(starts(0, "best"), Some(vec![10, 12]));
    assert_eq!(starts(0, "worst"), Some(vec![11]));
    assert_eq!(starts(0, "worst_with_external_latency"), Some(vec![10]));
    // All reach the first callback, whether they go on or not.
    assert_eq!(starts(1, "all"), Some(vec![10, 11, 12, 13]));
    assert_eq!(starts(1, "worst"), Some(vec![11, 12, 13]));
}
