//! What is counted for topics: messages by publisher, receptions and deliveries by subscription.

use std::collections::BTreeMap;

use rostrace_analyze::endpoint::{self, EndpointSummary, Endpoints};
use rostrace_analyze::rate::recorded_per_second;
use rostrace_analyze::{Analysis, Statistics};
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{Address, CallbackOwner, ProcessId, PublisherId};
use rostrace_trace::flow::{Delivery, DeliveryKind, DeliveryStatus, Publication};
use serde::Serialize;

use crate::view::View;

/// What was counted, by id.
pub(super) struct Counts {
    pub(super) published: Vec<Beat>,
    /// Of publishers: from one message to the next.
    pub(super) periods: Vec<Option<Statistics>>,
    pub(super) received: Vec<Beat>,
    pub(super) deliveries: Vec<Deliveries>,
    /// Of publishers that the trace does not name.
    pub(super) unknown: BTreeMap<(ProcessId, Address), (Beat, Deliveries)>,
}

/// A publisher that the trace does not name.
fn unknown(model: &Model, publication: &Publication) -> (ProcessId, Address) {
    let address = match publication.handle {
        Address(0) => publication.rmw_handle,
        handle => handle,
    };
    (model.process_of(publication.thread), address)
}

impl Counts {
    pub(super) fn of(view: &View<'_>) -> Counts {
        let model = view.model;
        let analysis = Analysis::new(model, view.window().clone());
        let endpoints = Endpoints::new(&analysis);
        let publishers = (0..model.publishers.len()).map(PublisherId::from_index);
        let mut counts = Counts {
            published: vec![Beat::default(); model.publishers.len()],
            periods: publishers
                .map(|id| periods(&endpoints.publisher(id)))
                .collect(),
            received: vec![Beat::default(); model.subscriptions.len()],
            deliveries: vec![Deliveries::default(); model.subscriptions.len()],
            unknown: BTreeMap::new(),
        };
        for publication in view.publications() {
            match publication.publisher {
                Some(publisher) => counts.published[publisher.index()].add(publication.publish),
                None => {
                    let (beat, _) = counts
                        .unknown
                        .entry(unknown(model, publication))
                        .or_default();
                    beat.add(publication.publish);
                }
            }
        }
        // Also outside of the range of time.
        let mut has_run = vec![false; model.callbacks.len()];
        for callback in model.instances.iter().filter_map(|it| it.callback) {
            has_run[callback.index()] = true;
        }
        for (_, instance) in view.instances() {
            let owner = instance
                .callback
                .map(|callback| model.callbacks[callback.index()].owner);
            if let Some(CallbackOwner::Subscription(id)) = owner {
                counts.received[id.index()].add(instance.start);
            }
        }
        for take in view.takes() {
            let Some(id) = take.subscription else {
                continue;
            };
            let callback = model.subscriptions[id.index()].callback;
            let has_run = callback.is_some_and(|it| has_run[it.index()]);
            if endpoint::is_by_hand(model, take, has_run) {
                counts.received[id.index()].add(take.time);
            }
        }
        for delivery in view.deliveries() {
            if let Some(subscription) = delivery.subscription {
                counts.deliveries[subscription.index()].add(delivery);
            }
            let publication = &model.publications[delivery.publication.index()];
            if publication.publisher.is_none() {
                let (_, deliveries) = counts
                    .unknown
                    .entry(unknown(model, publication))
                    .or_default();
                deliveries.add(delivery);
            }
        }
        counts
    }
}

/// From one message to the next; nothing where events were lost before so many messages that the others say little.
fn periods(summary: &EndpointSummary) -> Option<Statistics> {
    summary
        .period
        .filter(|_| summary.damaged * 2 <= summary.messages)
}

/// One for each message and subscription that it should have reached.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Deliveries {
    pub(super) delivered: u64,
    lost: u64,
    overwritten: u64,
    queued: u64,
    unknown: u64,
    inter: u64,
    intra: u64,
}

impl Deliveries {
    pub(super) fn add(&mut self, delivery: &Delivery) {
        *match delivery.status {
            DeliveryStatus::Delivered => &mut self.delivered,
            DeliveryStatus::Lost => &mut self.lost,
            DeliveryStatus::Overwritten => &mut self.overwritten,
            DeliveryStatus::Queued => &mut self.queued,
            DeliveryStatus::Unknown => &mut self.unknown,
        } += 1;
        *match delivery.kind {
            DeliveryKind::Inter => &mut self.inter,
            DeliveryKind::Intra => &mut self.intra,
        } += 1;
    }

    pub(super) fn numbers(self) -> [u64; 7] {
        [
            self.delivered,
            self.lost,
            self.overwritten,
            self.queued,
            self.unknown,
            self.inter,
            self.intra,
        ]
    }

    pub(super) fn is_any_missing(self) -> bool {
        self.lost + self.overwritten > 0
    }

    pub(super) fn plus(self, other: Deliveries) -> Deliveries {
        Deliveries {
            delivered: self.delivered + other.delivered,
            lost: self.lost + other.lost,
            overwritten: self.overwritten + other.overwritten,
            queued: self.queued + other.queued,
            unknown: self.unknown + other.unknown,
            inter: self.inter + other.inter,
            intra: self.intra + other.intra,
        }
    }
}

/// Occurrences in the order of time, forgotten but for what rates need.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beat {
    pub(super) count: u64,
    span: Option<(Nanos, Nanos)>,
}

impl Beat {
    pub(super) fn add(&mut self, at: Nanos) {
        self.count += 1;
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
    }

    pub(super) fn merge(&mut self, other: Beat) {
        self.count += other.count;
        self.span = match (self.span, other.span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }

    /// How many per second from the first to the last, without pauses; nothing for less than two.
    pub(super) fn rate(self, model: &Model) -> Option<f64> {
        let (first, last) = self.span?;
        recorded_per_second(model, self.count, first, last).filter(|_| self.count > 1)
    }
}
