//! When timers were due: against the log of real programs, and against schedules that follow rcl's rule.

#![allow(clippy::unwrap_used)]

mod observed;
#[path = "../../trace/tests/support/mod.rs"]
mod support;

use std::collections::HashMap;

use observed::truth::{Log, logs};
use observed::{Recorded, recordings, whole};
use proptest::prelude::*;
use rostrace_analyze::timer::{Basis, firings};
use rostrace_trace::entity::TimerId;
use support::{Recording, time};

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

#[derive(Debug, Default)]
struct Score {
    firings: usize,
    /// Told as later than it was, and as earlier, by more than the tolerance.
    too_late: usize,
    too_early: usize,
    worst: i64,
}

fn score(recorded: &Recorded) -> Score {
    let model = &recorded.model;
    let analysis = whole(model);
    let mut score = Score::default();
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
        let mut rcl: Option<RclTimer> = None;
        let mut moves = moves.iter().peekable();
        for firing in firings(&analysis, TimerId::from_index(index)) {
            let start = firing.expected.0 + firing.lateness;
            let mut moved = rcl.is_none();
            while let Some((at, period)) = moves.next_if(|(at, _)| *at < start) {
                moved = true;
                rcl = Some(RclTimer {
                    next: at + period,
                    period: *period,
                });
            }
            let Some(rcl) = &mut rcl else { continue };
            let due = rcl.call(start);
            // Nothing is said of the time before the executor spins, nor of what was created before the recording.
            if moved && start - due > rcl.period {
                continue;
            }
            score.firings += 1;
            let tolerance = (rcl.period / 50).clamp(100_000, 300_000);
            let wrong = due - firing.expected.0;
            if wrong > tolerance {
                score.too_late += 1;
            } else if wrong < -tolerance {
                score.too_early += 1;
            }
            if wrong.abs() > score.worst.abs() {
                score.worst = wrong;
            }
        }
    }
    score
}

#[test]
fn firings_are_due_when_the_log_says() {
    for name in recordings() {
        if name.contains("lossy") {
            continue;
        }
        let recorded = Recorded::open(&name).unwrap();
        let score = score(&recorded);
        eprintln!("{name}: {score:?}");
    }
}

const PERIOD: i64 = 10_000_000;

#[test]
fn a_timer_that_waits_for_another_callback_is_late_by_that() {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.timer(0x60, 2, PERIOD, 0x70);
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
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/n");
    recording.timer(0x60, 2, PERIOD, 0x70);
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
