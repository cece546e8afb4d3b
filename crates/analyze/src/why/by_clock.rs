//! Executions split by the CPU clock of their thread, where no context switches tell more: how long each part is is known, but not where in
//! the execution it was. They are told one after the other, as sums.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::InstanceId;

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
    let Some((running, off)) = sums(analysis, instance) else {
        return whole;
    };
    let length = part.duration();
    let computing = (length - off).max(0);
    let not_computing = (length - running).max(0);
    // An execution is not longer than both together, and neither is a part of it.
    let rest = length - computing - not_computing;
    if length <= 0 || rest < 0 {
        return whole;
    }
    let reason = analysis.model.measured_execution(instance);
    let reason = reason.map_or(ByClock::Computing, |it| ByClock::NotOnCpu(it.reason()));
    let mut split = Vec::new();
    let mut at = part.begin;
    for (duration, cause) in [
        (computing, Cause::ByClock(ByClock::Computing, instance)),
        (rest, part.cause),
        (not_computing, Cause::ByClock(reason, instance)),
    ] {
        if duration > 0 {
            let end = Nanos(at.0 + duration);
            split.push(Part {
                begin: at,
                end,
                cause,
                ..*part
            });
            at = end;
        }
    }
    split
}

/// How long an execution computed, and how long it did not, if only the clock tells.
fn sums(analysis: &Analysis<'_>, instance: InstanceId) -> Option<(i64, i64)> {
    let time = ExecutionTime::of(analysis, instance)?;
    let off = time.waiting.0 + time.blocked.0 + time.unknown.0;
    (time.source == Source::ThreadClock).then_some((time.running.0, off))
}
