//! How many there are of everything: what the application consists of, and what nobody wrote. Every output that says a number of nodes,
//! topics or callbacks has it from here.

use std::collections::BTreeSet;

use rostrace_model::Model;
use rostrace_model::describe::{Description, built_in};
use rostrace_model::entity::{CallbackId, ClientId};
use serde::Serialize;

/// So many of the application, and so many that are built in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    pub application: u64,
    pub built_in: u64,
}

impl Count {
    pub fn all(self) -> u64 {
        self.application + self.built_in
    }

    fn of(built_in: impl Iterator<Item = bool>) -> Count {
        let mut count = Count::default();
        for built_in in built_in {
            match built_in {
                true => count.built_in += 1,
                false => count.application += 1,
            }
        }
        count
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Census {
    pub nodes: Count,
    pub topics: Count,
    /// Those of timers, subscriptions, services and clients.
    pub callbacks: Count,
}

impl Census {
    pub fn of(model: &Model) -> Census {
        let sent = model.publishers.iter().map(|it| it.topic.as_str());
        let received = model.subscriptions.iter().map(|it| it.topic.as_str());
        let topics: BTreeSet<&str> = sent.chain(received).collect();
        let callbacks = (0..model.callbacks.len()).map(CallbackId::from_index);
        let callbacks = callbacks.map(|id| built_in::callback(model, id));
        let clients = (0..model.clients.len()).map(ClientId::from_index);
        let clients = clients.map(|id| Description::of_client(model, id).built_in);
        Census {
            nodes: Count::of(model.nodes.iter().map(|node| built_in::node(&node.name))),
            topics: Count::of(topics.into_iter().map(built_in::topic)),
            callbacks: Count::of(callbacks.chain(clients)),
        }
    }
}
