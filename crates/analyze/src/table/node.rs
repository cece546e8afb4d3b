//! Nodes: where each runs, what it consists of, and how much it did.

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::{Description, built_in};
use rostrace_model::entity::{CallbackId, ClientId, NodeId};

use super::describe::pid;
use super::page::{PageColumn, PageTable, Room, TIME_SPENT};
use super::recurring::{BUILT_IN, CREATED, DISTRIBUTION, HOST, PID, PROCESS, RMW};
use super::{Cell, Table, cells, columns, share};
use crate::analysis::Analysis;
use crate::list::{List, titles};

const PARTS: &str = "How many it has. The terminal counts what is built in only with `--all`, files and JSON always.";
const BUILT_IN_PARTS: &str = "How many of them ROS 2 or a recorder made.";

/// The state in which every lifecycle node begins.
const FIRST_STATE: &str = "unconfigured";

pub(super) const NODES: Table = Table {
    name: "nodes",
    about: "One node, what it consists of, and how much it did.",
    columns: columns! {
        node "node" "Its full name.",
        HOST,
        PID,
        PROCESS,
        DISTRIBUTION,
        RMW,
        CREATED,
        BUILT_IN,
        count "callbacks" PARTS,
        count "publishers" PARTS,
        count "subscriptions" PARTS,
        count "timers" PARTS,
        count "services" PARTS,
        count "clients" PARTS,
        count "built_in_callbacks" BUILT_IN_PARTS,
        count "built_in_publishers" BUILT_IN_PARTS,
        count "built_in_subscriptions" BUILT_IN_PARTS,
        count "built_in_timers" BUILT_IN_PARTS,
        count "built_in_services" BUILT_IN_PARTS,
        count "built_in_clients" BUILT_IN_PARTS,
        count "callback_instances" "How often its callbacks ran.",
        count "messages" "How many messages it published.",
        text? "lifecycle_state" "Of a lifecycle node: its state at the end of the range of time.",
        count "built_in_parts" "Publishers, subscriptions, timers, services and clients that ROS 2 or a recorder made.",
    },
    rows: |analysis, take| {
        NodeRow::all(analysis)
            .iter()
            .try_for_each(|row| take(&row.cells()))
    },
};

pub const NODE_LIST: List = List {
    verb: "nodes",
    noun: "node",
    columns: NODES.columns,
    table: titles! {
        "node": "node", "process": "process", "distribution": "distribution",
        "rmw": "rmw_implementation", "callbacks": "callbacks", "publishers": "publishers",
        "subscriptions": "subscriptions", "timers": "timers", "services": "services",
        "clients": "clients", "built in": "built_in_parts", "runs": "callback_instances",
        "messages": "messages", "state": "lifecycle_state",
    },
    dispensable: &[
        "distribution",
        "rmw",
        "built in",
        "clients",
        "services",
        "timers",
        "publishers",
        "subscriptions",
        "callbacks",
    ],
};

pub const NODE_PAGE: PageTable = PageTable {
    table: &NODES,
    joined: &[share::NODE_BUSY, share::NODE_SHARE],
    shown: &[
        PageColumn::new("node", "node"),
        PageColumn::new("process", "process"),
        PageColumn::new("callbacks", "callbacks"),
        PageColumn::new("publishers", "publishers"),
        PageColumn::new("subscriptions", "subscriptions"),
        PageColumn::new("services", "services"),
        PageColumn::new("clients", "clients").room(Room::Wide),
        PageColumn::new("callback_instances", "executions"),
        PageColumn::new("messages", "messages").room(Room::Wide),
        PageColumn::new("busy_ns", "time in callbacks").defined(TIME_SPENT),
        PageColumn::new("share", "share of the time").defined(TIME_SPENT),
        PageColumn::new("lifecycle_state", "state"),
    ],
    filter: "Filter by node or process",
    sort: "busy_ns",
};

/// One node.
#[derive(Debug)]
pub struct NodeRow<'m> {
    pub id: NodeId,
    node: &'m str,
    host: &'m str,
    pub pid: i64,
    pub process: &'m str,
    pub distribution: Option<&'static str>,
    pub rmw_implementation: Option<&'m str>,
    created: Nanos,
    /// The node itself belongs to a recorder.
    pub built_in: bool,
    parts: Parts,
    /// Those of the parts that rclcpp or a recorder made.
    built_in_parts: Parts,
    callback_instances: u64,
    messages: u64,
    lifecycle_state: Option<&'m str>,
}

impl<'m> NodeRow<'m> {
    /// Those that are selected, in the order of creation.
    pub fn all(analysis: &Analysis<'m>) -> Vec<NodeRow<'m>> {
        let model = analysis.model;
        let (all, own) = parts(model);
        let end = *analysis.window.end();
        let of = |(index, node): (usize, &'m rostrace_model::entity::Node)| {
            let process = &model.processes[node.process.index()];
            NodeRow {
                id: NodeId::from_index(index),
                node: &node.name,
                host: model.host_name(node.process),
                pid: pid(model, node.process),
                process: &process.name,
                distribution: process.distribution.map(|it| it.name()),
                rmw_implementation: process.rmw_implementation.as_deref(),
                created: node.created,
                built_in: built_in::node(&node.name),
                parts: all[index],
                built_in_parts: own[index],
                callback_instances: 0,
                messages: 0,
                lifecycle_state: state(model, NodeId::from_index(index), end),
            }
        };
        let mut rows: Vec<NodeRow<'m>> = model.nodes.iter().enumerate().map(of).collect();
        for instance in &model.instances {
            let callback = instance
                .callback
                .filter(|_| analysis.counts(instance.start));
            if let Some(node) = callback.and_then(|callback| model.node_of_callback(callback)) {
                rows[node.index()].callback_instances += 1;
            }
        }
        for publication in &model.publications {
            let publisher = publication.publisher;
            let publisher = publisher.filter(|_| analysis.counts(publication.publish));
            if let Some(node) = publisher.and_then(|it| model.publishers[it.index()].node) {
                rows[node.index()].messages += 1;
            }
        }
        let mut ids = (0..).map(NodeId);
        let is_selected = |id| analysis.selection.has_node_with_topics(model, id);
        rows.retain(|_| ids.next().is_some_and(is_selected));
        rows
    }

    /// In the order of the columns.
    pub fn cells(&self) -> Vec<Cell<'m>> {
        let mut cells: Vec<Cell<'m>> = Vec::from(cells! {
            self.node, self.host, self.pid, self.process, self.distribution,
            self.rmw_implementation, self.created, self.built_in,
        });
        for parts in [self.parts, self.built_in_parts] {
            cells.extend(parts.numbers().map(Cell::from));
        }
        cells.extend(cells! {
            self.callback_instances, self.messages, self.lifecycle_state,
            self.built_in_parts.without_callbacks(),
        });
        cells
    }

    /// The same without what is built in, but for the columns that count it.
    pub fn own_cells(&self) -> Vec<Cell<'m>> {
        let built_in = self.built_in_parts.numbers().into_iter();
        let mut own = self.parts;
        for (number, built_in) in own.numbers_mut().into_iter().zip(built_in) {
            *number -= built_in;
        }
        NodeRow {
            parts: own,
            ..*self
        }
        .cells()
    }
}

/// How many of each kind of thing a node has.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    callbacks: u64,
    publishers: u64,
    subscriptions: u64,
    timers: u64,
    services: u64,
    clients: u64,
}

impl Parts {
    /// In the order of the columns.
    fn numbers_mut(&mut self) -> [&mut u64; 6] {
        [
            &mut self.callbacks,
            &mut self.publishers,
            &mut self.subscriptions,
            &mut self.timers,
            &mut self.services,
            &mut self.clients,
        ]
    }

    fn numbers(mut self) -> [u64; 6] {
        self.numbers_mut().map(|number| *number)
    }

    /// Callbacks belong to the others.
    fn without_callbacks(self) -> u64 {
        self.numbers().into_iter().skip(1).sum()
    }
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
