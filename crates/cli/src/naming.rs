//! What things are called: as people wrote them, `/controller · timer 10 ms`, `/fusion ← /points`. What the trace does not
//! name is called by its address.

use std::collections::HashMap;

use rostrace_trace::Model;
use rostrace_trace::entity::{
    Address, CallbackId, CallbackOwner, ClientId, NodeId, ProcessId, TimerId,
};

use crate::render::units;

pub(crate) const UNKNOWN_NODE: &str = "(unknown node)";

/// The names of all callbacks and clients of a model. Several of one name in a process are numbered in the order of their
/// creation, from the second one on: `/talker · timer 20 ms #2`.
#[derive(Debug)]
pub(crate) struct Names {
    callbacks: Vec<String>,
    clients: Vec<String>,
}

impl Names {
    pub(crate) fn of(model: &Model) -> Names {
        let mut seen: HashMap<(ProcessId, String), u32> = HashMap::new();
        let mut unique = |process: ProcessId, name: String| {
            let number = seen.entry((process, name.clone())).or_default();
            *number += 1;
            match *number {
                1 => name,
                number => format!("{name} #{number}"),
            }
        };
        let callbacks = (0..model.callbacks.len()).map(|index| {
            let id = CallbackId(index as u32);
            unique(model.callbacks[index].process, of_callback(model, id))
        });
        let callbacks = callbacks.collect();
        let clients = model.clients.iter().map(|client| {
            let name = format!("{} · client {}", of_node(model, client.node), client.name);
            unique(client.process, name)
        });
        Names {
            callbacks,
            clients: clients.collect(),
        }
    }

    pub(crate) fn callback(&self, id: CallbackId) -> &str {
        &self.callbacks[id.index()]
    }

    pub(crate) fn client(&self, id: ClientId) -> &str {
        &self.clients[id.index()]
    }
}

fn of_callback(model: &Model, id: CallbackId) -> String {
    let callback = &model.callbacks[id.index()];
    let node = of_node(model, model.node_of_callback(id));
    match callback.owner {
        CallbackOwner::Timer(id) => format!("{node} · {}", timer(model, id)),
        CallbackOwner::Subscription(id) => {
            format!("{node} ← {}", model.subscriptions[id.index()].topic)
        }
        CallbackOwner::Service(id) => {
            format!("{node} · service {}", model.services[id.index()].name)
        }
        CallbackOwner::Client(id) => format!("{node} · client {}", model.clients[id.index()].name),
        CallbackOwner::Unknown => {
            unnamed_callback(callback.addresses.first().copied().unwrap_or_default())
        }
    }
}

fn timer(model: &Model, id: TimerId) -> String {
    let period = model.timers[id.index()].period.0;
    format!("timer {}", units::period(period.unsigned_abs()))
}

pub(crate) fn of_node(model: &Model, node: Option<NodeId>) -> &str {
    model.node_name(node).unwrap_or(UNKNOWN_NODE)
}

pub(crate) fn unnamed_callback(address: Address) -> String {
    format!("callback {address} (unnamed)")
}

/// A publication may leave only events that do not even tell the publisher's address.
pub(crate) fn unnamed_topic(publisher: Option<&str>) -> String {
    match publisher {
        Some(address) => format!("topic of publisher {address} (unnamed)"),
        None => "topics of unknown publishers".to_owned(),
    }
}
