//! How much of the time nodes and processes ran callbacks.

use std::collections::BTreeMap;
use std::io;

use rostrace_model::entity::{NodeId, ProcessId};

use super::describe::pid;
use super::recurring::{HOST, PID};
use super::{Column, Sink, Table};
use crate::analysis::Analysis;
use crate::thread::{Ran, part, process_observed, process_span, summaries};

const DAMAGED: Column = Column::flag(
    "damaged",
    "Whether events were lost while the process was observed, so that times are uncertain.",
);

pub(super) const NODE_SHARES: Table = Table {
    name: "node_shares",
    about: "One node, and how much of the time its callbacks took, on all threads together.",
    columns: &[
        HOST,
        PID,
        Column::node(
            "node",
            "Node; empty for all callbacks of the process whose node the trace does not name.",
        ),
        Column::count("executions", "Executions of its callbacks that began."),
        Column::duration(
            "busy_ns",
            "Time in its callbacks, as far as executions have an end; inside another callback of the same thread it is that one's.",
        ),
        Column::duration("observed_ns", "How long its process was observed."),
        Column::share(
            "share",
            "`busy_ns` / `observed_ns`; above 1 several threads were busy at once.",
        )
        .optional(),
        DAMAGED,
    ],
    rows: node_shares,
};

fn node_shares(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let activity = analysis.activity();
    let mut nodes: BTreeMap<(ProcessId, Option<NodeId>), (u64, i64)> = BTreeMap::new();
    // A node that did nothing has a share too: none.
    for (index, node) in model.nodes.iter().enumerate() {
        nodes.insert((node.process, Some(NodeId::from_index(index))), (0, 0));
    }
    for thread in summaries(analysis, activity) {
        for share in &thread.shares {
            let node = match share.ran {
                Ran::Callback(callback) => model.node_of_callback(callback),
                Ran::Client(client) => model.clients[client.index()].node,
                Ran::Unnamed(_) => None,
            };
            let (executions, busy) = nodes.entry((thread.process, node)).or_default();
            *executions += share.executions;
            *busy += share.busy.unwrap_or(0);
        }
    }
    for ((process, node), (executions, busy)) in nodes {
        let (begin, end) = process_span(analysis, process);
        let observed = process_observed(analysis, process);
        take(&[
            model.host_name(process).into(),
            pid(model, process).into(),
            model.node_name(node).unwrap_or_default().into(),
            executions.into(),
            busy.into(),
            observed.into(),
            part(busy, observed).into(),
            analysis.is_lossy(begin, end).into(),
        ])?;
    }
    Ok(())
}

pub(super) const PROCESS_SHARES: Table = Table {
    name: "process_shares",
    about: "One process, and how much of the time it ran callbacks, on all threads together.",
    columns: &[
        HOST,
        PID,
        Column::text("name", "Its name; empty if the trace does not tell."),
        Column::integer("threads", "Threads that ran callbacks or an executor."),
        Column::count("executions", "Executions of callbacks that began."),
        Column::duration(
            "busy_ns",
            "Time in callbacks, as far as executions have an end; one inside another on the same thread does not count twice.",
        ),
        Column::duration(
            "observed_ns",
            "From its first event to its last. What an attached tracer tells of the time before does not count.",
        ),
        Column::number(
            "cores",
            "`busy_ns` / `observed_ns`: how many callbacks ran at once, on average.",
        )
        .optional(),
        DAMAGED,
    ],
    rows: process_shares,
};

fn process_shares(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let activity = analysis.activity();
    let mut work = vec![(0u64, 0u64, 0i64); model.processes.len()];
    for thread in summaries(analysis, activity) {
        let (threads, executions, busy) = &mut work[thread.process.index()];
        *threads += 1;
        *executions += thread.executions;
        *busy += thread.time.callbacks;
    }
    for (index, (threads, executions, busy)) in work.into_iter().enumerate() {
        let process = ProcessId::from_index(index);
        let (begin, end) = process_span(analysis, process);
        let observed = process_observed(analysis, process);
        take(&[
            model.host_name(process).into(),
            pid(model, process).into(),
            (&model.processes[index].name).into(),
            threads.into(),
            executions.into(),
            busy.into(),
            observed.into(),
            part(busy, observed).into(),
            analysis.is_lossy(begin, end).into(),
        ])?;
    }
    Ok(())
}
