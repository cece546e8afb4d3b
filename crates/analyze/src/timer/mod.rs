//! When a timer should have fired, and how late it was.
//!
//! It is due on a `grid`, which is found from what was observed; `evidence` shows when a timer cannot have been due, or that nobody knows.

mod evidence;
mod grid;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackId, InstanceId, ThreadId, TimerId};

use crate::analysis::Analysis;
use evidence::Witnesses;
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

named! {
    /// How the expected time is known.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Basis {
        /// From the creation of the timer, one period after the other.
        Creation = "creation",
        /// From earlier firings of the timer: its creation is not in the trace, or the grid has moved since.
        Firings = "firings",
    }
}

/// A year: who gives a timer a longer period means that it is never to fire.
const LONGEST_PERIOD: i64 = 365 * 86_400 * 1_000_000_000;

/// The firings of a timer in the order of time, without those of which nothing tells when they were due; none if its period is not known, or is one
/// of simulated time.
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
    // A creation that was reported again later, when a recording began, keeps its time; one that lies after the first firing
    // is none.
    let created = Some(timer.created.0).filter(|created| starts.first() > Some(created));
    let thread = |number: usize| analysis.instance(instances[number]).thread;
    let witnesses = Witnesses::of(analysis, timer, callback);
    let evidence = Evidence {
        // Firings of it may be missing before this one.
        uncertain: |number: usize| {
            let before = number.checked_sub(1).map(|before| starts[before]);
            let since = before.or(created).unwrap_or(starts[number]);
            analysis.is_damaged(Nanos(since), Nanos(starts[number]))
        },
        not_due_until: |number: usize, due: i64| witnesses.not_due_until(due, starts[number]),
        silent: |number: usize, due: i64| witnesses.is_silent(thread(number), due, starts[number]),
        idle: |number: usize, due: i64| {
            let (due, start) = (Nanos(due), Nanos(starts[number]));
            analysis.activities().idle(thread(number), due, start)
        },
    };
    let expected = expectations(&starts, timer.period.0, created, &evidence);
    let executing = first_execution(analysis, callback);
    let rows = instances.iter().zip(&starts).zip(expected);
    let rows = rows.filter(|(_, due)| due.is_known);
    let firings = rows.map(|((instance, start), due)| {
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
    });
    // Of what was due in a pause between two recordings nobody knows what it waited for.
    let is_recorded = |firing: &Firing| {
        let start = analysis.instance(firing.instance).start;
        model.losses.paused(firing.expected, start) == 0
    };
    firings.filter(is_recorded).collect()
}

/// When a thread began to execute: before that nothing on it can be late.
pub(crate) fn first_sign(analysis: &Analysis<'_>, thread: ThreadId) -> i64 {
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
