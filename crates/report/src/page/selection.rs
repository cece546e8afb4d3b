//! What a report is limited to: nodes, topics and processes, by their names.

use std::fmt;

use rostrace_analyze::built_in;
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

    /// A path is wanted with any of its nodes and any of its topics.
    pub fn wants_path<'n>(
        &self,
        names: &[&str],
        mut nodes: impl Iterator<Item = &'n str>,
        mut topics: impl Iterator<Item = &'n str>,
    ) -> bool {
        self.path
            .is_none_or(|wanted| names.iter().any(|name| wanted(name)))
            && self.node.is_none_or(|wanted| nodes.any(wanted))
            && self.topic.is_none_or(|wanted| topics.any(wanted))
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

    /// The same for an observed one; those of rclcpp itself are not wanted.
    pub fn wants_observed(&self, path: &FlowPath) -> bool {
        let hops = path.hops.iter();
        let nodes = hops
            .clone()
            .flat_map(|hop| [hop.publishing_node.as_str(), hop.node.as_str()]);
        let topics = hops.clone().map(|hop| hop.topic.as_str());
        !hops.clone().any(|hop| built_in::topic(&hop.topic))
            && self.wants_path(&[&path.title()], nodes, topics)
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
