//! A part of what a trace means: which of its entities fit the filters (their [`Selection`]), and what of them is in the range of
//! time (`window`).
//!
//! The range of time limits what is counted (callback instances, publications, deliveries), not which entities exist.
//! The other filters limit the entities. An entity is in the view if it fits all filters itself or through what it has to
//! do with: `--node` shows the topics that a node uses, `--topic` the nodes that use a topic, and both the paths that go there.

use std::ops::RangeInclusive;

use rostrace_analyze::flow_path::{Flow, FlowPath};
use rostrace_analyze::table::topics;
use rostrace_analyze::{Analysis, Selection};
use rostrace_architecture::NamedPath;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{CallbackId, DeliveryId, InstanceId, NodeId, ProcessId};
use rostrace_model::flow::{CallbackInstance, Delivery, Publication, Take};

use crate::args::ModelFilterArguments;
use crate::entity_filter::EntityFilter;
use crate::window;

#[derive(Debug)]
pub(crate) struct View<'m> {
    pub(crate) model: &'m Model,
    filter: &'m EntityFilter,
    selection: Selection,
    time: RangeInclusive<Nanos>,
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
        View {
            model,
            filter,
            selection,
            time,
        }
    }

    /// The analysis of what is in the view.
    pub(crate) fn analysis(&self) -> Analysis<'m> {
        let mut analysis = Analysis::new(self.model, self.time.clone());
        analysis.selection = self.selection.clone();
        analysis
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

    fn pid(&self, process: ProcessId) -> i64 {
        self.model.processes[process.index()].pid
    }

    pub(crate) fn has_process(&self, process: ProcessId) -> bool {
        self.selection.has_process_with_nodes(self.model, process)
    }

    pub(crate) fn has_callback(&self, id: CallbackId) -> bool {
        self.selection.has_callback(self.model, id)
    }

    /// Something in a process that the trace does not name.
    pub(crate) fn has_unnamed(&self, process: ProcessId) -> bool {
        self.selection.has_unnamed(self.model, process)
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
        let (model, selection) = (self.model, &self.selection);
        let mut nodes = (0..model.nodes.len()).map(NodeId::from_index);
        let mut callbacks = (0..model.callbacks.len()).map(CallbackId::from_index);
        let mut topics = topics(model).into_iter();
        let is_empty = !nodes.any(|id| selection.has_node_with_topics(model, id))
            && !callbacks.any(|id| self.has_callback(id))
            && !topics.any(|(name, ends)| selection.has_topic_with_ends(model, name, &ends));
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
