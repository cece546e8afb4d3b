//! Processes: which ROS 2 runs in each, with which middleware, and how much of the trace is its own.

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::ProcessId;

use super::page::{PageColumn, PageTable, Room, TIME_SPENT};
use super::recurring::{DISTRIBUTION, HOST, RMW};
use super::{Cell, Table, cells, columns, share};
use crate::analysis::Analysis;
use crate::list::{List, titles};

pub(super) const PROCESSES: Table = Table {
    name: "processes",
    about: "One process, and how much of the trace is its own.",
    columns: columns! {
        HOST,
        pid "pid" "Its number on that machine.",
        text "name" "Name of the program.",
        DISTRIBUTION,
        text? "tracetools_version" "Version of ROS 2's tracepoints in it; empty if unknown.",
        RMW,
        count "nodes" "How many nodes it has, without those of recorders and tools; the terminal counts these with `--all`.",
        count "built_in_nodes" "How many nodes of recorders and tools it has besides.",
        count "threads" "How many threads left events.",
        count "events" "How many events it left in the whole recording.",
        time "first_ns" "When the first of them was.",
        time "last_ns" "When the last of them was.",
        count "callback_instances" "How often callbacks ran in it, in the range of time.",
        count "messages" "How many messages it published, in the range of time.",
    },
    rows: |analysis, take| {
        let rows = ProcessRow::all(analysis);
        rows.iter().try_for_each(|row| take(&row.cells()))
    },
};

pub const PROCESS_LIST: List = List {
    verb: "processes",
    noun: "process",
    columns: PROCESSES.columns,
    table: titles! {
        "host": "host", "pid": "pid", "name": "name", "distribution": "distribution",
        "rmw": "rmw_implementation", "nodes": "nodes", "threads": "threads", "events": "events",
        "first": "first_ns", "last": "last_ns", "runs": "callback_instances",
        "messages": "messages",
    },
    dispensable: &["distribution", "rmw", "last", "threads", "first"],
};

pub const PROCESS_PAGE: PageTable = PageTable {
    table: &PROCESSES,
    joined: &[
        share::PROCESS_BUSY,
        share::PROCESS_OBSERVED,
        share::CORES,
        share::DAMAGED,
    ],
    shown: &[
        PageColumn::new("name", "process"),
        PageColumn::new("pid", "pid"),
        PageColumn::new("host", "host"),
        PageColumn::new("nodes", "nodes"),
        PageColumn::new("threads", "threads"),
        PageColumn::new("callback_instances", "executions"),
        PageColumn::new("messages", "messages").room(Room::Wide),
        PageColumn::new("busy_ns", "time in callbacks").defined(TIME_SPENT),
        PageColumn::new("observed_ns", "observed"),
        PageColumn::new("cores", "cores").defined(TIME_SPENT),
        PageColumn::chart("shares", "over time"),
    ],
    filter: "Filter by process or node",
    sort: "busy_ns",
};

/// One process.
#[derive(Debug)]
pub struct ProcessRow<'m> {
    pub id: ProcessId,
    host: &'m str,
    pid: i64,
    name: &'m str,
    pub distribution: Option<&'static str>,
    tracetools_version: Option<&'m str>,
    pub rmw_implementation: Option<&'m str>,
    nodes: u64,
    /// Nodes of a recorder, which are not counted among the others.
    built_in_nodes: u64,
    threads: u64,
    pub events: u64,
    first: Nanos,
    last: Nanos,
    callback_instances: u64,
    messages: u64,
}

impl<'m> ProcessRow<'m> {
    /// Those that are selected, in the order of their first events.
    pub fn all(analysis: &Analysis<'m>) -> Vec<ProcessRow<'m>> {
        let model = analysis.model;
        let mut rows: Vec<ProcessRow<'m>> = Vec::with_capacity(model.processes.len());
        for (index, process) in model.processes.iter().enumerate() {
            let id = ProcessId::from_index(index);
            rows.push(ProcessRow {
                id,
                host: model.host_name(id),
                pid: process.pid,
                name: &process.name,
                distribution: process.distribution.map(|it| it.name()),
                tracetools_version: process.tracetools_version.as_deref(),
                rmw_implementation: process.rmw_implementation.as_deref(),
                nodes: 0,
                built_in_nodes: 0,
                threads: 0,
                events: process.events,
                first: process.first,
                last: process.last,
                callback_instances: 0,
                messages: 0,
            });
        }
        for node in &model.nodes {
            let row = &mut rows[node.process.index()];
            match built_in::node(&node.name) {
                true => row.built_in_nodes += 1,
                false => row.nodes += 1,
            }
        }
        for thread in &model.threads {
            rows[thread.process.index()].threads += 1;
        }
        for instance in &model.instances {
            let runs = u64::from(analysis.counts(instance.start));
            rows[model.process_of(instance.thread).index()].callback_instances += runs;
        }
        for publication in &model.publications {
            let messages = u64::from(analysis.counts(publication.publish));
            rows[model.process_of(publication.thread).index()].messages += messages;
        }
        let mut ids = (0..).map(ProcessId);
        let is_selected = |id| analysis.selection.has_process_with_nodes(model, id);
        rows.retain(|_| ids.next().is_some_and(is_selected));
        rows
    }

    /// Kernel traces have all processes of a machine.
    pub fn is_of_ros(&self) -> bool {
        self.distribution.is_some()
            || self.nodes + self.built_in_nodes + self.callback_instances + self.messages > 0
    }

    /// In the order of the columns.
    pub fn cells(&self) -> Vec<Cell<'m>> {
        Vec::from(cells! {
            self.host, self.pid, self.name, self.distribution, self.tracetools_version,
            self.rmw_implementation, self.nodes, self.built_in_nodes, self.threads, self.events,
            self.first, self.last, self.callback_instances, self.messages,
        })
    }

    /// The same, with nodes of recorders and tools among the nodes.
    pub fn all_cells(&self) -> Vec<Cell<'m>> {
        let nodes = self.nodes + self.built_in_nodes;
        ProcessRow { nodes, ..*self }.cells()
    }
}
