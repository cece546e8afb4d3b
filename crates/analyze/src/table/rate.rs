//! How often callbacks, publishers and subscriptions were at work in each second.

use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::Description;
use rostrace_model::entity::{CallbackId, ProcessId, PublisherId, SubscriptionId};

use super::describe::{pid, publisher};
use super::recurring::{HOST, NODE, PID};
use super::{Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::endpoint::{EndpointMessage, Endpoints};
use crate::rate::recorded_bins;

pub(super) const RATES: Table = Table {
    name: "rates",
    about: "One second of a callback, publisher or subscription, and how often it was at work. The seconds of each begin half of its first period after its first instant, so that no count depends on which side of a border an instant happens to fall; only whole seconds up to its last instant are counted. Of pauses of more than a hundred seconds a thousand seconds are listed in all; of further ones only the first second.",
    columns: columns! {
        text "kind" "`callback` (executions), `publisher` (calls of `publish`) or `subscription` (messages received).",
        text "name" "Name of the callback; of others node and topic.",
        NODE,
        topic "topic" "Topic, or name of a service; empty for timers.",
        HOST,
        PID,
        integer "object" "Number of the object among those of its kind, in the order of creation: it distinguishes objects of the same name.",
        time "begin_ns" "Begin of the second.",
        count "count" "How often in this second: also its rate in Hz.",
        flag "damaged" "Whether events were lost in this second, or in the pause that begins with it, so that it may have been more often.",
    },
    rows: rates,
};

/// What the seconds of one object have in common.
struct Object<'m> {
    kind: &'static str,
    name: &'m str,
    node: &'m str,
    topic: &'m str,
    process: ProcessId,
    index: usize,
}

fn rates(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for (index, callback) in model.callbacks.iter().enumerate() {
        let id = CallbackId::from_index(index);
        let instances = analysis.instances_of(id).iter();
        let instants = instances.map(|instance| analysis.instance(*instance).start);
        let described = Description::of(model, id);
        let object = Object {
            kind: "callback",
            name: analysis.names.callback(id),
            node: described.node_name.unwrap_or_default(),
            topic: described.topic_or_service().unwrap_or_default(),
            process: callback.process,
            index,
        };
        seconds(analysis, &object, instants, take)?;
    }
    let endpoints = Endpoints::new(analysis);
    let time = |message: EndpointMessage| message.time;
    for (index, entity) in model.publishers.iter().enumerate() {
        let id = PublisherId::from_index(index);
        let (node, topic) = publisher(model, Some(id));
        let object = Object {
            kind: "publisher",
            name: &format!("{node} → {topic}"),
            node,
            topic,
            process: entity.process,
            index,
        };
        let instants = endpoints.published(id).into_iter().map(time);
        seconds(analysis, &object, instants, take)?;
    }
    for (index, entity) in model.subscriptions.iter().enumerate() {
        let node = model.node_name(entity.node).unwrap_or_default();
        let topic = entity.topic.as_str();
        let object = Object {
            kind: "subscription",
            name: &format!("{node} ← {topic}"),
            node,
            topic,
            process: entity.process,
            index,
        };
        let received = endpoints.received(SubscriptionId::from_index(index));
        seconds(analysis, &object, received.into_iter().map(time), take)?;
    }
    Ok(())
}

fn seconds(
    analysis: &Analysis<'_>,
    object: &Object<'_>,
    instants: impl Iterator<Item = Nanos>,
    take: Sink<'_>,
) -> io::Result<()> {
    let model = analysis.model;
    let instants: Vec<Nanos> = instants.filter(|at| analysis.counts(*at)).collect();
    for bin in recorded_bins(analysis, &instants) {
        take(&cells! {
            object.kind, object.name, object.node, object.topic, model.host_name(object.process),
            pid(model, object.process), object.index as u64, bin.begin, bin.count,
            analysis.is_damaged(bin.begin, bin.end()),
        })?;
    }
    Ok(())
}
