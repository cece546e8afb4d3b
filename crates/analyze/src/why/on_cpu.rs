//! Parts cut where the kernel's scheduler says that their thread did not run.

use rostrace_model::scheduling::{Ready, Scheduling, State};

use super::cause::{Cause, NotOnCpu};
use super::part::Part;

/// A part, cut where its thread was not on a CPU. A thread that waits for a message, or for its timer, is meant to sleep; that
/// it was woken and did not get a CPU is a wait of its own.
pub(super) fn on_cpu(scheduling: &Scheduling, part: &Part) -> Vec<Part> {
    let instance = match part.cause {
        Cause::Execution(instance) | Cause::ServiceExecution(instance) => Some(instance),
        // A thread that waits for a lock is meant to sleep, too.
        Cause::Lock(_, instance) => instance,
        Cause::Publishing | Cause::Executor | Cause::Dispatch => None,
        Cause::Middleware
        | Cause::MiddlewareOrExecutor
        | Cause::IntraProcessBuffer
        | Cause::NotTaken
        | Cause::Lost(_)
        | Cause::Call(..)
        | Cause::TimerLateness => None,
        Cause::OtherCallback(..)
        | Cause::ClientCallback(..)
        | Cause::Unended(_)
        | Cause::Stored(_)
        | Cause::UsedBefore(_)
        | Cause::OutsideCallbacks
        | Cause::Transport
        | Cause::PublishingOrMiddleware
        | Cause::NotOnCpu(..)
        | Cause::ByClock(..)
        | Cause::Standstill(..)
        | Cause::Unknown => return vec![*part],
    };
    let is_work = matches!(
        part.cause,
        Cause::Execution(_)
            | Cause::ServiceExecution(_)
            | Cause::Publishing
            | Cause::Executor
            | Cause::Dispatch
    );
    let Some(thread) = part.thread else {
        return vec![*part];
    };
    let mut cut: Vec<Part> = Vec::new();
    for slice in scheduling.slices(thread, part.begin, part.end) {
        let state = match slice.state {
            State::Waiting {
                ready: Ready::Preempted { by },
                ..
            } => Some(NotOnCpu::Preempted(by)),
            State::Waiting {
                ready: Ready::Woken,
                ..
            } => Some(NotOnCpu::WaitingForCpu),
            State::Blocked(_) if is_work => Some(NotOnCpu::Blocked),
            State::Blocked(_) | State::Running { .. } | State::Unknown => None,
        };
        let cause = state.map_or(part.cause, |state| Cause::NotOnCpu(state, instance));
        match cut.last_mut() {
            Some(last) if last.cause == cause => last.end = slice.to,
            _ => cut.push(Part {
                begin: slice.from,
                end: slice.to,
                cause,
                ..*part
            }),
        }
    }
    cut
}
