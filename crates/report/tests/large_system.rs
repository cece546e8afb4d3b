//! A made-up system of 300 nodes: its report stays small enough to be mailed and opened at once.

use rostrace_analyze::Analysis;
use rostrace_ctf::schema::Nanos;
use rostrace_report::page::{Options, Page};

use crate::trace_support::{Recording, stamp};

const NODES: u64 = 300;
/// Nodes that pass on to each other what the first one's timer sends.
const CHAIN: u64 = 10;
/// Whose messages a node receives, counted backwards.
const RECEIVED: [u64; 4] = [1, 2, 3, 7];
/// Below this, nodes that do not begin a chain publish another one's topic too: 200 of them.
const SHARED: u64 = 223;
const MICROSECOND: u64 = 1000;
const PERIOD: u64 = 1_000_000 * MICROSECOND;
const MOST_BYTES: usize = 15_000_000;

const PUBLISHER: u64 = 0x20;
const SECOND_PUBLISHER: u64 = 0x21;
const TIMER: u64 = 0x60;

fn subscription(number: usize) -> (u64, u64) {
    (0x30 + number as u64, 0x40 + number as u64)
}

/// 1,500 callbacks and 2,000 pairs of publisher and subscription, once a second.
fn system(rounds: u64) -> Recording {
    let mut recording = Recording::jazzy();
    let topic = |node: u64| format!("/area_{}/of/some/length/topic_{node}", node / 30);
    let pid = |node: u64| 1000 + node as i64;
    for node in 0..NODES {
        let name = format!("/area_{}/of/some/length/node_{node}", node / 30);
        recording.process(pid(node), "node").cpu((node % 16) as u32);
        recording.context(0x1).node(0x10, &name);
        recording.publisher(PUBLISHER, 0x10, &topic(node));
        if node < SHARED && node % CHAIN != 0 {
            recording.publisher(SECOND_PUBLISHER, 0x10, &topic(node + 5));
        }
        for (number, back) in RECEIVED.iter().enumerate() {
            let (handle, callback) = subscription(number);
            let from = (node + NODES - back) % NODES;
            recording.subscription(handle, 0x10, &topic(from), callback);
        }
        recording.timer(TIMER, 0x10, PERIOD as i64, 0x61);
    }
    for round in 1..=rounds {
        // Every chain in a millisecond of its own; then the second publishers.
        for node in 0..NODES {
            let (chain, place) = (node / CHAIN, node % CHAIN);
            let jitter = (node * 7919 + round * 104_729) % 300;
            let publish = round * PERIOD + (chain * 25_000 + place * 2_000 + jitter) * MICROSECOND;
            recording.process(pid(node), "node").cpu((node % 16) as u32);
            if place == 0 {
                recording.at(publish - 10 * MICROSECOND).start(0x61);
                recording
                    .at(publish)
                    .publish(PUBLISHER, 0x7, stamp(publish));
                recording.at(publish + 20 * MICROSECOND).end(0x61);
            }
            deliver(&mut recording, node, publish, PUBLISHER);
        }
        for node in 0..NODES {
            let begin = round * PERIOD + (800_000 + node * 500) * MICROSECOND;
            recording.process(pid(node), "node").cpu((node % 16) as u32);
            if node % CHAIN == 0 {
                continue;
            }
            recording.at(begin).start(0x61);
            if node < SHARED {
                recording.at(begin + 1000);
                recording.publish(SECOND_PUBLISHER, 0x8, stamp(begin + 1000));
            }
            recording.at(begin + 50 * MICROSECOND).end(0x61);
            if node < SHARED {
                deliver(&mut recording, node + 5, begin + 1000, SECOND_PUBLISHER);
            }
        }
    }
    recording
}

/// Those who listen to a node's topic receive what was published at this time; the next of its chain passes it on.
fn deliver(recording: &mut Recording, node: u64, published: u64, publisher: u64) {
    for (number, back) in RECEIVED.iter().enumerate() {
        let (handle, callback) = subscription(number);
        let to = (node + back) % NODES;
        let begin = published + (200 + number as u64 * 10) * MICROSECOND;
        recording
            .process(1000 + to as i64, "node")
            .cpu((to % 16) as u32);
        recording.at(begin).rmw_take(handle, 0x9, stamp(published));
        recording
            .dispatch(callback, stamp(published))
            .start(callback);
        let passes_on = number == 0 && !to.is_multiple_of(CHAIN) && publisher == PUBLISHER;
        let mut end = begin + (40 + (to * published / PERIOD) % 100) * MICROSECOND;
        if passes_on {
            let (round, place) = (published / PERIOD, to % CHAIN);
            let jitter = (to * 7919 + round * 104_729) % 300;
            let next =
                round * PERIOD + (to / CHAIN * 25_000 + place * 2_000 + jitter) * MICROSECOND;
            recording.at(next).publish(PUBLISHER, 0x7, stamp(next));
            end = next + 10 * MICROSECOND;
        }
        recording.at(end).end(callback);
    }
}

#[test]
fn the_report_of_300_nodes_is_small_enough_to_be_opened_at_once() {
    let model = system(60).load();
    assert_eq!(model.nodes.len(), 300);
    assert_eq!(model.callbacks.len(), 1500);
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    assert_eq!(
        rostrace_analyze::communication::pairs(&analysis).len(),
        2000
    );
    let mut page = Vec::new();
    let options = Options::default();
    Page::new(&analysis, &options)
        .unwrap()
        .write(&mut page)
        .unwrap();
    assert!(
        page.len() < MOST_BYTES,
        "{} bytes of {} executions",
        page.len(),
        model.instances.len()
    );
}
