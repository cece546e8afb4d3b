//! `rostrace executors`: what each executor executes, and how busy it was with it.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackGroup, ExecutorId, ThreadId};
use serde::Serialize;

use crate::args::LookArguments;
use crate::family::EXECUTORS;
use crate::listing::{Reading, Row, cell};
use crate::outcome::Outcome;
use crate::render::table::{Align, Table};
use crate::render::units;
use crate::view::View;
use rostrace_analyze::built_in;
use rostrace_analyze::names::Names;

#[derive(Debug, Serialize)]
struct ExecutorRow<'m> {
    /// `executor_0`: numbered in the order of creation.
    executor: String,
    r#type: Option<&'m str>,
    host: &'m str,
    pid: i64,
    process: &'m str,
    address: String,
    created_ns: i64,
    nodes: BTreeSet<&'m str>,
    groups: Vec<GroupRow>,
    callbacks: u64,
    callback_instances: u64,
    /// That ran its callbacks.
    threads: u64,
    /// In callbacks, and in all; nothing if the trace has no ends of callbacks.
    busy_ns: Option<u64>,
    observed_ns: u64,
    busy_share: Option<f64>,
    /// Executes nothing but what a recorder made.
    built_in: bool,
}

#[derive(Debug, Serialize)]
struct GroupRow {
    r#type: &'static str,
    address: String,
    callbacks: Vec<String>,
}

pub(crate) fn executors(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let rows = rows(&view);
    reading.print(&rows, || table(&rows, arguments.all), notes(view.model))
}

fn notes(model: &Model) -> Vec<String> {
    if let Some(lack) = EXECUTORS.lack(&model.kinds) {
        return vec![lack.to_owned()];
    }
    let groups = model.callback_groups.iter();
    let alone = groups.filter(|group| group.executor.is_none() && !group.callbacks.is_empty());
    let alone = alone.count() as u64;
    let counted = units::counted(alone, "callback group");
    let note = (alone > 0).then(|| {
        format!("{counted} with callbacks: the trace does not tell which executor they belong to")
    });
    note.into_iter().collect()
}

/// In the order of creation.
fn rows<'m>(view: &View<'m>) -> Vec<ExecutorRow<'m>> {
    let model = view.model;
    let names = Names::of(model);
    let mut work: Vec<Work> = Vec::new();
    work.resize_with(model.executors.len(), Work::default);
    for (_, instance) in view.instances() {
        let group = instance
            .callback
            .and_then(|callback| model.callbacks[callback.index()].group);
        let executor = group.and_then(|group| model.callback_groups[group.index()].executor);
        if let Some(executor) = executor {
            let work = &mut work[executor.index()];
            work.instances += 1;
            let spans = work.spans.entry(instance.thread).or_default();
            spans.extend(instance.end.map(|end| (instance.start, end)));
        }
    }
    let mut rows = Vec::new();
    for (index, work) in work.into_iter().enumerate() {
        let id = ExecutorId(index as u32);
        if let Some(row) = row(view, id, &names, work) {
            rows.push(row);
        }
    }
    rows
}

/// What an executor's threads did.
#[derive(Debug, Default)]
struct Work {
    instances: u64,
    spans: BTreeMap<ThreadId, Vec<(Nanos, Nanos)>>,
}

impl Work {
    /// Time in callbacks, of all threads together; a callback inside another one does not count twice.
    fn busy(&mut self) -> Option<u64> {
        let ended = self.spans.values().any(|spans| !spans.is_empty());
        (ended || self.instances == 0).then(|| self.spans.values_mut().map(|it| covered(it)).sum())
    }
}

fn covered(spans: &mut [(Nanos, Nanos)]) -> u64 {
    spans.sort_unstable();
    let mut total = 0;
    let mut reached = Nanos(i64::MIN);
    for (start, end) in spans {
        let start = (*start).max(reached);
        total += u64::try_from(end.0.saturating_sub(start.0)).unwrap_or(0);
        reached = reached.max(*end);
    }
    total
}

/// Nothing for an executor that is not in the view.
fn row<'m>(
    view: &View<'m>,
    id: ExecutorId,
    names: &Names,
    mut work: Work,
) -> Option<ExecutorRow<'m>> {
    let model = view.model;
    let executor = &model.executors[id.index()];
    let groups = || {
        let groups = model.callback_groups.iter();
        groups.filter(|group| group.executor == Some(id))
    };
    let callbacks = || groups().flat_map(|group| group.callbacks.iter().copied());
    if !view.has_unnamed(executor.process) && !callbacks().any(|id| view.has_callback(id)) {
        return None;
    }
    let process = &model.processes[executor.process.index()];
    let nodes: BTreeSet<&str> = callbacks()
        .filter_map(|callback| model.node_name(model.node_of_callback(callback)))
        .collect();
    let busy_ns = work.busy();
    let (begin, end) = process.recorded();
    let observed_ns = view.overlap(executor.created.max(begin), end);
    let busy_share = busy_ns.filter(|_| observed_ns > 0);
    Some(ExecutorRow {
        executor: format!("executor_{}", id.index()),
        r#type: Some(executor.kind.name()).filter(|name| !name.is_empty()),
        host: model.host_name(executor.process),
        pid: process.pid,
        process: &process.name,
        address: executor.address.to_string(),
        created_ns: executor.created.0,
        built_in: !nodes.is_empty() && nodes.iter().all(|node| built_in::node(node)),
        nodes,
        groups: groups().map(|group| GroupRow::of(group, names)).collect(),
        callbacks: callbacks().count() as u64,
        callback_instances: work.instances,
        threads: work.spans.len() as u64,
        busy_ns,
        observed_ns,
        busy_share: busy_share.map(|busy| busy as f64 / observed_ns as f64),
    })
}

impl GroupRow {
    fn of(group: &CallbackGroup, names: &Names) -> GroupRow {
        let callbacks = group.callbacks.iter();
        GroupRow {
            r#type: group.kind.name(),
            address: group.address.to_string(),
            callbacks: callbacks.map(|id| names.callback(*id).to_owned()).collect(),
        }
    }
}

impl Row for ExecutorRow<'_> {
    const NOUN: &'static str = "executor";
    const COLUMNS: &'static [&'static str] = &[
        "executor",
        "type",
        "host",
        "pid",
        "process",
        "address",
        "created_ns",
        "nodes",
        "groups",
        "callbacks",
        "callback_instances",
        "threads",
        "busy_ns",
        "observed_ns",
        "busy_share",
        "built_in",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.executor.clone(),
            cell(self.r#type),
            self.host.to_owned(),
            self.pid.to_string(),
            self.process.to_owned(),
            self.address.clone(),
            self.created_ns.to_string(),
            self.nodes.iter().copied().collect::<Vec<_>>().join(" "),
            self.groups.len().to_string(),
            self.callbacks.to_string(),
            self.callback_instances.to_string(),
            self.threads.to_string(),
            cell(self.busy_ns),
            self.observed_ns.to_string(),
            cell(self.busy_share),
            u8::from(self.built_in).to_string(),
        ]
    }
}

/// Executors of recorders are one line at the end, unless all are asked for.
fn table(rows: &[ExecutorRow<'_>], all: bool) -> Table {
    if rows.is_empty() {
        let mut table = Table::new(&[("", Align::Left)]);
        table.row(["no executors to show"]);
        return table;
    }
    let mut table = Table::new(&[
        ("executor", Align::Left),
        ("type", Align::Left),
        ("process", Align::Left),
        ("nodes", Align::Left),
        ("groups", Align::Right),
        ("callbacks", Align::Right),
        ("threads", Align::Right),
        ("runs", Align::Right),
        ("busy", Align::Right),
    ])
    .dispensable(&["groups", "threads", "callbacks", "type"]);
    let (folded, shown): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.built_in && !all);
    for row in shown {
        let nodes = row.nodes.iter().filter(|node| all || !built_in::node(node));
        let nodes: Vec<&str> = nodes.copied().collect();
        table.row([
            row.executor.clone(),
            row.r#type.unwrap_or("–").to_owned(),
            format!("{} {}", row.process, row.pid),
            nodes.join(", "),
            units::count(row.groups.len() as u64),
            units::count(row.callbacks),
            units::count(row.threads),
            units::count(row.callback_instances),
            row.busy_share.map_or("–".to_owned(), units::share),
        ]);
    }
    if !folded.is_empty() {
        let number = units::counted(folded.len() as u64, "executor");
        table.row([format!("{number} of CARET's recorder")]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_inside_another_one_does_not_count_twice() {
        let span = |start, end| (Nanos(start), Nanos(end));
        assert_eq!(
            covered(&mut [span(10, 30), span(0, 100), span(90, 120)]),
            120
        );
        assert_eq!(covered(&mut [span(0, 10), span(20, 30)]), 20);
        assert_eq!(covered(&mut []), 0);
    }
}
