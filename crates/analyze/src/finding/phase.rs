//! Whether something happened while the system started or ended: much is late then that is not later on.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::ProcessId;

use super::{FindingKind, SECOND, recorded};
use crate::analysis::Analysis;
use crate::callback::instance_timings;
use crate::thread::Ran;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Phase {
        /// Most nodes did not exist yet, or had just been created.
        StartUp = "start_up",
        /// Processes had begun to end.
        Shutdown = "shutdown",
    }
}

/// So many of the nodes are most of them.
const MOST: f64 = 0.8;
/// After its creation a node is new for so long.
const NEW: i64 = SECOND;
/// Before the end of a recording, processes may be ending for so long.
const ENDING: i64 = 2 * SECOND;

#[derive(Debug)]
pub(crate) struct Phases<'a> {
    analysis: &'a Analysis<'a>,
    /// Nothing if all nodes were there before the recording.
    started: Option<Nanos>,
    ending: Option<Nanos>,
}

impl<'a> Phases<'a> {
    pub(crate) fn of(analysis: &'a Analysis<'a>) -> Phases<'a> {
        let model = analysis.model;
        let (_, end, length) = recorded(analysis);
        let begin = model.begin.unwrap_or_default();
        let mut names = BTreeSet::new();
        let nodes = model.nodes.iter();
        let own = nodes.filter(|node| !built_in::node(&node.name));
        let mut created: Vec<Nanos> = own
            .filter(|node| names.insert(node.name.as_str()))
            .map(|node| node.created)
            .collect();
        created.sort();
        let most = (MOST * created.len() as f64).ceil() as usize;
        let started = most.checked_sub(1).map(|place| created[place]);
        let started = started.filter(|at| *at > begin);
        // The new time is no more than a small part of a short recording.
        let new = NEW.min(length / 20);
        let mut ends: BTreeMap<ProcessId, Nanos> = BTreeMap::new();
        for node in model.nodes.iter().filter(|it| !built_in::node(&it.name)) {
            let (_, last) = model.processes[node.process.index()].recorded();
            let at = node.ended.unwrap_or(last);
            let of_process = ends.entry(node.process).or_insert(at);
            *of_process = (*of_process).max(at);
        }
        let near = end
            .0
            .saturating_sub(ENDING.max(length / 20).min(length / 4));
        let ending = ends.into_values().filter(|at| at.0 >= near).min();
        Phases {
            analysis,
            started: started.map(|at| Nanos(at.0 + new)),
            ending,
        }
    }

    pub(crate) fn at(&self, at: Nanos) -> Option<Phase> {
        if self.started.is_some_and(|started| at < started) {
            Some(Phase::StartUp)
        } else if self.ending.is_some_and(|ending| at >= ending) {
            Some(Phase::Shutdown)
        } else {
            None
        }
    }

    /// Whether it happened at another time too, half as bad or worse: then it does not belong to that phase.
    pub(super) fn is_as_bad_outside(&self, phase: Phase, kind: &FindingKind) -> bool {
        let analysis = self.analysis;
        let is_outside = |at: Nanos| analysis.counts(at) && self.at(at) != Some(phase);
        match *kind {
            FindingKind::Blocked { runner, worst, .. }
            | FindingKind::LongExecution { runner, worst, .. } => {
                let Ran::Callback(callback) = runner.ran else {
                    return false;
                };
                let runs = analysis.instances_of(callback).iter();
                let mut runs = runs.map(|id| analysis.instance(*id));
                runs.any(|run| {
                    let duration = run.end.map(|end| end.0 - run.start.0);
                    is_outside(run.start) && duration.is_some_and(|it| it >= worst / 2)
                })
            }
            FindingKind::LateExecution {
                callback, worst, ..
            } => instance_timings(analysis, callback).iter().any(|timing| {
                is_outside(analysis.instance(timing.instance).start)
                    && timing.lateness(analysis).is_some_and(|it| it >= worst / 2)
            }),
            FindingKind::Pause {
                publisher, longest, ..
            } => {
                let published = analysis.publications_of(publisher).iter();
                let mut published: Vec<Nanos> = published
                    .map(|id| analysis.publication(*id).publish)
                    .collect();
                published.sort();
                let mut pauses = published.windows(2);
                pauses.any(|it| is_outside(it[1]) && it[1].0 - it[0].0 >= longest / 2)
            }
            FindingKind::Standstill {
                scope, duration, ..
            } => {
                let mut all = analysis.standstills().list.iter();
                all.any(|it| {
                    it.scope == scope && is_outside(it.begin) && it.duration() >= duration / 2
                })
            }
            // Messages are lost one by one: the first one says nothing of the others.
            FindingKind::LostMessages { .. }
            | FindingKind::OverflowingQueue { .. }
            | FindingKind::SkippedFirings { .. } => true,
            FindingKind::SilentTopics { .. }
            | FindingKind::BusyThread { .. }
            | FindingKind::SlowPath { .. }
            | FindingKind::EndedEarly { .. }
            | FindingKind::LateNodes { .. } => false,
        }
    }
}
