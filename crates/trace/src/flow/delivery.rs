//! Deliveries: which message reached which subscription.
//!
//! What was received is found in `matching` (through the middleware) and here (inside a process). A message that did not
//! arrive has a row too, with the reason as far as it is known. Work grows with the number of rows, not with the
//! product of topics, subscriptions that ever existed and messages.

use std::collections::{HashMap, HashSet};

use rostrace_ctf::schema::Nanos;

use super::connect::subscription_of_callback;
use super::matching::match_takes;
use super::{Enqueue, Fate, Publication};
use crate::entity::{
    Entities, InstanceId, Process, PublicationId, PublisherId, SubscriptionId, TakeId,
};
use crate::import::Imported;

/// A message and a subscription that it should have reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    pub publication: PublicationId,
    pub subscription: SubscriptionId,
    pub kind: DeliveryKind,
    pub status: DeliveryStatus,
    /// The execution that received it; nothing if it was taken by hand or did not arrive.
    pub instance: Option<InstanceId>,
    /// What ties the two ends together; meaningful for what was delivered.
    pub by: Match,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryKind {
    /// Through the middleware.
    Inter,
    /// Inside one process.
    Intra,
}

/// How long a message may be on its way when a recording ends, in nanoseconds.
const PATIENCE: i64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    Delivered,
    /// Pushed out of the ring buffer by a later message.
    Overwritten,
    /// The subscription got earlier and later messages of the publisher, but not this one.
    Lost,
    /// Not taken, though the recording went on for long enough after it.
    Queued,
    /// The trace does not tell.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Match {
    /// Topic and source timestamp.
    SourceTimestamp,
    /// Topic and source timestamp, which several publishers share; all of their messages arrived.
    Ambiguous,
    /// The only publication on whose way the stamp of the take can have been made: an inference.
    Instant,
    RingBuffer,
    MessageAddress,
    /// Agnocast's entry number.
    Entry,
    Nothing,
}

impl DeliveryStatus {
    pub fn name(self) -> &'static str {
        match self {
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Overwritten => "overwritten",
            DeliveryStatus::Lost => "lost",
            DeliveryStatus::Queued => "queued",
            DeliveryStatus::Unknown => "unknown",
        }
    }
}

impl Match {
    pub fn name(self) -> &'static str {
        match self {
            Match::SourceTimestamp => "source_timestamp",
            Match::Ambiguous => "ambiguous",
            Match::Instant => "instant",
            Match::RingBuffer => "ring_buffer",
            Match::MessageAddress => "message_address",
            Match::Entry => "entry",
            Match::Nothing => "",
        }
    }
}

impl DeliveryKind {
    pub fn name(self) -> &'static str {
        match self {
            DeliveryKind::Inter => "inter",
            DeliveryKind::Intra => "intra",
        }
    }
}

/// What a subscription received, or did not because of an overwriting.
#[derive(Debug, Clone, Copy)]
struct Reception {
    publication: PublicationId,
    subscription: SubscriptionId,
    status: DeliveryStatus,
    instance: Option<InstanceId>,
    by: Match,
}

/// Receptions in the order of publication and subscription, one for each pair.
#[derive(Debug, Default)]
struct Receptions(Vec<Reception>);

impl Receptions {
    /// Where a pair has several, the first one counts.
    fn new(mut rows: Vec<Reception>) -> Receptions {
        rows.sort_by_key(|row| (row.publication, row.subscription));
        rows.dedup_by_key(|row| (row.publication, row.subscription));
        Receptions(rows)
    }

    /// To be asked for one publication after the other, in the order of time.
    fn in_order(&self) -> InOrder<'_> {
        InOrder { rows: &self.0 }
    }
}

/// What is left of receptions: those of later publications.
struct InOrder<'r> {
    rows: &'r [Reception],
}

impl<'r> InOrder<'r> {
    /// The receptions of a publication. The next one is near: steps double until it is passed.
    fn of(&mut self, publication: PublicationId) -> &'r [Reception] {
        let is_before = |row: &Reception| row.publication < publication;
        let mut step = 1;
        while self.rows.get(step - 1).is_some_and(is_before) {
            self.rows = &self.rows[step..];
            step = (step * 2).min(self.rows.len().max(1));
        }
        let near = &self.rows[..step.min(self.rows.len())];
        self.rows = &self.rows[near.partition_point(is_before)..];
        let count = self
            .rows
            .iter()
            .take_while(|row| row.publication == publication)
            .count();
        let (found, rest) = self.rows.split_at(count);
        self.rows = rest;
        found
    }
}

/// One row per publication and subscription that it should have reached.
pub(crate) fn deliveries(imported: &mut Imported, entities: &Entities) -> Vec<Delivery> {
    let topics = topics(imported, entities);
    let inside = received_inside(imported, entities);
    // Topics have nothing to do with each other: each processor takes its share.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let share = topics.len().div_ceil(processors).max(1);
    let (of_topic, inside) = (&*imported, &inside);
    let shares: Vec<&[Topic]> = topics.chunks(share).collect();
    let parts: Vec<Part> = rostrace_ctf::on_all_processors(&shares, |topics| {
        let mut part = Part::default();
        for topic in *topics {
            let outside = topic.received_outside(of_topic, entities, &mut part.takes);
            topic.deliveries(of_topic, entities, &outside, inside, &mut part.rows);
        }
        part
    });
    let mut rows = Vec::with_capacity(parts.iter().map(|part| part.rows.len()).sum());
    for part in parts {
        rows.extend(part.rows);
        for (take, publication) in part.takes {
            imported.takes[take.index()].publication = Some(publication);
        }
    }
    rows.sort_unstable_by_key(|row| (row.publication, row.subscription));
    rows
}

/// What one processor found out.
#[derive(Default)]
struct Part {
    rows: Vec<Delivery>,
    takes: Vec<(TakeId, PublicationId)>,
}

/// Publications, takes and subscriptions by topic; dealt out so that neighbours, which are made for the same purpose and are
/// alike busy, do not go to one processor.
fn topics(imported: &Imported, entities: &Entities) -> Vec<Topic> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut topics: Vec<Topic> = Vec::new();
    let mut of_subscription = Vec::with_capacity(entities.subscriptions.len());
    for (index, subscription) in entities.subscriptions.iter().enumerate() {
        let number = *names.entry(&subscription.topic).or_insert_with(|| {
            topics.push(Topic::default());
            topics.len() - 1
        });
        of_subscription.push(number);
        topics[number].subscriptions.push(SubscriptionId::of(index));
    }
    let of_publisher: Vec<Option<usize>> = entities
        .publishers
        .iter()
        .map(|publisher| names.get(publisher.topic.as_str()).copied())
        .collect();
    for (index, publication) in imported.publications.iter().enumerate() {
        if let Some(number) = publication
            .publisher
            .and_then(|it| of_publisher[it.index()])
        {
            topics[number].publications.push(PublicationId::of(index));
        }
    }
    for (index, take) in imported.takes.iter().enumerate() {
        if let Some(subscription) = take.subscription {
            topics[of_subscription[subscription.index()]]
                .takes
                .push(TakeId::of(index));
        }
    }
    let (even, odd): (Vec<_>, Vec<_>) = topics
        .into_iter()
        .enumerate()
        .partition(|(number, _)| number % 2 == 0);
    even.into_iter()
        .chain(odd)
        .map(|(_, topic)| topic)
        .collect()
}

/// What the ring buffers and the addresses of messages tell.
fn received_inside(imported: &Imported, entities: &Entities) -> Receptions {
    let mut received = Vec::new();
    let threads = &imported.population.threads;
    for Enqueue {
        thread,
        buffer,
        time,
        publication,
        fate,
    } in &imported.enqueues
    {
        let process = threads[thread.index()].process;
        let Some(publication) = *publication else {
            continue;
        };
        let ring = entities.ring_buffer_of(process, *buffer, *time);
        let Some(subscription) =
            ring.and_then(|ring| entities.ring_buffers[ring.index()].subscription)
        else {
            continue;
        };
        let (status, instance) = match fate {
            Fate::Delivered(instance) => (DeliveryStatus::Delivered, Some(*instance)),
            Fate::Overwritten => (DeliveryStatus::Overwritten, None),
            Fate::Queued if imported.losses.any() => (DeliveryStatus::Unknown, None),
            Fate::Queued if is_just_before_the_end(imported, *time) => {
                (DeliveryStatus::Unknown, None)
            }
            Fate::Queued => (DeliveryStatus::Queued, None),
            Fate::Dequeued | Fate::Unknown => (DeliveryStatus::Unknown, None),
        };
        received.push(Reception {
            publication,
            subscription,
            status,
            instance,
            by: Match::RingBuffer,
        });
    }
    for (index, instance) in imported.instances.iter().enumerate() {
        let subscription = instance
            .callback
            .and_then(|callback| subscription_of_callback(entities, callback));
        if let (Some(publication), Some(subscription)) = (instance.source, subscription) {
            let by = if imported.publications[publication.index()].entry.is_some() {
                Match::Entry
            } else {
                Match::MessageAddress
            };
            received.push(Reception {
                publication,
                subscription,
                status: DeliveryStatus::Delivered,
                instance: Some(InstanceId::of(index)),
                by,
            });
        }
    }
    Receptions::new(received)
}

/// Everything that concerns one topic.
#[derive(Debug, Default)]
struct Topic {
    /// All in the order of time.
    subscriptions: Vec<SubscriptionId>,
    publications: Vec<PublicationId>,
    takes: Vec<TakeId>,
}

impl Topic {
    /// What the middleware delivered, and which takes fetched it.
    fn received_outside(
        &self,
        imported: &Imported,
        entities: &Entities,
        takes: &mut Vec<(TakeId, PublicationId)>,
    ) -> Receptions {
        let mut received = Vec::new();
        for (take, publication, by) in match_takes(imported, &self.publications, &self.takes) {
            takes.push((take, publication));
            let row = &imported.takes[take.index()];
            let Some(subscription) = row.subscription else {
                continue;
            };
            // A take whose callback is not in the trace was by hand, unless events are missing.
            let uncertain = row.instance.is_none() && imported.losses.any();
            let mut reception = Reception {
                publication,
                subscription,
                status: DeliveryStatus::Delivered,
                instance: row.instance,
                by,
            };
            if uncertain || is_second_copy(imported, entities, &reception) {
                reception.status = DeliveryStatus::Unknown;
            }
            received.push(reception);
        }
        Receptions::new(received)
    }

    fn deliveries(
        &self,
        imported: &Imported,
        entities: &Entities,
        outside: &Receptions,
        inside: &Receptions,
        rows: &mut Vec<Delivery>,
    ) {
        let spans = self.spans(imported, outside, inside);
        // Whose messages come to a subscription inside of a process, without any event.
        let untold: HashSet<(PublisherId, SubscriptionId)> = (outside.0.iter())
            .filter(|row| is_second_copy(imported, entities, row))
            .filter_map(|row| {
                let publication = &imported.publications[row.publication.index()];
                Some((publication.publisher?, row.subscription))
            })
            .collect();
        let processes = &imported.population.processes;
        let mut born = self.subscriptions.iter().copied().peekable();
        let mut alive: Vec<SubscriptionId> = Vec::new();
        let mut concerned: Vec<SubscriptionId> = Vec::new();
        let (mut outside, mut inside) = (outside.in_order(), inside.in_order());
        for &id in &self.publications {
            let publication = &imported.publications[id.index()];
            let Some(publisher) = publication.publisher else {
                continue;
            };
            let at = publication.publish;
            let subscription = |id: SubscriptionId| &entities.subscriptions[id.index()];
            while let Some(next) = born.next_if(|next| subscription(*next).created <= at) {
                alive.push(next);
            }
            alive.retain(|id| subscription(*id).ended.is_none_or(|ended| ended > at));
            concerned.clear();
            concerned.extend(&alive);
            let received = [outside.of(id), inside.of(id)];
            concerned.extend(
                received
                    .iter()
                    .copied()
                    .flatten()
                    .map(|row| row.subscription),
            );
            concerned.sort_unstable();
            concerned.dedup();
            let process = imported.population.process_of(publication.thread);
            let host = processes[process.index()].host;
            for &subscription_id in &concerned {
                let it = subscription(subscription_id);
                let receiver = &processes[it.process.index()];
                let by_agnocast = publication.entry.is_some();
                if by_agnocast && receiver.host != host {
                    continue;
                }
                let is_intra = by_agnocast
                    || publication.intra.is_some() && it.process == process && it.intra_process
                    || untold.contains(&(publisher, subscription_id));
                let known = received[usize::from(is_intra)]
                    .iter()
                    .find(|row| row.subscription == subscription_id);
                let (status, instance, by) = match known {
                    Some(row) => (row.status, row.instance, row.by),
                    // Received another way than it was sent: of no concern.
                    None if alive.binary_search(&subscription_id).is_err() => continue,
                    None => {
                        let span = spans.get(&(publisher, subscription_id)).copied();
                        let status = why_missing(imported, publication, receiver, span);
                        (status, None, Match::Nothing)
                    }
                };
                rows.push(Delivery {
                    publication: id,
                    subscription: subscription_id,
                    kind: if is_intra {
                        DeliveryKind::Intra
                    } else {
                        DeliveryKind::Inter
                    },
                    status,
                    instance,
                    by,
                });
            }
        }
    }

    /// Between which publications of a publisher a subscription received something.
    fn spans(
        &self,
        imported: &Imported,
        outside: &Receptions,
        inside: &Receptions,
    ) -> HashMap<(PublisherId, SubscriptionId), (Nanos, Nanos)> {
        let mut spans = HashMap::new();
        let (mut outside, mut inside) = (outside.in_order(), inside.in_order());
        for &id in &self.publications {
            let publication = &imported.publications[id.index()];
            let Some(publisher) = publication.publisher else {
                continue;
            };
            let at = publication.publish;
            for row in outside.of(id).iter().chain(inside.of(id)) {
                if row.status == DeliveryStatus::Delivered {
                    let key = (publisher, row.subscription);
                    let span = spans.entry(key).or_insert((at, at));
                    *span = (at.min(span.0), at.max(span.1));
                }
            }
        }
        spans
    }
}

/// Whether a message that was taken had come to the subscription inside of its process already: rclcpp then drops what it took. Up to
/// Humble no tracepoint tells of the way inside; the twin's callback runs, but for which message is not known.
fn is_second_copy(imported: &Imported, entities: &Entities, row: &Reception) -> bool {
    let publication = &imported.publications[row.publication.index()];
    let subscription = &entities.subscriptions[row.subscription.index()];
    row.instance.is_none()
        && publication.intra.is_none()
        && subscription.intra_process
        && subscription.process == imported.population.process_of(publication.thread)
        // With a ring buffer in the trace a message that went inside would be known.
        && (entities.ring_buffers.iter()).all(|ring| ring.subscription != Some(row.subscription))
}

/// Why a message that a subscription could have received is not among those that it did.
fn why_missing(
    imported: &Imported,
    publication: &Publication,
    receiver: &Process,
    received: Option<(Nanos, Nanos)>,
) -> DeliveryStatus {
    let at = publication.publish;
    match received {
        _ if imported.losses.any() => DeliveryStatus::Unknown,
        Some((first, last)) if first < at && at < last => DeliveryStatus::Lost,
        _ if is_just_before_the_end(imported, at) => DeliveryStatus::Unknown,
        // Who has said its last word before may be gone.
        Some((_, last)) if last < at && at <= receiver.last => DeliveryStatus::Queued,
        // Before the first message or without any: the two may not have known each other yet.
        _ => DeliveryStatus::Unknown,
    }
}

/// Whether the recording ended so soon after an instant that a message may have been taken after the end.
fn is_just_before_the_end(imported: &Imported, at: Nanos) -> bool {
    let end = imported.end.unwrap_or(at);
    end.0.saturating_sub(at.0) < PATIENCE
}
