//! A node: what it publishes and subscribes to, its callbacks, and how data goes through it.

use super::{
    Callback, CallbackGroup, Endpoint, Extras, MessageContext, Publisher, Subscription,
    VariablePassing,
};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// Fully qualified.
    pub name: String,
    pub callback_groups: Vec<CallbackGroup>,
    pub callbacks: Vec<Callback>,
    pub variable_passings: Vec<VariablePassing>,
    pub publishers: Vec<Publisher>,
    pub subscriptions: Vec<Subscription>,
    /// As declared; see [`MessageContext`].
    pub message_contexts: Vec<MessageContext>,
    pub extras: Extras,
}

impl Node {
    pub fn new(name: impl Into<String>) -> Node {
        Node {
            name: name.into(),
            ..Node::default()
        }
    }

    pub fn callback(&self, name: &str) -> Option<&Callback> {
        self.callbacks.iter().find(|callback| callback.name == name)
    }

    pub fn publisher(&self, endpoint: &Endpoint) -> Option<&Publisher> {
        self.publishers
            .iter()
            .find(|publisher| publisher.is(endpoint))
    }

    pub fn subscription(&self, endpoint: &Endpoint) -> Option<&Subscription> {
        (self.subscriptions.iter()).find(|subscription| subscription.is(endpoint))
    }

    /// Topics of publishers and subscriptions, in no order and not unique.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        let published = self.publishers.iter().map(|p| p.topic.as_str());
        published.chain(self.subscriptions.iter().map(|s| s.topic.as_str()))
    }

    /// Variable passings that name both callbacks.
    pub fn passings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variable_passings
            .iter()
            .filter_map(VariablePassing::pair)
    }
}
