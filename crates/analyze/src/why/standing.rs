//! Parts cut where everything stood still, whatever their thread was about to do.

use super::cause::Cause;
use super::part::Part;
use crate::analysis::Analysis;

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
            if to > at {
                let begin = std::mem::replace(&mut at, to);
                cut.push(Part {
                    begin,
                    end: to,
                    cause,
                    ..*part
                });
            }
        };
        for (id, begin, end) in standstills.on(analysis.model, thread, part.begin, part.end) {
            let running = &standstills.get(id).running;
            if instance.is_some_and(|instance| running.contains(&instance)) {
                continue;
            }
            push(begin, part.cause);
            push(end, Cause::Standstill(id, instance));
        }
        push(part.end, part.cause);
    }
    cut
}

/// Whether a standstill holds up what a part was spent with, and the execution that had begun. What waits for its time, or for a message that nobody
/// has sent yet, is not held up.
fn held_up(cause: Cause) -> Option<Option<rostrace_model::entity::InstanceId>> {
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
