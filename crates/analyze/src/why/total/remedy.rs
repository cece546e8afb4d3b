//! What could be changed so that a part of the lateness goes away. Parts with the same remedy are one change, whoever was late because of them.
//! Where the trace does not tell what something is due to, there is none.

use rostrace_model::entity::{
    CallbackGroupType, CallbackId, ExecutorId, ProcessId, SubscriptionId, ThreadId,
};
use rostrace_model::scheduling::TaskId;

use super::blame::{Blame, BlameKind, Culprit};
use super::victim::Victim;
use crate::analysis::Analysis;
use crate::finding::Runner;
use crate::standstill::Scope;
use crate::thread::Ran;
use crate::why::{Cause, Part, Relation};
use rostrace_model::entity::ExecutorType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Remedy {
    /// Another callback had the thread: it goes elsewhere.
    Separate {
        culprit: Runner,
        from: RunsOn,
    },
    /// Other callbacks had a thread of an executor that has several.
    Widen(ExecutorId),
    /// Both are in one mutually exclusive group, and the executor has several threads, or the other one ran on another thread.
    Regroup {
        culprit: Runner,
    },
    /// The callback itself takes too long, or was still busy with what came before.
    Shorten(Runner),
    /// This one had the CPU. Where it is not recorded, it is another one in each process.
    MakeRoom {
        task: TaskId,
        of: Option<ProcessId>,
    },
    /// It was woken and had no CPU.
    Prefer(ProcessId),
    /// It sleeps in the middle.
    Unblock(Runner),
    /// It held a lock that another callback needed.
    Release(Runner),
    /// Timers whose threads wake up late.
    WakeUp(ProcessId),
    Resume(Scope),
    /// Messages were long under way.
    SpeedUp(Way),
    /// The call of `publish` itself took long.
    Publish(Way),
    /// The executor itself was busy.
    Lighten(RunsOn),
    /// Messages are kept until this callback runs.
    UseSooner(Runner),
}

/// Where callbacks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunsOn {
    Executor(ExecutorId),
    /// The trace does not tell of its executor.
    Thread(ThreadId),
}

/// The way of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    To(SubscriptionId),
    /// A communication of a path.
    Hop {
        path: usize,
        hop: usize,
    },
}

impl RunsOn {
    fn of(
        analysis: &Analysis<'_>,
        callback: Option<CallbackId>,
        thread: Option<ThreadId>,
    ) -> Option<RunsOn> {
        let executor = callback.and_then(|callback| analysis.executor_of(callback));
        executor
            .map(RunsOn::Executor)
            .or(thread.map(RunsOn::Thread))
    }

    /// The executor, if it is known to have several threads.
    fn with_threads(self, analysis: &Analysis<'_>) -> Option<ExecutorId> {
        match self {
            RunsOn::Executor(id) => {
                let executor = &analysis.model.executors[id.index()];
                (executor.kind == ExecutorType::MultiThreaded).then_some(id)
            }
            RunsOn::Thread(_) => None,
        }
    }
}

impl Remedy {
    /// The callback that has to be changed, if it is one.
    pub fn runner(self) -> Option<Runner> {
        match self {
            Remedy::Separate { culprit, .. } | Remedy::Regroup { culprit } => Some(culprit),
            Remedy::Shorten(runner)
            | Remedy::Unblock(runner)
            | Remedy::Release(runner)
            | Remedy::UseSooner(runner) => Some(runner),
            Remedy::Widen(_)
            | Remedy::MakeRoom { .. }
            | Remedy::Prefer(_)
            | Remedy::WakeUp(_)
            | Remedy::Resume(_)
            | Remedy::SpeedUp(_)
            | Remedy::Publish(_)
            | Remedy::Lighten(_) => None,
        }
    }

    pub(super) fn of(
        analysis: &Analysis<'_>,
        victim: Victim,
        blame: &Blame,
        part: &Part,
    ) -> Option<Remedy> {
        let model = analysis.model;
        let of_thread = || Some(model.process_of(part.thread?));
        match (blame.kind, blame.culprit) {
            (BlameKind::OtherCallback, Some(Culprit::Runner(culprit))) => Some(other_callback(
                analysis,
                victim,
                blame.relation,
                culprit,
                part,
            )),
            // That another callback of a path takes its time is what it is for, unless it takes longer than usual: then it is the same.
            (BlameKind::Execution, Some(Culprit::Runner(runner))) => Some(Remedy::Shorten(runner)),
            (BlameKind::Blocked, Some(Culprit::Runner(runner))) => Some(Remedy::Unblock(runner)),
            (BlameKind::Lock, Some(Culprit::Runner(holder))) => Some(Remedy::Release(holder)),
            (BlameKind::Storage, Some(Culprit::Runner(reader))) => Some(Remedy::UseSooner(reader)),
            (BlameKind::Preempted, Some(Culprit::Task(task))) => {
                let is_recorded = (analysis.scheduling.as_ref())
                    .is_some_and(|scheduling| scheduling.task(task).is_recorded());
                Some(Remedy::MakeRoom {
                    task,
                    of: match is_recorded {
                        true => None,
                        false => Some(of_thread()?),
                    },
                })
            }
            (BlameKind::WaitingForCpu, _) => of_thread().map(Remedy::Prefer),
            (BlameKind::WakeUp, _) => of_thread().map(Remedy::WakeUp),
            (BlameKind::Standstill, Some(Culprit::Standstill(scope))) => {
                Some(Remedy::Resume(scope))
            }
            (BlameKind::Transport, _) => way(analysis, victim, part.hop).map(Remedy::SpeedUp),
            (BlameKind::Publishing, _) => way(analysis, victim, part.hop).map(Remedy::Publish),
            (BlameKind::Executor, _) => {
                let callback = victim.callback(model);
                RunsOn::of(analysis, callback, part.thread).map(Remedy::Lighten)
            }
            _ => None,
        }
    }
}

fn way(analysis: &Analysis<'_>, victim: Victim, hop: usize) -> Option<Way> {
    match victim {
        Victim::Path(path) => Some(Way::Hop { path, hop }),
        _ => victim.subscription(analysis.model).map(Way::To),
    }
}

fn other_callback(
    analysis: &Analysis<'_>,
    victim: Victim,
    relation: Option<Relation>,
    culprit: Runner,
    part: &Part,
) -> Remedy {
    let is_itself = match victim {
        Victim::Callback(runner) => runner == culprit,
        Victim::Messages { .. } => {
            let callback = victim.callback(analysis.model);
            callback.is_some_and(|it| Runner::callback(analysis.model, it) == culprit)
        }
        // Whom it kept waiting is not the same in all of its messages.
        Victim::Path(_) => false,
    };
    if is_itself {
        return Remedy::Shorten(culprit);
    }
    let callback = match culprit.ran {
        Ran::Callback(callback) => Some(callback),
        Ran::Client(_) | Ran::Unnamed(_) => None,
    };
    let thread = match part.cause {
        Cause::ClientCallback(id, _) => Some(analysis.client_callback(id).thread),
        cause => cause.instance().map(|id| analysis.instance(id).thread),
    };
    let from = RunsOn::of(analysis, callback, thread);
    let group = callback.and_then(|callback| analysis.group_of(callback));
    let is_exclusive = group.is_some_and(|group| {
        analysis.model.callback_groups[group.index()].kind == CallbackGroupType::MutuallyExclusive
    });
    let own = victim.callback(analysis.model);
    let own = own.and_then(|callback| analysis.group_of(callback));
    let have_one_group = group.is_some() && group == own && is_exclusive;
    match (relation, from) {
        (Some(Relation::SameThread), Some(from)) => match from.with_threads(analysis) {
            Some(_) if have_one_group => Remedy::Regroup { culprit },
            Some(executor) => Remedy::Widen(executor),
            None => Remedy::Separate { culprit, from },
        },
        _ => Remedy::Regroup { culprit },
    }
}
