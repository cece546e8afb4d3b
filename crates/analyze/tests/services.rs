//! Calls of services and the states of lifecycle nodes.

use std::collections::BTreeMap;

use crate::recordings::{everything, load, rows};
use crate::support::{Flavour, Recording, stamp};

#[test]
fn the_parts_of_a_call_add_up_to_its_round_trip() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording.process(100, "client").send_request(0x70, 1);
    recording.process(200, "server").take_request(0x80, 7, 1);
    recording.wait(500);
    recording.start(0x81).wait(2_000).end(0x81);
    recording.send_response(0x80, 7, 1);
    recording.process(100, "client").wait(700);
    recording.take_response(0x70, 1, stamp(5_004_000));
    // The second one is never answered.
    recording.send_request(0x70, 2);
    let model = recording.load();
    let calls = rows(&everything(&model), "services");
    assert_eq!(calls.len(), 2);
    let call = &calls[0];
    assert_eq!(call.text("service"), "/ask");
    assert_eq!(
        (call.text("client_node"), call.text("service_node")),
        ("/c", "/s")
    );
    assert_eq!(
        (call.integer("client_pid"), call.integer("service_pid")),
        (100, 200)
    );
    let parts = ["request_ns", "queue_ns", "answering_ns", "response_ns"];
    let parts = parts.map(|part| call.integer(part));
    assert_eq!(parts, [1_000, 1_500, 4_000, 1_700]);
    assert_eq!(call.integer("execution_ns"), 3_000);
    assert_eq!(call.integer("round_trip_ns"), parts.iter().sum::<i64>());
    assert!(!calls[1].has("round_trip_ns") && calls[1].has("sent_ns"));
}

#[test]
fn lifecycle_nodes_were_in_the_states_that_they_logged() {
    for name in ["jazzy/lifecycle", "jazzy/lifecycle_caret"] {
        let Some(recording) = load(name) else { return };
        let analysis = recording.analysis();
        let mut states: BTreeMap<String, Vec<(i64, Option<i64>, String)>> = BTreeMap::new();
        for row in rows(&analysis, "lifecycle_states") {
            let end = row.has("end_ns").then(|| row.integer("end_ns"));
            let begin = row.integer("begin_ns");
            assert_eq!(row.has("duration_ns"), end.is_some());
            if let Some(end) = end {
                assert_eq!(row.integer("duration_ns"), end - begin);
            }
            let state = (begin, end, row.text("state").to_owned());
            states
                .entry(row.text("node").to_owned())
                .or_default()
                .push(state);
        }
        let mut compared = 0;
        for (_, words) in recording.lines("state") {
            let Some(now) = words[3].strip_prefix("now=") else {
                continue;
            };
            let at = words[0].parse::<i64>().unwrap() + recording.mono_to_real;
            let of_node = &states[&words[2]];
            let state = of_node
                .iter()
                .rfind(|(begin, end, _)| *begin <= at && end.is_none_or(|end| at < end));
            assert_eq!(state.unwrap().2, now, "{name} {words:?}");
            compared += 1;
        }
        assert!(compared >= 15, "{compared}");
    }
}
