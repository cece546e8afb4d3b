//! What the kernel did with the threads that ran callbacks; rows only where the trace has scheduling events.

use std::io;

use rostrace_model::entity::{InstanceId, ThreadId};
use rostrace_model::scheduling::Ready;

use super::describe::{node_of, pid};
use super::recurring::{
    CALLBACK_NAME, CALLBACK_NODE, CALLBACK_START, HOST, INSTANCE, PID, RAN_ON, TID,
};
use super::{Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::execution_time::ExecutionTime;

pub(super) const CALLBACK_SCHEDULING: Table = Table {
    name: "callback_scheduling",
    about: "One execution of a callback in a trace with scheduling events of the kernel, or with the CPU clocks of threads: where its time went. The four durations add up to that of the execution.",
    columns: columns! {
        HOST,
        PID,
        RAN_ON,
        CALLBACK_NODE,
        CALLBACK_NAME,
        CALLBACK_START,
        duration "running_ns" "On a CPU.",
        duration "waiting_ns" "It could have run, but no CPU was given to it.",
        duration "blocked_ns" "It slept: for a lock, a file, time to pass.",
        duration "unknown_ns" "Unknown. By the clock of its thread: it waited for a CPU or slept, and the trace does not show which.",
        integer "preemptions" "How often it had to leave its CPU although it could have gone on.",
        number? "execution_proportion" "Time on a CPU, divided by the duration.",
        text "source" "How it is known: by `context switches` of the kernel, or by the `thread clock` that was read at the start and at the end.",
        INSTANCE,
    },
    rows: callback_scheduling,
};

fn callback_scheduling(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for (index, instance) in model.instances.iter().enumerate() {
        let Some(end) = instance.end.filter(|_| analysis.counts(instance.start)) else {
            continue;
        };
        let id = InstanceId::from_index(index);
        let Some(spent) = ExecutionTime::of(analysis, id) else {
            continue;
        };
        let thread = &model.threads[instance.thread.index()];
        let duration = end.0 - instance.start.0;
        let name = instance.callback.map(|id| analysis.names.callback(id));
        let known = spent.knows_running() && duration > 0;
        take(&cells! {
            model.host_name(thread.process), pid(model, thread.process), thread.tid,
            node_of(model, instance.callback), name.unwrap_or_default(), instance.start,
            spent.running, spent.waiting, spent.blocked, spent.unknown, spent.preemptions,
            known.then(|| spent.running.0 as f64 / duration as f64), spent.source.name(), i64::from(id.0),
        })?;
    }
    Ok(())
}

pub(super) const SCHEDULING_DELAYS: Table = Table {
    name: "scheduling_delays",
    about: "One time that a thread of a ROS 2 process could run and then did, in a trace with scheduling events of the kernel.",
    columns: columns! {
        HOST,
        PID,
        TID,
        time "ready_ns" "When it was woken, or had to leave its CPU.",
        time "running_ns" "When it was on a CPU.",
        duration "delay_ns" "Ready to running.",
        text? "because_of" "Who woke it, or first took the CPU away from it, as far as the trace tells; an interrupt wakes threads that slept for a time or a device.",
        integer? "because_of_tid" "The kernel's number of that thread.",
    },
    rows: scheduling_delays,
};

fn scheduling_delays(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let Some(scheduling) = &analysis.scheduling else {
        return Ok(());
    };
    for (index, thread) in model.threads.iter().enumerate() {
        for delay in scheduling.latencies(ThreadId::from_index(index)) {
            if !analysis.counts(delay.ready) {
                continue;
            }
            let task = match delay.why {
                Ready::Woken { by } => by,
                Ready::Preempted { by } => Some(by),
            };
            let task = task.map(|task| scheduling.task(task));
            take(&cells! {
                model.host_name(thread.process), pid(model, thread.process), thread.tid,
                delay.ready, delay.running, delay.running.0 - delay.ready.0,
                task.map(|task| &task.name),
                task.filter(|task| task.is_recorded()).map(|task| task.tid),
            })?;
        }
    }
    Ok(())
}
