//! What is said of executions of which only the CPU clock of their thread is known: sums, and no more than they tell.

use rostrace_analyze::execution_time::{ExecutionTime, Source};
use rostrace_analyze::flow_path::FlowPaths;
use rostrace_analyze::why::{ByClock, Cause, Relation, Why};
use rostrace_model::Model;
use rostrace_model::entity::{DeliveryId, InstanceId};
use rostrace_model::flow::OffCpuReason;

use crate::observed::whole;
use crate::support::{Payload, Recording, stamp};

/// A node with two timers, whose callbacks are 0x70 and 0x71.
fn two_timers() -> Recording {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.timer(0x60, 2, 10_000_000, 0x70);
    recording.timer(0x61, 2, 20_000_000, 0x71);
    recording
}

/// What the tracer reads: nanoseconds on the CPU, and how often the thread left it, voluntarily and not.
fn read(recording: &mut Recording, callback: u64, cpu: u64, left: (u64, u64)) {
    let fields = [
        ("callback", Payload::Pointer(callback)),
        ("cpu_time", Payload::Unsigned(cpu)),
        ("voluntary", Payload::Unsigned(left.0)),
        ("involuntary", Payload::Unsigned(left.1)),
    ];
    recording.event("rostrace:thread_clock", &fields);
}

/// An execution of 10 ms, of which 4 were computed.
fn execution(left: (u64, u64)) -> Model {
    let mut recording = two_timers();
    recording.at(30_000_000).start(0x70);
    read(&mut recording, 0x70, 1_000_000, (5, 5));
    recording.at(39_999_000);
    read(&mut recording, 0x70, 5_000_000, (5 + left.0, 5 + left.1));
    recording.at(40_000_000).end(0x70);
    recording.load()
}

fn parts(model: &Model, instance: u32) -> Vec<(i64, Cause)> {
    let analysis = whole(model);
    let explained = Why::new(&analysis).instance(InstanceId(instance), None);
    let row = &model.instances[instance as usize];
    assert_eq!(
        (explained.begin, explained.end),
        (row.start, row.end.unwrap())
    );
    let mut at = explained.begin;
    for part in &explained.parts {
        assert_eq!(part.begin, at);
        at = part.end;
    }
    assert_eq!(at, explained.end);
    let parts = explained.parts.iter();
    parts.map(|part| (part.duration(), part.cause)).collect()
}

fn computing(instance: u32) -> Cause {
    Cause::ByClock(ByClock::Computing, InstanceId(instance))
}

fn off(reason: OffCpuReason) -> Cause {
    Cause::ByClock(ByClock::NotOnCpu(reason), InstanceId(0))
}

#[test]
fn why_a_thread_did_not_compute_is_known_by_how_it_left_its_cpu() {
    // Between the readings are 9.998 ms; the readings themselves are computed.
    for (left, reason, columns) in [
        ((0, 3), OffCpuReason::Preempted, [5_998_000, 0, 0]),
        ((3, 0), OffCpuReason::Blocked, [0, 5_998_000, 0]),
        ((1, 1), OffCpuReason::PreemptedOrBlocked, [0, 0, 5_998_000]),
        ((0, 0), OffCpuReason::Interrupted, [5_998_000, 0, 0]),
    ] {
        let model = execution(left);
        let expected = [(4_002_000, computing(0)), (5_998_000, off(reason))];
        assert_eq!(parts(&model, 0), expected);
        let analysis = whole(&model);
        assert!(expected.iter().all(|(_, cause)| cause.is_sum(&analysis)));
        let time = ExecutionTime::of(&analysis, InstanceId(0)).unwrap();
        let found = [time.waiting, time.blocked, time.unknown].map(|it| it.0);
        assert_eq!((time.running.0, found), (4_002_000, columns));
        assert_eq!(
            (time.source, time.preemptions),
            (Source::ThreadClock, left.1)
        );
    }
}

#[test]
fn what_computes_all_the_time_is_no_sum() {
    let mut recording = two_timers();
    recording.at(30_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.at(39_999_000);
    read(&mut recording, 0x70, 9_995_000, (0, 0));
    let model = recording.end(0x70).load();
    let parts = parts(&model, 0);
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].1, computing(0));
    assert!(!parts[0].1.is_sum(&whole(&model)));
}

/// The tracer waits for nothing but a CPU.
#[test]
fn what_passes_while_the_clock_is_read_is_a_wait_for_a_cpu() {
    let mut recording = two_timers();
    recording.at(30_000_000).start(0x70);
    recording.at(33_003_000);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.at(37_003_000);
    read(&mut recording, 0x70, 1_000_000, (1, 0));
    let model = recording.at(39_003_000).end(0x70).load();
    let expected = [
        (1_006_000, computing(0)),
        (4_997_000, off(OffCpuReason::Preempted)),
        (3_000_000, off(OffCpuReason::Blocked)),
    ];
    assert_eq!(parts(&model, 0), expected);
    let analysis = whole(&model);
    let time = ExecutionTime::of(&analysis, InstanceId(0)).unwrap();
    assert_eq!((time.waiting.0, time.blocked.0), (4_997_000, 3_000_000));
    assert_eq!(time.preemptions, 2);
}

/// What runs inside of another callback is part of it, and has a clock of its own.
#[test]
fn a_callback_inside_of_another_one_is_measured_too() {
    let mut recording = two_timers();
    recording.at(30_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.at(32_000_000).start(0x71);
    read(&mut recording, 0x71, 2_000_000, (0, 0));
    recording.at(37_000_000);
    read(&mut recording, 0x71, 3_000_000, (1, 0));
    recording.end(0x71).at(39_000_000);
    read(&mut recording, 0x70, 5_000_000, (1, 0));
    let model = recording.end(0x70).load();
    let analysis = whole(&model);
    let blocked = |id| {
        ExecutionTime::of(&analysis, InstanceId(id))
            .unwrap()
            .blocked
            .0
    };
    // From 30.001 to 39 ms, of which 5 were computed, and from 32.001 to 37 ms, of which 1 was.
    assert_eq!((blocked(0), blocked(1)), (3_999_000, 3_999_000));
}

/// The budget of the thread was used up, an event was lost, or the callback has thrown an exception.
#[test]
fn without_both_readings_nothing_is_said() {
    let mut recording = two_timers();
    // Only at the begin.
    recording.at(30_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.at(31_000_000).end(0x70);
    // Only at the end.
    recording.at(32_000_000).start(0x70).at(33_000_000);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.end(0x70);
    // The inner one never ends; the reading of the outer one is not its own.
    recording.at(34_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.start(0x71);
    read(&mut recording, 0x71, 0, (0, 0));
    recording.at(36_000_000);
    read(&mut recording, 0x70, 1_000_000, (1, 0));
    recording.end(0x70);
    let model = recording.load();
    let measured = &model.measured_executions;
    let ids: Vec<u32> = measured.iter().map(|it| it.instance.0).collect();
    assert_eq!(ids, [2]);
    for instance in [0, 1] {
        let parts = parts(&model, instance);
        assert_eq!(parts[0].1, Cause::Execution(InstanceId(instance)));
    }
}

/// A damaged trace may say anything.
#[test]
fn clocks_that_go_back_are_not_trusted() {
    let mut recording = two_timers();
    recording.at(30_000_000).start(0x70);
    read(&mut recording, 0x70, 5_000_000, (1, 0));
    read(&mut recording, 0x70, 4_000_000, (1, 0));
    recording.end(0x70).at(32_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    read(&mut recording, 0x70, u64::MAX, (0, 0));
    recording.end(0x70).at(34_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    read(&mut recording, 0x70, 1_000_000_000, (0, 0));
    let model = recording.end(0x70).load();
    assert_eq!(model.measured_executions.len(), 1);
    let analysis = whole(&model);
    let time = ExecutionTime::of(&analysis, InstanceId(2)).unwrap();
    assert_eq!((time.waiting.0, time.blocked.0, time.unknown.0), (0, 0, 0));
}

/// A path leaves an execution when it publishes. It computed at most 1.002 ms in all, so that most of the time until then was spent
/// otherwise; what the rest was is not known.
#[test]
fn of_a_part_of_an_execution_only_what_must_lie_in_it_is_said() {
    let mut recording = two_timers();
    recording.publisher(0x10, 2, "/a").publisher(0x11, 2, "/b");
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.subscription(0x21, 2, "/b", 0x31);
    recording.thread(7).at(20_000_000);
    recording.publish(0x10, 0x5000, stamp(20_002_300));
    recording.thread(1).at(21_000_000);
    recording.rmw_take(0x20, 0x7000, stamp(20_002_300));
    recording.start(0x30);
    read(&mut recording, 0x30, 0, (0, 0));
    recording.at(29_000_000);
    recording.publish(0x11, 0x6000, stamp(29_002_300));
    recording.at(31_000_000);
    read(&mut recording, 0x30, 1_000_000, (1, 0));
    recording.end(0x30).at(32_000_000);
    recording.receive(0x21, stamp(29_002_300), 0x31);
    let model = recording.load();
    let analysis = whole(&model);
    let paths = FlowPaths::observed(&analysis);
    let path = paths.iter().find(|path| path.hops.len() == 2).unwrap();
    let explained = Why::new(&analysis).flow(&path.flows[0]).unwrap();
    let of_it = explained.parts.iter();
    let of_it = of_it.filter(|part| part.cause.instance() == Some(InstanceId(0)));
    let found: Vec<_> = of_it.map(|part| (part.duration(), part.cause)).collect();
    let expected = [
        (1_002_000, Cause::Execution(InstanceId(0))),
        (6_997_000, off(OffCpuReason::Blocked)),
    ];
    assert_eq!(found[..2], expected);
    // After the publication it is in the way of the next callback, and that is all that is said of it.
    let in_the_way = Cause::OtherCallback(InstanceId(0), Relation::SameThread);
    assert_eq!(found[2..], [(1_999_000, in_the_way)]);
    let all: i64 = explained.parts.iter().map(|part| part.duration()).sum();
    assert_eq!(all, explained.end.0 - explained.begin.0);
}

/// The wait for a message contains another callback: it stays what it was, whatever its clock says.
#[test]
fn a_wait_for_another_callback_stays_a_wait_for_it() {
    let mut recording = two_timers();
    recording.publisher(0x10, 2, "/a");
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.thread(1).at(29_000_000).wait_for_work();
    recording.at(29_500_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.thread(7).at(30_000_000);
    recording.publish(0x10, 0x5000, stamp(30_002_300));
    recording.thread(1).at(35_000_000);
    read(&mut recording, 0x70, 1_000_000, (1, 0));
    recording.end(0x70).at(36_000_000);
    recording.receive(0x20, stamp(30_002_300), 0x30);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = Why::new(&analysis).communication(DeliveryId(0)).unwrap();
    let is_split = |cause: Cause| matches!(cause, Cause::ByClock(..));
    assert!(!explained.parts.iter().any(|part| is_split(part.cause)));
}

/// Of a lock it is known when it was waited for. It left its CPU once for that, and otherwise because it had to.
#[test]
fn what_is_known_of_locks_is_no_part_of_what_is_not_known() {
    let mut recording = two_timers();
    recording.at(30_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    let lock = ("lock", Payload::Pointer(0x77));
    let fields = [
        lock.clone(),
        ("kind", Payload::Unsigned(0)),
        ("owner", Payload::Signed(7)),
        ("caller", Payload::Pointer(0xCA)),
    ];
    recording
        .at(32_001_000)
        .event("rostrace:lock_wait_begin", &fields);
    let fields = [lock, ("status", Payload::Signed(0))];
    recording
        .at(36_001_000)
        .event("rostrace:lock_wait_end", &fields);
    // It computed for 2 ms, waited 4 for the lock, and 3 for a CPU.
    recording.at(39_001_000);
    read(&mut recording, 0x70, 2_000_000, (1, 1));
    let model = recording.at(39_002_000).end(0x70).load();
    let found = parts(&model, 0);
    let sum = |is_it: &dyn Fn(Cause) -> bool| {
        let parts = found.iter().filter(|(_, cause)| is_it(*cause));
        parts.map(|(time, _)| time).sum::<i64>()
    };
    assert_eq!(
        sum(&|cause| matches!(cause, Cause::Lock(..))),
        4_000_000,
        "{found:?}"
    );
    let both = off(OffCpuReason::PreemptedOrBlocked);
    assert_eq!(sum(&|cause| cause == both), 0, "{found:?}");
    // 3 ms after the lock, of which at most 2.002 were computed.
    let preempted = sum(&|cause| cause == off(OffCpuReason::Preempted));
    assert!(
        (990_000..=3_000_000).contains(&preempted),
        "{preempted} {found:?}"
    );
}

/// The call of `publish` is a part of an execution, and does not go on without a CPU.
#[test]
fn a_call_of_publish_that_was_preempted_is_split_as_the_callback_is() {
    let mut recording = two_timers();
    recording.publisher(0x10, 2, "/a");
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.thread(1).at(30_000_000).start(0x70);
    read(&mut recording, 0x70, 0, (0, 0));
    recording.at(30_100_000).rclcpp_publish(0x10, 0x5000);
    recording.at(40_100_000).rcl_publish(0x10, 0x5000);
    recording.rmw_publish(0x10, 0x5000, stamp(40_100_500));
    recording.at(40_300_000);
    read(&mut recording, 0x70, 400_000, (0, 2));
    recording.end(0x70);
    recording.thread(7).at(41_000_000);
    recording.receive(0x20, stamp(40_100_500), 0x30);
    let model = recording.load();
    let analysis = whole(&model);
    let explained = Why::new(&analysis).communication(DeliveryId(0)).unwrap();
    let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
    assert_eq!(sum, explained.end.0 - explained.begin.0);
    let of = |cause: Cause| {
        let parts = explained.parts.iter().filter(|part| part.cause == cause);
        parts.map(|part| part.duration()).sum::<i64>()
    };
    let preempted = of(off(OffCpuReason::Preempted));
    assert!(
        (9_500_000..=9_700_000).contains(&preempted),
        "{:?}",
        explained.parts
    );
    assert!(
        of(Cause::Publishing) + preempted >= 10_000_000,
        "{:?}",
        explained.parts
    );
}
