//! Executors: what each executes, and how busy it was with it. Where the trace does not tell of executors, what the same threads ran stands
//! for one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackId, ExecutorId, ProcessId, ThreadId, UnseenSubject};
use rostrace_model::flow::CallbackInstance;

use super::describe::pid;
use super::recurring::{BUILT_IN, HOST, PID, PROCESS};
use super::{Cell, Column, Sink, Table};
use crate::analysis::Analysis;
use crate::list::List;
use crate::observed_executor::{ObservedExecutor, observed_executors};
use crate::{blind_spot, built_in};

pub(super) const EXECUTORS: Table = Table {
    name: "executors",
    about: "One executor, what it executes, and how busy it was with it.",
    columns: &[
        Column::text(
            "executor",
            "Numbered in the order of creation; `observed_…` if it is inferred from what ran on which thread.",
        ),
        Column::text(
            "type",
            "Single- or multi-threaded, as the program chose; nothing if the trace does not tell.",
        )
        .optional(),
        HOST,
        PID,
        PROCESS,
        Column::text("address", "Where it is in memory; nothing if it is inferred.").optional(),
        Column::time("created_ns", "When it was made; nothing if it is inferred.").optional(),
        Column::names("nodes", "Nodes whose callbacks it executes."),
        Column::count("groups", "How many callback groups it executes; `callback_groups` has them."),
        Column::count("callbacks", "How many callbacks it executes."),
        Column::count("callback_instances", "How often they ran."),
        Column::count("threads", "How many threads ran them."),
        Column::duration(
            "busy_ns",
            "Time in callbacks, of all its threads together; nothing if the trace has no ends of callbacks.",
        )
        .optional(),
        Column::duration(
            "observed_ns",
            "Time in which its process was observed.",
        ),
        Column::share(
            "busy_share",
            "`busy_ns` / `observed_ns`; above 1 several threads were busy at once.",
        )
        .optional(),
        BUILT_IN,
        Column::flag(
            "observed",
            "Whether it is inferred: the trace does not tell of the executor itself.",
        ),
        Column::text(
            "not_seen",
            "Why nodes, groups and callbacks are not known, if they are not.",
        )
        .optional(),
    ],
    rows: |analysis, take| {
        let rows = ExecutorRow::all(analysis);
        rows.iter().try_for_each(|row| take(&row.cells()))
    },
};

pub const EXECUTOR_LIST: List = List {
    verb: "executors",
    noun: "executor",
    columns: EXECUTORS.columns,
    table: &[
        ("executor", "executor"),
        ("type", "type"),
        ("process", "process"),
        ("nodes", "nodes"),
        ("groups", "groups"),
        ("callbacks", "callbacks"),
        ("threads", "threads"),
        ("runs", "callback_instances"),
        ("busy", "busy_share"),
    ],
    dispensable: &["groups", "threads", "callbacks", "type"],
};

pub(super) const CALLBACK_GROUPS: Table = Table {
    name: "callback_groups",
    about: "One callback in its callback group, and the executor of that. A group without callbacks has one row.",
    columns: &[
        HOST,
        PID,
        Column::text(
            "executor",
            "Executor in `executors`; empty if the trace does not tell.",
        ),
        Column::integer("group", "Number of the callback group."),
        Column::text(
            "type",
            "`mutually_exclusive` or `reentrant`, as the trace tells.",
        ),
        Column::text("address", "Where the group is in memory."),
        Column::integer("callback", "Number of the callback in `callbacks`.").optional(),
        Column::text("name", "Name of the callback; empty if the group has none."),
    ],
    rows: callback_groups,
};

fn callback_groups(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for (number, group) in model.callback_groups.iter().enumerate() {
        let executor = group.executor.map(name).unwrap_or_default();
        let address = group.address.to_string();
        let mut row = |callback: Option<CallbackId>| {
            take(&[
                model.host_name(group.process).into(),
                pid(model, group.process).into(),
                (&executor).into(),
                (number as i64).into(),
                group.kind.name().into(),
                (&address).into(),
                callback.map(|id| i64::from(id.0)).into(),
                callback.map_or("", |id| analysis.names.callback(id)).into(),
            ])
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
    executor: String,
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
            executor,
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
        vec![
            (&self.executor).into(),
            self.kind.into(),
            self.host.into(),
            self.pid.into(),
            self.process.into(),
            self.address.as_deref().into(),
            self.created.into(),
            (&self.node_names).into(),
            self.groups.into(),
            self.callbacks.into(),
            self.callback_instances.into(),
            self.threads.into(),
            self.busy.into(),
            self.observed_time.into(),
            self.busy_share.into(),
            self.built_in.into(),
            self.observed.into(),
            self.not_seen.as_deref().into(),
        ]
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
