//! `rostrace executors`: what each executor executes, and how busy it was with it. Where the trace does not tell of executors, what the same
//! threads ran stands for one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackGroup, ExecutorId, ThreadId, UnseenSubject};
use rostrace_trace::flow::CallbackInstance;
use serde::Serialize;

use crate::args::LookArguments;
use crate::cell::Cell;
use crate::family::EXECUTORS;
use crate::listing::{Reading, Row};
use crate::outcome::Outcome;
use crate::view::View;
use rostrace_analyze::list::{EXECUTORS as LIST, List};
use rostrace_analyze::names::Names;
use rostrace_analyze::observed_executor::{ObservedExecutor, observed_executors};
use rostrace_analyze::{blind_spot, built_in};
use rostrace_base::units;

#[derive(Debug, Serialize)]
struct ExecutorRow<'m> {
    /// `executor_0`: numbered in the order of creation. `observed_0`: what the same threads ran, by when they began.
    executor: String,
    r#type: Option<&'m str>,
    host: &'m str,
    pid: i64,
    process: &'m str,
    /// These two are not known of an executor that was only observed.
    address: Option<String>,
    created_ns: Option<i64>,
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
    /// Inferred from what ran on which thread: the trace does not tell of the executor itself.
    observed: bool,
    /// Why nodes, groups and callbacks are not known, if they are not.
    not_seen: Option<String>,
}

#[derive(Debug, Serialize)]
struct GroupRow {
    r#type: &'static str,
    address: String,
    callbacks: Vec<String>,
}

pub(crate) fn executors(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(&LIST, arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let rows = rows(&view);
    let mut notes = notes(view.model);
    if rows.iter().any(|row| row.observed) {
        notes.push(OBSERVED.to_owned());
    }
    if rows.is_empty() && arguments.filter.entities.is_empty() {
        notes.insert(0, "no executors to show".to_owned());
    }
    reading.print(rows, notes)
}

/// What stands behind such a row.
const OBSERVED: &str = "observed_…: no executor that the trace tells of, but threads that ran the same callbacks; callbacks that never ran are missing";

fn notes(model: &Model) -> Vec<String> {
    let mut notes = blind_spot::sentences(model);
    if let Some(lack) = EXECUTORS.lack(&model.kinds) {
        notes.insert(0, lack.to_owned());
        return notes;
    }
    let groups = model.callback_groups.iter();
    let alone = groups.filter(|group| group.executor.is_none() && !group.callbacks.is_empty());
    let alone = alone.count() as u64;
    let counted = units::counted(alone, "callback group");
    let note = (alone > 0).then(|| {
        format!("{counted} with callbacks: the trace does not tell which executor they belong to")
    });
    notes.extend(note);
    notes
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
            work[executor.index()].add(instance);
        }
    }
    let mut rows = Vec::new();
    for (index, work) in work.into_iter().enumerate() {
        let id = ExecutorId(index as u32);
        if let Some(row) = row(view, id, &names, work) {
            rows.push(row);
        }
    }
    rows.extend(observed_rows(view));
    rows
}

/// Threads whose callbacks belong to no executor that the trace tells of.
fn observed_rows<'m>(view: &View<'m>) -> Vec<ExecutorRow<'m>> {
    let model = view.model;
    let mut observed = observed_executors(model);
    observed.retain(|it| it.declared(model).is_empty());
    let mut of_thread: HashMap<ThreadId, usize> = HashMap::new();
    for (number, executor) in observed.iter().enumerate() {
        of_thread.extend(executor.threads.iter().map(|thread| (*thread, number)));
    }
    let mut work: Vec<Work> = Vec::new();
    work.resize_with(observed.len(), Work::default);
    for (_, instance) in view.instances() {
        if let Some(number) = of_thread.get(&instance.thread) {
            work[*number].add(instance);
        }
    }
    let rows = observed.iter().zip(work).enumerate();
    rows.filter_map(|(number, (executor, work))| observed_row(view, number, executor, work))
        .collect()
}

fn observed_row<'m>(
    view: &View<'m>,
    number: usize,
    executor: &ObservedExecutor,
    mut work: Work,
) -> Option<ExecutorRow<'m>> {
    let model = view.model;
    let callbacks = executor.callbacks.iter().copied();
    let is_shown = callbacks.clone().any(|id| view.has_callback(id));
    if !view.has_unnamed(executor.process) && !is_shown {
        return None;
    }
    let process = &model.processes[executor.process.index()];
    let nodes: BTreeSet<&str> = callbacks
        .filter_map(|callback| model.node_name(model.node_of_callback(callback)))
        .collect();
    let busy_ns = work.busy();
    let (from, to) = (*view.window().start(), *view.window().end());
    let observed_ns = model.observed(executor.process, from, to) as u64;
    let busy_share = busy_ns.filter(|_| observed_ns > 0);
    Some(ExecutorRow {
        executor: format!("observed_{number}"),
        r#type: None,
        host: model.host_name(executor.process),
        pid: process.pid,
        process: &process.name,
        address: None,
        created_ns: None,
        built_in: !nodes.is_empty() && nodes.iter().all(|node| built_in::node(node)),
        nodes,
        groups: Vec::new(),
        callbacks: executor.callbacks.len() as u64,
        callback_instances: work.instances,
        threads: work.spans.len() as u64,
        busy_ns,
        observed_ns,
        busy_share: busy_share.map(|busy| busy as f64 / observed_ns as f64),
        observed: true,
        not_seen: None,
    })
}

/// What an executor's threads did.
#[derive(Debug, Default)]
struct Work {
    instances: u64,
    spans: BTreeMap<ThreadId, Vec<(Nanos, Nanos)>>,
}

impl Work {
    fn add(&mut self, instance: &CallbackInstance) {
        self.instances += 1;
        let spans = self.spans.entry(instance.thread).or_default();
        spans.extend(instance.end.map(|end| (instance.start, end)));
    }

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
    let not_seen = (groups().next().is_none())
        .then(|| blind_spot::of_process(process, UnseenSubject::Executors))
        .flatten();
    let busy_ns = work.busy().filter(|_| not_seen.is_none());
    let observed = view.window();
    let begin = executor.created.max(*observed.start());
    let observed_ns = model.observed(executor.process, begin, *observed.end()) as u64;
    let busy_share = busy_ns.filter(|_| observed_ns > 0);
    Some(ExecutorRow {
        executor: format!("executor_{}", id.index()),
        r#type: Some(executor.kind.name()).filter(|name| !name.is_empty()),
        host: model.host_name(executor.process),
        pid: process.pid,
        process: &process.name,
        address: Some(executor.address.to_string()),
        created_ns: Some(executor.created.0),
        built_in: !nodes.is_empty() && nodes.iter().all(|node| built_in::node(node)),
        nodes,
        groups: groups().map(|group| GroupRow::of(group, names)).collect(),
        callbacks: callbacks().count() as u64,
        callback_instances: work.instances,
        threads: work.spans.len() as u64,
        busy_ns,
        observed_ns,
        busy_share: busy_share.map(|busy| busy as f64 / observed_ns as f64),
        observed: false,
        not_seen,
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
    const LIST: &'static List = &LIST;

    fn cells(&self) -> Vec<Cell> {
        vec![
            self.executor.as_str().into(),
            self.r#type.into(),
            self.host.into(),
            self.pid.into(),
            self.process.into(),
            self.address.as_deref().into(),
            self.created_ns.into(),
            self.nodes
                .iter()
                .copied()
                .collect::<Vec<_>>()
                .join(" ")
                .into(),
            self.groups.len().into(),
            self.callbacks.into(),
            self.callback_instances.into(),
            self.threads.into(),
            self.busy_ns.into(),
            self.observed_ns.into(),
            self.busy_share.into(),
            self.built_in.into(),
            self.observed.into(),
            self.not_seen.as_deref().into(),
        ]
    }

    fn shown(&self, title: &str, all: bool) -> Option<String> {
        const NOT_KNOWN: &str = "–";
        let is_known = match title {
            "groups" => !self.observed && self.not_seen.is_none(),
            "callbacks" | "threads" | "runs" => self.not_seen.is_none(),
            "busy" => self.busy_share.is_some(),
            _ => true,
        };
        if !is_known {
            return Some(NOT_KNOWN.to_owned());
        }
        match title {
            "type" if self.observed => Some("observed".to_owned()),
            "type" => Some(self.r#type.unwrap_or(NOT_KNOWN).to_owned()),
            "process" => Some(format!("{} {}", self.process, self.pid)),
            "nodes" => {
                let nodes = self.nodes.iter().copied();
                let nodes: Vec<&str> = nodes.filter(|node| all || !built_in::node(node)).collect();
                Some(self.not_seen.clone().unwrap_or_else(|| nodes.join(", ")))
            }
            _ => None,
        }
    }

    /// Those of recorders and commands.
    fn is_folded(&self) -> bool {
        self.built_in
    }

    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let number = units::counted(rows.len() as u64, "executor");
        vec![vec![(
            "executor",
            format!("{number} of recorders and tools"),
        )]]
    }
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
