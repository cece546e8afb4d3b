//! Why something took as long as it did: its time cut into parts, each with a cause. The parts are contiguous, so that they
//! add up exactly; what the trace does not tell is a part of its own.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::{ClientCallbackId, DeliveryId, InstanceId, ThreadId};
use rostrace_trace::flow::DeliveryKind;
use rostrace_trace::scheduling::{Ready, Scheduling, State, TaskId};

use crate::activity::{Activity, Doing};
use crate::analysis::Analysis;
use crate::communication::Arrival;
use crate::flow_path::Flow;
use crate::mutual_exclusion::runs_of;
use crate::names;
use crate::timer::Firing;

/// A time, and why it passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub begin: Nanos,
    pub end: Nanos,
    /// In the order of time, without gaps.
    pub parts: Vec<Part>,
    /// Whether events were lost meanwhile, so that causes may be missing.
    pub damaged: bool,
}

/// All parts of one cause in one hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub hop: usize,
    pub cause: Cause,
    /// What it was, for people: the same for all parts of it.
    pub told: String,
    pub duration: i64,
    /// How many parts it has.
    pub times: usize,
}

impl Explanation {
    /// In the order in which they first occur. They add up as the parts do.
    pub fn waits(&self, analysis: &Analysis<'_>) -> Vec<Wait> {
        let mut waits: Vec<Wait> = Vec::new();
        let mut places: HashMap<(usize, String), usize> = HashMap::new();
        for part in &self.parts {
            let told = part.told(analysis);
            let place = *places.entry((part.hop, told.clone())).or_insert_with(|| {
                waits.push(Wait {
                    hop: part.hop,
                    cause: part.cause,
                    told,
                    duration: 0,
                    times: 0,
                });
                waits.len() - 1
            });
            waits[place].duration += part.duration();
            waits[place].times += 1;
        }
        waits
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub begin: Nanos,
    pub end: Nanos,
    pub cause: Cause,
    /// The thread on which it passed, where there is one.
    pub thread: Option<ThreadId>,
    /// Which hop of a path it belongs to, from 0; the callback after a hop belongs to it.
    pub hop: usize,
}

impl Part {
    pub fn duration(&self) -> i64 {
        self.end.0 - self.begin.0
    }

    /// What it was, for people.
    pub fn told(&self, analysis: &Analysis<'_>) -> String {
        let name = |instance: InstanceId| match analysis.instance(instance).callback {
            Some(callback) => analysis.names.callback(callback).to_owned(),
            None => names::unnamed_callback(analysis.instance(instance).address),
        };
        match self.cause {
            Cause::Publishing => "publishing: from the call to the middleware".to_owned(),
            Cause::Middleware => "middleware: the receiver was waiting for it".to_owned(),
            Cause::MiddlewareOrExecutor => {
                "middleware or executor: nothing tells what the executor did then".to_owned()
            }
            Cause::IntraProcessBuffer => "in the intra-process buffer".to_owned(),
            Cause::OtherCallback(instance, relation) => {
                format!("waiting: {} ran ({})", name(instance), relation.name())
            }
            Cause::ClientCallback(id, relation) => {
                let name = client_name(analysis, id);
                format!("waiting: {name} ran ({})", relation.name())
            }
            Cause::Executor => "executor: looking for work, taking, dispatching".to_owned(),
            Cause::Dispatch => "dispatch: from the take to the callback".to_owned(),
            Cause::TimerLateness => "timer lateness: due, but its thread woke up late".to_owned(),
            Cause::Execution(instance) => format!("execution of {}", name(instance)),
            Cause::NotOnCpu(state, instance) => {
                let of = instance.map_or("its thread".to_owned(), name);
                match state {
                    NotOnCpu::Preempted(task) => {
                        let by = analysis.scheduling.as_ref().map(|it| it.task(task));
                        let by =
                            by.map_or(String::new(), |by| format!(" by {} {}", by.name, by.tid));
                        format!("not on a CPU: {of} was preempted{by}")
                    }
                    NotOnCpu::Blocked => format!("not on a CPU: {of} slept"),
                    NotOnCpu::WaitingForCpu => {
                        format!("not on a CPU: {of} was woken and waited to be scheduled")
                    }
                }
            }
            Cause::Unknown => "unknown: the trace does not tell".to_owned(),
        }
    }
}

/// The client whose callback ran.
pub fn client_name(analysis: &Analysis<'_>, id: ClientCallbackId) -> String {
    let callback = analysis.client_callback(id);
    match callback.client {
        Some(client) => analysis.names.client(client).to_owned(),
        None => names::unnamed_callback(callback.rmw_handle),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The call of `publish` handed the message down to the middleware, or into the ring buffer.
    Publishing,
    /// In the middleware: the receiving thread was waiting for work.
    Middleware,
    /// In the middleware or in the executor: the trace has no phases of this executor.
    MiddlewareOrExecutor,
    /// In the ring buffer of the subscription, while the receiving thread was not known to be busy.
    IntraProcessBuffer,
    /// Another callback ran.
    OtherCallback(InstanceId, Relation),
    /// The callback of a client ran.
    ClientCallback(ClientCallbackId, Relation),
    /// The executor looked for work, took messages, dispatched.
    Executor,
    /// From the take to the start of the callback.
    Dispatch,
    /// The timer was due and its thread was waiting for work: it woke up late.
    TimerLateness,
    /// The callback itself ran.
    Execution(InstanceId),
    /// The thread was not on a CPU while it should have gone on with what it did: the execution of a callback, or the executor's work.
    NotOnCpu(NotOnCpu, Option<InstanceId>),
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
    /// It was woken up, and waited for a CPU.
    WaitingForCpu,
}

impl NotOnCpu {
    pub fn name(self) -> &'static str {
        match self {
            NotOnCpu::Preempted(_) => "preempted",
            NotOnCpu::Blocked => "blocked",
            NotOnCpu::WaitingForCpu => "waiting_for_cpu",
        }
    }
}

/// Why another callback was in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    SameThread,
    /// On another thread, in the same mutually exclusive group.
    SameGroup,
}

impl Relation {
    pub fn name(self) -> &'static str {
        match self {
            Relation::SameThread => "same thread",
            Relation::SameGroup => "same mutually exclusive group",
        }
    }
}

impl Cause {
    /// As tables and JSON call it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Publishing => "publishing",
            Cause::Middleware => "middleware",
            Cause::MiddlewareOrExecutor => "middleware_or_executor",
            Cause::IntraProcessBuffer => "intra_process_buffer",
            Cause::OtherCallback(..) | Cause::ClientCallback(..) => "other_callback",
            Cause::Executor => "executor",
            Cause::Dispatch => "dispatch",
            Cause::TimerLateness => "timer_lateness",
            Cause::Execution(_) => "execution",
            Cause::NotOnCpu(state, _) => state.name(),
            Cause::Unknown => "unknown",
        }
    }
}

/// Finds explanations.
#[derive(Debug)]
pub struct Why<'a> {
    analysis: &'a Analysis<'a>,
    activity: &'a Activity,
}

impl<'a> Why<'a> {
    pub fn new(analysis: &'a Analysis<'a>) -> Why<'a> {
        Why {
            analysis,
            activity: analysis.activity(),
        }
    }

    /// A message from publish to callback; nothing if it did not arrive.
    pub fn communication(&mut self, delivery: DeliveryId) -> Option<Explanation> {
        let arrival = *self.analysis.arrival(delivery)?;
        let mut parts = Parts::new(arrival.publish);
        self.add_communication(&mut parts, delivery, &arrival);
        Some(self.explanation(parts))
    }

    /// An execution: from when it should have begun (a timer: when it was due; a message: its publication; else its start)
    /// to its end. A message that is older than the subscription was not under way since its publication: it does not count.
    pub fn instance(&mut self, instance: InstanceId, firing: Option<&Firing>) -> Explanation {
        let analysis = self.analysis;
        let row = analysis.instance(instance);
        let arrival = analysis.received_by(instance).and_then(|delivery| {
            let arrival = *analysis.arrival(delivery)?;
            let counts = arrival.received == row.start && !arrival.historical;
            counts.then_some((delivery, arrival))
        });
        let mut parts;
        if let Some((delivery, arrival)) = arrival {
            parts = Parts::new(arrival.publish);
            self.add_communication(&mut parts, delivery, &arrival);
        } else if let Some(firing) = firing {
            parts = Parts::new(firing.expected);
            parts.thread = Some(row.thread);
            self.add_wait(
                &mut parts,
                row.thread,
                Some(instance),
                row.start,
                Cause::TimerLateness,
            );
        } else {
            parts = Parts::new(row.start);
        }
        if let Some(end) = row.end {
            parts.thread = Some(row.thread);
            parts.until(end, Cause::Execution(instance));
        }
        self.explanation(parts)
    }

    /// A message along a path, from its first publication to the start of the last callback.
    pub fn flow(&mut self, flow: &Flow) -> Option<Explanation> {
        let mut parts: Option<Parts> = None;
        let mut before: Option<InstanceId> = None;
        for (hop, id) in flow.deliveries.iter().enumerate() {
            let delivery = self.analysis.delivery(*id);
            let arrival = *self.analysis.arrival(*id)?;
            let parts = parts.get_or_insert_with(|| Parts::new(arrival.publish));
            if let Some(before) = before {
                parts.thread = Some(self.analysis.instance(before).thread);
                parts.until(arrival.publish, Cause::Execution(before));
            }
            parts.hop = hop;
            self.add_communication(parts, *id, &arrival);
            before = delivery.instance;
        }
        parts.map(|parts| self.explanation(parts))
    }

    fn explanation(&self, parts: Parts) -> Explanation {
        let end = parts.at;
        let begin = parts.begin;
        Explanation {
            begin,
            end,
            damaged: parts.damaged || self.analysis.is_damaged(begin, end),
            parts: match &self.analysis.scheduling {
                Some(scheduling) => parts
                    .done
                    .iter()
                    .flat_map(|part| on_cpu(scheduling, part))
                    .collect(),
                None => parts.done,
            },
        }
    }

    fn add_communication(&self, parts: &mut Parts, id: DeliveryId, arrival: &Arrival) {
        let delivery = self.analysis.delivery(id);
        parts.damaged |= self.analysis.begins_late(delivery.publication);
        if arrival.received < arrival.publish {
            // The clocks of two hosts disagree: nothing can be said of the time between.
            parts.until(arrival.received, Cause::Unknown);
            return;
        }
        let publication = self.analysis.publication(delivery.publication);
        parts.thread = Some(publication.thread);
        parts.until(arrival.handed, Cause::Publishing);
        let fetched = Nanos(arrival.received.0 - arrival.stages.dispatch);
        let thread = match delivery.instance {
            Some(instance) => Some(self.analysis.instance(instance).thread),
            None => self.analysis.take_of(delivery).map(|take| take.thread),
        };
        let idle = match delivery.kind {
            DeliveryKind::Inter => Cause::Middleware,
            DeliveryKind::Intra => Cause::IntraProcessBuffer,
        };
        parts.thread = thread;
        match thread {
            Some(thread) => self.add_wait(parts, thread, delivery.instance, fetched, idle),
            None => parts.until(fetched, Cause::Unknown),
        }
        parts.until(arrival.received, Cause::Dispatch);
    }

    /// What a thread did until it came to something; `idle` is what it means that it had nothing to do.
    fn add_wait(
        &self,
        parts: &mut Parts,
        thread: ThreadId,
        instance: Option<InstanceId>,
        to: Nanos,
        idle: Cause,
    ) {
        let elsewhere = self.group_elsewhere(thread, instance, parts.at, to);
        for segment in self.activity.segments(thread, parts.at, to) {
            let cause = match segment.doing {
                Doing::Callback(other) => Cause::OtherCallback(other, Relation::SameThread),
                Doing::Client(other) => Cause::ClientCallback(other, Relation::SameThread),
                Doing::Executor => Cause::Executor,
                Doing::Waiting => idle,
                Doing::Unobserved => match idle {
                    Cause::Middleware => Cause::MiddlewareOrExecutor,
                    Cause::IntraProcessBuffer => Cause::IntraProcessBuffer,
                    _ => Cause::Unknown,
                },
            };
            if segment.doing.is_idle() {
                for (start, end, other) in &elsewhere {
                    if *end <= parts.at || *start >= segment.end {
                        continue;
                    }
                    parts.until(*start, cause);
                    let end = (*end).min(segment.end);
                    parts.until(end, *other);
                }
            }
            parts.until(segment.end, cause);
        }
        parts.until(to, Cause::Unknown);
    }

    /// When callbacks of the same mutually exclusive group ran on other threads, in the order of time.
    fn group_elsewhere(
        &self,
        thread: ThreadId,
        instance: Option<InstanceId>,
        from: Nanos,
        to: Nanos,
    ) -> Vec<(Nanos, Nanos, Cause)> {
        let analysis = self.analysis;
        let callback = instance.and_then(|instance| analysis.instance(instance).callback);
        let Some(group) = callback.and_then(|callback| analysis.group_of(callback)) else {
            return Vec::new();
        };
        let mut runs: Vec<_> = runs_of(analysis, group)
            .filter_map(|run| {
                let end = run.end?;
                let cause = match run.doing {
                    Doing::Callback(id) => Cause::OtherCallback(id, Relation::SameGroup),
                    Doing::Client(id) => Cause::ClientCallback(id, Relation::SameGroup),
                    Doing::Executor | Doing::Waiting | Doing::Unobserved => return None,
                };
                (run.thread != thread && end > from && run.start < to)
                    .then_some((run.start, end, cause))
            })
            .collect();
        runs.sort_by_key(|(start, end, _)| (*start, *end));
        runs
    }
}

/// A part, cut where its thread was not on a CPU. A thread that waits for a message, or for its timer, is meant to sleep; that
/// it was woken and did not get a CPU is a wait of its own.
fn on_cpu(scheduling: &Scheduling, part: &Part) -> Vec<Part> {
    let instance = match part.cause {
        Cause::Execution(instance) => Some(instance),
        Cause::Publishing | Cause::Executor | Cause::Dispatch => None,
        Cause::Middleware
        | Cause::MiddlewareOrExecutor
        | Cause::IntraProcessBuffer
        | Cause::TimerLateness => None,
        Cause::OtherCallback(..)
        | Cause::ClientCallback(..)
        | Cause::NotOnCpu(..)
        | Cause::Unknown => return vec![*part],
    };
    let is_work = matches!(
        part.cause,
        Cause::Execution(_) | Cause::Publishing | Cause::Executor | Cause::Dispatch
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

/// Parts that are being put together.
#[derive(Debug)]
struct Parts {
    begin: Nanos,
    at: Nanos,
    thread: Option<ThreadId>,
    hop: usize,
    done: Vec<Part>,
    damaged: bool,
}

impl Parts {
    fn new(begin: Nanos) -> Parts {
        Parts {
            begin,
            at: begin,
            thread: None,
            hop: 0,
            done: Vec::new(),
            damaged: false,
        }
    }

    /// Everything up to an instant has this cause. Only a disagreement of clocks makes time go back.
    fn until(&mut self, end: Nanos, cause: Cause) {
        if end == self.at || end < self.at && cause != Cause::Unknown {
            return;
        }
        match self.done.last_mut() {
            Some(last) if last.cause == cause && last.hop == self.hop => last.end = end,
            _ => self.done.push(Part {
                begin: self.at,
                end,
                cause,
                thread: self.thread,
                hop: self.hop,
            }),
        }
        self.at = end;
    }
}
