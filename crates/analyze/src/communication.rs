//! A message on its way from one publisher to one subscription: how long each stage took, or why it did not arrive.
//!
//! The stages are *publish* (from the call to the middleware, or to the ring buffer), *transport* (from there to the arrival; where the trace
//! has none, to the take, as far as the receiving thread was free), *wait* (the rest of the time until the take), *dispatch* (from the
//! take to the callback). They add up to the latency exactly. `docs/concepts/latency.md` has the definitions.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackGroupId, InstanceId, PublisherId, SubscriptionId, ThreadId};
use rostrace_model::flow::{Delivery, DeliveryKind, DeliveryStatus, Publication};

use crate::activity::Activities;
use crate::analysis::Analysis;
use crate::mutual_exclusion::GroupTimeline;
use crate::statistics::Statistics;

/// The parts of a latency in nanoseconds. Only the transport can be negative: between hosts whose clocks differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stages {
    pub publish: i64,
    pub transport: i64,
    pub wait: i64,
    pub dispatch: i64,
}

impl Stages {
    pub const NAMES: [&'static str; 4] = ["publish", "transport", "wait", "dispatch"];

    pub fn values(self) -> [i64; 4] {
        [self.publish, self.transport, self.wait, self.dispatch]
    }

    pub fn latency(self) -> i64 {
        self.values().iter().sum()
    }
}

/// A message that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    pub publish: Nanos,
    /// The middleware, or the ring buffer, had it.
    pub handed: Nanos,
    /// It came to the middleware of the receiver, where the trace tells.
    pub arrived: Option<Nanos>,
    /// Taken from the middleware. Messages inside a process are not taken.
    pub taken: Option<Nanos>,
    /// The callback began, or for a message taken by hand the take.
    pub received: Nanos,
    pub stages: Stages,
    /// Published before the subscription existed (transient local): its age says nothing about the transport.
    pub historical: bool,
}

named! {
    /// Why a message did not arrive.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DropCause {
        /// Pushed out of the ring buffer of an intra-process subscription.
        RingBufferFull = "ring_buffer_full",
        /// At least as many later messages as the subscription keeps were published before it took the next one: an inference.
        HistoryFull = "history_full",
        /// Lost although there was room.
        Middleware = "middleware",
        /// Not yet received when the recording ended.
        RecordingEnd = "recording_end",
        /// The trace does not tell whether it arrived.
        Unknown = "unknown",
    }
}

/// What became of every message, by [`DeliveryId`]. Found once for an [`Analysis`], see [`Analysis::arrival`].
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) arrivals: Vec<Option<Arrival>>,
    pub(crate) causes: Vec<Option<DropCause>>,
}

impl Messages {
    pub(crate) fn of(analysis: &Analysis<'_>) -> Messages {
        let model = analysis.model;
        let mut splitter = Splitter::new(analysis);
        let deliveries = model.deliveries.iter();
        let arrivals = deliveries.map(|delivery| splitter.arrival(delivery));
        let arrivals = arrivals.collect();
        let mut causes = vec![None; model.deliveries.len()];
        for index in 0..model.subscriptions.len() {
            let subscription = SubscriptionId::from_index(index);
            for (place, delivery) in analysis.deliveries_to(subscription).iter().enumerate() {
                causes[delivery.index()] = splitter.drop_cause(subscription, place);
            }
        }
        Messages { arrivals, causes }
    }
}

/// Splits latencies into stages.
#[derive(Debug)]
struct Splitter<'a> {
    analysis: &'a Analysis<'a>,
    activities: &'a Activities,
    groups: HashMap<(ThreadId, CallbackGroupId), Option<GroupTimeline>>,
}

impl<'a> Splitter<'a> {
    fn new(analysis: &'a Analysis<'a>) -> Splitter<'a> {
        Splitter {
            analysis,
            activities: analysis.activities(),
            groups: HashMap::new(),
        }
    }

    /// Nothing for a message that did not arrive, or of which the trace does not tell when.
    fn arrival(&mut self, delivery: &Delivery) -> Option<Arrival> {
        if delivery.status != DeliveryStatus::Delivered {
            return None;
        }
        let analysis = self.analysis;
        let publication = analysis.publication(delivery.publication);
        let start = delivery
            .instance
            .map(|instance| analysis.instance(instance).start);
        let take = match delivery.kind {
            DeliveryKind::Inter => analysis.take_of(delivery),
            DeliveryKind::Intra => None,
        };
        let taken = take.map(|take| take.time);
        let received = start.or(taken)?;
        let thread = match delivery.instance {
            Some(instance) => analysis.instance(instance).thread,
            None => take?.thread,
        };
        let publish = publish_instant(publication, delivery.kind);
        let handed = match delivery.kind {
            DeliveryKind::Inter => handed(publication),
            DeliveryKind::Intra => delivery
                .instance
                .and_then(|instance| analysis.enqueued_for(instance))
                .unwrap_or(publish),
        };
        let subscriptions = &analysis.model.subscriptions;
        let subscription = delivery.subscription.map(|id| &subscriptions[id.index()]);
        let historical = subscription.is_some_and(|it| it.created > publication.publish);
        if received < publish {
            let transport = received.0 - publish.0;
            return Some(Arrival {
                publish,
                handed: publish,
                arrived: None,
                taken,
                received,
                stages: Stages {
                    transport,
                    ..Stages::default()
                },
                historical,
            });
        }
        // The event behind the write can be later than the take: the receiver was faster than the sender's return.
        let fetched = taken.unwrap_or(received).clamp(publish, received);
        let arrived = delivery.arrived.map(|at| at.clamp(publish, fetched));
        let handed = handed.clamp(publish, arrived.unwrap_or(fetched));
        let between = fetched.0 - handed.0;
        let wait = match arrived {
            Some(arrived) => fetched.0 - arrived.0,
            None => between - self.idle(delivery.instance, thread, handed, fetched),
        };
        Some(Arrival {
            publish,
            handed,
            arrived,
            taken,
            received,
            stages: Stages {
                publish: handed.0 - publish.0,
                transport: between - wait,
                wait,
                dispatch: received.0 - fetched.0,
            },
            historical,
        })
    }

    /// How long the receiving thread could have taken the message and did not have to wait for its group.
    fn idle(
        &mut self,
        instance: Option<InstanceId>,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> i64 {
        let idle = self.activities.idle(thread, from, to);
        let (analysis, activities) = (self.analysis, self.activities);
        let group = instance
            .and_then(|instance| analysis.instance(instance).callback)
            .and_then(|callback| analysis.group_of(callback));
        let Some(group) = group.filter(|_| idle > 0) else {
            return idle;
        };
        let blocked = self
            .groups
            .entry((thread, group))
            .or_insert_with(|| GroupTimeline::beside(analysis, activities, thread, group))
            .as_ref()
            .map_or(0, |timeline| timeline.blocked(activities, thread, from, to));
        (idle - blocked).max(0)
    }

    /// Why a message did not arrive; nothing if it did. `place` is that of the delivery among those of its subscription.
    fn drop_cause(&self, subscription: SubscriptionId, place: usize) -> Option<DropCause> {
        let analysis = self.analysis;
        let deliveries = analysis.deliveries_to(subscription);
        match analysis.delivery(deliveries[place]).status {
            DeliveryStatus::Delivered => None,
            DeliveryStatus::Overwritten => Some(DropCause::RingBufferFull),
            DeliveryStatus::Queued => Some(DropCause::RecordingEnd),
            DeliveryStatus::Unknown => Some(DropCause::Unknown),
            DeliveryStatus::Lost => Some(self.cause_of_loss(subscription, place)),
        }
    }

    fn cause_of_loss(&self, subscription: SubscriptionId, place: usize) -> DropCause {
        let analysis = self.analysis;
        let depth = analysis.model.subscriptions[subscription.index()].depth as usize;
        let later = &analysis.deliveries_to(subscription)[place + 1..];
        let next = later.iter().map(|id| analysis.delivery(*id));
        let next_taken = next
            .take(depth.max(1) + 1)
            .find(|delivery| delivery.status == DeliveryStatus::Delivered)
            .and_then(|delivery| analysis.take_of(delivery));
        // Whoever fetched nothing for as long as the history lasts has let it overflow.
        let Some(next_taken) = next_taken else {
            return if depth > 0 && later.len() > depth {
                DropCause::HistoryFull
            } else {
                DropCause::Middleware
            };
        };
        let newer = later.iter().take(depth).filter(|id| {
            let publication = analysis.delivery(**id).publication;
            analysis.publication(publication).publish < next_taken.time
        });
        if depth > 0 && newer.count() >= depth {
            DropCause::HistoryFull
        } else {
            DropCause::Middleware
        }
    }
}

/// When a message was published, for receivers of one kind: a call that serves both does one after the other.
pub fn publish_instant(publication: &Publication, kind: DeliveryKind) -> Nanos {
    match kind {
        DeliveryKind::Intra => publication.intra.unwrap_or(publication.publish),
        DeliveryKind::Inter => publication.publish,
    }
}

/// When the middleware had it: the innermost event that the call left.
pub fn handed(publication: &Publication) -> Nanos {
    let innermost = publication.rmw.or(publication.rcl).or(publication.rclcpp);
    innermost.unwrap_or(publication.publish)
}

/// All messages from one publisher to one subscription, summarised.
#[derive(Debug)]
pub struct Pair {
    pub publisher: PublisherId,
    pub subscription: SubscriptionId,
    pub kind: DeliveryKind,
    pub messages: u64,
    pub arrived: u64,
    /// Published before the subscription existed, and received; they are not in the latencies.
    pub historical: u64,
    /// By [`DropCause::EVERY`].
    pub dropped: [u64; 5],
    pub latency: Option<Statistics>,
    /// By [`Stages::NAMES`]; their means add up to that of the latency.
    pub stages: [Option<Statistics>; 4],
    /// Messages whose way touches a time in which events were lost.
    pub damaged: u64,
}

/// What is known of one pair while its messages are counted.
#[derive(Debug, Default)]
struct PairTally {
    messages: u64,
    arrived: u64,
    historical: u64,
    dropped: [u64; 5],
    damaged: u64,
    latencies: Vec<(i64, Nanos)>,
    stages: [Vec<(i64, Nanos)>; 4],
}

/// One for each publisher, subscription and kind that messages went between, by subscription and publisher.
pub fn pairs(analysis: &Analysis<'_>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for number in 0..analysis.model.subscriptions.len() {
        let subscription = SubscriptionId::from_index(number);
        let mut tallies: HashMap<(PublisherId, DeliveryKind), PairTally> = HashMap::new();
        for id in analysis.deliveries_to(subscription) {
            let delivery = analysis.delivery(*id);
            let publication = analysis.publication(delivery.publication);
            let Some(publisher) = publication.publisher else {
                continue;
            };
            if !analysis.counts(publication.publish) {
                continue;
            }
            let tally = tallies.entry((publisher, delivery.kind)).or_default();
            tally.messages += 1;
            if let Some(arrival) = analysis.arrival(*id) {
                tally.arrived += 1;
                let damaged = analysis.is_damaged(arrival.publish, arrival.received)
                    || analysis.begins_late(delivery.publication);
                tally.damaged += u64::from(damaged);
                tally.add(arrival);
            } else if let Some(cause) = analysis.drop_cause(*id) {
                tally.dropped[cause as usize] += 1;
            } else {
                // It arrived, but when is not in the trace.
                tally.arrived += 1;
            }
        }
        let mut of_subscription: Vec<Pair> = tallies
            .into_iter()
            .map(|((publisher, kind), tally)| tally.finish(publisher, subscription, kind))
            .collect();
        of_subscription.sort_by_key(|pair| (pair.publisher, pair.kind.name()));
        pairs.append(&mut of_subscription);
    }
    pairs
}

impl PairTally {
    fn add(&mut self, arrival: &Arrival) {
        if arrival.historical {
            self.historical += 1;
            return;
        }
        let latency = arrival.stages.latency();
        self.latencies.push((latency, arrival.publish));
        for (values, value) in self.stages.iter_mut().zip(arrival.stages.values()) {
            values.push((value, arrival.publish));
        }
    }

    fn finish(
        mut self,
        publisher: PublisherId,
        subscription: SubscriptionId,
        kind: DeliveryKind,
    ) -> Pair {
        Pair {
            publisher,
            subscription,
            kind,
            messages: self.messages,
            arrived: self.arrived,
            historical: self.historical,
            dropped: self.dropped,
            latency: Statistics::of(&mut self.latencies),
            stages: self.stages.each_mut().map(|it| Statistics::of(it)),
            damaged: self.damaged,
        }
    }
}
