//! What a part of an explanation is put down to: what kind of thing it was, and who did it. This is the only place that goes through all
//! causes: a new one has to say here how it is weighed and what can be done about it.

use rostrace_model::flow::{LockKind, OffCpuReason};
use rostrace_model::scheduling::TaskId;

use crate::analysis::Analysis;
use crate::finding::Runner;
use crate::standstill::Scope;
use crate::thread::Ran;
use crate::why::{ByClock, CallStage, Cause, NotOnCpu, Part, Relation};

/// What parts are added up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blame {
    /// As tables and JSON call it.
    pub cause: &'static str,
    pub kind: BlameKind,
    pub relation: Option<Relation>,
    pub culprit: Option<Culprit>,
}

/// Who did it, where the part names somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Culprit {
    Runner(Runner),
    /// Who had the CPU.
    Task(TaskId),
    Standstill(Scope),
}

/// Causes that are weighed alike and that the same kind of change helps against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlameKind {
    /// Something else ran: on the same thread, or in the same mutually exclusive group.
    OtherCallback,
    /// A callback itself.
    Execution,
    /// A callback slept in the middle.
    Blocked,
    /// It waited for a lock that somebody held.
    Lock,
    Preempted,
    WaitingForCpu,
    Standstill,
    /// Its thread woke up late for a timer.
    WakeUp,
    Publishing,
    Transport,
    /// The executor's own work.
    Executor,
    /// Kept in a node until something else happened.
    Storage,
    /// The trace does not tell which of several it was, or nothing at all.
    NotKnown,
}

impl BlameKind {
    /// Whether it is a part of the way by nature, so that only what goes beyond the usual is too much of it. Everything else is in the way: without it,
    /// what waited would have gone on.
    pub(super) fn has_usual(self) -> bool {
        match self {
            BlameKind::Execution
            | BlameKind::Blocked
            | BlameKind::Publishing
            | BlameKind::Transport
            | BlameKind::Executor
            | BlameKind::Storage
            | BlameKind::NotKnown => true,
            BlameKind::OtherCallback
            | BlameKind::Lock
            | BlameKind::Preempted
            | BlameKind::WaitingForCpu
            | BlameKind::Standstill
            | BlameKind::WakeUp => false,
        }
    }
}

impl Blame {
    pub(super) fn of(analysis: &Analysis<'_>, part: &Part) -> Blame {
        let runner = |id| Culprit::Runner(Runner::of(analysis.model, analysis.instance(id)));
        let (kind, culprit, relation) = match part.cause {
            Cause::OtherCallback(id, relation) => {
                (BlameKind::OtherCallback, Some(runner(id)), Some(relation))
            }
            Cause::ClientCallback(id, relation) => {
                let row = analysis.client_callback(id);
                let runner = Runner {
                    process: analysis.model.process_of(row.thread),
                    ran: match row.client {
                        Some(client) => Ran::Client(client),
                        None => Ran::Unnamed(row.rmw_handle),
                    },
                };
                let culprit = Some(Culprit::Runner(runner));
                (BlameKind::OtherCallback, culprit, Some(relation))
            }
            Cause::Unended(id) => (
                BlameKind::OtherCallback,
                Some(runner(id)),
                Some(Relation::SameThread),
            ),
            Cause::Execution(id)
            | Cause::ServiceExecution(id)
            | Cause::ByClock(ByClock::Computing, id) => {
                (BlameKind::Execution, Some(runner(id)), None)
            }
            Cause::Call(_, CallStage::ClientCallback) => (BlameKind::Execution, None, None),
            Cause::Lock(lock, instance) => match (lock.kind, lock.ran) {
                (LockKind::Mutex | LockKind::Read | LockKind::Write, Some(holder)) => {
                    (BlameKind::Lock, Some(runner(holder)), None)
                }
                _ => (BlameKind::Blocked, instance.map(runner), None),
            },
            Cause::ByClock(ByClock::NotOnCpu(reason), id) => match reason {
                OffCpuReason::Preempted => (BlameKind::WaitingForCpu, None, None),
                OffCpuReason::Blocked => (BlameKind::Blocked, Some(runner(id)), None),
                OffCpuReason::PreemptedOrBlocked | OffCpuReason::Interrupted => {
                    (BlameKind::NotKnown, None, None)
                }
            },
            Cause::Stored(id) | Cause::UsedBefore(id) => {
                (BlameKind::Storage, Some(runner(id)), None)
            }
            Cause::NotOnCpu(state, instance) => match state {
                NotOnCpu::Preempted(task) => {
                    (BlameKind::Preempted, Some(Culprit::Task(task)), None)
                }
                NotOnCpu::Blocked | NotOnCpu::BlockedUntil(_) | NotOnCpu::BlockedIn(..) => {
                    (BlameKind::Blocked, instance.map(runner), None)
                }
                NotOnCpu::IdleOrOffCpu(task) => {
                    (BlameKind::WaitingForCpu, Some(Culprit::Task(task)), None)
                }
                NotOnCpu::WaitingForCpu(task) => {
                    (BlameKind::WaitingForCpu, task.map(Culprit::Task), None)
                }
                NotOnCpu::WokenLate(_) | NotOnCpu::OffCpu(_) => (BlameKind::WakeUp, None, None),
            },
            Cause::Standstill(id, _) => {
                let scope = analysis.standstills().get(id).scope;
                (
                    BlameKind::Standstill,
                    Some(Culprit::Standstill(scope)),
                    None,
                )
            }
            Cause::Publishing => (BlameKind::Publishing, None, None),
            Cause::Middleware | Cause::Transport => (BlameKind::Transport, None, None),
            Cause::Executor | Cause::Dispatch | Cause::NotTaken => {
                (BlameKind::Executor, None, None)
            }
            Cause::InKernel(_, Some(id)) => (BlameKind::Execution, Some(runner(id)), None),
            Cause::InKernel(_, None) => (BlameKind::Executor, None, None),
            Cause::TimerLateness | Cause::WakingUp => (BlameKind::WakeUp, None, None),
            Cause::MiddlewareOrExecutor
            | Cause::PublishingOrMiddleware
            | Cause::IntraProcessBuffer
            | Cause::OutsideCallbacks
            | Cause::Lost(_)
            | Cause::Call(..)
            | Cause::Unknown => (BlameKind::NotKnown, None, None),
        };
        Blame {
            cause: part.cause.name(),
            kind,
            relation,
            culprit,
        }
    }
}
