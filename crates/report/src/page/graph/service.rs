//! Services and actions as connections of the graph: who calls whom, how often, and how long a round trip takes.
//!
//! A client is made on purpose, so services that every node has are shown where somebody has a client of them. The three services of an action
//! are shown as the action; its topics are hidden ones.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rostrace_analyze::Statistics;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::flow::Request;
use serde::Serialize;

use super::{Rows, per_second};

#[derive(Debug, Serialize)]
pub(super) struct Service<'a> {
    name: &'a str,
    is_action: bool,
}

/// Calls of one service, from one node to another.
#[derive(Debug, Serialize)]
pub(super) struct Calls {
    service: usize,
    client: usize,
    server: usize,
    /// The callback that answers.
    callback: Option<usize>,
    calls: u64,
    /// Those whose response the client took.
    answered: u64,
    /// What the service did where the trace does not tell for whom: its own events name no client before Kilted.
    unattributed: u64,
    /// Over the whole time, as of publishers.
    per_second: Option<f64>,
    /// Of round trips; of an action without the wait for its result.
    p50: Option<i64>,
    p99: Option<i64>,
    max: Option<i64>,
}

/// Rows of service, client's node, server's node and callback.
type ServiceKey = (usize, usize, usize, Option<usize>);

#[derive(Debug, Default)]
struct SeenCalls {
    calls: u64,
    answered: u64,
    unattributed: u64,
    round_trips: Vec<(i64, Nanos)>,
}

const ACTION: &str = "/_action/";
/// Its response comes when the action has ended, so its round trip is no latency.
const GET_RESULT: &str = "get_result";

/// The name of the service, or of the action that it belongs to; nothing of what is hidden otherwise.
fn shown_name(name: &str) -> Option<(&str, bool)> {
    if let Some((action, _)) = name.rsplit_once(ACTION) {
        return Some((action, true));
    }
    (!built_in::client(name)).then_some((name, false))
}

impl<'a> Rows<'a> {
    pub(super) fn services(&mut self) {
        let model = self.subject.analysis.model;
        let mut servers: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, service) in model.services.iter().enumerate() {
            servers.entry(&service.name).or_default().push(index);
        }
        let mut rows: HashMap<(&'a str, bool), usize> = HashMap::new();
        let mut seen: BTreeMap<ServiceKey, SeenCalls> = BTreeMap::new();
        // Who could call whom, whether it did or not.
        let mut keys: HashMap<(usize, usize), ServiceKey> = HashMap::new();
        for (client_index, client) in model.clients.iter().enumerate() {
            let Some(shown) = shown_name(&client.name) else {
                continue;
            };
            for &index in servers.get(client.name.as_str()).into_iter().flatten() {
                let service = &model.services[index];
                let ends = (self.node(client.node), self.node(service.node));
                let (Some(from), Some(to)) = ends else {
                    continue;
                };
                let services = &mut self.graph.services;
                let row = *rows.entry(shown).or_insert_with(|| {
                    let (name, is_action) = shown;
                    services.push(Service { name, is_action });
                    services.len() - 1
                });
                let callback = service.callback.and_then(|it| self.callbacks.get(&it));
                let key = (row, from, to, callback.copied());
                keys.insert((client_index, index), key);
                seen.entry(key).or_default();
            }
        }
        let mut attributed: HashSet<usize> = HashSet::new();
        for request in &model.requests {
            let Some(service) = request.service else {
                continue;
            };
            let Some(first) = first_instant(request) else {
                continue;
            };
            if !self.subject.analysis.counts(first) {
                continue;
            }
            let Some(client) = request.client else {
                continue;
            };
            attributed.insert(service.index());
            let Some(key) = keys.get(&(client.index(), service.index())) else {
                continue;
            };
            let own = seen.entry(*key).or_default();
            own.calls += 1;
            own.answered += u64::from(request.received.is_some());
            let is_result = model.services[service.index()]
                .name
                .ends_with(&format!("{ACTION}{GET_RESULT}"));
            if let (Some(sent), Some(received), false) = (request.sent, request.received, is_result)
            {
                own.round_trips.push((received.0 - sent.0, first));
            }
        }
        let executions = self.subject.shared.callbacks();
        let of_services: BTreeSet<(ServiceKey, usize)> =
            keys.iter().map(|((_, it), key)| (*key, *it)).collect();
        for (key, service) in of_services {
            let callback = model.services[service].callback;
            if let (Some(callback), false) = (callback, attributed.contains(&service)) {
                let own = seen.entry(key).or_default();
                own.unattributed += executions[callback.index()].count;
            }
        }
        for ((service, client, server, callback), mut seen) in seen {
            let round_trip = Statistics::of(&mut seen.round_trips);
            self.graph.calls.push(Calls {
                service,
                client,
                server,
                callback,
                calls: seen.calls,
                answered: seen.answered,
                unattributed: seen.unattributed,
                per_second: per_second(self.subject, seen.calls).filter(|_| seen.unattributed == 0),
                p50: round_trip.map(|it| it.p50),
                p99: round_trip.map(|it| it.p99),
                max: round_trip.map(|it| it.max),
            });
        }
    }
}

fn first_instant(request: &Request) -> Option<Nanos> {
    let all = [
        request.sent,
        request.taken,
        request.answered,
        request.received,
    ];
    all.into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_services_of_an_action_are_the_action() {
        for service in ["send_goal", "cancel_goal", "get_result"] {
            let name = format!("/arm/move/_action/{service}");
            assert_eq!(shown_name(&name), Some(("/arm/move", true)));
        }
    }

    #[test]
    fn what_is_hidden_is_not_shown_and_the_services_of_every_node_are() {
        assert_eq!(shown_name("/node/_private"), None);
        let name = "/node/get_parameters";
        assert_eq!(shown_name(name), Some((name, false)));
    }
}
