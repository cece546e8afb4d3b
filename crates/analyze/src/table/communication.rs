//! Messages on their way from a publisher to a subscription: every one, and summarised.

use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{DeliveryId, SubscriptionId};
use rostrace_model::flow::DeliveryStatus;

use super::describe::{pid, publisher, start_of};
use super::recurring::{
    BUILT_IN, INSTANCE, PUBLICATION, PUBLISHER, RCL_PUBLISH, RCLCPP_PUBLISH, SOURCE_TIMESTAMP,
    SUBSCRIPTION, TOPIC,
};
use super::statistics_columns::{columns, statistics_cells, statistics_columns};
use super::{Cell, Column, Sink, Table};
use crate::analysis::Analysis;
use crate::built_in;
use crate::communication::pairs;

const PUB_HOST: Column = Column::text("pub_host", "Machine of the publisher.");

const PUB_PID: Column = Column::pid("pub_pid", "Process of the publisher.");

const PUB_NODE: Column = Column::node(
    "pub_node",
    "Node of the publisher; empty if the trace does not name it.",
);

const SUB_HOST: Column = Column::text("sub_host", "Machine of the subscription.");

const SUB_PID: Column = Column::pid("sub_pid", "Process of the subscription.");

const SUB_NODE: Column = Column::node(
    "sub_node",
    "Node of the subscription; empty if the trace does not name it.",
);

const KIND: Column = Column::text(
    "kind",
    "`inter`: through the middleware; `intra`: inside one process.",
);

pub(super) const DELIVERIES: Table = Table {
    name: "deliveries",
    about: "One message and one subscription that it should have reached.",
    columns: &[
        TOPIC,
        PUB_HOST,
        PUB_PID,
        Column::time("publish_ns", "The first event that the call of `publish` left."),
        SUB_HOST,
        SUB_PID,
        SUB_NODE,
        KIND,
        Column::time("callback_start_ns", "Start of the execution that received it; nothing if it was taken by hand or did not arrive.").optional(),
        Column::text("status", "`delivered`, `overwritten` (pushed out of a full ring buffer), `lost` (earlier and later ones arrived), `queued` (not received, though the recording went on for a second or more), `unknown`."),
        Column::text("matched_by", "What ties the two ends together (`stamp_alone` where one of them has no name); empty if nothing does."),
        PUB_NODE,
        RCLCPP_PUBLISH,
        RCL_PUBLISH,
        Column::time("rmw_publish_ns", "The middleware was called.").optional(),
        SOURCE_TIMESTAMP,
        Column::time("take_ns", "Taken from the middleware.").optional(),
        Column::duration("latency_ns", "Publish to callback, or to the take of a message that is taken by hand: the sum of the four stages.").optional(),
        Column::duration("publish_stage_ns", "Until the middleware, or the ring buffer, had it.").optional(),
        Column::duration("transport_stage_ns", "From there to the take, less the wait.").optional(),
        Column::duration("wait_stage_ns", "The part of that time in which the receiving thread was busy, or its mutually exclusive group.").optional(),
        Column::duration("dispatch_stage_ns", "From the take to the callback.").optional(),
        Column::flag("historical", "Published before the subscription existed (transient local): not in any summary of latencies."),
        Column::text("drop_cause", "Why it did not arrive: `ring_buffer_full`, `history_full` (inferred: at least as many later ones as the subscription keeps were published before its next take), `middleware`, `recording_end`, `unknown`.").optional(),
        Column::flag("damaged", "Whether events were lost on its way."),
        PUBLICATION,
        PUBLISHER.optional(),
        SUBSCRIPTION.optional(),
        INSTANCE.optional(),
        BUILT_IN,
    ],
    rows: deliveries,
};

fn deliveries(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for index in 0..model.subscriptions.len() {
        for id in analysis.deliveries_to(SubscriptionId::from_index(index)) {
            delivery(analysis, *id, take)?;
        }
    }
    // Those to subscriptions that the trace does not name.
    for (index, row) in model.deliveries.iter().enumerate() {
        if row.subscription.is_none() {
            delivery(analysis, DeliveryId::from_index(index), take)?;
        }
    }
    Ok(())
}

fn delivery(analysis: &Analysis<'_>, id: DeliveryId, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let delivery = analysis.delivery(id);
    let publication = analysis.publication(delivery.publication);
    if !analysis.counts(publication.publish) {
        return Ok(());
    }
    let from = model.process_of(publication.thread);
    let subscription = delivery
        .subscription
        .map(|id| &model.subscriptions[id.index()]);
    let to = match (subscription, delivery.instance) {
        (Some(subscription), _) => Some(subscription.process),
        (None, instance) => instance.map(|id| model.process_of(analysis.instance(id).thread)),
    };
    let topic = match (subscription, publication.publisher) {
        (Some(subscription), _) => subscription.topic.as_str(),
        (None, Some(publisher)) => model.publishers[publisher.index()].topic.as_str(),
        (None, None) => "",
    };
    let node = model.node_name(subscription.and_then(|it| it.node));
    let arrival = analysis.arrival(id);
    let stages = arrival.map(|arrival| arrival.stages);
    let cause = analysis.drop_cause(id);
    // What is not known to have ended can have met any loss since.
    let received = match (arrival, delivery.status) {
        (Some(arrival), _) => arrival.received,
        (None, DeliveryStatus::Unknown | DeliveryStatus::Queued) => Nanos(i64::MAX),
        (None, _) => publication.publish,
    };
    let damaged = analysis.is_damaged(publication.publish, received)
        || analysis.begins_late(delivery.publication);
    take(&[
        topic.into(),
        model.host_name(from).into(),
        pid(model, from).into(),
        publication.publish.into(),
        to.map_or("", |to| model.host_name(to)).into(),
        to.map_or(0, |to| pid(model, to)).into(),
        node.unwrap_or_default().into(),
        delivery.kind.name().into(),
        start_of(model, delivery.instance).into(),
        delivery.status.name().into(),
        delivery.by.name().into(),
        publisher(model, publication.publisher).0.into(),
        publication.rclcpp.into(),
        publication.rcl.into(),
        publication.rmw.into(),
        publication.source_timestamp.into(),
        arrival.and_then(|arrival| arrival.taken).into(),
        stages.map(|stages| stages.latency()).into(),
        stages.map(|stages| stages.publish).into(),
        stages.map(|stages| stages.transport).into(),
        stages.map(|stages| stages.wait).into(),
        stages.map(|stages| stages.dispatch).into(),
        arrival.is_some_and(|arrival| arrival.historical).into(),
        cause.map(|cause| cause.name()).into(),
        damaged.into(),
        i64::from(delivery.publication.0).into(),
        publication.publisher.map(|id| i64::from(id.0)).into(),
        delivery.subscription.map(|id| i64::from(id.0)).into(),
        delivery.instance.map(|id| i64::from(id.0)).into(),
        built_in::topic(topic).into(),
    ])
}

pub(super) const COMMUNICATIONS: Table = Table {
    name: "communications",
    about: "One publisher and one subscription, with all messages between them summarised. A pair that communicates both inside a process and through the middleware has two rows.",
    columns: columns![
        [
            TOPIC,
            PUB_HOST,
            PUB_PID,
            PUB_NODE,
            SUB_HOST,
            SUB_PID,
            SUB_NODE,
            KIND,
            Column::count("messages", "Messages that should have arrived."),
            Column::integer("arrived", "Messages that did."),
            Column::integer(
                "historical",
                "Messages published before the subscription existed (transient local); they are not in the latencies."
            ),
            Column::integer(
                "dropped_ring_buffer_full",
                "Pushed out of the ring buffer of the subscription."
            ),
            Column::integer(
                "dropped_history_full",
                "Lost while at least as many later ones as the subscription keeps were published before its next take."
            ),
            Column::integer("dropped_middleware", "Lost although there was room."),
            Column::integer("not_yet_received", "Under way when the recording ended."),
            Column::integer(
                "unknown",
                "Messages of which the trace does not tell whether they arrived."
            ),
        ],
        statistics_columns!("latency", "latency: publish to callback"),
        statistics_columns!(
            "publish_stage",
            "time until the middleware, or the ring buffer, had the message"
        ),
        statistics_columns!(
            "transport_stage",
            "time from there to the take, less the wait"
        ),
        statistics_columns!(
            "wait_stage",
            "time in which the receiving thread or its group was busy"
        ),
        statistics_columns!("dispatch_stage", "time from the take to the callback"),
        [
            Column::count("damaged", "Messages on whose way events were lost."),
            PUBLISHER,
            SUBSCRIPTION,
            BUILT_IN,
        ],
    ],
    rows: communications,
};

fn communications(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for pair in pairs(analysis) {
        let publisher = &model.publishers[pair.publisher.index()];
        let subscription = &model.subscriptions[pair.subscription.index()];
        let node = |node| model.node_name(node).unwrap_or_default();
        let mut cells: Vec<Cell<'_>> = vec![
            subscription.topic.as_str().into(),
            model.host_name(publisher.process).into(),
            pid(model, publisher.process).into(),
            node(publisher.node).into(),
            model.host_name(subscription.process).into(),
            pid(model, subscription.process).into(),
            node(subscription.node).into(),
            pair.kind.name().into(),
            pair.messages.into(),
            pair.arrived.into(),
            pair.historical.into(),
        ];
        cells.extend(pair.dropped.map(Cell::from));
        cells.extend(statistics_cells(pair.latency.as_ref()));
        for stage in &pair.stages {
            cells.extend(statistics_cells(stage.as_ref()));
        }
        cells.extend([
            Cell::from(pair.damaged),
            i64::from(pair.publisher.0).into(),
            i64::from(pair.subscription.0).into(),
            built_in::topic(&subscription.topic).into(),
        ]);
        take(&cells)?;
    }
    Ok(())
}
