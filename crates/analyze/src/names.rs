//! What things are called: as people wrote them, `/controller · timer 10 ms`, `/fusion ← /points`. What the trace does not
//! name is called by its address.

use std::collections::HashMap;

use rostrace_trace::Model;
use rostrace_trace::entity::{
    Address, CallbackId, CallbackOwner, ClientId, NodeId, ProcessId, TimerId,
};

pub const UNKNOWN_NODE: &str = "(unknown node)";

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
        let clients = model.clients.iter().map(|client| {
            let name = format!("{} · client {}", of_node(model, client.node), client.name);
            unique(client.process, name)
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

    pub fn client(&self, id: ClientId) -> &str {
        &self.clients[id.index()].text
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
    let nanos = model.timers[id.index()].period.0;
    format!("timer {}", period(nanos.unsigned_abs()))
}

pub fn of_node(model: &Model, node: Option<NodeId>) -> &str {
    model.node_name(node).unwrap_or(UNKNOWN_NODE)
}

pub fn unnamed_callback(address: Address) -> String {
    format!("callback {address} (unnamed)")
}

/// A publication may leave only events that do not even tell the publisher's address.
pub fn unnamed_topic(publisher: Option<&str>) -> String {
    match publisher {
        Some(address) => format!("topic of publisher {address} (unnamed)"),
        None => "topics of unknown publishers".to_owned(),
    }
}

/// What a timer is set to: `10 ms`, `33.333 ms`, `2.5 s`. No needless zeros.
pub fn period(nanos: u64) -> String {
    const UNITS: [&str; 4] = ["ns", "µs", "ms", "s"];
    let mut value = nanos as f64;
    let mut unit = 0;
    // What would be rounded to 1000 is 1 of the next unit.
    while value >= 999.999_5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimal = format!("{value:.3}");
    let decimal = decimal.trim_end_matches('0').trim_end_matches('.');
    format!("{decimal} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::period;

    #[test]
    fn the_period_of_a_timer_has_no_needless_zeros() {
        for (nanos, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.5 µs"),
            (10_000_000, "10 ms"),
            (33_333_333, "33.333 ms"),
            (100_000_000, "100 ms"),
            (999_999_999, "1 s"),
            (1_000_000_000, "1 s"),
            (2_500_000_000, "2.5 s"),
            (90_000_000_000, "90 s"),
        ] {
            assert_eq!(period(nanos), expected, "{nanos}");
        }
    }
}
