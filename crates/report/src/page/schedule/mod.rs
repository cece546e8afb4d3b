//! What ran when: every execution with its thread, its callback group and, for timers, when it was due.
//!
//! Executions that nobody could tell apart are put together if there are too many of them ([`merge`]).

mod merge;

use std::collections::HashMap;

use rostrace_analyze::finding::late_from;
use rostrace_analyze::{Analysis, timer};
use rostrace_model::describe::Description;
use rostrace_model::describe::names;
use rostrace_model::entity::{Address, CallbackId, InstanceId, ProcessId, ThreadId, TimerId};
use serde::Serialize;

use super::Subject;
use super::columns::{ColumnReference, Columns};
use super::part::PagePart;
use crate::process_name::process_names;
use merge::{Execution, merged};

/// Executions in the file.
const MOST: usize = 400_000;

#[derive(Debug, Serialize)]
struct Schedule<'a> {
    end: i64,
    callbacks: Vec<Callback<'a>>,
    threads: Vec<Thread<'a>>,
    groups: Vec<Group>,
    executors: Vec<Executor<'a>>,
    /// How many executions there were, and how many rows they became.
    executions: usize,
    shown: usize,
    /// Neighbours less than this apart were put together; 0 if none were.
    apart: i64,
}

#[derive(Debug, Serialize)]
struct Callback<'a> {
    /// Nothing for one that the trace does not name.
    id: Option<usize>,
    name: String,
    kind: &'static str,
    node: Option<usize>,
    node_name: Option<&'a str>,
    group: Option<usize>,
    /// The topic or the service, or the period of a timer in nanoseconds.
    of: Option<&'a str>,
    period: Option<i64>,
    /// From this lateness on an execution of a timer is marked.
    late_from: Option<i64>,
    symbol: Option<&'a str>,
    built_in: bool,
    start: ColumnReference,
    /// −1 where the end is not in the trace.
    duration: ColumnReference,
    /// Row of `threads`.
    thread: ColumnReference,
    /// Of timers: how long after it was due, plus one if it was not early; 0 if that is not known.
    lateness: Option<ColumnReference>,
    /// How many executions each row stands for, where it is not one.
    times: Option<ColumnReference>,
    /// Time in them, where it is less than from the start of the first to the end of the last.
    busy: Option<ColumnReference>,
}

#[derive(Debug, Serialize)]
struct Thread<'a> {
    id: usize,
    tid: i64,
    process: usize,
    pid: i64,
    /// By its nodes, and what else is to be said.
    name: String,
    note: String,
    host: &'a str,
}

#[derive(Debug, Serialize)]
struct Group {
    id: usize,
    kind: &'static str,
    executor: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Executor<'a> {
    id: usize,
    kind: &'a str,
    process: usize,
    pid: i64,
}

/// Whose executions they are: of callbacks that the trace does not name the address is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Named(CallbackId),
    Unnamed(ProcessId, Address),
}

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    let (analysis, model) = (subject.analysis, subject.analysis.model);
    let mut columns = Columns::default();
    let mut of_owner = executions(subject);
    let executions = of_owner.iter().map(|(_, rows)| rows.len()).sum();
    let apart = merged(&mut of_owner, MOST, subject.end - subject.begin);
    let shown = of_owner.iter().map(|(_, rows)| rows.len()).sum();
    let names = process_names(model);
    let mut places: HashMap<ThreadId, usize> = HashMap::new();
    let mut threads: Vec<Thread<'_>> = Vec::new();
    let mut place_of = |id: ThreadId| {
        *places.entry(id).or_insert_with(|| {
            let thread = &model.threads[id.index()];
            let process = &model.processes[thread.process.index()];
            threads.push(Thread {
                id: id.index(),
                tid: thread.tid,
                process: thread.process.index(),
                pid: process.pid,
                name: names[thread.process.index()].name.clone(),
                note: names[thread.process.index()].note.clone(),
                host: model.host_name(thread.process),
            });
            threads.len() - 1
        })
    };
    let callbacks = of_owner.iter().map(|(owner, rows)| {
        let is_timer = rows.iter().any(|row| row.lateness.is_some());
        let is_merged = rows.iter().any(|row| row.times > 1);
        let since = |value: Option<i64>| match value {
            None => 0,
            Some(late) if late >= 0 => late + 1,
            Some(early) => early,
        };
        Callback {
            start: columns.add(rows.iter().map(|row| row.start)),
            duration: columns.add(
                rows.iter()
                    .map(|row| row.end.map_or(-1, |end| end - row.start)),
            ),
            thread: columns.add(rows.iter().map(|row| place_of(row.thread) as i64)),
            lateness: is_timer.then(|| columns.add(rows.iter().map(|row| since(row.lateness)))),
            times: is_merged.then(|| columns.add(rows.iter().map(|row| i64::from(row.times)))),
            busy: is_merged.then(|| columns.add(rows.iter().map(|row| row.busy))),
            ..callback(analysis, *owner)
        }
    });
    let callbacks = callbacks.collect();
    let groups = model.callback_groups.iter().enumerate();
    let executors = model.executors.iter().enumerate();
    let schedule = Schedule {
        end: subject.end - subject.origin,
        callbacks,
        threads,
        groups: groups
            .map(|(id, group)| Group {
                id,
                kind: group.kind.name(),
                executor: group.executor.map(|it| it.index()),
            })
            .collect(),
        executors: executors
            .map(|(id, executor)| Executor {
                id,
                kind: executor.kind.name(),
                process: executor.process.index(),
                pid: model.processes[executor.process.index()].pid,
            })
            .collect(),
        executions,
        shown,
        apart,
    };
    PagePart::new("schedule", &schedule, columns)
}

/// By callback, those of each in the order of time.
fn executions(subject: Subject<'_>) -> Vec<(Owner, Vec<Execution>)> {
    let (analysis, model) = (subject.analysis, subject.analysis.model);
    let selection = &subject.analysis.selection;
    let lateness = lateness(analysis);
    let mut places: HashMap<Owner, usize> = HashMap::new();
    let mut found: Vec<(Owner, Vec<Execution>)> = Vec::new();
    for (index, instance) in model.instances.iter().enumerate() {
        if !analysis.counts(instance.start) {
            continue;
        }
        let owner = match instance.callback {
            Some(callback) => Owner::Named(callback),
            None => Owner::Unnamed(model.process_of(instance.thread), instance.address),
        };
        let is_wanted = match owner {
            Owner::Named(callback) => selection.has_callback(model, callback),
            Owner::Unnamed(process, _) => selection.has_unnamed(model, process),
        };
        if !is_wanted {
            continue;
        }
        let place = *places.entry(owner).or_insert_with(|| {
            found.push((owner, Vec::new()));
            found.len() - 1
        });
        let id = InstanceId::from_index(index);
        found[place].1.push(Execution {
            start: subject.time(instance.start),
            end: instance.end.map(|end| subject.time(end)),
            thread: instance.thread,
            lateness: lateness.get(&id).copied(),
            times: 1,
            busy: instance
                .end
                .map_or(0, |end| (end.0 - instance.start.0).max(0)),
        });
    }
    // In the order of creation; unnamed ones come last.
    found.sort_by_key(|(owner, _)| match owner {
        Owner::Named(callback) => (0, callback.index(), 0),
        Owner::Unnamed(process, address) => (1, process.index(), address.0),
    });
    found
}

fn lateness(analysis: &Analysis<'_>) -> HashMap<InstanceId, i64> {
    let timers = (0..analysis.model.timers.len()).map(TimerId::from_index);
    timers
        .flat_map(|timer| timer::firings(analysis, timer))
        .map(|firing| (firing.instance, firing.lateness))
        .collect()
}

/// What is known of a callback; its columns are still empty.
fn callback<'a>(analysis: &'a Analysis<'a>, owner: Owner) -> Callback<'a> {
    let model = analysis.model;
    let empty = ColumnReference { at: 0, n: 0 };
    let unknown = Callback {
        id: None,
        name: String::new(),
        kind: "unknown",
        node: None,
        node_name: None,
        group: None,
        of: None,
        period: None,
        late_from: None,
        symbol: None,
        built_in: false,
        start: empty,
        duration: empty,
        thread: empty,
        lateness: None,
        times: None,
        busy: None,
    };
    let id = match owner {
        Owner::Named(id) => id,
        Owner::Unnamed(_, address) => {
            return Callback {
                name: names::unnamed_callback(address),
                ..unknown
            };
        }
    };
    let callback = &model.callbacks[id.index()];
    let described = Description::of(model, id);
    Callback {
        id: Some(id.index()),
        name: analysis.names.callback(id).to_owned(),
        kind: described.kind.name(),
        node: described.node.map(|node| node.index()),
        node_name: described.node_name,
        group: callback.group.map(|group| group.index()),
        of: described.topic_or_service(),
        period: described.period.map(|period| period.0),
        late_from: described.period.map(|period| late_from(period.0)),
        symbol: described.symbol,
        built_in: described.built_in,
        ..unknown
    }
}
