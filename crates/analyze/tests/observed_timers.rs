//! When timers were due: against the log of real programs, and against schedules that follow rcl's rule.

use std::collections::HashMap;

use proptest::prelude::*;
use rostrace_analyze::callback::summaries;
use rostrace_analyze::timer::{Basis, firings};
use rostrace_model::entity::TimerId;

use crate::observed::system::Tape;
use crate::observed::truth::{Log, logs};
use crate::observed::{Recorded, recordings, whole};
use crate::support::Payload::{Pointer, Unsigned};
use crate::support::recording::EPOCH;
use crate::support::{Recording, time};

/// rcl's timer: due on a grid that a reset moves; what is behind skips to the first point that has not passed.
#[derive(Debug, Clone, Copy)]
struct RclTimer {
    next: i64,
    period: i64,
}

impl RclTimer {
    /// When the firing that is called now was due.
    fn call(&mut self, now: i64) -> i64 {
        let due = self.next;
        self.next += self.period;
        while self.next < now {
            self.next += self.period;
        }
        due
    }
}

/// By handle and creation: what the log tells of the timers of a process.
fn moves(log: &Log) -> HashMap<u64, Vec<(i64, i64)>> {
    let mut handles: HashMap<&str, (u64, i64)> = HashMap::new();
    let mut moves: HashMap<u64, Vec<(i64, i64)>> = HashMap::new();
    for line in &log.lines {
        match line.kind.as_str() {
            "timer" => {
                let handle = line.named("handle").unwrap();
                let handle = u64::from_str_radix(handle.trim_start_matches("0x"), 16).unwrap();
                let period = line.named("period_ns").unwrap().parse().unwrap();
                handles.insert(&line.words[0], (handle, period));
                moves.entry(handle).or_default().push((line.at, period));
            }
            "timer_reset" => {
                let (handle, period) = handles[line.words[0].as_str()];
                moves.get_mut(&handle).unwrap().push((line.at, period));
            }
            _ => {}
        }
    }
    moves
}

/// By how much each expected time is later than the truth. What is late is reported as less late then.
fn errors(recorded: &Recorded) -> Vec<i64> {
    let model = &recorded.model;
    let analysis = whole(model);
    let mut errors = Vec::new();
    let all = logs(recorded);
    for (index, timer) in model.timers.iter().enumerate() {
        let pid = model.processes[timer.process.index()].pid;
        let Some(log) = all.iter().find(|log| log.pid == pid) else {
            continue;
        };
        let moves = moves(log);
        let Some(moves) = moves.get(&timer.handle.0) else {
            continue;
        };
        // The log tells of a creation after it, at times long after; the event of the trace is closer to it.
        let creation = moves.iter().map(|it| it.0);
        let creation = creation.filter(|at| *at >= timer.created.0).min();
        assert!(creation.is_some_and(|at| at - timer.created.0 < 20_000_000));
        let precise = |at: i64| match Some(at) == creation {
            true => timer.created.0,
            false => at,
        };
        let mut rcl: Option<RclTimer> = None;
        let mut moves = moves.iter().peekable();
        let mut found = firings(&analysis, TimerId::from_index(index))
            .into_iter()
            .peekable();
        let runs = timer
            .callback
            .map_or(&[][..], |it| analysis.instances_of(it));
        for id in runs {
            // Nothing is said of some.
            let firing = found.next_if(|firing| firing.instance == *id);
            let start = analysis.instance(*id).start.0;
            let mut moved = rcl.is_none();
            while let Some((at, period)) = moves.next_if(|(at, _)| *at < start) {
                moved = true;
                rcl = Some(RclTimer {
                    next: precise(*at) + period,
                    period: *period,
                });
            }
            let Some(rcl) = &mut rcl else { continue };
            // A firing before its time shows that even the event of the creation was late.
            rcl.next = rcl.next.min(start);
            let due = rcl.call(start);
            // Nothing is said of the time before the executor spins, nor of what was created before the recording.
            if moved && start - due > rcl.period {
                continue;
            }
            let Some(firing) = firing else { continue };
            assert_eq!(firing.expected.0 + firing.lateness, start);
            assert!(firing.lateness >= 0);
            errors.push(firing.expected.0 - due);
        }
    }
    errors
}

#[test]
fn firings_are_due_when_the_log_says() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for name in recordings() {
        // Without the creations there is nothing to compare with.
        if name.contains("lossy") || name == "jazzy/late" {
            continue;
        }
        let recorded = Recorded::open(&name).unwrap();
        let errors = errors(&recorded);
        compared += errors.len();
        // Resets that move a grid by less are not noticed. Between the event of a creation, or the log of a reset, and what they
        // tell of, the thread may also be preempted.
        let beyond = errors.iter().filter(|error| error.abs() > 500_000);
        wrong.extend(beyond.map(|error| (name.clone(), *error)));
    }
    assert_eq!(wrong, [], "of {compared}");
}

const PERIOD: i64 = 10_000_000;

/// A node with one timer, whose callback is 0x70.
fn with_timer() -> Recording {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.timer(0x60, 2, PERIOD, 0x70);
    recording
}

#[test]
fn a_timer_that_waits_for_another_callback_is_late_by_that() {
    let mut recording = with_timer();
    let created = 1_002_000;
    for k in 1..=6u64 {
        recording.at(created + k * 10_000_000 + if k == 3 { 4_000_000 } else { 5_000 });
        recording.run(0x70);
    }
    let model = recording.load();
    let all = firings(&whole(&model), TimerId(0));
    let late: Vec<i64> = all.iter().map(|firing| firing.lateness).collect();
    assert_eq!(late, [0, 5_000, 4_000_000, 5_000, 5_000, 5_000]);
    assert_eq!(model.timers[0].created, time(created));
    assert!(all.iter().all(|firing| firing.basis == Basis::Creation));
}

#[test]
fn firings_in_a_lost_time_do_not_make_the_next_one_late() {
    let mut recording = with_timer();
    for k in 1..=9u64 {
        recording.at(1_002_000 + k * 10_000_000 + 5_000).run(0x70);
    }
    let intact = recording.load();
    recording.lose(25_000_000, 65_000_000);
    let damaged = recording.load();
    let late = |model| {
        let all = firings(&whole(model), TimerId(0));
        let late = all.iter().map(|firing| (firing.lateness, firing.skipped));
        late.max()
    };
    assert_eq!(late(&intact), Some((5_000, 0)));
    assert_eq!(late(&damaged), Some((5_000, 0)));
}

/// A timer on a thread that another callback keeps busy now and then, also for several periods; the timer is reset before the
/// firings of these numbers. Returns also when each firing was due.
fn schedule(tape: &mut Tape, with_phases: bool, resets: &[usize]) -> (Recording, Vec<i64>) {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    let mut rcl = RclTimer {
        next: recording.now() as i64 + PERIOD,
        period: PERIOD,
    };
    recording.timer(0x60, 2, PERIOD, 0x70);
    recording.subscription(0x20, 2, "/a", 0x30);
    let mut free = recording.now() as i64;
    let mut dues = Vec::new();
    for number in 0..80 {
        if resets.contains(&number) {
            rcl.next = free + i64::from(tape.below(9_000)) * 1_000 + PERIOD;
        }
        if with_phases {
            recording.at(free as u64 + 1_000).wait_for_work();
        }
        free += 3_000;
        if tape.below(3) == 0 {
            let begin = free.max(rcl.next - i64::from(tape.below(5_000)) * 1_000);
            free = begin + i64::from(tape.below(30_000)) * 1_000 + 2_000;
            recording.run_between(begin as u64, free as u64, 0x30);
            free += 3_000;
        }
        let woken = rcl.next + 5_000 + i64::from(tape.below(140)) * 1_000;
        let start = woken.max(free);
        dues.push(EPOCH + rcl.call(start));
        free = start + 20_000;
        recording.run_between(start as u64, free as u64, 0x70);
        free += 1_000;
    }
    (recording, dues)
}

#[test]
fn a_timer_by_simulated_time_is_not_late_because_the_simulation_is_slow() {
    let mut recording = Recording::jazzy();
    recording.process_of(100, "simulated", (0x10, "/n"));
    recording.timer(0x20, 0x10, 20_000_000, 0x30);
    recording.event(
        "rostrace:rcl_timer_clock",
        &[("timer_handle", Pointer(0x20)), ("clock_type", Unsigned(1))],
    );
    // Half as fast as the system's clock.
    for number in 1..=10 {
        let simulated = number * 20_000_000;
        recording.at(2 * simulated);
        recording.event("ros2_caret:sim_time", &[("stamp", Unsigned(simulated))]);
        recording.run(0x30);
    }
    let model = recording.load();
    let analysis = whole(&model);
    assert_eq!(firings(&analysis, TimerId(0)).len(), 0);
    let summary = &summaries(&analysis)[0];
    assert_eq!(summary.count, 10);
    assert!(summary.jitter.is_none() && summary.lateness.is_none());
    assert_eq!(summary.skipped, 0);
    // A share of the period that was observed.
    assert!(
        summary
            .worst_over_period(&analysis)
            .is_some_and(|it| it < 0.01)
    );
}

/// By how much the expected times are wrong.
fn differences(recording: &Recording, dues: &[i64]) -> Vec<i64> {
    let model = recording.load();
    let all = firings(&whole(&model), TimerId(0));
    assert_eq!(all.len(), dues.len());
    assert!(all.iter().all(|firing| firing.lateness >= 0));
    let differences = all.iter().zip(dues).skip(1);
    differences
        .map(|(firing, due)| firing.expected.0 - due)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_resets_every_firing_is_due_when_rcl_says(
        tape in prop::collection::vec(any::<u32>(), 0..400),
        with_phases: bool,
    ) {
        let (recording, dues) = schedule(&mut Tape::of(tape), with_phases, &[]);
        let wrong: Vec<i64> = differences(&recording, &dues).into_iter().filter(|it| *it != 0).collect();
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
    }
}

/// A random tape that is the same in every run.
fn tape(seed: u64) -> Tape {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let numbers = (0..400).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    });
    Tape::of(numbers.collect())
}

/// No event tells of a reset: nine firings are asked whether the grid has moved, after each of the two, and a thread that is busy for several
/// periods again and again hides it for longer. So this is no rule for each schedule, but one for many: the same ones in every run.
#[test]
fn resets_are_noticed_from_the_firings_that_follow() {
    const SCHEDULES: usize = 300;
    for with_phases in [false, true] {
        let mut wrong: Vec<usize> = (0..SCHEDULES)
            .map(|seed| {
                let (recording, dues) = schedule(&mut tape(seed as u64), with_phases, &[25, 50]);
                let differences = differences(&recording, &dues).into_iter();
                differences.filter(|it| it.abs() > 600_000).count()
            })
            .collect();
        wrong.sort_unstable();
        let all: usize = wrong.iter().sum();
        assert!(
            all <= 6 * SCHEDULES,
            "{all} firings of {SCHEDULES} schedules"
        );
        // One of them hides a reset for longer.
        assert!(wrong[SCHEDULES - 2] <= 20, "{wrong:?}");
        assert!(wrong[SCHEDULES - 1] <= 25, "{wrong:?}");
    }
}

/// Two threads of one node, as of a multi-threaded executor without phases: a timer of 10 ms, and another callback that runs every 10 ms for 1 ms.
fn on_two_threads(pause: std::ops::Range<u64>, with_companion: bool) -> Recording {
    let mut recording = with_timer();
    recording.subscription(0x20, 2, "/a", 0x30);
    let created = 1_002_000;
    for k in 1..=400u64 {
        let thread = if k % 2 == 0 { 1 } else { 7 };
        if !pause.contains(&k) {
            recording.thread(thread);
            recording.at(created + k * 10_000_000 + 5_000);
            recording.run(0x70);
        }
        if with_companion {
            recording.thread(8 - thread).run_between(
                created + k * 10_000_000 + 4_000_000,
                created + k * 10_000_000 + 5_000_000,
                0x30,
            );
        }
    }
    recording
}

#[test]
fn a_timer_that_was_not_set_is_not_late_because_others_ran_meanwhile() {
    let model = on_two_threads(100..300, true).load();
    let all = firings(&whole(&model), TimerId(0));
    assert_eq!(all.len(), 200);
    let worst = all.iter().map(|firing| firing.lateness).max();
    assert!(worst < Some(PERIOD), "{worst:?}");
    assert!(all.iter().all(|firing| firing.skipped == 0));
}

#[test]
fn nothing_is_said_of_a_long_silence_that_nothing_explains() {
    let model = on_two_threads(100..300, false).load();
    let analysis = whole(&model);
    let all = firings(&analysis, TimerId(0));
    // The one after the pause has no lateness, all others have.
    assert_eq!(all.len(), 199);
    let summary = &summaries(&analysis)[0];
    assert_eq!((summary.count, summary.skipped), (200, 0));
    assert!(summary.lateness.is_some_and(|it| it.max < 1_000_000));
}

#[test]
fn a_thread_that_was_busy_makes_a_timer_late_however_long() {
    let mut recording = with_timer();
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.at(11_010_000).run(0x70);
    recording.run_between(12_000_000, 512_000_000, 0x30);
    recording.at(512_010_000).run(0x70);
    let model = recording.load();
    let all = firings(&whole(&model), TimerId(0));
    assert_eq!(all.len(), 2);
    assert!(all[1].lateness > 490_000_000, "{all:?}");
}

#[test]
fn a_timer_of_a_node_that_listens_to_the_clock_has_no_lateness() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n").node(3, "/other");
    recording.timer(0x60, 2, PERIOD, 0x70);
    recording.timer(0x61, 3, PERIOD, 0x71);
    recording.subscription(0x20, 2, "/clock", 0x30);
    for k in 1..=10u64 {
        recording.at(k * 25_000_000).run(0x70).run(0x71);
    }
    // A clock that never says anything moves no timer: this one goes by the system's.
    let model = recording.load();
    assert!(!firings(&whole(&model), TimerId(0)).is_empty());
    recording.at(300_000_000).run(0x30);
    let model = recording.load();
    let analysis = whole(&model);
    assert!(firings(&analysis, TimerId(0)).is_empty());
    assert!(!firings(&analysis, TimerId(1)).is_empty());
    let sentence = rostrace_analyze::sim_time::sentence(&model).unwrap();
    assert!(sentence.contains("1 timer of 1 node"), "{sentence}");
}
