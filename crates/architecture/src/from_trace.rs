//! An architecture out of a recording: what was there, and (if asked for) what the flows prove about it.
//!
//! Nodes that lived several times under one name are one node of the file: the structure of the first that has it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rostrace_model::Model;
use rostrace_model::entity::{
    self, CallbackGroupId, CallbackId, CallbackOwner, NodeId, PublisherId, SubscriptionId,
};

use crate::model::{
    Architecture, Callback, CallbackGroup, CallbackGroupType, CallbackKind, Endpoint, Executor,
    Node, Publisher, Subscription, is_hidden_topic,
};
use crate::naming;

/// Nodes of the recorder itself.
const RECORDER: &str = "caret_trace_";

/// The architecture that a recording shows, as CARET would see it. Publishers are bound to no callback, and a callback that
/// is in no group is left out if anything in the recording tells of groups.
pub fn from_trace(model: &Model) -> Architecture {
    let mut builder = FromTrace::new(model);
    if !builder.grouped.is_empty() {
        builder.grouped = (0..model.processes.len() as u32)
            .map(entity::ProcessId)
            .collect();
    }
    builder.build().architecture
}

/// The architecture that a recording shows, with what its flows prove: which callbacks publish with which publisher, and
/// which outputs were made in the callback that received an input.
pub fn from_trace_with_flows(model: &Model) -> Architecture {
    let mut built = FromTrace::new(model).build();
    built.bind(model);
    built.architecture
}

struct FromTrace<'m> {
    model: &'m Model,
    /// By name, all generations in the order of creation.
    nodes: BTreeMap<&'m str, Vec<NodeId>>,
    /// Processes that tell of callback groups; elsewhere a callback without one is still a callback.
    grouped: HashSet<entity::ProcessId>,
}

struct Built {
    architecture: Architecture,
    /// Names that the callbacks got.
    callbacks: HashMap<CallbackId, String>,
    publishers: HashMap<PublisherId, (usize, Endpoint)>,
}

impl<'m> FromTrace<'m> {
    fn new(model: &'m Model) -> FromTrace<'m> {
        let mut nodes: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
        for (index, node) in model.nodes.iter().enumerate() {
            if !node.name.contains(RECORDER) {
                nodes
                    .entry(&node.name)
                    .or_default()
                    .push(NodeId(index as u32));
            }
        }
        let grouped = model
            .callback_groups
            .iter()
            .map(|group| group.process)
            .collect();
        FromTrace {
            model,
            nodes,
            grouped,
        }
    }

    fn build(self) -> Built {
        let mut built = Built {
            architecture: Architecture::default(),
            callbacks: HashMap::new(),
            publishers: HashMap::new(),
        };
        let mut groups = HashMap::new();
        for (name, generations) in &self.nodes {
            // The first of several lives stands for all.
            if let Some(first) = generations.first() {
                self.node(name, *first, &mut built, &mut groups);
            }
        }
        self.executors(&mut built.architecture, &groups);
        built
    }

    fn node(
        &self,
        name: &str,
        id: NodeId,
        built: &mut Built,
        groups: &mut HashMap<CallbackGroupId, String>,
    ) {
        let model = self.model;
        let mut node = Node::new(name);
        let place = built.architecture.nodes.len();
        let callbacks = self.callbacks(id);
        let names = naming::callback_names(name, callbacks.len());
        for ((callback, entry), name) in callbacks.into_iter().zip(names) {
            node.callbacks.push(Callback {
                name: name.clone(),
                ..entry
            });
            built.callbacks.insert(callback, name);
        }
        let services = self.service_callbacks(id);
        let names = naming::service_callback_names(name, services.len());
        built.callbacks.extend(services.into_iter().zip(names));

        let of_node: Vec<CallbackGroupId> = (0..model.callback_groups.len())
            .map(|index| CallbackGroupId(index as u32))
            .filter(|group| {
                let members = &model.callback_groups[group.index()].callbacks;
                members
                    .iter()
                    .any(|member| model.node_of_callback(*member) == Some(id))
            })
            .collect();
        let shown = |group: &CallbackGroupId| -> Vec<String> {
            let members = model.callback_groups[group.index()].callbacks.iter();
            let names = members.filter(|member| !is_service(model, **member));
            names
                .filter_map(|member| built.callbacks.get(member).cloned())
                .collect()
        };
        let only_services: Vec<bool> = of_node
            .iter()
            .map(|group| shown(group).is_empty())
            .collect();
        for ((group, name), only_services) in of_node
            .iter()
            .zip(naming::callback_group_names(name, &only_services))
            .zip(&only_services)
        {
            if *only_services {
                continue;
            }
            let it = &model.callback_groups[group.index()];
            let group_type = match (it.executor, it.kind) {
                (Some(_), entity::CallbackGroupType::MutuallyExclusive) => {
                    CallbackGroupType::MutuallyExclusive
                }
                (Some(_), entity::CallbackGroupType::Reentrant) => CallbackGroupType::Reentrant,
                _ => CallbackGroupType::Undefined,
            };
            node.callback_groups
                .push(CallbackGroup::new(group_type, &name, shown(group)));
            groups.insert(*group, name);
        }
        self.endpoints(id, place, &mut node, built);
        built.architecture.nodes.push(node);
    }

    /// Timers in the order of creation, then subscriptions, with their construction orders.
    fn callbacks(&self, node: NodeId) -> Vec<(CallbackId, Callback)> {
        let model = self.model;
        let timers = model
            .timers
            .iter()
            .filter(|timer| timer.node == Some(node))
            .map(|timer| {
                let period_ns = timer.period.0.unsigned_abs();
                (timer.callback, CallbackKind::Timer { period_ns })
            });
        let subscriptions = model
            .subscriptions
            .iter()
            .filter(|it| it.node == Some(node) && !is_hidden_topic(&it.topic))
            .map(|it| {
                (
                    it.callback,
                    CallbackKind::Subscription {
                        topic: it.topic.clone(),
                    },
                )
            });
        let callbacks: Vec<(CallbackId, CallbackKind, String)> = timers
            .chain(subscriptions)
            .filter_map(|(callback, kind)| {
                let callback = callback.filter(|callback| self.is_complete(*callback))?;
                let symbol = model.callbacks[callback.index()].symbol.clone()?;
                Some((callback, kind, symbol))
            })
            .collect();
        let orders = naming::construction_orders(
            callbacks
                .iter()
                .map(|(_, kind, symbol)| (kind.clone(), symbol.clone())),
        );
        callbacks
            .into_iter()
            .zip(orders)
            .map(|((callback, kind, symbol), order)| {
                (callback, Callback::new("", kind, symbol, order))
            })
            .collect()
    }

    /// Without those of lifecycle services: CARET cannot tell whose they are, and numbers the others.
    fn service_callbacks(&self, node: NodeId) -> Vec<CallbackId> {
        let services = self.model.services.iter();
        let own = services.filter(|service| service.node == Some(node));
        own.filter_map(|service| service.callback)
            .filter(|id| {
                let callback = &self.model.callbacks[id.index()];
                !callback.symbol.as_deref().is_some_and(is_of_lifecycle)
            })
            .collect()
    }

    /// Where groups are recorded, a callback that is in none is one that no executor can run.
    fn is_complete(&self, callback: CallbackId) -> bool {
        let it = &self.model.callbacks[callback.index()];
        it.group.is_some() || !self.grouped.contains(&it.process)
    }

    fn endpoints(&self, id: NodeId, place: usize, node: &mut Node, built: &mut Built) {
        let model = self.model;
        let publishers: Vec<PublisherId> = (0..model.publishers.len())
            .filter(|index| model.publishers[*index].node == Some(id))
            .filter(|index| !is_hidden_topic(&model.publishers[*index].topic))
            .map(|index| PublisherId(index as u32))
            .collect();
        let topics = publishers
            .iter()
            .map(|id| &model.publishers[id.index()].topic);
        for (id, order) in publishers.iter().zip(naming::construction_orders(topics)) {
            let topic = model.publishers[id.index()].topic.clone();
            let endpoint = Endpoint {
                topic: topic.clone(),
                construction_order: order,
            };
            built.publishers.insert(*id, (place, endpoint));
            node.publishers
                .push(Publisher::new(topic, Vec::new(), order));
        }
        let subscriptions: Vec<SubscriptionId> = (0..model.subscriptions.len())
            .filter(|index| model.subscriptions[*index].node == Some(id))
            .filter(|index| {
                let callback = model.subscriptions[*index].callback;
                callback.is_some_and(|callback| built.callbacks.contains_key(&callback))
            })
            .map(|index| SubscriptionId(index as u32))
            .collect();
        let topics = subscriptions
            .iter()
            .map(|id| &model.subscriptions[id.index()].topic);
        for (id, order) in subscriptions
            .iter()
            .zip(naming::construction_orders(topics))
        {
            let it = &model.subscriptions[id.index()];
            let callback = it
                .callback
                .and_then(|callback| built.callbacks.get(&callback).cloned());
            node.subscriptions
                .push(Subscription::new(it.topic.clone(), callback, order));
        }
    }

    /// Executors in the order of creation, without those of the recorder's own nodes and those of which the recording has
    /// nothing but the address (the events executor).
    fn executors(
        &self,
        architecture: &mut Architecture,
        groups: &HashMap<CallbackGroupId, String>,
    ) {
        let model = self.model;
        let of_recorder = |executor: usize| {
            let its = model
                .callback_groups
                .iter()
                .filter(|group| group.executor.is_some_and(|id| id.index() == executor));
            let mut members = its.flat_map(|group| &group.callbacks).peekable();
            members.peek().is_some()
                && members.all(|callback| {
                    let name = model.node_name(model.node_of_callback(*callback));
                    name.is_some_and(|name| name.contains(RECORDER))
                })
        };
        let shown: Vec<usize> = (0..model.executors.len())
            .filter(|executor| !of_recorder(*executor))
            .filter(|executor| !model.executors[*executor].kind.name().is_empty())
            .collect();
        for (executor, name) in shown.iter().zip(naming::executor_names(shown.len())) {
            let names: Vec<String> = model
                .callback_groups
                .iter()
                .enumerate()
                .filter(|(_, group)| group.executor.is_some_and(|id| id.index() == *executor))
                .filter_map(|(index, _)| groups.get(&CallbackGroupId(index as u32)).cloned())
                .collect();
            let kind = model.executors[*executor].kind.name();
            architecture
                .executors
                .push(Executor::new(kind, name, names));
        }
    }
}

fn is_of_lifecycle(symbol: &str) -> bool {
    symbol.contains("LifecycleNodeInterfaceImpl")
}

fn is_service(model: &Model, callback: CallbackId) -> bool {
    matches!(
        model.callbacks[callback.index()].owner,
        CallbackOwner::Service(_)
    )
}

impl Built {
    /// A publication inside a callback proves that the callback publishes with that publisher. If it is the callback of a
    /// subscription, the chain from its topic to the published one follows from that.
    fn bind(&mut self, model: &Model) {
        let mut used: BTreeSet<(PublisherId, CallbackId)> = BTreeSet::new();
        for publication in &model.publications {
            let callback = publication
                .instance
                .and_then(|instance| model.instances[instance.index()].callback);
            if let (Some(publisher), Some(callback)) = (publication.publisher, callback) {
                used.insert((publisher, callback));
            }
        }
        for (publisher, callback) in used {
            let (Some((place, output)), Some(name)) = (
                self.publishers.get(&publisher),
                self.callbacks.get(&callback),
            ) else {
                continue;
            };
            let node = &mut self.architecture.nodes[*place];
            if node.callback(name).is_none() {
                continue;
            }
            if let Some(it) = node.publishers.iter_mut().find(|it| it.is(output)) {
                it.callbacks.push(name.clone());
            }
        }
    }
}
