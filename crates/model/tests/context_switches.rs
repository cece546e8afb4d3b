//! When threads run and do not, as rostrace's recorder hears it: of recorded threads only, and each switch with one side.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{HostId, ThreadId};
use rostrace_model::scheduling::{Cpu, Ready, Sleep, State};

use crate::scheduling::{load, words};
use rostrace_testkit::made_up::kernel::{ASLEEP, PREEMPTED};
use rostrace_testkit::made_up::{Recording, time};

const FROM: u64 = 2_000_000;
const TO: u64 = 3_000_000;

/// The states of a thread in words, with their durations in microseconds.
fn states(recording: &Recording, tid: i64) -> Vec<(String, i64)> {
    let (model, scheduling) = load(recording);
    let thread = model.threads.iter().position(|thread| thread.tid == tid);
    let thread = ThreadId(thread.unwrap() as u32);
    let word = |state: State| match state {
        State::Running { cpu } => format!("runs on {}", cpu.0),
        State::Waiting {
            cpu: Some(Cpu(cpu)),
            ready: Ready::Preempted { by },
        } => format!("preempted on {cpu} by {}", scheduling.task(by).name),
        State::Waiting { .. } => "waits".to_owned(),
        State::Blocked(Sleep::Unspecified) => "asleep".to_owned(),
        State::Blocked(_) => "asleep as the kernel says".to_owned(),
        State::Unknown => "unknown".to_owned(),
    };
    let slices = scheduling.slices(thread, time(FROM), time(TO));
    slices
        .map(|slice| (word(slice.state), slice.duration().0 / 1000))
        .collect()
}

const UNRECORDED: &str = "something that is not recorded";

/// A callback of thread 100 from 2 ms to 3 ms; the thread runs on CPU 1 from 1 ms on, and another one is called `hog`.
fn callback() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording.at(2_000_000).start(0x40).at(3_000_000).end(0x40);
    recording.cpu(1).at(500_000).thread_name(100, 100, "app");
    recording.at(600_000).thread_name(107, 100, "hog");
    recording.at(1_000_000).switch_in(100);
    recording
}

#[test]
fn a_thread_sleeps_from_when_it_leaves_its_cpu_to_when_it_gets_one() {
    let mut recording = callback();
    recording.at(2_200_000).switch_out(100, false);
    recording.cpu(3).at(2_600_000).switch_in(100);
    recording.at(3_100_000).switch_out(100, false);
    let expected = [("runs on 1", 200), ("asleep", 400), ("runs on 3", 400)];
    assert_eq!(states(&recording, 100), words(&expected));
    assert!(!load(&recording).1.has_wakeups);
}

#[test]
fn who_ran_instead_is_named_as_far_as_it_is_recorded() {
    let mut recording = callback();
    recording.at(2_200_000).switch_out(100, true);
    recording.at(2_202_000).switch_in(107);
    recording.at(2_500_000).switch_out(107, false);
    recording.at(2_700_000).switch_in(100);
    recording.at(3_100_000).switch_out(100, false);
    let unrecorded = format!("preempted on 1 by {UNRECORDED}");
    let expected = [
        ("runs on 1", 200),
        // The two microseconds of the switch are its own.
        ("preempted on 1 by hog", 300),
        (unrecorded.as_str(), 200),
        ("runs on 1", 300),
    ];
    assert_eq!(states(&recording, 100), words(&expected));
    let (_, scheduling) = load(&recording);
    let rows = scheduling.occupations(HostId(0), Cpu(1), time(FROM), time(TO));
    let who: Vec<_> = rows
        .map(|row| {
            let task = scheduling.task(row.task.unwrap());
            assert_eq!(task.is_recorded(), task.name != UNRECORDED);
            (task.name.clone(), (row.to.0 - row.from.0) / 1000)
        })
        .collect();
    let expected = [("app", 200), ("hog", 300), (UNRECORDED, 200), ("app", 300)];
    assert_eq!(who, words(&expected));
}

#[test]
fn nobody_is_kept_off_a_cpu_by_itself() {
    let mut recording = callback();
    recording.at(2_200_000).switch_out(100, true);
    recording.at(2_201_000).switch_in(107);
    recording.at(2_700_000).switch_out(107, true);
    recording.at(2_703_000).switch_in(100);
    recording.at(3_100_000).switch_out(100, false);
    let (model, scheduling) = load(&recording);
    let thread = model.threads.iter().position(|thread| thread.tid == 100);
    let thread = ThreadId(thread.unwrap() as u32);
    let rows = scheduling.occupations_for(thread, Cpu(1), time(2_200_000), time(2_703_000));
    let who: Vec<_> = rows
        .map(|row| scheduling.task(row.task.unwrap()).name.clone())
        .collect();
    assert_eq!(who, ["hog"]);
}

#[test]
fn a_thread_that_goes_on_elsewhere_is_no_longer_kept_off_by_those_it_left() {
    let mut recording = callback();
    recording.at(2_200_000).switch_out(100, true);
    recording.at(2_201_000).switch_in(107);
    recording.at(2_300_000).switch_out(107, false);
    recording.cpu(3).at(2_500_000).switch_in(100);
    // This is none of its business any more.
    recording.cpu(1).at(2_600_000).switch_in(107);
    recording.at(3_100_000).switch_out(107, false);
    let unrecorded = format!("preempted on 1 by {UNRECORDED}");
    let expected = [
        ("runs on 1", 200),
        ("preempted on 1 by hog", 100),
        (unrecorded.as_str(), 200),
        ("runs on 3", 500),
    ];
    assert_eq!(states(&recording, 100), words(&expected));
}

#[test]
fn several_that_were_preempted_on_one_cpu_wait_for_the_same_one() {
    let mut recording = callback();
    recording.process(300, "other").at(2_000_000).start(0x50);
    recording.cpu(1).at(2_100_000).switch_out(100, true);
    recording.at(2_101_000).switch_in(300);
    recording.at(2_300_000).switch_out(300, true);
    recording.at(2_301_000).switch_in(107);
    recording.at(2_600_000).switch_out(107, false);
    recording.at(2_601_000).switch_in(300);
    recording.at(2_800_000).switch_out(300, false);
    recording.at(2_801_000).switch_in(100);
    recording.at(3_100_000).switch_out(100, false);
    recording.at(400_000).thread_name(300, 300, "other");
    let expected = [
        ("runs on 1", 100),
        ("preempted on 1 by other", 200),
        ("preempted on 1 by hog", 300),
        ("preempted on 1 by other", 201),
        ("runs on 1", 199),
    ];
    assert_eq!(states(&recording, 100), words(&expected));
    let other = states(&recording, 300);
    assert_eq!(other[2], ("preempted on 1 by hog".to_owned(), 301));
}

#[test]
fn what_is_reported_twice_is_the_same() {
    let mut once = callback();
    let mut twice = callback();
    for (recording, times) in [(&mut once, 1), (&mut twice, 2)] {
        for _ in 0..times {
            recording.at(2_200_000).switch_out(100, true);
        }
        for _ in 0..times {
            recording.at(2_203_000).switch_in(107);
        }
        for _ in 0..times {
            recording.at(2_500_000).switch_out(107, false);
        }
        recording.at(2_501_000).switch_in(100);
        recording.at(3_100_000).switch_out(100, false);
    }
    assert_eq!(states(&once, 100), states(&twice, 100));
}

#[test]
fn a_thread_that_has_ended_is_unknown_until_its_number_is_used_again() {
    let mut recording = callback();
    recording.at(2_200_000).thread_exit(100, 100);
    recording.at(2_600_000).switch_in(100);
    recording.at(3_100_000).switch_out(100, false);
    let expected = [("runs on 1", 200), ("unknown", 400), ("runs on 1", 400)];
    assert_eq!(states(&recording, 100), words(&expected));
}

#[test]
fn after_a_loss_a_thread_is_unknown_until_a_switch_tells_of_it() {
    let mut recording = callback();
    recording.at(2_350_000).switch_out(100, true);
    recording.at(2_700_000).switch_in(100);
    recording.at(3_500_000).switch_out(100, false);
    recording.lose_of_kernel(2_300_000, 2_500_000);
    let expected = [("runs on 1", 300), ("unknown", 400), ("runs on 1", 300)];
    assert_eq!(states(&recording, 100), words(&expected));
}

/// As with LTTng's kernel modules beside the recorder: what tells both sides of a switch counts.
#[test]
fn where_the_kernel_s_own_switches_were_recorded_they_count() {
    let mut recording = callback();
    recording.at(1_000_000).switch(0, PREEMPTED, 100);
    recording.at(2_200_000).switch(100, ASLEEP, 0);
    recording.at(2_200_100).switch_out(100, false);
    recording.at(2_600_000).switch(0, PREEMPTED, 100);
    recording.at(2_600_100).switch_in(100);
    recording.at(3_500_000).switch(100, ASLEEP, 0);
    let expected = [
        ("runs on 1", 200),
        ("asleep as the kernel says", 400),
        ("runs on 1", 400),
    ];
    assert_eq!(states(&recording, 100), words(&expected));
}

#[test]
fn a_thread_of_another_process_with_this_number_is_not_it() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording.at(2_000_000).start(0x40).at(3_000_000).end(0x40);
    recording.cpu(1).at(500_000).thread_name(100, 99, "app");
    recording.at(1_000_000).switch_in(100);
    recording.at(3_100_000).switch_out(100, false);
    assert_eq!(states(&recording, 100), words(&[("unknown", 1000)]));
}

#[test]
fn what_the_kernel_loses_is_no_loss_of_messages() {
    let mut recording = callback();
    recording.at(2_350_000).switch_out(100, true);
    recording.at(3_500_000).switch_in(100);
    // So often that rows of damage are summed up, too.
    for number in 0..2_000 {
        let at = 4_000_000 + 10_000 * number;
        recording.at(at).switch_in(100);
        recording.lose_of_kernel(at + 1_000, at + 2_000);
    }
    recording.at(40_000_000).switch_out(100, true);
    recording.lose_of_kernel(2_300_000, 2_500_000);
    let (model, _) = load(&recording);
    assert!(!model.losses.any());
    assert!(
        !model
            .losses
            .across_threads(Nanos(i64::MIN), Nanos(i64::MAX))
    );
    recording.lose(2_300_000, 2_500_000);
    let (model, _) = load(&recording);
    assert!(model.losses.lost_between(time(FROM), time(TO)));
}
