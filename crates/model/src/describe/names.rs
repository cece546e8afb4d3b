//! What things are called: as people wrote them, `/controller · timer 10 ms`, `/fusion ← /points`. What the trace does not
//! name is called by its address.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{CallbackKind, Description};
use crate::Model;
use crate::entity::{Address, CallbackId, ClientId, InstanceId, NodeId, ProcessId};
use crate::flow::{Delivery, Publication};

pub const UNKNOWN_NODE: &str = "(unknown node)";
const UNNAMED: &str = "(unnamed)";
const UNKNOWN_TOPICS: &str = "topics of unknown publishers";

/// The names of all callbacks and clients of a model. Several of one name in a process are numbered in the order of their
/// creation, from the second one on: `/talker · timer 20 ms #2`.
#[derive(Debug)]
pub struct Names {
    callbacks: Vec<Name>,
    clients: Vec<Name>,
}

#[derive(Debug)]
struct Name {
    text: String,
    /// How much of the text comes before the number.
    unnumbered: usize,
}

impl Names {
    pub fn of(model: &Model) -> Names {
        let mut seen: HashMap<(ProcessId, String), u32> = HashMap::new();
        let mut unique = |process: ProcessId, text: String| {
            let unnumbered = text.len();
            let number = seen.entry((process, text.clone())).or_default();
            *number += 1;
            let text = match *number {
                1 => text,
                number => format!("{text} #{number}"),
            };
            Name { text, unnumbered }
        };
        let callbacks = (0..model.callbacks.len()).map(|index| {
            let id = CallbackId::from_index(index);
            unique(model.callbacks[index].process, of_callback(model, id))
        });
        let callbacks = callbacks.collect();
        let clients = model.clients.iter().enumerate().map(|(index, client)| {
            let client_of = Description::of_client(model, ClientId::from_index(index));
            unique(client.process, described(&client_of).unwrap_or_default())
        });
        Names {
            callbacks,
            clients: clients.collect(),
        }
    }

    pub fn callback(&self, id: CallbackId) -> &str {
        &self.callbacks[id.index()].text
    }

    /// The same for all callbacks of one name: a node that lived twice, or a callback that was made again.
    pub fn unnumbered(&self, id: CallbackId) -> &str {
        let name = &self.callbacks[id.index()];
        &name.text[..name.unnumbered]
    }

    /// What ran, whether the trace names it or not; the same for all callbacks of one name.
    pub fn execution(&self, model: &Model, instance: InstanceId) -> Cow<'_, str> {
        let instance = &model.instances[instance.index()];
        match instance.callback {
            Some(callback) => self.unnumbered(callback).into(),
            None => unnamed_callback(instance.address).into(),
        }
    }

    pub fn client(&self, id: ClientId) -> &str {
        &self.clients[id.index()].text
    }
}

fn of_callback(model: &Model, id: CallbackId) -> String {
    described(&Description::of(model, id)).unwrap_or_else(|| {
        let addresses = &model.callbacks[id.index()].addresses;
        unnamed_callback(addresses.first().copied().unwrap_or_default())
    })
}

fn described(callback: &Description<'_>) -> Option<String> {
    let trigger = callback.trigger()?;
    let node = callback.node_name.unwrap_or(UNKNOWN_NODE);
    Some(match callback.kind {
        CallbackKind::Subscription => format!("{node} ← {trigger}"),
        CallbackKind::Timer => format!("{node} · {trigger}"),
        kind => format!("{node} · {} {trigger}", kind.name()),
    })
}

pub fn of_node(model: &Model, node: Option<NodeId>) -> &str {
    model.node_name(node).unwrap_or(UNKNOWN_NODE)
}

/// What stands for the node of something that the trace does not name: its process.
pub fn unnamed_node(model: &Model, process: ProcessId) -> String {
    let process = &model.processes[process.index()];
    format!("({} {})", process.name, process.pid)
}

/// The node that a message comes from, as far as the trace tells.
pub fn sender<'m>(model: &'m Model, publication: &Publication) -> Cow<'m, str> {
    match publication.publisher {
        Some(id) => of_node(model, model.publishers[id.index()].node).into(),
        None => unnamed_node(model, model.process_of(publication.thread)).into(),
    }
}

/// The node that got a message, or should have.
pub fn receiver<'m>(model: &'m Model, delivery: &Delivery) -> Cow<'m, str> {
    let subscription = delivery
        .subscription
        .map(|id| &model.subscriptions[id.index()]);
    let instance = delivery.instance.map(|id| &model.instances[id.index()]);
    match (subscription, instance) {
        (Some(subscription), _) => of_node(model, subscription.node).into(),
        (None, Some(instance)) => unnamed_node(model, model.process_of(instance.thread)).into(),
        (None, None) => UNKNOWN_NODE.into(),
    }
}

/// The topic that a publication went to.
pub fn topic_of<'m>(model: &'m Model, publication: &Publication) -> Cow<'m, str> {
    match publication.publisher {
        Some(id) => model.publishers[id.index()].topic.as_str().into(),
        None => {
            let handles = [publication.handle, publication.rmw_handle];
            let address = handles.into_iter().find(|it| it.0 != 0);
            unnamed_topic(address.map(|it| it.to_string()).as_deref()).into()
        }
    }
}

/// The topic of a message, which either of its ends may know.
pub fn topic<'m>(model: &'m Model, delivery: &Delivery) -> Cow<'m, str> {
    match delivery.subscription {
        Some(id) => model.subscriptions[id.index()].topic.as_str().into(),
        None => topic_of(model, &model.publications[delivery.publication.index()]),
    }
}

pub fn unnamed_callback(address: Address) -> String {
    format!("callback {address} {UNNAMED}")
}

/// A publication may leave only events that do not even tell the publisher's address.
pub fn unnamed_topic(publisher: Option<&str>) -> String {
    match publisher {
        Some(address) => format!("topic of publisher {address} {UNNAMED}"),
        None => UNKNOWN_TOPICS.to_owned(),
    }
}

/// Whether a callback or topic is called so for want of a name.
pub fn is_unnamed(name: &str) -> bool {
    name.ends_with(UNNAMED) || name == UNKNOWN_TOPICS
}
