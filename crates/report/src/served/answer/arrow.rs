//! Messages as arrows, from the publication to the start of the callback that received it.

use rostrace_model::describe::names;
use rostrace_model::entity::{DeliveryId, InstanceId, PublicationId};
use serde::Serialize;

use super::Answer;
use crate::served::http::Query;
use crate::served::timeline::ServedTimeline;

/// More arrows than this are a carpet.
const MOST: usize = 500;

/// One message.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Arrow {
    pub(super) delivery: u32,
    pub(super) published: i64,
    pub(super) from_thread: u32,
    /// The execution that published it, and its callback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from_instance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from_subject: Option<u32>,
    pub(super) received: i64,
    pub(super) to_thread: u32,
    pub(super) to_instance: u32,
    pub(super) to_subject: u32,
    pub(super) topic: String,
}

#[derive(Debug, Serialize)]
struct Arrows {
    arrows: Vec<Arrow>,
    /// There are more, so that none are shown.
    too_many: bool,
}

impl ServedTimeline<'_> {
    /// The messages that were published or received in a window, if they are few enough.
    pub(super) fn arrows(&self, query: &Query) -> Option<Answer> {
        let from = self.origin.saturating_add(query.integer("from")?);
        let to = self.origin.saturating_add(query.integer("to")?);
        let arrows = self.arrows_between(from, to);
        Some(Answer::json(&Arrows {
            too_many: arrows.is_none(),
            arrows: arrows.unwrap_or_default(),
        }))
    }

    fn arrows_between(&self, from: i64, to: i64) -> Option<Vec<Arrow>> {
        let analysis = self.analysis;
        let (publications, instances) = (&analysis.model.publications, &analysis.model.instances);
        let published = publications.partition_point(|it| it.publish.0 < from)
            ..publications.partition_point(|it| it.publish.0 <= to);
        let received = instances.partition_point(|it| it.start.0 < from)
            ..instances.partition_point(|it| it.start.0 <= to);
        if published.len() > MOST || received.len() > 4 * MOST {
            return None;
        }
        let of_publications = published
            .map(PublicationId::from_index)
            .flat_map(|id| analysis.deliveries_of(id).iter().copied());
        let from_before = received
            .map(InstanceId::from_index)
            .filter_map(|id| analysis.received_by(id))
            .filter(|id| {
                let publish = analysis
                    .publication(analysis.delivery(*id).publication)
                    .publish;
                publish.0 < from || publish.0 > to
            });
        let mut arrows = Vec::new();
        for id in of_publications.chain(from_before) {
            arrows.extend(self.arrow(id));
            if arrows.len() > MOST {
                return None;
            }
        }
        Some(arrows)
    }

    /// Nothing for a message that no shown callback received.
    pub(super) fn arrow(&self, id: DeliveryId) -> Option<Arrow> {
        let analysis = self.analysis;
        let delivery = analysis.delivery(id);
        let receiver = delivery.instance?;
        if !self.subjects.is_shown(analysis, receiver) {
            return None;
        }
        let publication = analysis.publication(delivery.publication);
        let instance = analysis.instance(receiver);
        let sender = publication.instance;
        Some(Arrow {
            delivery: id.0,
            published: self.since(publication.publish.0),
            from_thread: publication.thread.0,
            from_instance: sender.map(|id| id.0),
            from_subject: sender.map(|id| self.subjects.number_of(analysis, id)),
            received: self.since(instance.start.0),
            to_thread: instance.thread.0,
            to_instance: receiver.0,
            to_subject: self.subjects.number_of(analysis, receiver),
            topic: names::topic(analysis.model, delivery).into_owned(),
        })
    }
}
