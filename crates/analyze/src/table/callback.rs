//! Callbacks: summarised, and every execution.

use std::io;

use rostrace_trace::describe::Description;
use rostrace_trace::entity::{CallbackId, InstanceId};

use super::describe::{described, kind, pid};
use super::recurring::{
    BUILT_IN, CALLBACK_NAME, CALLBACK_NODE, CALLBACK_START, HOST, INSTANCE, PID, RAN_ON,
};
use super::statistics_columns::{
    columns, frequency_cells, frequency_columns, statistics_cells, statistics_columns,
};
use super::{Cell, Column, Sink, Table};
use crate::analysis::Analysis;
use crate::callback::{self, Execution};

const KIND: Column = Column::text(
    "kind",
    "`timer`, `subscription`, `service` or `client`; empty if the trace does not tell.",
);

const TRIGGER: Column = Column::text(
    "topic",
    "Topic of a subscription, or name of a service; empty for timers.",
);

const SET_PERIOD: Column = Column::duration("period_ns", "What a timer is set to.").optional();

pub(super) const CALLBACKS: Table = Table {
    name: "callbacks",
    about: "One callback of one process, summarised.",
    columns: columns![
        [
            Column::integer(
                "callback",
                "Number of the callback, for `callback_instances`."
            ),
            Column::text(
                "name",
                "As people say it: `/fusion ← /points`, `/planner · timer 100 ms`."
            ),
            HOST,
            PID,
            Column::text(
                "node",
                "Node that it belongs to; empty if the trace does not name it."
            ),
            KIND,
            TRIGGER,
            SET_PERIOD,
            Column::text(
                "symbol",
                "Function that is called, as far as the trace tells."
            ),
            Column::integer("count", "Executions."),
            Column::number(
                "rate_hz",
                "Executions per second between the first and the last; `rates` has them second by second."
            )
            .optional(),
        ],
        frequency_columns!("frequency", "number of starts in a second"),
        statistics_columns!("duration", "duration: start to end"),
        statistics_columns!("period_observed", "time from one start to the next"),
        statistics_columns!(
            "gap",
            "time from an end to the next start; negative where executions overlap"
        ),
        statistics_columns!(
            "jitter",
            "observed period less the one that the timer is set to"
        ),
        statistics_columns!(
            "lateness",
            "time from when it should have begun (a timer was due, a message was published) to its start"
        ),
        [
            Column::integer(
                "skipped",
                "Firings of a timer that were due and never happened."
            ),
            Column::number(
                "utilisation",
                "Time in the callback, divided by the time in which its process was observed."
            )
            .optional(),
            Column::number(
                "hurt",
                "Longest duration or largest lateness, whichever is larger, divided by the period."
            )
            .optional(),
            Column::integer(
                "damaged",
                "Executions that touch a time in which events were lost."
            ),
            BUILT_IN,
        ],
    ],
    rows: callbacks,
};

fn callbacks(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for summary in callback::summaries(analysis) {
        let id = summary.callback;
        let callback = &model.callbacks[id.index()];
        let described = Description::of(model, id);
        let mut cells: Vec<Cell<'_>> = vec![
            i64::from(id.0).into(),
            analysis.names.callback(id).into(),
            model.host_name(callback.process).into(),
            pid(model, callback.process).into(),
            described.node_name.unwrap_or_default().into(),
            kind(&described).into(),
            described.topic_or_service().unwrap_or_default().into(),
            described.period.into(),
            described.symbol.unwrap_or_default().into(),
            summary.count.into(),
            summary.rate.into(),
        ];
        cells.extend(frequency_cells(summary.frequency.as_ref()));
        for statistics in [
            &summary.duration,
            &summary.period,
            &summary.gap,
            &summary.jitter,
            &summary.lateness,
        ] {
            cells.extend(statistics_cells(statistics.as_ref()));
        }
        cells.extend([
            Cell::from(summary.skipped),
            summary.utilisation.into(),
            summary.hurt(analysis).into(),
            summary.damaged.into(),
            described.built_in.into(),
        ]);
        take(&cells)?;
    }
    Ok(())
}

pub(super) const CALLBACK_INSTANCES: Table = Table {
    name: "callback_instances",
    about: "One execution of a callback.",
    columns: &[
        HOST,
        PID,
        RAN_ON,
        CALLBACK_NODE,
        KIND,
        TRIGGER,
        SET_PERIOD,
        CALLBACK_START,
        Column::time("end_ns", "`callback_end`; nothing if it is unknown.").optional(),
        Column::flag(
            "intra_process",
            "Whether the message came from a publisher of the same process.",
        ),
        Column::integer(
            "callback",
            "Number of the callback in `callbacks`; nothing if the trace does not name it.",
        )
        .optional(),
        CALLBACK_NAME,
        Column::duration("duration_ns", "Start to end.").optional(),
        Column::duration(
            "period_observed_ns",
            "Since the start of the execution before.",
        )
        .optional(),
        Column::duration(
            "gap_ns",
            "Since the end of the execution before; negative where they overlap.",
        )
        .optional(),
        Column::duration(
            "jitter_ns",
            "Since the start of the execution before, less what the timer is set to.",
        )
        .optional(),
        Column::time(
            "expected_ns",
            "When the timer was due; empty if that is not known.",
        )
        .optional(),
        Column::duration("lateness_ns", "From when the timer was due to the start.").optional(),
        Column::integer(
            "skipped",
            "Firings of the timer that were due since the one before and never happened.",
        )
        .optional(),
        Column::text(
            "expected_by",
            "How it is known when the timer was due: by its `creation`, or by other `firings`.",
        )
        .optional(),
        Column::flag("damaged", "Whether events were lost between start and end."),
        INSTANCE,
        BUILT_IN,
    ],
    rows: callback_instances,
};

fn callback_instances(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let mut executions: Vec<Option<Execution>> = vec![None; model.instances.len()];
    for index in 0..model.callbacks.len() {
        for execution in callback::executions(analysis, CallbackId::from_index(index)) {
            executions[execution.instance.index()] = Some(execution);
        }
    }
    for (index, execution) in executions.into_iter().enumerate() {
        let id = InstanceId::from_index(index);
        let instance = analysis.instance(id);
        if !analysis.counts(instance.start) {
            continue;
        }
        let thread = &model.threads[instance.thread.index()];
        let described = described(model, instance.callback);
        let name = instance.callback.map(|id| analysis.names.callback(id));
        let firing = execution.and_then(|execution| execution.firing);
        let period = execution.and_then(|execution| execution.period);
        take(&[
            model.host_name(thread.process).into(),
            pid(model, thread.process).into(),
            thread.tid.into(),
            described.node_name.unwrap_or_default().into(),
            kind(&described).into(),
            described.topic_or_service().unwrap_or_default().into(),
            described.period.into(),
            instance.start.into(),
            instance.end.into(),
            instance.intra_process.into(),
            instance.callback.map(|id| i64::from(id.0)).into(),
            name.unwrap_or_default().into(),
            instance.end.map(|end| end.0 - instance.start.0).into(),
            period.into(),
            execution.and_then(|execution| execution.gap).into(),
            period
                .zip(described.period)
                .map(|(period, set)| period - set.0)
                .into(),
            firing.map(|firing| firing.expected).into(),
            firing.map(|firing| firing.lateness).into(),
            firing.map(|firing| firing.skipped).into(),
            firing.map(|firing| firing.basis.name()).into(),
            analysis.is_execution_damaged(id).into(),
            i64::from(id.0).into(),
            described.built_in.into(),
        ])?;
    }
    Ok(())
}
