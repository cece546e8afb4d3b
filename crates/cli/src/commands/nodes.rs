//! `rostrace nodes`: where each node runs, what it consists of, and how much it did.

use std::collections::HashSet;

use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::NodeId;
use serde::Serialize;

use crate::args::LookArguments;
use crate::listing::{Reading, Row, cell};
use crate::outcome::Outcome;
use crate::render::table::{Align, Table};
use crate::render::units;
use crate::view::View;
use rostrace_analyze::built_in;

/// The state in which every lifecycle node begins.
const FIRST_STATE: &str = "unconfigured";

#[derive(Debug, Serialize)]
struct NodeRow<'m> {
    node: &'m str,
    host: &'m str,
    pid: i64,
    process: &'m str,
    distribution: Option<&'static str>,
    rmw_implementation: Option<&'m str>,
    created_ns: i64,
    /// The node itself belongs to a recorder.
    built_in: bool,
    #[serde(flatten)]
    parts: Parts,
    /// Those of the parts that rclcpp or a recorder made.
    built_in_parts: Parts,
    /// Executions of its callbacks, and messages that it sent, in the range of time.
    callback_instances: u64,
    messages: u64,
    /// At the end of the range of time; nothing for a node without a lifecycle.
    lifecycle_state: Option<&'m str>,
}

/// How many of each kind of thing a node has.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Parts {
    callbacks: u64,
    publishers: u64,
    subscriptions: u64,
    timers: u64,
    services: u64,
    clients: u64,
}

pub(crate) fn nodes(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let rows = rows(&view);
    let without = callbacks_without_node(&view);
    let note = (without > 0).then(|| {
        let counted = units::counted(without as u64, "callback");
        let why = reading.why_unnamed();
        format!("{counted} ran in nodes that the trace does not name: {why}")
    });
    reading.print(&rows, || table(&rows, arguments.all), note)
}

/// Callbacks that ran, and of which the trace does not tell the node.
fn callbacks_without_node(view: &View<'_>) -> usize {
    let model = view.model;
    let mut found = HashSet::new();
    for (_, instance) in view.instances() {
        let process = model.process_of(instance.thread);
        let node = instance
            .callback
            .and_then(|callback| model.node_of_callback(callback));
        let symbol = instance
            .callback
            .and_then(|callback| model.callbacks[callback.index()].symbol.as_deref());
        let built_in = symbol.is_some_and(built_in::symbol);
        if node.is_none() && !built_in && view.has_unnamed(process) {
            found.insert((process, instance.callback, instance.address));
        }
    }
    found.len()
}

/// In the order of creation.
fn rows<'m>(view: &View<'m>) -> Vec<NodeRow<'m>> {
    let model = view.model;
    let (all, own) = parts(model);
    let mut rows: Vec<NodeRow<'m>> = Vec::with_capacity(model.nodes.len());
    for (index, node) in model.nodes.iter().enumerate() {
        let process = &model.processes[node.process.index()];
        rows.push(NodeRow {
            node: &node.name,
            host: model.host_name(node.process),
            pid: process.pid,
            process: &process.name,
            distribution: process.distribution.map(|it| it.name()),
            rmw_implementation: process.rmw_implementation.as_deref(),
            created_ns: node.created.0,
            built_in: built_in::node(&node.name),
            parts: all[index],
            built_in_parts: own[index],
            callback_instances: 0,
            messages: 0,
            lifecycle_state: state(model, NodeId(index as u32), view.end()),
        });
    }
    for (_, instance) in view.instances() {
        let callback = instance.callback;
        if let Some(node) = callback.and_then(|callback| model.node_of_callback(callback)) {
            rows[node.index()].callback_instances += 1;
        }
    }
    for publication in view.publications() {
        let publisher = publication.publisher;
        let node = publisher.and_then(|publisher| model.publishers[publisher.index()].node);
        if let Some(node) = node {
            rows[node.index()].messages += 1;
        }
    }
    let mut id = 0..;
    rows.retain(|_| id.next().is_some_and(|id| view.has_node(NodeId(id))));
    rows
}

/// By node: what it has, and how much of that is built in.
fn parts(model: &Model) -> (Vec<Parts>, Vec<Parts>) {
    let nothing = vec![Parts::default(); model.nodes.len()];
    let (mut all, mut own) = (nothing.clone(), nothing);
    let mut add = |node: Option<NodeId>, built_in: bool, part: fn(&mut Parts) -> &mut u64| {
        let Some(node) = node else { return };
        *part(&mut all[node.index()]) += 1;
        if built_in || built_in::node(&model.nodes[node.index()].name) {
            *part(&mut own[node.index()]) += 1;
        }
    };
    for publisher in &model.publishers {
        let built_in = built_in::topic(&publisher.topic);
        add(publisher.node, built_in, |parts| &mut parts.publishers);
    }
    for subscription in &model.subscriptions {
        let built_in = built_in::topic(&subscription.topic);
        add(subscription.node, built_in, |it| &mut it.subscriptions);
        if subscription.callback.is_some() {
            add(subscription.node, built_in, |it| &mut it.callbacks);
        }
    }
    for timer in &model.timers {
        add(timer.node, false, |parts| &mut parts.timers);
        if timer.callback.is_some() {
            add(timer.node, false, |parts| &mut parts.callbacks);
        }
    }
    for service in &model.services {
        let built_in = built_in::service(model.node_name(service.node), &service.name);
        add(service.node, built_in, |parts| &mut parts.services);
        if service.callback.is_some() {
            add(service.node, built_in, |parts| &mut parts.callbacks);
        }
    }
    for client in &model.clients {
        let built_in = built_in::client(&client.name);
        add(client.node, built_in, |parts| &mut parts.clients);
    }
    (all, own)
}

/// The last state that a lifecycle node went to.
fn state(model: &Model, node: NodeId, end: Nanos) -> Option<&str> {
    let machines = model.state_machines.iter();
    let machine = machines
        .enumerate()
        .filter(|(_, machine)| machine.node == Some(node))
        .map(|(index, _)| index)
        .next_back()?;
    let mut transitions = model.transitions.iter().filter(|transition| {
        transition.time <= end
            && transition
                .state_machine
                .is_some_and(|it| it.index() == machine)
    });
    Some(transitions.next_back().map_or(FIRST_STATE, |last| &last.to))
}

impl Row for NodeRow<'_> {
    const NOUN: &'static str = "node";
    const COLUMNS: &'static [&'static str] = &[
        "node",
        "host",
        "pid",
        "process",
        "distribution",
        "rmw_implementation",
        "created_ns",
        "built_in",
        "callbacks",
        "publishers",
        "subscriptions",
        "timers",
        "services",
        "clients",
        "built_in_callbacks",
        "built_in_publishers",
        "built_in_subscriptions",
        "built_in_timers",
        "built_in_services",
        "built_in_clients",
        "callback_instances",
        "messages",
        "lifecycle_state",
    ];

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![
            self.node.to_owned(),
            self.host.to_owned(),
            self.pid.to_string(),
            self.process.to_owned(),
            cell(self.distribution),
            cell(self.rmw_implementation),
            self.created_ns.to_string(),
            u8::from(self.built_in).to_string(),
        ];
        for parts in [self.parts, self.built_in_parts] {
            cells.extend(parts.numbers().map(|number| number.to_string()));
        }
        cells.extend([
            self.callback_instances.to_string(),
            self.messages.to_string(),
            cell(self.lifecycle_state),
        ]);
        cells
    }
}

impl Parts {
    fn numbers(self) -> [u64; 6] {
        [
            self.callbacks,
            self.publishers,
            self.subscriptions,
            self.timers,
            self.services,
            self.clients,
        ]
    }
}

/// Without what is built in, unless all is asked for: that is one column, and one line for the recorders' nodes.
fn table(rows: &[NodeRow<'_>], all: bool) -> Table {
    let mut table = Table::new(&[
        ("node", Align::Left),
        ("process", Align::Left),
        ("distribution", Align::Left),
        ("rmw", Align::Left),
        ("callbacks", Align::Right),
        ("publishers", Align::Right),
        ("subscriptions", Align::Right),
        ("timers", Align::Right),
        ("services", Align::Right),
        ("clients", Align::Right),
        ("built in", Align::Right),
        ("runs", Align::Right),
        ("messages", Align::Right),
        ("state", Align::Left),
    ])
    .dispensable(&[
        "distribution",
        "rmw",
        "built in",
        "clients",
        "services",
        "timers",
        "publishers",
        "subscriptions",
        "callbacks",
    ]);
    let (folded, shown): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.built_in && !all);
    for row in shown {
        let built_in = row.built_in_parts.numbers();
        let numbers = row.parts.numbers().into_iter().zip(built_in);
        let mut cells = vec![
            row.node.to_owned(),
            format!("{} {}", row.process, row.pid),
            row.distribution.unwrap_or("–").to_owned(),
            row.rmw_implementation.unwrap_or("–").to_owned(),
        ];
        cells.extend(
            numbers.map(|(number, built_in)| {
                units::count(if all { number } else { number - built_in })
            }),
        );
        cells.extend([
            // Callbacks belong to the others.
            units::count(built_in.into_iter().skip(1).sum()),
            units::count(row.callback_instances),
            units::count(row.messages),
            cell(row.lifecycle_state),
        ]);
        table.row(cells);
    }
    if !folded.is_empty() {
        let number = units::counted(folded.len() as u64, "node");
        table.row([format!("{number} of recorders and tools")]);
    }
    table
}
