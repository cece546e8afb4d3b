//! The ways through a node: from a subscription, or from nothing, to a publisher, or to nothing.
//!
//! Some follow from the callbacks: a subscription's callback publishes, or writes a variable that a publishing
//! callback reads. All other pairs of a subscription and a publisher are ways too, about which somebody has to
//! declare a message context.

use std::collections::HashMap;

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
            // Stamps of headers are followed where a trace tells them.
            Some(
                ContextType::UseLatestMessage
                | ContextType::Tilde
                | ContextType::InheritUniqueStamp,
            ) => None,
            Some(ContextType::CallbackChain) if !self.chain.is_empty() => None,
            Some(ContextType::CallbackChain) => Some(ContextFault::EmptyChain),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextFault {
    /// Nothing says how the output is made from the input.
    None,
    /// `callback_chain`, but no variable passings lead from the subscription to the publisher.
    EmptyChain,
}

/// Callbacks of a higher construction order take no part in chains: a node that makes the same timer again and again would
/// have thousands.
pub(crate) const MOST_CONSTRUCTION_ORDER: u32 = 10;
/// Chains of one node; variable passings in all directions have more than anybody can read.
pub(crate) const MOST_CHAINS: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodePaths<'a> {
    pub paths: Vec<NodePath<'a>>,
    /// Callbacks beyond the limit of construction orders.
    pub left_out_callbacks: usize,
    /// Whether there are more chains than the limit allows.
    pub left_out_chains: bool,
    between: HashMap<Pair, Vec<usize>>,
}

type Pair = (Option<Endpoint>, Option<Endpoint>);

impl<'a> NodePaths<'a> {
    /// The ways from a subscription to a publisher: several if there are several chains.
    pub fn between(
        &self,
        subscription: &Option<Endpoint>,
        publisher: &Option<Endpoint>,
    ) -> impl Iterator<Item = &NodePath<'a>> {
        let found = (self.between).get(&(subscription.clone(), publisher.clone()));
        found.into_iter().flatten().map(|&index| &self.paths[index])
    }

    fn push(&mut self, path: NodePath<'a>) {
        let pair = (path.subscription.clone(), path.publisher.clone());
        self.between.entry(pair).or_default().push(self.paths.len());
        self.paths.push(path);
    }
}

/// All ways through a node, with their contexts.
pub fn node_paths(node: &Node) -> NodePaths<'_> {
    let mut all = chains(node);
    let subscriptions = || node.subscriptions.iter().map(|it| Some(it.endpoint()));
    let publishers = || node.publishers.iter().map(|it| Some(it.endpoint()));
    let products = subscriptions().flat_map(|s| publishers().map(move |p| (s.clone(), p)));
    let only_publishers = publishers().map(|publisher| (None, publisher));
    let only_subscriptions = subscriptions().map(|subscription| (subscription, None));
    for pair in products.chain(only_publishers).chain(only_subscriptions) {
        if !all.between.contains_key(&pair) {
            all.push(NodePath {
                subscription: pair.0,
                publisher: pair.1,
                chain: Vec::new(),
                context: None,
            });
        }
    }
    // The last of several that are declared for one pair.
    let declared: HashMap<(&Endpoint, &Endpoint), ContextType> = (node.message_contexts.iter())
        .filter_map(|it| Some(((&it.subscription, &it.publisher), it.context_type?)))
        .collect();
    for path in &mut all.paths {
        path.context = context_of(path, &declared);
    }
    all
}

/// What was declared for the pair; otherwise `callback_chain` if there is a chain.
fn context_of(
    path: &NodePath<'_>,
    declared: &HashMap<(&Endpoint, &Endpoint), ContextType>,
) -> Option<Context> {
    let pair = (path.subscription.as_ref()?, path.publisher.as_ref()?);
    if let Some(&context_type) = declared.get(&pair) {
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
fn chains(node: &Node) -> NodePaths<'_> {
    let mut all = NodePaths::default();
    let within = |callback: &&Callback| {
        !callback.is_service() && callback.construction_order <= MOST_CONSTRUCTION_ORDER
    };
    let callbacks: Vec<&Callback> = node.callbacks.iter().filter(within).collect();
    let services = node.callbacks.iter().filter(|it| it.is_service()).count();
    all.left_out_callbacks = node.callbacks.len() - services - callbacks.len();
    let readers = readers(node, &callbacks);
    let mut inputs: HashMap<&str, Endpoint> = HashMap::new();
    for subscription in node.subscriptions.iter().rev() {
        if let Some(callback) = &subscription.callback {
            inputs.insert(callback, subscription.endpoint());
        }
    }
    let mut outputs: HashMap<&str, Vec<Endpoint>> = HashMap::new();
    for publisher in &node.publishers {
        for callback in &publisher.callbacks {
            let of_callback = outputs.entry(callback).or_default();
            of_callback.push(publisher.endpoint());
        }
    }
    for first in 0..callbacks.len() {
        let left = MOST_CHAINS.saturating_sub(all.paths.len());
        let (mut found, complete) = walks(&readers, first, left);
        all.left_out_chains |= !complete;
        // As CARET lists them: by the first callback, then by the last.
        found.sort_by_key(|walk| walk.last().copied());
        for walk in found {
            let chain: Vec<&Callback> = walk.into_iter().map(|index| callbacks[index]).collect();
            let subscription = chain.first().and_then(|it| inputs.get(it.name.as_str()));
            let publishers = chain.last().and_then(|it| outputs.get(it.name.as_str()));
            let publishers = publishers.map(Vec::as_slice).unwrap_or_default();
            let only_subscription = publishers.is_empty() && subscription.is_some();
            let publishers = publishers.iter().cloned().map(Some);
            for publisher in publishers.chain(only_subscription.then_some(None)) {
                all.push(NodePath {
                    subscription: subscription.cloned(),
                    publisher,
                    chain: chain.clone(),
                    context: None,
                });
            }
        }
    }
    all
}

/// For each callback those that read what it writes.
fn readers(node: &Node, callbacks: &[&Callback]) -> Vec<Vec<usize>> {
    let indices: HashMap<&str, usize> = (callbacks.iter().enumerate())
        .map(|(index, callback)| (callback.name.as_str(), index))
        .collect();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); callbacks.len()];
    for (write, read) in node.passings() {
        if let (Some(&write), Some(&read)) = (indices.get(write), indices.get(read)) {
            readers[write].push(read);
        }
    }
    for list in &mut readers {
        list.sort_unstable();
        list.dedup();
    }
    readers
}

/// Every walk from one callback that meets none twice, and whether that is all of them.
fn walks(readers: &[Vec<usize>], first: usize, most: usize) -> (Vec<Vec<usize>>, bool) {
    let mut found = Vec::new();
    let mut walk = vec![first];
    let mut next = vec![0];
    let mut steps = 0;
    found.push(walk.clone());
    while let (Some(&last), Some(place)) = (walk.last(), next.last_mut()) {
        steps += 1;
        if found.len() > most || steps > most.saturating_mul(100) {
            found.truncate(most);
            return (found, false);
        }
        match readers[last].get(*place) {
            None => {
                walk.pop();
                next.pop();
            }
            Some(&reader) => {
                *place += 1;
                if !walk.contains(&reader) {
                    walk.push(reader);
                    next.push(0);
                    found.push(walk.clone());
                }
            }
        }
    }
    (found, true)
}
