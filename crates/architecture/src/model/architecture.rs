//! The whole application: its named paths, executors and nodes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Callback, CallbackGroup, Executor, Extras, NamedPath, Node};
use crate::error::{Error, Item};

/// Topics that every application has and nobody measures.
pub const HIDDEN_TOPICS: [&str; 3] = ["/clock", "/parameter_events", "/rosout"];

pub fn is_hidden_topic(topic: &str) -> bool {
    HIDDEN_TOPICS.contains(&topic)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Architecture {
    pub paths: Vec<NamedPath>,
    pub executors: Vec<Executor>,
    pub nodes: Vec<Node>,
    pub extras: Extras,
}

impl Architecture {
    pub fn node(&self, name: &str) -> Result<&Node, Error> {
        let found = self.nodes.iter().find(|node| node.name == name);
        found.ok_or_else(|| Error::unknown(Item::Node, name, self.node_names()))
    }

    pub fn node_mut(&mut self, name: &str) -> Result<&mut Node, Error> {
        match self.nodes.iter().position(|node| node.name == name) {
            Some(index) => Ok(&mut self.nodes[index]),
            None => Err(Error::unknown(Item::Node, name, self.node_names())),
        }
    }

    pub fn path(&self, name: &str) -> Result<&NamedPath, Error> {
        let found = self.paths.iter().find(|path| path.name == name);
        found.ok_or_else(|| Error::unknown(Item::Path, name, self.path_names()))
    }

    pub fn executor(&self, name: &str) -> Result<&Executor, Error> {
        let found = self.executors.iter().find(|executor| executor.name == name);
        let names = self.executors.iter().map(|executor| executor.name.as_str());
        found.ok_or_else(|| Error::unknown(Item::Executor, name, names))
    }

    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str())
    }

    pub fn path_names(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| path.name.as_str())
    }

    /// All topics that somebody publishes or subscribes to, sorted.
    pub fn topics(&self) -> BTreeSet<&str> {
        self.nodes.iter().flat_map(Node::topics).collect()
    }

    /// By topic: the nodes that publish it, and those that subscribe to it.
    pub fn nodes_by_topic(&self) -> BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> {
        let mut nodes: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
        for node in &self.nodes {
            for publisher in &node.publishers {
                nodes
                    .entry(&publisher.topic)
                    .or_default()
                    .0
                    .insert(&node.name);
            }
            for subscription in &node.subscriptions {
                nodes
                    .entry(&subscription.topic)
                    .or_default()
                    .1
                    .insert(&node.name);
            }
        }
        nodes
    }

    pub fn callbacks(&self) -> impl Iterator<Item = (&Node, &Callback)> {
        let each = |node| move |callback| (node, callback);
        (self.nodes.iter()).flat_map(move |node| node.callbacks.iter().map(each(node)))
    }

    pub fn callback_groups(&self) -> impl Iterator<Item = (&Node, &CallbackGroup)> {
        let each = |node| move |group| (node, group);
        (self.nodes.iter()).flat_map(move |node| node.callback_groups.iter().map(each(node)))
    }
}
