//! Callbacks, by node, kind, trigger and a number that tells equal ones of a node apart.

use std::collections::{BTreeMap, HashMap};

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::{CallbackKind, Description, names};
use rostrace_model::entity::{CallbackId, CallbackOwner, NodeId, ProcessId};

use super::series::Series;
use crate::analysis::Analysis;
use crate::callback::instance_timings;
use crate::selection::Selection;

/// One callback as people know it, whichever process or life of its node it belongs to.
#[derive(Debug, Clone)]
pub struct MeasuredCallback {
    pub node: String,
    pub kind: CallbackKind,
    /// A topic, a service, or `timer 100 ms`.
    pub trigger: String,
    /// Made by rclcpp or by a recorder.
    pub built_in: bool,
    /// From 1: several of the same trigger that a node has at the same time.
    pub ordinal: usize,
    /// As people say it.
    pub name: String,
    pub symbol: Option<String>,
    pub executions: u64,
    /// Start to end.
    pub duration: Series,
    /// Start to next start.
    pub period: Series,
    /// When it should have begun to when it did.
    pub lateness: Series,
    /// Of executions whose end and whose next start are known: the duration, and the time to that next start.
    pub cycles: Vec<(i64, i64)>,
    /// When executions began, in the order of time.
    pub starts: Vec<Nanos>,
    /// Executions that touch a time in which events were lost.
    pub damaged: u64,
}

impl MeasuredCallback {
    /// Time in the callback, divided by the time from its first start to its last.
    pub fn load(&self) -> Option<f64> {
        let busy: i128 = self.cycles.iter().map(|(busy, _)| i128::from(*busy)).sum();
        let whole: i128 = self.cycles.iter().map(|(_, all)| i128::from(*all)).sum();
        (whole > 0).then(|| busy as f64 / whole as f64)
    }
}

type CallbackKey = (String, CallbackKind, String, usize);

pub(super) fn measured(
    analysis: &Analysis<'_>,
    selection: &Selection,
    with_built_in: bool,
) -> Vec<MeasuredCallback> {
    let model = analysis.model;
    let ordinals = ordinals(model);
    let mut found: BTreeMap<CallbackKey, MeasuredCallback> = BTreeMap::new();
    for (index, callback) in model.callbacks.iter().enumerate() {
        let id = CallbackId::from_index(index);
        let described = Description::of(model, id);
        let Some(trigger) = described.trigger() else {
            continue;
        };
        let kind = described.kind;
        let node = names::of_node(model, described.node);
        let wanted = selection.fits_node(Some(node))
            && selection.fits_topic(described.topic)
            && selection.fits_pid(model.processes[callback.process.index()].pid)
            && (with_built_in || !described.built_in);
        if !wanted {
            continue;
        }
        let ordinal = ordinals[index];
        let key = (node.to_owned(), kind, trigger.clone(), ordinal);
        let measured = found.entry(key).or_insert_with(|| MeasuredCallback {
            node: node.to_owned(),
            kind,
            trigger,
            built_in: described.built_in,
            ordinal,
            name: match ordinal {
                1 => analysis.names.unnumbered(id).to_owned(),
                _ => format!("{} #{ordinal}", analysis.names.unnumbered(id)),
            },
            symbol: callback.symbol.clone(),
            executions: 0,
            duration: Series::default(),
            period: Series::default(),
            lateness: Series::default(),
            cycles: Vec::new(),
            starts: Vec::new(),
            damaged: 0,
        });
        add(analysis, id, measured);
    }
    let mut callbacks: Vec<MeasuredCallback> = found.into_values().collect();
    for callback in &mut callbacks {
        callback.duration.sort();
        callback.period.sort();
        callback.lateness.sort();
        callback.starts.sort_unstable();
    }
    callbacks
}

fn add(analysis: &Analysis<'_>, id: CallbackId, measured: &mut MeasuredCallback) {
    let mut before: Option<i64> = None;
    for timing in instance_timings(analysis, id) {
        let instance = analysis.instance(timing.instance);
        let at = instance.start;
        let damaged = u64::from(analysis.is_execution_damaged(timing.instance));
        measured.executions += 1;
        measured.starts.push(at);
        measured.damaged += damaged;
        let duration = instance.end.map(|end| end.0.saturating_sub(at.0));
        if let Some(duration) = duration {
            measured.duration.push(duration, at);
        }
        // Also one whose end was lost: that its duration is missing is damage too.
        measured.duration.damaged += damaged;
        if let Some(period) = timing.period {
            measured.period.push(period, at);
            measured
                .cycles
                .extend(before.map(|duration| (duration, period)));
        }
        before = duration;
        if let Some(lateness) = timing.lateness(analysis) {
            measured.lateness.push(lateness, at);
            let since = Nanos(at.0.saturating_sub(lateness.max(0)));
            measured.lateness.damaged += u64::from(analysis.is_damaged(since, at));
        }
    }
}

/// By callback: the smallest number that no other one of the same node and trigger had when it was created.
fn ordinals(model: &Model) -> Vec<usize> {
    type Home = (ProcessId, Option<NodeId>, CallbackKind, String);
    let mut taken: HashMap<Home, Vec<(usize, Option<Nanos>)>> = HashMap::new();
    let callbacks = model.callbacks.iter().enumerate();
    callbacks
        .map(|(index, callback)| {
            let id = CallbackId::from_index(index);
            let described = Description::of(model, id);
            let Some(trigger) = described.trigger() else {
                return 1;
            };
            let home = (callback.process, described.node, described.kind, trigger);
            let others = taken.entry(home).or_default();
            let (created, ended) = lifetime(model, callback.owner, callback.created);
            others.retain(|(_, ended)| ended.is_none_or(|ended| ended > created));
            let is_free = |number: &usize| others.iter().all(|(other, _)| other != number);
            let ordinal = (1..).find(is_free).unwrap_or(1);
            others.push((ordinal, ended));
            ordinal
        })
        .collect()
}

fn lifetime(model: &Model, owner: CallbackOwner, created: Nanos) -> (Nanos, Option<Nanos>) {
    match owner {
        CallbackOwner::Timer(id) => {
            let timer = &model.timers[id.index()];
            (timer.created, timer.ended)
        }
        CallbackOwner::Subscription(id) => {
            let subscription = &model.subscriptions[id.index()];
            (subscription.created, subscription.ended)
        }
        CallbackOwner::Service(id) => {
            let service = &model.services[id.index()];
            (service.created, service.ended)
        }
        CallbackOwner::Unknown => (created, None),
    }
}
