//! What the rest of the trace says of a timer that seems to be late: whether it was due at all.
//!
//! A timer that is cancelled or reset is not, and no tracepoint tells of either. But an executor that looked for work runs a timer that is due first, unless its
//! group is busy. So an executor that looked twice and did not run it shows that it was not due; it is known to have looked where its phases are in the trace, and
//! where another callback of the node ran several times.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{
    CallbackGroupType, CallbackId, CallbackOwner, InstanceId, NodeId, PhaseId, ProcessId, ThreadId,
    Timer,
};
use rostrace_model::flow::{ExecutorPhase, PhaseKind};

use crate::analysis::Analysis;

/// A thread that did not get a processor makes a timer leave out a firing or two; with more that nothing explains, it was rather not set.
const PERIODS: i64 = 4;

/// What may be asked of one timer.
pub(super) struct Witnesses<'a> {
    analysis: &'a Analysis<'a>,
    period: i64,
    /// Where it ever ran: threads of its executor.
    threads: Vec<ThreadId>,
    /// Other callbacks of its node that its executor runs.
    companions: Vec<CallbackId>,
    /// Those that keep it from running while they run.
    excluding: Vec<CallbackId>,
}

impl<'a> Witnesses<'a> {
    pub(super) fn of(analysis: &'a Analysis<'a>, timer: &Timer, callback: CallbackId) -> Self {
        let mut threads: Vec<ThreadId> = (analysis.instances_of(callback).iter())
            .map(|id| analysis.instance(*id).thread)
            .collect();
        threads.sort_unstable();
        threads.dedup();
        let mates = match timer.node {
            Some(node) => of_node(analysis, timer.process, node),
            None => Vec::new(),
        };
        let executor = analysis.executor_of(callback);
        let companions = mates.iter().copied().filter(|id| {
            let owner = analysis.model.callbacks[id.index()].owner;
            // Requests may be many, and all of them answered after one look.
            let is_fair = matches!(
                owner,
                CallbackOwner::Timer(_) | CallbackOwner::Subscription(_)
            );
            *id != callback && is_fair && analysis.executor_of(*id) == executor
        });
        let companions = companions.collect();
        let group = analysis.group_of(callback);
        let group = group.map(|id| &analysis.model.callback_groups[id.index()]);
        let excluding = match group.map(|group| (&group.kind, &group.callbacks)) {
            Some((CallbackGroupType::Reentrant, _)) => Vec::new(),
            Some((CallbackGroupType::MutuallyExclusive, callbacks)) => callbacks.clone(),
            // Nobody knows who is in its group: all may be.
            Some((CallbackGroupType::Unknown, _)) | None => mates,
        };
        Witnesses {
            analysis,
            period: timer.period.0,
            threads,
            companions,
            excluding,
        }
    }

    /// Since when a firing can have been due at the earliest, where that is later than expected.
    pub(super) fn not_due_until(&self, due: i64, start: i64) -> Option<i64> {
        let is_long = start.saturating_sub(due) > self.period;
        let by_others = || self.others_ran(due, start).filter(|_| is_long);
        self.waited(due, start).or_else(by_others)
    }

    /// Whether nothing tells if it was due at all: it seems to have left out firings, and its thread had nothing else to do then, as far as is known.
    pub(super) fn is_silent(&self, thread: ThreadId, due: i64, start: i64) -> bool {
        let analysis = self.analysis;
        let longest = self.period.saturating_mul(PERIODS);
        if start.saturating_sub(due) <= longest || !analysis.phases_on(thread).is_empty() {
            return false;
        }
        let idle = analysis.activities().idle(thread, Nanos(due), Nanos(start));
        idle.saturating_sub(self.excluded(due, start)) > longest
    }

    /// An executor that began to wait for work twice. It was not due before the last of these waits ended. Waits inside of callbacks are those of another
    /// executor.
    fn waited(&self, due: i64, start: i64) -> Option<i64> {
        let mut waits: Vec<(i64, i64)> = Vec::new();
        for thread in &self.threads {
            let phase = |id: &PhaseId| self.analysis.model.phases[id.index()];
            let phases = self.analysis.phases_on(*thread);
            let before = phases.partition_point(|id| phase(id).time.0 < start);
            let after = phases.partition_point(|id| phase(id).time.0 <= due);
            let since = phases.get(after..before).unwrap_or_default();
            let is_wait = |id: &PhaseId| {
                let ExecutorPhase { kind, time, .. } = phase(id);
                kind == PhaseKind::WaitForWork
                    && !self.runs_callback(*thread, time)
                    && self.is_free(time)
            };
            let last = (0..since.len())
                .rev()
                .filter(|place| is_wait(&since[*place]));
            waits.extend(last.take(2).map(|place| {
                let ended = since.get(place + 1).map_or(start, |id| phase(id).time.0);
                (phase(&since[place]).time.0, ended)
            }));
        }
        waits.sort_unstable();
        let [.., _, last] = waits[..] else {
            return None;
        };
        Some(last.1)
    }

    /// Where an executor tells no phases: a callback runs once between two looks for work, so that one that ran three times saw the executor look
    /// twice. It was not due before the last of these runs.
    fn others_ran(&self, due: i64, start: i64) -> Option<i64> {
        let analysis = self.analysis;
        let last = |callback: &CallbackId| {
            let instances = analysis.instances_of(*callback);
            let starts = |id: &InstanceId| analysis.instance(*id).start.0;
            let after = instances.partition_point(|id| starts(id) <= due);
            let before = instances.partition_point(|id| starts(id) < start);
            let since = instances.get(after..before).unwrap_or_default();
            let mut looks = since.iter().rev().filter(|id| self.is_look(**id, due));
            let last = looks.next()?;
            looks.nth(1).map(|_| starts(last))
        };
        self.companions.iter().filter_map(last).max()
    }

    /// Whether an execution shows that the executor had looked for work since.
    fn is_look(&self, id: InstanceId, due: i64) -> bool {
        let instance = self.analysis.instance(id);
        let arrival = self.analysis.received_by(id);
        let arrival = arrival.and_then(|id| self.analysis.arrival(id));
        // An executor that goes by a queue of events runs what came before the timer was due first.
        let is_new = arrival.is_none_or(|arrival| arrival.publish.0 > due);
        is_new && self.threads.contains(&instance.thread) && self.is_free(instance.start)
    }

    /// Whether nothing of its group ran just before an instant.
    fn is_free(&self, at: Nanos) -> bool {
        !self.excluding.iter().any(|callback| {
            let instances = self.analysis.instances_of(*callback);
            let after = instances.partition_point(|id| self.analysis.instance(*id).start < at);
            let last = after.checked_sub(1).map(|last| instances[last]);
            let end = last.and_then(|last| self.analysis.instance(last).end);
            end.is_some_and(|end| end > at)
        })
    }

    /// How long those that exclude it ran on any thread, at most.
    fn excluded(&self, due: i64, start: i64) -> i64 {
        let mut sum = 0i64;
        for callback in &self.excluding {
            let instances = self.analysis.instances_of(*callback);
            let after = instances.partition_point(|id| self.analysis.instance(*id).start.0 <= due);
            for id in &instances[after.saturating_sub(1)..] {
                let instance = self.analysis.instance(*id);
                if instance.start.0 >= start {
                    break;
                }
                let end = instance.end.map_or(instance.start.0, |end| end.0);
                let span = end.min(start).saturating_sub(instance.start.0.max(due));
                sum = sum.saturating_add(span.max(0));
            }
        }
        sum
    }

    fn runs_callback(&self, thread: ThreadId, at: Nanos) -> bool {
        let activities = self.analysis.activities();
        let mut now = activities.spans(thread, at, Nanos(at.0.saturating_add(1)));
        now.any(|span| span.activity.is_callback())
    }
}

fn of_node(analysis: &Analysis<'_>, process: ProcessId, node: NodeId) -> Vec<CallbackId> {
    let model = analysis.model;
    let callbacks = (0..model.callbacks.len()).map(CallbackId::from_index);
    callbacks
        .filter(|id| model.callbacks[id.index()].process == process)
        .filter(|id| model.node_of_callback(*id) == Some(node))
        .collect()
}
