//! A message that did not arrive: whose it was, why that is so, and what its receiver did instead.

use rostrace_analyze::communication::DropCause;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::names;
use rostrace_model::entity::{CallbackId, DeliveryId, InstanceId, SubscriptionId};
use serde::Serialize;

use super::Answer;
use super::occurrence::InstancePlace;
use crate::served::http::Query;
use crate::served::timeline::ServedTimeline;
use crate::served::track::Content;

/// How long after a message without a successor its receiver is looked at, in nanoseconds.
const MEANWHILE: i64 = 1_000_000_000;

#[derive(Debug, Serialize)]
struct Dropped<'a> {
    id: u32,
    topic: &'a str,
    /// Who should have received it.
    receiver: String,
    subject: u32,
    /// Who sent it, and in which execution.
    sender: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_by: Option<InstancePlace>,
    published: i64,
    published_ns: String,
    cause: &'static str,
    because: String,
    /// What ran longest on the receiver's thread until it took the next message.
    #[serde(skip_serializing_if = "Option::is_none")]
    meanwhile: Option<Meanwhile>,
    /// The execution that received the next message that arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_received: Option<InstancePlace>,
    /// Its place among those that this callback did not get, from 1 on.
    number: usize,
    of: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Meanwhile {
    name: String,
    place: InstancePlace,
}

/// For the pointer, which stays for a moment only.
pub(super) fn in_few_words(cause: DropCause) -> &'static str {
    match cause {
        DropCause::RingBufferFull => "its ring buffer was full",
        DropCause::HistoryFull => "its history was full",
        DropCause::Middleware => "the middleware lost it",
        DropCause::RecordingEnd => "not yet received when the recording ended",
        DropCause::Unknown => "the trace does not tell why",
    }
}

/// What happened, and what helps.
fn because(cause: DropCause, depth: u64) -> String {
    let keeps = match depth {
        0 => "keeps few messages".to_owned(),
        1 => "keeps 1 message".to_owned(),
        depth => format!("keeps {depth} messages"),
    };
    match cause {
        DropCause::RingBufferFull => format!(
            "The subscription {keeps} for its own process, and later ones pushed this one out before the callback ran. A callback that is shorter, \
             that shares its thread with less, or a larger depth would have kept it."
        ),
        DropCause::HistoryFull => format!(
            "The subscription {keeps}, and at least as many newer ones were published before it took the next: this one was pushed out (an inference). \
             A callback that is shorter, that shares its thread with less, or a larger depth would have kept it."
        ),
        DropCause::Middleware => "It was lost although there was room for it: look at the network, at best-effort reliability, and at the limits of the \
             middleware."
            .to_owned(),
        DropCause::RecordingEnd => {
            "It was on its way when the recording ended; perhaps it arrived later.".to_owned()
        }
        DropCause::Unknown => "The trace does not tell whether it arrived.".to_owned(),
    }
}

impl ServedTimeline<'_> {
    pub(super) fn dropped(&self, query: &Query) -> Option<Answer> {
        let analysis = self.analysis;
        let model = analysis.model;
        let id = DeliveryId(u32::try_from(query.integer("id")?).ok()?);
        let delivery = model.deliveries.get(id.index())?;
        let named = delivery.subscription?;
        let subscription = &model.subscriptions[named.index()];
        let callback = subscription.callback?;
        let lanes = self.lanes.callbacks.iter().flat_map(|group| &group.lanes);
        let mut of_callback = lanes.filter(|lane| lane.subject == Some(callback.0));
        let track = of_callback.find_map(|lane| lane.drops)?;
        let Content::Drops(drops) = self.lanes.contents.get(track as usize)? else {
            return None;
        };
        let place = drops.iter().position(|other| *other == id)?;
        let cause = analysis.drop_cause(id)?;
        let publication = analysis.publication(delivery.publication);
        let next_received = self.next_received(named, id);
        let until = match &next_received {
            Some(next) => Nanos(self.origin.saturating_add(next.start)),
            None => Nanos(publication.publish.0.saturating_add(MEANWHILE)),
        };
        let sender = (publication.publisher).and_then(|id| model.publishers[id.index()].node);
        let shown = (publication.instance).filter(|id| self.subjects.is_shown(analysis, *id));
        Some(Answer::json(&Dropped {
            id: id.0,
            topic: &subscription.topic,
            receiver: analysis.names.callback(callback).to_owned(),
            subject: callback.0,
            sender: match publication.instance {
                Some(instance) => self.name(instance).to_owned(),
                None => names::of_node(model, sender).to_owned(),
            },
            sent_by: shown.map(|id| self.place(id)),
            published: self.since(publication.publish.0),
            published_ns: publication.publish.0.to_string(),
            cause: cause.name(),
            because: because(cause, subscription.depth),
            meanwhile: self.meanwhile(callback, publication.publish, until),
            next_received,
            number: place + 1,
            of: drops.len(),
            previous: place.checked_sub(1).map(|place| drops[place].0),
            next: drops.get(place + 1).map(|id| id.0),
        }))
    }

    fn next_received(&self, subscription: SubscriptionId, id: DeliveryId) -> Option<InstancePlace> {
        let analysis = self.analysis;
        let all = analysis.deliveries_to(subscription);
        let place = all.iter().position(|other| *other == id)?;
        let next = all[place + 1..]
            .iter()
            .find_map(|id| analysis.delivery(*id).instance);
        let shown = next.filter(|id| self.subjects.is_shown(analysis, *id));
        shown.map(|id| self.place(id))
    }

    /// What took most of the time between two instants on the thread that a callback runs on.
    fn meanwhile(&self, callback: CallbackId, from: Nanos, to: Nanos) -> Option<Meanwhile> {
        let analysis = self.analysis;
        let first = analysis.instances_of(callback).first()?;
        let thread = analysis.instance(*first).thread;
        let mut lanes = self.lanes.threads.iter().flat_map(|group| &group.lanes);
        let lane = lanes.find(|lane| lane.thread == Some(thread.0))?;
        let (_, track) = self.track(lane.track)?;
        let executions = track.rows.iter().flat_map(|row| {
            let places = row.touching(from.0, to.0);
            places.map(|place| {
                let inside = row.end_of(place).min(to.0) - row.starts[place].max(from.0);
                (inside, InstanceId(row.items[place]))
            })
        });
        let (_, longest) = executions.max().filter(|(inside, _)| *inside > 0)?;
        Some(Meanwhile {
            name: self.name(longest).to_owned(),
            place: self.place(longest),
        })
    }
}
