//! Nodes: what belongs to each, how much of the time it took, its states, and the calls of its services. The series of its callbacks are in their own part.

use std::collections::BTreeMap;

use rostrace_analyze::table::{NODE_PAGE, NodeRow, node_work};
use rostrace_analyze::thread::{self, process_observed};
use rostrace_model::describe::built_in;
use rostrace_model::entity::NodeId;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::distribution::RANKS;
use super::part::PagePart;
use super::series::Allowance;
use super::service::{Calls, calls};
use super::table::TableData;

/// Points of all series together: of calls of services alone.
const POINTS: usize = 40_000;

#[derive(Debug, Serialize)]
struct Nodes<'a> {
    ranks: &'static [usize],
    nodes: TableData<Node<'a>>,
    calls: Vec<Calls<'a>>,
}

/// What the page has of a node beside its row.
#[derive(Debug, Serialize)]
struct Node<'a> {
    id: usize,
    link: String,
    links: BTreeMap<&'static str, String>,
    process_id: usize,
    service_names: Vec<&'a str>,
    client_names: Vec<&'a str>,
    states: Vec<State<'a>>,
}

/// A state of a lifecycle node, for a while.
#[derive(Debug, Serialize)]
struct State<'a> {
    state: &'a str,
    begin: i64,
    end: Option<i64>,
}

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    let analysis = subject.analysis;
    let model = analysis.model;
    let mut columns = Columns::default();
    let allowance = Allowance::shared(vec![model.requests.len()], POINTS);
    let calls = calls(subject, allowance, &mut columns);
    let work = node_work(model, subject.shared.threads());
    let mut nodes = TableData::new(subject, &NODE_PAGE);
    for row in NodeRow::all(analysis) {
        let process = model.nodes[row.id.index()].process;
        let busy = work.get(&(process, Some(row.id))).map_or(0, |it| it.busy);
        let share = thread::part(busy, process_observed(analysis, process));
        let cells = row.own_cells().into_iter();
        nodes.push(
            cells.chain([busy.into(), share.into()]),
            node(subject, row.id),
        );
    }
    let nodes = Nodes {
        ranks: RANKS,
        nodes,
        calls,
    };
    PagePart::new("nodes", &nodes, columns)
}

fn node(subject: Subject<'_>, id: NodeId) -> Node<'_> {
    let analysis = subject.analysis;
    let model = analysis.model;
    let node = &model.nodes[id.index()];
    let services = model.services.iter().filter(|it| it.node == Some(id));
    let clients = model.clients.iter().filter(|it| it.node == Some(id));
    let states = model.lifecycle_states.iter().filter(|state| {
        let machine = &model.state_machines[state.state_machine.index()];
        machine.node == Some(id) && analysis.counts(state.begin)
    });
    let process_id = node.process.index();
    Node {
        id: id.index(),
        link: format!("nodes/{}", id.index()),
        links: BTreeMap::from([("process", format!("processes/{process_id}"))]),
        process_id,
        service_names: services
            .map(|it| it.name.as_str())
            .filter(|name| !built_in::service(Some(&node.name), name))
            .collect(),
        client_names: clients
            .map(|it| it.name.as_str())
            .filter(|name| !built_in::client(name))
            .collect(),
        states: states
            .map(|state| State {
                state: &state.state,
                begin: subject.time(state.begin),
                end: state.end.map(|end| subject.time(end)),
            })
            .collect(),
    }
}
