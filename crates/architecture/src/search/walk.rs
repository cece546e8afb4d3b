//! The search itself: all paths of one length, then all of the next, each length in the order of names.

use super::count::{Total, total};
use super::graph::{Edge, SearchGraph};
use super::segment::Segment;
use crate::error::Error;
use crate::model::{NamedPath, PathStep};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchOptions {
    /// Nodes between two named nodes, at most; so one more communication than that.
    pub max_depth: usize,
    /// Whether a path may pass a node again (each time by another pair of nodes), as in CARET.
    pub repeat_nodes: bool,
    /// Edges that are tried before the search gives up.
    pub max_steps: u64,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            max_depth: 15,
            repeat_nodes: true,
            max_steps: 20_000_000,
        }
    }
}

/// Why there are no more paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// These were all.
    Complete,
    /// The search has tried as much as it was allowed to.
    GaveUp,
}

/// A path as the communications that it consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPath<'g> {
    nodes: Vec<&'g str>,
    edges: Vec<&'g Edge>,
}

impl<'g> FoundPath<'g> {
    pub fn nodes(&self) -> &[&'g str] {
        &self.nodes
    }

    pub fn edges(&self) -> &[&'g Edge] {
        &self.edges
    }

    pub fn steps(&self) -> Vec<PathStep> {
        let step = |(index, node): (usize, &&str)| {
            let before = index.checked_sub(1).and_then(|index| self.edges.get(index));
            let after = self.edges.get(index);
            PathStep::new(
                *node,
                before.map(|edge| edge.subscription.clone()),
                after.map(|edge| edge.publisher.clone()),
            )
        };
        self.nodes.iter().enumerate().map(step).collect()
    }

    pub fn named(&self, name: impl Into<String>) -> NamedPath {
        NamedPath::new(name, self.steps())
    }
}

/// The paths from the first of several nodes through the others to the last, as an iterator.
#[derive(Debug)]
pub struct Search<'g, 'a> {
    graph: &'g SearchGraph<'a>,
    options: SearchOptions,
    segments: Vec<Segment>,
    /// By segment, then edges: whether the segments from this one on can be so long together.
    tails: Vec<Vec<bool>>,
    /// The length whose paths are listed now.
    length: usize,
    frames: Vec<Frame>,
    taken: Vec<usize>,
    /// Pairs of nodes, or nodes, that the current path has used; those of each segment by themselves.
    used: Vec<bool>,
    steps: u64,
    ending: Option<Ending>,
}

/// A node on the current path.
#[derive(Debug)]
struct Frame {
    node: usize,
    segment: usize,
    /// Edges since the segment began.
    depth: usize,
    next: usize,
    end: usize,
}

impl<'g, 'a> Search<'g, 'a> {
    /// `names` are at least two nodes.
    pub fn new(
        graph: &'g SearchGraph<'a>,
        names: &[&str],
        options: SearchOptions,
    ) -> Result<Search<'g, 'a>, Error> {
        let nodes = names.iter().map(|name| graph.node_index(name));
        let nodes: Vec<usize> = nodes.collect::<Result<_, _>>()?;
        if nodes.len() < 2 {
            let message = "a path needs two nodes, one to begin and one to end at";
            return Err(Error::Path(message.to_owned()));
        }
        let most = options.max_depth.saturating_add(1);
        let segments: Vec<Segment> = (nodes.windows(2))
            .map(|ends| Segment::new(graph, ends[0], ends[1], most))
            .collect();
        let places = match options.repeat_nodes {
            true => graph.pair_count(),
            false => graph.node_count(),
        };
        Ok(Search {
            graph,
            options,
            tails: tails(&segments),
            used: vec![false; places * segments.len()],
            segments,
            length: 0,
            frames: Vec::new(),
            taken: Vec::new(),
            steps: 0,
            ending: None,
        })
    }

    /// How many paths there are, as far as that can be known without listing them.
    pub fn total(&self) -> Total {
        total(self.graph, &self.segments, self.options.repeat_nodes)
    }

    /// Edges tried so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// None while there may be more.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Whether from here the last goal can be reached in exactly so many edges.
    fn can_finish(&self, node: usize, segment: usize, depth: usize, left: usize) -> bool {
        let this = &self.segments[segment];
        let most = left.min(this.most - depth);
        (0..=most).any(|edges| {
            this.leads(node, edges) && self.tails[segment + 1].get(left - edges) == Some(&true)
        })
    }

    fn begin(&mut self, length: usize) {
        self.length = length;
        self.enter(self.segments[0].start, 0, 0);
    }

    fn enter(&mut self, node: usize, segment: usize, depth: usize) {
        let edges = self.graph.outgoing(node);
        if !self.options.repeat_nodes {
            let place = self.place(segment, node);
            // Where a segment begins at its own goal, the goal is not yet reached.
            let returns = depth == 0 && self.segments[segment].start == self.segments[segment].goal;
            self.used[place] = !returns;
        }
        self.frames.push(Frame {
            node,
            segment,
            depth,
            next: edges.start,
            end: edges.end,
        });
    }

    fn place(&self, segment: usize, item: usize) -> usize {
        item * self.segments.len() + segment
    }

    /// Of what an edge uses up.
    fn place_of(&self, segment: usize, edge: &Edge) -> usize {
        let item = match self.options.repeat_nodes {
            true => edge.pair,
            false => edge.to,
        };
        self.place(segment, item)
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if !self.options.repeat_nodes {
            let place = self.place(frame.segment, frame.node);
            self.used[place] = false;
        }
        let Some(edge) = self.taken.pop() else {
            return;
        };
        let edge = &self.graph.edges()[edge];
        if let Some(before) = self.frames.last() {
            // The goal of a segment was marked in it as well as in the one that begins there.
            let place = self.place_of(before.segment, edge);
            self.used[place] = false;
        }
    }

    /// Whether this edge may be taken from the last frame; if so, the segment and depth that it leads to.
    fn admits(&self, edge: &Edge) -> Option<(usize, usize)> {
        let frame = self.frames.last()?;
        let segment = &self.segments[frame.segment];
        if self.used[self.place_of(frame.segment, edge)] {
            return None;
        }
        let left = self.length - self.taken.len() - 1;
        if edge.to != segment.goal {
            let depth = frame.depth + 1;
            let leads = self.can_finish(edge.to, frame.segment, depth, left);
            return (depth < segment.most && leads).then_some((frame.segment, depth));
        }
        self.tails[frame.segment + 1]
            .get(left)?
            .then_some((frame.segment + 1, 0))
    }

    fn found(&self) -> FoundPath<'g> {
        let graph = self.graph;
        let edges: Vec<&Edge> = self
            .taken
            .iter()
            .map(|&edge| &graph.edges()[edge])
            .collect();
        let first = self.segments.first().map(|segment| segment.start);
        let rest = edges.iter().map(|edge| edge.to);
        let nodes = first.into_iter().chain(rest);
        FoundPath {
            nodes: nodes.map(|node| graph.node_name(node)).collect(),
            edges,
        }
    }

    /// Goes on to the next length that can have a path.
    fn next_length(&mut self) -> bool {
        let longest = self.tails[0].len();
        let next = (self.length + 1..longest).find(|&length| self.tails[0][length]);
        if let Some(length) = next {
            self.begin(length);
        }
        next.is_some()
    }
}

impl<'g> Iterator for Search<'g, '_> {
    type Item = FoundPath<'g>;

    fn next(&mut self) -> Option<FoundPath<'g>> {
        while self.ending.is_none() {
            let Some(frame) = self.frames.last_mut() else {
                if !self.next_length() {
                    self.ending = Some(Ending::Complete);
                }
                continue;
            };
            if frame.next == frame.end {
                self.leave();
                continue;
            }
            let index = frame.next;
            frame.next += 1;
            self.steps += 1;
            if self.steps > self.options.max_steps {
                self.ending = Some(Ending::GaveUp);
                break;
            }
            let graph = self.graph;
            let edge = &graph.edges()[index];
            let Some((segment, depth)) = self.admits(edge) else {
                continue;
            };
            if segment == self.segments.len() {
                self.taken.push(index);
                let found = self.found();
                self.taken.pop();
                return Some(found);
            }
            if let Some(frame) = self.frames.last() {
                let place = self.place_of(frame.segment, edge);
                self.used[place] = true;
            }
            self.taken.push(index);
            self.enter(edge.to, segment, depth);
        }
        None
    }
}

/// By segment (and one beyond the last), then edges.
fn tails(segments: &[Segment]) -> Vec<Vec<bool>> {
    let mut tails = vec![vec![true]];
    for segment in segments.iter().rev() {
        let after = &tails[tails.len() - 1];
        let mut tail = vec![false; after.len() + segment.most];
        for edges in (1..=segment.most).filter(|&edges| segment.walks_from_start(edges) > 0) {
            for (more, _) in after.iter().enumerate().filter(|(_, possible)| **possible) {
                tail[edges + more] = true;
            }
        }
        tails.push(tail);
    }
    tails.reverse();
    tails
}
