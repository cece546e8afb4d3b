//! How many paths there are, without listing them.
//!
//! Walks are easily counted, length by length. A walk is no path only if it goes round a cycle and uses something
//! again, and that takes a certain length at least: all shorter walks are paths, so below that length the count is
//! exact.

use std::collections::VecDeque;

use super::graph::SearchGraph;
use super::segment::Segment;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Exactly(u128),
    AtLeast(u128),
}

/// Edges that are looked at to find cycles; beyond, less is known.
const MOST_WORK: usize = 50_000_000;

pub(super) fn total(graph: &SearchGraph<'_>, segments: &[Segment], repeat_nodes: bool) -> Total {
    let mut count = 1_u128;
    let mut exact = true;
    for segment in segments {
        let shortest_other = shortest_walk_that_is_no_path(graph, segment, repeat_nodes);
        let certain = segment.most.min(shortest_other - 1);
        exact &= certain == segment.most;
        let walks = (1..=certain).map(|steps| segment.walks_from_start(steps));
        let walks = walks.fold(0, u128::saturating_add);
        count = count.saturating_mul(walks);
    }
    // A saturated count is as good as none.
    match exact && count < u128::MAX {
        true => Total::Exactly(count),
        false => Total::AtLeast(count),
    }
}

const FAR: usize = usize::MAX / 8;

/// No walk of fewer steps than this uses a pair of nodes twice (or a node, where that is not allowed).
fn shortest_walk_that_is_no_path(
    graph: &SearchGraph<'_>,
    segment: &Segment,
    repeat_nodes: bool,
) -> usize {
    let from_start = distances(graph, segment.start, segment.goal, false);
    let to_goal = distances(graph, segment.goal, segment.goal, true);
    let direct = match segment.start == segment.goal {
        true => graph.edges()[graph.outgoing(segment.start)]
            .iter()
            .map(|edge| to_goal[edge.to] + 1)
            .min()
            .unwrap_or(FAR),
        false => from_start[segment.goal],
    };
    // The shortest walks of all are paths.
    let certain = direct + 1;
    let relevant =
        |node: usize| node != segment.goal && from_start[node] + to_goal[node] <= segment.most;
    let nodes: Vec<usize> = (0..graph.node_count())
        .filter(|&node| relevant(node))
        .collect();
    if nodes.len().saturating_mul(graph.edges().len()) > MOST_WORK {
        return certain;
    }
    let mut shortest = FAR;
    for &node in &nodes {
        // Back to where one has been, without passing the goal.
        let from_node = distances(graph, node, segment.goal, false);
        for &before in nodes.iter().filter(|&&before| from_node[before] < FAR) {
            let edges = &graph.edges()[graph.outgoing(before)];
            if !edges.iter().any(|edge| edge.to == node) {
                continue;
            }
            let back = from_node[before] + 1;
            let length = match repeat_nodes {
                // The pair (before, node), and after the way back the same again.
                true => from_start[before] + 1 + back + to_goal[node],
                false => from_start[node] + back + to_goal[node],
            };
            shortest = shortest.min(length);
        }
    }
    shortest.max(certain)
}

/// Edges to each node, by the shortest way that does not go on from `goal`; with `backwards`, from each node.
fn distances(graph: &SearchGraph<'_>, start: usize, goal: usize, backwards: bool) -> Vec<usize> {
    let mut distances = vec![FAR; graph.node_count()];
    let mut incoming: Vec<Vec<usize>> = Vec::new();
    if backwards {
        incoming = vec![Vec::new(); graph.node_count()];
        for edge in graph.edges() {
            incoming[edge.to].push(edge.from);
        }
    }
    distances[start] = 0;
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        if node == goal && node != start {
            continue;
        }
        let mut reach = |next: usize| {
            if distances[next] == FAR {
                distances[next] = distances[node] + 1;
                queue.push_back(next);
            }
        };
        match backwards {
            true => incoming[node].iter().copied().for_each(&mut reach),
            false => (graph.edges()[graph.outgoing(node)].iter())
                .map(|edge| edge.to)
                .for_each(&mut reach),
        }
    }
    distances
}
