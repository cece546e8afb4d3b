//! A large application as few boxes: nodes, and namespaces that stand for all nodes in them, with topics as arrows. Which namespaces are open is decided as
//! the report does for its graph at first (`crates/report/assets/page/graph/visible.js`): all of a small system, else from the outside in, as long as there is room.

use std::collections::{BTreeMap, BTreeSet};

use super::picture::{Arrow, Figure, Picture, Shape};
use crate::model::Architecture;

/// Boxes that a picture has room for.
const MOST_BOXES: usize = 24;
/// A system of so many nodes is small enough to be drawn whole.
const ALL_OPEN: usize = 60;

/// Which namespaces are open, and which topics are drawn.
pub struct Folding<'f> {
    /// All namespaces, however many boxes that makes.
    pub all_open: bool,
    /// Whether a topic is left out that so many nodes publish and so many receive.
    pub is_hidden: &'f dyn Fn(&str, usize, usize) -> bool,
}

impl std::fmt::Debug for Folding<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Folding")
            .field("all_open", &self.all_open)
            .finish_non_exhaustive()
    }
}

/// What a picture does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Nodes that no topic of the picture leads from or to.
    pub nodes: usize,
    pub topics: Vec<String>,
}

impl Picture {
    /// Nodes and namespaces as boxes, topics as arrows.
    pub fn folded(architecture: &Architecture, folding: &Folding<'_>) -> (Picture, LeftOut) {
        let mut left_out = LeftOut::default();
        let mut ties: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for (topic, (from, to)) in &architecture.nodes_by_topic() {
            if (folding.is_hidden)(topic, from.len(), to.len()) {
                left_out.topics.push((*topic).to_owned());
                continue;
            }
            for from in from {
                for to in to.iter().filter(|to| *to != from) {
                    ties.entry((from, to)).or_default().insert(topic);
                }
            }
        }
        let nodes: BTreeSet<&str> = ties.keys().flat_map(|(from, to)| [*from, *to]).collect();
        left_out.nodes = architecture.nodes.len() - nodes.len();
        let mut root = Namespace::default();
        for node in &nodes {
            root.add(node);
        }
        let open = match folding.all_open || nodes.len() <= ALL_OPEN {
            true => None,
            false => Some(root.open_at_first()),
        };
        let box_of = |node: &'_ str| -> String {
            let closed = open.as_ref().and_then(|open| {
                let mut namespaces = namespaces_of(node);
                namespaces.find(|it| !open.contains(*it))
            });
            closed.unwrap_or(node).to_owned()
        };
        let mut members: BTreeMap<String, usize> = BTreeMap::new();
        for node in &nodes {
            *members.entry(box_of(node)).or_default() += 1;
        }
        let places: BTreeMap<&str, usize> = (members.keys().enumerate())
            .map(|(place, name)| (name.as_str(), place))
            .collect();
        let mut arrows: BTreeMap<(usize, usize), BTreeSet<&str>> = BTreeMap::new();
        for ((from, to), topics) in &ties {
            let ends = (places[box_of(from).as_str()], places[box_of(to).as_str()]);
            if ends.0 != ends.1 {
                arrows.entry(ends).or_default().extend(topics);
            }
        }
        let figure = |(name, count): (&String, &usize)| Figure {
            name: name.clone(),
            shape: match nodes.contains(name.as_str()) {
                true => Shape::Node,
                false => Shape::Namespace(*count),
            },
            cluster: None,
        };
        let arrow = |((from, to), topics): ((usize, usize), BTreeSet<&str>)| Arrow {
            from,
            to,
            topics: topics.into_iter().map(str::to_owned).collect(),
        };
        let picture = Picture {
            figures: members.iter().map(figure).collect(),
            arrows: arrows.into_iter().map(arrow).collect(),
            clusters: Vec::new(),
        };
        (picture, left_out)
    }
}

/// `/a` and `/a/b` of `/a/b/node`.
fn namespaces_of(node: &str) -> impl Iterator<Item = &str> {
    let slashes = node.match_indices('/').map(|(at, _)| at);
    slashes.filter(|at| *at > 0).map(|at| &node[..at])
}

#[derive(Debug, Default)]
struct Namespace<'a> {
    name: &'a str,
    nodes: usize,
    inner: BTreeMap<&'a str, Namespace<'a>>,
}

impl<'a> Namespace<'a> {
    fn add(&mut self, node: &'a str) {
        let mut space = self;
        for name in namespaces_of(node) {
            space = space.inner.entry(name).or_default();
            space.name = name;
        }
        space.nodes += 1;
    }

    /// What is seen of it when it is open.
    fn boxes(&self) -> usize {
        self.nodes + self.inner.len()
    }

    /// From the outside in, those with few boxes first, as long as there is room.
    fn open_at_first(&self) -> BTreeSet<String> {
        let mut open = BTreeSet::new();
        let mut boxes = self.boxes();
        let mut level = vec![self];
        while !level.is_empty() {
            let mut inner: Vec<&Namespace<'_>> =
                level.iter().flat_map(|it| it.inner.values()).collect();
            inner.sort_by_key(|it| it.boxes());
            level.clear();
            for space in inner {
                if boxes + space.boxes() - 1 <= MOST_BOXES {
                    boxes += space.boxes() - 1;
                    open.insert(space.name.to_owned());
                    level.push(space);
                }
            }
        }
        open
    }
}
