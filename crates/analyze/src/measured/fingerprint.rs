//! What nodes and processes consist of, by which they are recognised under another name.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_model::describe::{CallbackKind, Description, built_in, names};
use rostrace_model::entity::{CallbackId, ProcessId};

use crate::analysis::Analysis;
use crate::selection::Selection;

/// A node, with all its lives.
#[derive(Debug, Clone, Default)]
pub struct NodeFingerprint {
    pub name: String,
    /// `publishes /points`, `receives /scan`, `timer 100 ms`, `service /reset`.
    pub traits: BTreeSet<String>,
    /// The functions that are its callbacks.
    pub symbols: BTreeSet<String>,
    /// Names of the processes that it was in.
    pub processes: BTreeSet<String>,
}

/// Processes of one name.
#[derive(Debug, Clone, Default)]
pub struct ProcessFingerprint {
    pub name: String,
    pub number: usize,
    pub nodes: BTreeSet<String>,
}

pub(super) fn nodes(
    analysis: &Analysis<'_>,
    selection: &Selection,
    with_built_in: bool,
) -> Vec<NodeFingerprint> {
    let model = analysis.model;
    let mut found: BTreeMap<&str, NodeFingerprint> = BTreeMap::new();
    for node in &model.nodes {
        let process = &model.processes[node.process.index()];
        let wanted = selection.fits_node(Some(&node.name))
            && selection.fits_pid(process.pid)
            && (with_built_in || !built_in::node(&node.name));
        if wanted {
            let fingerprint = found.entry(&node.name).or_default();
            fingerprint.name.clone_from(&node.name);
            fingerprint.processes.insert(process.name.clone());
        }
    }
    for publisher in &model.publishers {
        let name = names::of_node(model, publisher.node);
        if let Some(fingerprint) = found.get_mut(name)
            && !built_in::topic(&publisher.topic)
        {
            fingerprint
                .traits
                .insert(format!("publishes {}", publisher.topic));
        }
    }
    for (index, callback) in model.callbacks.iter().enumerate() {
        let id = CallbackId::from_index(index);
        let described = Description::of(model, id);
        let name = names::of_node(model, described.node);
        let (Some(fingerprint), Some(trigger)) = (found.get_mut(name), described.trigger()) else {
            continue;
        };
        if described.built_in {
            continue;
        }
        fingerprint.traits.insert(match described.kind {
            CallbackKind::Timer => trigger,
            CallbackKind::Subscription => format!("receives {trigger}"),
            kind => format!("{} {trigger}", kind.name()),
        });
        fingerprint.symbols.extend(callback.symbol.clone());
    }
    let mut fingerprints: Vec<NodeFingerprint> = found.into_values().collect();
    if !selection.topics.is_empty() {
        let uses = |fingerprint: &NodeFingerprint| {
            let topics = fingerprint.traits.iter().filter_map(|it| {
                let topic = it.strip_prefix("publishes ");
                topic.or_else(|| it.strip_prefix("receives "))
            });
            topics
                .into_iter()
                .any(|topic| selection.fits_topic(Some(topic)))
        };
        fingerprints.retain(uses);
    }
    fingerprints
}

pub(super) fn processes(
    analysis: &Analysis<'_>,
    selection: &Selection,
    with_built_in: bool,
) -> Vec<ProcessFingerprint> {
    let model = analysis.model;
    let mut found: BTreeMap<&str, ProcessFingerprint> = BTreeMap::new();
    for (index, process) in model.processes.iter().enumerate() {
        let id = ProcessId(index as u32);
        let nodes = model.nodes.iter().filter(|node| node.process == id);
        let mut nodes = nodes.filter(|node| with_built_in || !built_in::node(&node.name));
        let wanted: Vec<&str> = nodes
            .by_ref()
            .map(|node| node.name.as_str())
            .filter(|name| selection.fits_node(Some(name)))
            .collect();
        // A process without nodes is a recorder or a tool.
        if wanted.is_empty() || !selection.topics.is_empty() || !selection.fits_pid(process.pid) {
            continue;
        }
        let fingerprint = found.entry(&process.name).or_default();
        fingerprint.name.clone_from(&process.name);
        fingerprint.number += 1;
        fingerprint
            .nodes
            .extend(wanted.into_iter().map(str::to_owned));
    }
    found.into_values().collect()
}
