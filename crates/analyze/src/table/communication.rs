//! Messages on their way from a publisher to a subscription: every one, and summarised.

use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{DeliveryId, SubscriptionId};
use rostrace_model::flow::DeliveryStatus;

use super::describe::{pid, publisher, start_of};
use super::page::{COMMUNICATION, ENDPOINT, LOSSES, PageColumn, PageTable};
use super::recurring::{
    BUILT_IN, INSTANCE, PUBLICATION, PUBLISHER, RCL_PUBLISH, RCLCPP_PUBLISH, SOURCE_TIMESTAMP,
    SUBSCRIPTION, TOPIC,
};
use super::statistics_columns::statistics_cells;
use super::{Cell, Column, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::communication::{Pair, pairs};

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
    columns: columns! {
        TOPIC,
        PUB_HOST,
        PUB_PID,
        time "publish_ns" "The first event that the call of `publish` left.",
        SUB_HOST,
        SUB_PID,
        SUB_NODE,
        KIND,
        time? "callback_start_ns" "Start of the execution that received it; nothing if it was taken by hand or did not arrive.",
        text "status" "`delivered`, `overwritten` (pushed out of a full ring buffer), `lost` (earlier and later ones arrived), `queued` (not received, though the recording went on for a second or more), `unknown`.",
        text "matched_by" "What ties the two ends together (`stamp_alone` where one of them has no name); empty if nothing does.",
        PUB_NODE,
        RCLCPP_PUBLISH,
        RCL_PUBLISH,
        time? "rmw_publish_ns" "The middleware was called.",
        SOURCE_TIMESTAMP,
        time? "arrived_ns" "It came to the middleware of the receiver: CARET's recordings up to version 0.2, where this is certain.",
        time? "take_ns" "Taken from the middleware.",
        duration? "latency_ns" "Publish to callback, or to the take of a message that is taken by hand: the sum of the four stages.",
        duration? "publish_stage_ns" "Until the middleware, or the ring buffer, had it.",
        duration? "transport_stage_ns" "From there to the arrival, if that is known; otherwise to the take, less the wait.",
        duration? "wait_stage_ns" "From the arrival to the take, if the arrival is known; otherwise the part of that time in which the receiving thread was busy, or its mutually exclusive group.",
        duration? "dispatch_stage_ns" "From the take to the callback.",
        flag "historical" "Published before the subscription existed (transient local): not in any summary of latencies.",
        text? "drop_cause" "Why it did not arrive: `ring_buffer_full`, `history_full` (inferred: at least as many later ones as the subscription keeps were published before its next take), `middleware`, `recording_end`, `unknown`.",
        flag "damaged" "Whether events were lost on its way.",
        PUBLICATION,
        = PUBLISHER.optional(),
        = SUBSCRIPTION.optional(),
        = INSTANCE.optional(),
        BUILT_IN,
    },
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
    take(&cells! {
        topic, model.host_name(from), pid(model, from), publication.publish,
        to.map_or("", |to| model.host_name(to)), to.map_or(0, |to| pid(model, to)),
        node.unwrap_or_default(), delivery.kind.name(), start_of(model, delivery.instance),
        delivery.status.name(), delivery.by.name(), publisher(model, publication.publisher).0,
        publication.rclcpp, publication.rcl, publication.rmw, publication.source_timestamp,
        arrival.and_then(|arrival| arrival.arrived), arrival.and_then(|arrival| arrival.taken), stages.map(|stages| stages.latency()),
        stages.map(|stages| stages.publish), stages.map(|stages| stages.transport),
        stages.map(|stages| stages.wait), stages.map(|stages| stages.dispatch),
        arrival.is_some_and(|arrival| arrival.historical), cause.map(|cause| cause.name()), damaged,
        i64::from(delivery.publication.0), publication.publisher.map(|id| i64::from(id.0)),
        delivery.subscription.map(|id| i64::from(id.0)),
        delivery.instance.map(|id| i64::from(id.0)), built_in::topic(topic),
    })
}

pub(super) const COMMUNICATIONS: Table = Table {
    name: "communications",
    about: "One publisher and one subscription, with all messages between them summarised. A pair that communicates both inside a process and through the middleware has two rows.",
    columns: columns! {
        TOPIC,
        PUB_HOST,
        PUB_PID,
        PUB_NODE,
        SUB_HOST,
        SUB_PID,
        SUB_NODE,
        KIND,
        count "messages" "Messages that should have arrived.",
        integer "arrived" "Messages that did.",
        integer "historical" "Messages published before the subscription existed (transient local); they are not in the latencies.",
        integer "dropped_ring_buffer_full" "Pushed out of the ring buffer of the subscription.",
        integer "dropped_history_full" "Lost while at least as many later ones as the subscription keeps were published before its next take.",
        integer "dropped_middleware" "Lost although there was room.",
        integer "not_yet_received" "Under way when the recording ended.",
        integer "unknown" "Messages that may or may not have arrived: the trace does not show it.",
        statistics "latency" "latency: publish to callback",
        statistics "publish_stage" "time until the middleware, or the ring buffer, had the message",
        statistics "transport_stage" "time from there to the arrival, or to the take less the wait",
        statistics "wait_stage" "time from the arrival to the take, or in which the receiving thread or its group was busy",
        statistics "dispatch_stage" "time from the take to the callback",
        count "damaged" "Messages on whose way events were lost.",
        PUBLISHER,
        SUBSCRIPTION,
        BUILT_IN,
    },
    rows: communications,
};

pub const COMMUNICATION_PAGE: PageTable = PageTable {
    table: &COMMUNICATIONS,
    joined: columns! {
        hertz? "publish_rate_hz" "How often its publisher published.",
        hertz? "receive_rate_hz" "How often its subscription received.",
        count "lost" "Messages that were dropped, whether by the ring buffer, the history or the middleware.",
    },
    shown: &[
        PageColumn::new("topic", "topic"),
        PageColumn::new("pub_node", "publisher"),
        PageColumn::new("sub_node", "subscription"),
        PageColumn::new("kind", "inter or intra").defined(COMMUNICATION),
        PageColumn::new("messages", "messages"),
        PageColumn::new("publish_rate_hz", "published at").defined(ENDPOINT),
        PageColumn::new("receive_rate_hz", "received at"),
        PageColumn::new("latency_p50_ns", "latency p50").defined(COMMUNICATION),
        PageColumn::new("latency_p99_ns", "latency p99"),
        PageColumn::new("latency_max_ns", "latency max"),
        PageColumn::chart("latency", "latency over time"),
        PageColumn::none_wanted("lost", "lost").defined(COMMUNICATION),
        PageColumn::none_wanted("damaged", "damaged").defined(LOSSES),
    ],
    filter: "Filter by topic or node",
    sort: "latency_max_ns",
};

fn communications(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    communications_of(analysis, &pairs(analysis), take)
}

/// The rows of some pairs.
pub fn communications_of(
    analysis: &Analysis<'_>,
    pairs: &[Pair],
    take: Sink<'_>,
) -> io::Result<()> {
    let model = analysis.model;
    for pair in pairs {
        let publisher = &model.publishers[pair.publisher.index()];
        let subscription = &model.subscriptions[pair.subscription.index()];
        let node = |node| model.node_name(node).unwrap_or_default();
        let mut cells: Vec<Cell<'_>> = Vec::from(cells! {
            subscription.topic.as_str(), model.host_name(publisher.process),
            pid(model, publisher.process), node(publisher.node),
            model.host_name(subscription.process), pid(model, subscription.process),
            node(subscription.node), pair.kind.name(), pair.messages, pair.arrived, pair.historical,
        });
        cells.extend(pair.dropped.map(Cell::from));
        cells.extend(statistics_cells(pair.latency.as_ref()));
        for stage in &pair.stages {
            cells.extend(statistics_cells(stage.as_ref()));
        }
        cells.extend(cells! {
            pair.damaged, i64::from(pair.publisher.0), i64::from(pair.subscription.0),
            built_in::topic(&subscription.topic),
        });
        take(&cells)?;
    }
    Ok(())
}
