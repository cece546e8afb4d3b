//! Publishers and subscriptions summarised: how many messages, how often, how old.
//!
//! A subscription receives where its callback begins, or where a message is taken by hand. Messages before the range that
//! counts are looked at, so that the first one in it has a period too.

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{PublicationId, PublisherId, SubscriptionId, TakeId};
use rostrace_model::flow::Take;

use crate::analysis::Analysis;
use crate::groups::Groups;
use crate::message_age::message_age;
use crate::rate::recorded_per_second;
use crate::statistics::Statistics;

/// What one end of a topic published or received.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointSummary {
    pub messages: u64,
    /// Those that went through the own process. A publisher's may go to other processes as well.
    pub intra_process: u64,
    /// Those that a program took itself, without a callback.
    pub by_hand: u64,
    /// Messages per second between the first one and the last one; nothing for fewer than two.
    pub rate: Option<f64>,
    /// From one message to the next.
    pub period: Option<Statistics>,
    /// Of received messages whose header carries a stamp.
    pub age: Option<Statistics>,
    /// Messages that follow a loss of events: how long after the one before is not known.
    pub damaged: u64,
}

/// A message at one end of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointMessage {
    pub time: Nanos,
    pub intra_process: bool,
    pub by_hand: bool,
    /// The call that published it, if it is known.
    pub publication: Option<PublicationId>,
}

/// What each publisher published and each subscription received.
#[derive(Debug)]
pub struct Endpoints<'a> {
    analysis: &'a Analysis<'a>,
    by_hand: Groups<SubscriptionId, TakeId>,
}

/// Whether a program took a message itself, without a callback. It has to be said whether the callback of the subscription ever ran.
pub fn is_by_hand(model: &Model, take: &Take, has_run: bool) -> bool {
    let Some(subscription) = take.subscription.filter(|_| take.instance.is_none()) else {
        return false;
    };
    // With losses the trace does not tell which execution a take belongs to.
    if has_run && model.losses.any() {
        return false;
    }
    // Where a subscription also receives inside the process, it takes these messages from the middleware too, and throws them away.
    let subscription = &model.subscriptions[subscription.index()];
    let from_elsewhere = take.publication.is_some_and(|publication| {
        let publication = &model.publications[publication.index()];
        publication.intra.is_none() && model.process_of(publication.thread) != subscription.process
    });
    !subscription.intra_process || from_elsewhere
}

impl<'a> Endpoints<'a> {
    pub fn new(analysis: &'a Analysis<'a>) -> Endpoints<'a> {
        let model = analysis.model;
        let by_hand = Groups::new(model.subscriptions.len(), model.takes.len(), |row| {
            let take = &model.takes[row];
            let subscription = take.subscription?;
            let callback = model.subscriptions[subscription.index()].callback;
            let has_run = callback.is_some_and(|it| !analysis.instances_of(it).is_empty());
            is_by_hand(model, take, has_run).then_some(subscription)
        });
        Endpoints { analysis, by_hand }
    }

    /// All publications of a publisher, in the order of time.
    pub fn published(&self, publisher: PublisherId) -> Vec<EndpointMessage> {
        let publications = self.analysis.publications_of(publisher).iter();
        let mut messages: Vec<EndpointMessage> = publications
            .map(|id| {
                let publication = self.analysis.publication(*id);
                EndpointMessage {
                    time: publication.publish,
                    intra_process: publication.intra.is_some(),
                    by_hand: false,
                    publication: Some(*id),
                }
            })
            .collect();
        messages.sort_by_key(|message| message.time);
        messages
    }

    /// Everything that a subscription received, in the order of time.
    pub fn received(&self, subscription: SubscriptionId) -> Vec<EndpointMessage> {
        let model = self.analysis.model;
        let callback = model.subscriptions[subscription.index()].callback;
        let instances = callback.map_or(&[][..], |callback| self.analysis.instances_of(callback));
        let executed = instances.iter().map(|id| {
            let instance = self.analysis.instance(*id);
            let delivered = || {
                let delivery = self.analysis.received_by(*id)?;
                Some(self.analysis.delivery(delivery).publication)
            };
            let taken = || model.takes[instance.take?.index()].publication;
            EndpointMessage {
                time: instance.start,
                intra_process: instance.intra_process,
                by_hand: false,
                publication: instance.source.or_else(delivered).or_else(taken),
            }
        });
        let by_hand = self.by_hand.of(subscription).iter().map(|id| {
            let take = &model.takes[id.index()];
            EndpointMessage {
                time: take.time,
                intra_process: false,
                by_hand: true,
                publication: take.publication,
            }
        });
        let mut messages: Vec<EndpointMessage> = executed.chain(by_hand).collect();
        messages.sort_by_key(|message| message.time);
        messages
    }

    pub fn publisher(&self, publisher: PublisherId) -> EndpointSummary {
        self.summary(&self.published(publisher), false)
    }

    pub fn subscription(&self, subscription: SubscriptionId) -> EndpointSummary {
        self.summary(&self.received(subscription), true)
    }

    fn summary(&self, messages: &[EndpointMessage], receives: bool) -> EndpointSummary {
        let analysis = self.analysis;
        let mut periods = Vec::new();
        let mut ages = Vec::new();
        let (mut count, mut intra_process, mut by_hand, mut damaged) = (0u64, 0, 0, 0);
        let mut first: Option<Nanos> = None;
        let mut last = None;
        let mut before: Option<Nanos> = None;
        for message in messages {
            let at = message.time;
            let previous = before.replace(at);
            if !analysis.counts(at) {
                continue;
            }
            count += 1;
            intra_process += u64::from(message.intra_process);
            by_hand += u64::from(message.by_hand);
            first.get_or_insert(at);
            last = Some(at);
            match previous {
                Some(previous) if analysis.is_damaged(previous, at) => damaged += 1,
                Some(previous) => periods.push((at.0.saturating_sub(previous.0), at)),
                None => {}
            }
            if receives && let Some(publication) = message.publication {
                let stamp = analysis.publication(publication).message_timestamp;
                let age = stamp.and_then(|stamp| message_age(analysis.model, stamp, at));
                ages.extend(age.map(|age| (age, at)));
            }
        }
        EndpointSummary {
            messages: count,
            intra_process,
            by_hand,
            rate: first
                .zip(last)
                .and_then(|(first, last)| recorded_per_second(analysis.model, count, first, last)),
            period: Statistics::of(&mut periods),
            age: Statistics::of(&mut ages),
            damaged,
        }
    }
}
