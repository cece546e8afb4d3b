//! What a trace says of ROS 2, and what it cannot say: from the numbers of events by name, and from the few events of the
//! initialisation. Nothing else is read a second time, so that `info` stays as fast as counting is.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_analyze::blind_spot;
use rostrace_analyze::census::Census;
use rostrace_ctf::{Survey, TraceSet};
use rostrace_model::entity::UnseenSubject;
use rostrace_model::{Model, creates_entities};
use rostrace_tracepoints::{Kind, Layer, find};
use serde::Serialize;

use crate::capabilities::{CAPABILITIES, UNUSED};

#[derive(Debug, Serialize)]
pub(crate) struct Ros {
    pub(crate) distributions: Vec<String>,
    pub(crate) rmw_implementations: Vec<String>,
    /// Nothing for a trace without events of the initialisation.
    pub(crate) entities: Option<EntityCounts>,
    pub(crate) capabilities: Vec<CapabilityRow>,
    /// What cannot be known, as sentences.
    pub(crate) limits: Vec<String>,
    /// Events that are in no table of rostrace, by name.
    pub(crate) unknown_events: Vec<UnknownRow>,
}

/// As many as `rostrace nodes`, `topics`, … list with `--all`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct EntityCounts {
    pub(crate) nodes: u64,
    pub(crate) built_in_nodes: u64,
    pub(crate) topics: u64,
    pub(crate) built_in_topics: u64,
    pub(crate) publishers: u64,
    pub(crate) subscriptions: u64,
    pub(crate) timers: u64,
    pub(crate) services: u64,
    pub(crate) clients: u64,
    pub(crate) callbacks: u64,
    pub(crate) built_in_callbacks: u64,
    /// None where the tracer could not see them.
    pub(crate) callback_groups: Option<u64>,
    pub(crate) executors: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct CapabilityRow {
    pub(crate) name: &'static str,
    pub(crate) events: u64,
    pub(crate) allows: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct UnknownRow {
    pub(crate) name: String,
    pub(crate) events: u64,
}

impl Ros {
    pub(crate) fn of(set: &TraceSet, survey: &Survey) -> Ros {
        let mut kinds = vec![0; Kind::COUNT];
        let mut unknown: BTreeMap<&str, u64> = BTreeMap::new();
        for class in survey.classes.iter().filter(|class| class.events > 0) {
            let stream = &set.traces[class.trace].schema.streams[class.stream_class];
            let name = stream.events[class.event_class].name.as_deref();
            match name.and_then(find) {
                Some(tracepoint) => kinds[tracepoint.kind.index()] += class.events,
                None => *unknown.entry(name.unwrap_or("<unknown>")).or_default() += class.events,
            }
        }
        let mut unknown: Vec<UnknownRow> = unknown
            .into_iter()
            .map(|(name, events)| UnknownRow {
                name: name.to_owned(),
                events,
            })
            .collect();
        unknown.sort_by_key(|row| std::cmp::Reverse(row.events));
        let capabilities = CAPABILITIES.iter().chain([&&UNUSED]);
        let capabilities = capabilities.map(|it| CapabilityRow {
            name: it.name,
            events: it.events(&kinds),
            allows: it.allows,
        });
        let mut ros = Ros {
            distributions: Vec::new(),
            rmw_implementations: Vec::new(),
            entities: None,
            capabilities: capabilities.collect(),
            limits: Vec::new(),
            unknown_events: unknown,
        };
        if is_of_ros(&kinds) {
            let lacks = CAPABILITIES.iter().filter_map(|it| it.lack(&kinds));
            ros.limits = lacks.map(str::to_owned).collect();
            ros.read_initialisation(set, &kinds);
        }
        ros
    }

    fn read_initialisation(&mut self, set: &TraceSet, kinds: &[u64]) {
        let wanted = Kind::ALL.iter().filter(|kind| creates_entities(**kind));
        let events: u64 = wanted.map(|kind| kinds[kind.index()]).sum();
        if events == 0 {
            return;
        }
        let model = Model::load_entities(set, events);
        let processes = || model.processes.iter();
        let distributions: BTreeSet<_> = processes().filter_map(|it| it.distribution).collect();
        self.distributions = distributions.iter().map(ToString::to_string).collect();
        let rmw = processes().filter_map(|it| it.rmw_implementation.clone());
        self.rmw_implementations = BTreeSet::from_iter(rmw).into_iter().collect();
        self.limits.extend(blind_spot::sentences(&model));
        self.entities = Some(EntityCounts::of(&model));
    }

    /// Whether the trace has anything of ROS 2.
    pub(crate) fn is_there(&self) -> bool {
        self.entities.is_some() || !self.limits.is_empty()
    }
}

/// Whether there is an event of ROS 2, or of what replaces parts of it.
fn is_of_ros(kinds: &[u64]) -> bool {
    let elsewhere = |kind: &Kind| {
        matches!(
            kind.layer(),
            Layer::Kernel
                | Layer::LttngUst
                | Layer::Libc
                | Layer::User
                | Layer::Tracer
                | Layer::Dds
        )
    };
    let mut of_ros = Kind::ALL.iter().filter(|kind| !elsewhere(kind));
    of_ros.any(|kind| kinds[kind.index()] > 0)
}

/// Where some were seen, those are counted.
fn callback_groups(model: &Model) -> Option<u64> {
    let count = model.callback_groups.len() as u64;
    let unseen = |process| blind_spot::of_process(process, UnseenSubject::Executors).is_some();
    (count > 0 || !model.processes.iter().any(unseen)).then_some(count)
}

impl EntityCounts {
    fn of(model: &Model) -> EntityCounts {
        let census = Census::of(model);
        EntityCounts {
            nodes: census.nodes.all(),
            built_in_nodes: census.nodes.built_in,
            topics: census.topics.all(),
            built_in_topics: census.topics.built_in,
            publishers: model.publishers.len() as u64,
            subscriptions: model.subscriptions.len() as u64,
            // Executors of rclpy make timers without callbacks, thousands of them, to wait for a limited time.
            timers: (model.timers.iter())
                .filter(|timer| timer.callback.is_some())
                .count() as u64,
            services: model.services.len() as u64,
            clients: model.clients.len() as u64,
            callbacks: census.callbacks.all(),
            built_in_callbacks: census.callbacks.built_in,
            callback_groups: callback_groups(model),
            executors: model.executors.len() as u64,
        }
    }
}
