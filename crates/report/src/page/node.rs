//! Nodes: what belongs to each, how much of the time it took, its states, and the calls of its services. The series of its callbacks are in their own part.

use std::collections::HashMap;

use rostrace_analyze::built_in;
use rostrace_analyze::thread::{self, Ran, process_observed};
use rostrace_model::entity::{CallbackId, NodeId};
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::distribution::RANKS;
use super::part::Part;
use super::series::Allowance;
use super::service::{Calls, calls};

/// Points of all series together: of calls of services alone.
const POINTS: usize = 40_000;

#[derive(Debug, Serialize)]
struct Nodes<'a> {
    ranks: &'static [usize],
    nodes: Vec<Node<'a>>,
    calls: Vec<Calls<'a>>,
}

#[derive(Debug, Default, Serialize)]
struct Node<'a> {
    id: usize,
    name: &'a str,
    process: usize,
    pid: i64,
    process_name: &'a str,
    host: &'a str,
    built_in: bool,
    executions: u64,
    busy: i64,
    observed: i64,
    share: Option<f64>,
    callbacks: Vec<usize>,
    /// Those that somebody wrote.
    own_callbacks: usize,
    /// Numbers of topics, without those that every node has.
    publishes: Vec<usize>,
    subscribes: Vec<usize>,
    services: Vec<&'a str>,
    clients: Vec<&'a str>,
    states: Vec<State<'a>>,
}

/// A state of a lifecycle node, for a while.
#[derive(Debug, Serialize)]
struct State<'a> {
    state: &'a str,
    begin: i64,
    end: Option<i64>,
}

pub(crate) fn part(subject: Subject<'_>) -> Part {
    let analysis = subject.analysis;
    let model = analysis.model;
    let mut columns = Columns::default();
    let allowance = Allowance::shared(vec![model.requests.len()], POINTS);
    let calls = calls(subject, allowance, &mut columns);
    let mut nodes: Vec<Node<'_>> = (0..model.nodes.len())
        .map(|index| node(subject, NodeId::from_index(index)))
        .collect();
    members(subject, &mut nodes);
    work(subject, &mut nodes);
    for state in &model.lifecycle_states {
        let machine = &model.state_machines[state.state_machine.index()];
        if let Some(node) = machine.node.filter(|_| analysis.counts(state.begin)) {
            nodes[node.index()].states.push(State {
                state: &state.state,
                begin: subject.time(state.begin),
                end: state.end.map(|end| subject.time(end)),
            });
        }
    }
    let selection = &subject.options.selection;
    nodes.retain(|node| selection.has_node(model, Some(NodeId::from_index(node.id))));
    let nodes = Nodes {
        ranks: RANKS,
        nodes,
        calls,
    };
    Part::new("nodes", &nodes, columns)
}

fn node(subject: Subject<'_>, id: NodeId) -> Node<'_> {
    let model = subject.analysis.model;
    let row = &model.nodes[id.index()];
    let process = &model.processes[row.process.index()];
    Node {
        id: id.index(),
        name: &row.name,
        process: row.process.index(),
        pid: process.pid,
        process_name: &process.name,
        host: model.host_name(row.process),
        built_in: built_in::node(&row.name),
        observed: process_observed(subject.analysis, row.process),
        ..Node::default()
    }
}

fn members<'a>(subject: Subject<'a>, nodes: &mut [Node<'a>]) {
    let model = subject.analysis.model;
    for index in 0..model.callbacks.len() {
        let id = CallbackId::from_index(index);
        if let Some(node) = model.node_of_callback(id) {
            let node = &mut nodes[node.index()];
            node.callbacks.push(index);
            node.own_callbacks += usize::from(!built_in::callback(model, id));
        }
    }
    let numbers: HashMap<&str, usize> = subject
        .shared
        .topics()
        .iter()
        .enumerate()
        .map(|(number, name)| (*name, number))
        .collect();
    let number = |topic: &str| {
        let number = numbers.get(topic).copied();
        number.filter(|_| !built_in::topic(topic))
    };
    for publisher in &model.publishers {
        if let Some((node, number)) = publisher.node.zip(number(&publisher.topic)) {
            nodes[node.index()].publishes.push(number);
        }
    }
    for subscription in &model.subscriptions {
        if let Some((node, number)) = subscription.node.zip(number(&subscription.topic)) {
            nodes[node.index()].subscribes.push(number);
        }
    }
    for service in &model.services {
        let node = service.node.filter(|node| {
            let name = nodes[node.index()].name;
            !built_in::service(Some(name), &service.name)
        });
        if let Some(node) = node {
            nodes[node.index()].services.push(&service.name);
        }
    }
    for client in &model.clients {
        if let Some(node) = client.node.filter(|_| !built_in::client(&client.name)) {
            nodes[node.index()].own_callbacks += 1;
            nodes[node.index()].clients.push(&client.name);
        }
    }
}

/// How much of the time their callbacks took, on all threads together.
fn work(subject: Subject<'_>, nodes: &mut [Node<'_>]) {
    let analysis = subject.analysis;
    for thread in subject.shared.threads() {
        for share in &thread.shares {
            let Ran::Callback(callback) = share.ran else {
                continue;
            };
            if let Some(node) = analysis.model.node_of_callback(callback) {
                let node = &mut nodes[node.index()];
                node.executions += share.executions;
                node.busy += share.busy.unwrap_or(0);
            }
        }
    }
    for node in nodes {
        node.share = thread::part(node.busy, node.observed);
    }
}
