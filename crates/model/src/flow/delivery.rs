//! Deliveries: which message reached which subscription.
//!
//! What was received is found by `reception`. A message that did not arrive has a row too, with the reason as far as it is
//! known. Work grows with the number of rows, not with the product of topics, subscriptions that ever existed and messages.

use std::collections::{HashMap, HashSet};

use rostrace_ctf::schema::Nanos;

use super::Publication;
use super::arrival::connect_arrivals;
use super::matching::match_stamps;
use super::reception::{Receptions, is_second_copy};
use crate::entity::{
    Entities, InstanceId, Process, PublicationId, PublisherId, SubscriptionId, TakeId,
};
use crate::import::Imported;

/// A message and a subscription that it should have reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    pub publication: PublicationId,
    /// Nothing if the trace does not name it: then all that is known is that the message arrived.
    pub subscription: Option<SubscriptionId>,
    pub kind: DeliveryKind,
    pub status: DeliveryStatus,
    /// The execution that received it; nothing if it was taken by hand or did not arrive.
    pub instance: Option<InstanceId>,
    /// What ties the two ends together; meaningful for what was delivered.
    pub by: Match,
    /// When it came to the middleware of the receiver, where the trace tells: CARET's recordings up to version 0.2.
    pub arrived: Option<Nanos>,
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
    /// The source timestamp alone, which no other publication has: the trace does not name one of the ends.
    Stamp,
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
            Match::Stamp => "stamp_alone",
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

/// One row per publication and subscription that it should have reached.
pub(crate) fn deliveries(imported: &mut Imported, entities: &Entities) -> Vec<Delivery> {
    let topics = topics(imported, entities);
    let inside = Receptions::inside(imported, entities);
    // Topics have nothing to do with each other: each processor takes its share.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let share = topics.len().div_ceil(processors).max(1);
    let (of_topic, inside) = (&*imported, &inside);
    let shares: Vec<&[Topic]> = topics.chunks(share).collect();
    let parts: Vec<OfProcessor> = rostrace_base::parallel::on_all_processors(&shares, |topics| {
        let mut part = OfProcessor::default();
        for topic in *topics {
            let outside = Receptions::outside(
                of_topic,
                entities,
                &topic.publications,
                &topic.takes,
                &mut part.takes,
            );
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
    unnamed_deliveries(imported, &mut rows);
    rows.sort_unstable_by_key(|row| (row.publication, row.subscription));
    connect_arrivals(imported, entities, &mut rows);
    rows
}

/// What arrived where the trace does not name one of the ends, so that their topic is not known: a recording that began late has no names,
/// and one that lost events lacks some.
fn unnamed_deliveries(imported: &mut Imported, rows: &mut Vec<Delivery>) {
    for (take, publication) in match_stamps(imported) {
        let row = &mut imported.takes[take.index()];
        row.publication = Some(publication);
        // Without a callback nobody knows whether it was used, and by whom.
        if row.instance.is_some() {
            rows.push(Delivery {
                publication,
                subscription: row.subscription,
                kind: DeliveryKind::Inter,
                status: DeliveryStatus::Delivered,
                instance: row.instance,
                by: Match::Stamp,
                arrived: None,
            });
        }
    }
}

/// What one processor found out.
#[derive(Default)]
struct OfProcessor {
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

/// Everything that concerns one topic.
#[derive(Debug, Default)]
struct Topic {
    /// All in the order of time.
    subscriptions: Vec<SubscriptionId>,
    publications: Vec<PublicationId>,
    takes: Vec<TakeId>,
}

impl Topic {
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
        let received_inside: HashSet<(PublisherId, SubscriptionId)> = (outside.rows().iter())
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
                    || received_inside.contains(&(publisher, subscription_id));
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
                    subscription: Some(subscription_id),
                    kind: if is_intra {
                        DeliveryKind::Intra
                    } else {
                        DeliveryKind::Inter
                    },
                    status,
                    instance,
                    by,
                    arrived: None,
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
        // Whoever took it may be forgotten by now.
        _ if imported.losses.across_threads(at, at) => DeliveryStatus::Unknown,
        Some((first, last)) if first < at && at < last => DeliveryStatus::Lost,
        _ if is_just_before_the_end(imported, at) => DeliveryStatus::Unknown,
        // Who has said its last word before may be gone.
        Some((_, last)) if last < at && at <= receiver.last => DeliveryStatus::Queued,
        // Before the first message or without any: the two may not have known each other yet.
        _ => DeliveryStatus::Unknown,
    }
}

/// Whether the recording ended so soon after an instant that a message may have been taken after the end.
pub(super) fn is_just_before_the_end(imported: &Imported, at: Nanos) -> bool {
    let end = imported.end.unwrap_or(at);
    end.0.saturating_sub(at.0) < PATIENCE
}
