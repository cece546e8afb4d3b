//! When a timer should have fired, and how late it was.
//!
//! It is due on a `grid`, which is found from what was observed. Where the phases of the executor are in the trace, they show when a timer cannot
//! have been due; else other timers may.

mod grid;

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::{CallbackId, InstanceId, PhaseId, ThreadId, Timer, TimerId};
use rostrace_trace::flow::{ExecutorPhase, PhaseKind};

use crate::analysis::Analysis;
use grid::{Evidence, expectations};

/// One execution of a timer's callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Firing {
    pub instance: InstanceId,
    /// When it was due.
    pub expected: Nanos,
    /// From then to the start of the callback.
    pub lateness: i64,
    /// Firings that were due since the one before and never happened.
    pub skipped: u64,
    pub basis: Basis,
}

/// How the expected time is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// From the creation of the timer, one period after the other.
    Creation,
    /// From earlier firings of the timer: its creation is not in the trace, or the grid has moved since.
    Firings,
}

impl Basis {
    pub fn name(self) -> &'static str {
        match self {
            Basis::Creation => "creation",
            Basis::Firings => "firings",
        }
    }
}

/// A year: who gives a timer a longer period means that it is never to fire.
const LONGEST_PERIOD: i64 = 365 * 86_400 * 1_000_000_000;

/// The firings of a timer in the order of time; none if its period is not known, or is one of simulated time.
pub fn firings(analysis: &Analysis<'_>, timer: TimerId) -> Vec<Firing> {
    let model = analysis.model;
    let timer = &model.timers[timer.index()];
    let Some(callback) = timer.callback.filter(|_| {
        let period = timer.system_period();
        period.is_some_and(|period| (1..=LONGEST_PERIOD).contains(&period.0))
    }) else {
        return Vec::new();
    };
    let instances = analysis.instances_of(callback);
    let starts: Vec<i64> = instances
        .iter()
        .map(|instance| analysis.instance(*instance).start.0)
        .collect();
    // A creation that was told again later, when a recording began, keeps its time; one that lies after the first firing
    // is none.
    let created = Some(timer.created.0).filter(|created| starts.first() > Some(created));
    let alone = analysis.runs_alone(callback);
    let thread = |number: usize| analysis.instance(instances[number]).thread;
    let companions = companions(analysis, timer).filter(|_| alone);
    let companions: Vec<CallbackId> = companions.collect();
    let evidence = Evidence {
        // Firings of it may be missing before this one.
        uncertain: |number: usize| {
            let before = number.checked_sub(1).map(|before| starts[before]);
            let since = before.or(created).unwrap_or(starts[number]);
            analysis.is_damaged(Nanos(since), Nanos(starts[number]))
        },
        not_due_until: |number: usize, due: i64| {
            if !alone {
                return None;
            }
            let start = starts[number];
            let by_phases = not_due_until(analysis, thread(number), due, start);
            let is_long = start.saturating_sub(due) > timer.period.0;
            let by_others = || others_fired(analysis, &companions, due, start);
            by_phases.or_else(|| by_others().filter(|_| is_long))
        },
        idle: |number: usize, due: i64| {
            let (due, start) = (Nanos(due), Nanos(starts[number]));
            analysis.activity().idle(thread(number), due, start)
        },
    };
    let expected = expectations(&starts, timer.period.0, created, &evidence);
    let executing = first_execution(analysis, callback);
    let rows = instances.iter().zip(&starts).zip(expected);
    rows.map(|((instance, start), due)| {
        let spinning = first_sign(analysis, analysis.instance(*instance).thread);
        let spinning = spinning.min(executing);
        let expected = due.at.max(spinning.min(*start));
        Firing {
            instance: *instance,
            expected: Nanos(expected),
            lateness: start - expected,
            skipped: due.skipped,
            basis: due.basis,
        }
    })
    .collect()
}

/// When a thread began to execute: before that nothing on it can be late.
fn first_sign(analysis: &Analysis<'_>, thread: ThreadId) -> i64 {
    let phase = analysis.phases_on(thread).first();
    let instance = analysis.instances_on(thread).first();
    let phase = phase.map(|id| analysis.model.phases[id.index()].time.0);
    let instance = instance.map(|id| analysis.instance(*id).start.0);
    let signs = phase.into_iter().chain(instance);
    signs.min().unwrap_or(i64::MIN)
}

/// When the executor of a callback first ran one, on any of its threads. Where the trace does not tell the executor, only the thread says
/// when it spins.
fn first_execution(analysis: &Analysis<'_>, callback: CallbackId) -> i64 {
    let Some(executor) = analysis.executor_of(callback) else {
        return i64::MAX;
    };
    let groups = analysis.model.callback_groups.iter();
    let groups = groups.filter(|group| group.executor == Some(executor));
    let first = groups
        .flat_map(|group| &group.callbacks)
        .filter_map(|callback| analysis.instances_of(*callback).first());
    let starts = first.map(|instance| analysis.instance(*instance).start.0);
    starts.min().unwrap_or(i64::MAX)
}

/// An executor that began to wait for work twice since a timer was due, and did not run it, shows that the timer was not due: it
/// had been cancelled or reset. It was not before the last of these waits ended. Waits inside of callbacks are those of another
/// executor.
fn not_due_until(analysis: &Analysis<'_>, thread: ThreadId, due: i64, start: i64) -> Option<i64> {
    let phase = |id: &PhaseId| analysis.model.phases[id.index()];
    let phases = analysis.phases_on(thread);
    let before = phases.partition_point(|id| phase(id).time.0 < start);
    let after = phases.partition_point(|id| phase(id).time.0 <= due);
    let since = phases.get(after..before)?;
    let is_wait = |id: &&PhaseId| {
        let ExecutorPhase { kind, time, .. } = phase(id);
        kind == PhaseKind::WaitForWork && !runs_callback(analysis, thread, time)
    };
    since.iter().rev().filter(is_wait).nth(1)?;
    let last = since.iter().rposition(|id| is_wait(&id))?;
    let ended = since.get(last + 1).map(|id| phase(id).time.0);
    Some(ended.unwrap_or(start))
}

/// The other timers of the node of one.
fn companions<'a>(
    analysis: &'a Analysis<'_>,
    timer: &'a Timer,
) -> impl Iterator<Item = CallbackId> {
    let others = analysis.model.timers.iter().filter(move |other| {
        let same = (other.process, other.node) == (timer.process, timer.node);
        same && other.node.is_some() && other.callback != timer.callback
    });
    others.filter_map(|other| other.callback)
}

/// Where an executor tells no phases, the node's other timers do: each fires once between two looks for work, so that one that
/// fired three times saw the executor look twice. It was not due before the last of these firings.
fn others_fired(
    analysis: &Analysis<'_>,
    companions: &[CallbackId],
    due: i64,
    start: i64,
) -> Option<i64> {
    let last = |callback: &CallbackId| {
        let instances = analysis.instances_of(*callback);
        let starts = |id: &InstanceId| analysis.instance(*id).start.0;
        let after = instances.partition_point(|id| starts(id) <= due);
        let before = instances.partition_point(|id| starts(id) < start);
        let since = instances.get(after..before)?;
        (since.len() > 2).then(|| since.last().map(starts))?
    };
    companions.iter().filter_map(last).max()
}

fn runs_callback(analysis: &Analysis<'_>, thread: ThreadId, at: Nanos) -> bool {
    let activity = analysis.activity();
    let mut now = activity.segments(thread, at, Nanos(at.0 + 1));
    now.any(|segment| segment.doing.is_callback())
}
