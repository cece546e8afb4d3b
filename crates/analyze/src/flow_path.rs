//! Paths that messages really took, from observed causality: a message that was published inside an execution was caused by the message that
//! this execution received.
//!
//! So every execution has one way back, and the distinct ways back are the paths. Only an output that was also made from messages which its node
//! had stored, as [`stored_input`](crate::stored_input) assumes, has one way more for each of them. A way that comes back to a callback that it passed
//! before is cut there: a loop is a path from the callback to itself.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rostrace_model::describe::names;
use rostrace_model::entity::{Address, CallbackId, DeliveryId, InstanceId, ProcessId};
use rostrace_model::flow::{DeliveryStatus, Publication};

use crate::analysis::Analysis;
use crate::clocks::UnsynchronisedHosts;
use crate::service_hop;
use crate::stored_input::StoredInputs;
use crate::why::service_name;

/// Ways back from one execution that are followed. Each fusion on the way may double their number; those along what was seen come first.
const MOST_WAYS: usize = 64;

/// A callback, whichever process or life of its node it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepName(u32);

const UNNAMED: StepName = StepName(u32::MAX);
const OUTSIDE: StepName = StepName(u32::MAX - 1);

/// One step of a path: a message, and the callback that received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub publishing_node: String,
    pub topic: String,
    /// The service through which it was caused, if it was not published by the node before itself or in another callback.
    pub service: Option<String>,
    /// As people say it.
    pub callback: String,
    pub node: String,
}

/// Where a path begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In a callback that no message caused.
    Callback { name: String, node: String },
    /// Outside of all callbacks.
    Outside,
}

/// A distinct path, with all its flows.
#[derive(Debug, Clone)]
pub struct FlowPath {
    pub origin: Origin,
    pub hops: Vec<Hop>,
    pub flows: Vec<Flow>,
}

/// One message along a path: for each hop the delivery that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    pub deliveries: Vec<DeliveryId>,
}

impl Flow {
    /// By hop: whether the node stored the message, and the next one, published by another execution, is assumed to be made from it.
    pub fn assumed(&self, analysis: &Analysis<'_>) -> impl Iterator<Item = bool> {
        let next = self.deliveries.iter().skip(1);
        let pairs = self.deliveries.iter().zip(next);
        let within = pairs.map(move |(received, next)| {
            let publication = analysis.delivery(*next).publication;
            let received = analysis.delivery(*received).instance;
            let asker = service_hop::hop_to(analysis, publication).map(|(asker, _)| asker);
            received != analysis.publication(publication).instance
                && (asker.is_none() || received != asker)
        });
        within.chain(std::iter::once(false))
    }
}

impl FlowPath {
    /// Whether the trace names all that it passes. Addresses and processes are of one recording only.
    pub fn is_named(&self) -> bool {
        let mut names = (self.hops.iter()).flat_map(|hop| [&hop.topic, &hop.callback]);
        !names.any(|name| names::is_unnamed(name))
    }
}

/// Which ends a path has to have: names of nodes or topics, by any test.
pub struct Ends<'f> {
    pub from: Option<&'f dyn Fn(&str) -> bool>,
    pub to: Option<&'f dyn Fn(&str) -> bool>,
}

impl std::fmt::Debug for Ends<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (from, to) = (self.from.is_some(), self.to.is_some());
        f.debug_struct("Ends")
            .field("from", &from)
            .field("to", &to)
            .finish()
    }
}

impl FlowPath {
    /// Where it leads from one host to another whose clock is not known to agree.
    pub fn unsynchronised_hosts<'m>(
        &self,
        analysis: &Analysis<'m>,
    ) -> Option<UnsynchronisedHosts<'m>> {
        let mut flows = self.flows.iter();
        flows.find_map(|flow| UnsynchronisedHosts::on_the_way(analysis, &flow.deliveries))
    }

    /// `/sensor → /points → /fusion → /objects → /planner`
    pub fn title(&self) -> String {
        let mut title = String::new();
        for hop in &self.hops {
            if title.is_empty() {
                title.push_str(&hop.publishing_node);
            }
            if let Some(service) = hop.service.as_ref().filter(|_| !title.is_empty()) {
                title += &format!(" → {service} → {}", hop.publishing_node);
            }
            title += &format!(" → {} → {}", hop.topic, hop.node);
        }
        title
    }
}

/// What is known of all paths.
#[derive(Debug)]
pub struct FlowPaths<'a> {
    analysis: &'a Analysis<'a>,
    stored: &'a StoredInputs,
    /// By execution: the delivery that caused it and the execution before; nothing where a path begins.
    causes: Vec<Option<DeliveryId>>,
    /// By callback: what they are called. Several lives of a node share names.
    callback_names: Vec<StepName>,
    /// Callbacks that the trace does not name.
    unnamed: HashMap<(ProcessId, Address), StepName>,
}

impl<'a> FlowPaths<'a> {
    pub fn of(analysis: &'a Analysis<'a>) -> FlowPaths<'a> {
        let model = analysis.model;
        let mut known: HashMap<(String, &str), u32> = HashMap::new();
        let callback_names = (0..model.callbacks.len()).map(|index| {
            let id = CallbackId::from_index(index);
            let node = model.node_name(model.node_of_callback(id)).unwrap_or("");
            let name = analysis.names.unnumbered(id).to_owned();
            let next = known.len() as u32;
            StepName(*known.entry((name, node)).or_insert(next))
        });
        let callback_names = callback_names.collect();
        let mut next = known.len() as u32;
        let mut unnamed = HashMap::new();
        for instance in model.instances.iter().filter(|it| it.callback.is_none()) {
            let key = (model.process_of(instance.thread), instance.address);
            unnamed.entry(key).or_insert_with(|| {
                next += 1;
                StepName(next - 1)
            });
        }
        let instances = (0..model.instances.len()).map(InstanceId::from_index);
        let causes = instances.map(|instance| cause(analysis, instance));
        FlowPaths {
            analysis,
            stored: analysis.stored_inputs(),
            causes: causes.collect(),
            callback_names,
            unnamed,
        }
    }

    /// All paths to executions that caused no other, in the order in which they first occurred: the tables number them so.
    pub fn observed(analysis: &'a Analysis<'a>) -> Vec<FlowPath> {
        let ends = Ends {
            from: None,
            to: None,
        };
        FlowPaths::of(analysis).paths(&ends)
    }

    /// The message that caused an execution.
    pub fn cause(&self, instance: InstanceId) -> Option<DeliveryId> {
        self.causes[instance.index()]
    }

    /// The execution that a message was published in.
    fn publishing(&self, delivery: DeliveryId) -> Option<InstanceId> {
        let publication = self.analysis.delivery(delivery).publication;
        self.analysis.publication(publication).instance
    }

    /// The execution that led to a message: it published it, or asked the service that did, or whose response led to it.
    fn maker(&self, delivery: DeliveryId) -> Option<InstanceId> {
        let publication = self.analysis.delivery(delivery).publication;
        let asker = service_hop::hop_to(self.analysis, publication).map(|(asker, _)| asker);
        asker
            .filter(|asker| self.cause(*asker).is_some())
            .or_else(|| self.publishing(delivery))
    }

    fn name(&self, instance: InstanceId) -> Option<StepName> {
        let instance = self.analysis.instance(instance);
        match instance.callback {
            Some(callback) => Some(self.callback_names[callback.index()]),
            None => {
                let process = self.analysis.model.process_of(instance.thread);
                self.unnamed.get(&(process, instance.address)).copied()
            }
        }
    }

    /// The deliveries that led to an execution, the first one first: back to an execution that no message caused, or to an
    /// earlier one of a callback that was passed already. Several if stored messages were used on the way.
    pub fn ways_to(&self, instance: InstanceId) -> Vec<Vec<DeliveryId>> {
        let mut found = Vec::new();
        if let Some(delivery) = self.cause(instance) {
            let mut passed: Vec<StepName> = self.name(instance).into_iter().collect();
            self.go_back(&mut vec![delivery], &mut passed, &mut found);
        }
        found
    }

    /// From the message that was reached last, against the order of time.
    fn go_back(
        &self,
        way: &mut Vec<DeliveryId>,
        passed: &mut Vec<StepName>,
        found: &mut Vec<Vec<DeliveryId>>,
    ) {
        if found.len() == MOST_WAYS {
            return;
        }
        let known = passed.len();
        let mut is_end = true;
        if let Some(&last) = way.last()
            && let Some(maker) = self.maker(last)
            && let Some(name) = self.name(maker).filter(|name| !passed.contains(name))
        {
            passed.push(name);
            if let Some(cause) = self.cause(maker) {
                is_end = false;
                way.push(cause);
                self.go_back(way, passed, found);
                way.pop();
            }
            let output = self.analysis.delivery(last).publication;
            for stored in self.stored.inputs_of(output) {
                let name = self.receiver(*stored);
                let Some(name) = name.filter(|name| !passed.contains(name)) else {
                    continue;
                };
                is_end = false;
                passed.push(name);
                way.push(*stored);
                self.go_back(way, passed, found);
                way.pop();
                passed.pop();
            }
        }
        if is_end {
            found.push(way.iter().rev().copied().collect());
        }
        passed.truncate(known);
    }

    /// All paths with these ends, each with its flows in the order of time. Without ends: the longest ones, that is, those
    /// of executions that caused no other.
    pub fn paths(&self, ends: &Ends<'_>) -> Vec<FlowPath> {
        let analysis = self.analysis;
        let mut places: HashMap<Vec<(u32, StepName)>, usize> = HashMap::new();
        let mut topics: HashMap<(Cow<'_, str>, Cow<'_, str>), u32> = HashMap::new();
        let mut paths: Vec<FlowPath> = Vec::new();
        for (index, causes_another) in self.causing().into_iter().enumerate() {
            let instance = InstanceId::from_index(index);
            if self.cause(instance).is_none() {
                continue;
            }
            let is_end = match ends.to {
                Some(to) => self.is_end(instance, to),
                None => !causes_another,
            };
            if !is_end {
                continue;
            }
            let mut ways = self.ways_to(instance);
            if let Some(from) = ends.from {
                ways.retain_mut(|way| {
                    let begin = way.iter().position(|it| self.is_begin(*it, from));
                    way.drain(..begin.unwrap_or(way.len()));
                    !way.is_empty()
                });
                // Those that differ in what lies before the begin are one.
                let mut known = HashSet::new();
                ways.retain(|way| known.insert(way.clone()));
            }
            for way in ways {
                let first = analysis.delivery(way[0]).publication;
                if !analysis.counts(analysis.publication(first).publish) {
                    continue;
                }
                let mut key = Vec::with_capacity(way.len() + 1);
                key.push((u32::MAX, self.origin_name(way[0])));
                for delivery in &way {
                    let next = topics.len() as u32;
                    let message = topics.entry(self.published(*delivery));
                    let message = *message.or_insert(next);
                    key.push((message, self.receiver(*delivery).unwrap_or(UNNAMED)));
                }
                let place = *places.entry(key).or_insert_with(|| {
                    paths.push(self.describe(&way));
                    paths.len() - 1
                });
                paths[place].flows.push(Flow { deliveries: way });
            }
        }
        paths
    }

    /// By execution: whether a message of it, or one that was made from what it stored, was received by another one.
    fn causing(&self) -> Vec<bool> {
        let mut causing = vec![false; self.causes.len()];
        for delivery in self.causes.iter().flatten() {
            if let Some(before) = self.maker(*delivery) {
                causing[before.index()] = true;
            }
            let output = self.analysis.delivery(*delivery).publication;
            for stored in self.stored.inputs_of(output) {
                if let Some(before) = self.analysis.delivery(*stored).instance {
                    causing[before.index()] = true;
                }
            }
        }
        causing
    }

    fn is_end(&self, instance: InstanceId, to: &dyn Fn(&str) -> bool) -> bool {
        let analysis = self.analysis;
        let callback = analysis.instance(instance).callback;
        let node = callback.and_then(|callback| {
            let node = analysis.model.node_of_callback(callback);
            analysis.model.node_name(node)
        });
        let topic = self
            .cause(instance)
            .map(|delivery| self.published(delivery).1);
        let node = node.map_or_else(|| self.node(instance), Cow::Borrowed);
        to(&node) || topic.is_some_and(|topic| to(&topic))
    }

    fn is_begin(&self, delivery: DeliveryId, from: &dyn Fn(&str) -> bool) -> bool {
        let (node, topic) = self.published(delivery);
        from(&node) || from(&topic)
    }

    /// Node and topic of a message.
    fn published(&self, delivery: DeliveryId) -> (Cow<'a, str>, Cow<'a, str>) {
        let delivery = self.analysis.delivery(delivery);
        published(
            self.analysis,
            self.analysis.publication(delivery.publication),
        )
    }

    /// What stands for the node of an execution.
    fn node(&self, instance: InstanceId) -> Cow<'a, str> {
        let model = self.analysis.model;
        let row = self.analysis.instance(instance);
        match row.callback {
            Some(callback) => {
                let node = model.node_name(model.node_of_callback(callback));
                node.unwrap_or_default().into()
            }
            None => names::unnamed_node(model, model.process_of(row.thread)).into(),
        }
    }

    fn receiver(&self, delivery: DeliveryId) -> Option<StepName> {
        self.name(self.analysis.delivery(delivery).instance?)
    }

    /// Outside of callbacks is not the same as in a callback without a name.
    fn origin_name(&self, first: DeliveryId) -> StepName {
        match self.publishing(first) {
            Some(instance) => self.name(instance).unwrap_or(UNNAMED),
            None => OUTSIDE,
        }
    }

    fn describe(&self, way: &[DeliveryId]) -> FlowPath {
        let analysis = self.analysis;
        let of_execution = |instance: InstanceId| {
            let name = analysis.names.execution(analysis.model, instance);
            (name.into_owned(), self.node(instance).into_owned())
        };
        let origin = match self.publishing(way[0]) {
            Some(instance) => {
                let (name, node) = of_execution(instance);
                Origin::Callback { name, node }
            }
            None => Origin::Outside,
        };
        let hops = way.iter().map(|delivery| {
            let output = analysis.delivery(*delivery).publication;
            let service = service_hop::hop_to(analysis, output);
            let service = service.map(|(_, hop)| service_name(analysis, hop.request()).to_owned());
            let instance = analysis.delivery(*delivery).instance;
            let (callback, node) = instance.map(of_execution).unwrap_or_default();
            let (publishing_node, topic) = self.published(*delivery);
            Hop {
                publishing_node: publishing_node.into_owned(),
                topic: topic.into_owned(),
                service,
                callback,
                node,
            }
        });
        FlowPath {
            origin,
            hops: hops.collect(),
            flows: Vec::new(),
        }
    }
}

/// The message that caused an execution: one that was under way to it, not one that was older than the subscription.
pub(crate) fn cause(analysis: &Analysis<'_>, instance: InstanceId) -> Option<DeliveryId> {
    let delivery = analysis.received_by(instance)?;
    let row = analysis.delivery(delivery);
    let subscription = row.subscription;
    let subscription = subscription.map(|id| &analysis.model.subscriptions[id.index()]);
    let publication = analysis.publication(row.publication);
    let is_seen = subscription.is_none_or(|it| it.created <= publication.publish);
    let counts = row.status == DeliveryStatus::Delivered && is_seen;
    counts.then_some(delivery)
}

/// Node and topic of a publication, as paths call them.
pub(crate) fn published<'m>(
    analysis: &Analysis<'m>,
    publication: &Publication,
) -> (Cow<'m, str>, Cow<'m, str>) {
    let model = analysis.model;
    let node = match publication.publisher {
        Some(id) => {
            let node = model.node_name(model.publishers[id.index()].node);
            node.unwrap_or_default().into()
        }
        None => names::sender(model, publication),
    };
    (node, names::topic_of(model, publication))
}
