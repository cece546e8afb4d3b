//! What a part of a time can be due to, and the one sentence by which every output tells it.

use rostrace_model::describe::names;
use rostrace_model::entity::{CallbackId, CallbackOwner, ClientCallbackId, InstanceId, RequestId};
use rostrace_model::flow::OffCpuReason;
use rostrace_model::scheduling::{Inside, Task, TaskId};

use super::lock::AtLock;
use crate::analysis::Analysis;
use crate::communication::DropCause;
use crate::standstill::StandstillId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The call of `publish` handed the message down to the middleware, or into the ring buffer.
    Publishing,
    /// In the middleware, or not written yet: the publisher's thread was not seen to go on, and the receiving thread was waiting for work.
    PublishingOrMiddleware,
    /// In the middleware: the receiving thread was waiting for work.
    Middleware,
    /// In the middleware until it arrived, as the trace tells, whatever the receiving thread did.
    Transport,
    /// It had arrived, and the executor did not take it yet.
    NotTaken,
    /// The message did not arrive, and the receiving thread was waiting for work.
    Lost(DropCause),
    /// In the middleware or in the executor: the trace has no phases of this executor.
    MiddlewareOrExecutor,
    /// In the ring buffer of the subscription, while the receiving thread was not known to be busy.
    IntraProcessBuffer,
    /// Another callback ran.
    OtherCallback(InstanceId, Relation),
    /// The callback of a client ran.
    ClientCallback(ClientCallbackId, Relation),
    /// Another callback began on the same thread, and the trace has no end of it: it ran for some of this time, at most until the
    /// executor went on.
    Unended(InstanceId),
    /// The executor looked for work, took messages, dispatched.
    Executor,
    /// From the take to the start of the callback.
    Dispatch,
    /// The timer was due and its thread was waiting for work: it woke up late.
    TimerLateness,
    /// The timer was due, and its thread ran again, but was not out of its wait for work yet.
    WakingUp,
    /// Received and kept in its node: the execution that was to use it had no reason to begin.
    Stored(InstanceId),
    /// Kept in its node until the callback of this execution ran before, with the same in store.
    UsedBefore(InstanceId),
    /// Received, and published by code that is in no callback.
    OutsideCallbacks,
    /// The callback itself ran.
    Execution(InstanceId),
    /// The callback of a service ran, for a request of the execution that is explained.
    ServiceExecution(InstanceId),
    /// A request was under way.
    Call(RequestId, CallStage),
    /// The thread was not on a CPU while it should have gone on with what it did: the execution of a callback, or the executor's work.
    NotOnCpu(NotOnCpu, Option<InstanceId>),
    /// The same and what this execution computed as sums, by the CPU clock of its thread.
    ByClock(ByClock, InstanceId),
    /// The thread waited for a lock, or for a condition variable, in the midst of what it did: the execution of a callback, or the executor's
    /// work.
    Lock(AtLock, Option<InstanceId>),
    /// It had a CPU, but the kernel was at work for it, or instead of it.
    InKernel(Inside, Option<InstanceId>),
    /// Everything stood still, this thread among the others; the execution is that which had begun.
    Standstill(StandstillId, Option<InstanceId>),
    /// The trace does not tell.
    Unknown,
}

/// Why a thread did not run, as the kernel's scheduler tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotOnCpu {
    /// It had to leave its CPU to this one.
    Preempted(TaskId),
    /// It slept: for a lock, a file, time to pass.
    Blocked,
    /// The same, and this one woke it.
    BlockedUntil(TaskId),
    /// It slept in a system call, or for memory that it had touched, until this one woke it, as far as that is known.
    BlockedIn(Inside, Option<TaskId>),
    /// It was woken up, and waited for a CPU, which this one had: an idle one where the CPU had nothing to do yet.
    WaitingForCpu(Option<TaskId>),
    /// A timer was due, and it slept on until it was woken, by this one.
    WokenLate(Option<TaskId>),
    /// A timer was due, and it did not run; the trace does not tell when it was woken. This one had the CPU that it got next.
    OffCpu(Option<TaskId>),
    /// It waited for a message, or it had come and the thread did not run; the trace does not tell when it was woken. This one had the CPU that
    /// it got next, until then.
    IdleOrOffCpu(TaskId),
}

/// What a thread did for some of an execution, of which only the sum is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByClock {
    Computing,
    NotOnCpu(OffCpuReason),
}

impl ByClock {
    pub fn name(self) -> &'static str {
        match self {
            ByClock::Computing => "computing",
            ByClock::NotOnCpu(OffCpuReason::Preempted) => "preempted",
            ByClock::NotOnCpu(OffCpuReason::Blocked) => "blocked",
            ByClock::NotOnCpu(OffCpuReason::PreemptedOrBlocked) => "preempted_or_blocked",
            ByClock::NotOnCpu(OffCpuReason::Interrupted) => "interrupted",
        }
    }
}

impl NotOnCpu {
    pub fn name(self) -> &'static str {
        match self {
            NotOnCpu::Preempted(_) => "preempted",
            NotOnCpu::Blocked | NotOnCpu::BlockedUntil(_) | NotOnCpu::BlockedIn(..) => "blocked",
            NotOnCpu::WaitingForCpu(_) => "waiting_for_cpu",
            NotOnCpu::WokenLate(_) => "woken_late",
            NotOnCpu::OffCpu(_) | NotOnCpu::IdleOrOffCpu(_) => "off_cpu",
        }
    }

    /// Who had the CPU meanwhile, if that is known.
    pub fn ran_instead(self) -> Option<TaskId> {
        match self {
            NotOnCpu::Preempted(task) | NotOnCpu::IdleOrOffCpu(task) => Some(task),
            NotOnCpu::WaitingForCpu(task) | NotOnCpu::OffCpu(task) => task,
            NotOnCpu::Blocked
            | NotOnCpu::BlockedUntil(_)
            | NotOnCpu::BlockedIn(..)
            | NotOnCpu::WokenLate(_) => None,
        }
    }

    /// Who woke the thread in the end, if that is known.
    pub fn woken_by(self) -> Option<TaskId> {
        match self {
            NotOnCpu::BlockedUntil(task) => Some(task),
            NotOnCpu::BlockedIn(_, task) | NotOnCpu::WokenLate(task) => task,
            NotOnCpu::Preempted(_)
            | NotOnCpu::Blocked
            | NotOnCpu::WaitingForCpu(_)
            | NotOnCpu::OffCpu(_)
            | NotOnCpu::IdleOrOffCpu(_) => None,
        }
    }

    /// What it was, of this thread or execution.
    fn describe(self, analysis: &Analysis<'_>, of: &str) -> String {
        let task = |task: TaskId| analysis.scheduling.as_ref().map(|it| it.task(task));
        let title = |id: TaskId| task(id).map_or_else(|| "somebody".to_owned(), Task::title);
        let is_idle = |id: TaskId| task(id).is_some_and(Task::is_idle);
        match self {
            NotOnCpu::Preempted(by) => {
                format!("not on a CPU: {of} was preempted by {}", title(by))
            }
            NotOnCpu::Blocked if tells_wakeups(analysis) => {
                format!("not on a CPU: {of} slept")
            }
            NotOnCpu::Blocked => {
                format!("not on a CPU: {of} was blocked until it ran again")
            }
            NotOnCpu::BlockedUntil(by) => {
                format!("not on a CPU: {of} slept until {} woke it", title(by))
            }
            NotOnCpu::BlockedIn(inside, by) => {
                let until = by.map_or(String::new(), |by| format!(" until {} woke it", title(by)));
                let inside = name_of(analysis, inside);
                format!("not on a CPU: {of} was blocked in {inside}{until}")
            }
            NotOnCpu::WaitingForCpu(None) => {
                format!("not on a CPU: {of} was woken and waited to be scheduled")
            }
            NotOnCpu::WaitingForCpu(Some(by)) if is_idle(by) => {
                format!("not on a CPU: {of} could run, and its CPU was still idle")
            }
            NotOnCpu::WaitingForCpu(Some(by)) => {
                let by = title(by);
                format!("not on a CPU: {of} was woken and waited to be scheduled while {by} ran")
            }
            NotOnCpu::WokenLate(None) => {
                "timer lateness: due, but its thread slept on until it was woken".to_owned()
            }
            NotOnCpu::WokenLate(Some(by)) => {
                let by = title(by);
                format!("timer lateness: due, but its thread slept on until {by} woke it")
            }
            NotOnCpu::OffCpu(None) => {
                "timer lateness: due, but its thread was off the CPU until it ran again".to_owned()
            }
            NotOnCpu::OffCpu(Some(by)) => {
                let by = title(by);
                format!(
                    "timer lateness: due, but its thread was off the CPU; {by} ran on the CPU that it got next"
                )
            }
            NotOnCpu::IdleOrOffCpu(by) => {
                let by = title(by);
                format!(
                    "under way, or without a CPU: the receiver was idle or had no CPU; {by} ran on the CPU that it got next"
                )
            }
        }
    }
}

/// How far a request had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallStage {
    /// Sent, and not taken yet.
    Request,
    /// The service's callback is over, and the response not sent yet.
    Answering,
    /// The response is on its way, or not taken yet.
    Response,
    /// The trace does not have the steps of the service.
    Unseen,
    /// The response was taken, and the client's callback ran.
    ClientCallback,
}

impl CallStage {
    pub fn name(self) -> &'static str {
        match self {
            CallStage::Request => "request",
            CallStage::Answering => "answering",
            CallStage::Response => "response",
            CallStage::Unseen => "service",
            CallStage::ClientCallback => "client_callback",
        }
    }
}

named! {
    /// Why another callback was in the way.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Relation {
        SameThread = "same thread",
        /// On another thread, in the same mutually exclusive group.
        SameGroup = "same mutually exclusive group",
    }
}

impl Cause {
    /// As tables and JSON call it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Publishing | Cause::PublishingOrMiddleware => "publishing",
            Cause::Middleware | Cause::Transport => "middleware",
            Cause::Lost(_) => "lost",
            Cause::MiddlewareOrExecutor => "middleware_or_executor",
            Cause::IntraProcessBuffer => "intra_process_buffer",
            Cause::OtherCallback(..) | Cause::ClientCallback(..) => "other_callback",
            Cause::Unended(_) => "unended_callback",
            Cause::Executor | Cause::NotTaken => "executor",
            Cause::Dispatch => "dispatch",
            Cause::TimerLateness => "timer_lateness",
            Cause::WakingUp => "waking_up",
            Cause::Stored(_) | Cause::UsedBefore(_) => "stored",
            Cause::OutsideCallbacks => "outside_callbacks",
            Cause::Execution(_) => "execution",
            Cause::ServiceExecution(_) => "service_execution",
            Cause::Call(_, stage) => stage.name(),
            Cause::NotOnCpu(state, _) => state.name(),
            Cause::ByClock(what, _) => what.name(),
            Cause::Lock(lock, _) => lock.name(),
            Cause::InKernel(Inside::SystemCall(_), _) => "system_call",
            Cause::InKernel(Inside::PageFault, _) => "page_fault",
            Cause::InKernel(Inside::Interrupt(_), _) => "interrupt",
            Cause::Standstill(..) => "standstill",
            Cause::Unknown => "unknown",
        }
    }

    /// The execution that it is about: the one that ran, or that has yet to begin.
    pub fn instance(self) -> Option<InstanceId> {
        match self {
            Cause::OtherCallback(instance, _)
            | Cause::Unended(instance)
            | Cause::Stored(instance)
            | Cause::UsedBefore(instance)
            | Cause::Execution(instance)
            | Cause::ServiceExecution(instance)
            | Cause::ByClock(_, instance) => Some(instance),
            Cause::NotOnCpu(_, instance)
            | Cause::Lock(_, instance)
            | Cause::InKernel(_, instance)
            | Cause::Standstill(_, instance) => instance,
            _ => None,
        }
    }

    /// What of the kernel the thread was in.
    pub fn inside(self) -> Option<Inside> {
        match self {
            Cause::InKernel(inside, _) | Cause::NotOnCpu(NotOnCpu::BlockedIn(inside, _), _) => {
                Some(inside)
            }
            _ => None,
        }
    }

    /// The callback of that execution, if the trace knows it.
    pub fn callback(self, analysis: &Analysis<'_>) -> Option<CallbackId> {
        analysis.instance(self.instance()?).callback
    }

    /// Whether only the sum is known: where in the execution it was is not.
    pub fn is_sum(self, analysis: &Analysis<'_>) -> bool {
        let Cause::ByClock(_, instance) = self else {
            return false;
        };
        let measured = analysis.model.measured_execution(instance);
        measured.is_some_and(|measured| measured.off_cpu().0 > 0)
    }

    /// What it was, for people.
    pub fn describe(self, analysis: &Analysis<'_>) -> String {
        let name = |instance: InstanceId| match analysis.instance(instance).callback {
            Some(callback) => analysis.names.callback(callback).to_owned(),
            None => names::unnamed_callback(analysis.instance(instance).address),
        };
        match self {
            Cause::Publishing => "publishing: from the call to the middleware".to_owned(),
            Cause::PublishingOrMiddleware => {
                "publishing: still inside publish(), or already under way".to_owned()
            }
            Cause::Middleware => {
                format!("middleware: under way, the receiver {}", was_idle(analysis))
            }
            Cause::Transport => "middleware: under way until it arrived".to_owned(),
            Cause::NotTaken => "executor: it had arrived, and was not taken yet".to_owned(),
            Cause::Lost(cause) => match cause {
                DropCause::RingBufferFull => {
                    "lost: in the ring buffer, until later messages pushed it out".to_owned()
                }
                DropCause::HistoryFull => {
                    "lost: in the queue, until later messages pushed it out (inferred)".to_owned()
                }
                DropCause::Middleware => {
                    format!(
                        "lost: in the middleware, the receiver {}",
                        was_idle(analysis)
                    )
                }
                DropCause::RecordingEnd => {
                    format!("not taken, the receiver {}", was_idle(analysis))
                }
                DropCause::Unknown => "unknown: the trace does not tell".to_owned(),
            },
            Cause::MiddlewareOrExecutor => {
                "middleware or executor: the trace does not tell which of the two".to_owned()
            }
            Cause::IntraProcessBuffer => "in the intra-process buffer".to_owned(),
            Cause::OtherCallback(instance, relation) => {
                format!("waiting: {} ran ({})", name(instance), relation.name())
            }
            Cause::ClientCallback(id, relation) => {
                let name = client_name(analysis, id);
                format!("waiting: {name} ran ({})", relation.name())
            }
            Cause::Unended(instance) => format!(
                "waiting: {} began, its end is not in the trace (same thread)",
                name(instance)
            ),
            Cause::Executor => "executor: looking for work, taking, dispatching".to_owned(),
            Cause::Dispatch => "dispatch: from the take to the callback".to_owned(),
            Cause::TimerLateness => "timer lateness: due, but its thread woke up late".to_owned(),
            Cause::WakingUp => {
                "timer lateness: due, and its thread was on a CPU, on its way out of its wait"
                    .to_owned()
            }
            Cause::Stored(instance) => {
                let callback = analysis.instance(instance).callback;
                let owner = callback.map(|id| analysis.model.callbacks[id.index()].owner);
                let name = name(instance);
                match owner {
                    Some(CallbackOwner::Timer(_)) => format!("stored: {name} was not due yet"),
                    Some(CallbackOwner::Subscription(_)) => {
                        format!("stored: no message for {name} had come yet")
                    }
                    _ => format!("stored: {name} had not begun yet"),
                }
            }
            Cause::UsedBefore(instance) => {
                let name = name(instance);
                format!("stored: until an earlier run of {name}, which had it too")
            }
            Cause::OutsideCallbacks => "outside of callbacks: until it was published".to_owned(),
            Cause::Execution(instance) => format!("execution of {}", name(instance)),
            Cause::ServiceExecution(instance) => {
                format!("service: {} ran for the request", name(instance))
            }
            Cause::Call(id, stage) => {
                let service = service_name(analysis, id);
                match stage {
                    CallStage::Request => {
                        format!(
                            "request to {service}: under way, the service {}",
                            was_idle(analysis)
                        )
                    }
                    CallStage::Answering => {
                        format!("answering: {service} had not sent its response yet")
                    }
                    CallStage::Response => format!("response of {service}: under way"),
                    CallStage::ClientCallback => {
                        format!("client callback: that of {service} ran, with the response")
                    }
                    CallStage::Unseen => {
                        format!(
                            "service: {service} was asked; what it did until the response came is not in the trace"
                        )
                    }
                }
            }
            Cause::NotOnCpu(state, instance) => {
                let of = instance.map_or("its thread".to_owned(), name);
                state.describe(analysis, &of)
            }
            Cause::InKernel(inside, instance) => {
                let of = instance.map_or("its thread".to_owned(), name);
                format!("in the kernel: {of} was in {}", name_of(analysis, inside))
            }
            Cause::ByClock(what, instance) => {
                let of = name(instance);
                match what {
                    ByClock::Computing if self.is_sum(analysis) => {
                        format!("execution of {of}: computing, when is not known")
                    }
                    ByClock::Computing => format!("execution of {of}: computing"),
                    ByClock::NotOnCpu(OffCpuReason::Preempted) => {
                        format!("not on a CPU: {of} was preempted, when is not known")
                    }
                    ByClock::NotOnCpu(OffCpuReason::Blocked) => format!(
                        "not on a CPU: {of} was blocked until it ran again, when is not known"
                    ),
                    ByClock::NotOnCpu(OffCpuReason::PreemptedOrBlocked) => {
                        format!(
                            "not on a CPU: {of} was preempted or blocked, which of the two is not known"
                        )
                    }
                    ByClock::NotOnCpu(OffCpuReason::Interrupted) => format!(
                        "interrupts, or the host of a virtual machine: {of} did not compute, although it never left its CPU"
                    ),
                }
            }
            Cause::Lock(lock, instance) => {
                let of = instance.map_or("its thread".to_owned(), name);
                lock.describe(analysis, &of)
            }
            Cause::Standstill(id, instance) => {
                let inside = instance.map(|id| format!(" during {}", name(id)));
                let description = analysis.standstills().get(id).describe(analysis.model);
                format!("standstill{}: {description}", inside.unwrap_or_default())
            }
            Cause::Unknown => "unknown: the trace does not tell".to_owned(),
        }
    }
}

/// `read()`, `a page fault`, `interrupt eth0`.
pub fn name_of(analysis: &Analysis<'_>, inside: Inside) -> String {
    let name = |id| analysis.scheduling.as_ref().map_or("?", |it| it.name(id));
    match inside {
        Inside::SystemCall(id) => format!("{}()", name(id)),
        Inside::PageFault => "a page fault".to_owned(),
        Inside::Interrupt(id) => name(id).to_owned(),
    }
}

/// Whether it is known when a thread that slept was woken; else the wait for a CPU after that is part of its sleep.
fn tells_wakeups(analysis: &Analysis<'_>) -> bool {
    (analysis.scheduling.as_ref()).is_none_or(|scheduling| scheduling.has_wakeups)
}

/// What is known of a receiver that did nothing: that it was woken and had no CPU is reported by the kernel alone.
fn was_idle(analysis: &Analysis<'_>) -> &'static str {
    let scheduling = analysis.scheduling.as_ref();
    match scheduling.is_some_and(|scheduling| scheduling.has_wakeups) {
        true => "was idle",
        false => "was idle or had no CPU",
    }
}

/// The service that a request asks.
pub(crate) fn service_name<'m>(analysis: &Analysis<'m>, id: RequestId) -> &'m str {
    let (model, request) = (analysis.model, analysis.request(id));
    let service = request.service.map(|id| &model.services[id.index()].name);
    let client = || request.client.map(|id| &model.clients[id.index()].name);
    service.or_else(client).map_or("a service", String::as_str)
}

/// The client whose callback ran.
pub fn client_name(analysis: &Analysis<'_>, id: ClientCallbackId) -> String {
    let callback = analysis.client_callback(id);
    match callback.client {
        Some(client) => analysis.names.client(client).to_owned(),
        None => names::unnamed_callback(callback.rmw_handle),
    }
}
