//! When threads run, wait and sleep, as the kernel's events tell it.

use std::fs;

use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{HostId, ThreadId};
use rostrace_model::scheduling::{Cpu, OffCpu, Ready, Scheduling, Sleep, State};

use rostrace_testkit::made_up::kernel::{ASLEEP, IN_DISK_WAIT, PREEMPTED};
use rostrace_testkit::made_up::{Recording, time};

pub fn load(recording: &Recording) -> (Model, Scheduling) {
    load_set(&recording.open())
}

fn load_set(set: &TraceSet) -> (Model, Scheduling) {
    let model = rostrace_testkit::made_up::model_of(set);
    let scheduling = Scheduling::load(set, &model, &mut |_| true).unwrap();
    (model, scheduling)
}

fn thread(model: &Model, tid: i64) -> ThreadId {
    let found = model.threads.iter().position(|thread| thread.tid == tid);
    ThreadId(found.unwrap() as u32)
}

/// The states of a thread in words, with their durations in microseconds.
fn states(recording: &Recording, tid: i64, from: u64, to: u64) -> Vec<(String, i64)> {
    let (model, scheduling) = load(recording);
    let thread = thread(&model, tid);
    let word = |state: State| match state {
        State::Running { cpu } => format!("runs on {}", cpu.0),
        State::Waiting { cpu, ready } => {
            let cpu = cpu.map_or_else(|| "?".to_owned(), |cpu| cpu.0.to_string());
            match ready {
                Ready::Woken { .. } => format!("woken for {cpu}"),
                Ready::Preempted { by } => {
                    format!("preempted on {cpu} by {}", scheduling.task(by).name)
                }
            }
        }
        State::Blocked(Sleep::Uninterruptible) => "disk".to_owned(),
        State::Blocked(_) => "asleep".to_owned(),
        State::Unknown => "unknown".to_owned(),
    };
    let slices = scheduling.slices(thread, time(from), time(to));
    slices
        .map(|slice| (word(slice.state), slice.duration().0 / 1000))
        .collect()
}

pub fn words(states: &[(&str, i64)]) -> Vec<(String, i64)> {
    let owned = |(word, time): &(&str, i64)| ((*word).to_owned(), *time);
    states.iter().map(owned).collect()
}

/// A callback of thread 100 from 2 ms to 3 ms; the thread runs on CPU 1 from 1 ms on.
fn callback() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording.at(2_000_000).start(0x40).at(3_000_000).end(0x40);
    recording.cpu(1).at(1_000_000).switch(0, PREEMPTED, 100);
    recording
}

const FROM: u64 = 2_000_000;
const TO: u64 = 3_000_000;

#[test]
fn a_set_without_the_kernel_has_no_scheduling() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    let set = recording.open();
    let model = rostrace_testkit::made_up::model_of(&set);
    assert!(Scheduling::load(&set, &model, &mut |_| true).is_none());
}

#[test]
fn a_thread_that_is_preempted_waits_and_knows_for_whom() {
    let mut recording = callback();
    recording.at(2_200_000).switch(100, PREEMPTED, 7);
    recording.at(2_500_000).switch(7, ASLEEP, 100);
    recording.at(3_500_000).switch(100, ASLEEP, 0);
    let expected = [
        ("runs on 1", 200),
        ("preempted on 1 by thread7", 300),
        ("runs on 1", 500),
    ];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));
    let (model, scheduling) = load(&recording);
    let instance = &model.instances[0];
    let off = scheduling.off_cpu(instance.thread, instance.start, instance.end.unwrap());
    let expected = OffCpu {
        running: Nanos(700_000),
        waiting: Nanos(300_000),
        preemptions: 1,
        ..OffCpu::default()
    };
    assert_eq!(off, expected);
    let who: Vec<_> = scheduling
        .occupations(HostId(0), Cpu(1), time(2_200_000), time(2_600_000))
        .map(|row| {
            (
                scheduling.task(row.task.unwrap()).tid,
                row.to.0 - row.from.0,
            )
        })
        .collect();
    assert_eq!(who, [(7, 300_000), (100, 100_000)]);
}

#[test]
fn kernels_that_can_be_preempted_mark_it_with_a_bit_of_its_own() {
    for mark in [256, 1024, 2048, 4096] {
        let mut recording = callback();
        recording.at(2_200_000).switch(100, mark, 7);
        recording.at(2_500_000).switch(7, ASLEEP, 100);
        recording.at(3_500_000).switch(100, ASLEEP, 0);
        assert_eq!(
            states(&recording, 100, FROM, TO)[1],
            ("preempted on 1 by thread7".to_owned(), 300)
        );
    }
}

#[test]
fn a_thread_that_sleeps_is_blocked_until_it_is_woken() {
    let mut recording = callback();
    recording.at(2_100_000).switch(100, IN_DISK_WAIT, 0);
    recording.at(2_400_000).wakeup(100, 1);
    recording.at(2_450_000).switch(0, PREEMPTED, 100);
    recording.at(2_500_000).switch(100, ASLEEP, 0);
    recording.at(3_500_000).wakeup(100, 1);
    let expected = [
        ("runs on 1", 100),
        ("disk", 300),
        ("woken for 1", 50),
        ("runs on 1", 50),
        ("asleep", 500),
    ];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));
    let (model, scheduling) = load(&recording);
    let off = scheduling.off_cpu(thread(&model, 100), time(FROM), time(TO));
    assert_eq!((off.wakeups, off.preemptions), (1, 0));
    assert_eq!((off.blocked, off.waiting), (Nanos(800_000), Nanos(50_000)));
}

#[test]
fn a_thread_that_gets_its_cpu_late_waits_from_the_first_wake_up_on() {
    let mut recording = callback();
    recording.at(1_500_000).switch(100, ASLEEP, 7);
    recording.cpu(0).at(2_000_000).waking(100, 1);
    recording.at(2_010_000).migrate(100, 1, 0);
    recording.at(2_020_000).wakeup(100, 0);
    recording.cpu(0).at(2_700_000).switch(7, ASLEEP, 100);
    recording.at(3_500_000).switch(100, ASLEEP, 0);
    let expected = [
        ("woken for 1", 10),
        ("woken for 0", 690),
        ("runs on 0", 300),
    ];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));
    let (model, scheduling) = load(&recording);
    let latencies: Vec<_> = scheduling
        .latencies(thread(&model, 100))
        .map(|latency| (latency.ready, latency.running))
        .collect();
    assert_eq!(latencies, [(time(2_000_000), time(2_700_000))]);
    let off = scheduling.off_cpu(thread(&model, 100), time(FROM), time(TO));
    assert_eq!((off.wakeups, off.preemptions), (1, 0));
}

#[test]
fn nothing_is_known_before_the_first_and_after_the_last_event() {
    let mut recording = callback();
    recording.at(2_500_000).switch(100, ASLEEP, 0);
    recording.at(2_600_000).switch(0, PREEMPTED, 7);
    let expected = [
        ("unknown", 500),
        ("runs on 1", 1500),
        ("asleep", 100),
        ("unknown", 400),
    ];
    assert_eq!(states(&recording, 100, 500_000, TO), words(&expected));
}

#[test]
fn a_thread_that_the_kernel_does_not_tell_of_is_unknown() {
    let mut recording = callback();
    recording.process(300, "other").at(2_000_000).start(0x50);
    recording.at(3_000_000).switch(100, ASLEEP, 0);
    assert_eq!(
        states(&recording, 300, FROM, TO),
        words(&[("unknown", 1000)])
    );
    let (model, scheduling) = load(&recording);
    assert_eq!(scheduling.latencies(thread(&model, 300)).count(), 0);
}

#[test]
fn the_first_wake_up_counts_once_a_switch_shows_that_the_thread_did_not_run() {
    let mut recording = callback();
    recording
        .events
        .retain(|event| event.name != "sched_switch");
    recording.at(2_100_000).wakeup(100, 1);
    recording.at(2_400_000).switch(0, PREEMPTED, 100);
    recording.at(3_400_000).switch(100, ASLEEP, 0);
    let expected = [("unknown", 100), ("woken for 1", 300), ("runs on 1", 600)];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));

    let mut recording = callback();
    recording
        .events
        .retain(|event| event.name != "sched_switch");
    recording.at(2_100_000).wakeup(100, 1);
    recording.at(2_400_000).switch(100, ASLEEP, 0);
    recording.at(3_400_000).switch(0, PREEMPTED, 7);
    let expected = [("unknown", 400), ("asleep", 600)];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));
}

#[test]
fn a_thread_that_has_ended_is_unknown_until_its_number_is_used_again() {
    let mut recording = callback();
    recording.at(2_100_000).exit(100);
    recording.at(2_200_000).switch(100, 64, 0);
    recording.at(2_600_000).wakeup_new(100, 1);
    recording.at(2_700_000).switch(0, PREEMPTED, 100);
    recording.at(3_400_000).switch(100, ASLEEP, 0);
    let expected = [
        ("runs on 1", 200),
        ("unknown", 400),
        ("woken for 1", 100),
        ("runs on 1", 300),
    ];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));
}

#[test]
fn after_a_loss_a_thread_is_unknown_until_a_switch_tells_of_it() {
    let mut recording = callback();
    recording.at(2_350_000).switch(100, ASLEEP, 7);
    recording.at(2_700_000).switch(7, ASLEEP, 100);
    recording.at(3_500_000).switch(100, ASLEEP, 0);
    recording.lose_of_kernel(2_300_000, 2_500_000);
    let expected = [("runs on 1", 300), ("unknown", 400), ("runs on 1", 300)];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));
}

#[test]
fn a_loss_on_another_cpu_does_not_hide_who_runs_here_but_who_sleeps() {
    let mut recording = callback();
    recording.cpu(0).at(1_000_000).switch(0, PREEMPTED, 7);
    recording.at(3_600_000).switch(7, ASLEEP, 0);
    recording.cpu(1).at(2_600_000).switch(100, ASLEEP, 0);
    recording.at(3_500_000).switch(0, PREEMPTED, 100);
    recording.cpu(0).lose_of_kernel(2_300_000, 2_700_000);
    let expected = [("runs on 1", 600), ("unknown", 400)];
    assert_eq!(states(&recording, 100, FROM, TO), words(&expected));
}

#[test]
fn what_user_space_loses_is_no_loss_of_scheduling() {
    let mut recording = callback();
    recording.at(3_500_000).switch(100, ASLEEP, 0);
    recording.lose(2_300_000, 2_500_000);
    assert_eq!(
        states(&recording, 100, FROM, TO),
        words(&[("runs on 1", 1000)])
    );
}

#[test]
fn threads_of_different_hosts_have_nothing_in_common() {
    let mut recording = callback();
    recording.at(3_500_000).switch(100, ASLEEP, 0);
    recording.host("other").cpu(1);
    recording.at(2_500_000).switch(100, ASLEEP, 0);
    recording.at(3_500_000).switch(0, PREEMPTED, 100);
    assert_eq!(
        states(&recording, 100, FROM, TO),
        words(&[("runs on 1", 1000)])
    );
}

#[test]
fn a_thread_in_a_container_is_found_by_the_list_of_processes() {
    let mut recording = callback();
    recording
        .events
        .retain(|event| event.name != "sched_switch");
    recording.at(1_000_000).in_container(9100, 100, 100);
    recording.at(1_500_000).switch(0, PREEMPTED, 9100);
    recording.at(3_500_000).switch(9100, ASLEEP, 0);
    assert_eq!(
        states(&recording, 100, FROM, TO),
        words(&[("runs on 1", 1000)])
    );
}

#[test]
fn where_the_end_of_a_file_is_missing_only_other_cpus_are_known() {
    let mut recording = callback();
    recording.process(300, "other").at(2_000_000).start(0x50);
    for number in 0..20 {
        let at = 2_200_000 + number * 10_000;
        recording.cpu(1).at(at).switch(100, PREEMPTED, 7);
        recording.at(at + 5_000).switch(7, PREEMPTED, 100);
    }
    recording.cpu(0).at(2_000_000).switch(0, PREEMPTED, 300);
    recording.at(3_500_000).switch(300, ASLEEP, 0);
    let folder = tempfile::tempdir().unwrap();
    recording.save(folder.path());
    let path = folder.path().join("host0_kernel/ros2_01");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..700]).unwrap();
    let set = TraceSet::open(&[folder.path()]).unwrap();
    assert!(set.damage.iter().any(|damage| damage.kind.is_loss()));
    let (model, scheduling) = load_set(&set);
    let off = |tid: i64| scheduling.off_cpu(thread(&model, tid), time(FROM), time(TO));
    assert_eq!(off(100).unknown, Nanos(1_000_000));
    assert_eq!(off(300).running, Nanos(1_000_000));
}

#[test]
fn where_events_cannot_be_decoded_nothing_of_their_cpu_is_claimed() {
    let mut recording = callback();
    recording.process(300, "other").at(2_000_000).start(0x50);
    recording.cpu(1).at(2_200_000).switch(100, PREEMPTED, 7);
    recording.at(2_300_000).switch(7, PREEMPTED, 100);
    recording.cpu(0).at(2_000_000).switch(0, PREEMPTED, 300);
    for number in 0..4 {
        let at = 2_400_000 + number * 100_000;
        recording.at(at).wakeup(9, 0);
    }
    recording.at(3_500_000).switch(300, ASLEEP, 0);
    let folder = tempfile::tempdir().unwrap();
    recording.save(folder.path());
    let path = folder.path().join("host0_kernel/ros2_01");
    let mut bytes = fs::read(&path).unwrap();
    // The id of the last event becomes one that does not exist.
    let name = b"thread7\0";
    let last = bytes
        .windows(name.len())
        .rposition(|text| text == name)
        .unwrap();
    bytes[last - 10..last].fill(0x7f);
    fs::write(&path, &bytes).unwrap();
    let set = TraceSet::open(&[folder.path()]).unwrap();
    let (model, scheduling) = load_set(&set);
    let off = |tid: i64| scheduling.off_cpu(thread(&model, tid), time(FROM), time(TO));
    assert_eq!(off(300).running, Nanos(1_000_000));
    let after = scheduling.off_cpu(thread(&model, 100), time(2_600_000), time(TO));
    assert_eq!(after.unknown, Nanos(400_000));
}
