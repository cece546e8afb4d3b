//! The ways through a node: from a subscription, or from nothing, to a publisher, or to nothing.
//!
//! Some follow from the callbacks: a subscription's callback publishes, or writes a variable that a publishing callback reads. All other
//! pairs of a subscription and a publisher are ways too, about which somebody has to declare a message context.

use std::collections::HashSet;

use crate::model::{Callback, ContextType, Endpoint, Node};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePath<'a> {
    pub subscription: Option<Endpoint>,
    pub publisher: Option<Endpoint>,
    /// The callbacks on the way, joined by variable passings; empty if it does not follow from callbacks.
    pub chain: Vec<&'a Callback>,
    pub context: Option<Context>,
}

/// How an output is made from an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    pub context_type: ContextType,
    /// False: nobody declared it, it follows from the chain.
    pub declared: bool,
}

impl NodePath<'_> {
    /// What is wrong with this way, if messages are to be followed along it.
    pub fn fault(&self) -> Option<ContextFault> {
        match self.context.map(|context| context.context_type) {
            None => Some(ContextFault::None),
            Some(ContextType::UseLatestMessage | ContextType::Tilde) => None,
            Some(ContextType::CallbackChain) if !self.chain.is_empty() => None,
            Some(ContextType::CallbackChain) => Some(ContextFault::EmptyChain),
            Some(ContextType::InheritUniqueStamp) => Some(ContextFault::InheritUniqueStamp),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextFault {
    /// Nothing says how the output is made from the input.
    None,
    /// `callback_chain`, but no variable passings lead from the subscription to the publisher.
    EmptyChain,
    /// Header stamps of received messages are not in traces.
    InheritUniqueStamp,
}

/// How far ways through a node are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Callbacks of a higher construction order take no part in chains; 0 for no limit. A node that makes the same timer again and
    /// again would otherwise have thousands.
    pub construction_order: u32,
    /// Chains of one node; variable passings in all directions have more than anybody can read.
    pub chains: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            construction_order: 10,
            chains: 10_000,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodePaths<'a> {
    pub paths: Vec<NodePath<'a>>,
    /// Callbacks beyond the limit of construction orders.
    pub left_out_callbacks: usize,
    /// Whether there are more chains than the limit allows.
    pub left_out_chains: bool,
}

/// All ways through a node, with their contexts.
pub fn node_paths(node: &Node, limits: Limits) -> NodePaths<'_> {
    let mut all = chains(node, limits);
    let mut pairs: HashSet<(Option<Endpoint>, Option<Endpoint>)> = (all.paths.iter())
        .map(|path| (path.subscription.clone(), path.publisher.clone()))
        .collect();
    let subscriptions = || node.subscriptions.iter().map(|it| Some(it.endpoint()));
    let publishers = || node.publishers.iter().map(|it| Some(it.endpoint()));
    let products = subscriptions().flat_map(|s| publishers().map(move |p| (s.clone(), p)));
    let only_publishers = publishers().map(|publisher| (None, publisher));
    let only_subscriptions = subscriptions().map(|subscription| (subscription, None));
    for pair in products.chain(only_publishers).chain(only_subscriptions) {
        if pairs.insert(pair.clone()) {
            all.paths.push(NodePath {
                subscription: pair.0,
                publisher: pair.1,
                chain: Vec::new(),
                context: None,
            });
        }
    }
    for path in &mut all.paths {
        path.context = context_of(node, path);
    }
    all
}

/// What was declared for the pair, the last of several; otherwise `callback_chain` if there is a chain.
fn context_of(node: &Node, path: &NodePath<'_>) -> Option<Context> {
    let (Some(subscription), Some(publisher)) = (&path.subscription, &path.publisher) else {
        return None;
    };
    let mut declared = (node.message_contexts.iter().rev())
        .filter(|context| context.is_about(subscription, publisher))
        .filter_map(|context| context.context_type);
    if let Some(context_type) = declared.next() {
        return Some(Context {
            context_type,
            declared: true,
        });
    }
    (!path.chain.is_empty()).then_some(Context {
        context_type: ContextType::CallbackChain,
        declared: false,
    })
}

/// The callback graph: from each callback along variable passings, never twice through one callback.
fn chains(node: &Node, limits: Limits) -> NodePaths<'_> {
    let mut all = NodePaths::default();
    let within = |callback: &&Callback| {
        !callback.is_service()
            && (limits.construction_order == 0
                || callback.construction_order <= limits.construction_order)
    };
    let callbacks: Vec<&Callback> = node.callbacks.iter().filter(within).collect();
    let services = node.callbacks.iter().filter(|it| it.is_service()).count();
    all.left_out_callbacks = node.callbacks.len() - services - callbacks.len();
    let index_of = |name: &str| callbacks.iter().position(|callback| callback.name == name);
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); callbacks.len()];
    for (write, read) in node.passings() {
        if let (Some(write), Some(read)) = (index_of(write), index_of(read))
            && !readers[write].contains(&read)
        {
            readers[write].push(read);
        }
    }
    for list in &mut readers {
        list.sort_unstable();
    }
    // Every prefix of a walk is itself a chain, so by the last callback they come as CARET lists them: first callback, then last.
    for first in 0..callbacks.len() {
        let mut found = Vec::new();
        let mut walk = vec![first];
        let mut next = vec![0];
        found.push(walk.clone());
        while let Some(&last) = walk.last() {
            if found.len() + all.paths.len() > limits.chains {
                all.left_out_chains = true;
                break;
            }
            let place = next.len() - 1;
            match readers[last].get(next[place]) {
                None => {
                    walk.pop();
                    next.pop();
                }
                Some(&reader) => {
                    next[place] += 1;
                    if !walk.contains(&reader) {
                        walk.push(reader);
                        next.push(0);
                        found.push(walk.clone());
                    }
                }
            }
        }
        found.sort_by_key(|chain| chain.last().copied());
        for chain in found {
            let chain: Vec<&Callback> = chain.into_iter().map(|index| callbacks[index]).collect();
            push_chain(node, chain, &mut all.paths);
        }
    }
    all
}

fn push_chain<'a>(node: &'a Node, chain: Vec<&'a Callback>, paths: &mut Vec<NodePath<'a>>) {
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
        return;
    };
    let subscription = node.subscription_of(first).map(|it| it.endpoint());
    let publishers: Vec<_> = node.publishers_of(&last.name).collect();
    let path = |publisher| NodePath {
        subscription: subscription.clone(),
        publisher,
        chain: chain.clone(),
        context: None,
    };
    if publishers.is_empty() && subscription.is_some() {
        paths.push(path(None));
    }
    paths.extend((publishers.into_iter()).map(|publisher| path(Some(publisher.endpoint()))));
}
