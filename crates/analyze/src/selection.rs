//! What of a recording is wanted: nodes, topics, processes and paths by their names. The one place that says what such a choice means,
//! for tables, reports, timelines, comparisons and budgets. The range of time that counts is that of the [`Analysis`](crate::Analysis).
//!
//! Several patterns of one kind are alternatives; different kinds must all be met, and a kind without patterns is met by everything. What has
//! several nodes, topics or processes (a message, a path, a row of a table) meets a kind if one of them does. What the trace does not name, or
//! what has no name of that kind (a timer has no topic), fits no pattern.

use rostrace_model::Model;
use rostrace_model::describe::{Description, built_in};
use rostrace_model::entity::{
    CallbackId, ClientId, NodeId, ProcessId, PublisherId, SubscriptionId,
};

use crate::flow_path::FlowPath;
use crate::table::TopicEnds;

pub use glob::Pattern;

/// By default everything is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub nodes: Vec<Pattern>,
    pub topics: Vec<Pattern>,
    pub pids: Vec<i64>,
    pub paths: Vec<Pattern>,
}

impl Selection {
    /// Whether nothing is left out.
    pub fn is_everything(&self) -> bool {
        self.nodes.is_empty()
            && self.topics.is_empty()
            && self.pids.is_empty()
            && self.paths.is_empty()
    }

    pub fn fits_node(&self, name: Option<&str>) -> bool {
        fits(&self.nodes, name)
    }

    pub fn fits_topic(&self, name: Option<&str>) -> bool {
        fits(&self.topics, name)
    }

    pub fn fits_pid(&self, pid: i64) -> bool {
        self.pids.is_empty() || self.pids.contains(&pid)
    }

    /// By the name of a path or by its title, of which a part is enough: nobody writes all of its arrows.
    pub fn fits_path(&self, names: &[&str]) -> bool {
        let fits = |pattern: &Pattern, name: &str| {
            pattern.matches(name) || name.contains(pattern.as_str())
        };
        self.paths.is_empty()
            || (self.paths.iter()).any(|pattern| names.iter().any(|name| fits(pattern, name)))
    }

    /// Whether every kind is met by one of these.
    pub fn fits_any<'n>(
        &self,
        nodes: impl IntoIterator<Item = Option<&'n str>>,
        topics: impl IntoIterator<Item = Option<&'n str>>,
        pids: impl IntoIterator<Item = i64>,
    ) -> bool {
        self.fits_any_node(nodes) && self.fits_any_topic(topics) && self.fits_any_pid(pids)
    }

    pub fn fits_any_node<'n>(&self, names: impl IntoIterator<Item = Option<&'n str>>) -> bool {
        self.nodes.is_empty() || names.into_iter().any(|name| self.fits_node(name))
    }

    pub fn fits_any_topic<'n>(&self, names: impl IntoIterator<Item = Option<&'n str>>) -> bool {
        self.topics.is_empty() || names.into_iter().any(|name| self.fits_topic(name))
    }

    pub fn fits_any_pid(&self, pids: impl IntoIterator<Item = i64>) -> bool {
        self.pids.is_empty() || pids.into_iter().any(|pid| self.fits_pid(pid))
    }

    /// A node by its name and its process, whatever its topics are.
    pub fn has_node(&self, model: &Model, node: Option<NodeId>) -> bool {
        let process = node.map(|node| model.nodes[node.index()].process);
        self.fits_node(model.node_name(node))
            && process.is_none_or(|process| self.has_process(model, process))
    }

    pub fn has_process(&self, model: &Model, process: ProcessId) -> bool {
        self.fits_pid(model.processes[process.index()].pid)
    }

    /// With its node, its process and, if it is that of a subscription, with its topic.
    pub fn has_callback(&self, model: &Model, id: CallbackId) -> bool {
        let callback = &model.callbacks[id.index()];
        let described = Description::of(model, id);
        self.has_process(model, callback.process)
            && self.fits_node(described.node_name)
            && self.fits_topic(described.topic)
    }

    pub fn has_publisher(&self, model: &Model, id: PublisherId) -> bool {
        let publisher = &model.publishers[id.index()];
        self.has_process(model, publisher.process)
            && self.fits_node(model.node_name(publisher.node))
            && self.fits_topic(Some(&publisher.topic))
    }

    pub fn has_client(&self, model: &Model, id: ClientId) -> bool {
        let client = &model.clients[id.index()];
        self.has_process(model, client.process)
            && self.fits_node(model.node_name(client.node))
            && self.fits_topic(None)
    }

    /// A node with its process, and with one of the topics that it uses.
    pub fn has_node_with_topics(&self, model: &Model, node: NodeId) -> bool {
        let publishers = model.publishers.iter();
        let published = publishers.filter(|it| it.node == Some(node));
        let subscriptions = model.subscriptions.iter();
        let subscribed = subscriptions.filter(|it| it.node == Some(node));
        let topics = published.map(|it| it.topic.as_str());
        self.has_node(model, Some(node))
            && self.fits_any_topic(
                topics
                    .chain(subscribed.map(|it| it.topic.as_str()))
                    .map(Some),
            )
    }

    /// A process with one of its nodes.
    pub fn has_process_with_nodes(&self, model: &Model, process: ProcessId) -> bool {
        let is_narrow = !self.nodes.is_empty() || !self.topics.is_empty();
        let mut nodes = (0..model.nodes.len()).map(NodeId::from_index);
        self.has_process(model, process)
            && (!is_narrow
                || nodes.any(|node| {
                    model.nodes[node.index()].process == process
                        && self.has_node_with_topics(model, node)
                }))
    }

    /// A topic with one of those that send or receive it.
    pub fn has_topic_with_ends(&self, model: &Model, name: &str, ends: &TopicEnds) -> bool {
        let fits = |process: ProcessId, node: Option<NodeId>| {
            self.has_process(model, process) && self.fits_node(model.node_name(node))
        };
        let sends = |id: &PublisherId| {
            let publisher = &model.publishers[id.index()];
            fits(publisher.process, publisher.node)
        };
        let receives = |id: &SubscriptionId| {
            let subscription = &model.subscriptions[id.index()];
            fits(subscription.process, subscription.node)
        };
        self.fits_topic(Some(name))
            && (ends.publishers.iter().any(sends) || ends.subscriptions.iter().any(receives))
    }

    /// Something in a process that the trace does not name.
    pub fn has_unnamed(&self, model: &Model, process: ProcessId) -> bool {
        self.has_process(model, process) && self.fits_node(None) && self.fits_topic(None)
    }

    /// An observed path, with any of its nodes and any of its topics; those of rclcpp itself are never wanted. It leads through several
    /// processes: choosing one of them says nothing about it.
    pub fn has_observed_path(&self, path: &FlowPath) -> bool {
        let hops = || path.hops.iter();
        let nodes = hops().flat_map(|hop| [hop.publishing_node.as_str(), hop.node.as_str()]);
        !hops().any(|hop| built_in::topic(&hop.topic))
            && self.fits_path(&[&path.title()])
            && self.fits_any_node(nodes.map(Some))
            && self.fits_any_topic(hops().map(|hop| Some(hop.topic.as_str())))
    }
}

fn fits(patterns: &[Pattern], name: Option<&str>) -> bool {
    patterns.is_empty()
        || name.is_some_and(|name| patterns.iter().any(|pattern| pattern.matches(name)))
}

/// What a selection leaves of one model, looked up once: for whoever asks for every event.
#[derive(Debug, Clone)]
pub struct Selected {
    processes: Vec<bool>,
    /// What belongs to a node and has no topic.
    nodes: Vec<bool>,
    callbacks: Vec<bool>,
    publishers: Vec<bool>,
    unnamed: bool,
}

impl Selected {
    pub fn of(model: &Model, selection: &Selection) -> Selected {
        let processes = (0..model.processes.len()).map(ProcessId::from_index);
        let nodes = (0..model.nodes.len()).map(NodeId::from_index);
        let callbacks = (0..model.callbacks.len()).map(CallbackId::from_index);
        let publishers = (0..model.publishers.len()).map(PublisherId::from_index);
        let without_topic = selection.fits_topic(None);
        Selected {
            processes: processes
                .map(|id| selection.has_process(model, id))
                .collect(),
            nodes: nodes
                .map(|id| without_topic && selection.has_node(model, Some(id)))
                .collect(),
            callbacks: callbacks
                .map(|id| selection.has_callback(model, id))
                .collect(),
            publishers: publishers
                .map(|id| selection.has_publisher(model, id))
                .collect(),
            unnamed: without_topic && selection.fits_node(None),
        }
    }

    pub fn has_process(&self, id: ProcessId) -> bool {
        self.processes[id.index()]
    }

    /// What belongs to a node and has no topic.
    pub fn has_node(&self, id: Option<NodeId>) -> bool {
        id.map_or(self.unnamed, |id| self.nodes[id.index()])
    }

    /// Of a process that is wanted.
    pub fn has_callback(&self, id: Option<CallbackId>) -> bool {
        id.map_or(self.unnamed, |id| self.callbacks[id.index()])
    }

    /// Of a process that is wanted.
    pub fn has_publisher(&self, id: Option<PublisherId>) -> bool {
        id.map_or(self.unnamed, |id| self.publishers[id.index()])
    }

    /// What belongs to no node and no topic, of a process that is wanted.
    pub fn has_unnamed(&self) -> bool {
        self.unnamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection() -> Selection {
        Selection {
            nodes: vec![Pattern::new("/a").unwrap(), Pattern::new("/b*").unwrap()],
            topics: vec![Pattern::new("/points").unwrap()],
            pids: vec![7],
            paths: Vec::new(),
        }
    }

    #[test]
    fn patterns_are_alternatives_and_kinds_must_all_be_met() {
        let selection = selection();
        let points = [Some("/points")];
        assert!(selection.fits_any([Some("/c"), Some("/a")], points, [7, 8]));
        assert!(selection.fits_any([Some("/b1")], points, [7]));
        assert!(!selection.fits_any([Some("/c")], points, [7]));
        assert!(!selection.fits_any([Some("/a")], [Some("/other")], [7]));
        assert!(!selection.fits_any([Some("/a")], points, [8]));
        assert!(!selection.fits_any([Some("/a")], [], [7]));
    }

    #[test]
    fn what_has_no_name_fits_no_pattern_but_fits_where_none_is_given() {
        let selection = selection();
        assert!(!selection.fits_node(None) && !selection.fits_topic(None));
        let everything = Selection::default();
        assert!(everything.fits_node(None) && everything.fits_any([], [], []));
        assert!(everything.is_everything() && !selection.is_everything());
    }

    #[test]
    fn a_part_of_the_title_of_a_path_is_enough() {
        let selection = Selection {
            paths: vec![
                Pattern::new("/points").unwrap(),
                Pattern::new("cam*").unwrap(),
            ],
            ..Selection::default()
        };
        assert!(selection.fits_path(&["/lidar → /points → /fusion"]));
        assert!(selection.fits_path(&["other", "camera_to_planner"]));
        assert!(!selection.fits_path(&["the camera"]));
        assert!(Selection::default().fits_path(&[]));
    }
}
