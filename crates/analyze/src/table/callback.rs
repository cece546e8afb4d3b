//! Executions of callbacks.

use std::io;

use super::describe::{Owner, node_of, pid};
use super::{Column, Sink, Table};
use crate::analysis::Analysis;

pub(super) const CALLBACK_INSTANCES: Table = Table {
    name: "callback_instances",
    about: "One execution of a callback.",
    columns: &[
        Column::text("host", "Name of the machine."),
        Column::integer("pid", "Process."),
        Column::integer("tid", "Thread that it ran on."),
        Column::text(
            "node",
            "Node that the callback belongs to; empty if the trace does not name it.",
        ),
        Column::text(
            "kind",
            "`timer`, `subscription`, `service` or `client`; empty if the trace does not tell.",
        ),
        Column::text(
            "topic",
            "Topic of a subscription, or name of a service; empty for timers.",
        ),
        Column::duration("period_ns", "What a timer is set to.").optional(),
        Column::time("start_ns", "`callback_start`."),
        Column::time("end_ns", "`callback_end`; nothing if it is unknown.").optional(),
        Column::flag(
            "intra_process",
            "Whether the message came from a publisher of the same process.",
        ),
        Column::text(
            "symbol",
            "Function that was called, as far as the trace tells.",
        ),
    ],
    rows: callback_instances,
};

fn callback_instances(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for instance in &model.instances {
        if !analysis.counts(instance.start) {
            continue;
        }
        let thread = &model.threads[instance.thread.index()];
        let owner = Owner::of(model, instance.callback);
        let callback = instance.callback.map(|id| &model.callbacks[id.index()]);
        let symbol = callback.and_then(|callback| callback.symbol.as_deref());
        take(&[
            model.host_name(thread.process).into(),
            pid(model, thread.process).into(),
            thread.tid.into(),
            node_of(model, instance.callback).into(),
            owner.kind.into(),
            owner.topic.into(),
            owner.period.into(),
            instance.start.into(),
            instance.end.into(),
            instance.intra_process.into(),
            symbol.unwrap_or_default().into(),
        ])?;
    }
    Ok(())
}
