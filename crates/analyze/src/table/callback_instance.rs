//! Every execution of a callback.

use std::io;

use rostrace_model::entity::{CallbackId, InstanceId};

use super::callback::{KIND, SET_PERIOD};
use super::describe::{described, kind, pid};
use super::recurring::{
    BUILT_IN, CALLBACK_NAME, CALLBACK_NODE, CALLBACK_START, HOST, INSTANCE, PID, RAN_ON,
};
use super::{Column, Role, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::callback::{self, InstanceTiming};

const TRIGGER: Column = Column::text(
    "topic",
    "Topic of a subscription, or name of a service; empty for timers.",
)
.role(Role::TopicOrService);

pub(super) const CALLBACK_INSTANCES: Table = Table {
    name: "callback_instances",
    about: "One execution of a callback.",
    columns: columns! {
        HOST,
        PID,
        RAN_ON,
        CALLBACK_NODE,
        KIND,
        TRIGGER,
        SET_PERIOD,
        CALLBACK_START,
        time? "end_ns" "`callback_end`; nothing if it is unknown.",
        flag "intra_process" "Whether the message came from a publisher of the same process.",
        integer? "callback" "Number of the callback in `callbacks`; nothing if the trace does not name it.",
        CALLBACK_NAME,
        duration? "duration_ns" "Start to end.",
        duration? "period_observed_ns" "Since the start of the execution before.",
        duration? "gap_ns" "Since the end of the execution before; negative where they overlap.",
        duration? "jitter_ns" "Since the start of the execution before, less what the timer is set to.",
        time? "expected_ns" "When the timer was due; empty if that is not known.",
        duration? "lateness_ns" "From when the timer was due to the start.",
        count? "skipped" "Firings of the timer that were due since the one before and never happened.",
        text? "expected_by" "How it is known when the timer was due: by its `creation`, or by other `firings`.",
        flag "damaged" "Whether events were lost between start and end.",
        INSTANCE,
        BUILT_IN,
    },
    rows: callback_instances,
};

fn callback_instances(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let mut timings: Vec<Option<InstanceTiming>> = vec![None; model.instances.len()];
    for index in 0..model.callbacks.len() {
        for timing in callback::instance_timings(analysis, CallbackId::from_index(index)) {
            timings[timing.instance.index()] = Some(timing);
        }
    }
    for (index, timing) in timings.into_iter().enumerate() {
        let id = InstanceId::from_index(index);
        let instance = analysis.instance(id);
        if !analysis.counts(instance.start) {
            continue;
        }
        let thread = &model.threads[instance.thread.index()];
        let described = described(model, instance.callback);
        let name = instance.callback.map(|id| analysis.names.callback(id));
        let firing = timing.and_then(|timing| timing.firing);
        let period = timing.and_then(|timing| timing.period);
        take(&cells! {
            model.host_name(thread.process), pid(model, thread.process), thread.tid,
            described.node_name.unwrap_or_default(), kind(&described),
            described.topic_or_service().unwrap_or_default(), described.period, instance.start,
            instance.end, instance.intra_process, instance.callback.map(|id| i64::from(id.0)),
            name.unwrap_or_default(), instance.end.map(|end| end.0 - instance.start.0), period,
            timing.and_then(|timing| timing.gap),
            period.zip(described.period).map(|(period, set)| period - set.0),
            firing.map(|firing| firing.expected), firing.map(|firing| firing.lateness),
            firing.map(|firing| firing.skipped), firing.map(|firing| firing.basis.name()),
            analysis.is_execution_damaged(id), i64::from(id.0), described.built_in,
        })?;
    }
    Ok(())
}
