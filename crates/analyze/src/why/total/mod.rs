//! All explanations of a recording added up: by what was late (`victim`), by cause and by who did it (`blame`), and by what could be changed
//! (`remedy`). The sums are those of the single explanations, to the nanosecond.
//!
//! `tally` adds up one victim and says how late each of its executions or messages was; `change` picks the changes that would gain most, and
//! `sentence` tells them to people. `docs/concepts/latency.md` defines what *late* means.

mod blame;
mod change;
mod remedy;
mod sentence;
mod tally;
mod victim;

use std::collections::BTreeMap;

use rostrace_model::entity::{CallbackId, DeliveryId, InstanceId, ProcessId};

use super::{Part, Why};
use crate::analysis::Analysis;
use crate::callback::{CallbackSummary, InstanceTiming, instance_timings};
use crate::clocks::UnsynchronisedHosts;
use crate::declared::path_instance::PathInstance;
use crate::finding::{self, Phases, Runner};
use crate::flow_path::Flow;
use rostrace_base::parallel::on_all_processors;
use rostrace_model::describe::built_in;
use rostrace_model::flow::DeliveryStatus;
use tally::{Measure, Tally};

pub use blame::{Blame, BlameKind, Culprit};
pub use change::{Change, LostMessages};
pub use remedy::{Remedy, RunsOn, Way};
pub use sentence::{CulpritName, Question};
pub use victim::{Hop, PathVictim, Victim};

/// Explanations of one kind, added up.
#[derive(Debug)]
pub struct Total {
    /// The one that was late by most first.
    pub victims: Vec<VictimTotal>,
    /// The paths that victims are numbered by.
    pub paths: Vec<PathVictim>,
}

/// All explanations of one victim.
#[derive(Debug)]
pub struct VictimTotal {
    pub victim: Victim,
    /// How many executions or messages were explained, how many of them were late, and during how many events were lost.
    pub explained: u64,
    pub late: u64,
    pub damaged: u64,
    /// All explained time.
    pub duration: i64,
    /// By how much the late ones were late, and from when on one is late.
    pub lateness: i64,
    pub late_from: i64,
    /// What most of the lateness is due to first.
    pub rows: Vec<CauseTotal>,
    /// The same lateness by what could be changed, as far as anything could.
    pub(crate) remedies: Vec<OfRemedy>,
}

/// All parts of one victim that are put down to the same.
#[derive(Debug, Clone, Copy)]
pub struct CauseTotal {
    /// Of a path: which communication it belongs to.
    pub hop: usize,
    pub blame: Blame,
    /// The sum of the parts.
    pub duration: i64,
    /// As much of it as counts as lateness.
    pub weighted: i64,
    /// In how many executions or messages it occurs, and how many of them were late because of it.
    pub count: u64,
    pub late: u64,
    /// How much of it in one execution or message is not too much, and whether that is the period.
    pub usual: i64,
    pub is_period: bool,
    pub longest: Part,
}

/// What a change would gain for one victim.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfRemedy {
    pub(crate) remedy: Remedy,
    pub(crate) gain: i64,
    /// Of that, what is due to the callback's own execution, and what happened while the system started or ended.
    pub(crate) own: i64,
    pub(crate) in_phase: i64,
    pub(crate) times: u64,
    /// Of what is due to the callback's own execution: what is usual, and whether that is the period.
    pub(crate) usual: Option<(i64, bool)>,
    pub(crate) longest: Part,
    /// The largest gain of a single execution or message, and where its explanation ends.
    pub(crate) worst: (i64, rostrace_ctf::schema::Nanos),
}

/// Something that can be explained.
#[derive(Debug, Clone, Copy)]
enum Explainable<'s> {
    Execution(InstanceTiming),
    Message(DeliveryId),
    Flow(&'s Flow),
    PathInstance(&'s PathInstance),
}

/// Which executions and messages are wanted.
pub struct Wanted<'w> {
    pub callback: &'w (dyn Fn(CallbackId) -> bool + Sync),
    /// Callbacks that the trace does not name.
    pub unnamed: &'w (dyn Fn(InstanceId) -> bool + Sync),
    pub message: &'w (dyn Fn(DeliveryId) -> bool + Sync),
}

impl std::fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted").finish_non_exhaustive()
    }
}

/// The messages of one path, by what declares or observed it.
#[derive(Debug)]
pub enum Messages<'p> {
    Observed(Vec<&'p Flow>),
    Declared(Vec<PathInstance>),
}

impl Total {
    /// All executions that begin in the range, and the messages that were taken by hand: the way of any other message that arrived is a part of
    /// the execution that it made begin. `callbacks` has the summaries of all callbacks.
    pub fn of_executions(
        analysis: &Analysis<'_>,
        callbacks: &[CallbackSummary],
        wanted: &Wanted<'_>,
    ) -> Total {
        let model = analysis.model;
        let mut work: BTreeMap<ProcessId, OfProcess> = BTreeMap::new();
        for summary in callbacks {
            if (wanted.callback)(summary.callback) && summary.count > 0 {
                let process = model.callbacks[summary.callback.index()].process;
                work.entry(process)
                    .or_default()
                    .callbacks
                    .push(summary.callback);
            }
        }
        for (index, row) in model.instances.iter().enumerate() {
            let id = InstanceId::from_index(index);
            if row.callback.is_none() && analysis.counts(row.start) && (wanted.unnamed)(id) {
                let runner = Runner::of(model, row);
                let of_process = work.entry(runner.process).or_default();
                of_process.unnamed.entry(runner).or_default().push(id);
            }
        }
        for (index, delivery) in model.deliveries.iter().enumerate() {
            let id = DeliveryId::from_index(index);
            let is_by_hand =
                delivery.instance.is_none() && delivery.status == DeliveryStatus::Delivered;
            if is_by_hand
                && let Some(arrival) = analysis.arrival(id)
                && analysis.counts(arrival.publish)
                && !arrival.historical
                && (wanted.message)(id)
            {
                work.entry(receiving_process(analysis, id))
                    .or_default()
                    .add_message(analysis, id);
            }
        }
        Total::of_work(analysis, callbacks, work)
    }

    /// Messages, from their publication to the callback.
    pub fn of_messages(
        analysis: &Analysis<'_>,
        callbacks: &[CallbackSummary],
        messages: &[DeliveryId],
    ) -> Total {
        let mut work: BTreeMap<ProcessId, OfProcess> = BTreeMap::new();
        for id in messages {
            let process = receiving_process(analysis, *id);
            let of_process = work.entry(process).or_default();
            of_process.add_message(analysis, *id);
        }
        Total::of_work(analysis, callbacks, work)
    }

    /// Messages along paths.
    pub fn of_paths(
        analysis: &Analysis<'_>,
        paths: impl IntoIterator<Item = (PathVictim, bool)>,
        messages: &[Messages<'_>],
    ) -> Total {
        let (paths, synchronised): (Vec<PathVictim>, Vec<bool>) = paths.into_iter().unzip();
        let mut why = Why::new(analysis);
        let phases = Phases::of(analysis);
        let mut victims = Vec::new();
        for (number, messages) in messages.iter().enumerate() {
            let measure = Measure {
                period: None,
                is_path: true,
                is_weighed: synchronised.get(number).is_some_and(|it| *it),
            };
            let subjects: Vec<Explainable<'_>> = match messages {
                Messages::Observed(flows) => flows.iter().map(|it| Explainable::Flow(it)).collect(),
                Messages::Declared(rows) => rows.iter().map(Explainable::PathInstance).collect(),
            };
            let victim = Victim::Path(number);
            let subjects = subjects.into_iter();
            victims.extend(Tally::of(
                &mut why, analysis, &phases, victim, measure, subjects,
            ));
        }
        Total::new(victims, paths)
    }

    fn of_work(
        analysis: &Analysis<'_>,
        callbacks: &[CallbackSummary],
        work: BTreeMap<ProcessId, OfProcess>,
    ) -> Total {
        let work: Vec<OfProcess> = work.into_values().collect();
        // What all of them look up is found before they share the processors.
        analysis.standstills();
        let phases = Phases::of(analysis);
        let victims = on_all_processors(&work, |it| it.victims(analysis, &phases, callbacks));
        Total::new(victims.into_iter().flatten().collect(), Vec::new())
    }

    fn new(mut victims: Vec<VictimTotal>, paths: Vec<PathVictim>) -> Total {
        victims.sort_by_key(|it| std::cmp::Reverse((it.lateness, it.duration)));
        Total { victims, paths }
    }

    pub fn explained(&self) -> u64 {
        self.victims.iter().map(|it| it.explained).sum()
    }

    pub fn late(&self) -> u64 {
        self.victims.iter().map(|it| it.late).sum()
    }

    pub fn damaged(&self) -> u64 {
        self.victims.iter().map(|it| it.damaged).sum()
    }

    pub fn duration(&self) -> i64 {
        self.victims.iter().map(|it| it.duration).sum()
    }

    pub fn lateness(&self) -> i64 {
        self.victims.iter().map(|it| it.lateness).sum()
    }

    /// How much of the lateness nobody can be told to change anything about, since the trace does not tell what it is due to.
    pub fn unexplained(&self) -> i64 {
        let rows = self.victims.iter().flat_map(|it| &it.rows);
        let not_reported = rows.filter(|row| row.blame.kind == BlameKind::NotKnown);
        not_reported.map(|row| row.weighted).sum()
    }
}

/// What is explained of one process. Those of one process have groups and threads in common.
#[derive(Debug, Default)]
struct OfProcess {
    callbacks: Vec<CallbackId>,
    unnamed: BTreeMap<Runner, Vec<InstanceId>>,
    messages: BTreeMap<Victim, Vec<DeliveryId>>,
    /// Ends without names, by what stands for their names.
    unnamed_messages: BTreeMap<String, Victim>,
}

impl OfProcess {
    fn add_message(&mut self, analysis: &Analysis<'_>, id: DeliveryId) {
        let mut victim = Victim::of_message(analysis, id);
        if !victim.is_named() {
            let name = victim::message_name(analysis, id);
            victim = *self.unnamed_messages.entry(name).or_insert(victim);
        }
        self.messages.entry(victim).or_default().push(id);
    }

    fn victims(
        &self,
        analysis: &Analysis<'_>,
        phases: &Phases<'_>,
        callbacks: &[CallbackSummary],
    ) -> Vec<VictimTotal> {
        let mut why = Why::new(analysis);
        let mut victims = Vec::new();
        for callback in &self.callbacks {
            let measure = Measure {
                period: period(analysis, callbacks, *callback),
                is_path: false,
                is_weighed: !built_in::callback(analysis.model, *callback)
                    && finding::has_one_clock(analysis, *callback),
            };
            let victim = Victim::Callback(Runner::callback(analysis.model, *callback));
            let timings = instance_timings(analysis, *callback).into_iter();
            let subjects = timings.map(Explainable::Execution);
            victims.extend(Tally::of(
                &mut why, analysis, phases, victim, measure, subjects,
            ));
        }
        for (runner, instances) in &self.unnamed {
            let measure = Measure {
                period: None,
                is_path: false,
                is_weighed: true,
            };
            let subjects = instances.iter().map(|id| {
                Explainable::Execution(InstanceTiming {
                    instance: *id,
                    period: None,
                    gap: None,
                    firing: None,
                })
            });
            let victim = Victim::Callback(*runner);
            victims.extend(Tally::of(
                &mut why, analysis, phases, victim, measure, subjects,
            ));
        }
        for (victim, messages) in &self.messages {
            let callback = victim.callback(analysis.model);
            let is_own = victim.is_built_in(analysis.model);
            // Who takes messages by hand decides when to.
            let mut receptions = messages.iter().map(|id| analysis.delivery(*id).instance);
            let is_waited_for = receptions.any(|instance| instance.is_some());
            let measure = Measure {
                period: callback.and_then(|id| period(analysis, callbacks, id)),
                is_path: false,
                is_weighed: is_waited_for
                    && !is_own
                    && UnsynchronisedHosts::on_the_way(analysis, messages).is_none(),
            };
            let subjects = messages.iter().map(|id| Explainable::Message(*id));
            victims.extend(Tally::of(
                &mut why, analysis, phases, *victim, measure, subjects,
            ));
        }
        victims
    }
}

fn period(
    analysis: &Analysis<'_>,
    callbacks: &[CallbackSummary],
    callback: CallbackId,
) -> Option<i64> {
    finding::period(analysis, callbacks.get(callback.index())?)
}

/// The process that receives a message; its sender's if the trace does not tell.
fn receiving_process(analysis: &Analysis<'_>, id: DeliveryId) -> ProcessId {
    let model = analysis.model;
    let delivery = analysis.delivery(id);
    let thread = match delivery.instance {
        Some(instance) => analysis.instance(instance).thread,
        None => match analysis.take_of(delivery) {
            Some(take) => take.thread,
            None => analysis.publication(delivery.publication).thread,
        },
    };
    model.process_of(thread)
}
