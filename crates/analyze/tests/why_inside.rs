//! What a thread was inside of, in tiny systems where it is plain: an execution from 2 to 3 ms.

use rostrace_analyze::why::Why;
use rostrace_model::entity::InstanceId;
use rostrace_model::scheduling::Scheduling;
use rostrace_testkit::made_up::Payload::{Pointer, Signed, Text, Unsigned};
use rostrace_testkit::made_up::kernel::{ASLEEP, PREEMPTED};

use crate::observed::whole;
use crate::support::Recording;

/// A callback of thread 100 from 2 ms to 3 ms; the thread runs on CPU 1.
fn callback() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording.at(2_000_000).start(0x40).at(3_000_000).end(0x40);
    recording.cpu(1).at(1_000_000).switch(0, PREEMPTED, 100);
    recording.at(4_000_000).switch(100, ASLEEP, 0);
    recording
}

/// The parts of the execution, in microseconds.
fn assert_story(recording: &Recording, expected: &[(i64, &str)]) {
    let set = recording.open();
    let model = crate::support::model_of(&set);
    let mut analysis = whole(&model);
    analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
    let explained = Why::new(&analysis).instance(InstanceId(0), None);
    let mut at = explained.begin;
    for part in &explained.parts {
        assert_eq!(part.begin, at, "{:?}", explained.parts);
        at = part.end;
    }
    assert_eq!(at, explained.end);
    let parts = explained.parts.iter();
    let parts: Vec<(i64, String)> = parts
        .map(|part| {
            let sentence = part.describe(&analysis);
            (
                part.duration() / 1000,
                sentence.replace("callback 0x40 (unnamed)", "it"),
            )
        })
        .collect();
    let owned = |(time, what): &(i64, &str)| (*time, (*what).to_owned());
    let expected: Vec<_> = expected.iter().map(owned).collect();
    assert_eq!(parts, expected);
}

const RUNS: &str = "execution of it";

#[test]
fn a_thread_is_blocked_in_the_system_call_that_it_had_entered() {
    let mut recording = callback();
    recording
        .at(2_100_000)
        .kernel_event("syscall_entry_read", &[]);
    recording.at(2_150_000).switch(100, ASLEEP, 0);
    recording.at(2_550_000).waking_by(100, 1, true);
    recording.at(2_550_500).switch(0, PREEMPTED, 100);
    recording
        .at(2_600_000)
        .kernel_event("syscall_exit_read", &[("ret", Signed(1))]);
    assert_story(
        &recording,
        &[
            (100, RUNS),
            (50, "in the kernel: it was in read()"),
            (
                400,
                "not on a CPU: it was blocked in read() until an interrupt woke it",
            ),
            (0, "not on a CPU: it could run, and its CPU was still idle"),
            (49, "in the kernel: it was in read()"),
            (400, RUNS),
        ],
    );
}

#[test]
fn interrupts_take_the_cpu_of_whoever_has_it() {
    let mut recording = callback();
    let handler = [("irq", Signed(24)), ("name", Text("eth0".to_owned()))];
    recording
        .at(2_100_000)
        .kernel_event("irq_handler_entry", &handler);
    let handled = [("irq", Signed(24)), ("ret", Signed(1))];
    recording
        .at(2_120_000)
        .kernel_event("irq_handler_exit", &handled);
    let deferred = [("vec", Unsigned(3))];
    recording
        .at(2_120_000)
        .kernel_event("irq_softirq_entry", &deferred);
    recording
        .at(2_200_000)
        .kernel_event("irq_softirq_exit", &deferred);
    // Another CPU is none of its business.
    recording
        .cpu(2)
        .at(2_300_000)
        .kernel_event("irq_handler_entry", &handler);
    recording
        .at(2_400_000)
        .kernel_event("irq_handler_exit", &handled);
    assert_story(
        &recording,
        &[
            (100, RUNS),
            (20, "in the kernel: it was in interrupt eth0"),
            (80, "in the kernel: it was in deferred work NET_RX"),
            (800, RUNS),
        ],
    );
}

#[test]
fn page_faults_are_reported_where_both_ends_are() {
    let mut recording = callback();
    let thread = [("address", Pointer(0x1000)), ("tid", Signed(100))];
    recording
        .at(2_100_000)
        .kernel_event("rostrace_sched:page_fault", &thread);
    recording
        .at(2_105_000)
        .kernel_event("rostrace_sched:page_fault_done", &thread);
    // This one had no end, because it was no memory of the thread's.
    recording
        .at(2_200_000)
        .kernel_event("rostrace_sched:page_fault", &thread);
    assert_story(
        &recording,
        &[
            (100, RUNS),
            (5, "in the kernel: it was in a page fault"),
            (895, RUNS),
        ],
    );
}

#[test]
fn a_wait_for_a_mutex_names_the_thread_that_held_it() {
    let mut recording = callback();
    let mutex = |word: &str| format!("lttng_ust_pthread:pthread_mutex_{word}");
    let (request, got) = (mutex("lock_req"), mutex("lock_acq"));
    let which = [("mutex", Pointer(0x77))];
    let fine = [("mutex", Pointer(0x77)), ("status", Signed(0))];
    recording.process(100, "app").thread(101);
    recording
        .at(1_900_000)
        .event(&request, &which)
        .event(&got, &fine);
    recording.at(2_500_000).event(&mutex("unlock"), &fine);
    recording.thread(100).at(2_100_000).event(&request, &which);
    recording.at(2_510_000).event(&got, &fine);
    recording.at(2_520_000).event(&mutex("unlock"), &fine);
    // Nobody has it now.
    recording.at(2_600_000).event(&request, &which);
    recording.at(2_600_100).event(&got, &fine);
    assert_story(
        &recording,
        &[
            (100, RUNS),
            (410, "blocked: it waited for a mutex held by thread 101"),
            (490, RUNS),
        ],
    );
}

#[test]
fn what_may_have_ended_unseen_is_not_reported() {
    let mut recording = callback();
    recording
        .at(2_100_000)
        .kernel_event("syscall_entry_read", &[]);
    recording
        .at(2_600_000)
        .kernel_event("syscall_exit_read", &[("ret", Signed(1))]);
    recording.lose_of_kernel(2_300_000, 2_400_000);
    assert_story(&recording, &[(1000, RUNS)]);
}
