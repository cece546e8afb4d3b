//! A part of what a trace means: the one place where `--from`, `--to`, `--skip-start`, `--skip-end`, `--node`,
//! `--topic` and `--pid` are applied.
//!
//! The range of time limits what is counted (callback instances, publications, deliveries), not which entities exist.
//! The other filters limit the entities. An entity is in the view if it fits all filters itself or through what it has to
//! do with: `--node` shows the topics that a node uses, `--topic` the nodes that use a topic.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use glob::Pattern;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{
    CallbackId, CallbackOwner, ClientId, InstanceId, NodeId, ProcessId, PublisherId, SubscriptionId,
};
use rostrace_trace::flow::{CallbackInstance, Delivery, Publication, Take};

use crate::args::ModelFilterArguments;
use crate::filter;
use crate::window::Limits;

#[derive(Debug)]
pub(crate) struct View<'m> {
    pub(crate) model: &'m Model,
    filter: &'m ModelFilterArguments,
    time: RangeInclusive<Nanos>,
    /// By node: the topics that it uses.
    topics_of_nodes: Vec<BTreeSet<&'m str>>,
    topics: BTreeMap<&'m str, Topic>,
}

/// Who sends and who receives, in the order of creation.
#[derive(Debug, Default)]
pub(crate) struct Topic {
    pub(crate) publishers: Vec<PublisherId>,
    pub(crate) subscriptions: Vec<SubscriptionId>,
}

impl<'m> View<'m> {
    pub(crate) fn new(
        set: &TraceSet,
        model: &'m Model,
        filter: &'m ModelFilterArguments,
    ) -> anyhow::Result<View<'m>> {
        let limits = Limits {
            from: filter.from,
            to: filter.to,
            skip_start: filter.skip_start,
            skip_end: filter.skip_end,
        };
        let time = limits.window(set, model)?;
        let mut topics: BTreeMap<&str, Topic> = BTreeMap::new();
        let mut topics_of_nodes = vec![BTreeSet::new(); model.nodes.len()];
        for (index, publisher) in model.publishers.iter().enumerate() {
            let topic = topics.entry(&publisher.topic).or_default();
            topic.publishers.push(PublisherId(index as u32));
            if let Some(node) = publisher.node {
                topics_of_nodes[node.index()].insert(publisher.topic.as_str());
            }
        }
        for (index, subscription) in model.subscriptions.iter().enumerate() {
            let topic = topics.entry(&subscription.topic).or_default();
            topic.subscriptions.push(SubscriptionId(index as u32));
            if let Some(node) = subscription.node {
                topics_of_nodes[node.index()].insert(subscription.topic.as_str());
            }
        }
        Ok(View {
            model,
            filter,
            time,
            topics_of_nodes,
            topics,
        })
    }

    /// Whether a range of time was asked for.
    pub(crate) fn is_limited_in_time(&self) -> bool {
        let filter = self.filter;
        let between = filter.from.is_some() || filter.to.is_some();
        between || filter.skip_start.is_some() || filter.skip_end.is_some()
    }

    /// The range of time that counts.
    pub(crate) fn window(&self) -> &RangeInclusive<Nanos> {
        &self.time
    }

    /// The last time that counts.
    pub(crate) fn end(&self) -> Nanos {
        *self.time.end()
    }

    /// The part of a span of time that counts, in nanoseconds.
    pub(crate) fn overlap(&self, begin: Nanos, end: Nanos) -> u64 {
        let begin = begin.max(*self.time.start());
        let end = end.min(*self.time.end());
        u64::try_from(end.0.saturating_sub(begin.0)).unwrap_or(0)
    }

    fn fits_pid(&self, process: ProcessId) -> bool {
        let pids = &self.filter.pids;
        pids.is_empty() || pids.contains(&self.model.processes[process.index()].pid)
    }

    /// A node that the trace does not name fits no pattern.
    fn fits_node(&self, node: Option<NodeId>) -> bool {
        fits(&self.filter.nodes, self.model.node_name(node))
    }

    fn fits_topic(&self, topic: Option<&str>) -> bool {
        fits(&self.filter.topics, topic)
    }

    pub(crate) fn has_process(&self, process: ProcessId) -> bool {
        let narrow = !self.filter.nodes.is_empty() || !self.filter.topics.is_empty();
        let mut nodes = (0..self.model.nodes.len() as u32).map(NodeId);
        self.fits_pid(process)
            && (!narrow
                || nodes.any(|node| {
                    self.model.nodes[node.index()].process == process && self.has_node(node)
                }))
    }

    pub(crate) fn has_node(&self, node: NodeId) -> bool {
        let topics = &self.topics_of_nodes[node.index()];
        self.fits_pid(self.model.nodes[node.index()].process)
            && self.fits_node(Some(node))
            && (self.filter.topics.is_empty() || topics.iter().any(|t| self.fits_topic(Some(t))))
    }

    pub(crate) fn has_callback(&self, id: CallbackId) -> bool {
        let callback = &self.model.callbacks[id.index()];
        let topic = match callback.owner {
            CallbackOwner::Subscription(id) => {
                Some(self.model.subscriptions[id.index()].topic.as_str())
            }
            _ => None,
        };
        self.fits_pid(callback.process)
            && self.fits_node(self.model.node_of_callback(id))
            && self.fits_topic(topic)
    }

    pub(crate) fn has_client(&self, id: ClientId) -> bool {
        let client = &self.model.clients[id.index()];
        self.fits_pid(client.process) && self.fits_node(client.node) && self.fits_topic(None)
    }

    /// Something in a process that the trace does not name.
    pub(crate) fn has_unnamed(&self, process: ProcessId) -> bool {
        self.fits_pid(process) && self.fits_node(None) && self.fits_topic(None)
    }

    /// By name. All numbers of a topic are those of all its publishers and subscriptions.
    pub(crate) fn topics(&self) -> impl Iterator<Item = (&'m str, &Topic)> {
        let fits = |process: ProcessId, node: Option<NodeId>| {
            self.fits_pid(process) && self.fits_node(node)
        };
        let model = self.model;
        self.topics.iter().filter_map(move |(name, topic)| {
            let sends = topic.publishers.iter().any(|id| {
                let publisher = &model.publishers[id.index()];
                fits(publisher.process, publisher.node)
            });
            let receives = topic.subscriptions.iter().any(|id| {
                let subscription = &model.subscriptions[id.index()];
                fits(subscription.process, subscription.node)
            });
            (self.fits_topic(Some(name)) && (sends || receives)).then_some((*name, topic))
        })
    }

    /// The executions that began in the range of time.
    pub(crate) fn instances(&self) -> impl Iterator<Item = (InstanceId, &'m CallbackInstance)> {
        let instances = self.model.instances.iter().enumerate();
        instances
            .map(|(index, instance)| (InstanceId(index as u32), instance))
            .filter(|(_, instance)| self.time.contains(&instance.start))
    }

    pub(crate) fn publications(&self) -> impl Iterator<Item = &'m Publication> {
        let publications = self.model.publications.iter();
        publications.filter(|publication| self.time.contains(&publication.publish))
    }

    pub(crate) fn takes(&self) -> impl Iterator<Item = &'m Take> {
        let takes = self.model.takes.iter();
        takes.filter(|take| self.time.contains(&take.time))
    }

    /// Those of the messages that were published in the range of time.
    pub(crate) fn deliveries(&self) -> impl Iterator<Item = &'m Delivery> {
        let published = |delivery: &Delivery| {
            let publication = &self.model.publications[delivery.publication.index()];
            self.time.contains(&publication.publish)
        };
        let deliveries = self.model.deliveries.iter();
        deliveries.filter(move |delivery| published(delivery))
    }

    /// A sentence for each filter that nothing fits.
    pub(crate) fn hints(&self) -> Vec<String> {
        let nodes = self.model.nodes.iter().map(|node| node.name.as_str());
        let nodes: BTreeSet<&str> = nodes.collect();
        let topics: BTreeSet<&str> = self.topics.keys().copied().collect();
        let mut hints = Vec::new();
        for (what, patterns, names) in [
            ("node", &self.filter.nodes, &nodes),
            ("topic", &self.filter.topics, &topics),
        ] {
            for pattern in patterns {
                if !names.iter().any(|name| pattern.matches(name)) {
                    let mut hint = format!("no {what} of this trace is named `{pattern}`");
                    let similar = filter::similar(pattern.as_str(), names);
                    if !similar.is_empty() {
                        hint += &format!("; similar: {}", similar.join(", "));
                    }
                    hints.push(hint);
                }
            }
        }
        for pid in &self.filter.pids {
            if !self.model.processes.iter().any(|it| it.pid == *pid) {
                hints.push(format!("no process of this trace has the pid {pid}"));
            }
        }
        hints
    }
}

fn fits(patterns: &[Pattern], name: Option<&str>) -> bool {
    patterns.is_empty()
        || name.is_some_and(|name| patterns.iter().any(|pattern| pattern.matches(name)))
}
