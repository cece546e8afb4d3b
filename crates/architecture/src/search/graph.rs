//! The graph that is searched: nodes by name, and an edge for each communication.

use std::ops::Range;

use crate::communication::communications;
use crate::error::{Error, Item};
use crate::model::{Architecture, Endpoint};

/// Which communications are edges.
pub struct EdgeFilter<'f> {
    /// Both nodes must be kept.
    pub keep_node: &'f dyn Fn(&str) -> bool,
    pub keep_topic: &'f dyn Fn(&str) -> bool,
    /// Communications whose subscribing callback has a higher construction order are left out; 0 for no limit.
    pub construction_order: u32,
}

impl std::fmt::Debug for EdgeFilter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EdgeFilter")
            .field("construction_order", &self.construction_order)
            .finish_non_exhaustive()
    }
}

impl Default for EdgeFilter<'_> {
    fn default() -> Self {
        EdgeFilter {
            keep_node: &|_| true,
            keep_topic: &|_| true,
            construction_order: 10,
        }
    }
}

/// One communication. Several between the same nodes differ in topic or construction orders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub publisher: Endpoint,
    pub subscription: Endpoint,
    /// The number of the ordered pair of nodes.
    pub(super) pair: usize,
}

#[derive(Debug)]
pub struct SearchGraph<'a> {
    /// By name.
    nodes: Vec<&'a str>,
    /// By publishing node, then subscribing node, topic, construction orders.
    edges: Vec<Edge>,
    outgoing: Vec<Range<usize>>,
    pairs: usize,
    /// Communications that the limit of construction orders left out.
    pub left_out: usize,
}

impl<'a> SearchGraph<'a> {
    pub fn new(architecture: &'a Architecture, filter: &EdgeFilter<'_>) -> SearchGraph<'a> {
        let mut nodes: Vec<&str> = architecture.node_names().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut left_out = 0;
        let mut edges = Vec::new();
        for communication in communications(architecture) {
            let publishing = communication.publishing_node.name.as_str();
            let subscribing = communication.subscribing_node.name.as_str();
            let kept = (filter.keep_node)(publishing)
                && (filter.keep_node)(subscribing)
                && (filter.keep_topic)(communication.topic());
            if !kept {
                continue;
            }
            let order = communication.subscribe_callback();
            let order = order.map_or(0, |callback| callback.construction_order);
            if filter.construction_order > 0 && order > filter.construction_order {
                left_out += 1;
                continue;
            }
            let (Ok(from), Ok(to)) = (
                nodes.binary_search(&publishing),
                nodes.binary_search(&subscribing),
            ) else {
                continue;
            };
            edges.push(Edge {
                from,
                to,
                publisher: communication.publisher.endpoint(),
                subscription: communication.subscription.endpoint(),
                pair: 0,
            });
        }
        edges.sort();
        edges.dedup();
        let mut pairs = 0;
        for index in 0..edges.len() {
            let new = index == 0
                || (edges[index].from, edges[index].to)
                    != (edges[index - 1].from, edges[index - 1].to);
            pairs += usize::from(new);
            edges[index].pair = pairs - 1;
        }
        let of_node = |node| {
            edges.partition_point(|edge| edge.from < node)
                ..edges.partition_point(|edge| edge.from <= node)
        };
        let outgoing = (0..nodes.len()).map(of_node).collect();
        SearchGraph {
            nodes,
            edges,
            outgoing,
            pairs,
            left_out,
        }
    }

    pub fn node_name(&self, index: usize) -> &'a str {
        self.nodes[index]
    }

    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn pair_count(&self) -> usize {
        self.pairs
    }

    pub(super) fn outgoing(&self, node: usize) -> Range<usize> {
        self.outgoing[node].clone()
    }

    pub(super) fn node_index(&self, name: &str) -> Result<usize, Error> {
        let found = self.nodes.binary_search(&name);
        found.map_err(|_| Error::unknown(Item::Node, name, self.nodes.iter().copied()))
    }
}
