//! Who may have been held up by a standstill: executions that were due while their thread had nothing to do, and executions that took far longer than they usually do.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackId, ExecutorId, InstanceId, ThreadId};
use rostrace_model::scheduling::{Sleep, State};

use super::NOTICEABLE;
use crate::analysis::Analysis;
use crate::callback::{InstanceTiming, instance_timings};
use crate::execution_time::ExecutionTime;
use crate::timer::first_sign;

named! {
    /// How something was held up.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Held {
        /// It was due, and its thread did not begin with it.
        Waiting = "waiting",
        /// It had begun, and did not go on.
        Executing = "executing",
    }
}

/// What can be held up by itself: of the threads of one executor only one waits for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HeldUpUnit {
    Executor(ExecutorId),
    Thread(ThreadId),
}

#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) instance: InstanceId,
    pub(super) thread: ThreadId,
    pub(super) unit: HeldUpUnit,
    pub(super) held: Held,
    /// From when it was due, or began, to when it began, or ended.
    pub(super) begin: Nanos,
    pub(super) end: Nanos,
    /// How much of that is usual.
    usual: i64,
}

impl Candidate {
    /// Whether it was so for most of the time that it took longer than usual.
    pub(super) fn is_held_up(&self, begin: Nanos, end: Nanos) -> bool {
        let common = self.end.min(end).0 - self.begin.max(begin).0;
        let excess = self.end.0 - self.begin.0 - self.usual;
        common >= NOTICEABLE.max(2 * self.usual) && 2 * common >= excess
    }
}

/// In the order of their ends.
pub(super) fn candidates(analysis: &Analysis<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for callback in (0..analysis.model.callbacks.len()).map(CallbackId::from_index) {
        of_callback(analysis, callback, &mut found);
    }
    found.sort_by_key(|it| (it.end, it.instance));
    found
}

fn of_callback(analysis: &Analysis<'_>, callback: CallbackId, found: &mut Vec<Candidate>) {
    let timings = instance_timings(analysis, callback);
    let due: Vec<Option<Nanos>> = timings.iter().map(|it| due(analysis, it)).collect();
    let row = |timing: &InstanceTiming| analysis.instance(timing.instance);
    let waits = timings.iter().zip(&due);
    let waits = waits.filter_map(|(it, due)| Some(row(it).start.0 - (*due)?.0));
    let usual_wait = median(waits.collect());
    let durations = timings.iter().filter_map(|it| {
        let row = row(it);
        Some(row.end?.0 - row.start.0)
    });
    let usual_duration = median(durations.collect());
    let executor = analysis.executor_of(callback);
    for (timing, due) in timings.iter().zip(due) {
        let (instance, row) = (timing.instance, row(timing));
        let thread = row.thread;
        let mut add = |held: Held, begin: Nanos, end: Nanos, usual: i64| {
            if end.0 - begin.0 - usual < NOTICEABLE {
                return;
            }
            let unit = match (held, executor) {
                (Held::Waiting, Some(executor)) => HeldUpUnit::Executor(executor),
                _ => HeldUpUnit::Thread(thread),
            };
            found.push(Candidate {
                instance,
                thread,
                unit,
                held,
                begin,
                end,
                usual,
            });
        };
        if let Some(due) = due.filter(|due| row.start.0 - due.0 - usual_wait >= NOTICEABLE) {
            // What did not spin yet was not held up.
            let due = due.max(Nanos(first_sign(analysis, thread)));
            let activities = analysis.activities();
            let spans = activities.spans(thread, due, row.start);
            for idle in spans.filter(|it| it.activity.is_idle()) {
                add(Held::Waiting, idle.begin, idle.end, usual_wait);
            }
        }
        if let Some(end) = row
            .end
            .filter(|_| !ran(analysis, instance) && !slept(analysis, instance))
        {
            add(Held::Executing, row.start, end, usual_duration);
        }
    }
}

/// When something had to be done that was done by an execution: a timer was due, or a message was with the middleware.
fn due(analysis: &Analysis<'_>, timing: &InstanceTiming) -> Option<Nanos> {
    if let Some(firing) = &timing.firing {
        return Some(firing.expected);
    }
    let delivery = analysis.received_by(timing.instance)?;
    let arrival = analysis.arrival(delivery)?;
    let model = analysis.model;
    let publication = analysis.publication(analysis.delivery(delivery).publication);
    let sender = model.process_of(publication.thread);
    let receiver = model.process_of(analysis.instance(timing.instance).thread);
    (!arrival.historical && model.have_one_clock(sender, receiver)).then_some(arrival.handed)
}

/// Whether the trace tells that an execution had a CPU for most of its time: then it took as long by itself.
fn ran(analysis: &Analysis<'_>, instance: InstanceId) -> bool {
    let row = analysis.instance(instance);
    let Some((time, end)) = ExecutionTime::of(analysis, instance).zip(row.end) else {
        return false;
    };
    2 * time.running.0 > end.0 - row.start.0
}

/// Whether the kernel tells that an execution computed and slept for most of its time: it waited for something of its own then, a lock or an answer
/// or time to pass, and nothing kept it from going on. A disk may keep a whole machine waiting, and a stop a whole process.
fn slept(analysis: &Analysis<'_>, instance: InstanceId) -> bool {
    let row = analysis.instance(instance);
    let Some((scheduling, end)) = analysis.scheduling.as_ref().zip(row.end) else {
        return false;
    };
    let own = scheduling
        .slices(row.thread, row.start, end)
        .filter(|slice| {
            matches!(
                slice.state,
                State::Running { .. } | State::Blocked(Sleep::Interruptible | Sleep::Unspecified)
            )
        });
    let own: i64 = own.map(|slice| slice.to.0 - slice.from.0).sum();
    2 * own > end.0 - row.start.0
}

/// Nothing if there are none.
fn median(mut values: Vec<i64>) -> i64 {
    if values.is_empty() {
        return 0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1
}
