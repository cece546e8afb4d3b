//! All explanations added up: to the nanosecond those of single ones, in every recording; and what could be changed, in a system with a known cause.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::callback::{instance_timings, summaries};
use rostrace_analyze::communication::{DropCause, pairs};
use rostrace_analyze::flow_path::{Ends, FlowPaths};
use rostrace_analyze::why::total::{
    BlameKind, Hop, LostMessages, Messages, PathVictim, Total, Wanted,
};
use rostrace_analyze::why::{Explanation, Why};
use rostrace_ctf::TraceSet;
use rostrace_model::Model;
use rostrace_model::entity::{CallbackId, DeliveryId, InstanceId};
use rostrace_model::flow::DeliveryStatus;
use rostrace_model::scheduling::Scheduling;

use crate::observed::{Recorded, open, recordings, whole};
use crate::support::{Recording, stamp};

/// By hop, cause and whose callback it was: how much time, in how many parts.
type Sums = BTreeMap<(usize, &'static str, String), i64>;

const EVERYTHING: Wanted<'_> = Wanted {
    callback: &|_| true,
    unnamed: &|_| true,
    message: &|_| true,
};

/// Whose callback a part names.
fn add(analysis: &Analysis<'_>, sums: &mut Sums, explanation: &Explanation) {
    for part in &explanation.parts {
        let ran = part.cause.instance().filter(|_| {
            !matches!(
                part.cause.name(),
                "standstill" | "preempted" | "waiting_for_cpu"
            )
        });
        let ran = ran.map(|id| {
            let instance = analysis.instance(id);
            format!(
                "{:?} {:?}",
                instance.callback,
                instance.callback.is_none().then_some(instance.address)
            )
        });
        let key = (part.hop, part.cause.name(), ran.unwrap_or_default());
        *sums.entry(key).or_default() += part.duration();
    }
}

fn sums_of(analysis: &Analysis<'_>, total: &Total) -> Sums {
    let mut sums = Sums::new();
    for victim in &total.victims {
        let (mut duration, mut weighted) = (0, 0);
        for row in &victim.rows {
            let ran = row.longest.cause.instance().filter(|_| {
                !matches!(
                    row.blame.cause,
                    "standstill" | "preempted" | "waiting_for_cpu"
                )
            });
            let ran = ran.map(|id| {
                let instance = analysis.instance(id);
                format!(
                    "{:?} {:?}",
                    instance.callback,
                    instance.callback.is_none().then_some(instance.address)
                )
            });
            let key = (row.hop, row.blame.cause, ran.unwrap_or_default());
            *sums.entry(key).or_default() += row.duration;
            duration += row.duration;
            weighted += row.weighted;
            assert!(
                row.late <= row.count && row.count <= victim.explained,
                "{row:?}"
            );
            assert!(row.weighted >= 0, "{row:?}");
        }
        assert_eq!(duration, victim.duration, "{:?}", victim.victim);
        assert_eq!(weighted, victim.lateness, "{:?}", victim.victim);
    }
    for change in total.changes(usize::MAX) {
        assert!(
            change.gain <= change.lateness && change.times <= change.of,
            "{change:?}"
        );
        let sentence = change.sentence(analysis, total);
        assert!(sentence.contains("lateness ("), "{sentence}");
        assert!(!change.note(analysis, total).is_empty());
    }
    sums
}

/// What was compared.
#[derive(Debug, Default)]
struct Seen {
    explained: u64,
    rows: usize,
    late: u64,
    changes: usize,
}

fn equal_single_explanations(analysis: &Analysis<'_>, of: &str, seen: &mut Seen) {
    let model = analysis.model;
    let callbacks = summaries(analysis);
    let mut why = Why::new(analysis);

    let total = Total::of_executions(analysis, &callbacks, &EVERYTHING);
    let (mut sums, mut explained) = (Sums::new(), 0);
    for id in (0..model.callbacks.len()).map(CallbackId::from_index) {
        for timing in instance_timings(analysis, id) {
            let explanation = why.instance(timing.instance, timing.firing.as_ref());
            add(analysis, &mut sums, &explanation);
            explained += 1;
        }
    }
    for (index, instance) in model.instances.iter().enumerate() {
        if instance.callback.is_none() {
            let explanation = why.instance(InstanceId::from_index(index), None);
            add(analysis, &mut sums, &explanation);
            explained += 1;
        }
    }
    let deliveries = || (0..model.deliveries.len()).map(DeliveryId::from_index);
    for id in deliveries() {
        let delivery = analysis.delivery(id);
        let is_by_hand =
            delivery.instance.is_none() && delivery.status == DeliveryStatus::Delivered;
        if is_by_hand && analysis.arrival(id).is_some_and(|it| !it.historical) {
            let explanation = why.communication(id).unwrap();
            add(analysis, &mut sums, &explanation);
            explained += 1;
        }
    }
    assert_eq!(sums_of(analysis, &total), sums, "executions of {of}");
    assert_eq!(total.explained(), explained, "executions of {of}");
    seen.explained += explained;
    seen.late += total.late();
    seen.rows += sums.len();
    seen.changes += total.changes(10).len();

    let messages: Vec<DeliveryId> = deliveries().collect();
    let total = Total::of_messages(analysis, &callbacks, &messages);
    let (mut sums, mut explained) = (Sums::new(), 0);
    for explanation in deliveries().filter_map(|id| why.communication(id)) {
        add(analysis, &mut sums, &explanation);
        explained += 1;
    }
    assert_eq!(sums_of(analysis, &total), sums, "messages of {of}");
    assert_eq!(total.explained(), explained, "messages of {of}");
    seen.explained += explained;

    let ends = Ends {
        from: None,
        to: None,
    };
    let paths = FlowPaths::of(analysis).paths(&ends);
    let victims = paths.iter().map(|path| {
        let hops = path.hops.iter().map(|hop| Hop {
            title: hop.topic.clone(),
            topic: hop.topic.clone(),
            publishing_node: hop.publishing_node.clone(),
            node: hop.node.clone(),
            callback: None,
        });
        let title = path.title();
        let victim = PathVictim {
            title,
            hops: hops.collect(),
        };
        (victim, true)
    });
    let messages = paths
        .iter()
        .map(|path| Messages::Observed(path.flows.iter().collect()));
    let messages: Vec<Messages<'_>> = messages.collect();
    let total = Total::of_paths(analysis, victims, &messages);
    let (mut sums, mut explained) = (Sums::new(), 0);
    for flow in paths.iter().flat_map(|path| &path.flows) {
        add(analysis, &mut sums, &why.flow(flow).unwrap());
        explained += 1;
    }
    assert_eq!(sums_of(analysis, &total), sums, "paths of {of}");
    assert_eq!(total.explained(), explained, "paths of {of}");
    seen.explained += explained;
}

fn with_scheduling<'m>(set: &TraceSet, model: &'m Model) -> Analysis<'m> {
    let mut analysis = whole(model);
    analysis.scheduling = Scheduling::load(set, model, &mut |_| true);
    analysis
}

#[test]
fn sums_equal_the_single_explanations_in_every_recording() {
    let mut seen = Seen::default();
    let own = [
        "testdata/pingpong",
        "testdata/lossy",
        "testdata/lifecycle_caret",
    ];
    let names = own.map(str::to_owned).into_iter().chain(recordings());
    for (name, recorded) in open(names) {
        let analysis = with_scheduling(&recorded.set, &recorded.model);
        equal_single_explanations(&analysis, &name, &mut seen);
    }
    assert!(seen.explained > 500 && seen.rows > 20, "{seen:?}");
    if !recordings().is_empty() {
        assert!(
            seen.explained > 100_000 && seen.late > 100 && seen.changes > 20,
            "{seen:?}"
        );
    }
}

#[test]
fn sums_equal_the_single_explanations_in_recordings_of_others() {
    let mut seen = Seen::default();
    for name in rostrace_testkit::recordings::OF_OTHERS {
        if let Some(recorded) = Recorded::open(&format!("public/{name}")) {
            let analysis = with_scheduling(&recorded.set, &recorded.model);
            equal_single_explanations(&analysis, name, &mut seen);
        }
    }
}

const MILLISECOND: u64 = 1_000_000;

/// A timer of 100 ms, and a subscription on the same thread that runs for 40 ms when the fifth, sixth and seventh firing are due.
fn slow_neighbour() -> Recording {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/filter").node(3, "/logger");
    recording.timer(0x60, 2, 100_000_000, 0x70);
    recording.subscription(0x20, 3, "/rosout_agg", 0x30);
    for firing in 1..=20 {
        let due = firing * 100 * MILLISECOND + 2_000;
        recording.at(due - 50 * MILLISECOND).wait_for_work();
        let mut start = due;
        if (5..8).contains(&firing) {
            start = due + 30 * MILLISECOND;
            recording.run_between(due - 10 * MILLISECOND, start, 0x30);
        }
        recording.run_between(start, start + MILLISECOND, 0x70);
    }
    recording
}

fn executions(analysis: &Analysis<'_>) -> Total {
    Total::of_executions(analysis, &summaries(analysis), &EVERYTHING)
}

#[test]
fn the_callback_that_kept_the_thread_is_to_be_moved() {
    let model = slow_neighbour().load();
    let analysis = whole(&model);
    let total = executions(&analysis);
    let filter = &total.victims[0];
    assert_eq!(
        filter.victim.name(&analysis, &total),
        "/filter · timer 100 ms"
    );
    assert_eq!((filter.explained, filter.late), (20, 3));
    assert_eq!(filter.lateness, 90 * MILLISECOND as i64);
    let changes = total.changes(10);
    let first = &changes[0];
    assert_eq!(
        first.sentence(&analysis, &total),
        "move /logger ← /rosout_agg off the thread of /filter · timer 100 ms: all of its lateness (90.0 ms in 3 of 20 executions)"
    );
    assert!(
        first
            .note(&analysis, &total)
            .contains("up to 30.0 ms at once")
    );
    let question = first.question(&analysis, &total);
    assert_eq!(
        question.options,
        [("--callback", "/filter · timer 100 ms".to_owned())]
    );
    let culprit = filter.rows[0].culprit(&analysis).unwrap();
    assert_eq!(culprit.node.as_deref(), Some("/logger"));
    assert!(culprit.pid.is_some() && culprit.tid.is_some());
    assert_eq!(total.unexplained(), 0);
}

#[test]
fn what_is_on_time_needs_no_change() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/filter");
    recording.timer(0x60, 2, 100_000_000, 0x70);
    for firing in 1..=20 {
        let due = firing * 100 * MILLISECOND;
        recording.at(due - 50 * MILLISECOND).wait_for_work();
        // Half a millisecond late, which nobody notices.
        let start = due + MILLISECOND / 2;
        recording.run_between(start, start + MILLISECOND, 0x70);
    }
    let model = recording.load();
    let analysis = whole(&model);
    let total = executions(&analysis);
    assert_eq!(
        (total.explained(), total.late(), total.lateness()),
        (20, 0, 0)
    );
    assert!(total.changes(10).is_empty());
}

/// Twenty executions take 5 ms each, two of them 30 ms more: those are too long, by what is beyond the usual.
#[test]
fn a_callback_that_is_sometimes_slow_is_to_be_made_faster() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/filter");
    recording.timer(0x60, 2, 100_000_000, 0x70);
    for firing in 1..=20 {
        let due = firing * 100 * MILLISECOND + 2_000;
        recording.at(due - 50 * MILLISECOND).wait_for_work();
        let slow = if firing % 10 == 0 { 30 } else { 0 };
        recording.run_between(due, due + (5 + slow) * MILLISECOND, 0x70);
    }
    let model = recording.load();
    let analysis = whole(&model);
    let total = executions(&analysis);
    let row = total.victims[0]
        .rows
        .iter()
        .find(|row| row.blame.kind == BlameKind::Execution);
    let row = row.unwrap();
    assert_eq!(row.duration, 160 * MILLISECOND as i64);
    assert_eq!(
        (row.weighted, row.late, row.count),
        (60 * MILLISECOND as i64, 2, 20)
    );
    assert_eq!(
        total.changes(10)[0].sentence(&analysis, &total),
        "make /filter · timer 100 ms shorter: all of its lateness (60.0 ms in 2 of 20 executions)"
    );
}

#[test]
fn messages_that_were_pushed_out_of_a_queue_are_reported() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/filter");
    recording.publisher(0x10, 2, "/points");
    recording.subscription(0x20, 2, "/points", 0x30);
    recording.publish(0x10, 0x5000, stamp(10_002_300));
    recording.receive(0x20, stamp(10_002_300), 0x30);
    let mut model = recording.load();
    let mut all = pairs(&whole(&model));
    assert_eq!(all.len(), 1);
    all[0].messages = 200;
    all[0].dropped[DropCause::HistoryFull as usize] = 30;
    all[0].dropped[DropCause::RingBufferFull as usize] = 7;
    all[0].dropped[DropCause::Middleware as usize] = 5;
    model.subscriptions[0].depth = 10;
    let analysis = whole(&model);
    let lost = LostMessages::of(&analysis, &all, |_| true);
    assert_eq!(
        lost[0].sentence(&analysis),
        "give /points in /filter a deeper queue than 10: 37 of 200 messages were pushed out of it by newer ones"
    );
    assert!(LostMessages::of(&analysis, &all, |_| false).is_empty());
    // Who keeps one message wants the newest one only.
    model.subscriptions[0].depth = 1;
    assert!(LostMessages::of(&whole(&model), &all, |_| true).is_empty());
}
