//! Executions split by the CPU clock of their thread, where no context switches tell more: how long each part is is known, but not where in
//! the execution it was. They are reported one after the other, as sums. A call of `publish` is a part of an execution.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, LockWaitId};
use rostrace_model::flow::OffCpuReason;

use super::cause::{ByClock, Cause};
use super::part::Part;
use crate::analysis::Analysis;
use crate::execution_time::{ExecutionTime, Source};

/// A part in which a callback ran, or published, split. Where the part is not all of the execution, only what must lie in it whenever it was is
/// said, and the rest stays what it is.
pub(super) fn by_clock(analysis: &Analysis<'_>, part: &Part) -> Vec<Part> {
    let whole = vec![*part];
    let instance = match part.cause {
        Cause::Execution(instance) => Some(instance),
        // In the midst of a callback, as a rule.
        Cause::Publishing => (part.thread).and_then(|it| analysis.execution_at(it, part.begin)),
        _ => None,
    };
    let Some(instance) = instance else {
        return whole;
    };
    let Some(measured) = analysis.model.measured_execution(instance) else {
        return whole;
    };
    let Some(time) = ExecutionTime::of(analysis, instance) else {
        return whole;
    };
    let length = part.duration();
    let row = analysis.instance(instance);
    let is_inside = row.end.is_some_and(|end| part.end <= end);
    if time.source != Source::ThreadClock || length <= 0 || !is_inside {
        return whole;
    }
    // Waits for locks are parts of their own, and no parts of this one.
    let locks = Locks::during(analysis, instance);
    let at_ends = measured.preempted_at_ends().0.0;
    let between = (measured.off_between().0 - locks.time).max(0);
    let off = at_ends + between;
    let computing = (length - off).max(0);
    let not_computing = (length - time.running.0).max(0);
    // An execution is not longer than both together, and neither is a part of it.
    let rest = length - computing - not_computing;
    if rest < 0 {
        return whole;
    }
    let mut split = Split {
        part,
        at: part.begin,
        parts: Vec::new(),
    };
    let of = |reason| Cause::ByClock(ByClock::NotOnCpu(reason), instance);
    let reason = match measured.reason() {
        // It left its CPU once for each of them, and otherwise only because it had to.
        OffCpuReason::PreemptedOrBlocked if measured.voluntary <= locks.times => {
            OffCpuReason::Preempted
        }
        reason => reason,
    };
    match part.cause {
        Cause::Publishing => split.push(computing + rest, Cause::Publishing),
        cause => {
            split.push(computing, Cause::ByClock(ByClock::Computing, instance));
            split.push(rest, cause);
        }
    }
    match reason {
        _ if at_ends == 0 => split.push(not_computing, of(reason)),
        OffCpuReason::Preempted => split.push(not_computing, of(reason)),
        _ if not_computing == off => {
            split.push(at_ends, of(OffCpuReason::Preempted));
            split.push(between, of(reason));
        }
        // Some of it, and which is not known.
        _ => split.push(not_computing, of(OffCpuReason::PreemptedOrBlocked)),
    }
    split.parts
}

/// How often and how long the thread of an execution waited for locks meanwhile.
struct Locks {
    times: u64,
    time: i64,
}

impl Locks {
    fn during(analysis: &Analysis<'_>, instance: InstanceId) -> Locks {
        let mut locks = Locks { times: 0, time: 0 };
        let row = analysis.instance(instance);
        let all = analysis.lock_waits_on(row.thread);
        let wait = |id: &LockWaitId| analysis.lock_wait(*id);
        let first = all.partition_point(|id| wait(id).begin < row.start);
        for wait in all[first..].iter().map(wait) {
            match (wait.end, row.end) {
                (Some(end), Some(last)) if end <= last => {
                    locks.times += 1;
                    locks.time += end.0 - wait.begin.0;
                }
                _ => break,
            }
        }
        locks
    }
}

struct Split<'p> {
    part: &'p Part,
    at: Nanos,
    parts: Vec<Part>,
}

impl Split<'_> {
    fn push(&mut self, duration: i64, cause: Cause) {
        if duration > 0 {
            let begin = self.at;
            self.at = Nanos(begin.0 + duration);
            self.parts.push(Part {
                begin,
                end: self.at,
                cause,
                ..*self.part
            });
        }
    }
}
