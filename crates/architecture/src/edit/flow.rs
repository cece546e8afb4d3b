//! How data goes through a node: variable passings, callbacks of publishers, message contexts.

use crate::error::{Error, Item};
use crate::model::{Architecture, ContextType, Endpoint, MessageContext, Node, VariablePassing};
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
    /// Says that callback `write` leaves data for callback `read`. Saying it again changes nothing.
    pub fn insert_variable_passing(
        &mut self,
        node: &str,
        write: &str,
        read: &str,
    ) -> Result<(), Error> {
        let node = self.node_mut(node)?;
        expect_callback(node, write)?;
        expect_callback(node, read)?;
        if !node.passings().any(|pair| pair == (write, read)) {
            node.variable_passings
                .push(VariablePassing::new(write, read));
        }
        Ok(())
    }

    /// Takes it back, and with it the declared callback chains from the writer's subscription to the reader's
    /// publishers.
    pub fn remove_variable_passing(
        &mut self,
        node: &str,
        write: &str,
        read: &str,
    ) -> Result<(), Error> {
        let node = self.node_mut(node)?;
        expect_callback(node, write)?;
        expect_callback(node, read)?;
        let before = node.variable_passings.len();
        (node.variable_passings).retain(|passing| passing.pair() != Some((write, read)));
        if node.variable_passings.len() == before {
            return Err(Error::InNode {
                node: node.name.clone(),
                fault: format!("has no variable passing from `{write}` to `{read}`"),
                similar: None,
            });
        }
        let input = (node.callback(write))
            .and_then(|callback| node.subscription_of(callback))
            .map(|subscription| subscription.endpoint());
        let outputs: Vec<Endpoint> = node.publishers_of(read).map(|it| it.endpoint()).collect();
        node.message_contexts.retain(|context| {
            context.context_type != Some(ContextType::CallbackChain)
                || Some(&context.subscription) != input.as_ref()
                || !outputs.contains(&context.publisher)
        });
        Ok(())
    }

    /// Says that a callback publishes with a publisher. Saying it again changes nothing.
    pub fn insert_publisher_callback(
        &mut self,
        node: &str,
        publisher: &Endpoint,
        callback: &str,
    ) -> Result<(), Error> {
        let node = self.node_mut(node)?;
        expect_callback(node, callback)?;
        let index = publisher_index(node, publisher)?;
        let callbacks = &mut node.publishers[index].callbacks;
        if !callbacks.iter().any(|name| name == callback) {
            callbacks.push(callback.to_owned());
        }
        Ok(())
    }

    pub fn remove_publisher_callback(
        &mut self,
        node: &str,
        publisher: &Endpoint,
        callback: &str,
    ) -> Result<(), Error> {
        let node = self.node_mut(node)?;
        let index = publisher_index(node, publisher)?;
        let callbacks = &mut node.publishers[index].callbacks;
        match callbacks.iter().position(|name| name == callback) {
            Some(place) => {
                callbacks.remove(place);
                Ok(())
            }
            None => {
                let similar = most_similar(callback, callbacks.iter().map(String::as_str));
                Err(Error::InNode {
                    node: node.name.clone(),
                    fault: format!("does not publish {publisher} in callback `{callback}`"),
                    similar,
                })
            }
        }
    }

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

fn expect_callback(node: &Node, name: &str) -> Result<(), Error> {
    if node.callback(name).is_some() {
        return Ok(());
    }
    let known = node.callbacks.iter().map(|callback| callback.name.as_str());
    Err(Error::InNode {
        node: node.name.clone(),
        fault: format!("has no {} `{name}`", Item::Callback),
        similar: most_similar(name, known),
    })
}

fn publisher_index(node: &Node, endpoint: &Endpoint) -> Result<usize, Error> {
    let found = node.publishers.iter().position(|it| it.is(endpoint));
    found.ok_or_else(|| {
        let known = node.publishers.iter().map(|it| it.topic.as_str());
        no_endpoint(node, "publish", &endpoint.into(), known)
    })
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
