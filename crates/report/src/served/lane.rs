//! Which lanes there are: in one order by process and thread, in another by node and callback. A lane is a number of tracks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rostrace_analyze::Analysis;
use rostrace_model::entity::{CallbackId, DeliveryId, InstanceId, ProcessId, ThreadId};
use rostrace_model::flow::DeliveryStatus;
use serde::Serialize;

use super::subject::{Subject, Subjects, counted};
use super::track::{Content, Track, span};
use crate::process_name::{is_tf_listener, is_tf_topic, listed, process_names};

/// Lanes under one heading.
#[derive(Debug, Serialize)]
pub struct Group {
    pub name: String,
    /// What else is to be said: what a container has loaded, the process, the machine.
    pub note: String,
    pub lanes: Vec<Lane>,
}

/// What is drawn beside one name. Numbers of tracks are those that a view is asked for.
#[derive(Debug, Default, Serialize)]
pub struct Lane {
    pub name: String,
    /// Of a thread, the nodes whose callbacks ran on it, those that ran most often first.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    pub track: u32,
    /// Executions that run at the same time need several.
    pub rows: usize,
    pub count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<u32>,
    /// The row of the model's threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<u32>,
    /// Of a thread, the callbacks that ran on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<u32>,
    /// Nothing ran here but what nobody wrote, and nothing of it took long.
    pub built_in: bool,
    /// Nothing ran here but what listens to transforms; there is one in nearly every process, and they are all alike.
    pub tf: bool,
    /// Time in executions; what runs inside another one counts once.
    pub busy: i64,
    /// The duration of the longest execution.
    pub longest: i64,
    /// Messages that did not arrive.
    pub lost: usize,
}

/// All lanes, and what their tracks show.
#[derive(Debug, Default)]
pub struct Lanes {
    pub threads: Vec<Group>,
    pub callbacks: Vec<Group>,
    pub contents: Vec<Content>,
}

impl Lanes {
    pub fn of(analysis: &Analysis<'_>, subjects: &Subjects) -> Lanes {
        let mut lanes = Lanes::default();
        let mut drops = drops(analysis, subjects);
        lanes.add_threads(analysis, subjects, &mut drops.by_thread);
        lanes.add_callbacks(analysis, subjects, &mut drops.by_callback);
        lanes
    }

    fn add(&mut self, content: Content) -> u32 {
        self.contents.push(content);
        (self.contents.len() - 1) as u32
    }

    fn add_threads(
        &mut self,
        analysis: &Analysis<'_>,
        subjects: &Subjects,
        drops: &mut HashMap<ThreadId, Vec<DeliveryId>>,
    ) {
        let model = analysis.model;
        let mut of_processes: BTreeMap<ProcessId, Vec<Lane>> = BTreeMap::new();
        for index in 0..model.threads.len() {
            let id = ThreadId::from_index(index);
            let thread = &model.threads[index];
            let instances: Vec<InstanceId> = shown_on(analysis, subjects, id).collect();
            if instances.is_empty() {
                continue;
            }
            let instances = || instances.iter().copied();
            let process = &model.processes[thread.process.index()];
            let numbers = instances().map(|id| subjects.number_of(analysis, id));
            let counts = counted_subjects(subjects, numbers);
            let ran = || (counts.iter()).map(|(number, _)| &subjects.list[*number as usize]);
            let lost = drops.remove(&id);
            let (busy, longest) = load(analysis, instances());
            let has_phases = !analysis.phases_on(id).is_empty();
            let scheduling = analysis.scheduling.as_ref();
            let is_scheduled = scheduling.is_some_and(|it| it.timeline(id).is_some());
            let lane = Lane {
                name: match thread.tid == process.pid {
                    true => "main thread".to_owned(),
                    false => format!("thread {}", thread.tid),
                },
                note: nodes_on(subjects, &counts),
                track: self.add(Content::Thread(id)),
                rows: Track::rows_of_instances(analysis, instances()),
                count: instances().count(),
                executor: has_phases.then(|| self.add(Content::Executor(id))),
                scheduling: is_scheduled.then(|| self.add(Content::Scheduling(id))),
                lost: lost.as_ref().map_or(0, Vec::len),
                drops: lost.map(|it| self.add(Content::Drops(it))),
                thread: Some(id.0),
                subject: None,
                built_in: ran().all(|subject| subject.built_in) && longest < NOTABLE,
                tf: ran().all(|subject| subject.built_in || is_of_tf(subject))
                    && ran().any(is_of_tf),
                subjects: counts.iter().map(|(number, _)| *number).collect(),
                busy,
                longest,
            };
            of_processes.entry(thread.process).or_default().push(lane);
        }
        let names = process_names(model);
        for (id, lanes) in of_processes {
            let process = names[id.index()].clone();
            self.threads.push(Group {
                name: process.name,
                note: process.note,
                lanes,
            });
        }
    }

    fn add_callbacks(
        &mut self,
        analysis: &Analysis<'_>,
        subjects: &Subjects,
        drops: &mut HashMap<CallbackId, Vec<DeliveryId>>,
    ) {
        let mut of_nodes: BTreeMap<(&str, ProcessId), Vec<Lane>> = BTreeMap::new();
        for (number, subject) in subjects.list.iter().enumerate() {
            let number = number as u32;
            let instances = subjects.instances(analysis, number);
            let lost = subject.callback.and_then(|id| drops.remove(&id));
            if !subject.shown || instances.is_empty() && lost.is_none() {
                continue;
            }
            // The heading says the node already.
            let own = subject.name.strip_prefix(subject.node.as_str());
            let own = own.map(|own| own.trim_start_matches([' ', '·']));
            let (busy, longest) = load(analysis, instances.iter().copied());
            let lane = Lane {
                name: own.unwrap_or(&subject.name).to_owned(),
                track: self.add(Content::Subject(number)),
                rows: Track::rows_of_instances(analysis, instances.iter().copied()).max(1),
                count: instances.len(),
                lost: lost.as_ref().map_or(0, Vec::len),
                drops: lost.map(|it| self.add(Content::Drops(it))),
                subject: Some(number),
                built_in: subject.built_in && longest < NOTABLE,
                tf: is_of_tf(subject),
                busy,
                longest,
                ..Lane::default()
            };
            let node = (subject.node.as_str(), subject.process);
            of_nodes.entry(node).or_default().push(lane);
        }
        for ((node, process), lanes) in of_nodes {
            let process = &analysis.model.processes[process.index()];
            self.callbacks.push(Group {
                name: node.to_owned(),
                note: format!("{} {}", process.name, process.pid)
                    .trim()
                    .to_owned(),
                lanes,
            });
        }
    }
}

/// An execution of so many nanoseconds is shown whoever wrote it.
const NOTABLE: i64 = 1_000_000_000;

/// How often each callback ran, by its number.
fn counted_subjects(subjects: &Subjects, numbers: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut counts = vec![0u32; subjects.list.len()];
    for number in numbers {
        counts[number as usize] += 1;
    }
    let counts = (0..).zip(counts);
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Whose callbacks these are, those that ran most often first: `/planner, /fusion and 3 more`.
fn nodes_on(subjects: &Subjects, counts: &[(u32, u32)]) -> String {
    let mut nodes: HashMap<&str, u32> = HashMap::new();
    for (number, count) in counts {
        let subject = &subjects.list[*number as usize];
        if !subject.built_in && !is_tf_listener(&subject.node) {
            *nodes.entry(&subject.node).or_default() += count;
        }
    }
    let mut nodes: Vec<(&str, u32)> = nodes.into_iter().collect();
    nodes.sort_by_key(|(node, count)| (Reverse(*count), *node));
    let nodes: Vec<&str> = nodes.into_iter().map(|(node, _)| node).collect();
    listed(&nodes)
}

/// Whether a callback does nothing but listen to transforms.
fn is_of_tf(subject: &Subject) -> bool {
    subject.kind == "subscription" && is_tf_topic(&subject.topic)
}

/// Time in executions, and the duration of the longest. They are in the order of their starts.
fn load(analysis: &Analysis<'_>, instances: impl Iterator<Item = InstanceId>) -> (i64, i64) {
    let (mut busy, mut longest, mut reached) = (0i64, 0, i64::MIN);
    for id in instances {
        let (start, length) = span(analysis, id);
        let end = start.saturating_add(length);
        busy = busy.saturating_add(end.saturating_sub(start.max(reached)).max(0));
        reached = reached.max(end);
        longest = longest.max(length);
    }
    (busy, longest)
}

/// What is shown of a thread.
pub(super) fn shown_on<'a>(
    analysis: &'a Analysis<'_>,
    subjects: &'a Subjects,
    thread: ThreadId,
) -> impl Iterator<Item = InstanceId> + 'a {
    let instances = counted(analysis, analysis.instances_on(thread)).iter();
    instances
        .copied()
        .filter(|id| subjects.is_shown(analysis, *id))
}

/// Messages that certainly did not arrive, where their receivers are.
struct Drops {
    by_thread: HashMap<ThreadId, Vec<DeliveryId>>,
    by_callback: HashMap<CallbackId, Vec<DeliveryId>>,
}

fn drops(analysis: &Analysis<'_>, subjects: &Subjects) -> Drops {
    let model = analysis.model;
    let mut found: Vec<DeliveryId> = (0..model.deliveries.len())
        .map(DeliveryId::from_index)
        .filter(|id| {
            let delivery = analysis.delivery(*id);
            let is_gone = matches!(
                delivery.status,
                DeliveryStatus::Lost | DeliveryStatus::Overwritten
            );
            is_gone && analysis.counts(analysis.publication(delivery.publication).publish)
        })
        .collect();
    found.sort_by_key(|id| {
        let publication = analysis.delivery(*id).publication;
        (analysis.publication(publication).publish, *id)
    });
    let mut drops = Drops {
        by_thread: HashMap::new(),
        by_callback: HashMap::new(),
    };
    for id in found {
        let subscription = analysis.delivery(id).subscription;
        let callback = subscription.and_then(|id| model.subscriptions[id.index()].callback);
        let Some(callback) = callback else {
            continue;
        };
        if !subjects.list[callback.index()].shown {
            continue;
        }
        drops.by_callback.entry(callback).or_default().push(id);
        // One that never ran has no thread.
        if let Some(first) = analysis.instances_of(callback).first() {
            let thread = analysis.instance(*first).thread;
            drops.by_thread.entry(thread).or_default().push(id);
        }
    }
    drops
}
