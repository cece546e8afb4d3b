//! Executors: what each executes, and how busy it was with it. Where the trace does not tell of executors, what the same threads ran stands
//! for one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{CallbackId, ExecutorId, ProcessId, ThreadId, UnseenSubject};
use rostrace_model::flow::CallbackInstance;

use super::describe::pid;
use super::page::{PageColumn, PageTable, Room, TIME_SPENT};
use super::recurring::{BUILT_IN, HOST, PID, PROCESS};
use super::{Cell, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::blind_spot;
use crate::list::{List, titles};
use crate::observed_executor::{ObservedExecutor, observed_executors};

pub(super) const EXECUTORS: Table = Table {
    name: "executors",
    about: "One executor, what it executes, and how busy it was with it.",
    columns: columns! {
        text "executor" "Numbered in the order of creation; `observed_…` if it is inferred from what ran on which thread.",
        text? "type" "Single- or multi-threaded, as the program chose; empty if unknown.",
        HOST,
        PID,
        PROCESS,
        text? "address" "Where it is in memory; nothing if it is inferred.",
        time? "created_ns" "When it was made; nothing if it is inferred.",
        names "nodes" "Nodes whose callbacks it executes.",
        count "groups" "How many callback groups it executes; `callback_groups` has them.",
        count "callbacks" "How many callbacks it executes.",
        count "callback_instances" "How often they ran.",
        count "threads" "How many threads ran them.",
        duration? "busy_ns" "Time in callbacks, of all its threads together; nothing if the trace has no ends of callbacks.",
        duration "observed_ns" "Time in which its process was observed.",
        share? "busy_share" "`busy_ns` / `observed_ns`; above 1 several threads were busy at once.",
        BUILT_IN,
        flag "observed" "Whether it is inferred: the trace has no events of the executor itself.",
        text? "not_seen" "Why nodes, groups and callbacks are not known, if they are not.",
    },
    rows: |analysis, take| {
        let rows = ExecutorRow::all(analysis);
        rows.iter().try_for_each(|row| take(&row.cells()))
    },
};

pub const EXECUTOR_LIST: List = List {
    verb: "executors",
    noun: "executor",
    columns: EXECUTORS.columns,
    table: titles! {
        "executor": "executor", "type": "type", "process": "process", "nodes": "nodes",
        "groups": "groups", "callbacks": "callbacks", "threads": "threads",
        "runs": "callback_instances", "busy": "busy_share",
    },
    dispensable: &["groups", "threads", "callbacks", "type"],
};

pub const EXECUTOR_PAGE: PageTable = PageTable {
    table: &EXECUTORS,
    joined: &[],
    shown: &[
        PageColumn::new("executor", "executor"),
        PageColumn::new("type", "type"),
        PageColumn::new("process", "process"),
        PageColumn::new("nodes", "nodes").room(Room::Wide),
        PageColumn::new("threads", "threads"),
        PageColumn::new("callbacks", "callbacks"),
        PageColumn::new("callback_instances", "executions"),
        PageColumn::new("busy_ns", "time in callbacks").defined(TIME_SPENT),
        PageColumn::new("busy_share", "utilisation").defined(TIME_SPENT),
        PageColumn::chart("shares", "over time"),
    ],
    filter: "Filter by executor, process or node",
    sort: "busy_ns",
};

pub(super) const CALLBACK_GROUPS: Table = Table {
    name: "callback_groups",
    about: "One callback in its callback group, and the executor of that. A group without callbacks has one row.",
    columns: columns! {
        HOST,
        PID,
        text "executor" "Executor in `executors`; empty if unknown.",
        integer "group" "Number of the callback group.",
        text "type" "`mutually_exclusive` or `reentrant`, as the trace tells.",
        text "address" "Where the group is in memory.",
        integer? "callback" "Number of the callback in `callbacks`.",
        text "name" "Name of the callback; empty if the group has none.",
    },
    rows: callback_groups,
};

fn callback_groups(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for (number, group) in model.callback_groups.iter().enumerate() {
        let executor = group.executor.map(name).unwrap_or_default();
        let address = group.address.to_string();
        let mut row = |callback: Option<CallbackId>| {
            take(&cells! {
                model.host_name(group.process), pid(model, group.process), &executor, number as i64,
                group.kind.name(), &address, callback.map(|id| i64::from(id.0)),
                callback.map_or("", |id| analysis.names.callback(id)),
            })
        };
        for callback in &group.callbacks {
            row(Some(*callback))?;
        }
        if group.callbacks.is_empty() {
            row(None)?;
        }
    }
    Ok(())
}

/// As other tables name it.
pub(super) fn name(executor: ExecutorId) -> String {
    format!("executor_{}", executor.index())
}

/// One executor.
#[derive(Debug)]
pub struct ExecutorRow<'m> {
    /// Nothing if it is only observed.
    pub id: Option<ExecutorId>,
    pub executor: String,
    pub process_id: ProcessId,
    /// Threads that ran its callbacks.
    pub thread_ids: Vec<ThreadId>,
    pub kind: Option<&'m str>,
    host: &'m str,
    pub pid: i64,
    pub process: &'m str,
    address: Option<String>,
    created: Option<Nanos>,
    pub nodes: BTreeSet<&'m str>,
    /// With a space between names.
    node_names: String,
    groups: u64,
    callbacks: u64,
    callback_instances: u64,
    threads: u64,
    busy: Option<i64>,
    observed_time: i64,
    pub busy_share: Option<f64>,
    /// Executes nothing but what a recorder made.
    pub built_in: bool,
    pub observed: bool,
    pub not_seen: Option<String>,
}

impl<'m> ExecutorRow<'m> {
    /// Those that are selected, in the order of creation; behind them those that were only observed.
    pub fn all(analysis: &Analysis<'m>) -> Vec<ExecutorRow<'m>> {
        let model = analysis.model;
        let work = works(analysis, model.executors.len(), |instance| {
            let group = model.callbacks[instance.callback?.index()].group?;
            Some(model.callback_groups[group.index()].executor?.index())
        });
        let executors = work.into_iter().enumerate();
        let executors = executors.filter_map(|(index, work)| {
            ExecutorRow::declared(analysis, ExecutorId::from_index(index), work)
        });
        let mut rows: Vec<ExecutorRow<'m>> = executors.collect();
        rows.extend(ExecutorRow::all_observed(analysis));
        rows
    }

    /// Threads whose callbacks belong to no executor that the trace tells of.
    fn all_observed(analysis: &Analysis<'m>) -> Vec<ExecutorRow<'m>> {
        let model = analysis.model;
        let mut observed = observed_executors(model);
        observed.retain(|it| it.declared(model).is_empty());
        let mut of_thread: HashMap<ThreadId, usize> = HashMap::new();
        for (number, executor) in observed.iter().enumerate() {
            of_thread.extend(executor.threads.iter().map(|thread| (*thread, number)));
        }
        let work = works(analysis, observed.len(), |instance| {
            of_thread.get(&instance.thread).copied()
        });
        let rows = observed.iter().zip(work).enumerate();
        let rows = rows.filter_map(|(number, (executor, work))| {
            ExecutorRow::observed(analysis, number, executor, work)
        });
        rows.collect()
    }

    /// Nothing for an executor that is not selected.
    fn new(
        analysis: &Analysis<'m>,
        executor: String,
        process: ProcessId,
        created: Option<Nanos>,
        callbacks: &[CallbackId],
        mut work: Work,
    ) -> Option<ExecutorRow<'m>> {
        let model = analysis.model;
        let selection = &analysis.selection;
        let mut selected = callbacks.iter();
        if !selection.has_unnamed(model, process)
            && !selected.any(|id| selection.has_callback(model, *id))
        {
            return None;
        }
        let nodes = callbacks.iter();
        let nodes: BTreeSet<&str> = nodes
            .filter_map(|id| model.node_name(model.node_of_callback(*id)))
            .collect();
        let (begin, end) = (*analysis.window.start(), *analysis.window.end());
        let begin = created.map_or(begin, |created| created.max(begin));
        Some(ExecutorRow {
            id: None,
            executor,
            process_id: process,
            thread_ids: work.spans.keys().copied().collect(),
            kind: None,
            host: model.host_name(process),
            pid: pid(model, process),
            process: &model.processes[process.index()].name,
            address: None,
            created,
            built_in: !nodes.is_empty() && nodes.iter().all(|node| built_in::node(node)),
            node_names: nodes.iter().copied().collect::<Vec<&str>>().join(" "),
            nodes,
            groups: 0,
            callbacks: callbacks.len() as u64,
            callback_instances: work.instances,
            threads: work.spans.len() as u64,
            busy: work.busy(),
            observed_time: model.observed(process, begin, end),
            busy_share: None,
            observed: false,
            not_seen: None,
        })
    }

    fn declared(analysis: &Analysis<'m>, id: ExecutorId, work: Work) -> Option<ExecutorRow<'m>> {
        let model = analysis.model;
        let executor = &model.executors[id.index()];
        let groups = model.callback_groups.iter();
        let groups = groups.filter(|group| group.executor == Some(id));
        let callbacks = groups
            .clone()
            .flat_map(|group| group.callbacks.iter().copied());
        let callbacks: Vec<CallbackId> = callbacks.collect();
        let (process, created) = (executor.process, Some(executor.created));
        let mut row = ExecutorRow::new(analysis, name(id), process, created, &callbacks, work)?;
        row.kind = Some(executor.kind.name()).filter(|name| !name.is_empty());
        row.id = Some(id);
        row.address = Some(executor.address.to_string());
        row.groups = groups.count() as u64;
        if row.groups == 0 {
            let process = &model.processes[process.index()];
            row.not_seen = blind_spot::of_process(process, UnseenSubject::Executors);
        }
        if row.not_seen.is_some() {
            row.busy = None;
        }
        Some(row.with_share())
    }

    fn observed(
        analysis: &Analysis<'m>,
        number: usize,
        executor: &ObservedExecutor,
        work: Work,
    ) -> Option<ExecutorRow<'m>> {
        let name = format!("observed_{number}");
        let callbacks: Vec<CallbackId> = executor.callbacks.iter().copied().collect();
        let row = ExecutorRow::new(analysis, name, executor.process, None, &callbacks, work)?;
        let row = ExecutorRow {
            observed: true,
            ..row
        };
        Some(row.with_share())
    }

    fn with_share(mut self) -> ExecutorRow<'m> {
        let busy = self.busy.filter(|_| self.observed_time > 0);
        self.busy_share = busy.map(|busy| busy as f64 / self.observed_time as f64);
        self
    }

    /// In the order of the columns.
    pub fn cells(&self) -> Vec<Cell<'_>> {
        Vec::from(cells! {
            &self.executor, self.kind, self.host, self.pid, self.process, self.address.as_deref(),
            self.created, &self.node_names, self.groups, self.callbacks, self.callback_instances,
            self.threads, self.busy, self.observed_time, self.busy_share, self.built_in,
            self.observed, self.not_seen.as_deref(),
        })
    }
}

/// What an executor's threads did.
#[derive(Debug, Default)]
struct Work {
    instances: u64,
    spans: BTreeMap<ThreadId, Vec<(Nanos, Nanos)>>,
}

/// What each of so many executors did; `executor` says whose an execution is.
fn works(
    analysis: &Analysis<'_>,
    executors: usize,
    executor: impl Fn(&CallbackInstance) -> Option<usize>,
) -> Vec<Work> {
    let mut works: Vec<Work> = Vec::new();
    works.resize_with(executors, Work::default);
    for instance in &analysis.model.instances {
        let executor = executor(instance).filter(|_| analysis.counts(instance.start));
        if let Some(executor) = executor {
            works[executor].add(instance);
        }
    }
    works
}

impl Work {
    fn add(&mut self, instance: &CallbackInstance) {
        self.instances += 1;
        let spans = self.spans.entry(instance.thread).or_default();
        spans.extend(instance.end.map(|end| (instance.start, end)));
    }

    /// Time in callbacks, of all threads together; a callback inside another one does not count twice.
    fn busy(&mut self) -> Option<i64> {
        let ended = self.spans.values().any(|spans| !spans.is_empty());
        (ended || self.instances == 0).then(|| self.spans.values_mut().map(|it| covered(it)).sum())
    }
}

fn covered(spans: &mut [(Nanos, Nanos)]) -> i64 {
    spans.sort_unstable();
    let mut total = 0;
    let mut reached = Nanos(i64::MIN);
    for (start, end) in spans {
        let start = (*start).max(reached);
        total += end.0.saturating_sub(start.0).max(0);
        reached = reached.max(*end);
    }
    total
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
