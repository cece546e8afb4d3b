//! What a transient-local publisher keeps, and gives to a subscription of its own process that comes later (Jazzy and later).
//!
//! The publisher has a ring buffer of its own, into which each publication puts its message. A subscription that is made gets all of
//! it at once, in order, before anything else is put into its buffer; no event says which message is which. It is known if only
//! one publisher can have given them, and nothing was published meanwhile. Of a recording that began late the newest are known.

use std::collections::{HashMap, HashSet};

use rostrace_ctf::schema::Nanos;

use super::Fate;
use crate::entity::{Entities, PublicationId, Publisher, PublisherId, RingBufferId};
use crate::import::Imported;

/// What went into the buffer of a publisher, in the order of time.
#[derive(Debug, Default)]
struct Store {
    publisher: Option<PublisherId>,
    messages: Vec<(Nanos, Option<PublicationId>)>,
}

impl Store {
    /// What lay in it at an instant, oldest first, if nothing came until another one.
    fn at(
        &self,
        from: Nanos,
        until: Nanos,
        capacity: u64,
    ) -> Option<&[(Nanos, Option<PublicationId>)]> {
        let count = self.messages.partition_point(|(time, _)| *time < from);
        let (before, after) = self.messages.split_at(count);
        let came = after.first().is_some_and(|(time, _)| *time <= until);
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        (!came).then(|| &before[before.len().saturating_sub(capacity)..])
    }
}

/// Gives the messages that subscriptions got when they were made to the publications that they are of.
pub(super) fn connect_transient_local(imported: &mut Imported, entities: &Entities) {
    let mut stores: HashMap<RingBufferId, Store> = HashMap::new();
    // The first enqueues of each subscription's buffer, until one that belongs to a publication.
    let mut gifts: Vec<(RingBufferId, Vec<usize>)> = Vec::new();
    let mut gift_of: HashMap<RingBufferId, usize> = HashMap::new();
    let mut opened: HashSet<RingBufferId> = HashSet::new();
    for (index, enqueue) in imported.enqueues.iter().enumerate() {
        let process = imported.population.process_of(enqueue.thread);
        let Some(ring) = entities.ring_buffer_of(process, enqueue.buffer, enqueue.time) else {
            continue;
        };
        if entities.ring_buffers[ring.index()].subscription.is_none() {
            let store = stores.entry(ring).or_default();
            store.messages.push((enqueue.time, enqueue.publication));
            if let Some(publication) = enqueue.publication {
                let it = &imported.publications[publication.index()];
                store.publisher =
                    entities.publisher_of(process, it.handle, it.rmw_handle, it.publish);
            }
        } else if enqueue.publication.is_some() {
            opened.insert(ring);
        } else if !opened.contains(&ring) {
            let gift = *gift_of.entry(ring).or_insert_with(|| {
                gifts.push((ring, Vec::new()));
                gifts.len() - 1
            });
            gifts[gift].1.push(index);
        }
    }
    if stores.is_empty() {
        return;
    }
    for (ring, gift) in gifts {
        let Some(given) = given(imported, entities, &stores, ring, &gift) else {
            continue;
        };
        for (index, publication) in gift.into_iter().zip(given) {
            let enqueue = &mut imported.enqueues[index];
            enqueue.publication = publication;
            if let Fate::Delivered(instance) = enqueue.fate {
                imported.instances[instance.index()].source = publication;
            }
        }
    }
}

/// The publications of what a subscription's buffer got when it was made.
fn given(
    imported: &Imported,
    entities: &Entities,
    stores: &HashMap<RingBufferId, Store>,
    ring: RingBufferId,
    gift: &[usize],
) -> Option<Vec<Option<PublicationId>>> {
    let ring = &entities.ring_buffers[ring.index()];
    let topic = &entities.subscriptions[ring.subscription?.index()].topic;
    let last = imported.enqueues[*gift.last()?].time;
    let can_give = |publisher: &Publisher| {
        publisher.process == ring.process
            && publisher.topic == *topic
            && publisher.created < ring.created
            && publisher.ended.is_none_or(|ended| ended > ring.created)
    };
    let givers = entities.publishers.iter().filter(|it| can_give(it)).count();
    let mut found = None;
    for (id, store) in stores {
        let publisher = store.publisher.map(|it| &entities.publishers[it.index()]);
        if !publisher.is_some_and(can_give) {
            continue;
        }
        let capacity = entities.ring_buffers[id.index()].capacity;
        let kept = store.at(ring.created, last, capacity)?;
        // Of two that had something to give, the trace does not tell which was the first.
        if !kept.is_empty() && found.replace(kept).is_some() {
            return None;
        }
    }
    let kept = found?;
    // More than is known to have been kept is older than the recording, if nobody else can have given it.
    let older = gift.len().checked_sub(kept.len())?;
    let certain = (older == 0 || givers == 1) && !imported.losses.across_threads(kept[0].0, last);
    certain.then(|| {
        let known = kept.iter().map(|(_, publication)| *publication);
        std::iter::repeat_n(None, older).chain(known).collect()
    })
}
