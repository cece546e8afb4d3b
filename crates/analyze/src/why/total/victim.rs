//! What was late: a callback, the messages from one publisher to one subscription, or those along a path.

use std::borrow::Cow;

use rostrace_model::Model;
use rostrace_model::describe::{built_in, names};
use rostrace_model::entity::{
    CallbackId, DeliveryId, NodeId, ProcessId, PublisherId, SubscriptionId,
};

use super::Total;
use crate::analysis::Analysis;
use crate::finding::Runner;
use crate::thread::Ran;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Victim {
    /// The executions of something that runs.
    Callback(Runner),
    /// Messages between two ends; one of them stands for all where an end has no name.
    Messages {
        publisher: Option<PublisherId>,
        subscription: Option<SubscriptionId>,
        sample: Option<DeliveryId>,
    },
    /// By its number in [`Total::paths`].
    Path(usize),
}

/// A path, as people name it.
#[derive(Debug, Clone)]
pub struct PathVictim {
    pub title: String,
    pub hops: Vec<Hop>,
}

/// One communication of a path.
#[derive(Debug, Clone)]
pub struct Hop {
    /// `/sensor → /points → /fusion`
    pub title: String,
    pub topic: String,
    pub publishing_node: String,
    pub node: String,
    /// The callback that received it, where that is known.
    pub callback: Option<String>,
}

impl Victim {
    /// The victim that a message belongs to: all between the same ends are one. Where an end has no name, this is about the one message.
    pub(super) fn of_message(analysis: &Analysis<'_>, id: DeliveryId) -> Victim {
        let delivery = analysis.delivery(id);
        let publisher = analysis.publication(delivery.publication).publisher;
        let subscription = delivery.subscription;
        let is_named = publisher.is_some() && subscription.is_some();
        Victim::Messages {
            publisher,
            subscription,
            sample: (!is_named).then_some(id),
        }
    }

    /// Whether both ends of its messages have names.
    pub(super) fn is_named(self) -> bool {
        !matches!(
            self,
            Victim::Messages {
                sample: Some(_),
                ..
            }
        )
    }

    pub fn kind(self) -> &'static str {
        match self {
            Victim::Callback(_) => "callback",
            Victim::Messages { .. } => "communication",
            Victim::Path(_) => "path",
        }
    }

    /// What is counted of it.
    pub fn noun(self) -> &'static str {
        match self {
            Victim::Callback(_) => "execution",
            Victim::Messages { .. } | Victim::Path(_) => "message",
        }
    }

    /// The callback that was late, if it has a name.
    pub fn callback(self, model: &Model) -> Option<CallbackId> {
        match self {
            Victim::Callback(runner) => match runner.ran {
                Ran::Callback(callback) => Some(callback),
                Ran::Client(_) | Ran::Unnamed(_) => None,
            },
            Victim::Messages { subscription, .. } => {
                model.subscriptions[subscription?.index()].callback
            }
            Victim::Path(_) => None,
        }
    }

    pub fn subscription(self, model: &Model) -> Option<SubscriptionId> {
        match self {
            Victim::Messages { subscription, .. } => subscription,
            _ => match model.callbacks[self.callback(model)?.index()].owner {
                rostrace_model::entity::CallbackOwner::Subscription(id) => Some(id),
                _ => None,
            },
        }
    }

    /// Of what runs or receives.
    pub fn process(self, analysis: &Analysis<'_>) -> Option<ProcessId> {
        match self {
            Victim::Callback(runner) => Some(runner.process),
            Victim::Messages { subscription, .. } => {
                Some(analysis.model.subscriptions[subscription?.index()].process)
            }
            Victim::Path(_) => None,
        }
    }

    pub fn node(self, model: &Model) -> Option<NodeId> {
        match self {
            Victim::Messages { subscription, .. } => {
                model.subscriptions[subscription?.index()].node
            }
            _ => model.node_of_callback(self.callback(model)?),
        }
    }

    pub(super) fn is_built_in(self, model: &Model) -> bool {
        let callback = self.callback(model);
        let subscription = self.subscription(model);
        callback.is_some_and(|id| built_in::callback(model, id))
            || subscription
                .is_some_and(|id| built_in::topic(&model.subscriptions[id.index()].topic))
    }

    pub fn name<'t>(self, analysis: &'t Analysis<'_>, total: &'t Total) -> Cow<'t, str> {
        match self {
            Victim::Callback(runner) => runner.name(&analysis.names).into(),
            Victim::Messages {
                sample: Some(id), ..
            } => message_name(analysis, id).into(),
            Victim::Messages {
                publisher,
                subscription,
                sample: None,
            } => {
                let model = analysis.model;
                let publisher = publisher.map(|id| &model.publishers[id.index()]);
                let subscription = subscription.map(|id| &model.subscriptions[id.index()]);
                let sender = names::of_node(model, publisher.and_then(|it| it.node));
                let receiver = names::of_node(model, subscription.and_then(|it| it.node));
                let topic = subscription.map_or("", |it| &it.topic);
                format!("{sender} → {topic} → {receiver}").into()
            }
            Victim::Path(number) => (&total.paths[number].title).into(),
        }
    }

    pub fn hop(self, total: &Total, hop: usize) -> Option<&Hop> {
        match self {
            Victim::Path(number) => total.paths[number].hops.get(hop),
            Victim::Callback(_) | Victim::Messages { .. } => None,
        }
    }
}

/// `/sensor → /points → /fusion`
pub(super) fn message_name(analysis: &Analysis<'_>, id: DeliveryId) -> String {
    let model = analysis.model;
    let delivery = analysis.delivery(id);
    let publication = analysis.publication(delivery.publication);
    let sender = names::sender(model, publication);
    let topic = names::topic(model, delivery);
    let receiver = names::receiver(model, delivery);
    format!("{sender} → {topic} → {receiver}")
}
