//! When messages arrived in the middleware of their receivers: before the take, and reported by CARET's recordings up to version 0.2 alone.
//!
//! `on_data_available` does not say whose reader got data. It carries the stamp of the first message that this reader has and that was not
//! taken yet, which is the one that just arrived only if there was no other. So an arrival is known where the receiving process
//! has one subscription for the message, and everything that came before was taken before the message was published.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use super::{Delivery, DeliveryKind, DeliveryStatus, Match};
use crate::entity::{Entities, ProcessId, PublicationId, SubscriptionId, TakeId, ThreadId};
use crate::import::Imported;

/// A reader has data to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataAvailable {
    /// One of the middleware's.
    pub(crate) thread: ThreadId,
    pub(crate) time: Nanos,
    /// Of the first message that was not taken yet.
    pub(crate) source_timestamp: i64,
}

/// Notes when messages arrived. The deliveries are in the order of their publications.
pub(crate) fn connect_arrivals(
    imported: &Imported,
    entities: &Entities,
    deliveries: &mut [Delivery],
) {
    if imported.data_available.is_empty() {
        return;
    }
    let process_of = |thread: ThreadId| imported.population.process_of(thread);
    let mut first: HashMap<(ProcessId, i64), Nanos> = HashMap::new();
    for row in &imported.data_available {
        let key = (process_of(row.thread), row.source_timestamp);
        first.entry(key).or_insert(row.time);
    }
    let key = |delivery: &Delivery| -> Option<(ProcessId, i64)> {
        let subscription = &entities.subscriptions[delivery.subscription?.index()];
        let stamp = imported.publications[delivery.publication.index()].source_timestamp?;
        (delivery.kind == DeliveryKind::Inter).then_some((subscription.process, stamp))
    };
    let mut receivers: HashMap<(ProcessId, i64), usize> = HashMap::new();
    for delivery in deliveries.iter() {
        if let Some(key) = key(delivery) {
            *receivers.entry(key).or_default() += 1;
        }
    }
    let takes = Takes::of(imported);
    let mut before: HashMap<SubscriptionId, DeliveryStatus> = HashMap::new();
    for delivery in deliveries.iter_mut() {
        let Some(subscription) = delivery.subscription else {
            continue;
        };
        let before = before.insert(subscription, delivery.status);
        let is_certain = delivery.status == DeliveryStatus::Delivered
            && delivery.by == Match::SourceTimestamp
            && before.is_none_or(|before| before == DeliveryStatus::Delivered);
        let Some(key) = key(delivery).filter(|_| is_certain) else {
            continue;
        };
        let Some(arrived) = first.get(&key).filter(|_| receivers[&key] == 1) else {
            continue;
        };
        let Some((take, before)) = takes.of_message(delivery.publication, subscription) else {
            continue;
        };
        let publication = &imported.publications[delivery.publication.index()];
        let taken = &imported.takes[take.index()];
        let host = |thread: ThreadId| {
            let process = process_of(thread);
            imported.population.processes[process.index()].host
        };
        let was_empty = before.is_none_or(|before| before <= publication.publish);
        if was_empty
            && host(publication.thread) == host(taken.thread)
            && publication.publish <= *arrived
            && *arrived <= taken.time
            && !imported.losses.between(publication.publish, taken.time)
        {
            delivery.arrived = Some(*arrived);
        }
    }
}

/// The takes of messages, each with the time of the one before it on its subscription.
struct Takes(HashMap<(PublicationId, SubscriptionId), (TakeId, Option<Nanos>)>);

impl Takes {
    fn of(imported: &Imported) -> Takes {
        let mut last: HashMap<SubscriptionId, Nanos> = HashMap::new();
        let mut takes = HashMap::new();
        for (index, take) in imported.takes.iter().enumerate() {
            let Some(subscription) = take.subscription else {
                continue;
            };
            let before = last.insert(subscription, take.time);
            if let Some(publication) = take.publication {
                takes.insert((publication, subscription), (TakeId::of(index), before));
            }
        }
        Takes(takes)
    }

    fn of_message(
        &self,
        publication: PublicationId,
        subscription: SubscriptionId,
    ) -> Option<(TakeId, Option<Nanos>)> {
        self.0.get(&(publication, subscription)).copied()
    }
}
