//! Which rows are on the timeline, and which messages are arrows: those whose two ends are.

use rostrace_model::entity::{DeliveryId, InstanceId, ProcessId, ThreadId};
use rostrace_model::flow::{CallbackInstance, DeliveryStatus, Publication, Take};

use super::super::flow::FlowId;
use super::super::sink::Sink;
use super::TimelineModel;

impl<S: Sink> TimelineModel<'_, S> {
    pub(super) fn process_of(&self, thread: ThreadId) -> ProcessId {
        self.analysis.model.process_of(thread)
    }

    pub(super) fn shows_instance(&self, instance: &CallbackInstance) -> bool {
        self.analysis.counts(instance.start)
            && self.selected.has_process(self.process_of(instance.thread))
            && self.selected.has_callback(instance.callback)
    }

    pub(super) fn shows_publication(&self, publication: &Publication) -> bool {
        self.analysis.counts(publication.publish)
            && (self.selected).has_process(self.process_of(publication.thread))
            && self.selected.has_publisher(publication.publisher)
    }

    /// A take by hand: no callback of its own shows it.
    pub(super) fn shows_take(&self, take: &Take) -> bool {
        let subscription = take.subscription;
        let subscription = subscription.map(|id| &self.analysis.model.subscriptions[id.index()]);
        self.analysis.counts(take.time)
            && self.selected.has_process(self.process_of(take.thread))
            && match subscription {
                Some(subscription) if subscription.callback.is_none() => {
                    self.selected.has_node(subscription.node)
                }
                Some(subscription) => self.selected.has_callback(subscription.callback),
                None => self.selected.has_unnamed(),
            }
    }

    /// The arrow of a message. One that seems to arrive before it was sent, by clocks that differ, has none.
    pub(super) fn arrow(&self, id: DeliveryId) -> Option<FlowId> {
        let delivery = self.analysis.delivery(id);
        if delivery.status != DeliveryStatus::Delivered {
            return None;
        }
        let publication = self.analysis.publication(delivery.publication);
        let (received, is_shown) = match delivery.instance {
            Some(instance) => {
                let instance = self.analysis.instance(instance);
                (instance.start, self.shows_instance(instance))
            }
            None => {
                let take = self.analysis.take_of(delivery)?;
                let by_hand = take.instance.is_none();
                (take.time, by_hand && self.shows_take(take))
            }
        };
        (is_shown && publication.publish < received && self.shows_publication(publication))
            .then(|| FlowId::of_message(id, delivery.publication))
    }

    /// The message that a take by hand fetched.
    pub(super) fn taken(&self, take: &Take) -> Option<DeliveryId> {
        let deliveries = self.analysis.deliveries_of(take.publication?);
        deliveries.iter().copied().find(|id| {
            let delivery = self.analysis.delivery(*id);
            let fetched = self.analysis.take_of(delivery);
            delivery.instance.is_none() && fetched.is_some_and(|it| std::ptr::eq(it, take))
        })
    }

    /// How long the message of an execution took; nothing if it had none, or if it was older than the subscription.
    pub(super) fn latency(&self, instance: InstanceId) -> Option<i64> {
        let arrival = self
            .analysis
            .arrival(self.analysis.received_by(instance)?)?;
        (!arrival.historical).then(|| arrival.stages.latency())
    }
}
