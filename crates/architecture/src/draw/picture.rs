//! What is drawn, before anybody knows where: nodes and topics by name, arrows between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Architecture;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Nodes first, then topics, each by name.
    pub(super) figures: Vec<Figure>,
    pub(super) arrows: Vec<Arrow>,
    /// Names of namespaces, if they are to be drawn.
    pub(super) clusters: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// Which namespace it is drawn in.
    pub(super) cluster: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Node,
    Topic,
    /// It stands for so many nodes.
    Namespace(usize),
}

impl Figure {
    pub(super) fn is_topic(&self) -> bool {
        self.shape == Shape::Topic
    }

    /// What is written in it.
    pub(super) fn text(&self) -> String {
        match self.shape {
            Shape::Node | Shape::Topic => self.name.clone(),
            Shape::Namespace(1) => format!("{} · 1 node", self.name),
            Shape::Namespace(count) => format!("{} · {count} nodes", self.name),
        }
    }
}

/// From figure to figure: a node publishes a topic, a topic reaches a node, or topics lead from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    /// None if a topic is one of its ends.
    pub(super) topics: Vec<String>,
}

impl Arrow {
    /// What is written beside it.
    pub(super) fn text(&self) -> Option<String> {
        match self.topics.as_slice() {
            [] => None,
            [topic] => Some(topic.clone()),
            topics => Some(format!("{} topics", topics.len())),
        }
    }
}

impl Picture {
    /// With `clusters`, nodes of one namespace (its first part, as in `/perception/lidar/filter`) are drawn together,
    /// and topics that do not leave it.
    pub fn new(architecture: &Architecture, clusters: bool) -> Picture {
        let nodes: BTreeSet<&str> = architecture.node_names().collect();
        let topics = architecture.topics();
        let namespaces: BTreeSet<&str> = match clusters {
            true => nodes.iter().filter_map(|name| namespace(name)).collect(),
            false => BTreeSet::new(),
        };
        let namespaces: Vec<&str> = namespaces.into_iter().collect();
        let cluster_of = |node: &str| namespaces.binary_search(&namespace(node)?).ok();
        let node_indices: BTreeMap<&str, usize> = (nodes.iter().enumerate())
            .map(|(index, node)| (*node, index))
            .collect();
        let topic_indices: BTreeMap<&str, usize> = (topics.iter().enumerate())
            .map(|(index, topic)| (*topic, nodes.len() + index))
            .collect();
        let mut figures: Vec<Figure> = (nodes.iter())
            .map(|node| Figure {
                name: (*node).to_owned(),
                shape: Shape::Node,
                cluster: cluster_of(node),
            })
            .collect();
        figures.extend(topics.iter().map(|topic| Figure {
            name: (*topic).to_owned(),
            shape: Shape::Topic,
            cluster: None,
        }));
        let mut arrows = BTreeSet::new();
        for node in &architecture.nodes {
            let index = node_indices[node.name.as_str()];
            for publisher in &node.publishers {
                arrows.insert((index, topic_indices[publisher.topic.as_str()]));
            }
            for subscription in &node.subscriptions {
                arrows.insert((topic_indices[subscription.topic.as_str()], index));
            }
        }
        // A topic belongs to a namespace if all its nodes do.
        let mut neighbours: BTreeMap<usize, BTreeSet<Option<usize>>> = BTreeMap::new();
        for &(from, to) in &arrows {
            let (topic, node) = if figures[from].is_topic() {
                (from, to)
            } else {
                (to, from)
            };
            let clusters = neighbours.entry(topic).or_default();
            clusters.insert(figures[node].cluster);
        }
        for (topic, clusters) in neighbours {
            if clusters.len() == 1 {
                figures[topic].cluster = clusters.into_iter().next().flatten();
            }
        }
        Picture {
            figures,
            arrows: (arrows.into_iter())
                .map(|(from, to)| Arrow {
                    from,
                    to,
                    topics: Vec::new(),
                })
                .collect(),
            clusters: namespaces.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Figures of one namespace, or of none, with their indices.
    pub(super) fn of_cluster(
        &self,
        cluster: Option<usize>,
    ) -> impl Iterator<Item = (usize, &Figure)> {
        (self.figures.iter().enumerate()).filter(move |(_, figure)| figure.cluster == cluster)
    }
}

/// `/perception` of `/perception/lidar/filter`; none for `/filter`.
fn namespace(node: &str) -> Option<&str> {
    let begin = usize::from(node.starts_with('/'));
    let end = node[begin..].find('/')? + begin;
    Some(&node[..end])
}
