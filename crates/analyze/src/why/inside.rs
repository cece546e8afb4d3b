//! Parts cut where their thread was inside of something: a system call, a page fault, an interrupt.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::InstanceId;
use rostrace_model::scheduling::{Scheduling, State, Stay};

use super::cause::{Cause, NotOnCpu};
use super::part::Part;
use crate::analysis::Analysis;

/// A stretch of time with a cause of its own.
type Span = (Nanos, Nanos, Cause);

/// A part, cut where the trace tells what its thread was inside of while it worked, or slept although it had work.
pub(super) fn inside(analysis: &Analysis<'_>, part: &Part) -> Vec<Part> {
    let mut parts = vec![*part];
    if work(part.cause).is_none() {
        return parts;
    }
    if let Some(scheduling) = analysis.scheduling.as_ref().filter(|it| it.has_stays()) {
        parts = cut(&parts, |part, instance| {
            let stays = interrupts(scheduling, part).into_iter();
            stays
                .map(|it| (it.begin, it.end, Cause::InKernel(it.inside, instance)))
                .collect()
        });
        parts = cut(&parts, |part, instance| {
            let stays = part.thread.into_iter();
            let stays = stays.flat_map(|it| scheduling.stays(it, part.begin, part.end));
            let within = |stay: Stay| match part.cause {
                Cause::NotOnCpu(state, _) => {
                    let state = NotOnCpu::BlockedIn(stay.inside, state.woken_by());
                    Cause::NotOnCpu(state, instance)
                }
                _ => Cause::InKernel(stay.inside, instance),
            };
            stays
                .map(|stay| (stay.begin, stay.end, within(stay)))
                .collect()
        });
    }
    parts
}

/// Whether a thread worked, or slept although it had work, and the execution that it was about.
fn work(cause: Cause) -> Option<Option<InstanceId>> {
    match cause {
        Cause::Execution(instance) | Cause::ServiceExecution(instance) => Some(Some(instance)),
        Cause::Publishing | Cause::Executor | Cause::Dispatch => Some(None),
        Cause::NotOnCpu(NotOnCpu::Blocked | NotOnCpu::BlockedUntil(_), instance) => Some(instance),
        _ => None,
    }
}

/// The interrupts of the CPU that the thread of a part was on.
fn interrupts(scheduling: &Scheduling, part: &Part) -> Vec<Stay> {
    let Some(thread) = part
        .thread
        .filter(|_| !matches!(part.cause, Cause::NotOnCpu(..)))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for slice in scheduling.slices(thread, part.begin, part.end) {
        if let State::Running { cpu } = slice.state {
            let stays = scheduling.interrupts(thread, cpu, slice.from, slice.to);
            found.extend(stays.map(|stay| Stay {
                begin: stay.begin.max(slice.from),
                end: stay.end.min(slice.to),
                ..stay
            }));
        }
    }
    found
}

/// Parts of work, cut by spans that follow one another.
fn cut(parts: &[Part], spans: impl Fn(&Part, Option<InstanceId>) -> Vec<Span>) -> Vec<Part> {
    let mut done: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        let Some(instance) = work(part.cause).filter(|_| part.duration() > 0) else {
            done.push(*part);
            continue;
        };
        let mut at = part.begin;
        let mut push = |to: Nanos, cause: Cause| {
            let to = to.min(part.end);
            if to > at {
                let begin = std::mem::replace(&mut at, to);
                done.push(Part {
                    begin,
                    end: to,
                    cause,
                    ..*part
                });
            }
        };
        for (begin, end, cause) in spans(part, instance) {
            push(begin, part.cause);
            push(end, cause);
        }
        push(part.end, part.cause);
    }
    done
}
