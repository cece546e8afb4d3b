//! Whether messages can be followed along a path: each node between the ends needs a context that says how.

use std::collections::HashMap;

use crate::communication::connects;
use crate::error::{Error, Item};
use crate::model::{Architecture, Endpoint, NamedPath, Node, PathStep};
use crate::node_path::{ContextFault, NodePaths, node_paths};

/// What is wrong with a path. Steps count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFault {
    pub step: usize,
    pub kind: PathFaultKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFaultKind {
    /// The path is not in this architecture.
    Broken,
    /// It is, but nothing tells how an output is made from an input.
    Context,
}

/// Everything that is wrong with a path; empty if messages can be followed from its start to its end.
pub fn verify(architecture: &Architecture, path: &NamedPath) -> Vec<PathFault> {
    Verifier::new(architecture).verify(path)
}

/// For several paths: ways through nodes are found once.
pub(crate) struct Verifier<'a> {
    architecture: &'a Architecture,
    nodes: HashMap<&'a str, &'a Node>,
    ways: HashMap<&'a str, NodePaths<'a>>,
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(architecture: &'a Architecture) -> Verifier<'a> {
        let nodes = architecture.nodes.iter();
        Verifier {
            architecture,
            nodes: nodes.map(|node| (node.name.as_str(), node)).collect(),
            ways: HashMap::new(),
        }
    }

    pub(crate) fn verify(&mut self, path: &NamedPath) -> Vec<PathFault> {
        let mut faults = Vec::new();
        let mut fault = |step, kind, message| {
            faults.push(PathFault {
                step,
                kind,
                message,
            });
        };
        if path.steps.is_empty() {
            fault(0, PathFaultKind::Broken, "the path has no nodes".to_owned());
        }
        for (index, step) in path.steps.iter().enumerate() {
            let next = path.steps.get(index + 1);
            match self.nodes.get(step.node.as_str()).copied() {
                None => {
                    let known = self.architecture.node_names();
                    let error = Error::unknown(Item::Node, &step.node, known);
                    fault(index, PathFaultKind::Broken, error.to_string());
                }
                Some(node) => {
                    if let Err(message) = endpoints_exist(node, step) {
                        fault(index, PathFaultKind::Broken, message);
                    } else if index > 0
                        && next.is_some()
                        && let Some(message) = self.context_fault(node, step)
                    {
                        fault(index, PathFaultKind::Context, message);
                    }
                }
            }
            if let Some(next) = next
                && let Err(message) = joined(step, next)
            {
                fault(index, PathFaultKind::Broken, message);
            }
        }
        faults
    }

    fn context_fault(&mut self, node: &'a Node, step: &PathStep) -> Option<String> {
        let ways = (self.ways.entry(&node.name)).or_insert_with(|| node_paths(node));
        let ways = || ways.between(&step.subscription, &step.publisher);
        let fault = ways().next()?.fault()?;
        if ways().any(|way| way.fault().is_none()) {
            return None;
        }
        context_sentence(node, step, fault)
    }
}

/// Whether one step publishes what the next one subscribes to.
pub(crate) fn joined(step: &PathStep, next: &PathStep) -> Result<(), String> {
    match (&step.publisher, &next.subscription) {
        (Some(publisher), Some(subscription)) if connects(publisher, subscription) => Ok(()),
        (Some(publisher), Some(subscription)) => Err(format!(
            "node `{}` publishes {publisher}, but the next one, `{}`, subscribes to {subscription}",
            step.node, next.node
        )),
        (None, _) => Err(format!(
            "node `{}` is not the last of the path, but has no publish_topic_name",
            step.node
        )),
        (_, None) => Err(format!(
            "node `{}` is not the first of the path, but has no subscribe_topic_name",
            next.node
        )),
    }
}

fn endpoints_exist(node: &Node, step: &PathStep) -> Result<(), String> {
    let missing = |verb: &str, endpoint: &Endpoint, known: Vec<Endpoint>| {
        let error = Error::InNode {
            node: node.name.clone(),
            fault: format!("does not {verb} {endpoint}"),
            similar: rostrace_base::similar::most_similar(
                &endpoint.topic,
                known.iter().map(|it| it.topic.as_str()),
            )
            .filter(|similar| *similar != endpoint.topic),
        };
        Err(error.to_string())
    };
    if let Some(publisher) = &step.publisher
        && node.publisher(publisher).is_none()
    {
        let known = node.publishers.iter().map(|it| it.endpoint());
        return missing("publish", publisher, known.collect());
    }
    if let Some(subscription) = &step.subscription
        && node.subscription(subscription).is_none()
    {
        let known = node.subscriptions.iter().map(|it| it.endpoint());
        return missing("subscribe to", subscription, known.collect());
    }
    Ok(())
}

/// How to say what a context is.
pub(crate) fn declaration(node: &str, subscription: &Endpoint, publisher: &Endpoint) -> String {
    format!(
        "`rostrace architecture set-context FILE {node} {} {} use_latest_message` declares that the newest message is used",
        subscription.topic, publisher.topic
    )
}

fn context_sentence(node: &Node, step: &PathStep, fault: ContextFault) -> Option<String> {
    let (subscription, publisher) = (step.subscription.as_ref()?, step.publisher.as_ref()?);
    let about = format!("node `{}`, from {subscription} to {publisher}", node.name);
    Some(match fault {
        ContextFault::None => format!(
            "{about}: the message context is UNDEFINED; {}",
            declaration(&node.name, subscription, publisher)
        ),
        ContextFault::EmptyChain => {
            let publishes = node.publisher(publisher)?;
            if publishes.callbacks.is_empty() {
                format!("{about}: callback_chain, but no callback is said to publish {publisher}")
            } else {
                format!(
                    "{about}: callback_chain, but no variable passings lead to the callback that publishes"
                )
            }
        }
    })
}
