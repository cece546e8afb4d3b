//! Which entities of a trace the names of an architecture file mean.
//!
//! Addresses differ from run to run, so a callback is recognised by node, kind, symbol and construction order, and publishers and
//! subscriptions by node, topic and construction order. A node that lived several times is all of them.

use std::collections::HashMap;

use rostrace_architecture::{Callback, CallbackKind, Endpoint, Node, naming};
use rostrace_model::Model;
use rostrace_model::entity::{CallbackId, NodeId, PublisherId, SubscriptionId, TimerId};

/// Finds entities by their names.
#[derive(Debug)]
pub struct Objects {
    callbacks: HashMap<(String, CallbackKind, String, u32), Vec<CallbackId>>,
    timers: HashMap<CallbackId, TimerId>,
    publishers: HashMap<(String, Endpoint), Vec<PublisherId>>,
    subscriptions: HashMap<(String, Endpoint), Vec<SubscriptionId>>,
    lives: HashMap<String, Vec<NodeId>>,
}

impl Objects {
    pub fn new(model: &Model) -> Objects {
        let mut objects = Objects {
            callbacks: HashMap::new(),
            timers: HashMap::new(),
            publishers: HashMap::new(),
            subscriptions: HashMap::new(),
            lives: HashMap::new(),
        };
        for (index, node) in model.nodes.iter().enumerate() {
            let lives = objects.lives.entry(node.name.clone()).or_default();
            lives.push(NodeId(index as u32));
        }
        for (index, timer) in model.timers.iter().enumerate() {
            if let Some(callback) = timer.callback {
                objects.timers.insert(callback, TimerId(index as u32));
            }
        }
        let mut of_node: Vec<OfNode> = model.nodes.iter().map(|_| OfNode::default()).collect();
        let place = |node: Option<NodeId>| node.map(NodeId::index);
        for timer in &model.timers {
            if let (Some(node), Some(callback)) = (place(timer.node), timer.callback) {
                let period_ns = timer.period.0.unsigned_abs();
                of_node[node]
                    .callbacks
                    .push((callback, CallbackKind::Timer { period_ns }));
            }
        }
        for (index, it) in model.subscriptions.iter().enumerate() {
            let Some(node) = place(it.node) else { continue };
            if let Some(callback) = it.callback {
                let kind = CallbackKind::Subscription {
                    topic: it.topic.clone(),
                };
                of_node[node].callbacks.push((callback, kind));
                of_node[node]
                    .subscriptions
                    .push(SubscriptionId(index as u32));
            }
        }
        for (index, it) in model.publishers.iter().enumerate() {
            if let Some(node) = place(it.node) {
                of_node[node].publishers.push(PublisherId(index as u32));
            }
        }
        for (node, of_node) in model.nodes.iter().zip(of_node) {
            objects.add(model, &node.name, of_node);
        }
        objects
    }

    fn add(&mut self, model: &Model, node: &str, of_node: OfNode) {
        let symbol = |id: CallbackId| {
            model.callbacks[id.index()]
                .symbol
                .clone()
                .unwrap_or_default()
        };
        let keys: Vec<_> = of_node
            .callbacks
            .iter()
            .map(|(id, kind)| (kind.clone(), symbol(*id)))
            .collect();
        for (((id, kind), order), (_, symbol)) in of_node
            .callbacks
            .into_iter()
            .zip(naming::construction_orders(keys.clone()))
            .zip(keys)
        {
            self.callbacks
                .entry((node.to_owned(), kind, symbol, order))
                .or_default()
                .push(id);
        }
        let topic = |id: &PublisherId| &model.publishers[id.index()].topic;
        add_endpoints(&mut self.publishers, node, of_node.publishers, topic);
        let topic = |id: &SubscriptionId| &model.subscriptions[id.index()].topic;
        add_endpoints(&mut self.subscriptions, node, of_node.subscriptions, topic);
    }

    /// The lives of a node, in the order of creation: it may have been started again, or run in two processes.
    pub fn lives(&self, node: &Node) -> &[NodeId] {
        self.lives.get(&node.name).map_or(&[], Vec::as_slice)
    }

    pub fn callbacks(&self, node: &Node, callback: &Callback) -> &[CallbackId] {
        let key = (
            node.name.clone(),
            callback.kind.clone(),
            callback.symbol.clone(),
            callback.construction_order,
        );
        self.callbacks.get(&key).map_or(&[], Vec::as_slice)
    }

    pub fn timers(&self, node: &Node, callback: &Callback) -> Vec<TimerId> {
        let callbacks = self.callbacks(node, callback).iter();
        callbacks
            .filter_map(|callback| self.timers.get(callback).copied())
            .collect()
    }

    pub fn publishers(&self, node: &Node, endpoint: &Endpoint) -> &[PublisherId] {
        self.publishers
            .get(&(node.name.clone(), endpoint.clone()))
            .map_or(&[], Vec::as_slice)
    }

    pub fn subscriptions(&self, node: &Node, endpoint: &Endpoint) -> &[SubscriptionId] {
        self.subscriptions
            .get(&(node.name.clone(), endpoint.clone()))
            .map_or(&[], Vec::as_slice)
    }
}

/// What one life of a node has, in the order of creation.
#[derive(Default)]
struct OfNode {
    callbacks: Vec<(CallbackId, CallbackKind)>,
    publishers: Vec<PublisherId>,
    subscriptions: Vec<SubscriptionId>,
}

/// Several endpoints of a node with one topic are told apart by the order of their construction.
fn add_endpoints<'m, T: Copy>(
    endpoints: &mut HashMap<(String, Endpoint), Vec<T>>,
    node: &str,
    of_node: Vec<T>,
    topic: impl Fn(&T) -> &'m String,
) {
    let orders = naming::construction_orders(of_node.iter().map(&topic));
    for (id, order) in of_node.iter().zip(orders) {
        let key = (node.to_owned(), Endpoint::new(topic(id), order));
        endpoints.entry(key).or_default().push(*id);
    }
}
