//! How data goes through a node: message contexts.

use crate::error::Error;
use crate::model::{Architecture, ContextType, Endpoint, MessageContext, Node};
use rostrace_base::similar::most_similar;

/// One publisher or subscription of a topic, or all of that topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointQuery<'a> {
    pub topic: &'a str,
    /// None: whatever its construction order.
    pub construction_order: Option<u32>,
}

impl EndpointQuery<'_> {
    fn matches(&self, endpoint: &Endpoint) -> bool {
        endpoint.topic == self.topic
            && (self.construction_order).is_none_or(|order| order == endpoint.construction_order)
    }
}

impl<'a> From<&'a str> for EndpointQuery<'a> {
    fn from(topic: &'a str) -> EndpointQuery<'a> {
        EndpointQuery {
            topic,
            construction_order: None,
        }
    }
}

impl<'a> From<&'a Endpoint> for EndpointQuery<'a> {
    fn from(endpoint: &'a Endpoint) -> EndpointQuery<'a> {
        EndpointQuery {
            topic: &endpoint.topic,
            construction_order: Some(endpoint.construction_order),
        }
    }
}

impl Architecture {
    /// Declares how a node makes outputs from inputs, or with none takes back what was declared.
    pub fn update_message_context<'q>(
        &mut self,
        node: &str,
        context_type: Option<ContextType>,
        subscription: impl Into<EndpointQuery<'q>>,
        publisher: impl Into<EndpointQuery<'q>>,
    ) -> Result<(), Error> {
        let (subscription, publisher) = (subscription.into(), publisher.into());
        let node = self.node_mut(node)?;
        let inputs: Vec<Endpoint> = (node.subscriptions.iter().map(|it| it.endpoint()))
            .filter(|endpoint| subscription.matches(endpoint))
            .collect();
        let outputs: Vec<Endpoint> = (node.publishers.iter().map(|it| it.endpoint()))
            .filter(|endpoint| publisher.matches(endpoint))
            .collect();
        if inputs.is_empty() {
            let known = node.subscriptions.iter().map(|it| it.topic.as_str());
            return Err(no_endpoint(node, "subscribe to", &subscription, known));
        }
        if outputs.is_empty() {
            let known = node.publishers.iter().map(|it| it.topic.as_str());
            return Err(no_endpoint(node, "publish", &publisher, known));
        }
        for input in &inputs {
            for output in &outputs {
                declare(node, context_type, input, output);
            }
        }
        Ok(())
    }
}

fn declare(
    node: &mut Node,
    context_type: Option<ContextType>,
    input: &Endpoint,
    output: &Endpoint,
) {
    let extras = (node.message_contexts.iter().rev())
        .find(|context| context.is_about(input, output))
        .map(|context| context.extras.clone())
        .unwrap_or_default();
    node.message_contexts
        .retain(|context| !context.is_about(input, output));
    if context_type.is_some() || !extras.is_empty() {
        node.message_contexts.push(MessageContext {
            context_type,
            subscription: input.clone(),
            publisher: output.clone(),
            callbacks: Vec::new(),
            extras,
        });
    }
}

fn no_endpoint<'a>(
    node: &Node,
    verb: &str,
    query: &EndpointQuery<'_>,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    let order = match query.construction_order {
        Some(order) if order > 0 => format!(" #{order}"),
        _ => String::new(),
    };
    let similar = most_similar(query.topic, known).filter(|similar| similar != query.topic);
    Error::InNode {
        node: node.name.clone(),
        fault: format!("does not {verb} {}{order}", query.topic),
        similar,
    }
}
