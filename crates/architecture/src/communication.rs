//! A publisher of one node and a subscription of another, or the same, that share a topic.

use std::collections::HashMap;

use crate::model::{Architecture, Callback, Endpoint, Node, Publisher, Subscription};

#[derive(Debug, Clone, Copy)]
pub struct Communication<'a> {
    pub publishing_node: &'a Node,
    pub publisher: &'a Publisher,
    pub subscribing_node: &'a Node,
    pub subscription: &'a Subscription,
}

impl<'a> Communication<'a> {
    pub fn topic(&self) -> &'a str {
        &self.publisher.topic
    }

    /// The callback that the messages go to.
    pub fn subscribe_callback(&self) -> Option<&'a Callback> {
        self.subscribing_node
            .callback(self.subscription.callback.as_deref()?)
    }
}

/// All communications: by name of the publishing node, then of the subscribing node, then in the order of their
/// publishers and subscriptions.
pub fn communications(architecture: &Architecture) -> Vec<Communication<'_>> {
    let mut nodes: Vec<&Node> = architecture.nodes.iter().collect();
    nodes.sort_by_key(|node| &node.name);
    // By topic: all pairs of nodes would take long for large applications.
    let mut subscribers: HashMap<&str, Vec<(usize, &Subscription)>> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for subscription in &node.subscriptions {
            let of_topic = subscribers.entry(&subscription.topic).or_default();
            of_topic.push((index, subscription));
        }
    }
    let mut all = Vec::new();
    for publishing_node in &nodes {
        let mut of_node = Vec::new();
        for publisher in &publishing_node.publishers {
            let reached = subscribers.get(publisher.topic.as_str());
            for (index, subscription) in reached.into_iter().flatten() {
                of_node.push((
                    *index,
                    Communication {
                        publishing_node,
                        publisher,
                        subscribing_node: nodes[*index],
                        subscription,
                    },
                ));
            }
        }
        of_node.sort_by_key(|(index, _)| *index);
        all.extend(of_node.into_iter().map(|(_, communication)| communication));
    }
    all
}

/// Whether a message of this publisher reaches this subscription.
pub(crate) fn connects(publisher: &Endpoint, subscription: &Endpoint) -> bool {
    publisher.topic == subscription.topic
}
