//! What holds in every recording and in any random system: parts add up, explanations are complete, tables fit their
//! declarations, and neither the order of streams nor lost events make anything up.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use rostrace_analyze::Analysis;
use rostrace_analyze::flow_latency::{FlowTimes, Include};
use rostrace_analyze::flow_path::{Ends, Flow, FlowPaths};
use rostrace_analyze::table::TABLES;
use rostrace_model::Model;
use rostrace_model::entity::{DeliveryId, InstanceId};

use crate::observed::invariants::{self, Seen};
use crate::observed::system::{Tape, system};
use crate::observed::{Recorded, open, recordings, rows, whole};
use crate::support::recording::EPOCH;

#[test]
fn parts_add_up_in_every_recording() {
    let mut seen = Seen::default();
    for (name, recorded) in open(recordings()) {
        seen += invariants::hold(&whole(&recorded.model), &name);
    }
    if !recordings().is_empty() {
        assert!(seen.deliveries > 20_000 && seen.flows > 15_000, "{seen:?}");
        assert!(seen.instances > 50_000 && seen.rows > 200_000, "{seen:?}");
    }
}

#[test]
fn parts_add_up_in_recordings_of_others() {
    for name in rostrace_testkit::recordings::OF_OTHERS {
        if let Some(recorded) = Recorded::open(&format!("public/{name}")) {
            invariants::hold(&whole(&recorded.model), name);
        }
    }
}

#[test]
fn tables_are_declared_once_and_in_sentences() {
    let mut names = HashSet::new();
    for table in TABLES {
        assert!(names.insert(table.name), "{} twice", table.name);
        assert!(table.about.ends_with('.'), "{}", table.name);
        let mut columns = HashSet::new();
        for column in table.columns {
            let of = format!("{}.{}", table.name, column.name);
            assert!(columns.insert(column.name), "{of} twice");
            assert!(column.about.ends_with('.'), "{of}");
        }
    }
}

/// What a table of messages says of arrivals: publish, start and latency, and whether it is damaged.
fn arrivals(analysis: &Analysis<'_>) -> Vec<([i64; 3], bool)> {
    let mut arrivals = Vec::new();
    for (index, delivery) in analysis.model.deliveries.iter().enumerate() {
        if let Some(arrival) = analysis.arrival(DeliveryId::from_index(index)) {
            let row = [
                arrival.publish.0,
                arrival.received.0,
                arrival.stages.latency(),
            ];
            let damaged = analysis.is_damaged(arrival.publish, arrival.received)
                || analysis.begins_late(delivery.publication);
            arrivals.push((row, damaged));
        }
    }
    arrivals
}

/// Begin, end and damage of all flows, to whatever execution.
fn flows(analysis: &Analysis<'_>) -> Vec<([i64; 2], bool)> {
    let ends = Ends {
        from: None,
        to: Some(&|_: &str| true),
    };
    let mut found = Vec::new();
    for path in FlowPaths::of(analysis).paths(&ends) {
        for flow in &path.flows {
            // Any part of a flow is one, so that a flow that was cut short is still true.
            for begin in 0..flow.deliveries.len() {
                for end in begin + 1..=flow.deliveries.len() {
                    let flow = Flow {
                        deliveries: flow.deliveries[begin..end].to_vec(),
                    };
                    let times = FlowTimes::of(analysis, &flow, Include::default());
                    let times = times.unwrap();
                    found.push(([times.begin.0, times.end.0], times.damaged));
                }
            }
        }
    }
    found
}

fn makes_nothing_up(intact: &Model, damaged: &Model) {
    let (intact, damaged) = (whole(intact), whole(damaged));
    let known: HashSet<_> = arrivals(&intact).into_iter().map(|it| it.0).collect();
    for (row, is_damaged) in arrivals(&damaged) {
        let is_late_begin = known
            .iter()
            .any(|it| it[1] == row[1] && it[0] < row[0] && it[2] > row[2]);
        assert!(
            known.contains(&row) || is_damaged && is_late_begin,
            "{row:?}"
        );
    }
    let known: HashSet<_> = flows(&intact).into_iter().map(|it| it.0).collect();
    for (row, is_damaged) in flows(&damaged) {
        assert!(known.contains(&row) || is_damaged, "{row:?}");
    }
    let spans: HashMap<_, _> = (intact.model.instances.iter())
        .map(|it| ((it.thread, it.start), it.end))
        .collect();
    for (index, instance) in damaged.model.instances.iter().enumerate() {
        let thread = damaged.model.threads[instance.thread.index()].tid;
        let original = spans.iter().find(|((id, start), _)| {
            intact.model.threads[id.index()].tid == thread && *start == instance.start
        });
        let end = *original.unwrap().1;
        let marked = damaged.is_execution_damaged(InstanceId::from_index(index));
        assert!(instance.end == end || instance.end.is_none() && marked);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_add_up_in_random_systems(
        tape in prop::collection::vec(any::<u32>(), 0..500),
        with_phases: bool,
    ) {
        let model = system(&mut Tape::of(tape), 120, with_phases).load();
        invariants::hold(&whole(&model), "random");
    }

    #[test]
    fn segments_are_what_threads_did(
        tape in prop::collection::vec(any::<u32>(), 0..300),
        with_phases: bool,
        spans in prop::collection::vec((4_900_000i64..5_250_000, 0i64..90_000), 1..5),
    ) {
        let model = system(&mut Tape::of(tape), 60, with_phases).load();
        let spans: Vec<(i64, i64)> = spans
            .into_iter()
            .map(|(from, length)| (EPOCH + from, EPOCH + from + length))
            .collect();
        invariants::segments_are_what_threads_did(&whole(&model), &spans);
    }

    #[test]
    fn the_order_of_streams_changes_no_table(
        tape in prop::collection::vec(any::<u32>(), 0..400),
        cpus in prop::collection::vec(0u32..5, 1..40),
        reversed: bool,
    ) {
        let mut recording = system(&mut Tape::of(tape), 80, true);
        let model = recording.load();
        recording.reversed = reversed;
        for (index, event) in recording.events.iter_mut().enumerate() {
            event.cpu = cpus[index % cpus.len()];
        }
        let other = recording.load();
        for table in TABLES {
            prop_assert_eq!(rows(&whole(&model), table), rows(&whole(&other), table));
        }
    }

    #[test]
    fn lost_events_make_nothing_up(
        tape in prop::collection::vec(any::<u32>(), 0..500),
        discarded in prop::collection::vec(any::<u32>(), 0..8),
        window in (5_000_000u64..5_200_000, 1u64..40_000),
        with_phases: bool,
    ) {
        let recording = system(&mut Tape::of(tape), 120, with_phases);
        let mut damaged = recording.clone();
        for number in &discarded {
            damaged.discard(*number as usize % damaged.events.len());
        }
        if discarded.len() < 4 {
            damaged.lose(window.0, window.0 + window.1);
        }
        let damaged = damaged.load();
        makes_nothing_up(&recording.load(), &damaged);
        invariants::hold(&whole(&damaged), "damaged");
        prop_assert!(damaged.losses.any());
    }
}
