//! How much of the time nodes and processes ran callbacks.

use std::collections::BTreeMap;
use std::io;

use rostrace_model::Model;
use rostrace_model::entity::{NodeId, ProcessId};

use super::describe::pid;
use super::recurring::{HOST, PID};
use super::{Column, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::thread::{Ran, ThreadSummary, part, process_observed, process_span, summaries};

pub(super) const DAMAGED: Column = Column::flag(
    "damaged",
    "Whether events were lost while the process was observed, so that times are uncertain.",
);

pub(super) const NODE_BUSY: Column = Column::duration(
    "busy_ns",
    "Time in its callbacks, as far as executions have an end; inside another callback of the same thread it is that one's.",
);

pub(super) const NODE_SHARE: Column = Column::share(
    "share",
    "`busy_ns` / `observed_ns`; above 1 several threads were busy at once.",
)
.optional();

pub(super) const PROCESS_BUSY: Column = Column::duration(
    "busy_ns",
    "Time in callbacks, as far as executions have an end; one inside another on the same thread does not count twice.",
);

pub(super) const PROCESS_OBSERVED: Column = Column::duration(
    "observed_ns",
    "From its first event to its last. What an attached tracer reports of the time before does not count.",
);

pub(super) const CORES: Column = Column::number(
    "cores",
    "`busy_ns` / `observed_ns`: how many callbacks ran at once, on average.",
)
.optional();

/// What threads did for a node or a process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Work {
    threads: u64,
    executions: u64,
    pub busy: i64,
}

pub(super) const NODE_SHARES: Table = Table {
    name: "node_shares",
    about: "One node, and how much of the time its callbacks took, on all threads together.",
    columns: columns! {
        HOST,
        PID,
        node "node" "Node; empty for all callbacks of the process whose node the trace does not name.",
        count "executions" "Executions of its callbacks that began.",
        NODE_BUSY,
        duration "observed_ns" "How long its process was observed.",
        NODE_SHARE,
        DAMAGED,
    },
    rows: node_shares,
};

/// By node; nothing stands for all callbacks of a process whose node the trace does not name.
pub fn node_work(
    model: &Model,
    threads: &[ThreadSummary],
) -> BTreeMap<(ProcessId, Option<NodeId>), Work> {
    let mut nodes: BTreeMap<(ProcessId, Option<NodeId>), Work> = BTreeMap::new();
    // A node that did nothing has a share too: none.
    for (index, node) in model.nodes.iter().enumerate() {
        let node = (node.process, Some(NodeId::from_index(index)));
        nodes.insert(node, Work::default());
    }
    for thread in threads {
        for share in &thread.shares {
            let node = match share.ran {
                Ran::Callback(callback) => model.node_of_callback(callback),
                Ran::Client(client) => model.clients[client.index()].node,
                Ran::Unnamed(_) => None,
            };
            let work = nodes.entry((thread.process, node)).or_default();
            work.executions += share.executions;
            work.busy += share.busy.unwrap_or(0);
        }
    }
    nodes
}

fn node_shares(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let threads = summaries(analysis, analysis.activities());
    for ((process, node), work) in node_work(model, &threads) {
        let (begin, end) = process_span(analysis, process);
        let observed = process_observed(analysis, process);
        take(&cells! {
            model.host_name(process), pid(model, process),
            model.node_name(node).unwrap_or_default(), work.executions, work.busy,
            observed, part(work.busy, observed), analysis.is_lossy(begin, end),
        })?;
    }
    Ok(())
}

pub(super) const PROCESS_SHARES: Table = Table {
    name: "process_shares",
    about: "One process, and how much of the time it ran callbacks, on all threads together.",
    columns: columns! {
        HOST,
        PID,
        text "name" "Its name; empty if unknown.",
        integer "threads" "Threads that ran callbacks or an executor.",
        count "executions" "Executions of callbacks that began.",
        PROCESS_BUSY,
        PROCESS_OBSERVED,
        CORES,
        DAMAGED,
    },
    rows: process_shares,
};

/// By process.
pub fn process_work(model: &Model, threads: &[ThreadSummary]) -> Vec<Work> {
    let mut processes = vec![Work::default(); model.processes.len()];
    for thread in threads {
        let work = &mut processes[thread.process.index()];
        work.threads += 1;
        work.executions += thread.executions;
        work.busy += thread.time.callbacks;
    }
    processes
}

fn process_shares(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let threads = summaries(analysis, analysis.activities());
    for (index, work) in process_work(model, &threads).into_iter().enumerate() {
        let process = ProcessId::from_index(index);
        let (begin, end) = process_span(analysis, process);
        let observed = process_observed(analysis, process);
        take(&cells! {
            model.host_name(process), pid(model, process), &model.processes[index].name,
            work.threads, work.executions, work.busy, observed, part(work.busy, observed), analysis.is_lossy(begin, end),
        })?;
    }
    Ok(())
}
