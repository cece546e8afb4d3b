//! Allocations, where the trace has the events of LTTng's wrapper of the C library; and sizes of messages, where our own tracer
//! knows them.

use std::io;

use rostrace_model::flow::MessageSizeOf;

use super::describe::{node_of, pid};
use super::recurring::{CALLBACK_NAME, CALLBACK_NODE, CALLBACK_START, HOST, INSTANCE, NODE, PID};
use super::{Column, Sink, Table, cells, columns};
use crate::analysis::Analysis;

const PID_IF_KNOWN: Column =
    Column::pid("pid", "Process; nothing if the trace tells none.").optional();

const TID_IF_NO_PROCESS: Column =
    Column::integer("tid", "Thread, where the process is unknown.").optional();

const ALLOCATIONS: Column = Column::integer("allocations", "Blocks allocated.");

const ALLOCATED_BYTES: Column = Column::integer("allocated_bytes", "Bytes allocated.");

pub(super) const MESSAGE_SIZES: Table = Table {
    name: "message_sizes",
    about: "The size of one message that was published or taken in serialised form, in a recording of rostrace's own tracer.",
    columns: columns! {
        HOST,
        PID,
        NODE,
        topic "topic" "Topic; empty if the trace does not name it.",
        text "direction" "`published` or `taken`.",
        time "time_ns" "When.",
        integer "bytes" "Its size.",
    },
    rows: message_sizes,
};

fn message_sizes(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for size in &model.message_sizes {
        if !analysis.counts(size.time) {
            continue;
        }
        let process = model.process_of(size.thread);
        let (direction, end) = match size.by {
            MessageSizeOf::Publisher(_, id) => {
                let publisher = id.map(|id| &model.publishers[id.index()]);
                ("published", publisher.map(|it| (it.node, &it.topic)))
            }
            MessageSizeOf::Subscription(_, id) => {
                let subscription = id.map(|id| &model.subscriptions[id.index()]);
                ("taken", subscription.map(|it| (it.node, &it.topic)))
            }
        };
        let node = end.and_then(|(node, _)| model.node_name(node));
        take(&cells! {
            model.host_name(process), pid(model, process), node.unwrap_or_default(),
            end.map_or("", |(_, topic)| topic), direction, size.time, size.bytes,
        })?;
    }
    Ok(())
}

pub(super) const MEMORY_USAGE: Table = Table {
    name: "memory_usage",
    about: "What a process had allocated at an instant, about once a millisecond where it changed, and at its peak.",
    columns: columns! {
        HOST,
        PID_IF_KNOWN,
        TID_IF_NO_PROCESS,
        time "time_ns" "When.",
        integer "bytes" "Bytes in use that were allocated during the recording.",
        integer "blocks" "Blocks in use that were allocated during the recording.",
        flag "uncertain" "Whether events were lost, so that it may be too much or too little.",
    },
    rows: memory_usage,
};

fn memory_usage(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for of_process in analysis.memory.iter().flat_map(|memory| &memory.processes) {
        for usage in &of_process.series {
            if !analysis.counts(usage.time) {
                continue;
            }
            take(&cells! {
                model.hosts[of_process.host.index()].name.as_str(),
                of_process.process.map(|process| pid(model, process)), of_process.tid, usage.time,
                usage.bytes, usage.blocks, of_process.uncertain,
            })?;
        }
    }
    Ok(())
}

pub(super) const MEMORY_TOTALS: Table = Table {
    name: "memory_totals",
    about: "What a process allocated and freed in all.",
    columns: columns! {
        HOST,
        PID_IF_KNOWN,
        TID_IF_NO_PROCESS,
        text "process" "Its name; empty if unknown.",
        ALLOCATIONS,
        ALLOCATED_BYTES,
        integer "frees" "Blocks freed that were allocated during the recording.",
        integer "freed_bytes" "Bytes freed that were allocated during the recording.",
        integer "unknown_frees" "Blocks freed that are older than the recording, or whose allocation was lost.",
        time? "peak_at_ns" "When most bytes were in use.",
        integer? "peak_bytes" "Most bytes in use.",
        flag "uncertain" "Whether events were lost.",
    },
    rows: memory_totals,
};

fn memory_totals(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for of_process in analysis.memory.iter().flat_map(|memory| &memory.processes) {
        let totals = &of_process.totals;
        take(&cells! {
            model.hosts[of_process.host.index()].name.as_str(),
            of_process.process.map(|process| pid(model, process)), of_process.tid,
            of_process.name.as_str(), totals.allocations, totals.allocated_bytes, totals.frees,
            totals.freed_bytes, totals.unknown_frees, of_process.peak.map(|peak| peak.time),
            of_process.peak.map(|peak| peak.bytes), of_process.uncertain,
        })?;
    }
    Ok(())
}

pub(super) const CALLBACK_MEMORY: Table = Table {
    name: "callback_memory",
    about: "What one execution of a callback allocated and freed, if it did.",
    columns: columns! {
        PID,
        CALLBACK_NODE,
        CALLBACK_NAME,
        CALLBACK_START,
        ALLOCATIONS,
        ALLOCATED_BYTES,
        integer "frees" "Blocks freed.",
        integer "freed_bytes" "Bytes freed.",
        flag "uncertain" "Whether events were lost meanwhile.",
        INSTANCE,
    },
    rows: callback_memory,
};

fn callback_memory(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for memory in analysis.memory.iter().flat_map(|memory| &memory.instances) {
        let instance = analysis.instance(memory.instance);
        if !analysis.counts(instance.start) {
            continue;
        }
        let name = instance.callback.map(|id| analysis.names.callback(id));
        take(&cells! {
            pid(model, model.process_of(instance.thread)), node_of(model, instance.callback),
            name.unwrap_or_default(), instance.start, memory.allocations, memory.allocated_bytes,
            memory.frees, memory.freed_bytes, memory.uncertain, i64::from(memory.instance.0),
        })?;
    }
    Ok(())
}
