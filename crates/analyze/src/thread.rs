//! Threads summarised: how much of their time they ran callbacks, did the executor's own work, waited; and whose callbacks
//! took the time.
//!
//! A thread is observed from its first callback or executor phase to its last; its time is that of [`Activities`]' spans,
//! so that the parts add up to the whole.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{Address, CallbackId, ClientId, ExecutorId, ProcessId, ThreadId};

use crate::activity::{Activities, Activity, ActivitySpan};
use crate::analysis::Analysis;

/// Where a thread's time went, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeSpent {
    pub callbacks: i64,
    /// The executor's own work.
    pub executor: i64,
    /// The executor had nothing to do.
    pub waiting: i64,
    /// The trace does not tell: it has no phases of the executor, or a callback began that has no end.
    pub unobserved: i64,
}

impl TimeSpent {
    pub fn add(&mut self, span: &ActivitySpan) {
        let part = match span.activity {
            Activity::Callback(_) | Activity::Client(_) => &mut self.callbacks,
            Activity::Executor => &mut self.executor,
            Activity::Waiting => &mut self.waiting,
            Activity::Unended(_) | Activity::Unobserved => &mut self.unobserved,
        };
        *part += span.duration();
    }

    pub fn total(&self) -> i64 {
        self.callbacks + self.executor + self.waiting + self.unobserved
    }
}

/// What a thread ran: a callback, that of a client, or one that the trace does not name at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ran {
    Callback(CallbackId),
    Client(ClientId),
    Unnamed(Address),
}

/// One callback's part of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub ran: Ran,
    /// Executions that began.
    pub executions: u64,
    /// Time in it. Inside another callback of the same thread it is part of that one. Nothing if no execution has an end.
    pub busy: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    pub thread: ThreadId,
    pub process: ProcessId,
    /// Nothing if the trace does not tell, or if callbacks of several executors ran here.
    pub executor: Option<ExecutorId>,
    pub begin: Nanos,
    pub end: Nanos,
    pub time: TimeSpent,
    /// Executions that began.
    pub executions: u64,
    /// The longest first.
    pub shares: Vec<Share>,
    /// Events may have been lost in this time.
    pub damaged: bool,
}

impl ThreadSummary {
    /// From the begin to the end, without pauses of the recording.
    pub fn observed(&self) -> i64 {
        self.time.total()
    }

    /// The part of the observed time in callbacks; nothing if that has no length.
    pub fn utilisation(&self) -> Option<f64> {
        part(self.time.callbacks, self.observed())
    }

    /// The callback that took most time, as far as is known.
    pub fn busiest(&self) -> Option<&Share> {
        self.shares.first().filter(|share| share.busy.is_some())
    }
}

/// All threads that ran callbacks or executors in the range that counts, in the order of the model.
pub fn summaries(analysis: &Analysis<'_>, activities: &Activities) -> Vec<ThreadSummary> {
    let threads = (0..analysis.model.threads.len()).map(ThreadId::from_index);
    threads
        .filter_map(|thread| summary(analysis, activities, thread))
        .collect()
}

fn summary(
    analysis: &Analysis<'_>,
    activities: &Activities,
    thread: ThreadId,
) -> Option<ThreadSummary> {
    let (begin, end) = observed(analysis, thread)?;
    let mut shares: BTreeMap<Ran, Share> = BTreeMap::new();
    let mut began = |ran: Ran, is_ended: bool| {
        let share = shares.entry(ran).or_insert(Share {
            ran,
            executions: 0,
            busy: None,
        });
        share.executions += 1;
        if is_ended {
            share.busy.get_or_insert(0);
        }
    };
    let ran = |id| {
        let instance = analysis.instance(id);
        match instance.callback {
            Some(callback) => Ran::Callback(callback),
            None => Ran::Unnamed(instance.address),
        }
    };
    let ran_for = |id| {
        let callback = analysis.client_callback(id);
        match callback.client {
            Some(client) => Ran::Client(client),
            None => Ran::Unnamed(callback.rmw_handle),
        }
    };
    let mut executions = 0;
    for id in analysis.client_callbacks_on(thread) {
        let callback = analysis.client_callback(*id);
        if analysis.counts(callback.start) {
            executions += 1;
            began(ran_for(*id), callback.end.is_some());
        }
    }
    for id in analysis.instances_on(thread) {
        let instance = analysis.instance(*id);
        if analysis.counts(instance.start) {
            executions += 1;
            began(ran(*id), instance.end.is_some());
        }
    }
    let mut time = TimeSpent::default();
    for span in activities.spans(thread, begin, end) {
        // What was not recorded is not observed.
        let paused = analysis.model.losses.paused(span.begin, span.end);
        let span = ActivitySpan {
            end: Nanos(span.end.0 - paused),
            ..span
        };
        time.add(&span);
        let ran = match span.activity {
            Activity::Callback(id) => ran(id),
            Activity::Client(id) => ran_for(id),
            Activity::Unended(_)
            | Activity::Waiting
            | Activity::Executor
            | Activity::Unobserved => continue,
        };
        let share = shares.entry(ran).or_insert(Share {
            ran,
            executions: 0,
            busy: None,
        });
        *share.busy.get_or_insert(0) += span.duration();
    }
    let mut shares: Vec<Share> = shares.into_values().collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.busy));
    Some(ThreadSummary {
        thread,
        process: analysis.model.process_of(thread),
        executor: executor(analysis, &shares),
        begin,
        end,
        time,
        executions,
        shares,
        damaged: analysis.is_lossy(begin, end),
    })
}

/// From the first callback or phase of a thread to the last, as far as it lies in the range that counts.
fn observed(analysis: &Analysis<'_>, thread: ThreadId) -> Option<(Nanos, Nanos)> {
    let instances = analysis.instances_on(thread);
    let starts = instances.iter().map(|id| analysis.instance(*id).start);
    let ends = instances.iter().filter_map(|id| analysis.instance(*id).end);
    let phases = analysis.phases_on(thread).iter();
    let phases = phases.map(|id| analysis.model.phases[id.index()].time);
    let clients = analysis.client_callbacks_on(thread).iter();
    let clients = clients.map(|id| analysis.client_callback(*id));
    let starts = starts.chain(clients.clone().map(|row| row.start));
    let ends = ends.chain(clients.filter_map(|row| row.end));
    let begin = starts.clone().chain(phases.clone()).min()?;
    let end = starts.chain(ends).chain(phases).max()?;
    let begin = begin.max(*analysis.window.start());
    let end = end.min(*analysis.window.end());
    (begin <= end).then_some((begin, end))
}

fn executor(analysis: &Analysis<'_>, shares: &[Share]) -> Option<ExecutorId> {
    let mut executors = shares.iter().filter_map(|share| match share.ran {
        Ran::Callback(callback) => analysis.executor_of(callback),
        Ran::Client(_) | Ran::Unnamed(_) => None,
    });
    let first = executors.next()?;
    executors.all(|other| other == first).then_some(first)
}

/// When a process was recorded, in the range that counts.
pub fn process_span(analysis: &Analysis<'_>, process: ProcessId) -> (Nanos, Nanos) {
    let (begin, end) = analysis.model.processes[process.index()].recorded();
    let begin = begin.max(*analysis.window.start());
    let end = end.min(*analysis.window.end());
    (begin, end.max(begin))
}

/// How long a process was recorded, in the range that counts: the whole of all its utilisations and shares.
pub fn process_observed(analysis: &Analysis<'_>, process: ProcessId) -> i64 {
    let (begin, end) = process_span(analysis, process);
    analysis.model.observed(process, begin, end)
}

/// A part of a whole; nothing of a whole without length.
pub fn part(of: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| of as f64 / whole as f64)
}
