//! From a message that came into a node to one that went out because of it: who says so, and how long that took.
//!
//! A pair of messages is one row, by the best witness: what was observed (the output was published inside the execution that received the
//! input, or that took it by hand), then what the program declared in the trace ([`message_link`](crate::message_link)), then the message contexts of
//! an architecture file, if the analysis has one. What nobody says of a message that was stored is assumed ([`stored_input`](crate::stored_input)).

use std::collections::{BTreeMap, HashSet};
use std::io;

use rostrace_architecture::node_path::{NodePath, node_paths};
use rostrace_architecture::{ContextType, Node};
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{CallbackOwner, InstanceId, NodeId, PublicationId, SubscriptionId};
use rostrace_model::flow::Take;

use crate::activity::Activity;
use crate::analysis::Analysis;
use crate::declared::Style;
use crate::declared::records::Event;
use crate::declared::tables::Indexed;
use crate::flow_path::FlowPaths;
use crate::message_link::linked_messages;

/// Who says that an output was made from an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// It was published inside the execution that received the other one.
    Observed,
    /// It was published inside the execution that had taken the other one by hand, and nothing newer of that subscription.
    Taken,
    /// The program: from the newest message of each linked subscription.
    PeriodicAsync,
    /// The program: from the newest message of each linked subscription since the output before.
    PartialSync,
    /// An architecture file.
    Context(ContextType),
    /// Nobody: it was stored since the output before, as it usually is.
    Assumed,
}

impl Basis {
    pub fn name(self) -> &'static str {
        match self {
            Basis::Observed => "observed",
            Basis::Taken => "taken",
            Basis::PeriodicAsync => "message_link_periodic_async",
            Basis::PartialSync => "message_link_partial_sync",
            Basis::Context(context) => context.keyword(),
            Basis::Assumed => "assumed",
        }
    }
}

/// An output, and one input that it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLatency {
    /// Nothing if the trace does not name it.
    pub node: Option<NodeId>,
    pub subscription: SubscriptionId,
    /// Nothing if the trace does not have it.
    pub input: Option<PublicationId>,
    /// When the callback that received the input started, or when it was taken by hand.
    pub received: Nanos,
    pub output: PublicationId,
    pub basis: Basis,
}

impl NodeLatency {
    pub fn latency(&self, analysis: &Analysis<'_>) -> i64 {
        analysis.publication(self.output).publish.0 - self.received.0
    }

    /// Whether events were lost meanwhile.
    pub fn is_damaged(&self, analysis: &Analysis<'_>) -> bool {
        let publish = analysis.publication(self.output).publish;
        analysis.begins_late(self.output) || analysis.is_damaged(self.received, publish)
    }
}

type Sink<'s> = &'s mut dyn FnMut(&NodeLatency) -> io::Result<()>;

/// Hands over all pairs whose input was received in the window: first those that were observed, in the order of time, then those of each
/// declaration.
pub fn node_latencies(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let paths = FlowPaths::of(analysis);
    observed(analysis, &paths, take)?;
    let mut declared = Declared {
        analysis,
        paths,
        reported: HashSet::new(),
        take,
    };
    declared.by_hand()?;
    declared.by_program()?;
    declared.by_file()?;
    declared.by_assumption()
}

fn observed(analysis: &Analysis<'_>, paths: &FlowPaths<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for (index, instance) in model.instances.iter().enumerate() {
        let id = InstanceId::from_index(index);
        let Some(cause) = paths.cause(id).filter(|_| analysis.counts(instance.start)) else {
            continue;
        };
        let cause = analysis.delivery(cause);
        // Without a name there is no node to tell of.
        let Some(subscription) = cause.subscription else {
            continue;
        };
        let callback = instance.callback;
        for output in analysis.publications_in(id) {
            take(&NodeLatency {
                node: callback.and_then(|callback| model.node_of_callback(callback)),
                subscription,
                input: Some(cause.publication),
                received: instance.start,
                output: *output,
                basis: Basis::Observed,
            })?;
        }
    }
    Ok(())
}

/// What was taken by hand or is declared, and was not reported before.
struct Declared<'a, 's> {
    analysis: &'a Analysis<'a>,
    paths: FlowPaths<'a>,
    reported: HashSet<(SubscriptionId, Nanos, PublicationId)>,
    take: Sink<'s>,
}

impl Declared<'_, '_> {
    fn tell(&mut self, row: NodeLatency, instance: Option<InstanceId>) -> io::Result<()> {
        let inside = self.analysis.publication(row.output).instance;
        let was_observed = instance
            .filter(|instance| Some(*instance) == inside)
            .is_some_and(|instance| self.paths.cause(instance).is_some());
        let pair = (row.subscription, row.received, row.output);
        if was_observed || !self.analysis.counts(row.received) || !self.reported.insert(pair) {
            return Ok(());
        }
        (self.take)(&row)
    }

    fn by_hand(&mut self) -> io::Result<()> {
        let analysis = self.analysis;
        let model = analysis.model;
        for (instance, takes) in taken_inside(analysis) {
            for output in analysis.publications_in(instance) {
                let publish = analysis.publication(*output).publish;
                let before = takes.iter().filter(|take| take.time <= publish);
                let mut newest: BTreeMap<SubscriptionId, &Take> = BTreeMap::new();
                newest.extend(before.filter_map(|take| Some((take.subscription?, *take))));
                for (subscription, take) in newest {
                    let row = NodeLatency {
                        node: model.subscriptions[subscription.index()].node,
                        subscription,
                        input: take.publication,
                        received: take.time,
                        output: *output,
                        basis: Basis::Taken,
                    };
                    self.tell(row, None)?;
                }
            }
        }
        Ok(())
    }

    fn by_program(&mut self) -> io::Result<()> {
        let model = self.analysis.model;
        for linked in linked_messages(model) {
            let link = &model.message_links[linked.link];
            let row = NodeLatency {
                node: model.subscriptions[linked.subscription.index()].node,
                subscription: linked.subscription,
                input: linked.input,
                received: Nanos(linked.received),
                output: linked.output,
                basis: match link.partial_sync {
                    true => Basis::PartialSync,
                    false => Basis::PeriodicAsync,
                },
            };
            self.tell(row, linked.instance)?;
        }
        Ok(())
    }

    fn by_file(&mut self) -> io::Result<()> {
        let Some(architecture) = self.analysis.architecture else {
            return Ok(());
        };
        let indexed = Indexed::new(self.analysis.model, Style::Own);
        for node in &architecture.nodes {
            for path in &node_paths(node).paths {
                for life in indexed.objects.lives(node) {
                    self.node_path(&indexed, node, path, *life)?;
                }
            }
        }
        Ok(())
    }

    fn by_assumption(&mut self) -> io::Result<()> {
        let analysis = self.analysis;
        for (output, stored) in analysis.stored_inputs().pairs() {
            let delivery = analysis.delivery(stored);
            let (Some(instance), Some(subscription)) = (delivery.instance, delivery.subscription)
            else {
                continue;
            };
            let row = NodeLatency {
                node: analysis.model.subscriptions[subscription.index()].node,
                subscription,
                input: Some(delivery.publication),
                received: analysis.instance(instance).start,
                output,
                basis: Basis::Assumed,
            };
            self.tell(row, Some(instance))?;
        }
        Ok(())
    }

    /// One path through one life of a node.
    fn node_path(
        &mut self,
        indexed: &Indexed<'_>,
        node: &Node,
        path: &NodePath<'_>,
        life: NodeId,
    ) -> io::Result<()> {
        let (Some(context), Some(_), Some(_)) = (path.context, &path.subscription, &path.publisher)
        else {
            return Ok(());
        };
        let records = indexed.node_path_in(node, path, Some(life));
        for row in records.into_iter().flat_map(|it| it.rows) {
            let (Some(Some(begin)), Some(Some(end))) = (row.first(), row.last()) else {
                continue;
            };
            let (Some(received), Some(Event::Publish(output))) = (begin.event, end.event) else {
                continue;
            };
            let Some((subscription, input, instance)) = reception(indexed.model, received) else {
                continue;
            };
            let row = NodeLatency {
                node: Some(life),
                subscription,
                input,
                received: Nanos(begin.time),
                output,
                basis: Basis::Context(context.context_type),
            };
            self.tell(row, instance)?;
        }
        Ok(())
    }
}

/// What a subscription received, and in which instance of its callback, if not by hand.
fn reception(
    model: &Model,
    received: Event,
) -> Option<(SubscriptionId, Option<PublicationId>, Option<InstanceId>)> {
    match received {
        Event::Take(id) => {
            let take = &model.takes[id.index()];
            Some((take.subscription?, take.publication, None))
        }
        Event::Start(id) => {
            let instance = &model.instances[id.index()];
            let owner = model.callbacks[instance.callback?.index()].owner;
            let CallbackOwner::Subscription(subscription) = owner else {
                return None;
            };
            let taken = || model.takes[instance.take?.index()].publication;
            Some((subscription, instance.source.or_else(taken), Some(id)))
        }
        Event::Publish(_) | Event::End(_) => None,
    }
}

/// By execution: what was taken by hand in it, in the order of time.
fn taken_inside<'m>(analysis: &Analysis<'m>) -> BTreeMap<InstanceId, Vec<&'m Take>> {
    let mut inside: BTreeMap<InstanceId, Vec<&Take>> = BTreeMap::new();
    for take in &analysis.model.takes {
        if take.instance.is_some() || take.subscription.is_none() {
            continue;
        }
        let next = Nanos(take.time.0.saturating_add(1));
        let mut now = analysis.activities().spans(take.thread, take.time, next);
        if let Some(Activity::Callback(instance)) = now.next().map(|span| span.activity) {
            inside.entry(instance).or_default().push(take);
        }
    }
    for takes in inside.values_mut() {
        takes.sort_by_key(|take| take.time);
    }
    inside
}
