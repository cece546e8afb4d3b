//! Who called whom: the samples of some executions as a tree, from the callback inwards.

use std::collections::{BTreeMap, HashMap};

use rostrace_model::sampling::Sample;
use rostrace_symbols::FunctionId;

use super::Profile;

/// A function that so many samples are below is where a callback begins: what called it is the executor.
const BEGINS: f64 = 0.95;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTree {
    /// The functions that all of it is below, the outermost first.
    pub above: Vec<String>,
    pub roots: Vec<CallTreeNode>,
    pub samples: usize,
}

/// A function, as called by those above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTreeNode {
    pub name: String,
    /// The file that the function is in.
    pub file: String,
    /// In it and in what it called.
    pub samples: usize,
    /// In itself.
    pub own: usize,
    /// Those with most samples first.
    pub children: Vec<CallTreeNode>,
}

#[derive(Debug, Default)]
struct Node {
    samples: usize,
    own: usize,
    children: BTreeMap<FunctionId, Node>,
}

impl CallTree {
    pub fn of<'s>(profile: &Profile, samples: impl Iterator<Item = &'s Sample>) -> CallTree {
        let stacks: Vec<Vec<FunctionId>> = samples
            .map(|sample| {
                let mut functions = profile.functions(sample);
                functions.reverse();
                functions
            })
            .collect();
        let begin = begin(&stacks);
        let mut above = Vec::new();
        let mut root = Node::default();
        for stack in &stacks {
            let at = begin.and_then(|begin| stack.iter().position(|it| *it == begin));
            let at = at.unwrap_or(0);
            if above.is_empty() {
                above = stack[..at].to_vec();
            }
            let mut node = &mut root;
            for function in &stack[at..] {
                node = node.children.entry(*function).or_default();
                node.samples += 1;
            }
            node.own += 1;
        }
        CallTree {
            above: above.iter().map(|id| profile.function(*id).name).collect(),
            samples: stacks.len(),
            roots: nodes(profile, root.children),
        }
    }
}

/// The innermost function that nearly all stacks have.
fn begin(stacks: &[Vec<FunctionId>]) -> Option<FunctionId> {
    let mut having: HashMap<FunctionId, usize> = HashMap::new();
    for stack in stacks {
        let mut seen = stack.clone();
        seen.sort_unstable();
        seen.dedup();
        for function in seen {
            *having.entry(function).or_default() += 1;
        }
    }
    let enough = |id: &FunctionId| {
        let number = having.get(id).copied().unwrap_or(0);
        number as f64 >= BEGINS * stacks.len() as f64
    };
    let longest = stacks.iter().find(|stack| stack.iter().any(enough))?;
    longest.iter().rev().find(|id| enough(id)).copied()
}

fn nodes(profile: &Profile, children: BTreeMap<FunctionId, Node>) -> Vec<CallTreeNode> {
    let mut list: Vec<CallTreeNode> = (children.into_iter())
        .map(|(id, node)| {
            let function = profile.function(id);
            CallTreeNode {
                name: function.name,
                file: function.file,
                samples: node.samples,
                own: node.own,
                children: nodes(profile, node.children),
            }
        })
        .collect();
    list.sort_by(|a, b| {
        let by_samples = b.samples.cmp(&a.samples);
        by_samples.then_with(|| a.name.cmp(&b.name))
    });
    list
}
