//! Messages on their way from a publisher to a subscription.

use std::io;

use super::describe::{pid, start_of};
use super::{Column, Sink, Table};
use crate::analysis::Analysis;

pub(super) const DELIVERIES: Table = Table {
    name: "deliveries",
    about: "One message and one subscription that it should have reached.",
    columns: &[
        Column::text("topic", "Topic."),
        Column::text("pub_host", "Machine of the publisher."),
        Column::integer("pub_pid", "Process of the publisher."),
        Column::time("publish_ns", "The first event that the call of `publish` left."),
        Column::text("sub_host", "Machine of the subscription."),
        Column::integer("sub_pid", "Process of the subscription."),
        Column::text("sub_node", "Node of the subscription; empty if the trace does not name it."),
        Column::text("kind", "`inter`: through the middleware; `intra`: inside one process."),
        Column::time("callback_start_ns", "Start of the execution that received it; nothing if it was taken by hand or did not arrive.").optional(),
        Column::text("status", "`delivered`, `overwritten` (pushed out of a full ring buffer), `lost` (earlier and later ones arrived), `queued` (not yet received when the recording ended), `unknown`."),
        Column::text("matched_by", "What ties the two ends together; empty if nothing does."),
    ],
    rows: deliveries,
};

fn deliveries(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for delivery in &model.deliveries {
        let publication = analysis.publication(delivery.publication);
        if !analysis.counts(publication.publish) {
            continue;
        }
        let from = model.process_of(publication.thread);
        let subscription = &model.subscriptions[delivery.subscription.index()];
        let node = model.node_name(subscription.node).unwrap_or_default();
        take(&[
            subscription.topic.as_str().into(),
            model.host_name(from).into(),
            pid(model, from).into(),
            publication.publish.into(),
            model.host_name(subscription.process).into(),
            pid(model, subscription.process).into(),
            node.into(),
            delivery.kind.name().into(),
            start_of(model, delivery.instance).into(),
            delivery.status.name().into(),
            delivery.by.name().into(),
        ])?;
    }
    Ok(())
}
