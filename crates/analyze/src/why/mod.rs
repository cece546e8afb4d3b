//! Why something took as long as it did: its time cut into parts, each with a cause. The parts are contiguous, so that they
//! add up exactly; what the trace does not tell is a part of its own.
//!
//! [`Why`] finds the parts (`path_instance` those of declared paths, `request` those of executions that asked a service, `lost` those of messages
//! that did not arrive), `lock` cuts them where their thread waited for a lock, `standing` where everything stood still, `on_cpu` where the kernel
//! tells more, `inside` where a thread was in a system call or an interrupt, `by_clock` where the clocks of threads do, `publishing` where a message may not have been sent yet; `cause` says what they can be
//! due to, `wait` puts those of one cause together, and [`total`] adds up
//! those of a whole recording.

mod by_clock;
mod cause;
mod inside;
mod lock;
mod lost;
mod on_cpu;
mod part;
mod path_instance;
mod publishing;
mod request;
mod standing;
pub mod total;
mod wait;

use std::cell::RefCell;
use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{
    CallbackGroupId, DeliveryId, InstanceId, PublicationId, ThreadId, TimerId,
};
use rostrace_model::flow::DeliveryKind;

use crate::activity::{Activities, Activity};
use crate::analysis::Analysis;
use crate::communication::Arrival;
use crate::flow_path::Flow;
use crate::mutual_exclusion::GroupRuns;
use crate::timer::Firing;
use by_clock::by_clock;
use inside::inside;
use lock::at_locks;
use on_cpu::on_cpu;
use part::Parts;
use publishing::{PublishCall, publishing};
use standing::standing;

pub(crate) use cause::service_name;
pub use cause::{ByClock, CallStage, Cause, NotOnCpu, Relation, client_name, name_of};
pub use lock::AtLock;
pub use part::Part;
pub(crate) use request::has_one_clock;
pub use wait::{Rest, Wait, Waits};

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

/// Finds explanations.
#[derive(Debug)]
pub struct Why<'a> {
    analysis: &'a Analysis<'a>,
    activities: &'a Activities,
    /// Of the timers that were asked for.
    firings: HashMap<TimerId, Vec<Firing>>,
    /// Of the groups that were asked for.
    groups: RefCell<HashMap<CallbackGroupId, GroupRuns>>,
}

impl<'a> Why<'a> {
    pub fn new(analysis: &'a Analysis<'a>) -> Why<'a> {
        Why {
            analysis,
            activities: analysis.activities(),
            firings: HashMap::new(),
            groups: RefCell::new(HashMap::new()),
        }
    }

    /// A message from publish to callback; nothing if it did not arrive.
    pub fn communication(&mut self, delivery: DeliveryId) -> Option<Explanation> {
        let arrival = *self.analysis.arrival(delivery)?;
        let mut parts = Parts::new(arrival.publish);
        self.add_communication(&mut parts, delivery, &arrival);
        Some(self.explanation(parts))
    }

    /// An execution: from when it should have begun (a timer: when it was due; a message: its publication; a service: when the request was sent; else its start)
    /// to its end. A message that is older than the subscription was not under way since its publication: it does not count.
    pub fn instance(&mut self, instance: InstanceId, firing: Option<&Firing>) -> Explanation {
        let row = self.analysis.instance(instance);
        let mut parts;
        if let Some((delivery, arrival)) = self.reason(instance) {
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
        } else if let Some((request, sent)) = self.analysis.asked_by(instance) {
            parts = Parts::new(sent);
            self.add_request(&mut parts, request, instance);
        } else {
            parts = Parts::new(row.start);
        }
        if let Some(end) = row.end {
            self.add_execution(&mut parts, instance, end);
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
                self.add_output(parts, Some(before), delivery.publication, arrival.publish);
            }
            parts.hop = hop;
            self.add_communication(parts, *id, &arrival);
            before = delivery.instance;
        }
        parts.map(|parts| self.explanation(parts))
    }

    /// The message for which an execution began, and that was under way since its publication.
    fn reason(&self, instance: InstanceId) -> Option<(DeliveryId, Arrival)> {
        let delivery = self.analysis.received_by(instance)?;
        let arrival = *self.analysis.arrival(delivery)?;
        let start = self.analysis.instance(instance).start;
        (arrival.received == start && !arrival.historical).then_some((delivery, arrival))
    }

    fn explanation(&self, parts: Parts) -> Explanation {
        let end = parts.at;
        let begin = parts.begin;
        Explanation {
            begin,
            end,
            damaged: parts.damaged || self.analysis.is_damaged(begin, end),
            parts: (standing(self.analysis, &self.at_locks(parts.done)).iter())
                .flat_map(|part| match &self.analysis.scheduling {
                    Some(scheduling) => on_cpu(scheduling, part),
                    None => vec![*part],
                })
                .flat_map(|part| inside(self.analysis, &part))
                .flat_map(|part| by_clock(self.analysis, &part))
                .flat_map(|part| publishing(&parts.calls, part))
                .collect(),
        }
    }

    fn at_locks(&self, parts: Vec<Part>) -> Vec<Part> {
        if self.analysis.model.lock_waits.is_empty() {
            return parts;
        }
        let parts = parts.into_iter();
        parts
            .flat_map(|part| at_locks(self.analysis, part))
            .collect()
    }

    fn add_communication(&self, parts: &mut Parts, id: DeliveryId, arrival: &Arrival) {
        let delivery = self.analysis.delivery(id);
        parts.damaged |= self.analysis.begins_late(delivery.publication);
        if arrival.received < arrival.publish {
            // The clocks of two hosts disagree: nothing can be said of the time between.
            parts.back_to(arrival.received);
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
        let idle = match (delivery.kind, arrival.arrived) {
            (DeliveryKind::Inter, Some(arrived)) => {
                parts.thread = None;
                parts.until(arrived, Cause::Transport);
                Cause::NotTaken
            }
            (DeliveryKind::Inter, None) => {
                parts.calls.push(PublishCall {
                    thread: publication.thread,
                    written_by: self.written_by(delivery.publication),
                    hop: parts.hop,
                });
                Cause::Middleware
            }
            (DeliveryKind::Intra, _) => Cause::IntraProcessBuffer,
        };
        parts.thread = thread;
        match thread {
            Some(thread) => self.add_wait(parts, thread, delivery.instance, fetched, idle),
            None => parts.until(fetched, Cause::Unknown),
        }
        parts.until(arrival.received, Cause::Dispatch);
    }

    /// When a message is first known to have been written: its publisher's thread went on, or somebody had it.
    fn written_by(&self, publication: PublicationId) -> Nanos {
        let receivers = self.analysis.deliveries_of(publication).iter();
        let received = receivers
            .filter(|id| self.analysis.delivery(**id).kind == DeliveryKind::Inter)
            .filter_map(|id| self.analysis.arrival(*id))
            .filter_map(|arrival| arrival.arrived.or(arrival.taken));
        let returned = self.analysis.publication(publication).returned_by;
        received.chain(returned).min().unwrap_or(Nanos(i64::MAX))
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
        // What is over is not looked at again: a long wait has many spans, and many runs of its group.
        let mut elsewhere = elsewhere.as_slice();
        for span in self.activities.spans(thread, parts.at, to) {
            let cause = match span.activity {
                Activity::Callback(other) => Cause::OtherCallback(other, Relation::SameThread),
                Activity::Client(other) => Cause::ClientCallback(other, Relation::SameThread),
                Activity::Unended(other) => Cause::Unended(other),
                Activity::Executor => Cause::Executor,
                Activity::Waiting => idle,
                Activity::Unobserved => match idle {
                    Cause::Middleware => Cause::MiddlewareOrExecutor,
                    Cause::IntraProcessBuffer
                    | Cause::Stored(_)
                    | Cause::NotTaken
                    | Cause::Lost(_)
                    | Cause::Call(..) => idle,
                    _ => Cause::Unknown,
                },
            };
            if span.activity.is_idle() {
                while let Some(((_, end, _), rest)) = elsewhere.split_first()
                    && *end <= parts.at
                {
                    elsewhere = rest;
                }
                for (start, end, other) in elsewhere {
                    if *start >= span.end {
                        break;
                    }
                    if *end <= parts.at {
                        continue;
                    }
                    parts.until(*start, cause);
                    let end = (*end).min(span.end);
                    parts.until(end, *other);
                }
            }
            parts.until(span.end, cause);
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
        let mut groups = self.groups.borrow_mut();
        let runs = groups
            .entry(group)
            .or_insert_with(|| GroupRuns::of(analysis, group));
        let runs = runs.between(from, to).filter_map(|run| {
            let end = run.end?;
            let cause = match run.activity {
                Activity::Callback(id) => Cause::OtherCallback(id, Relation::SameGroup),
                Activity::Client(id) => Cause::ClientCallback(id, Relation::SameGroup),
                Activity::Unended(_)
                | Activity::Executor
                | Activity::Waiting
                | Activity::Unobserved => {
                    return None;
                }
            };
            (run.thread != thread).then_some((run.start, end, cause))
        });
        runs.collect()
    }
}
