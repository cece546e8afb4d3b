//! Messages that did not arrive, or not in time, in recordings whose programs meant them to.

use rostrace_analyze::communication::{DropCause, Pair, pairs};
use rostrace_model::Model;
use rostrace_model::entity::DeliveryId;
use rostrace_model::flow::DeliveryKind;

use crate::observed::truth::logs;
use crate::observed::{Recorded, open, recordings, whole};
use crate::support::{Recording, stamp};

/// The pairs of a topic and a receiving node.
fn of(model: &Model, topic: &str, node: &str) -> Vec<Pair> {
    let mut found = pairs(&whole(model));
    found.retain(|pair| {
        let subscription = &model.subscriptions[pair.subscription.index()];
        subscription.topic == topic && model.node_name(subscription.node) == Some(node)
    });
    found
}

fn dropped(pair: &Pair, cause: DropCause) -> u64 {
    pair.dropped[cause as usize]
}

#[test]
fn a_slow_subscription_that_keeps_one_message_loses_the_others_to_its_history() {
    for name in recordings().iter().filter(|name| name.contains("/multi")) {
        let model = Recorded::open(name).unwrap().model;
        let [pair] = &of(&model, "/burst", "/slowpoke")[..] else {
            panic!("{name}: one publisher, one subscription");
        };
        let lost = dropped(pair, DropCause::HistoryFull);
        assert!(lost > 10, "{name} {pair:?}");
        assert_eq!(dropped(pair, DropCause::Middleware), 0, "{name} {pair:?}");
        assert_eq!(dropped(pair, DropCause::RingBufferFull), 0, "{name}");
    }
}

#[test]
fn a_full_ring_buffer_is_blamed_for_what_it_pushed_out() {
    for name in recordings().iter().filter(|name| name.contains("/intra")) {
        let model = Recorded::open(name).unwrap().model;
        let topic = |pair: &Pair| model.subscriptions[pair.subscription.index()].topic.clone();
        for pair in pairs(&whole(&model)) {
            let lost: u64 = pair.dropped.iter().sum();
            let ring = dropped(&pair, DropCause::RingBufferFull);
            let is_fast = topic(&pair) == "/t_fast" && pair.kind == DeliveryKind::Intra;
            // Humble has no events of ring buffers.
            let expected = is_fast && name.starts_with("jazzy");
            assert_eq!(ring > 0, expected, "{name} {} {pair:?}", topic(&pair));
            let ended =
                dropped(&pair, DropCause::RecordingEnd) + dropped(&pair, DropCause::Unknown);
            if !is_fast {
                assert_eq!(lost, ended, "{name} {} {pair:?}", topic(&pair));
            }
        }
    }
}

#[test]
fn messages_older_than_their_subscription_are_counted_but_not_timed() {
    for name in recordings().iter().filter(|name| name.contains("/multi")) {
        let model = Recorded::open(name).unwrap().model;
        let historical: u64 = of(&model, "/latched", "/joiner")
            .iter()
            .map(|pair| pair.historical)
            .sum();
        // With CARET's library on Jazzy they arrive before it records in the new process.
        let expected = if name == "jazzy/multi_caret" { 0 } else { 3 };
        assert_eq!(historical, expected, "{name}");
        for pair in pairs(&whole(&model)) {
            let timed = pair.latency.map_or(0, |latency| latency.count);
            assert_eq!(timed + pair.historical, pair.arrived, "{name} {pair:?}");
        }
        for pair in of(&model, "/latched", "/joiner") {
            let worst = pair.latency.map_or(0, |latency| latency.max);
            assert!(worst < 1_000_000_000, "{name} {pair:?}");
        }
    }
}

#[test]
fn as_many_messages_arrive_as_the_log_tells_of() {
    for (name, recorded) in open(["jazzy/pingpong", "humble/pingpong_caret", "jazzy/chain"]) {
        let received = logs(&recorded)
            .iter()
            .flat_map(|log| &log.lines)
            .filter(|line| line.kind == "recv")
            .count() as u64;
        let ours = pairs(&whole(&recorded.model));
        let topic = |pair: &Pair| &recorded.model.subscriptions[pair.subscription.index()].topic;
        let ours = ours
            .iter()
            .filter(|pair| topic(pair) != "/parameter_events");
        assert_eq!(
            ours.map(|pair| pair.arrived).sum::<u64>(),
            received,
            "{name}"
        );
    }
}

#[test]
fn a_receiver_that_was_busy_is_told_apart_from_a_slow_middleware() {
    let mut recording = Recording::jazzy();
    recording.process_of(1, "source", (2, "/source"));
    recording.publisher(0x10, 2, "/a");
    recording.process_of(2, "sink", (2, "/sink"));
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.timer(0x60, 2, 1_000_000, 0x70);
    // The receiver runs a timer from 10.000 to 10.100 ms, and looks for work until 10.104 ms.
    recording.at(9_990_000).wait_for_work();
    recording.run_between(10_000_000, 10_100_000, 0x70);
    recording.at(10_102_000).wait_for_work();
    recording.at(10_104_000).get_next_ready();
    recording.at(10_110_000);
    recording.rmw_take(0x20, 0x7000, stamp(10_052_300));
    recording.at(10_113_000).start(0x30).end(0x30);
    recording.process(1, "source");
    recording
        .at(10_050_000)
        .publish(0x10, 0x5000, stamp(10_052_300));
    let model = recording.load();
    let analysis = whole(&model);
    let arrival = analysis.arrival(DeliveryId(0));
    let stages = arrival.unwrap().stages;
    // Handed down at 10.052; busy until 10.102, idle for 2 µs, then again the executor.
    assert_eq!(stages.values(), [2_000, 2_000, 56_000, 3_000]);
    assert_eq!(stages.latency(), 63_000);
}
