//! Messages of one topic from one node to another: how long they take, and which do not arrive.

use std::collections::BTreeMap;

use rostrace_model::describe::{built_in, names};
use rostrace_model::entity::SubscriptionId;

use super::series::Series;
use crate::analysis::Analysis;
use crate::communication::DropCause;
use crate::selection::Selection;

#[derive(Debug, Clone, Default)]
pub struct MeasuredCommunication {
    pub publisher: String,
    pub topic: String,
    pub subscriber: String,
    /// Publish to callback, of messages that arrived.
    pub latency: Series,
    /// For each message whose fate is known: 1 if it did not arrive.
    pub drops: Series,
}

impl MeasuredCommunication {
    /// `/lidar → /points → /fusion`
    pub fn name(&self) -> String {
        format!("{} → {} → {}", self.publisher, self.topic, self.subscriber)
    }
}

pub(super) fn measured(
    analysis: &Analysis<'_>,
    selection: &Selection,
    with_built_in: bool,
) -> Vec<MeasuredCommunication> {
    let model = analysis.model;
    let mut found: BTreeMap<(&str, &str, &str), MeasuredCommunication> = BTreeMap::new();
    for (index, subscription) in model.subscriptions.iter().enumerate() {
        let topic = subscription.topic.as_str();
        let receiver = names::of_node(model, subscription.node);
        let receiver_pid = model.processes[subscription.process.index()].pid;
        let is_own = built_in::topic(topic) || built_in::node(receiver);
        if !selection.fits_topic(Some(topic)) || is_own && !with_built_in {
            continue;
        }
        for id in analysis.deliveries_to(SubscriptionId::from_index(index)) {
            let delivery = analysis.delivery(*id);
            let publication = analysis.publication(delivery.publication);
            let Some(publisher) = publication.publisher else {
                continue;
            };
            if !analysis.counts(publication.publish) {
                continue;
            }
            let publisher = &model.publishers[publisher.index()];
            let sender = names::of_node(model, publisher.node);
            let sender_pid = model.processes[publisher.process.index()].pid;
            let wanted = (selection.fits_node(Some(sender)) || selection.fits_node(Some(receiver)))
                && (selection.fits_pid(sender_pid) || selection.fits_pid(receiver_pid));
            if !wanted {
                continue;
            }
            let measured = found.entry((sender, topic, receiver)).or_default();
            let arrival = analysis.arrival(*id);
            match (arrival, analysis.drop_cause(*id)) {
                (Some(arrival), _) if !arrival.historical => {
                    let damaged = analysis.is_damaged(arrival.publish, arrival.received)
                        || analysis.begins_late(delivery.publication);
                    measured
                        .latency
                        .push(arrival.stages.latency(), arrival.publish);
                    measured.latency.damaged += u64::from(damaged);
                    measured.drops.push(0, publication.publish);
                }
                // What was published before there was a subscription says nothing about the transport.
                (Some(_), _) => {}
                (None, None) => measured.drops.push(0, publication.publish),
                (None, Some(DropCause::RecordingEnd | DropCause::Unknown)) => {}
                (None, Some(_)) => measured.drops.push(1, publication.publish),
            }
        }
    }
    let communications = found
        .into_iter()
        .map(|((publisher, topic, subscriber), mut measured)| {
            measured.publisher = publisher.to_owned();
            measured.topic = topic.to_owned();
            measured.subscriber = subscriber.to_owned();
            measured.latency.sort();
            measured.drops.sort();
            measured
        });
    communications.collect()
}
