//! Deliveries: which message reached which subscription.
//!
//! Between processes a publication and a take belong together if topic and source timestamp are the same; inside a process
//! the ring buffers tell, or the addresses of messages. Where the publishing side has no stamps, the
//! middleware's stamp is made just after the last publish event, and the instant decides; such matches are marked.
//! A message that did not arrive has a row too, with the reason as far as it is known.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use super::{Enqueue, Fate, Losses, Publication};
use crate::entity::{
    CallbackOwner, Entities, InstanceId, ProcessId, PublicationId, PublisherId, SubscriptionId,
    TakeId, Thread,
};
use crate::import::{Callable, Imported};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    Delivered,
    /// Pushed out of the ring buffer by a later message.
    Overwritten,
    /// The subscription got earlier and later messages of the publisher, but not this one.
    Lost,
    /// Still on its way when the recording ended, as far as one can tell.
    Queued,
    /// The trace does not tell.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Match {
    /// Topic and source timestamp.
    SourceTimestamp,
    /// The last publication before the stamp of the take: an inference.
    Instant,
    RingBuffer,
    MessageAddress,
    /// Agnocast's entry number.
    Entry,
    Nothing,
}

/// A publication's stamp may be made this much later than its last event, if the thread loses the processor.
const LATEST_STAMP: i64 = 100_000_000;

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

/// Gives the rows of the import their entities, and to each other.
pub(crate) fn connect(imported: &mut Imported, entities: &Entities) {
    let threads = &imported.population.threads;
    let process_of = |thread: crate::entity::ThreadId| threads[thread.index()].process;
    for instance in &mut imported.instances {
        instance.callback = entities.callback_of(
            process_of(instance.thread),
            instance.address,
            instance.start,
        );
    }
    connect_callables(imported, entities);
    for take in &mut imported.takes {
        let process = process_of_thread(&imported.population.threads, take.thread);
        take.subscription = match take.rmw_handle.non_null() {
            Some(handle) => entities.subscription_of(process, handle, take.time),
            None => entities
                .callback_of(process, take.dispatched, take.time)
                .and_then(|callback| subscription_of_callback(entities, callback)),
        };
    }
    for (index, instance) in imported.instances.iter_mut().enumerate() {
        let Some(take) = instance.take else { continue };
        let of_take = imported.takes[take.index()].subscription;
        let of_callback = instance
            .callback
            .and_then(|callback| subscription_of_callback(entities, callback));
        let dispatched = imported.takes[take.index()].dispatched;
        let fits = match (of_take, of_callback) {
            (Some(a), Some(b)) => a == b,
            _ if dispatched.non_null().is_some() => dispatched == instance.address,
            // Nothing contradicts where names are missing on one side and the callback is no other thing.
            (_, None) => instance.callback.is_none(),
            (None, Some(_)) => true,
        };
        let certain = !imported
            .losses
            .between(imported.takes[take.index()].time, instance.start);
        if fits && certain {
            imported.takes[take.index()].instance = Some(InstanceId::of(index));
        } else {
            instance.take = None;
        }
    }
    connect_publications(imported, entities);
    for transition in &mut imported.transitions {
        let process = process_of_thread(&imported.population.threads, transition.thread);
        transition.state_machine =
            entities.state_machine_of(process, transition.machine, transition.time);
    }
}

fn process_of_thread(threads: &[Thread], thread: crate::entity::ThreadId) -> ProcessId {
    threads[thread.index()].process
}

fn subscription_of_callback(
    entities: &Entities,
    callback: crate::entity::CallbackId,
) -> Option<SubscriptionId> {
    match entities.callbacks[callback.index()].owner {
        CallbackOwner::Subscription(subscription) => Some(subscription),
        _ => None,
    }
}

/// Agnocast runs callables; each stands for a subscription's callback and a message, or for a timer.
fn connect_callables(imported: &mut Imported, entities: &Entities) {
    for id in std::mem::take(&mut imported.callable_instances) {
        let instance = &mut imported.instances[id.index()];
        let process = imported.population.threads[instance.thread.index()].process;
        let Some(created) = imported.callables.get(&(process, instance.address)) else {
            continue;
        };
        let younger = created.partition_point(|(time, _)| *time <= instance.start);
        let Some((_, callable)) = younger.checked_sub(1).and_then(|last| created.get(last)) else {
            continue;
        };
        match callable {
            Callable::Timer(timer) => {
                instance.callback = entities.timer_callback(process, *timer, instance.start);
            }
            Callable::Message {
                entry,
                callback_info,
            } => {
                instance.callback = entities.agnocast_callback(process, *callback_info);
                // Entry numbers count per topic.
                let topic = instance
                    .callback
                    .and_then(|callback| subscription_of_callback(entities, callback))
                    .map(|subscription| entities.subscriptions[subscription.index()].topic.clone());
                let found = imported.publications.iter().position(|publication| {
                    publication.entry == Some(*entry)
                        && entities
                            .publisher_of(
                                imported.population.threads[publication.thread.index()].process,
                                publication.handle,
                                publication.rmw_handle,
                                publication.publish,
                            )
                            .map(|publisher| &entities.publishers[publisher.index()].topic)
                            == topic.as_ref()
                });
                instance.source = found.map(PublicationId::of);
            }
        }
    }
}

/// Finds the publishers, and drops what is no publication of ROS: the middleware's own discovery data.
fn connect_publications(imported: &mut Imported, entities: &Entities) {
    let threads = &imported.population.threads;
    let mut renumbered: Vec<Option<PublicationId>> =
        Vec::with_capacity(imported.publications.len());
    let mut kept = 0;
    imported.publications.retain_mut(|publication| {
        let process = threads[publication.thread.index()].process;
        publication.publisher = entities.publisher_of(
            process,
            publication.handle,
            publication.rmw_handle,
            publication.publish,
        );
        if let Some(instance) = publication.instance {
            // A callback without an end was over when the next one began on its thread.
            let over = imported
                .covered
                .get(&instance)
                .is_some_and(|covered| *covered < publication.publish);
            if over && imported.instances[instance.index()].end.is_none() {
                publication.instance = None;
            }
        }
        let of_ros = publication
            .intra
            .or(publication.rclcpp)
            .or(publication.rcl)
            .is_some();
        let keep = of_ros || publication.publisher.is_some();
        renumbered.push(keep.then(|| PublicationId::of(kept)));
        kept += usize::from(keep);
        keep
    });
    let renumber = |id: &mut Option<PublicationId>| *id = id.and_then(|id| renumbered[id.index()]);
    imported
        .instances
        .iter_mut()
        .for_each(|instance| renumber(&mut instance.source));
    imported
        .enqueues
        .iter_mut()
        .for_each(|enqueue| renumber(&mut enqueue.publication));
}

/// What was received, by publication and subscription.
type Received =
    HashMap<(PublicationId, SubscriptionId), (DeliveryStatus, Option<InstanceId>, Match)>;

/// One row per publication and subscription that it should have reached.
pub(crate) fn deliveries(imported: &mut Imported, entities: &Entities) -> Vec<Delivery> {
    let mut topics: HashMap<&str, Topic> = HashMap::new();
    for (index, subscription) in entities.subscriptions.iter().enumerate() {
        let topic = topics.entry(&subscription.topic).or_default();
        topic.subscriptions.push(SubscriptionId::of(index));
    }
    for (index, publication) in imported.publications.iter().enumerate() {
        if let Some(publisher) = publication.publisher
            && let Some(topic) =
                topics.get_mut(entities.publishers[publisher.index()].topic.as_str())
        {
            topic.publications.push(PublicationId::of(index));
        }
    }
    for (index, take) in imported.takes.iter().enumerate() {
        if let Some(subscription) = take.subscription
            && let Some(topic) =
                topics.get_mut(entities.subscriptions[subscription.index()].topic.as_str())
        {
            topic.takes.push(TakeId::of(index));
        }
    }
    let mut names: Vec<&str> = topics.keys().copied().collect();
    names.sort_unstable();
    let inside = received_inside(imported, entities);
    let mut rows = Vec::new();
    for name in names {
        if let Some(topic) = topics.remove(name) {
            topic.deliveries(imported, entities, &inside, &mut rows);
        }
    }
    rows.sort_by_key(|row| (row.publication, row.subscription));
    rows
}

/// What the ring buffers and the addresses of messages tell.
fn received_inside(imported: &Imported, entities: &Entities) -> Received {
    let mut received = Received::new();
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
            Fate::Queued => (DeliveryStatus::Queued, None),
            Fate::Dequeued | Fate::Unknown => (DeliveryStatus::Unknown, None),
        };
        received.insert(
            (publication, subscription),
            (status, instance, Match::RingBuffer),
        );
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
            let id = Some(InstanceId::of(index));
            received.entry((publication, subscription)).or_insert((
                DeliveryStatus::Delivered,
                id,
                by,
            ));
        }
    }
    received
}

/// Everything that concerns one topic.
#[derive(Default)]
struct Topic {
    subscriptions: Vec<SubscriptionId>,
    publications: Vec<PublicationId>,
    takes: Vec<TakeId>,
}

impl Topic {
    fn deliveries(
        &self,
        imported: &mut Imported,
        entities: &Entities,
        inside: &Received,
        rows: &mut Vec<Delivery>,
    ) {
        let matched = self.match_takes(imported);
        let mut received = Received::new();
        for (take, publication, by) in matched {
            imported.takes[take.index()].publication = Some(publication);
            let row = &imported.takes[take.index()];
            let Some(subscription) = row.subscription else {
                continue;
            };
            // A take whose callback is not in the trace was by hand, unless events are missing.
            let uncertain = row.instance.is_none() && imported.losses.any();
            let status = if uncertain {
                DeliveryStatus::Unknown
            } else {
                DeliveryStatus::Delivered
            };
            received
                .entry((publication, subscription))
                .or_insert((status, row.instance, by));
        }
        // Between which publications of a publisher a subscription received something.
        let mut spans: HashMap<(PublisherId, SubscriptionId), (Nanos, Nanos)> = HashMap::new();
        let all_received = received.iter().chain(
            inside
                .iter()
                .filter(|((id, _), _)| self.publications.binary_search(id).is_ok()),
        );
        for ((publication, subscription), (status, ..)) in all_received {
            let publication = &imported.publications[publication.index()];
            if let (DeliveryStatus::Delivered, Some(publisher)) = (status, publication.publisher) {
                let at = publication.publish;
                let span = spans.entry((publisher, *subscription)).or_insert((at, at));
                *span = (span.0.min(at), span.1.max(at));
            }
        }
        for &id in &self.publications {
            let publication = &imported.publications[id.index()];
            let Some(publisher) = publication.publisher else {
                continue;
            };
            let process = imported.population.threads[publication.thread.index()].process;
            for &subscription in &self.subscriptions {
                let it = &entities.subscriptions[subscription.index()];
                let is_intra =
                    publication.intra.is_some() && it.process == process && it.intra_process
                        || publication.entry.is_some();
                let known = if is_intra { inside } else { &received }.get(&(id, subscription));
                let kind = if is_intra {
                    DeliveryKind::Intra
                } else {
                    DeliveryKind::Inter
                };
                let alive = it.created <= publication.publish
                    && it.ended.is_none_or(|ended| ended > publication.publish);
                let (status, instance, by) = match known {
                    Some(known) => *known,
                    None if !alive => continue,
                    None => {
                        let span = spans.get(&(publisher, subscription)).copied();
                        let status = why_missing(publication, span, &imported.losses);
                        (status, None, Match::Nothing)
                    }
                };
                rows.push(Delivery {
                    publication: id,
                    subscription,
                    kind,
                    status,
                    instance,
                    by,
                });
            }
        }
    }

    fn match_takes(&self, imported: &Imported) -> Vec<(TakeId, PublicationId, Match)> {
        let mut by_stamp: HashMap<i64, Vec<PublicationId>> = HashMap::new();
        for id in &self.publications {
            if let Some(stamp) = imported.publications[id.index()].source_timestamp {
                by_stamp.entry(stamp).or_default().push(*id);
            }
        }
        let mut matched = Vec::new();
        let mut used: HashMap<(PublicationId, SubscriptionId), ()> = HashMap::new();
        let mut rest = Vec::new();
        for &id in &self.takes {
            let take = &imported.takes[id.index()];
            let Some(subscription) = take.subscription else {
                continue;
            };
            let candidates = by_stamp
                .get(&take.source_timestamp)
                .map_or(&[][..], Vec::as_slice);
            // Two publishers may stamp in the same nanosecond: each message is received once.
            let found = candidates
                .iter()
                .find(|publication| !used.contains_key(&(**publication, subscription)));
            match found {
                Some(publication) => {
                    used.insert((*publication, subscription), ());
                    matched.push((id, *publication, Match::SourceTimestamp));
                }
                None if candidates.is_empty() => rest.push(id),
                None => {}
            }
        }
        self.match_by_instant(imported, &rest, &mut matched);
        matched
    }

    /// For publications without stamps: the last one before the stamp, if it is that for no second stamp.
    fn match_by_instant(
        &self,
        imported: &Imported,
        takes: &[TakeId],
        matched: &mut Vec<(TakeId, PublicationId, Match)>,
    ) {
        let mut unstamped: Vec<(Nanos, PublicationId)> = self
            .publications
            .iter()
            .map(|id| (&imported.publications[id.index()], *id))
            .filter(|(publication, _)| {
                let reached_the_middleware = publication
                    .rcl
                    .or(publication.rclcpp)
                    .or(publication.rmw)
                    .is_some();
                publication.source_timestamp.is_none() && reached_the_middleware
            })
            .map(|(publication, id)| (publication.last, id))
            .collect();
        unstamped.sort_unstable();
        let mut stamps_of: HashMap<PublicationId, Vec<i64>> = HashMap::new();
        let mut candidates = Vec::new();
        for &id in takes {
            let stamp = imported.takes[id.index()].source_timestamp;
            let before = unstamped.partition_point(|(last, _)| last.0 <= stamp);
            let Some((last, publication)) = before.checked_sub(1).map(|at| unstamped[at]) else {
                continue;
            };
            let stamps = stamps_of.entry(publication).or_default();
            if !stamps.contains(&stamp) {
                stamps.push(stamp);
            }
            if stamp - last.0 <= LATEST_STAMP && !imported.losses.between(last, Nanos(stamp)) {
                candidates.push((id, publication));
            }
        }
        for (take, publication) in candidates {
            if stamps_of
                .get(&publication)
                .is_some_and(|stamps| stamps.len() == 1)
            {
                matched.push((take, publication, Match::Instant));
            }
        }
    }
}

/// Why a message that a subscription could have received is not among those that it did.
fn why_missing(
    publication: &Publication,
    received: Option<(Nanos, Nanos)>,
    losses: &Losses,
) -> DeliveryStatus {
    match received {
        Some((first, last)) if first < publication.publish && publication.publish < last => {
            if losses.any() {
                DeliveryStatus::Unknown
            } else {
                DeliveryStatus::Lost
            }
        }
        Some((_, last)) if last < publication.publish && !losses.any() => DeliveryStatus::Queued,
        // Before the first message or without any: the two may not have known each other yet.
        _ => DeliveryStatus::Unknown,
    }
}
