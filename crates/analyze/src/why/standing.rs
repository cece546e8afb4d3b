//! Parts cut where everything stood still, whatever their thread was about to do.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, ThreadId};
use rostrace_model::flow::OffCpuReason;
use rostrace_model::scheduling::{Ready, State};

use super::cause::Cause;
use super::part::Part;
use crate::analysis::Analysis;
use crate::execution_time::{ExecutionTime, Source};

pub(super) fn standing(analysis: &Analysis<'_>, parts: &[Part]) -> Vec<Part> {
    let standstills = analysis.standstills();
    if standstills.list.is_empty() {
        return parts.to_vec();
    }
    let mut cut: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        // Time goes back only between hosts whose clocks differ.
        let held = held_up(part.cause).filter(|_| part.duration() > 0);
        let Some((thread, instance)) = part.thread.zip(held) else {
            cut.push(*part);
            continue;
        };
        let mut at = part.begin;
        let mut push = |to, cause| {
            if to <= at {
                return;
            }
            let begin = std::mem::replace(&mut at, to);
            match cut.last_mut() {
                Some(last) if begin > part.begin && last.cause == cause => last.end = to,
                _ => cut.push(Part {
                    begin,
                    end: to,
                    cause,
                    ..*part
                }),
            }
        };
        for (id, begin, end) in standstills.on(analysis.model, thread, part.begin, part.end) {
            let running = &standstills.get(id).running;
            if instance.is_some_and(|instance| running.contains(&instance)) {
                continue;
            }
            if instance.is_some_and(|it| !may_have_stood(analysis, it, end.0 - begin.0)) {
                continue;
            }
            push(begin, part.cause);
            // Of another thread, where that one's callback kept this one waiting.
            let held = instance.map_or(thread, |instance| analysis.instance(instance).thread);
            for (to, stood) in stood(analysis, held, begin, end) {
                match stood {
                    true => push(to, Cause::Standstill(id, instance)),
                    false => push(to, part.cause),
                }
            }
        }
        push(part.end, part.cause);
    }
    cut
}

/// Whether a thread stood still between two instants, each time until when. A thread that is known to have had a CPU did not; and where only
/// threads of recorded processes are followed, neither did one that lost its CPU to one of them, for then something of these processes went on.
fn stood(analysis: &Analysis<'_>, thread: ThreadId, from: Nanos, to: Nanos) -> Vec<(Nanos, bool)> {
    let Some(scheduling) = &analysis.scheduling else {
        return vec![(to, true)];
    };
    let slices = scheduling.slices(thread, from, to).map(|slice| {
        let went_on = match slice.state {
            State::Running { .. } => true,
            State::Waiting {
                ready: Ready::Preempted { by },
                ..
            } => !scheduling.has_wakeups && scheduling.task(by).is_recorded(),
            State::Waiting { .. } | State::Blocked(_) | State::Unknown => false,
        };
        (slice.to, !went_on)
    });
    slices.collect()
}

/// Whether an execution may have stood still for so long, as far as the clock of its thread tells: not while it computed, and not where it left its
/// CPU only to wait for something.
fn may_have_stood(analysis: &Analysis<'_>, instance: InstanceId, time: i64) -> bool {
    let by_clock = |it: &ExecutionTime| it.source == Source::ThreadClock;
    let known = ExecutionTime::of(analysis, instance).filter(by_clock);
    let measured = analysis.model.measured_execution(instance);
    known.and(measured).is_none_or(|measured| {
        // It may have gone on for a moment before others did.
        let off = measured.off_cpu().0;
        measured.reason() != OffCpuReason::Blocked && off.saturating_add(time / 10) >= time
    })
}

/// Whether a standstill holds up what a part was spent with, and the execution that had begun. What waits for its time, or for a message that nobody
/// has sent yet, is not held up.
fn held_up(cause: Cause) -> Option<Option<InstanceId>> {
    match cause {
        Cause::OtherCallback(instance, _)
        | Cause::Execution(instance)
        | Cause::ServiceExecution(instance) => Some(Some(instance)),
        Cause::Publishing
        | Cause::Middleware
        | Cause::Transport
        | Cause::NotTaken
        | Cause::Lost(_)
        | Cause::Call(..)
        | Cause::MiddlewareOrExecutor
        | Cause::IntraProcessBuffer
        | Cause::ClientCallback(..)
        | Cause::Executor
        | Cause::Dispatch
        | Cause::TimerLateness
        | Cause::WakingUp
        | Cause::Unknown => Some(None),
        Cause::Unended(_)
        | Cause::Stored(_)
        | Cause::UsedBefore(_)
        | Cause::OutsideCallbacks
        | Cause::PublishingOrMiddleware
        | Cause::NotOnCpu(..)
        | Cause::ByClock(..)
        | Cause::Lock(..)
        | Cause::InKernel(..)
        | Cause::Standstill(..) => None,
    }
}
