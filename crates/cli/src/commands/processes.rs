//! `rostrace processes`: which ROS 2 runs in each process, with which middleware, and how much of the trace is its own.

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::ProcessId;
use serde::Serialize;

use crate::args::LookArguments;
use crate::listing::{Reading, Row, cell};
use crate::outcome::Outcome;
use crate::render::table::{Align, Table};
use crate::render::{time, units};
use crate::view::View;
use rostrace_analyze::built_in;

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
}

pub(crate) fn processes(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let rows = rows(&view);
    let note = arguments.filter.time.is_limited().then(|| {
        "events, first and last are those of the whole recording; runs and messages are those between --from and --to"
            .to_owned()
    });
    reading.print(&rows, || table(&rows, arguments.all), note)
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
    const NOUN: &'static str = "process";
    const COLUMNS: &'static [&'static str] = &[
        "host",
        "pid",
        "name",
        "distribution",
        "tracetools_version",
        "rmw_implementation",
        "nodes",
        "built_in_nodes",
        "threads",
        "events",
        "first_ns",
        "last_ns",
        "callback_instances",
        "messages",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.host.to_owned(),
            self.pid.to_string(),
            self.name.to_owned(),
            cell(self.distribution),
            cell(self.tracetools_version),
            cell(self.rmw_implementation),
            self.nodes.to_string(),
            self.built_in_nodes.to_string(),
            self.threads.to_string(),
            self.events.to_string(),
            self.first_ns.to_string(),
            self.last_ns.to_string(),
            self.callback_instances.to_string(),
            self.messages.to_string(),
        ]
    }
}

/// Processes without ROS 2 are one line at the end, if there are others and unless all are asked for.
fn table(rows: &[ProcessRow<'_>], all: bool) -> Table {
    let mut table = Table::new(&[
        ("host", Align::Left),
        ("pid", Align::Right),
        ("name", Align::Left),
        ("distribution", Align::Left),
        ("rmw", Align::Left),
        ("nodes", Align::Right),
        ("threads", Align::Right),
        ("events", Align::Right),
        ("first", Align::Left),
        ("last", Align::Left),
        ("runs", Align::Right),
        ("messages", Align::Right),
    ])
    .dispensable(&["distribution", "rmw", "last", "threads", "first"]);
    let all = all || !rows.iter().any(ProcessRow::is_of_ros);
    let (shown, folded): (Vec<_>, Vec<_>) = rows.iter().partition(|row| all || row.is_of_ros());
    for row in shown {
        let nodes = if all {
            row.nodes + row.built_in_nodes
        } else {
            row.nodes
        };
        table.row([
            row.host.to_owned(),
            row.pid.to_string(),
            row.name.to_owned(),
            row.distribution.unwrap_or("–").to_owned(),
            row.rmw_implementation.unwrap_or("–").to_owned(),
            units::count(nodes),
            units::count(row.threads),
            units::count(row.events),
            time::time_of_day(Nanos(row.first_ns)),
            time::time_of_day(Nanos(row.last_ns)),
            units::count(row.callback_instances),
            units::count(row.messages),
        ]);
    }
    if !folded.is_empty() {
        let number = units::counted(folded.len() as u64, "process");
        let events = folded.iter().map(|row| row.events).sum();
        let mut cells = vec![String::new(); 7];
        cells[2] = format!("{number} without ROS 2");
        cells.push(units::count(events));
        table.row(cells);
    }
    table
}
