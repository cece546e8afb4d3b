//! Executions split by the CPU clock of their thread, where no context switches tell more: how long each part is is known, but not where in
//! the execution it was. They are reported one after the other, as sums.

use rostrace_ctf::schema::Nanos;
use rostrace_model::flow::OffCpuReason;

use super::cause::{ByClock, Cause};
use super::part::Part;
use crate::analysis::Analysis;
use crate::execution_time::{ExecutionTime, Source};

/// A part in which a callback ran, split. Where the part is not all of the execution, only what must lie in it whenever it was is
/// said, and the rest stays what it is.
pub(super) fn by_clock(analysis: &Analysis<'_>, part: &Part) -> Vec<Part> {
    let whole = vec![*part];
    let Cause::Execution(instance) = part.cause else {
        return whole;
    };
    let Some(measured) = analysis.model.measured_execution(instance) else {
        return whole;
    };
    let Some(time) = ExecutionTime::of(analysis, instance) else {
        return whole;
    };
    let length = part.duration();
    if time.source != Source::ThreadClock || length <= 0 {
        return whole;
    }
    let (at_ends, between) = (measured.preempted_at_ends().0.0, measured.off_between().0);
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
    let reason = measured.reason();
    split.push(computing, Cause::ByClock(ByClock::Computing, instance));
    split.push(rest, part.cause);
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
