//! What a report is limited to: nodes, topics and processes, by their names.

use std::fmt;

use rostrace_analyze::flow_path::FlowPath;
use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackId, CallbackOwner, NodeId};

type Wanted<'s, T> = Option<&'s (dyn Fn(&T) -> bool + Sync + 's)>;

/// Without a rule, everything is wanted.
#[derive(Clone, Copy, Default)]
pub struct Selection<'s> {
    pub node: Wanted<'s, str>,
    pub topic: Wanted<'s, str>,
    /// By its title, or by the name that an architecture file gives it.
    pub path: Wanted<'s, str>,
    /// By its number.
    pub process: Wanted<'s, i64>,
}

impl fmt::Debug for Selection<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Selection")
            .field("node", &self.node.is_some())
            .field("topic", &self.topic.is_some())
            .field("path", &self.path.is_some())
            .field("process", &self.process.is_some())
            .finish()
    }
}

impl Selection<'_> {
    /// Whether anything is left out.
    pub fn narrows(&self) -> bool {
        self.node.is_some() || self.topic.is_some() || self.path.is_some() || self.process.is_some()
    }

    pub fn wants_topic(&self, topic: &str) -> bool {
        self.topic.is_none_or(|wanted| wanted(topic))
    }

    pub fn wants_node(&self, model: &Model, node: Option<NodeId>) -> bool {
        let Some(node) = node.map(|node| &model.nodes[node.index()]) else {
            return self.node.is_none();
        };
        let pid = model.processes[node.process.index()].pid;
        self.node.is_none_or(|wanted| wanted(&node.name))
            && self.process.is_none_or(|wanted| wanted(&pid))
    }

    pub fn wants_process(&self, pid: i64) -> bool {
        self.process.is_none_or(|wanted| wanted(&pid))
    }

    /// A path is wanted if it passes a wanted node and a wanted topic, and if its own name is wanted.
    pub fn wants_path(&self, path: &FlowPath) -> bool {
        let passes = |wanted: Wanted<'_, str>, name: &str| wanted.is_none_or(|wanted| wanted(name));
        let mut nodes = path
            .hops
            .iter()
            .flat_map(|hop| [&hop.publishing_node, &hop.node]);
        let mut topics = path.hops.iter().map(|hop| &hop.topic);
        nodes.any(|node| passes(self.node, node))
            && topics.any(|topic| passes(self.topic, topic))
            && self.path.is_none_or(|wanted| wanted(&path.title()))
    }

    /// A callback is wanted with its node and, if it is that of a subscription, with its topic. With a choice of topics, no others are.
    pub fn wants_callback(&self, model: &Model, callback: CallbackId) -> bool {
        let topic = match model.callbacks[callback.index()].owner {
            CallbackOwner::Subscription(id) => Some(model.subscriptions[id.index()].topic.as_str()),
            _ => None,
        };
        let by_topic = match topic {
            Some(topic) => self.wants_topic(topic),
            None => self.topic.is_none(),
        };
        by_topic && self.wants_node(model, model.node_of_callback(callback))
    }
}
