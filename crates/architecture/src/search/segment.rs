//! From one named node to the next: how the goal can be reached from every node, in how many steps, and how often.
//!
//! Walks are counted, not paths: a walk may use a pair of nodes again. That makes it cheap, and no path is
//! overlooked: where no walk leads, no path does.

use super::graph::SearchGraph;

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) goal: usize,
    /// The most edges that a path of this segment can have.
    pub(super) most: usize,
    /// By steps, then node: the number of walks of exactly so many steps that reach the goal at the last one and not
    /// before.
    walks: Vec<Vec<u128>>,
}

impl Segment {
    pub(super) fn new(graph: &SearchGraph<'_>, start: usize, goal: usize, most: usize) -> Segment {
        // With no pair used twice, a path cannot be longer than there are pairs.
        let most = most.min(graph.pair_count());
        let mut none = vec![0_u128; graph.node_count()];
        none[goal] = 1;
        let mut walks = vec![none];
        for steps in 1..=most {
            let before = &walks[steps - 1];
            let mut now = vec![0_u128; graph.node_count()];
            for edge in graph.edges() {
                // The goal is passed at the end only.
                if edge.to != goal || steps == 1 {
                    now[edge.from] = now[edge.from].saturating_add(before[edge.to]);
                }
            }
            walks.push(now);
        }
        Segment {
            start,
            goal,
            most,
            walks,
        }
    }

    /// Whether a walk of exactly so many steps leads from here to the goal. From the goal itself there is one of
    /// none, and it can be left only where the segment begins.
    pub(super) fn leads(&self, node: usize, steps: usize) -> bool {
        steps <= self.most && self.walks[steps][node] > 0
    }

    pub(super) fn walks_from_start(&self, steps: usize) -> u128 {
        match steps {
            0 => 0,
            _ => self.walks[steps][self.start],
        }
    }
}
