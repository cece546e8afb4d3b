//! What things are: the only place that names and classifies what the trace has.
//!
//! A [`Description`] says of a callback what it is for, whose it is, and whether somebody wrote it; [`names`] says how it is called, and
//! [`built_in`] what belongs to ROS 2 itself. Tables, pages and sentences take it from here.

pub mod built_in;
pub mod names;

use rostrace_base::units;
use rostrace_ctf::schema::Nanos;

use crate::Model;
use crate::entity::{CallbackId, CallbackOwner, ClientId, NodeId};

/// What calls a callback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallbackKind {
    Timer,
    Subscription,
    Service,
    Client,
    /// The trace does not tell.
    #[default]
    Unknown,
}

impl CallbackKind {
    pub fn name(self) -> &'static str {
        match self {
            CallbackKind::Timer => "timer",
            CallbackKind::Subscription => "subscription",
            CallbackKind::Service => "service",
            CallbackKind::Client => "client",
            CallbackKind::Unknown => "unknown",
        }
    }
}

/// What a callback is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Description<'m> {
    pub kind: CallbackKind,
    /// The topic of a subscription.
    pub topic: Option<&'m str>,
    /// The name of a service, also of a client's.
    pub service: Option<&'m str>,
    /// What a timer is set to.
    pub period: Option<Nanos>,
    pub node: Option<NodeId>,
    pub node_name: Option<&'m str>,
    /// As the trace has it.
    pub symbol: Option<&'m str>,
    /// Made by ROS 2 or a recorder; nobody wrote it.
    pub built_in: bool,
}

impl<'m> Description<'m> {
    pub fn of(model: &'m Model, id: CallbackId) -> Description<'m> {
        let callback = &model.callbacks[id.index()];
        let node = model.node_of_callback(id);
        let mut it = Description {
            node,
            node_name: model.node_name(node),
            symbol: callback.symbol.as_deref(),
            ..Description::default()
        };
        match callback.owner {
            CallbackOwner::Timer(id) => {
                it.kind = CallbackKind::Timer;
                it.period = Some(model.timers[id.index()].period);
            }
            CallbackOwner::Subscription(id) => {
                it.kind = CallbackKind::Subscription;
                it.topic = Some(&model.subscriptions[id.index()].topic);
            }
            CallbackOwner::Service(id) => {
                it.kind = CallbackKind::Service;
                it.service = Some(&model.services[id.index()].name);
            }
            // Those of lifecycle services have no other sign: rcl makes the service, without a word.
            CallbackOwner::Unknown if it.symbol.is_some_and(built_in::symbol) => {
                it.kind = CallbackKind::Service;
            }
            CallbackOwner::Unknown => {}
        }
        it.built_in = it.is_built_in();
        it
    }

    /// What runs when a response arrives. rclcpp does not tell of it, so it is no callback of the model.
    pub fn of_client(model: &'m Model, id: ClientId) -> Description<'m> {
        let client = &model.clients[id.index()];
        let mut it = Description {
            kind: CallbackKind::Client,
            service: Some(&client.name),
            node: client.node,
            node_name: model.node_name(client.node),
            ..Description::default()
        };
        it.built_in = it.is_built_in();
        it
    }

    /// The topic or the service.
    pub fn topic_or_service(&self) -> Option<&'m str> {
        self.topic.or(self.service)
    }

    /// A topic, a service, or `timer 100 ms`; empty if unknown.
    pub fn trigger(&self) -> Option<String> {
        match self.period {
            Some(period) => Some(format!("timer {}", units::period(period.0.unsigned_abs()))),
            None => self.topic_or_service().map(str::to_owned),
        }
    }

    /// By what calls it, by its node, or by its function.
    fn is_built_in(&self) -> bool {
        let service = |name| match self.kind {
            CallbackKind::Client => built_in::client(name),
            _ => built_in::service(self.node_name, name),
        };
        self.topic.is_some_and(built_in::topic)
            || self.service.is_some_and(service)
            || self.node_name.is_some_and(built_in::node)
            || self.symbol.is_some_and(built_in::symbol)
    }
}
