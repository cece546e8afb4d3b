//! What of a trace is wanted in a timeline. The range of time is that of the analysis.

use rostrace_ctf::Damage;
use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackId, CallbackOwner, NodeId, ProcessId, PublisherId};

/// Whose rows are written, and what is said about the trace's damage.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Nothing if everything is wanted.
    narrowed: Option<Narrowed>,
    pub(super) damage: Vec<Damage>,
}

#[derive(Debug, Clone)]
struct Narrowed {
    processes: Vec<bool>,
    nodes: Vec<bool>,
    callbacks: Vec<bool>,
    publishers: Vec<bool>,
    /// What belongs to no node and no topic that the trace names.
    unnamed: bool,
}

impl Selection {
    pub fn everything() -> Selection {
        Selection::default()
    }

    /// What fits: the names are nothing where the trace does not tell them, or where there is none: a timer has no topic.
    pub fn of(
        model: &Model,
        pid: impl Fn(i64) -> bool,
        node: impl Fn(Option<&str>) -> bool,
        topic: impl Fn(Option<&str>) -> bool,
    ) -> Selection {
        let fits = |process: ProcessId, id: Option<NodeId>, name: Option<&str>| {
            pid(model.processes[process.index()].pid) && node(model.node_name(id)) && topic(name)
        };
        let callbacks = model.callbacks.iter().enumerate().map(|(index, callback)| {
            let name = match callback.owner {
                CallbackOwner::Subscription(id) => {
                    Some(model.subscriptions[id.index()].topic.as_str())
                }
                _ => None,
            };
            let of = model.node_of_callback(CallbackId::from_index(index));
            fits(callback.process, of, name)
        });
        let publishers = model
            .publishers
            .iter()
            .map(|it| fits(it.process, it.node, Some(&it.topic)));
        let nodes = model.nodes.iter();
        let nodes = nodes.map(|it| {
            pid(model.processes[it.process.index()].pid) && node(Some(&it.name)) && topic(None)
        });
        Selection {
            narrowed: Some(Narrowed {
                processes: model.processes.iter().map(|it| pid(it.pid)).collect(),
                nodes: nodes.collect(),
                callbacks: callbacks.collect(),
                publishers: publishers.collect(),
                unnamed: node(None) && topic(None),
            }),
            damage: Vec::new(),
        }
    }

    /// Damage is shown, whatever is selected.
    pub fn with_damage<'d>(mut self, damage: impl IntoIterator<Item = &'d Damage>) -> Selection {
        self.damage.extend(damage.into_iter().cloned());
        self
    }

    /// Whether what belongs to no node and no topic is wanted.
    pub(super) fn has_unnamed(&self) -> bool {
        self.narrowed.as_ref().is_none_or(|it| it.unnamed)
    }

    pub(super) fn has_process(&self, id: ProcessId) -> bool {
        has(&self.narrowed, |it| &it.processes, id.index())
    }

    pub(super) fn has_node(&self, id: Option<NodeId>) -> bool {
        match id {
            Some(id) => has(&self.narrowed, |it| &it.nodes, id.index()),
            None => self.has_unnamed(),
        }
    }

    /// Of a process that is selected.
    pub(super) fn has_callback(&self, id: Option<CallbackId>) -> bool {
        match id {
            Some(id) => has(&self.narrowed, |it| &it.callbacks, id.index()),
            None => self.has_unnamed(),
        }
    }

    /// Of a process that is selected.
    pub(super) fn has_publisher(&self, id: Option<PublisherId>) -> bool {
        match id {
            Some(id) => has(&self.narrowed, |it| &it.publishers, id.index()),
            None => self.has_unnamed(),
        }
    }
}

fn has(
    narrowed: &Option<Narrowed>,
    column: impl Fn(&Narrowed) -> &Vec<bool>,
    index: usize,
) -> bool {
    narrowed
        .as_ref()
        .is_none_or(|narrowed| column(narrowed).get(index).copied().unwrap_or(false))
}
