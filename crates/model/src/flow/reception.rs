//! Receptions: what subscriptions got, and how that is known.
//!
//! Through the middleware a take is tied to a publication in `matching`; inside a process the ring buffers and the addresses
//! of messages tell. What nobody received is not here: `delivery` says why.

use super::connect::subscription_of_callback;
use super::delivery::is_just_before_the_end;
use super::matching::match_takes;
use super::{DeliveryStatus, Enqueue, Fate, Match};
use crate::entity::{Entities, InstanceId, PublicationId, SubscriptionId, TakeId};
use crate::import::Imported;

/// What a subscription received, or did not because of an overwriting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reception {
    pub(super) publication: PublicationId,
    pub(super) subscription: SubscriptionId,
    pub(super) status: DeliveryStatus,
    pub(super) instance: Option<InstanceId>,
    pub(super) by: Match,
}

/// Receptions in the order of publication and subscription, one for each pair.
#[derive(Debug, Default)]
pub(super) struct Receptions(Vec<Reception>);

impl Receptions {
    /// Where a pair has several, the first one counts.
    fn new(mut rows: Vec<Reception>) -> Receptions {
        rows.sort_by_key(|row| (row.publication, row.subscription));
        rows.dedup_by_key(|row| (row.publication, row.subscription));
        Receptions(rows)
    }

    /// What the ring buffers and the addresses of messages tell.
    pub(super) fn inside(imported: &Imported, entities: &Entities) -> Receptions {
        let mut received = Vec::new();
        let threads = &imported.population.threads;
        for Enqueue {
            thread,
            buffer,
            time,
            publication,
            fate,
            ..
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
                Fate::Queued if imported.losses.across_threads(*time, *time) => {
                    (DeliveryStatus::Unknown, None)
                }
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

    /// What the middleware delivered of one topic, and which takes fetched it.
    pub(super) fn outside(
        imported: &Imported,
        entities: &Entities,
        publications: &[PublicationId],
        takes: &[TakeId],
        fetched: &mut Vec<(TakeId, PublicationId)>,
    ) -> Receptions {
        let mut received = Vec::new();
        for (take, publication, by) in match_takes(imported, publications, takes) {
            fetched.push((take, publication));
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

    pub(super) fn rows(&self) -> &[Reception] {
        &self.0
    }

    /// To be asked for one publication after the other, in the order of time.
    pub(super) fn in_order(&self) -> InOrder<'_> {
        InOrder { rows: &self.0 }
    }
}

/// What is left of receptions: those of later publications.
pub(super) struct InOrder<'r> {
    rows: &'r [Reception],
}

impl<'r> InOrder<'r> {
    /// The receptions of a publication. The next one is near: steps double until it is passed.
    pub(super) fn of(&mut self, publication: PublicationId) -> &'r [Reception] {
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

/// Whether a message that was taken had come to the subscription inside of its process already: rclcpp then drops what it took. Up to
/// Humble no tracepoint tells of the way inside; the callback of its intra-process subscription runs, but for which message is not known.
pub(super) fn is_second_copy(imported: &Imported, entities: &Entities, row: &Reception) -> bool {
    let publication = &imported.publications[row.publication.index()];
    let subscription = &entities.subscriptions[row.subscription.index()];
    row.instance.is_none()
        && publication.intra.is_none()
        && subscription.intra_process
        && subscription.process == imported.population.process_of(publication.thread)
        // With a ring buffer in the trace a message that went inside would be known.
        && (entities.ring_buffers.iter()).all(|ring| ring.subscription != Some(row.subscription))
}
