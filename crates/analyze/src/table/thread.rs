//! Threads, the callbacks that they spent their time in, and the cycles of their executors.

use std::borrow::Cow;
use std::io;

use rostrace_model::describe::names;
use rostrace_model::entity::{ExecutorId, ThreadId};

use super::describe::{node_of, pid};
use super::page::{PageColumn, PageTable, TIME_SPENT};
use super::recurring::{HOST, NODE, PID, TID};
use super::{Cell, Column, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::spin::spins;
use crate::thread::{Ran, ThreadSummary, part, process_observed, summaries};

const EXECUTOR: Column = Column::text(
    "executor",
    "Executor, numbered in the order of creation; empty if unknown.",
);

const DAMAGED: Column = Column::flag(
    "damaged",
    "Whether events were lost while the thread was observed, so that times are uncertain.",
);

pub(super) const THREADS: Table = Table {
    name: "threads",
    about: "One thread that ran callbacks or an executor, and where its time went: `busy_ns` + `executor_ns` + `waiting_ns` + `unobserved_ns` = `observed_ns`.",
    columns: columns! {
        HOST,
        PID,
        TID,
        text "executor" "Executor whose callbacks it ran, numbered in the order of creation; empty if unknown, or if there were several.",
        time "begin_ns" "Its first callback or phase of its executor.",
        duration "observed_ns" "From there to its last callback or phase.",
        duration "busy_ns" "In callbacks; one inside another does not count twice.",
        duration "executor_ns" "In the executor's own work; where several threads share an executor, also until it is this one's turn to wait.",
        duration "waiting_ns" "Waiting for work.",
        duration "unobserved_ns" "Between callbacks, where the trace has no phases of the executor, and after the start of a callback that has no end, until the executor went on.",
        count "callbacks" "Executions of callbacks that began.",
        share? "utilisation" "`busy_ns` / `observed_ns`.",
        text "busiest_callback" "Callback that took most time; empty if none ran.",
        share? "busiest_share" "Its part of `busy_ns`.",
        DAMAGED,
    },
    rows: threads,
};

pub const THREAD_PAGE: PageTable = PageTable {
    table: &THREADS,
    joined: columns! {
        text "process" "Name of its process.",
        count? "spins" "Cycles of its executor; `spins` has them.",
        duration? "spin_max_ns" "The longest of them.",
        duration? "delay_p99_ns" "99th percentile of the time from ready to running; `scheduling_delays` has them all.",
        duration? "delay_max_ns" "The longest of these times.",
    },
    shown: &[
        PageColumn::new("tid", "thread"),
        PageColumn::new("process", "process"),
        PageColumn::new("utilisation", "utilisation").defined(TIME_SPENT),
        PageColumn::new("busy_ns", "in callbacks").defined(TIME_SPENT),
        PageColumn::new("executor_ns", "in the executor"),
        PageColumn::new("waiting_ns", "waiting"),
        PageColumn::new("unobserved_ns", "unobserved"),
        PageColumn::new("observed_ns", "observed"),
        PageColumn::new("callbacks", "executions"),
        PageColumn::new("spins", "spins").defined(TIME_SPENT),
        PageColumn::new("spin_max_ns", "longest spin"),
        PageColumn::new("delay_p99_ns", "scheduling delay p99").defined("kernel-and-memory"),
        PageColumn::new("delay_max_ns", "scheduling delay max"),
        PageColumn::chart("busy", "over time"),
    ],
    filter: "Filter by process, thread or callback",
    sort: "busy_ns",
};

fn threads(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    threads_of(analysis, &summaries(analysis, analysis.activities()), take)
}

/// The rows of some threads.
pub fn threads_of(
    analysis: &Analysis<'_>,
    threads: &[ThreadSummary],
    take: Sink<'_>,
) -> io::Result<()> {
    let model = analysis.model;
    for thread in threads {
        let busiest = thread.busiest();
        let name = busiest.map_or(Cow::Borrowed(""), |share| name_of(analysis, share.ran));
        let share = busiest.and_then(|share| part(share.busy?, thread.time.callbacks));
        take(&cells! {
            model.host_name(thread.process), pid(model, thread.process),
            model.threads[thread.thread.index()].tid, executor_name(thread.executor).as_str(),
            thread.begin, thread.observed(), thread.time.callbacks, thread.time.executor,
            thread.time.waiting, thread.time.unobserved, thread.executions, thread.utilisation(),
            name.as_ref(), share, thread.damaged,
        })?;
    }
    Ok(())
}

pub(super) const EXECUTOR_SHARES: Table = Table {
    name: "executor_shares",
    about: "One callback on one thread, and how much of the time it took there. The threads of a process without a known executor have an empty one.",
    columns: columns! {
        HOST,
        PID,
        EXECUTOR,
        TID,
        NODE,
        text "callback" "Name of the callback.",
        count "executions" "Executions that began.",
        duration? "busy_ns" "Time in it. Inside another callback of the same thread it is part of that one. Empty if no execution has an end.",
        share? "share_of_process" "Its part of the time that the process was observed.",
        share? "share_of_busy" "Its part of the time that the thread spent in callbacks.",
        DAMAGED,
    },
    rows: executor_shares,
};

fn executor_shares(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let activities = analysis.activities();
    for thread in summaries(analysis, activities) {
        let observed = process_observed(analysis, thread.process);
        for share in &thread.shares {
            let callback = match share.ran {
                Ran::Callback(callback) => Some(callback),
                Ran::Client(_) | Ran::Unnamed(_) => None,
            };
            let node = match share.ran {
                Ran::Client(client) => model.node_name(model.clients[client.index()].node),
                _ => Some(node_of(model, callback)),
            };
            let executor = callback.and_then(|callback| analysis.executor_of(callback));
            take(&cells! {
                model.host_name(thread.process), pid(model, thread.process),
                executor_name(executor).as_str(), model.threads[thread.thread.index()].tid,
                node.unwrap_or_default(), name_of(analysis, share.ran).as_ref(), share.executions,
                share.busy, share.busy.and_then(|busy| part(busy, observed)),
                (share.busy).and_then(|busy| part(busy, thread.time.callbacks)), thread.damaged,
            })?;
        }
    }
    Ok(())
}

pub(super) const SPINS: Table = Table {
    name: "spins",
    about: "One cycle of an executor on a thread: from one wait for work to the next. `waiting_ns` + `executor_ns` + `callbacks_ns` + `unobserved_ns` = `duration_ns`. Executors that tell no phases have none.",
    columns: columns! {
        HOST,
        PID,
        TID,
        time "begin_ns" "`rclcpp_executor_wait_for_work`.",
        duration "duration_ns" "To the next one on this thread.",
        duration "waiting_ns" "Waiting for work: idle.",
        duration "executor_ns" "In the executor's own work.",
        duration "callbacks_ns" "In callbacks.",
        duration "unobserved_ns" "After the start of a callback that has no end, until the executor went on.",
        count "callbacks" "Executions; one inside another does not count.",
        flag "damaged" "Whether events were lost in it, so that it may be several.",
    },
    rows: spin_cycles,
};

fn spin_cycles(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let activities = analysis.activities();
    for (index, thread) in model.threads.iter().enumerate() {
        for spin in spins(analysis, activities, ThreadId::from_index(index)) {
            take(&cells! {
                model.host_name(thread.process), pid(model, thread.process), thread.tid, spin.begin,
                spin.end.0 - spin.begin.0, spin.time.waiting, spin.time.executor,
                spin.time.callbacks, spin.time.unobserved, spin.callbacks, Cell::Flag(spin.damaged),
            })?;
        }
    }
    Ok(())
}

/// As `rostrace executors` numbers them.
fn executor_name(executor: Option<ExecutorId>) -> String {
    executor.map(super::executor::name).unwrap_or_default()
}

fn name_of<'a>(analysis: &'a Analysis<'_>, ran: Ran) -> Cow<'a, str> {
    match ran {
        Ran::Callback(callback) => analysis.names.callback(callback).into(),
        Ran::Client(client) => analysis.names.client(client).into(),
        Ran::Unnamed(address) => names::unnamed_callback(address).into(),
    }
}
