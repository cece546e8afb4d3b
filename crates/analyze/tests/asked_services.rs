//! Executions that wait for a service, services that are late, and paths that go through them.

use rostrace_analyze::callback::instance_timings;
use rostrace_analyze::flow_latency::{Include, path_latency};
use rostrace_analyze::flow_path::FlowPaths;
use rostrace_analyze::why::{CallStage, Cause, Explanation, Relation, Why};
use rostrace_model::Model;
use rostrace_model::entity::{CallbackId, InstanceId, RequestId};

use crate::observed::whole;
use crate::support::{Flavour, Recording, stamp, time};

fn parts(explained: &Explanation) -> Vec<(i64, Cause)> {
    let parts = explained.parts.iter();
    parts.map(|part| (part.duration(), part.cause)).collect()
}

fn explained(model: &Model, instance: u32) -> Vec<(i64, Cause)> {
    let analysis = whole(model);
    parts(&Why::new(&analysis).instance(InstanceId(instance), None))
}

const ASKING: InstanceId = InstanceId(1);
const SERVICE: InstanceId = InstanceId(2);

fn call(stage: CallStage) -> Cause {
    Cause::Call(RequestId(0), stage)
}

/// The client's process has a timer (callback 0x61) and a publisher (0x20), the service's a timer (0x91).
fn system() -> Recording {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording.process(100, "client");
    recording.timer(0x60, 0x10, 1_000_000_000, 0x61);
    recording.publisher(0x20, 0x10, "/a");
    recording.process(200, "server");
    recording.timer(0x90, 0x10, 1_000_000_000, 0x91);
    recording
}

/// The client's timer sends a request at 10.1 ms. The service's thread is busy until 10.4 ms, and its response is sent at 10.93 ms.
fn asked() -> Recording {
    let mut recording = system();
    recording.process(200, "server").at(9_900_000).start(0x91);
    recording.process(100, "client").at(10_000_000).start(0x61);
    recording.at(10_100_000).send_request(0x70, 1);
    recording.process(200, "server").at(10_400_000).end(0x91);
    recording.at(10_410_000).take_request(0x80, 7, 1);
    recording.run_between(10_420_000, 10_920_000, 0x81);
    recording.at(10_930_000).send_response(0x80, 7, 1);
    recording
}

fn at_the_service() -> [(i64, Cause); 5] {
    [
        (
            300_000,
            Cause::OtherCallback(InstanceId(0), Relation::SameThread),
        ),
        (10_000, call(CallStage::Request)),
        (10_000, Cause::Dispatch),
        (500_000, Cause::ServiceExecution(SERVICE)),
        (10_000, call(CallStage::Answering)),
    ]
}

#[test]
fn an_execution_that_waits_for_a_service_is_explained_by_what_the_service_did() {
    let mut recording = asked();
    recording.process(100, "client").at(11_000_000);
    recording.take_response(0x70, 1, stamp(10_930_000));
    recording.at(11_100_000).end(0x61);
    let mut expected = vec![(100_000, Cause::Execution(ASKING))];
    expected.extend(at_the_service());
    expected.push((70_000, call(CallStage::Response)));
    expected.push((100_000, Cause::Execution(ASKING)));
    assert_eq!(explained(&recording.load(), ASKING.0), expected);
}

#[test]
fn another_thread_may_take_the_response() {
    let mut recording = asked();
    recording.process(100, "client").thread(107).at(11_000_000);
    recording.take_response(0x70, 1, stamp(10_930_000));
    recording.thread(100).at(11_100_000).end(0x61);
    let mut expected = vec![(100_000, Cause::Execution(ASKING))];
    expected.extend(at_the_service());
    expected.push((70_000, call(CallStage::Response)));
    expected.push((100_000, Cause::Execution(ASKING)));
    assert_eq!(explained(&recording.load(), ASKING.0), expected);
}

#[test]
fn what_an_execution_did_after_its_request_is_its_own_time() {
    let mut recording = system();
    recording.process(100, "client").at(10_000_000).start(0x61);
    recording.at(10_100_000).send_request(0x70, 1);
    recording
        .process(200, "server")
        .at(10_200_000)
        .take_request(0x80, 7, 1);
    recording.run_between(10_201_000, 10_210_000, 0x81);
    recording.at(10_220_000).send_response(0x80, 7, 1);
    recording.process(100, "client").at(10_500_000);
    recording.publish(0x20, 0x5000, stamp(10_502_500));
    recording
        .at(10_600_000)
        .take_response(0x70, 1, stamp(10_220_000));
    recording.at(10_700_000).end(0x61);
    let expected = [
        (502_000, Cause::Execution(InstanceId(0))),
        (98_000, call(CallStage::Response)),
        (100_000, Cause::Execution(InstanceId(0))),
    ];
    assert_eq!(explained(&recording.load(), 0), expected);
}

#[test]
fn a_response_after_the_end_was_not_waited_for() {
    let mut recording = asked();
    recording.process(100, "client").at(10_950_000).end(0x61);
    recording
        .at(11_000_000)
        .take_response(0x70, 1, stamp(10_930_000));
    let expected = [(950_000, Cause::Execution(ASKING))];
    assert_eq!(explained(&recording.load(), ASKING.0), expected);
}

#[test]
fn a_service_that_is_not_recorded_is_not_guessed_at() {
    let mut recording = system();
    recording.process(100, "client").at(10_000_000).start(0x61);
    recording.at(10_100_000).send_request(0x70, 1);
    recording
        .at(10_600_000)
        .take_response(0x70, 1, stamp(10_500_000));
    recording.at(10_700_000).end(0x61);
    let expected = [
        (100_000, Cause::Execution(InstanceId(0))),
        (500_000, call(CallStage::Unseen)),
        (100_000, Cause::Execution(InstanceId(0))),
    ];
    assert_eq!(explained(&recording.load(), 0), expected);
}

#[test]
fn a_service_is_late_since_the_request_was_sent() {
    let recording = asked();
    let model = recording.load();
    let analysis = whole(&model);
    let callback = analysis.instance(SERVICE).callback.unwrap();
    let timings = instance_timings(&analysis, callback);
    assert_eq!(timings.len(), 1);
    assert_eq!(timings[0].lateness(&analysis), Some(320_000));
    assert_eq!(timings[0].due(&analysis), Some(time(10_100_000)));
    let explained = Why::new(&analysis).instance(SERVICE, None);
    let expected = [
        (
            300_000,
            Cause::OtherCallback(InstanceId(0), Relation::SameThread),
        ),
        (10_000, call(CallStage::Request)),
        (10_000, Cause::Dispatch),
        (500_000, Cause::Execution(SERVICE)),
    ];
    assert_eq!(parts(&explained), expected);
    // Timers and messages are late as before.
    let timers = (0..model.callbacks.len()).map(CallbackId::from_index);
    let others = timers.filter(|id| *id != callback);
    let others = others.flat_map(|id| instance_timings(&analysis, id));
    assert!(
        others
            .into_iter()
            .all(|it| analysis.asked_by(it.instance).is_none())
    );
}

/// `/sensor → /in → /c`, which asks `/s`; a sink receives `/out`. Until the service has answered.
fn chain(published_by_service: bool) -> Recording {
    let mut recording = Recording::client_and_service(Flavour::Kilted);
    recording.process_of(300, "sensor", (0x10, "/sensor"));
    recording.publisher(0x20, 0x10, "/in");
    recording.process_of(400, "sink", (0x10, "/sink"));
    recording.subscription(0x30, 0x10, "/out", 0x40);
    recording.process(100, "client");
    recording.subscription(0x30, 0x10, "/in", 0x40);
    recording.publisher(0x50, 0x10, "/out");
    recording
        .process(200, "server")
        .publisher(0x50, 0x10, "/out");
    recording.process(300, "sensor").at(10_000_000);
    recording.publish(0x20, 0x5000, stamp(10_002_500));
    recording.process(100, "client").at(10_200_000);
    recording.rmw_take(0x30, 0x7000, stamp(10_002_500));
    recording.at(10_210_000).start(0x40);
    recording.at(10_250_000).send_request(0x70, 1);
    recording.at(10_300_000).end(0x40);
    recording.process(200, "server").at(10_400_000);
    recording.take_request(0x80, 7, 1);
    recording.at(10_410_000).start(0x81);
    if published_by_service {
        recording
            .at(10_450_000)
            .publish(0x50, 0x6000, stamp(10_452_500));
    }
    recording.at(10_500_000).end(0x81);
    recording.at(10_510_000).send_response(0x80, 7, 1);
    recording
}

fn received_by_sink(recording: &mut Recording, stamp: i64) {
    recording.process(400, "sink").at(10_800_000);
    recording.receive(0x30, stamp, 0x40);
}

/// The one path to the sink, its flow explained: title, latency, and the parts.
fn path_to_sink(recording: &Recording) -> (String, i64, Vec<(i64, Cause)>) {
    let model = recording.load();
    let analysis = whole(&model);
    let paths = FlowPaths::observed(&analysis);
    assert_eq!(paths.len(), 1, "{paths:?}");
    let path = &paths[0];
    assert_eq!(path.flows.len(), 1);
    let flow = &path.flows[0];
    assert!(flow.assumed(&analysis).all(|assumed| !assumed));
    let latency = path_latency(&analysis, path, Include::default());
    assert_eq!(latency.assumed, 0);
    let ended: u64 = latency.hops.iter().map(|it| it.outcome.not_passed_on).sum();
    assert_eq!(ended, 0, "{latency:?}");
    let explained = Why::new(&analysis).flow(flow).unwrap();
    let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
    let whole = latency.latency.unwrap().max;
    assert_eq!(sum, whole);
    (path.title(), whole, parts(&explained))
}

#[test]
fn a_path_goes_on_in_the_callback_of_the_client_that_got_the_response() {
    let mut recording = chain(false);
    recording.process(100, "client").at(10_600_000);
    recording.take_response(0x70, 1, stamp(10_510_000));
    recording.client_callback_start(0x70, 1);
    recording
        .at(10_650_000)
        .publish(0x50, 0x6000, stamp(10_652_500));
    recording.at(10_700_000).client_callback_end(0x70, 1);
    received_by_sink(&mut recording, stamp(10_652_500));
    let (title, latency, parts) = path_to_sink(&recording);
    assert_eq!(title, "/sensor → /in → /c → /ask → /c → /out → /sink");
    assert_eq!(latency, 801_000);
    let service = InstanceId(1);
    let expected = [
        (40_000, Cause::Execution(InstanceId(0))),
        (150_000, call(CallStage::Request)),
        (10_000, Cause::Dispatch),
        (90_000, Cause::ServiceExecution(service)),
        (10_000, call(CallStage::Answering)),
        (90_000, call(CallStage::Response)),
        (50_000, call(CallStage::ClientCallback)),
    ];
    let begin = parts.iter().position(|it| *it == expected[0]).unwrap();
    assert_eq!(parts[begin..begin + expected.len()], expected);
}

#[test]
fn a_path_goes_on_in_the_callback_of_a_service() {
    let mut recording = chain(true);
    received_by_sink(&mut recording, stamp(10_452_500));
    let (title, latency, parts) = path_to_sink(&recording);
    assert_eq!(title, "/sensor → /in → /c → /ask → /s → /out → /sink");
    assert_eq!(latency, 801_000);
    let expected = [
        (40_000, Cause::Execution(InstanceId(0))),
        (150_000, call(CallStage::Request)),
        (10_000, Cause::Dispatch),
        (40_000, Cause::Execution(InstanceId(1))),
    ];
    let begin = parts.iter().position(|it| *it == expected[0]).unwrap();
    assert_eq!(parts[begin..begin + expected.len()], expected);
}
