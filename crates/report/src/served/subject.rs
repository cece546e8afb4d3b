//! The callbacks that lanes and colours stand for: those that the trace describes, and those that are known by their address alone.

use std::collections::HashMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::selection::{Selected, Selection};
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::names;
use rostrace_model::describe::{CallbackKind, Description};
use rostrace_model::entity::{Address, CallbackId, InstanceId, ProcessId};

/// A callback.
#[derive(Debug)]
pub struct Subject {
    /// Nothing if the trace has its executions only.
    pub callback: Option<CallbackId>,
    pub process: ProcessId,
    pub name: String,
    pub node: String,
    pub kind: &'static str,
    /// Of a service or client, its name.
    pub topic: String,
    pub period: Option<Nanos>,
    pub built_in: bool,
    pub shown: bool,
}

/// All of them; the first are the callbacks of the model, under their numbers.
#[derive(Debug)]
pub struct Subjects {
    pub list: Vec<Subject>,
    unnamed: HashMap<(ProcessId, Address), u32>,
    /// By number, less that of the first one without a description.
    instances_of_unnamed: Vec<Vec<InstanceId>>,
}

impl Subjects {
    pub fn of(analysis: &Analysis<'_>, selection: &Selection) -> Subjects {
        let model = analysis.model;
        let selected = Selected::of(model, selection);
        let callbacks = (0..model.callbacks.len()).map(CallbackId::from_index);
        let mut list: Vec<Subject> = callbacks
            .map(|id| described(analysis, id, &selected))
            .collect();
        let first = list.len();
        let mut unnamed = HashMap::new();
        let mut instances_of_unnamed: Vec<Vec<InstanceId>> = Vec::new();
        for (index, instance) in model.instances.iter().enumerate() {
            if instance.callback.is_some() {
                continue;
            }
            let process = model.process_of(instance.thread);
            let number = *unnamed
                .entry((process, instance.address))
                .or_insert_with(|| {
                    list.push(Subject {
                        callback: None,
                        process,
                        name: names::unnamed_callback(instance.address),
                        node: names::UNKNOWN_NODE.to_owned(),
                        kind: CallbackKind::Unknown.name(),
                        topic: String::new(),
                        period: None,
                        built_in: false,
                        shown: selected.has_unnamed() && selected.has_process(process),
                    });
                    instances_of_unnamed.push(Vec::new());
                    (list.len() - 1) as u32
                });
            instances_of_unnamed[number as usize - first].push(InstanceId::from_index(index));
        }
        Subjects {
            list,
            unnamed,
            instances_of_unnamed,
        }
    }

    /// Whose execution it is.
    pub fn number_of(&self, analysis: &Analysis<'_>, id: InstanceId) -> u32 {
        let instance = analysis.instance(id);
        match instance.callback {
            Some(callback) => callback.0,
            None => {
                let process = analysis.model.process_of(instance.thread);
                let number = self.unnamed.get(&(process, instance.address));
                number.copied().unwrap_or(u32::MAX)
            }
        }
    }

    pub fn is_shown(&self, analysis: &Analysis<'_>, id: InstanceId) -> bool {
        let number = self.number_of(analysis, id) as usize;
        self.list.get(number).is_some_and(|subject| subject.shown)
    }

    /// The executions of one in the order of time, as far as they count.
    pub fn instances<'a>(&'a self, analysis: &'a Analysis<'_>, number: u32) -> &'a [InstanceId] {
        let all = match self.list.get(number as usize) {
            Some(Subject {
                callback: Some(callback),
                ..
            }) => analysis.instances_of(*callback),
            Some(_) => {
                let first = self.list.len() - self.instances_of_unnamed.len();
                &self.instances_of_unnamed[number as usize - first]
            }
            None => &[],
        };
        counted(analysis, all)
    }
}

/// Those of a list in the order of time that count.
pub(super) fn counted<'i>(
    analysis: &Analysis<'_>,
    instances: &'i [InstanceId],
) -> &'i [InstanceId] {
    let start = |id: &InstanceId| analysis.instance(*id).start;
    let from = instances.partition_point(|id| start(id) < *analysis.window.start());
    let to = instances.partition_point(|id| start(id) <= *analysis.window.end());
    &instances[from..to.max(from)]
}

fn described(analysis: &Analysis<'_>, id: CallbackId, selected: &Selected) -> Subject {
    let model = analysis.model;
    let described = Description::of(model, id);
    Subject {
        callback: Some(id),
        process: model.callbacks[id.index()].process,
        name: analysis.names.callback(id).to_owned(),
        node: names::of_node(model, described.node).to_owned(),
        kind: described.kind.name(),
        topic: described.topic_or_service().unwrap_or_default().to_owned(),
        period: described.period,
        built_in: described.built_in,
        shown: selected.has_callback(Some(id)),
    }
}
