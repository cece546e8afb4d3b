//! Publishers and subscriptions.

use std::io;

use rostrace_model::describe::built_in;
use rostrace_model::entity::{PublisherId, SubscriptionId};

use super::describe::pid;
use super::page::{ENDPOINT, LOSSES, PageColumn, PageTable, Room};
use super::recurring::{
    BUILT_IN, CREATED, HOST, NODE, PID, PROCESS, PUBLISHER, SUBSCRIPTION, TOPIC,
};
use super::statistics_columns::statistics_cells;
use super::{Cell, Column, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::endpoint::Endpoints;

const DEPTH: Column = Column::integer("depth", "How many messages it keeps, as requested.");

const DAMAGED: Column = Column::count(
    "damaged",
    "Messages before which events were lost: they have no period, and others may be missing.",
);

pub(super) const PUBLISHERS: Table = Table {
    name: "publishers",
    about: "One publisher, with what it published. One that was made again is another one; publications of an unknown publisher are in none.",
    columns: columns! {
        HOST,
        PID,
        PROCESS,
        NODE,
        TOPIC,
        DEPTH,
        CREATED,
        count "messages" "Calls of `publish`.",
        count "intra_process" "Those that were handed to subscriptions of the same process, alone or also to others.",
        hertz? "rate_hz" "Messages per second: (messages − 1) / (last − first). Nothing for fewer than two.",
        statistics "period" "time from one publication to the next",
        DAMAGED,
        BUILT_IN,
        PUBLISHER,
    },
    rows: publishers,
};

pub const PUBLISHER_PAGE: PageTable = PageTable {
    table: &PUBLISHERS,
    joined: &[],
    shown: &[
        PageColumn::new("node", "publisher"),
        PageColumn::new("pid", "process"),
        PageColumn::new("depth", "depth"),
        PageColumn::new("messages", "messages"),
        PageColumn::new("intra_process", "intra-process").room(Room::Wide),
        PageColumn::new("rate_hz", "rate").defined(ENDPOINT),
        PageColumn::new("period_p50_ns", "period p50").defined(ENDPOINT),
        PageColumn::new("period_p99_ns", "period p99"),
        PageColumn::new("period_max_ns", "period max"),
        PageColumn::none_wanted("damaged", "damaged").defined(LOSSES),
    ],
    filter: "Filter by node",
    sort: "messages",
};

fn publishers(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let endpoints = Endpoints::new(analysis);
    for (index, publisher) in model.publishers.iter().enumerate() {
        let summary = endpoints.publisher(PublisherId::from_index(index));
        let node = model.node_name(publisher.node).unwrap_or_default();
        let mut row: Vec<Cell<'_>> = Vec::from(cells! {
            model.host_name(publisher.process), pid(model, publisher.process),
            &model.processes[publisher.process.index()].name, node, &publisher.topic,
            publisher.depth, publisher.created, summary.messages, summary.intra_process,
            summary.rate,
        });
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
    columns: columns! {
        HOST,
        PID,
        PROCESS,
        NODE,
        TOPIC,
        DEPTH,
        CREATED,
        count "received" "Messages received.",
        count "intra_process" "Those from publishers of the same process, without the middleware.",
        count "by_hand" "Those that the program took itself, without a callback.",
        hertz? "rate_hz" "Messages per second: (received − 1) / (last − first). Nothing for fewer than two.",
        statistics "period" "time from one reception to the next",
        statistics "message_age" "age of a message: from the stamp in its header to its reception, on the clock (the system's or the simulated one) that is nearer to the stamp",
        DAMAGED,
        BUILT_IN,
        SUBSCRIPTION,
    },
    rows: subscriptions,
};

pub const SUBSCRIPTION_PAGE: PageTable = PageTable {
    table: &SUBSCRIPTIONS,
    joined: &[Column::text(
        "callback",
        "Name of its callback; empty if it has none.",
    )],
    shown: &[
        PageColumn::new("node", "subscription"),
        PageColumn::new("callback", "callback"),
        PageColumn::new("pid", "process"),
        PageColumn::new("depth", "depth"),
        PageColumn::new("received", "messages"),
        PageColumn::new("intra_process", "intra-process").room(Room::Wide),
        PageColumn::new("by_hand", "taken by hand").room(Room::Wide),
        PageColumn::new("rate_hz", "rate").defined(ENDPOINT),
        PageColumn::new("period_p50_ns", "period p50").defined(ENDPOINT),
        PageColumn::new("period_p99_ns", "period p99"),
        PageColumn::new("period_max_ns", "period max"),
        PageColumn::new("message_age_p50_ns", "message age p50").defined(ENDPOINT),
        PageColumn::new("message_age_max_ns", "message age max"),
        PageColumn::none_wanted("damaged", "damaged").defined(LOSSES),
    ],
    filter: "Filter by node",
    sort: "received",
};

fn subscriptions(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let endpoints = Endpoints::new(analysis);
    for (index, subscription) in model.subscriptions.iter().enumerate() {
        let summary = endpoints.subscription(SubscriptionId::from_index(index));
        let node = model.node_name(subscription.node).unwrap_or_default();
        let mut row: Vec<Cell<'_>> = Vec::from(cells! {
            model.host_name(subscription.process), pid(model, subscription.process),
            &model.processes[subscription.process.index()].name, node, &subscription.topic,
            subscription.depth, subscription.created, summary.messages, summary.intra_process,
            summary.by_hand, summary.rate,
        });
        row.extend(statistics_cells(summary.period.as_ref()));
        row.extend(statistics_cells(summary.age.as_ref()));
        row.push(summary.damaged.into());
        row.push((built_in::topic(&subscription.topic) || built_in::node(node)).into());
        row.push((index as i64).into());
        take(&row)?;
    }
    Ok(())
}
