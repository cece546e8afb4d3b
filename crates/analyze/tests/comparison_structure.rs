//! Which thing is which: what appeared, disappeared, was renamed or fell silent, by recordings made up for it.

use std::collections::BTreeSet;

use rostrace_analyze::comparison::{Change, Comparison, Options, ThingKind, compare};
use rostrace_analyze::measured::{
    Measured, MeasuredCallback, MeasuredTopic, NodeFingerprint, ProcessFingerprint, Series,
};
use rostrace_ctf::schema::Nanos;

use crate::comparison_noise::measured_timer;

fn texts(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|it| (*it).to_owned()).collect()
}

fn node(name: &str, traits: &[&str], symbols: &[&str]) -> NodeFingerprint {
    NodeFingerprint {
        name: name.to_owned(),
        traits: texts(traits),
        symbols: texts(symbols),
        processes: texts(&["container"]),
    }
}

fn topic(name: &str, publishers: &[&str], subscribers: &[&str]) -> MeasuredTopic {
    MeasuredTopic {
        name: name.to_owned(),
        publishers: texts(publishers),
        subscribers: texts(subscribers),
        instants: (0..50).map(|it| Nanos(it * 100_000_000)).collect(),
        intervals: Series::default(),
    }
}

fn timer(
    node: &str,
    period: &str,
    ordinal: usize,
    symbol: &str,
    duration: i64,
) -> MeasuredCallback {
    let at = |place: i64| Nanos(place * 100_000_000);
    // Some spread, so that there is something to draw from.
    let values = (0..50).map(|it| (duration + it * 37 % 11 * 1000, at(it)));
    let (values, damaged) = (values.collect(), 0);
    MeasuredCallback {
        ordinal,
        name: format!("{node} · timer {period} #{ordinal}"),
        symbol: Some(symbol.to_owned()),
        ..measured_timer(node, period, Series { values, damaged })
    }
}

fn compared(base: Measured, new: Measured) -> Comparison {
    compare(&[base], &[new], &Options::default())
}

fn changes(comparison: &Comparison, kind: ThingKind) -> Vec<(&str, &Change)> {
    let of_kind = comparison.changes.iter().filter(|it| it.kind == kind);
    of_kind.map(|it| (it.name.as_str(), &it.change)).collect()
}

#[test]
fn a_node_with_another_name_and_the_same_functions_was_renamed() {
    let side = |name: &str| Measured {
        nodes: vec![
            node(
                name,
                &["publishes /plan", "receives /map", "timer 100 ms"],
                &["Planner::tick"],
            ),
            node("/map", &["publishes /map"], &[]),
        ],
        topics: vec![
            topic("/plan", &[name], &["/drive"]),
            topic("/map", &["/map"], &[name]),
        ],
        callbacks: vec![timer(name, "100 ms", 1, "Planner::tick", 5_000_000)],
        ..Measured::default()
    };
    let comparison = compared(side("/planner"), side("/motion_planner"));
    let nodes = changes(&comparison, ThingKind::Node);
    assert_eq!(nodes.len(), 1);
    assert_eq!(nodes[0].0, "/planner");
    let Change::Renamed { to, because } = nodes[0].1 else {
        panic!("{nodes:?}");
    };
    assert_eq!(to, "/motion_planner");
    assert!(because.contains("1 equal callback function"), "{because}");
    // Its callbacks are compared under the new name, and nothing else is news.
    assert_eq!(comparison.changes.len(), 1, "{:?}", comparison.changes);
    let row = comparison
        .rows
        .iter()
        .find(|row| row.kind == ThingKind::Callback)
        .unwrap();
    assert_eq!(row.name, "/motion_planner · timer 100 ms #1");
    assert_eq!(row.base_name.as_deref(), Some("/planner · timer 100 ms #1"));
}

#[test]
fn two_equal_candidates_are_no_rename() {
    let base = Measured {
        nodes: vec![node("/a", &["timer 1 s"], &["f"])],
        ..Measured::default()
    };
    let new = Measured {
        nodes: vec![
            node("/b", &["timer 1 s"], &["f"]),
            node("/c", &["timer 1 s"], &["f"]),
        ],
        ..Measured::default()
    };
    let comparison = compared(base, new);
    let nodes = changes(&comparison, ThingKind::Node);
    assert_eq!(
        nodes,
        [
            ("/a", &Change::Disappeared),
            ("/b", &Change::Appeared),
            ("/c", &Change::Appeared)
        ]
    );
}

#[test]
fn a_topic_between_the_same_nodes_was_remapped() {
    let side = |name: &str| Measured {
        nodes: vec![node("/lidar", &[], &[]), node("/fusion", &[], &[])],
        topics: vec![topic(name, &["/lidar"], &["/fusion"])],
        ..Measured::default()
    };
    let comparison = compared(side("/points"), side("/lidar/points"));
    let topics = changes(&comparison, ThingKind::Topic);
    assert!(
        matches!(topics[..], [("/points", Change::Renamed { to, .. })] if to == "/lidar/points"),
        "{topics:?}"
    );
}

#[test]
fn a_timer_with_another_period_is_the_same_function() {
    let side = |period: &str| Measured {
        nodes: vec![node("/driver", &[], &[])],
        callbacks: vec![timer("/driver", period, 1, "Driver::poll()", 1_000_000)],
        ..Measured::default()
    };
    let comparison = compared(side("100 ms"), side("50 ms"));
    let callbacks = changes(&comparison, ThingKind::Callback);
    assert!(
        matches!(callbacks[..], [(_, Change::Renamed { to, .. })] if to == "/driver · timer 50 ms #1"),
        "{callbacks:?}"
    );
}

#[test]
fn functions_tell_equal_timers_apart_whatever_their_order() {
    let side = |symbols: [&str; 2], durations: [i64; 2]| Measured {
        nodes: vec![node("/driver", &[], &[])],
        callbacks: vec![
            timer("/driver", "10 ms", 1, symbols[0], durations[0]),
            timer("/driver", "10 ms", 2, symbols[1], durations[1]),
        ],
        ..Measured::default()
    };
    let comparison = compared(
        side(["fast()", "slow()"], [1_000_000, 9_000_000]),
        side(["slow()", "fast()"], [9_000_000, 1_000_000]),
    );
    assert!(comparison.changes.is_empty(), "{:?}", comparison.changes);
    for row in &comparison.rows {
        for difference in &row.differences {
            assert_eq!(difference.base, difference.new, "{}", row.name);
        }
    }
}

#[test]
fn what_belongs_to_a_node_that_is_gone_is_not_reported_again() {
    let process = |number: usize, node: &str| {
        let (name, nodes) = ("extra".to_owned(), texts(&[node]));
        vec![ProcessFingerprint {
            name,
            number,
            nodes,
        }]
    };
    let base = Measured {
        nodes: vec![
            node("/extra", &["publishes /x"], &[]),
            node("/rest", &[], &[]),
        ],
        processes: process(2, "/extra"),
        callbacks: vec![timer("/extra", "10 ms", 1, "f", 1_000)],
        topics: vec![topic("/x", &["/extra"], &[])],
        ..Measured::default()
    };
    let new = Measured {
        nodes: vec![node("/rest", &[], &[])],
        processes: process(1, "/rest"),
        ..Measured::default()
    };
    let comparison = compared(base, new);
    let changes = comparison.changes.iter();
    let changes: Vec<_> = changes.map(|it| (it.kind, &it.change)).collect();
    assert_eq!(
        changes,
        [
            (ThingKind::Process, &Change::Number { base: 2, new: 1 }),
            (ThingKind::Node, &Change::Disappeared)
        ]
    );
}

#[test]
fn a_callback_that_never_ran_again_is_reported() {
    let mut silent = timer("/driver", "10 ms", 1, "f", 1_000);
    silent.executions = 0;
    silent.duration = Series::default();
    let side = |callback| Measured {
        nodes: vec![node("/driver", &[], &[])],
        callbacks: vec![callback],
        ..Measured::default()
    };
    let comparison = compared(side(timer("/driver", "10 ms", 1, "f", 1_000)), side(silent));
    let callbacks = changes(&comparison, ThingKind::Callback);
    assert!(
        matches!(callbacks[..], [(_, Change::FellSilent { executions: 50 })]),
        "{callbacks:?}"
    );
}
