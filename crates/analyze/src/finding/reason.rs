//! Why something did not come, or came late: what the recording tells of who should have sent a message or created a node. No more is claimed than that the
//! callbacks that could have done it did not run, ran elsewhere, or were kept; whether a program meant it so is not known.

use std::collections::BTreeSet;

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{CallbackId, CallbackOwner, NodeId, PublisherId, StateMachineId};

use crate::analysis::Analysis;

/// The end of the name of the service by which a container is told to create a node.
const LOAD_NODE: &str = "/_container/load_node";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The publishing node has a lifecycle, and was not in the state in which it publishes.
    Inactive { node: NodeId, state: String },
    /// The publishing node waits for messages only, and none of them came: this is one of the topics.
    Upstream { node: NodeId, topic: String },
    /// The same, of a topic that nothing recorded publishes.
    Unpublished { node: NodeId, topic: String },
    /// No callback of the publishing node ever ran.
    NothingRan { node: NodeId },
    /// The callback that published ran no more.
    RanNoMore { callback: CallbackId },
    /// The callback that published went on, without publishing there.
    WentOn { callback: CallbackId },
    /// The container creates nodes one after another, and took so long for one of them.
    Loading { callback: CallbackId, longest: i64 },
    /// The process began only then: so long after half of all nodes existed.
    BeganLate { after: i64 },
}

/// Why nothing came on a topic, as far as all of its publishers agree.
pub(super) fn never(
    analysis: &Analysis<'_>,
    publishers: &[PublisherId],
    silent: &BTreeSet<&str>,
) -> Option<Reason> {
    let nodes = publishers
        .iter()
        .map(|id| analysis.model.publishers[id.index()].node);
    let nodes: BTreeSet<Option<NodeId>> = nodes.collect();
    match nodes.into_iter().collect::<Vec<_>>().as_slice() {
        [Some(node)] => of_node(analysis, *node, silent),
        _ => None,
    }
}

fn of_node(analysis: &Analysis<'_>, node: NodeId, silent: &BTreeSet<&str>) -> Option<Reason> {
    let model = analysis.model;
    if let Some(state) = never_active(analysis, node) {
        return Some(Reason::Inactive { node, state });
    }
    let own = (0..model.callbacks.len()).map(CallbackId::from_index);
    let own: Vec<CallbackId> = own
        .filter(|id| model.node_of_callback(*id) == Some(node))
        .filter(|id| !built_in::callback(model, *id))
        .collect();
    let ran = |id: &CallbackId| !analysis.instances_of(*id).is_empty();
    // What publishes outside of callbacks needs none.
    if own.is_empty() || own.iter().any(ran) {
        return None;
    }
    let waits_for = |id: &CallbackId| match model.callbacks[id.index()].owner {
        CallbackOwner::Subscription(id) => Some(model.subscriptions[id.index()].topic.as_str()),
        _ => None,
    };
    let topics: Option<Vec<&str>> = own.iter().map(waits_for).collect();
    let Some(topics) = topics else {
        return Some(Reason::NothingRan { node });
    };
    let is_published = |topic: &str| model.publishers.iter().any(|it| it.topic == topic);
    if let Some(topic) = topics.iter().find(|topic| !is_published(topic)) {
        let topic = (*topic).to_owned();
        return Some(Reason::Unpublished { node, topic });
    }
    match topics.iter().find(|topic| silent.contains(**topic)) {
        Some(topic) => Some(Reason::Upstream {
            node,
            topic: (*topic).to_owned(),
        }),
        None => Some(Reason::NothingRan { node }),
    }
}

/// The last state of a node with a lifecycle that was never in the one in which it publishes.
fn never_active(analysis: &Analysis<'_>, node: NodeId) -> Option<String> {
    let model = analysis.model;
    let machines = model.state_machines.iter();
    let machine = machines.clone().position(|it| it.node == Some(node))?;
    let machine = StateMachineId::from_index(machine);
    let states = model.lifecycle_states.iter();
    let states: Vec<&str> = states
        .filter(|it| it.state_machine == machine)
        .map(|it| it.state.as_str())
        .collect();
    if states.contains(&"active") {
        return None;
    }
    Some((*states.last().unwrap_or(&"unconfigured")).to_owned())
}

/// Why a topic had no messages after an instant, from who sent the last one.
pub(super) fn stopped(
    analysis: &Analysis<'_>,
    publisher: PublisherId,
    last: Nanos,
    period: i64,
) -> Option<Reason> {
    let published = analysis.publications_of(publisher).iter();
    let published = published.map(|id| analysis.publication(*id));
    let sent = published.max_by_key(|it| it.publish)?;
    let callback = analysis.instance(sent.instance?).callback?;
    let later = Nanos(last.0.saturating_add(2 * period));
    let mut runs = analysis.instances_of(callback).iter();
    let goes_on = runs.any(|id| analysis.instance(*id).start > later);
    Some(match goes_on {
        true => Reason::WentOn { callback },
        false => Reason::RanNoMore { callback },
    })
}

/// Why a node was created only so long after half of all.
pub(super) fn late_node(analysis: &Analysis<'_>, node: NodeId, half: Nanos) -> Option<Reason> {
    let model = analysis.model;
    let node = &model.nodes[node.index()];
    let after = node.created.0 - half.0;
    let mut longest: Option<(i64, CallbackId)> = None;
    for (index, callback) in model.callbacks.iter().enumerate() {
        let CallbackOwner::Service(service) = callback.owner else {
            continue;
        };
        let is_load = model.services[service.index()].name.ends_with(LOAD_NODE);
        if callback.process != node.process || !is_load {
            continue;
        }
        let id = CallbackId::from_index(index);
        for run in analysis.instances_of(id) {
            let run = analysis.instance(*run);
            // The one that created it lasts on; its time until then counts.
            let until = run.end.unwrap_or(node.created).min(node.created);
            let took = until.0 - run.start.0;
            if took > 0 && longest.is_none_or(|(most, _)| took > most) {
                longest = Some((took, id));
            }
        }
    }
    if let Some((longest, callback)) = longest.filter(|(longest, _)| 2 * longest >= after) {
        return Some(Reason::Loading { callback, longest });
    }
    let (began, _) = model.processes[node.process.index()].recorded();
    let after_half = began.0 - half.0;
    (2 * after_half >= after).then_some(Reason::BeganLate { after: after_half })
}

impl Reason {
    /// Whether two are reported together; of amounts the largest is.
    fn is_like(&self, other: &Reason) -> bool {
        match (self, other) {
            (Reason::Loading { callback: a, .. }, Reason::Loading { callback: b, .. }) => a == b,
            (Reason::BeganLate { .. }, Reason::BeganLate { .. }) => true,
            _ => self == other,
        }
    }
}

/// How many have each reason, the commonest first; those without one are not counted.
pub(super) fn counted(reasons: impl Iterator<Item = Reason>) -> Vec<(Reason, u64)> {
    let mut counted: Vec<(Reason, u64)> = Vec::new();
    for reason in reasons {
        match counted.iter_mut().find(|(other, _)| reason.is_like(other)) {
            Some((other, number)) => {
                *number += 1;
                *other = reason.max(other.clone());
            }
            None => counted.push((reason, 1)),
        }
    }
    counted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counted
}
