//! Calls of services, from the client through the service and back.

use rostrace_model::flow::RequestMatch;

use rostrace_testkit::made_up::{Flavour, Recording, stamp, time};

fn two_clients(flavour: Flavour) -> Recording {
    let mut recording = Recording::client_and_service(flavour);
    let client = recording.process(100, "client");
    client.client(0x78, 0x10, "/ask", 8);
    recording
}

#[test]
fn gid_and_number_tie_the_steps_of_a_request_together() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording.process(100, "client").send_request(0x70, 1);
    recording
        .process(200, "server")
        .take_request(0x80, 7, 1)
        .run(0x81)
        .send_response(0x80, 7, 1);
    recording
        .process(100, "client")
        .take_response(0x70, 1, stamp(5_004_000));
    let model = recording.load();
    assert_eq!(model.requests.len(), 1);
    let request = &model.requests[0];
    assert_eq!(model.clients[request.client.unwrap().index()].name, "/ask");
    assert_eq!(
        model.services[request.service.unwrap().index()].name,
        "/ask"
    );
    assert_eq!(request.sent, Some(time(5_000_000)));
    assert_eq!(request.taken, Some(time(5_001_000)));
    assert_eq!(request.instance.unwrap().0, 0);
    assert_eq!(request.answered, Some(time(5_004_000)));
    assert_eq!(request.received, Some(time(5_005_000)));
}

#[test]
fn with_fast_dds_a_service_may_take_a_request_before_the_client_says_that_it_sent_it() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording
        .take_request(0x80, 7, 1)
        .process(100, "client")
        .send_request(0x70, 1);
    let model = recording.load();
    assert_eq!(model.requests.len(), 1);
    assert!(model.requests[0].sent > model.requests[0].taken);
}

/// The call returns, with the number, when the service has taken the request already.
#[test]
fn a_request_is_sent_when_the_client_begins_to_send_it() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording.process(100, "client").begin_request(0x70);
    recording.process(200, "server").take_request(0x80, 7, 1);
    recording.process(100, "client").send_request(0x70, 1);
    let model = recording.load();
    assert_eq!(model.requests.len(), 1);
    assert_eq!(model.requests[0].sent, Some(time(5_000_000)));
    assert_eq!(model.requests[0].taken, Some(time(5_001_000)));
    let times: Vec<_> = model.service_steps.iter().map(|step| step.time).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn a_request_that_was_refused_was_not_sent() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    let client = recording.process(100, "client");
    client.begin_request(0x70).begin_request(0x70);
    client.send_request(0x70, 1).begin_request(0x70);
    let model = recording.load();
    assert_eq!(model.requests.len(), 1);
    assert_eq!(model.requests[0].sent, Some(time(5_001_000)));
    assert_eq!(model.service_steps.len(), 1);
}

#[test]
fn a_deferred_response_may_come_from_another_thread() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording
        .take_request(0x80, 7, 1)
        .start(0x81)
        .get_next_ready();
    recording
        .take_request(0x80, 7, 2)
        .start(0x81)
        .get_next_ready();
    recording
        .thread(201)
        .send_response(0x80, 7, 2)
        .send_response(0x80, 7, 1);
    let model = recording.load();
    let rows = model.requests.iter();
    let rows = rows.map(|row| (row.sequence, row.instance.map(|i| i.0)));
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows, [(1, Some(0)), (2, Some(1))]);
    assert!(model.requests[0].answered > model.requests[1].answered);
}

#[test]
fn requests_of_two_clients_with_the_same_number_are_two() {
    let mut recording = two_clients(Flavour::Kilted);
    recording.send_request(0x70, 1).send_request(0x78, 1);
    recording
        .process(200, "server")
        .take_request(0x80, 8, 1)
        .run(0x81);
    let model = recording.load();
    let taken = model.requests.iter().map(|row| row.taken.is_some());
    let taken: Vec<_> = taken.collect();
    assert_eq!(taken, [false, true]);
}

#[test]
fn two_services_that_answer_one_request_have_a_row_each() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording
        .process(300, "other")
        .node(0x10, "/o")
        .service(0x80, 0x10, "/ask", 0x81);
    recording.process(100, "client").send_request(0x70, 1);
    recording.process(200, "server").take_request(0x80, 7, 1);
    recording.process(300, "other").take_request(0x80, 7, 1);
    let model = recording.load();
    let services = model.requests.iter();
    let services: Vec<_> = services.map(|row| row.service.map(|id| id.0)).collect();
    assert_eq!(services, [Some(0), Some(1)]);
}

#[test]
fn a_client_from_before_the_recording_is_not_guessed() {
    let mut recording = Recording::new(Flavour::Kilted, "robot");
    recording.process(100, "client").send_request(0x70, 1);
    recording
        .process(200, "server")
        .take_request(0x80, 7, 1)
        .run(0x81);
    recording.process(100, "client").take_response(0x70, 1, 5);
    let model = recording.load();
    assert_eq!(model.requests.len(), 2);
    assert!(model.requests[0].sent.is_some() && model.requests[0].received.is_some());
    assert!(model.requests[1].taken.is_some() && model.requests[1].client.is_none());
}

#[test]
fn a_callback_of_something_else_did_not_get_the_request() {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording
        .timer(0x50, 0x10, 10, 0x60)
        .take_request(0x80, 7, 1)
        .run(0x60);
    assert_eq!(recording.load().requests[0].instance, None);
}

#[test]
fn a_take_in_vain_is_no_request() {
    use rostrace_testkit::made_up::Payload::*;
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording.event(
        "ros2:rmw_take_request",
        &[
            (
                "rmw_service_handle",
                Pointer(rostrace_testkit::made_up::rmw(0x80)),
            ),
            ("request", Pointer(0)),
            ("client_gid", Gid(vec![7; 16])),
            ("sequence_number", Signed(1)),
            ("taken", Flag(false)),
        ],
    );
    assert!(recording.load().requests.is_empty());
}

fn call(recording: &mut Recording, client: u64, gid: u8, number: i64) {
    recording
        .process(100, "client")
        .send_request(client, number);
    recording
        .process(200, "server")
        .take_request(0x80, gid, number)
        .run(0x81)
        .send_response(0x80, gid, number);
    let at = stamp(recording.now());
    recording
        .process(100, "client")
        .take_response(client, number, at);
}

#[test]
fn where_no_event_tells_the_gid_it_follows_from_numbers_and_instants() {
    let mut recording = Recording::client_and_service(Flavour::Jazzy);
    for number in 1..=3 {
        call(&mut recording, 0x70, 9, number);
    }
    let model = recording.load();
    assert_eq!(model.requests.len(), 3);
    for request in &model.requests {
        assert!(request.client.is_some() && request.service.is_some());
        assert!(request.sent < request.taken && request.answered < request.received);
        assert_eq!(request.by, RequestMatch::Sequence);
    }
}

#[test]
fn what_is_certain_of_one_client_makes_another_certain() {
    let mut recording = two_clients(Flavour::Jazzy);
    call(&mut recording, 0x70, 9, 1);
    call(&mut recording, 0x78, 4, 1);
    let model = recording.load();
    let sent = model.requests.iter();
    let sent = sent.map(|row| (row.client.map(|id| id.0), row.by));
    let sent: Vec<_> = sent.collect();
    assert_eq!(
        sent,
        [
            (Some(0), RequestMatch::Sequence),
            (Some(1), RequestMatch::Sequence)
        ]
    );
    assert!(model.requests.iter().all(|row| row.sent < row.taken));
}

#[test]
fn two_clients_that_fit_equally_well_are_not_told_apart() {
    let mut recording = two_clients(Flavour::Jazzy);
    recording.send_request(0x70, 1).send_request(0x78, 1);
    recording
        .process(200, "server")
        .take_request(0x80, 9, 1)
        .run(0x81)
        .send_response(0x80, 9, 1)
        .take_request(0x80, 4, 1)
        .run(0x81)
        .send_response(0x80, 4, 1);
    recording.process(100, "client").take_response(0x70, 1, 5);
    recording.take_response(0x78, 1, 6);
    let model = recording.load();
    assert_eq!(model.requests.len(), 4);
    let mut requests = model.requests.iter();
    assert!(requests.all(|row| row.by == RequestMatch::Nothing));
}

#[test]
fn the_callback_that_follows_the_take_of_a_response_is_the_clients() {
    let mut recording = Recording::client_and_service(Flavour::Jazzy);
    call(&mut recording, 0x70, 9, 1);
    recording
        .client_callback_start(0x70, 1)
        .client_callback_end(0x70, 1);
    let model = recording.load();
    let callback = model.requests[0].client_callback.unwrap();
    let callback = &model.client_callbacks[callback.index()];
    assert_eq!(model.clients[callback.client.unwrap().index()].name, "/ask");
    assert_eq!(callback.sequence, 1);
    assert_eq!(callback.end.unwrap().0 - callback.start.0, 1000);
    // A client has no callback object: there is nothing to count.
    let mut instances = model.instances.iter();
    assert!(instances.all(|row| row.thread != callback.thread));
}

#[test]
fn what_is_taken_after_a_response_is_not_the_clients() {
    let mut recording = Recording::client_and_service(Flavour::Jazzy);
    call(&mut recording, 0x70, 9, 1);
    recording
        .subscription(0x20, 0x10, "/feedback", 0x21)
        .rmw_take(0x20, 0x7, 5)
        .client_callback_start(0x70, 1)
        .client_callback_end(0x70, 1);
    assert!(recording.load().client_callbacks.is_empty());
}

#[test]
fn a_callback_that_spins_holds_the_callback_of_another_client() {
    let mut recording = two_clients(Flavour::Jazzy);
    recording
        .take_response(0x70, 1, 5)
        .client_callback_start(0x70, 1)
        .take_response(0x78, 1, 6)
        .client_callback_start(0x78, 1)
        .client_callback_end(0x78, 1)
        .client_callback_end(0x70, 1);
    let model = recording.load();
    let spans: Vec<_> = (model.client_callbacks.iter())
        .map(|row| (row.start, row.end.unwrap()))
        .collect();
    assert!(spans[0].0 < spans[1].0 && spans[1].1 < spans[0].1);
}

#[test]
fn without_the_takes_a_clients_callback_stands_alone() {
    let mut recording = Recording::client_and_service(Flavour::Jazzy);
    recording
        .process(100, "client")
        .client_callback_start(0x70, 1)
        .client_callback_end(0x70, 1);
    let model = recording.load();
    assert!(model.requests.is_empty());
    assert!(model.client_callbacks[0].client.is_some());
}
