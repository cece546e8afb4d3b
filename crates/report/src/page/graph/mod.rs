//! The graph of nodes and topics: who sends to whom, how often, how late, and what was lost on the way; who calls whose services ([`service`]); inside nodes,
//! which callback published what.
//!
//! Where things stand in the picture is found in the browser (`assets/page/graph`), because it depends on which namespaces are open. Nodes that lived
//! several times under one name are one node here. What would tie everything to everything ([`hub_topic`]) is marked, and has its figures by receiver only.

mod service;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use rostrace_analyze::communication::{DropCause, Pair};
use rostrace_analyze::hub_topic;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::{built_in, names};
use rostrace_model::entity::{CallbackId, CallbackOwner, NodeId, PublisherId, SubscriptionId};
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::part::PagePart;

/// All references are row numbers of the lists here, except where an `id` says otherwise.
#[derive(Debug, Default, Serialize)]
struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    topics: Vec<Topic<'a>>,
    publishers: Vec<Publisher>,
    subscriptions: Vec<Subscription>,
    communications: Vec<Communication>,
    callbacks: Vec<Callback<'a>>,
    causes: Vec<Cause>,
    services: Vec<service::Service<'a>>,
    calls: Vec<service::Calls>,
}

#[derive(Debug, Serialize)]
struct Node<'a> {
    name: &'a str,
    /// One for each time that it lived.
    lives: Vec<Life<'a>>,
    executions: u64,
    /// Time in its callbacks as a share of the time that it was observed, of the life in which that is largest.
    busy: Option<f64>,
    lateness: Option<i64>,
    /// The callback that was so late.
    latest: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Life<'a> {
    id: usize,
    pid: i64,
    process: &'a str,
}

#[derive(Debug, Serialize)]
struct Topic<'a> {
    /// Its place among the names of all topics of the trace.
    id: usize,
    name: &'a str,
    /// Why it is not shown at first.
    hidden: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Publisher {
    topic: usize,
    node: usize,
    messages: u64,
    /// Between the first message and the last one.
    rate: Option<f64>,
    /// Over the whole time, so that those of several add up, and a short burst does not count as a high rate.
    per_second: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Subscription {
    topic: usize,
    node: usize,
    received: u64,
    rate: Option<f64>,
    callback: Option<usize>,
}

/// Messages from one publisher to one subscription; of a hidden topic, from all publishers.
#[derive(Debug, Serialize)]
struct Communication {
    publisher: Option<usize>,
    subscription: usize,
    messages: u64,
    arrived: u64,
    dropped: u64,
    p50: Option<i64>,
    p99: Option<i64>,
    max: Option<i64>,
}

#[derive(Debug, Serialize)]
struct Callback<'a> {
    id: usize,
    node: usize,
    /// Without its node.
    name: &'a str,
    executions: u64,
    per_second: Option<f64>,
    busy: Option<f64>,
    p99: Option<i64>,
    max: Option<i64>,
    lateness: Option<i64>,
}

/// Messages that a callback published; outside of callbacks if there is none.
#[derive(Debug, Serialize)]
struct Cause {
    callback: Option<usize>,
    publisher: usize,
    messages: u64,
}

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    PagePart::new("graph", &graph(subject), Columns::default())
}

fn graph(subject: Subject<'_>) -> Graph<'_> {
    let mut rows = Rows::new(subject);
    rows.callbacks();
    rows.endpoints();
    rows.hide_hubs();
    rows.communications();
    rows.causes();
    rows.services();
    rows.graph
}

/// The lists as they grow, and where the things of the model are in them.
struct Rows<'a> {
    subject: Subject<'a>,
    graph: Graph<'a>,
    node_of_name: HashMap<&'a str, usize>,
    topic_of_name: HashMap<&'a str, usize>,
    publishers: HashMap<PublisherId, usize>,
    subscriptions: HashMap<SubscriptionId, usize>,
    callbacks: HashMap<CallbackId, usize>,
}

impl<'a> Rows<'a> {
    fn new(subject: Subject<'a>) -> Rows<'a> {
        let model = subject.analysis.model;
        let mut rows = Rows {
            subject,
            graph: Graph::default(),
            node_of_name: HashMap::new(),
            topic_of_name: HashMap::new(),
            publishers: HashMap::new(),
            subscriptions: HashMap::new(),
            callbacks: HashMap::new(),
        };
        for (id, name) in subject.shared.topics().iter().copied().enumerate() {
            if subject.analysis.selection.fits_topic(Some(name)) {
                rows.topic_of_name.insert(name, rows.graph.topics.len());
                rows.graph.topics.push(Topic {
                    id,
                    name,
                    hidden: None,
                });
            }
        }
        for index in 0..model.nodes.len() {
            let id = NodeId::from_index(index);
            let Some(row) = rows.node(Some(id)) else {
                continue;
            };
            let process = &model.processes[model.nodes[index].process.index()];
            rows.graph.nodes[row].lives.push(Life {
                id: index,
                pid: process.pid,
                process: &process.name,
            });
        }
        rows
    }

    /// The row of a node, which is made if it has none yet; nothing if the node is not wanted.
    fn node(&mut self, id: Option<NodeId>) -> Option<usize> {
        let model = self.subject.analysis.model;
        let name = names::of_node(model, id);
        if built_in::node(name) || !self.subject.analysis.selection.has_node(model, id) {
            return None;
        }
        let nodes = &mut self.graph.nodes;
        Some(*self.node_of_name.entry(name).or_insert_with(|| {
            nodes.push(Node {
                name,
                lives: Vec::new(),
                executions: 0,
                busy: None,
                lateness: None,
                latest: None,
            });
            nodes.len() - 1
        }))
    }

    fn callbacks(&mut self) {
        let analysis = self.subject.analysis;
        let model = analysis.model;
        // By life, in the order of nodes, so that the sums are the same in every run.
        let mut busy: BTreeMap<Option<NodeId>, f64> = BTreeMap::new();
        for summary in self.subject.shared.callbacks() {
            let id = model.node_of_callback(summary.callback);
            let owner = model.callbacks[summary.callback.index()].owner;
            if id.is_none() && (summary.count == 0 || owner == CallbackOwner::Unknown) {
                continue;
            }
            let Some(node) = self.node(id) else { continue };
            let row = self.graph.callbacks.len();
            let of_node = &mut self.graph.nodes[node];
            of_node.executions += summary.count;
            if let Some(share) = summary.utilisation {
                *busy.entry(id).or_default() += share;
            }
            if built_in::callback(model, summary.callback) {
                continue;
            }
            let lateness = summary.lateness.map(|lateness| lateness.max);
            if lateness > of_node.lateness {
                (of_node.lateness, of_node.latest) = (lateness, Some(row));
            }
            let name = analysis.names.callback(summary.callback);
            let own = name.strip_prefix(names::of_node(model, id));
            self.callbacks.insert(summary.callback, row);
            self.graph.callbacks.push(Callback {
                id: summary.callback.index(),
                node,
                name: own.unwrap_or(name).trim_start_matches([' ', '·']),
                executions: summary.count,
                per_second: per_second(self.subject, summary.count),
                busy: summary.utilisation,
                p99: summary.duration.map(|duration| duration.p99),
                max: summary.duration.map(|duration| duration.max),
                lateness,
            });
        }
        for (id, share) in busy {
            if let Some(node) = self.node(id) {
                let busy = &mut self.graph.nodes[node].busy;
                *busy = Some(busy.unwrap_or(0.0).max(share));
            }
        }
    }

    fn endpoints(&mut self) {
        let analysis = self.subject.analysis;
        let endpoints = self.subject.shared.endpoints();
        for (index, publisher) in analysis.model.publishers.iter().enumerate() {
            let id = PublisherId::from_index(index);
            let topic = self.topic_of_name.get(publisher.topic.as_str()).copied();
            let Some((topic, node)) = topic.and_then(|it| Some((it, self.node(publisher.node)?)))
            else {
                continue;
            };
            let summary = &endpoints.publishers[index];
            self.publishers.insert(id, self.graph.publishers.len());
            self.graph.publishers.push(Publisher {
                topic,
                node,
                messages: summary.messages,
                rate: summary.rate,
                per_second: per_second(self.subject, summary.messages),
            });
        }
        for (index, subscription) in analysis.model.subscriptions.iter().enumerate() {
            let id = SubscriptionId::from_index(index);
            let topic = self.topic_of_name.get(subscription.topic.as_str()).copied();
            let Some((topic, node)) =
                topic.and_then(|it| Some((it, self.node(subscription.node)?)))
            else {
                continue;
            };
            let summary = &endpoints.subscriptions[index];
            let callback = subscription.callback.and_then(|it| self.callbacks.get(&it));
            self.subscriptions
                .insert(id, self.graph.subscriptions.len());
            self.graph.subscriptions.push(Subscription {
                topic,
                node,
                received: summary.messages,
                rate: summary.rate,
                callback: callback.copied(),
            });
        }
    }

    fn hide_hubs(&mut self) {
        let graph = &mut self.graph;
        let publishing = hub_topic::nodes_by_topic(
            graph.topics.len(),
            graph.publishers.iter().map(|it| (it.topic, it.node)),
        );
        let subscribing = hub_topic::nodes_by_topic(
            graph.topics.len(),
            graph.subscriptions.iter().map(|it| (it.topic, it.node)),
        );
        for (row, topic) in graph.topics.iter_mut().enumerate() {
            topic.hidden = hub_topic::reason(topic.name, publishing[row], subscribing[row]);
        }
    }

    fn communications(&mut self) {
        let mut of_hidden: BTreeMap<usize, Communication> = BTreeMap::new();
        for pair in self.subject.shared.pairs() {
            let publisher = self.publishers.get(&pair.publisher).copied();
            let Some(&subscription) = self.subscriptions.get(&pair.subscription) else {
                continue;
            };
            let topic = self.graph.subscriptions[subscription].topic;
            if self.graph.topics[topic].hidden.is_some() {
                let one = Communication::of(pair, None, subscription);
                match of_hidden.get_mut(&subscription) {
                    Some(all) => all.add(&one),
                    None => drop(of_hidden.insert(subscription, one)),
                }
            } else if publisher.is_some() {
                let one = Communication::of(pair, publisher, subscription);
                self.graph.communications.push(one);
            }
        }
        self.graph.communications.extend(of_hidden.into_values());
    }

    fn causes(&mut self) {
        let analysis = self.subject.analysis;
        let mut causes: BTreeMap<(usize, Option<usize>), u64> = BTreeMap::new();
        for publication in &analysis.model.publications {
            let publisher = publication
                .publisher
                .and_then(|it| self.publishers.get(&it));
            let Some(&publisher) = publisher else {
                continue;
            };
            if !analysis.counts(publication.publish) {
                continue;
            }
            let instance = publication.instance.map(|it| analysis.instance(it));
            let callback = instance.and_then(|instance| instance.callback);
            let callback = callback.and_then(|it| self.callbacks.get(&it)).copied();
            *causes.entry((publisher, callback)).or_default() += 1;
        }
        let causes = causes.into_iter();
        self.graph.causes = causes
            .map(|((publisher, callback), messages)| Cause {
                callback,
                publisher,
                messages,
            })
            .collect();
    }
}

impl Communication {
    fn of(pair: &Pair, publisher: Option<usize>, subscription: usize) -> Communication {
        let really = [
            DropCause::RingBufferFull,
            DropCause::HistoryFull,
            DropCause::Middleware,
        ];
        Communication {
            publisher,
            subscription,
            messages: pair.messages,
            arrived: pair.arrived,
            dropped: really
                .iter()
                .map(|cause| pair.dropped[*cause as usize])
                .sum(),
            p50: pair.latency.map(|latency| latency.p50),
            p99: pair.latency.map(|latency| latency.p99),
            max: pair.latency.map(|latency| latency.max),
        }
    }

    /// Counts add up; of latencies the worst stays.
    fn add(&mut self, other: &Communication) {
        self.messages += other.messages;
        self.arrived += other.arrived;
        self.dropped += other.dropped;
        self.p50 = self.p50.max(other.p50);
        self.p99 = self.p99.max(other.p99);
        self.max = self.max.max(other.max);
    }
}

fn per_second(subject: Subject<'_>, number: u64) -> Option<f64> {
    let (begin, end) = (Nanos(subject.begin), Nanos(subject.end));
    let paused = subject.analysis.model.losses.paused(begin, end);
    let nanoseconds = subject.end - subject.begin - paused;
    (nanoseconds > 0).then(|| number as f64 * 1e9 / nanoseconds as f64)
}
