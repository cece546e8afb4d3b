//! Threads, the callbacks that they spent their time in, and the cycles of their executors.

use std::borrow::Cow;
use std::io;

use rostrace_model::entity::{ExecutorId, ThreadId};

use super::describe::{node_of, pid};
use super::recurring::{HOST, NODE, PID, TID};
use super::{Cell, Column, Sink, Table};
use crate::analysis::Analysis;
use crate::names;
use crate::spin::spins;
use crate::thread::{Ran, part, process_observed, summaries};

const EXECUTOR: Column = Column::text(
    "executor",
    "Executor, numbered in the order of creation; empty if the trace does not tell.",
);

const DAMAGED: Column = Column::flag(
    "damaged",
    "Whether events were lost while the thread was observed, so that times are uncertain.",
);

pub(super) const THREADS: Table = Table {
    name: "threads",
    about: "One thread that ran callbacks or an executor, and where its time went: `busy_ns` + `executor_ns` + `waiting_ns` + `unobserved_ns` = `observed_ns`.",
    columns: &[
        HOST,
        PID,
        TID,
        Column::text(
            "executor",
            "Executor whose callbacks it ran, numbered in the order of creation; empty if the trace does not tell, or if there were several.",
        ),
        Column::time("begin_ns", "Its first callback or phase of its executor."),
        Column::duration("observed_ns", "From there to its last callback or phase."),
        Column::duration(
            "busy_ns",
            "In callbacks; one inside another does not count twice.",
        ),
        Column::duration(
            "executor_ns",
            "In the executor's own work; where several threads share an executor, also until it is this one's turn to wait.",
        ),
        Column::duration("waiting_ns", "Waiting for work."),
        Column::duration(
            "unobserved_ns",
            "Between callbacks, where the trace has no phases of the executor, and after the start of a callback that has no end, until the executor went on.",
        ),
        Column::count("callbacks", "Executions of callbacks that began."),
        Column::share("utilisation", "`busy_ns` / `observed_ns`.").optional(),
        Column::text(
            "busiest_callback",
            "Callback that took most time; empty if none ran.",
        ),
        Column::share("busiest_share", "Its part of `busy_ns`.").optional(),
        DAMAGED,
    ],
    rows: threads,
};

fn threads(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let activity = analysis.activity();
    for thread in summaries(analysis, activity) {
        let busiest = thread.busiest();
        let name = busiest.map_or(Cow::Borrowed(""), |share| name_of(analysis, share.ran));
        let share = busiest.and_then(|share| part(share.busy?, thread.time.callbacks));
        take(&[
            model.host_name(thread.process).into(),
            pid(model, thread.process).into(),
            model.threads[thread.thread.index()].tid.into(),
            executor_name(thread.executor).as_str().into(),
            thread.begin.into(),
            thread.observed().into(),
            thread.time.callbacks.into(),
            thread.time.executor.into(),
            thread.time.waiting.into(),
            thread.time.unobserved.into(),
            thread.executions.into(),
            thread.utilisation().into(),
            name.as_ref().into(),
            share.into(),
            thread.damaged.into(),
        ])?;
    }
    Ok(())
}

pub(super) const EXECUTOR_SHARES: Table = Table {
    name: "executor_shares",
    about: "One callback on one thread, and how much of the time it took there. The threads of a process without a known executor have an empty one.",
    columns: &[
        HOST,
        PID,
        EXECUTOR,
        TID,
        NODE,
        Column::text("callback", "Name of the callback."),
        Column::count("executions", "Executions that began."),
        Column::duration(
            "busy_ns",
            "Time in it. Inside another callback of the same thread it is part of that one. Empty if no execution has an end.",
        )
        .optional(),
        Column::share(
            "share_of_process",
            "Its part of the time that the process was observed.",
        )
        .optional(),
        Column::share(
            "share_of_busy",
            "Its part of the time that the thread spent in callbacks.",
        )
        .optional(),
        DAMAGED,
    ],
    rows: executor_shares,
};

fn executor_shares(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let activity = analysis.activity();
    for thread in summaries(analysis, activity) {
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
            take(&[
                model.host_name(thread.process).into(),
                pid(model, thread.process).into(),
                executor_name(executor).as_str().into(),
                model.threads[thread.thread.index()].tid.into(),
                node.unwrap_or_default().into(),
                name_of(analysis, share.ran).as_ref().into(),
                share.executions.into(),
                share.busy.into(),
                share.busy.and_then(|busy| part(busy, observed)).into(),
                (share.busy)
                    .and_then(|busy| part(busy, thread.time.callbacks))
                    .into(),
                thread.damaged.into(),
            ])?;
        }
    }
    Ok(())
}

pub(super) const SPINS: Table = Table {
    name: "spins",
    about: "One cycle of an executor on a thread: from one wait for work to the next. `waiting_ns` + `executor_ns` + `callbacks_ns` + `unobserved_ns` = `duration_ns`. Executors that tell no phases have none.",
    columns: &[
        HOST,
        PID,
        TID,
        Column::time("begin_ns", "`rclcpp_executor_wait_for_work`."),
        Column::duration("duration_ns", "To the next one on this thread."),
        Column::duration("waiting_ns", "Waiting for work: idle."),
        Column::duration("executor_ns", "In the executor's own work."),
        Column::duration("callbacks_ns", "In callbacks."),
        Column::duration(
            "unobserved_ns",
            "After the start of a callback that has no end, until the executor went on.",
        ),
        Column::count(
            "callbacks",
            "Executions; one inside another does not count.",
        ),
        Column::flag(
            "damaged",
            "Whether events were lost in it, so that it may be several.",
        ),
    ],
    rows: spin_cycles,
};

fn spin_cycles(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let activity = analysis.activity();
    for (index, thread) in model.threads.iter().enumerate() {
        for spin in spins(analysis, activity, ThreadId::from_index(index)) {
            take(&[
                model.host_name(thread.process).into(),
                pid(model, thread.process).into(),
                thread.tid.into(),
                spin.begin.into(),
                (spin.end.0 - spin.begin.0).into(),
                spin.time.waiting.into(),
                spin.time.executor.into(),
                spin.time.callbacks.into(),
                spin.time.unobserved.into(),
                spin.callbacks.into(),
                Cell::Flag(spin.damaged),
            ])?;
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
