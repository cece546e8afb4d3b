//! A part of what a trace means: which of its entities fit the filters (their [`Selection`]), and what of them is in the range of
//! time (`window`).
//!
//! The range of time limits what is counted (callback instances, publications, deliveries), not which entities exist.
//! The other filters limit the entities. An entity is in the view if it fits all filters itself or through what it has to
//! do with: `--node` shows the topics that a node uses, `--topic` the nodes that use a topic, and both the paths that go there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use rostrace_analyze::Selection;
use rostrace_analyze::flow_path::{Flow, FlowPath};
use rostrace_architecture::NamedPath;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{
    CallbackId, ClientId, DeliveryId, InstanceId, NodeId, ProcessId, PublisherId, SubscriptionId,
};
use rostrace_trace::flow::{CallbackInstance, Delivery, Publication, Take};

use crate::args::ModelFilterArguments;
use crate::entity_filter::EntityFilter;
use crate::window;

#[derive(Debug)]
pub(crate) struct View<'m> {
    pub(crate) model: &'m Model,
    filter: &'m EntityFilter,
    selection: Selection,
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
        arguments: &'m ModelFilterArguments,
    ) -> anyhow::Result<View<'m>> {
        let window = arguments.time.window(set, model)?;
        View::within(model, &arguments.entities, window)
    }

    pub(crate) fn within(
        model: &'m Model,
        filter: &'m EntityFilter,
        time: RangeInclusive<Nanos>,
    ) -> anyhow::Result<View<'m>> {
        let selection = filter.selection(model)?;
        Ok(View::selecting(model, filter, selection, time))
    }

    pub(crate) fn selecting(
        model: &'m Model,
        filter: &'m EntityFilter,
        selection: Selection,
        time: RangeInclusive<Nanos>,
    ) -> View<'m> {
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
        View {
            model,
            filter,
            selection,
            time,
            topics_of_nodes,
            topics,
        }
    }

    pub(crate) fn filter(&self) -> &'m EntityFilter {
        self.filter
    }

    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The range of time that counts.
    pub(crate) fn window(&self) -> &RangeInclusive<Nanos> {
        &self.time
    }

    /// The last time that counts.
    pub(crate) fn end(&self) -> Nanos {
        *self.time.end()
    }

    fn pid(&self, process: ProcessId) -> i64 {
        self.model.processes[process.index()].pid
    }

    fn fits_pid(&self, process: ProcessId) -> bool {
        self.selection.has_process(self.model, process)
    }

    fn fits_node(&self, node: Option<NodeId>) -> bool {
        self.selection.fits_node(self.model.node_name(node))
    }

    fn fits_topic(&self, topic: Option<&str>) -> bool {
        self.selection.fits_topic(topic)
    }

    pub(crate) fn has_process(&self, process: ProcessId) -> bool {
        let narrow = !self.selection.nodes.is_empty() || !self.selection.topics.is_empty();
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
            && (self.selection.topics.is_empty() || topics.iter().any(|t| self.fits_topic(Some(t))))
    }

    pub(crate) fn has_callback(&self, id: CallbackId) -> bool {
        self.selection.has_callback(self.model, id)
    }

    pub(crate) fn has_client(&self, id: ClientId) -> bool {
        let client = &self.model.clients[id.index()];
        self.fits_pid(client.process) && self.fits_node(client.node) && self.fits_topic(None)
    }

    /// Something in a process that the trace does not name.
    pub(crate) fn has_unnamed(&self, process: ProcessId) -> bool {
        self.selection.has_unnamed(self.model, process)
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

    /// What to say before an answer: of a range of time in which nothing happened, and of what was left out when it was recorded.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.nothing_happened().into_iter().collect();
        notes.extend(self.model.left_out.sentences());
        notes
    }

    /// What to say of a range of time in which nothing happened, unless nothing ever did.
    pub(crate) fn nothing_happened(&self) -> Option<String> {
        let model = self.model;
        let covered = model.begin.zip(model.end)?;
        let rows = [
            model.instances.len(),
            model.publications.len(),
            model.takes.len(),
        ];
        let is_empty = self.instances().next().is_none()
            && self.publications().next().is_none()
            && self.takes().next().is_none();
        (is_empty && rows != [0; 3]).then(|| window::nothing_in(&self.time, covered))
    }

    /// What to say where each filter fits something, but nothing fits all of them, for verbs that show everything. A name
    /// that the trace does not have at all was refused before.
    pub(crate) fn nothing_left(&self) -> Option<String> {
        let mut nodes = (0..self.model.nodes.len() as u32).map(NodeId);
        let mut callbacks = (0..self.model.callbacks.len()).map(CallbackId::from_index);
        let is_empty = !nodes.any(|id| self.has_node(id))
            && !callbacks.any(|id| self.has_callback(id))
            && self.topics().next().is_none();
        let sentence = self.filter.nothing_fits("node, topic or callback");
        sentence.filter(|_| is_empty)
    }

    /// A message, by its topic and by who sends and receives it.
    pub(crate) fn has_message(&self, id: DeliveryId) -> bool {
        self.selection.is_everything() || self.has_way(&[id])
    }

    /// One message along a path, by all that it passes.
    pub(crate) fn has_flow(&self, flow: &Flow) -> bool {
        self.selection.is_everything() || self.has_way(&flow.deliveries)
    }

    /// A path with a flow that is in the view.
    pub(crate) fn has_path(&self, path: &FlowPath) -> bool {
        self.selection.is_everything() || path.flows.iter().any(|flow| self.has_flow(flow))
    }

    fn has_way(&self, way: &[DeliveryId]) -> bool {
        let model = self.model;
        let ends = || way.iter().map(|id| &model.deliveries[id.index()]);
        let senders = || {
            let publications = ends().map(|it| &model.publications[it.publication.index()]);
            publications.map(|it| {
                let publisher = it.publisher.map(|id| &model.publishers[id.index()]);
                let node = publisher.and_then(|publisher| publisher.node);
                (node, model.process_of(it.thread))
            })
        };
        let subscription = |it: &Delivery| Some(&model.subscriptions[it.subscription?.index()]);
        let receivers = || {
            ends().filter_map(|it| {
                let subscription = subscription(it);
                let by_thread =
                    || Some(model.process_of(model.instances[it.instance?.index()].thread));
                let process = subscription.map(|it| it.process).or_else(by_thread)?;
                Some((subscription.and_then(|it| it.node), process))
            })
        };
        let both = || senders().chain(receivers());
        self.selection.fits_any(
            both().map(|(node, _)| model.node_name(node)),
            ends().map(|it| Some(subscription(it)?.topic.as_str())),
            both().map(|(_, process)| self.pid(process)),
        )
    }

    /// A path that an architecture file names.
    pub(crate) fn has_named_path(&self, path: &NamedPath) -> bool {
        let nodes: Vec<&str> = path.node_names().collect();
        let publishers = path.steps.iter().filter_map(|step| step.publisher.as_ref());
        let topics: Vec<&str> = publishers.map(|it| it.topic.as_str()).collect();
        self.has_named(&nodes, &topics)
    }

    /// Something that an architecture file has, by the names of its nodes and topics. Its processes are those in which nodes
    /// of these names live.
    pub(crate) fn has_named(&self, nodes: &[&str], topics: &[&str]) -> bool {
        let lives = self.model.nodes.iter();
        let lives = lives.filter(|node| nodes.contains(&node.name.as_str()));
        self.selection.fits_any(
            nodes.iter().copied().map(Some),
            topics.iter().copied().map(Some),
            lives.map(|node| self.pid(node.process)),
        )
    }
}
