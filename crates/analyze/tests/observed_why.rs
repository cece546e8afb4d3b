//! Who is blamed for a wait, in tiny systems where it is plain.

use rostrace_analyze::Analysis;
use rostrace_analyze::clocks::UnsynchronisedHosts;
use rostrace_analyze::flow_path::FlowPaths;
use rostrace_analyze::thread::{Ran, summaries};
use rostrace_analyze::timer::firings;
use rostrace_analyze::why::{Cause, Explanation, Relation, Why};
use rostrace_architecture::{NamedPath, PathStep};
use rostrace_model::entity::{ClientCallbackId, ClientId, DeliveryId, InstanceId, TimerId};

use crate::observed::whole;
use crate::support::{Flavour, Recording, stamp, time};

/// The first callback, or the first of a client, was in the way.
fn other(relation: Relation) -> Cause {
    Cause::OtherCallback(InstanceId(0), relation)
}

fn client(relation: Relation) -> Cause {
    Cause::ClientCallback(ClientCallbackId(0), relation)
}

fn parts(explained: &Explanation) -> Vec<(i64, Cause)> {
    let parts = explained.parts.iter();
    parts.map(|part| (part.duration(), part.cause)).collect()
}

/// The execution of a timer, since its first firing was due.
fn of_timer(analysis: &Analysis<'_>, instance: InstanceId) -> Explanation {
    let firing = firings(analysis, TimerId(0))[0];
    Why::new(analysis).instance(instance, Some(&firing))
}

/// CARET tells of a mutually exclusive group, 0x9100, and goes on speaking.
fn with_group(recording: &mut Recording) -> &mut Recording {
    let now = recording.now();
    recording
        .by_caret()
        .caret_init(now, "jazzy")
        .group_to_collector(0x9000, 0x9100, "mutually_exclusive")
}

#[test]
fn a_timer_waits_for_the_callback_before_it() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.timer(0x60, 2, 10_000_000, 0x70);
    recording.subscription(0x20, 2, "/a", 0x30);
    // Due at 11.002 ms. Another callback runs from 11.000 to 11.500, then the executor goes on.
    recording.at(10_000_000).wait_for_work();
    recording.run_between(11_000_000, 11_500_000, 0x30);
    recording.run_between(11_510_000, 11_600_000, 0x70);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = of_timer(&analysis, InstanceId(1));
    assert_eq!(explained.begin, time(11_002_000));
    let expected = [
        (498_000, other(Relation::SameThread)),
        (10_000, Cause::Executor),
        (90_000, Cause::Execution(InstanceId(1))),
    ];
    assert_eq!(parts(&explained), expected);
}

#[test]
fn an_idle_thread_waits_for_its_group_on_another_one() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n").publisher(0x10, 2, "/a");
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.timer(0x60, 2, 1_000_000_000, 0x70);
    with_group(&mut recording).group_subscription(0x9100, 0x20);
    recording.group_timer(0x9100, 0x60).by_ros2();
    // The first thread runs the timer from 10.000 to 10.300 ms and publishes in it; the second one waits.
    recording.thread(7).at(9_000_000).wait_for_work();
    recording.thread(1).at(10_000_000).start(0x70);
    recording.at(10_100_000);
    recording.publish(0x10, 0x5000, stamp(10_102_300));
    recording.at(10_300_000).end(0x70);
    recording.thread(7);
    recording
        .at(10_350_000)
        .rmw_take(0x20, 0x7000, stamp(10_102_300));
    recording.run_between(10_355_000, 10_400_000, 0x30);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = Why::new(&analysis).instance(InstanceId(1), None);
    let expected = [
        (2_000, Cause::Publishing),
        (198_000, other(Relation::SameGroup)),
        (50_000, Cause::Middleware),
        (5_000, Cause::Dispatch),
        (45_000, Cause::Execution(InstanceId(1))),
    ];
    assert_eq!(parts(&explained), expected);
}

/// The publisher is told to go on at 10.400 ms; the take is at 10.500.
#[test]
fn a_message_may_not_be_sent_yet_until_its_publisher_goes_on() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    recording
        .process(200, "listener")
        .at(9_000_000)
        .wait_for_work();
    recording.process(100, "talker").at(10_000_000);
    recording.publish(0x20, 0x5000, stamp(10_002_300));
    recording.at(10_400_000).get_next_ready();
    recording.process(200, "listener").at(10_500_000);
    recording.receive(0x30, stamp(10_002_300), 0x40);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = Why::new(&analysis).communication(DeliveryId(0)).unwrap();
    let expected = [
        (2_000, Cause::Publishing),
        (398_000, Cause::PublishingOrMiddleware),
        (100_000, Cause::Middleware),
        (1_000, Cause::Dispatch),
    ];
    assert_eq!(parts(&explained), expected);
    let publisher = explained.parts[1].culprit_thread(&analysis).unwrap();
    assert_eq!(
        model.processes[model.process_of(publisher).index()].pid,
        100
    );
    // It is a time of the message, and the stages are what they were.
    let stages = analysis.arrival(DeliveryId(0)).unwrap().stages;
    assert_eq!(stages.values(), [2_000, 498_000, 0, 1_000]);
}

/// CARET's old recordings tell when a message arrived.
#[test]
fn a_message_that_had_arrived_was_waiting_for_the_executor() {
    let mut recording = Recording::talker_and_listener(Flavour::GalacticFork);
    recording.process(100, "talker").at(10_000_000);
    recording.publish(0x20, 0x5000, stamp(10_002_300));
    recording
        .process(200, "listener")
        .at(10_050_000)
        .start(0x90);
    recording.thread(207).at(10_100_000);
    recording.data_available(stamp(10_002_300));
    recording.thread(200).at(10_300_000).end(0x90);
    recording.at(10_500_000).dispatch(0x40, stamp(10_002_300));
    recording.run(0x40);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = Why::new(&analysis).communication(DeliveryId(0)).unwrap();
    let expected = [
        (2_000, Cause::Publishing),
        (98_000, Cause::Transport),
        (200_000, other(Relation::SameThread)),
        (200_000, Cause::NotTaken),
        (1_000, Cause::Dispatch),
    ];
    assert_eq!(parts(&explained), expected);
    let stages = analysis.arrival(DeliveryId(0)).unwrap().stages;
    assert_eq!(stages.values(), [2_000, 98_000, 400_000, 1_000]);
}

#[test]
fn a_timer_waits_for_the_callback_of_a_client() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.timer(0x60, 2, 10_000_000, 0x70);
    recording.client(0x40, 2, "/ask", 7);
    // Due at 11.002 ms. The client's callback runs from 11.001 to 11.500, then the executor goes on.
    recording.at(10_000_000).wait_for_work();
    recording.at(11_000_000).take_response(0x40, 1, 5);
    recording.client_callback_start(0x40, 1);
    recording.at(11_500_000).client_callback_end(0x40, 1);
    recording.run_between(11_510_000, 11_600_000, 0x70);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = of_timer(&analysis, InstanceId(0));
    let expected = [
        (498_000, client(Relation::SameThread)),
        (10_000, Cause::Executor),
        (90_000, Cause::Execution(InstanceId(0))),
    ];
    assert_eq!(parts(&explained), expected);
    let threads = summaries(&analysis, analysis.activities());
    assert_eq!(threads[0].time.callbacks, 499_000 + 90_000);
    assert_eq!(threads[0].executions, 2);
    assert_eq!(threads[0].shares[0].ran, Ran::Client(ClientId(0)));
}

#[test]
fn an_idle_thread_waits_for_a_client_of_its_group_on_another_one() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.client(0x40, 2, "/ask", 7);
    recording.timer(0x60, 2, 10_000_000, 0x70);
    with_group(&mut recording).group_client(0x9100, 0x40);
    recording.group_timer(0x9100, 0x60).by_ros2();
    recording.thread(7).at(9_000_000).wait_for_work();
    recording.thread(1).at(10_999_000).take_response(0x40, 1, 5);
    recording.client_callback_start(0x40, 1);
    recording.at(12_000_000).client_callback_end(0x40, 1);
    recording.thread(7);
    recording.run_between(12_050_000, 12_060_000, 0x70);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = of_timer(&analysis, InstanceId(0));
    let blamed: Vec<Cause> = explained.parts.iter().map(|part| part.cause).collect();
    let expected = [
        client(Relation::SameGroup),
        Cause::TimerLateness,
        Cause::Execution(InstanceId(0)),
    ];
    assert_eq!(blamed, expected);
}

/// A message whose receiver's clock is 10 µs behind the sender's.
fn from_one_host_to_another() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process_of(1, "source", (2, "/source"));
    recording.publisher(0x10, 2, "/a");
    recording.at(10_000_000);
    recording.publish(0x10, 0x5000, stamp(10_002_300));
    recording.host("other");
    recording.at(1_000_000).process_of(2, "sink", (2, "/sink"));
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.at(9_990_000);
    recording.receive(0x20, stamp(10_002_300), 0x30);
    recording
}

#[test]
fn clocks_that_disagree_are_unknown_and_still_add_up() {
    let recording = from_one_host_to_another();
    let model = recording.load();
    let analysis = whole(&model);
    let explained = Why::new(&analysis).instance(InstanceId(0), None);
    let expected = [
        (-9_000, Cause::Unknown),
        (1_000, Cause::Execution(InstanceId(0))),
    ];
    assert_eq!(parts(&explained), expected);
}

#[test]
fn a_message_from_another_host_is_told_to_be_of_two_clocks() {
    let recording = from_one_host_to_another();
    let model = recording.load();
    let analysis = whole(&model);
    let hosts = UnsynchronisedHosts::on_the_way(&analysis, &[DeliveryId(0)]).unwrap();
    assert_eq!(hosts.to, "other");
    assert_eq!(UnsynchronisedHosts::of(&model), Some(hosts));
    assert!(hosts.sentence().contains("not known to agree"));
    let paths = FlowPaths::observed(&analysis);
    assert_eq!(paths[0].unsynchronised_hosts(&analysis), Some(hosts));
    // So is a path that somebody declared, and none that stays on one host.
    let declared = |nodes: [&str; 2]| {
        let steps = nodes.map(|node| PathStep::new(node, None, None));
        NamedPath::new("path", steps.to_vec())
    };
    let across = declared(["/source", "/sink"]);
    assert_eq!(
        UnsynchronisedHosts::on_declared_path(&model, &across),
        Some(hosts)
    );
    let within = declared(["/source", "/source"]);
    assert_eq!(UnsynchronisedHosts::on_declared_path(&model, &within), None);
}
