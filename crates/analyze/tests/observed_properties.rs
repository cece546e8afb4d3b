//! What holds in every recording and in any random system: parts add up, explanations are complete, tables fit their
//! declarations, and neither the order of streams nor lost events make anything up.

#![allow(clippy::unwrap_used)]

mod observed;
#[path = "../../trace/tests/support/mod.rs"]
mod support;

use std::collections::HashSet;

use observed::invariants::{self, Seen};
use observed::system::{Tape, system};
use observed::{Recorded, recordings, rows, whole};
use proptest::prelude::*;
use rostrace_analyze::table::TABLES;
use support::recording::EPOCH;

#[test]
fn parts_add_up_in_every_recording() {
    let mut seen = Seen::default();
    for name in recordings() {
        let Some(recorded) = Recorded::open(&name) else {
            continue;
        };
        seen += invariants::hold(&whole(&recorded.model), &name);
    }
    eprintln!("{seen:?}");
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
}
