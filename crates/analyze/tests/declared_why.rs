//! Why messages along declared paths took as long as they did: in tiny systems where it is plain, and adding up in all recordings.

use std::fs;

use proptest::prelude::*;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::path_instance::PathInstance;
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::summary::{stage_columns, stamped_instants};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::timer::firings;
use rostrace_analyze::why::{Cause, Relation, Why};
use rostrace_architecture::{ContextType, from_trace_with_flows, read};
use rostrace_model::Model;
use rostrace_model::entity::{InstanceId, TimerId};

use crate::observed::invariants::Seen;
use crate::observed::path_instances::{self, CauseDurations};
use crate::observed::system::{Tape, system};
use crate::observed::{Recorded, open, path_through, recordings, whole};
use crate::support::{Recording, stamp};

fn add(all: &mut CauseDurations, reported: CauseDurations) {
    for (cause, duration) in reported {
        *all.entry(cause).or_default() += duration;
    }
}

#[test]
fn explanations_of_declared_paths_add_up_in_every_recording() {
    let (mut seen, mut reported) = (Seen::default(), CauseDurations::new());
    for (name, recorded) in open(recordings()) {
        let analysis = whole(&recorded.model);
        let mut architectures = vec![from_trace_with_flows(&recorded.model)];
        // CARET's results have one that people have edited.
        let folder = rostrace_testkit::recordings::find(&name);
        let file = folder.map(|it| it.join("expected/edited_architecture.yaml"));
        if let Some(file) = file.filter(|file| file.exists()) {
            let text = fs::read_to_string(file).unwrap();
            architectures.push(read(&text).unwrap().architecture);
        }
        for architecture in &architectures {
            let found = path_instances::hold(&analysis, architecture, &name, &mut seen);
            add(&mut reported, found);
        }
    }
    if !recordings().is_empty() {
        assert!(seen.flows > 100_000, "{seen:?}");
        for cause in ["execution", "other_callback", "stored", "timer_lateness"] {
            assert!(reported.contains_key(cause), "{cause}: {reported:?}");
        }
    }
}

#[test]
fn explanations_of_declared_paths_add_up_in_recordings_of_others() {
    for name in rostrace_testkit::recordings::OF_OTHERS {
        if let Some(recorded) = Recorded::open(&format!("public/{name}")) {
            let architecture = from_trace_with_flows(&recorded.model);
            let analysis = whole(&recorded.model);
            path_instances::hold(&analysis, &architecture, name, &mut Seen::default());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn explanations_of_declared_paths_add_up_in_random_systems(
        tape in prop::collection::vec(any::<u32>(), 0..500),
        with_phases: bool,
        window in (5_000_000u64..5_200_000, 1u64..40_000),
        is_damaged: bool,
    ) {
        let mut recording = system(&mut Tape::of(tape), 120, with_phases);
        if is_damaged {
            recording.lose(window.0, window.0 + window.1);
        }
        let model = recording.load();
        let architecture = from_trace_with_flows(&model);
        path_instances::hold(&whole(&model), &architecture, "random", &mut Seen::default());
    }
}

/// `/source` sends /a to `/relay`, which keeps it and sends /b to `/sink`, later and from elsewhere.
fn relay() -> Recording {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/source");
    recording.publisher(0x10, 2, "/a");
    recording.node(3, "/relay");
    recording.subscription(0x20, 3, "/a", 0x30);
    recording.publisher(0x11, 3, "/b");
    recording.node(4, "/sink").subscription(0x21, 4, "/b", 0x31);
    recording
}

/// `/relay` takes a message of /a, at 12.100 ms.
fn taken(recording: &mut Recording) -> &mut Recording {
    recording.at(12_000_000);
    recording.publish(0x10, 0x5000, stamp(12_001_000));
    recording
        .at(12_100_000)
        .rmw_take(0x20, 0x7000, stamp(12_001_000))
}

/// It is received from 12.110 to 12.200 ms; nothing is published before that.
fn received(recording: &mut Recording) {
    taken(recording).run_between(12_110_000, 12_200_000, 0x30);
}

/// A callback that runs already publishes /b, ends 10 µs later, and 40 µs after that `/sink` receives.
fn sent_on(recording: &mut Recording, callback: u64, at: u64) {
    let stamp = stamp(at + 1_000);
    recording.at(at).publish(0x11, 0x5001, stamp);
    recording.at(at + 10_000).end(callback);
    recording.at(at + 50_000).receive(0x21, stamp, 0x31);
}

/// The causes along /source → /a → /relay → /b → /sink of the first message that came through, after its first communication
/// and before its last.
fn between(model: &Model, context: ContextType) -> Vec<(i64, Cause)> {
    let path = path_through("relayed", &[("/source", "/a"), ("/relay", "/b")], "/sink");
    let mut architecture = from_trace_with_flows(model);
    architecture
        .update_message_context("/relay", Some(context), "/a", "/b")
        .unwrap();
    let analysis = whole(model);
    let indexed = Indexed::new(model, Style::Own);
    let ends = Ends::default();
    let records = stamped_instants(&indexed, &architecture, &path, ends, |_| true).unwrap();
    let columns = stage_columns(&records);
    let path_instance = (records.rows.iter())
        .find_map(|row| PathInstance::of(&indexed, &columns, row))
        .unwrap();
    let explained = Why::new(&analysis).path_instance(&path_instance);
    let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
    let end = path_instance.segments.last().unwrap().end;
    assert_eq!(sum, end.0 - path_instance.begin.0);
    let (from, to) = (path_instance.segments[0].end, path_instance.segments[1].end);
    let parts = explained.parts.iter();
    let inside = parts.filter(|part| part.begin >= from && part.end <= to);
    inside.map(|part| (part.duration(), part.cause)).collect()
}

#[test]
fn what_a_timer_publishes_later_was_stored_until_it_was_due() {
    let mut recording = relay();
    recording.timer(0x60, 3, 10_000_000, 0x70);
    recording.subscription(0x22, 3, "/c", 0x32);
    received(&mut recording);
    // When the timer is due, another callback runs.
    recording.at(22_000_000).wait_for_work();
    recording.run_between(22_100_000, 23_000_000, 0x32);
    recording.at(23_010_000).start(0x70);
    sent_on(&mut recording, 0x70, 23_050_000);
    let model = recording.load();
    let analysis = whole(&model);
    let firing = firings(&analysis, TimerId(0))[0];
    let due = firing.expected.0 - crate::support::time(0).0;
    let found = between(&model, ContextType::UseLatestMessage);
    let (reader, other) = (InstanceId(2), InstanceId(1));
    let expected = [
        (90_000, Cause::Execution(InstanceId(0))),
        (due - 12_200_000, Cause::Stored(reader)),
    ];
    assert_eq!(found[..2], expected);
    let waited: Vec<Cause> = found[2..].iter().map(|(_, cause)| *cause).collect();
    let blamed = Cause::OtherCallback(other, Relation::SameThread);
    assert!(waited.contains(&blamed), "{found:?}");
    assert_eq!(found.last(), Some(&(40_000, Cause::Execution(reader))));
}

#[test]
fn what_a_timer_had_in_store_when_it_ran_before_is_told_apart() {
    let mut recording = relay();
    recording.timer(0x60, 3, 10_000_000, 0x70);
    received(&mut recording);
    recording.at(22_500_000).run(0x70);
    recording.at(32_500_000).start(0x70);
    sent_on(&mut recording, 0x70, 32_550_000);
    let model = recording.load();
    let found = between(&model, ContextType::UseLatestMessage);
    let reader = InstanceId(2);
    let expected = [
        (90_000, Cause::Execution(InstanceId(0))),
        (22_500_000 - 12_200_000, Cause::UsedBefore(reader)),
    ];
    assert_eq!(found[..2], expected);
    assert!(
        matches!(found[2], (duration, Cause::Stored(_)) if duration < 10_000_000),
        "{found:?}"
    );
    assert_eq!(found.last(), Some(&(50_000, Cause::Execution(reader))));
}

#[test]
fn what_another_input_makes_into_an_output_was_stored_until_that_came() {
    let mut recording = relay();
    recording.publisher(0x12, 2, "/c");
    recording.subscription(0x22, 3, "/c", 0x32);
    received(&mut recording);
    recording.at(12_300_000).wait_for_work();
    recording.at(13_000_000);
    recording.publish(0x12, 0x5002, stamp(13_001_000));
    recording.at(13_100_000);
    recording.rmw_take(0x22, 0x7000, stamp(13_001_000));
    recording.at(13_105_000).start(0x32);
    sent_on(&mut recording, 0x32, 13_150_000);
    let reader = InstanceId(1);
    let expected = [
        (90_000, Cause::Execution(InstanceId(0))),
        (900_000, Cause::Stored(reader)),
        (5_000, Cause::Dispatch),
        (45_000, Cause::Execution(reader)),
    ];
    let found = between(&recording.load(), ContextType::UseLatestMessage);
    assert_eq!(found, expected);
}

#[test]
fn what_is_published_outside_of_callbacks_says_so() {
    let mut recording = relay();
    received(&mut recording);
    recording.at(12_500_000);
    recording.publish(0x11, 0x5001, stamp(12_501_000));
    recording.at(12_600_000);
    recording.receive(0x21, stamp(12_501_000), 0x31);
    let expected = [
        (90_000, Cause::Execution(InstanceId(0))),
        (300_000, Cause::OutsideCallbacks),
    ];
    let found = between(&recording.load(), ContextType::UseLatestMessage);
    assert_eq!(found, expected);
}

#[test]
fn an_output_of_the_same_execution_is_its_execution() {
    let mut recording = relay();
    taken(&mut recording).at(12_110_000).start(0x30);
    recording.at(12_150_000);
    recording.publish(0x11, 0x5001, stamp(12_151_000));
    recording.at(12_200_000).end(0x30);
    recording.at(12_600_000);
    recording.receive(0x21, stamp(12_151_000), 0x31);
    let model = recording.load();
    for context in [ContextType::UseLatestMessage, ContextType::CallbackChain] {
        let found = between(&model, context);
        assert_eq!(found, [(40_000, Cause::Execution(InstanceId(0)))]);
    }
}
