//! Why a thread did not run, in tiny systems where it is plain: a timer that is due at 11.002 ms, and an execution.

use rostrace_analyze::timer::firings;
use rostrace_analyze::why::Why;
use rostrace_model::entity::{DeliveryId, InstanceId, TimerId};
use rostrace_model::scheduling::Scheduling;
use rostrace_testkit::made_up::kernel::{ASLEEP, PREEMPTED};

use crate::observed::whole;
use crate::support::{Flavour, Recording, stamp};

/// A timer of thread 1 that is due at 11.002 ms and whose callback runs from 12.000 to 12.100 ms; the executor waits for work since 10 ms.
fn timer() -> Recording {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.timer(0x60, 2, 10_000_000, 0x70);
    recording.at(10_000_000).wait_for_work();
    recording.run_between(12_000_000, 12_100_000, 0x70);
    recording.cpu(1);
    recording
}

/// The parts of the first execution since it was due, in microseconds.
fn explained(recording: &Recording) -> Vec<(i64, String)> {
    let set = recording.open();
    let model = crate::support::model_of(&set);
    let mut analysis = whole(&model);
    analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
    let firing = firings(&analysis, TimerId(0))[0];
    let explained = Why::new(&analysis).instance(InstanceId(0), Some(&firing));
    let mut at = explained.begin;
    for part in &explained.parts {
        assert_eq!(part.begin, at, "{:?}", explained.parts);
        at = part.end;
    }
    assert_eq!(at, explained.end);
    let parts = explained.parts.iter();
    parts
        .map(|part| (part.duration() / 1000, part.describe(&analysis)))
        .collect()
}

fn assert_story(recording: &Recording, expected: &[(i64, &str)]) {
    let owned = |(time, what): &(i64, &str)| (*time, (*what).to_owned());
    let expected: Vec<_> = expected.iter().map(owned).collect();
    assert_eq!(explained(recording), expected);
}

const RUNS: (i64, &str) = (100, "execution of /n · timer 10 ms");
const OUT: &str = "timer lateness: due, and its thread was on a CPU, on its way out of its wait";

#[test]
fn a_timer_s_thread_that_was_woken_late_slept_on() {
    let mut recording = timer();
    recording.at(10_100_000).switch(1, ASLEEP, 0);
    recording.at(11_500_000).waking_by(1, 1, true);
    recording.at(11_600_000).switch(0, PREEMPTED, 1);
    recording.at(13_000_000).switch(1, ASLEEP, 0);
    assert_story(
        &recording,
        &[
            (
                498,
                "timer lateness: due, but its thread slept on until an interrupt woke it",
            ),
            (
                100,
                "not on a CPU: its thread could run, and its CPU was still idle",
            ),
            (400, OUT),
            RUNS,
        ],
    );
}

#[test]
fn a_timer_s_thread_that_was_woken_in_time_waits_for_whoever_has_its_cpu() {
    let mut recording = timer();
    recording.at(10_100_000).switch(1, ASLEEP, 8);
    recording.at(11_000_000).waking_by(1, 1, true);
    recording.at(11_402_000).switch(8, ASLEEP, 9);
    recording.at(11_902_000).switch(9, ASLEEP, 1);
    recording.at(13_000_000).switch(1, ASLEEP, 0);
    let waited = "not on a CPU: its thread was woken and waited to be scheduled while";
    assert_story(
        &recording,
        &[
            (400, &format!("{waited} thread8 8 ran")),
            (500, &format!("{waited} thread9 9 ran")),
            (98, OUT),
            RUNS,
        ],
    );
}

/// Only recorded threads are followed, and not when they are woken.
#[test]
fn without_wake_ups_it_is_said_who_had_the_cpu_that_the_thread_then_got() {
    let mut recording = timer();
    recording.at(5_000_000).thread_name(1, 1, "n");
    recording.at(5_000_000).thread_name(8, 1, "hog");
    recording.at(9_000_000).switch_in(1);
    recording.at(10_100_000).switch_out(1, false);
    recording.cpu(2).at(11_302_000).switch_in(8);
    recording.at(11_902_000).switch_out(8, true);
    recording.at(11_902_000).switch_in(1);
    recording.at(13_000_000).switch_out(1, false);
    assert_story(
        &recording,
        &[
            (
                300,
                "timer lateness: due, but its thread was off the CPU until it ran again",
            ),
            (
                600,
                "timer lateness: due, but its thread was off the CPU; hog 8 ran on the CPU that it got next",
            ),
            (98, OUT),
            RUNS,
        ],
    );
}

#[test]
fn a_preempted_thread_waits_for_all_that_have_its_cpu_and_a_sleeping_one_for_who_wakes_it() {
    let mut recording = timer();
    recording.at(10_100_000).switch(0, PREEMPTED, 1);
    recording.at(12_010_000).switch(1, PREEMPTED, 8);
    recording.at(12_030_000).switch(8, ASLEEP, 9);
    recording.at(12_050_000).switch(9, ASLEEP, 1);
    recording.at(12_060_000).switch(1, ASLEEP, 9);
    recording.at(12_080_000).waking_by(1, 1, false);
    recording.at(12_081_000).switch(9, ASLEEP, 1);
    recording.at(13_000_000).switch(1, ASLEEP, 0);
    let name = "/n · timer 10 ms";
    let off = |what: &str| format!("not on a CPU: {name} {what}");
    let run = format!("execution of {name}");
    assert_story(
        &recording,
        &[
            (998, OUT),
            (10, &run),
            (20, &off("was preempted by thread8 8")),
            (20, &off("was preempted by thread9 9")),
            (10, &run),
            (20, &off("slept until thread9 9 woke it")),
            (
                1,
                &off("was woken and waited to be scheduled while thread9 9 ran"),
            ),
            (19, &run),
        ],
    );
}

#[test]
fn what_the_scheduler_does_not_tell_stays_what_it_was() {
    let mut recording = timer();
    recording.at(11_502_000).switch(0, PREEMPTED, 1);
    recording.at(13_000_000).switch(1, ASLEEP, 0);
    assert_story(
        &recording,
        &[
            (500, "timer lateness: due, but its thread woke up late"),
            (498, OUT),
            RUNS,
        ],
    );
}

/// A message of 10 ms, for a listener that waits for work since 9 ms; it is on a CPU since 18 ms, where a thread called hog ran before.
fn message(hog: impl FnOnce(&mut Recording)) -> Vec<(i64, String)> {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    recording.process(200, "listener").at(9_000_000);
    recording.wait_for_work();
    recording.process(100, "talker").at(10_000_000);
    recording.publish(0x20, 0x5000, stamp(10_002_500));
    recording.at(10_100_000).wait_for_work();
    recording.process(200, "listener").at(18_100_000);
    recording
        .get_next_ready()
        .receive(0x30, stamp(10_002_500), 0x40);
    recording.cpu(1).at(5_000_000);
    recording.thread_name(200, 200, "listener");
    recording.thread_name(8, 8, "hog");
    recording.at(8_000_000).switch_in(200);
    recording.at(9_100_000).switch_out(200, false);
    hog(&mut recording);
    recording.cpu(1).at(18_000_000).switch_in(200);
    recording.at(30_000_000).switch_out(200, false);
    let set = recording.open();
    let model = crate::support::model_of(&set);
    let mut analysis = whole(&model);
    analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
    let explained = Why::new(&analysis).communication(DeliveryId(0)).unwrap();
    let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
    assert_eq!(sum, explained.end.0 - explained.begin.0);
    let parts = explained.parts.iter();
    let parts = parts.map(|part| (part.duration() / 1000, part.describe(&analysis)));
    parts.filter(|(time, _)| *time > 100).collect()
}

const IDLE: &str = "middleware: under way, the receiver was idle or had no CPU";

/// When the listener was woken is not known, but had the CPU been idle meanwhile, it would have run sooner.
#[test]
fn a_receiver_may_have_waited_for_whoever_had_its_cpu_without_a_pause() {
    let by = |who: &str| {
        format!(
            "under way, or without a CPU: the receiver was idle or had no CPU; {who} ran on the CPU that it got next"
        )
    };
    let parts = message(|recording| {
        recording.at(11_000_000).switch_in(8);
        recording.at(14_000_000).switch_out(8, true);
        recording.at(16_000_000).switch_in(8);
        recording.at(18_000_000).switch_out(8, true);
    });
    let unknown = "something that is not recorded";
    assert_eq!(
        parts[1..],
        [
            (3000, by("hog 8")),
            (2000, by(unknown)),
            (2000, by("hog 8")),
        ]
    );
    assert_eq!(parts[0].1, IDLE);
}

#[test]
fn what_ran_before_its_cpu_may_have_been_idle_kept_a_receiver_from_nothing() {
    let parts = message(|recording| {
        recording.at(11_000_000).switch_in(8);
        recording.at(17_000_000).switch_out(8, false);
    });
    assert_eq!(parts.len(), 1, "{parts:?}");
    assert_eq!(parts[0].1, IDLE);
}
