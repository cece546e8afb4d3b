//! Every execution of a callback.

use std::io;

use rostrace_model::entity::{CallbackId, InstanceId};

use super::callback::{KIND, SET_PERIOD};
use super::describe::{described, kind, pid};
use super::recurring::{
    BUILT_IN, CALLBACK_NAME, CALLBACK_NODE, CALLBACK_START, HOST, INSTANCE, PID, RAN_ON,
};
use super::{Column, Role, Sink, Table};
use crate::analysis::Analysis;
use crate::callback::{self, Execution};

const TRIGGER: Column = Column::text(
    "topic",
    "Topic of a subscription, or name of a service; empty for timers.",
)
.role(Role::TopicOrService);

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
        Column::count(
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
