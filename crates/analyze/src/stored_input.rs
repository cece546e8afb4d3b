//! Messages that a node stored and used for a later output: those of a fusion, where whichever input comes last publishes what was made from
//! all of them (`message_filters` works like this), and those that wait for another input to publish.
//!
//! No event tells of this, so it is assumed, from the rhythm of a node alone. An output that was published in the callback of one subscription
//! was also made from the newest message of another subscription of the node, if
//!
//! - that message came after the output before, and nothing was published with this publisher when it came;
//! - the other subscription's callback publishes with this publisher at times (then the same must hold the other way round: of a multiplexer it
//!   does not), or never publishes at all (else it makes outputs of its own);
//! - this is so for more than half of the outputs that the first subscription caused: what seldom comes between is not what an output waits for.
//!
//! A message is used once, as the first answer to it. What timers publish is not looked at: [`declared`](crate::declared) paths follow that.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{
    CallbackOwner, DeliveryId, InstanceId, NodeId, PublicationId, PublisherId, SubscriptionId,
};

use crate::analysis::Analysis;
use crate::flow_path::cause;

/// Which stored messages outputs are assumed to be made from.
#[derive(Debug, Default)]
pub struct StoredInputs {
    inputs: HashMap<PublicationId, Vec<DeliveryId>>,
    outputs: HashMap<InstanceId, Vec<PublicationId>>,
}

/// When a message was received, in which execution, and how it came.
type Stored = (Nanos, InstanceId, DeliveryId);

/// An output, the subscription that caused it, and what others had stored by then.
struct Output {
    publication: PublicationId,
    trigger: SubscriptionId,
    stored: Vec<(SubscriptionId, InstanceId, DeliveryId)>,
}

impl StoredInputs {
    pub(crate) fn of(analysis: &Analysis<'_>) -> StoredInputs {
        let model = analysis.model;
        let mut subscriptions: HashMap<NodeId, Vec<SubscriptionId>> = HashMap::new();
        for (index, subscription) in model.subscriptions.iter().enumerate() {
            let is_own = !built_in::topic(&subscription.topic);
            if let Some(node) = subscription.node.filter(|_| is_own) {
                let of_node = subscriptions.entry(node).or_default();
                of_node.push(SubscriptionId::from_index(index));
            }
        }
        let mut publishing: HashMap<SubscriptionId, BTreeSet<PublisherId>> = HashMap::new();
        for publication in &model.publications {
            let trigger = publication.instance.and_then(|it| trigger(analysis, it));
            if let (Some(trigger), Some(publisher)) = (trigger, publication.publisher) {
                publishing.entry(trigger).or_default().insert(publisher);
            }
        }
        let mut found = StoredInputs::default();
        for (index, publisher) in model.publishers.iter().enumerate() {
            let id = PublisherId::from_index(index);
            let of_node = publisher.node.and_then(|node| subscriptions.get(&node));
            let may_be_input = |it: &&SubscriptionId| {
                (publishing.get(it)).is_none_or(|publishers| publishers.contains(&id))
            };
            let inputs: Vec<SubscriptionId> = (of_node.into_iter().flatten())
                .filter(may_be_input)
                .copied()
                .collect();
            let is_caused = inputs.iter().any(|it| publishing.contains_key(it));
            if is_caused && inputs.len() > 1 && !built_in::topic(&publisher.topic) {
                found.add(&outputs(analysis, id, &inputs));
            }
        }
        found
    }

    /// What was stored that an output was made from.
    pub fn inputs_of(&self, output: PublicationId) -> &[DeliveryId] {
        self.inputs.get(&output).map_or(&[], Vec::as_slice)
    }

    /// The outputs that were made from what an execution stored.
    pub fn outputs_of(&self, stored_by: InstanceId) -> &[PublicationId] {
        self.outputs.get(&stored_by).map_or(&[], Vec::as_slice)
    }

    /// The ways through nodes on which stored messages were used: node, topic of the input, topic of the output.
    pub fn node_paths(&self, analysis: &Analysis<'_>) -> BTreeSet<[String; 3]> {
        let model = analysis.model;
        let way = |(output, input): (PublicationId, DeliveryId)| {
            let publisher = analysis.publication(output).publisher?;
            let publisher = &model.publishers[publisher.index()];
            let subscription = analysis.delivery(input).subscription?;
            let subscription = &model.subscriptions[subscription.index()];
            let node = model.node_name(publisher.node)?;
            Some([node, &subscription.topic, &publisher.topic].map(str::to_owned))
        };
        self.pairs().filter_map(way).collect()
    }

    /// All outputs, in the order of their numbers, each with one input.
    pub fn pairs(&self) -> impl Iterator<Item = (PublicationId, DeliveryId)> {
        let sorted: BTreeMap<_, _> = self.inputs.iter().collect();
        sorted.into_iter().flat_map(|(output, inputs)| {
            let inputs = inputs.iter();
            inputs.map(|input| (*output, *input))
        })
    }

    fn add(&mut self, outputs: &[Output]) {
        let mut caused: HashMap<SubscriptionId, usize> = HashMap::new();
        let mut together: HashMap<(SubscriptionId, SubscriptionId), usize> = HashMap::new();
        for output in outputs {
            *caused.entry(output.trigger).or_default() += 1;
            for (stored, ..) in &output.stored {
                *together.entry((output.trigger, *stored)).or_default() += 1;
            }
        }
        let is_usual = |trigger: SubscriptionId, stored: SubscriptionId| {
            let number = together.get(&(trigger, stored)).copied();
            number.unwrap_or(0) * 2 > caused[&trigger]
        };
        for output in outputs {
            for (stored, instance, delivery) in &output.stored {
                let is_mutual = !caused.contains_key(stored) || is_usual(*stored, output.trigger);
                if is_mutual && is_usual(output.trigger, *stored) {
                    let inputs = self.inputs.entry(output.publication).or_default();
                    inputs.push(*delivery);
                    let outputs = self.outputs.entry(*instance).or_default();
                    outputs.push(output.publication);
                }
            }
        }
    }
}

/// The subscription whose callback an execution was.
fn trigger(analysis: &Analysis<'_>, instance: InstanceId) -> Option<SubscriptionId> {
    let callback = analysis.instance(instance).callback?;
    match analysis.model.callbacks[callback.index()].owner {
        CallbackOwner::Subscription(subscription) => Some(subscription),
        _ => None,
    }
}

/// What a publisher sent from callbacks of subscriptions, each with what others of its node had stored since the output before.
fn outputs(
    analysis: &Analysis<'_>,
    publisher: PublisherId,
    inputs: &[SubscriptionId],
) -> Vec<Output> {
    let stored: Vec<(SubscriptionId, Vec<Stored>)> = inputs
        .iter()
        .map(|subscription| (*subscription, storing(analysis, *subscription, publisher)))
        .collect();
    let mut found = Vec::new();
    // What one execution published, it made from the same inputs.
    let mut of_execution: Option<(InstanceId, Nanos)> = None;
    let mut before = Nanos(i64::MIN);
    for id in analysis.publications_of(publisher) {
        let publication = analysis.publication(*id);
        let since = match of_execution {
            Some((instance, since)) if publication.instance == Some(instance) => since,
            _ => before,
        };
        before = publication.publish;
        of_execution = publication.instance.map(|instance| (instance, since));
        let Some(trigger) = publication.instance.and_then(|it| trigger(analysis, it)) else {
            continue;
        };
        let others = stored.iter().filter(|(other, _)| *other != trigger);
        let newest = others.filter_map(|(other, executions)| {
            let after = executions.partition_point(|(start, ..)| *start <= publication.publish);
            let (start, instance, delivery) = executions[..after].last()?;
            (*start > since).then_some((*other, *instance, *delivery))
        });
        found.push(Output {
            publication: *id,
            trigger,
            stored: newest.collect(),
        });
    }
    found
}

/// The executions of a subscription that received a message and published nothing with a publisher, in the order of time.
fn storing(
    analysis: &Analysis<'_>,
    subscription: SubscriptionId,
    publisher: PublisherId,
) -> Vec<Stored> {
    let callback = analysis.model.subscriptions[subscription.index()].callback;
    let executions = callback.map_or(&[][..], |callback| analysis.instances_of(callback));
    let stored = executions.iter().filter_map(|id| {
        let mut published = analysis.publications_in(*id).iter();
        let is_passed_on =
            published.any(|it| analysis.publication(*it).publisher == Some(publisher));
        let delivery = cause(analysis, *id).filter(|_| !is_passed_on)?;
        Some((analysis.instance(*id).start, *id, delivery))
    });
    stored.collect()
}
