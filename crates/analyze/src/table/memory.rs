//! Allocations, where the trace has the events of LTTng's wrapper of the C library; and sizes of messages, where our own tracer
//! knows them.

use std::io;

use rostrace_model::flow::MessageSizeOf;

use super::describe::{node_of, pid};
use super::recurring::{CALLBACK_NAME, CALLBACK_NODE, CALLBACK_START, HOST, INSTANCE, NODE, PID};
use super::{Column, Sink, Table};
use crate::analysis::Analysis;

const PID_IF_TOLD: Column =
    Column::pid("pid", "Process; nothing if the trace tells none.").optional();

const TID_IF_NO_PROCESS: Column = Column::integer(
    "tid",
    "Thread, in place of a process that the trace does not tell.",
)
.optional();

const ALLOCATIONS: Column = Column::integer("allocations", "Blocks allocated.");

const ALLOCATED_BYTES: Column = Column::integer("allocated_bytes", "Bytes allocated.");

pub(super) const MESSAGE_SIZES: Table = Table {
    name: "message_sizes",
    about: "The size of one message that was published or taken in serialised form, in a recording of rostrace's own tracer.",
    columns: &[
        HOST,
        PID,
        NODE,
        Column::topic("topic", "Topic; empty if the trace does not name it."),
        Column::text("direction", "`published` or `taken`."),
        Column::time("time_ns", "When."),
        Column::integer("bytes", "Its size."),
    ],
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
        take(&[
            model.host_name(process).into(),
            pid(model, process).into(),
            node.unwrap_or_default().into(),
            end.map_or("", |(_, topic)| topic).into(),
            direction.into(),
            size.time.into(),
            size.bytes.into(),
        ])?;
    }
    Ok(())
}

pub(super) const MEMORY_USAGE: Table = Table {
    name: "memory_usage",
    about: "What a process had allocated at an instant, about once a millisecond where it changed, and at its peak.",
    columns: &[
        HOST,
        PID_IF_TOLD,
        TID_IF_NO_PROCESS,
        Column::time("time_ns", "When."),
        Column::integer(
            "bytes",
            "Bytes in use that were allocated during the recording.",
        ),
        Column::integer(
            "blocks",
            "Blocks in use that were allocated during the recording.",
        ),
        Column::flag(
            "uncertain",
            "Whether events were lost, so that it may be too much or too little.",
        ),
    ],
    rows: memory_usage,
};

fn memory_usage(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for of_process in analysis.memory.iter().flat_map(|memory| &memory.processes) {
        for usage in &of_process.series {
            if !analysis.counts(usage.time) {
                continue;
            }
            take(&[
                model.hosts[of_process.host.index()].name.as_str().into(),
                of_process.process.map(|process| pid(model, process)).into(),
                of_process.tid.into(),
                usage.time.into(),
                usage.bytes.into(),
                usage.blocks.into(),
                of_process.uncertain.into(),
            ])?;
        }
    }
    Ok(())
}

pub(super) const MEMORY_TOTALS: Table = Table {
    name: "memory_totals",
    about: "What a process allocated and freed in all.",
    columns: &[
        HOST,
        PID_IF_TOLD,
        TID_IF_NO_PROCESS,
        Column::text("process", "Its name; empty if the trace does not tell."),
        ALLOCATIONS,
        ALLOCATED_BYTES,
        Column::integer(
            "frees",
            "Blocks freed that were allocated during the recording.",
        ),
        Column::integer(
            "freed_bytes",
            "Bytes freed that were allocated during the recording.",
        ),
        Column::integer(
            "unknown_frees",
            "Blocks freed that are older than the recording, or whose allocation was lost.",
        ),
        Column::time("peak_at_ns", "When most bytes were in use.").optional(),
        Column::integer("peak_bytes", "Most bytes in use.").optional(),
        Column::flag("uncertain", "Whether events were lost."),
    ],
    rows: memory_totals,
};

fn memory_totals(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for of_process in analysis.memory.iter().flat_map(|memory| &memory.processes) {
        let totals = &of_process.totals;
        take(&[
            model.hosts[of_process.host.index()].name.as_str().into(),
            of_process.process.map(|process| pid(model, process)).into(),
            of_process.tid.into(),
            of_process.name.as_str().into(),
            totals.allocations.into(),
            totals.allocated_bytes.into(),
            totals.frees.into(),
            totals.freed_bytes.into(),
            totals.unknown_frees.into(),
            of_process.peak.map(|peak| peak.time).into(),
            of_process.peak.map(|peak| peak.bytes).into(),
            of_process.uncertain.into(),
        ])?;
    }
    Ok(())
}

pub(super) const CALLBACK_MEMORY: Table = Table {
    name: "callback_memory",
    about: "What one execution of a callback allocated and freed, if it did.",
    columns: &[
        PID,
        CALLBACK_NODE,
        CALLBACK_NAME,
        CALLBACK_START,
        ALLOCATIONS,
        ALLOCATED_BYTES,
        Column::integer("frees", "Blocks freed."),
        Column::integer("freed_bytes", "Bytes freed."),
        Column::flag("uncertain", "Whether events were lost meanwhile."),
        INSTANCE,
    ],
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
        take(&[
            pid(model, model.process_of(instance.thread)).into(),
            node_of(model, instance.callback).into(),
            name.unwrap_or_default().into(),
            instance.start.into(),
            memory.allocations.into(),
            memory.allocated_bytes.into(),
            memory.frees.into(),
            memory.freed_bytes.into(),
            memory.uncertain.into(),
            i64::from(memory.instance.0).into(),
        ])?;
    }
    Ok(())
}
