//! Publishers and subscriptions.

use std::io;

use rostrace_model::entity::{PublisherId, SubscriptionId};

use super::describe::pid;
use super::recurring::{
    BUILT_IN, CREATED, HOST, NODE, PID, PROCESS, PUBLISHER, SUBSCRIPTION, TOPIC,
};
use super::statistics_columns::{columns, statistics_cells, statistics_columns};
use super::{Cell, Column, Sink, Table};
use crate::analysis::Analysis;
use crate::built_in;
use crate::endpoint::Endpoints;

const DEPTH: Column = Column::integer("depth", "How many messages it keeps, as requested.");

const DAMAGED: Column = Column::count(
    "damaged",
    "Messages before which events were lost: they have no period, and others may be missing.",
);

pub(super) const PUBLISHERS: Table = Table {
    name: "publishers",
    about: "One publisher, with what it published. One that was made again is another one; publications whose publisher the trace does not tell are in none.",
    columns: columns![
        [
            HOST,
            PID,
            PROCESS,
            NODE,
            TOPIC,
            DEPTH,
            CREATED,
            Column::count("messages", "Calls of `publish`."),
            Column::count(
                "intra_process",
                "Those that were handed to subscriptions of the same process, alone or also to others."
            ),
            Column::hertz(
                "rate_hz",
                "Messages per second: (messages − 1) / (last − first). Nothing for fewer than two."
            )
            .optional(),
        ],
        statistics_columns!("period", "time from one publication to the next"),
        [DAMAGED, BUILT_IN, PUBLISHER]
    ],
    rows: publishers,
};

fn publishers(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let endpoints = Endpoints::new(analysis);
    for (index, publisher) in model.publishers.iter().enumerate() {
        let summary = endpoints.publisher(PublisherId::from_index(index));
        let node = model.node_name(publisher.node).unwrap_or_default();
        let mut row: Vec<Cell<'_>> = vec![
            model.host_name(publisher.process).into(),
            pid(model, publisher.process).into(),
            (&model.processes[publisher.process.index()].name).into(),
            node.into(),
            (&publisher.topic).into(),
            publisher.depth.into(),
            publisher.created.into(),
            summary.messages.into(),
            summary.intra_process.into(),
            summary.rate.into(),
        ];
        row.extend(statistics_cells(summary.period.as_ref()));
        row.push(summary.damaged.into());
        row.push((built_in::topic(&publisher.topic) || built_in::node(node)).into());
        row.push((index as i64).into());
        take(&row)?;
    }
    Ok(())
}

pub(super) const SUBSCRIPTIONS: Table = Table {
    name: "subscriptions",
    about: "One subscription, with what it received: executions of its callback, and messages that were taken by hand.",
    columns: columns![
        [
            HOST,
            PID,
            PROCESS,
            NODE,
            TOPIC,
            DEPTH,
            CREATED,
            Column::count("received", "Messages received."),
            Column::count(
                "intra_process",
                "Those from publishers of the same process, without the middleware."
            ),
            Column::count(
                "by_hand",
                "Those that the program took itself, without a callback."
            ),
            Column::hertz(
                "rate_hz",
                "Messages per second: (received − 1) / (last − first). Nothing for fewer than two."
            )
            .optional(),
        ],
        statistics_columns!("period", "time from one reception to the next"),
        statistics_columns!(
            "message_age",
            "age of a message: from the stamp in its header to its reception, on the clock (the system's or the simulated one) that is nearer to the stamp"
        ),
        [DAMAGED, BUILT_IN, SUBSCRIPTION]
    ],
    rows: subscriptions,
};

fn subscriptions(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let endpoints = Endpoints::new(analysis);
    for (index, subscription) in model.subscriptions.iter().enumerate() {
        let summary = endpoints.subscription(SubscriptionId::from_index(index));
        let node = model.node_name(subscription.node).unwrap_or_default();
        let mut row: Vec<Cell<'_>> = vec![
            model.host_name(subscription.process).into(),
            pid(model, subscription.process).into(),
            (&model.processes[subscription.process.index()].name).into(),
            node.into(),
            (&subscription.topic).into(),
            subscription.depth.into(),
            subscription.created.into(),
            summary.messages.into(),
            summary.intra_process.into(),
            summary.by_hand.into(),
            summary.rate.into(),
        ];
        row.extend(statistics_cells(summary.period.as_ref()));
        row.extend(statistics_cells(summary.age.as_ref()));
        row.push(summary.damaged.into());
        row.push((built_in::topic(&subscription.topic) || built_in::node(node)).into());
        row.push((index as i64).into());
        take(&row)?;
    }
    Ok(())
}
