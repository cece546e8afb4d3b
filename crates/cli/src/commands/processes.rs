//! `rostrace processes`: which ROS 2 runs in each process, with which middleware, and how much of the trace is its own.

use rostrace_trace::entity::ProcessId;
use serde::Serialize;

use crate::args::LookArguments;
use crate::cell::Cell;
use crate::listing::{Reading, Row};
use crate::outcome::Outcome;
use crate::view::View;
use rostrace_analyze::built_in;
use rostrace_analyze::list::{List, PROCESSES};
use rostrace_base::units;

#[derive(Debug, Serialize)]
struct ProcessRow<'m> {
    host: &'m str,
    pid: i64,
    name: &'m str,
    distribution: Option<&'static str>,
    tracetools_version: Option<&'m str>,
    rmw_implementation: Option<&'m str>,
    nodes: u64,
    /// Nodes of a recorder, which are not counted among the others.
    built_in_nodes: u64,
    /// Those that left events.
    threads: u64,
    /// In the whole recording, as are the first and the last.
    events: u64,
    first_ns: i64,
    last_ns: i64,
    /// In the range of time.
    callback_instances: u64,
    messages: u64,
    /// It has nothing to do with ROS 2, and others have.
    #[serde(skip)]
    is_aside: bool,
}

pub(crate) fn processes(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(&PROCESSES, arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let rows = rows(&view);
    let note = arguments.filter.time.is_limited().then(|| {
        "events, first and last are those of the whole recording; runs and messages are those between --since and --until"
            .to_owned()
    });
    reading.print(rows, note)
}

/// In the order of their first events.
fn rows<'m>(view: &View<'m>) -> Vec<ProcessRow<'m>> {
    let model = view.model;
    let mut rows: Vec<ProcessRow<'m>> = Vec::with_capacity(model.processes.len());
    for (index, process) in model.processes.iter().enumerate() {
        rows.push(ProcessRow {
            host: model.host_name(ProcessId(index as u32)),
            pid: process.pid,
            name: &process.name,
            distribution: process.distribution.map(|it| it.name()),
            tracetools_version: process.tracetools_version.as_deref(),
            rmw_implementation: process.rmw_implementation.as_deref(),
            nodes: 0,
            built_in_nodes: 0,
            threads: 0,
            events: process.events,
            first_ns: process.first.0,
            last_ns: process.last.0,
            callback_instances: 0,
            messages: 0,
            is_aside: false,
        });
    }
    for node in &model.nodes {
        let row = &mut rows[node.process.index()];
        if built_in::node(&node.name) {
            row.built_in_nodes += 1;
        } else {
            row.nodes += 1;
        }
    }
    for thread in &model.threads {
        rows[thread.process.index()].threads += 1;
    }
    for (_, instance) in view.instances() {
        rows[model.process_of(instance.thread).index()].callback_instances += 1;
    }
    for publication in view.publications() {
        rows[model.process_of(publication.thread).index()].messages += 1;
    }
    let mut id = 0..;
    rows.retain(|_| id.next().is_some_and(|id| view.has_process(ProcessId(id))));
    if rows.iter().any(ProcessRow::is_of_ros) {
        for row in &mut rows {
            row.is_aside = !row.is_of_ros();
        }
    }
    rows
}

impl ProcessRow<'_> {
    /// Kernel traces have all processes of a machine.
    fn is_of_ros(&self) -> bool {
        self.distribution.is_some()
            || self.nodes + self.built_in_nodes + self.callback_instances + self.messages > 0
    }
}

impl Row for ProcessRow<'_> {
    const LIST: &'static List = &PROCESSES;

    fn cells(&self) -> Vec<Cell> {
        vec![
            self.host.into(),
            self.pid.into(),
            self.name.into(),
            self.distribution.into(),
            self.tracetools_version.into(),
            self.rmw_implementation.into(),
            self.nodes.into(),
            self.built_in_nodes.into(),
            self.threads.into(),
            self.events.into(),
            self.first_ns.into(),
            self.last_ns.into(),
            self.callback_instances.into(),
            self.messages.into(),
        ]
    }

    fn table_cells(&self, all: bool) -> Vec<Cell> {
        let nodes = self.nodes + if all { self.built_in_nodes } else { 0 };
        ProcessRow { nodes, ..*self }.cells()
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        match title {
            "distribution" => Some(self.distribution.unwrap_or("–").to_owned()),
            "rmw" => Some(self.rmw_implementation.unwrap_or("–").to_owned()),
            _ => None,
        }
    }

    fn is_folded(&self) -> bool {
        self.is_aside
    }

    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let number = units::counted(rows.len() as u64, "process");
        let events = rows.iter().map(|row| row.events).sum();
        vec![vec![
            ("name", format!("{number} without ROS 2")),
            ("events", units::count(events)),
        ]]
    }
}
