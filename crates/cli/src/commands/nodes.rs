//! `rostrace nodes`: where each node runs, what it consists of, and how much it did.

use std::collections::HashSet;

use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::describe::{Description, built_in};
use rostrace_trace::entity::{CallbackId, ClientId, NodeId};
use serde::Serialize;

use crate::args::LookArguments;
use crate::cell::Cell;
use crate::listing::{Reading, Row};
use crate::outcome::Outcome;
use crate::view::View;
use rostrace_analyze::list::{List, NODES};
use rostrace_base::units;

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
    let Some(reading) = Reading::of(&NODES, arguments)? else {
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
    reading.print(rows, note)
}

/// Callbacks that ran, and of which the trace does not tell the node.
fn callbacks_without_node(view: &View<'_>) -> usize {
    let model = view.model;
    let mut found = HashSet::new();
    for (_, instance) in view.instances() {
        let process = model.process_of(instance.thread);
        let described = instance.callback.map(|id| Description::of(model, id));
        let described = described.unwrap_or_default();
        if described.node.is_none() && !described.built_in && view.has_unnamed(process) {
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
    }
    for timer in &model.timers {
        add(timer.node, false, |parts| &mut parts.timers);
    }
    for service in &model.services {
        let built_in = built_in::service(model.node_name(service.node), &service.name);
        add(service.node, built_in, |parts| &mut parts.services);
    }
    for id in (0..model.clients.len()).map(ClientId::from_index) {
        let client = Description::of_client(model, id);
        add(client.node, client.built_in, |parts| &mut parts.clients);
        add(client.node, client.built_in, |parts| &mut parts.callbacks);
    }
    for id in (0..model.callbacks.len()).map(CallbackId::from_index) {
        let callback = Description::of(model, id);
        add(callback.node, callback.built_in, |parts| {
            &mut parts.callbacks
        });
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
    const LIST: &'static List = &NODES;

    fn cells(&self) -> Vec<Cell> {
        let mut cells = vec![
            self.node.into(),
            self.host.into(),
            self.pid.into(),
            self.process.into(),
            self.distribution.into(),
            self.rmw_implementation.into(),
            self.created_ns.into(),
            self.built_in.into(),
        ];
        for parts in [self.parts, self.built_in_parts] {
            cells.extend(parts.numbers().map(Cell::from));
        }
        cells.extend([
            self.callback_instances.into(),
            self.messages.into(),
            self.lifecycle_state.into(),
            self.built_in_parts.without_callbacks().into(),
        ]);
        cells
    }

    /// Without what is built in, unless all is asked for: that is a column of its own.
    fn table_cells(&self, all: bool) -> Vec<Cell> {
        let mut cells = self.cells();
        if let (false, Some(first)) = (all, NODES.column("callbacks")) {
            let numbers = self.parts.numbers().into_iter();
            let own = numbers.zip(self.built_in_parts.numbers());
            let own = own.map(|(number, built_in)| Cell::from(number - built_in));
            cells.splice(first..first + 6, own);
        }
        cells
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        match title {
            "process" => Some(format!("{} {}", self.process, self.pid)),
            "distribution" => Some(self.distribution.unwrap_or("–").to_owned()),
            "rmw" => Some(self.rmw_implementation.unwrap_or("–").to_owned()),
            _ => None,
        }
    }

    fn is_folded(&self) -> bool {
        self.built_in
    }

    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let number = units::counted(rows.len() as u64, "node");
        vec![vec![("node", format!("{number} of recorders and tools"))]]
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

    /// Callbacks belong to the others.
    fn without_callbacks(self) -> u64 {
        self.numbers().into_iter().skip(1).sum()
    }
}
