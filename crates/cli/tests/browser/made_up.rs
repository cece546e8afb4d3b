//! Recordings of systems that nobody ran, for what no real recording has: services with round trips, an action, a simulated clock, hundreds of nodes.

use std::path::{Path, PathBuf};

use crate::trace_support::{Flavour, Payload, Recording, stamp};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLISECOND;

const TIMER: u64 = 0x60;
const TIMER_CALLBACK: u64 = 0x61;
const CLIENT: u64 = 0x70;
const SERVICE: u64 = 0x80;
const SERVICE_CALLBACK: u64 = 0x81;
/// Clients and services of the action, with a callback each.
const GOAL: (u64, u64, u64) = (0x72, 0x82, 0x83);
const RESULT: (u64, u64, u64) = (0x74, 0x84, 0x85);

/// A node that asks another one, and lets it do something; the simulated clock runs at half the speed.
pub fn asking(folder: &Path) -> PathBuf {
    let mut recording = Recording::new(Flavour::Kilted, "here");
    recording.process(100, "asks").context(0x1);
    recording.node(0x10, "/asker");
    recording.timer(TIMER, 0x10, SECOND as i64, TIMER_CALLBACK);
    recording.client(CLIENT, 0x10, "/add", 1);
    recording.client(GOAL.0, 0x10, "/dock/_action/send_goal", 2);
    recording.client(RESULT.0, 0x10, "/dock/_action/get_result", 3);
    recording.process(200, "answers").context(0x1);
    recording.node(0x10, "/answerer");
    recording.service(SERVICE, 0x10, "/add", SERVICE_CALLBACK);
    recording.service(GOAL.1, 0x10, "/dock/_action/send_goal", GOAL.2);
    recording.service(RESULT.1, 0x10, "/dock/_action/get_result", RESULT.2);
    for round in 1..=8_u64 {
        let begin = round * SECOND;
        recording.process(100, "asks").at(begin);
        recording.start(TIMER_CALLBACK);
        recording.event(
            "ros2_caret:sim_time",
            &[("stamp", Payload::Unsigned(500 * SECOND + begin / 2))],
        );
        recording.at(begin + 2 * MILLISECOND).end(TIMER_CALLBACK);
        let took = (3 + round) * MILLISECOND;
        call(
            &mut recording,
            begin + 10 * MILLISECOND,
            took,
            1,
            round,
            (CLIENT, SERVICE, SERVICE_CALLBACK),
        );
        if round.is_multiple_of(3) {
            call(
                &mut recording,
                begin + 100 * MILLISECOND,
                took,
                2,
                round,
                GOAL,
            );
            call(
                &mut recording,
                begin + 200 * MILLISECOND,
                600 * MILLISECOND,
                3,
                round,
                RESULT,
            );
        }
    }
    save(&recording, folder, "asking")
}

fn call(
    recording: &mut Recording,
    begin: u64,
    took: u64,
    gid: u8,
    round: u64,
    (client, service, callback): (u64, u64, u64),
) {
    let sequence = round as i64;
    recording
        .process(100, "asks")
        .at(begin)
        .send_request(client, sequence);
    let taken = begin + took / 4;
    recording
        .process(200, "answers")
        .at(taken)
        .take_request(service, gid, sequence);
    recording.at(taken + 1000).start(callback);
    let answered = begin + took / 2;
    recording.at(answered).send_response(service, gid, sequence);
    recording.at(answered + 1000).end(callback);
    recording.process(100, "asks").at(begin + took);
    recording.take_response(client, sequence, stamp(answered));
}

/// So many nodes without namespaces, each of which receives from `received` others.
pub fn crowd(folder: &Path, nodes: u64, received: u64) -> PathBuf {
    let mut recording = Recording::jazzy();
    for node in 0..nodes {
        recording.process(1000 + node as i64, "node").context(0x1);
        recording.node(0x10, &format!("/node_{node}"));
        recording.publisher(0x20, 0x10, &format!("/topic_{node}"));
        for number in 0..received {
            let from = (node * 7919 + number * 104_729 + number * number * 31) % nodes;
            let topic = format!("/topic_{from}");
            recording.subscription(0x100 + 2 * number, 0x10, &topic, 0x101 + 2 * number);
        }
    }
    save(&recording, folder, "crowd")
}

fn save(recording: &Recording, folder: &Path, name: &str) -> PathBuf {
    let trace = folder.join("made-up").join(name);
    std::fs::create_dir_all(&trace).unwrap();
    recording.save(&trace);
    trace
}
