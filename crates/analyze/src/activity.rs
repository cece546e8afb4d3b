//! What threads did all the time: run a callback, look for work, wait for it.
//!
//! A thread's time is cut into spans at the starts and ends of its callbacks and at the phases of its executor. A callback
//! inside another one is part of it; one whose end is not in the trace has no duration. Executors that tell no phases (those of static and events executors, and all of CARET's
//! recordings) leave the time between callbacks unobserved.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{ClientCallbackId, InstanceId, ThreadId};
use rostrace_model::flow::PhaseKind;

use crate::analysis::Analysis;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Running a callback, the outermost one.
    Callback(InstanceId),
    /// Running the callback of a client, the outermost one.
    Client(ClientCallbackId),
    /// A callback began, and the trace has no end of it (a service that answers later has none): it ran for some of this time, at most
    /// until the executor went on.
    Unended(InstanceId),
    /// Waiting for work: the executor has nothing to do.
    Waiting,
    /// The executor's own work: collecting what is ready, taking messages, dispatching.
    Executor,
    /// The trace does not tell.
    Unobserved,
}

impl Activity {
    /// Whether the thread has time for something new, as far as is known.
    pub fn is_idle(self) -> bool {
        matches!(self, Activity::Waiting | Activity::Unobserved)
    }

    /// Whether the thread runs something that the application wrote.
    pub fn is_callback(self) -> bool {
        matches!(
            self,
            Activity::Callback(_) | Activity::Client(_) | Activity::Unended(_)
        )
    }
}

/// A thread does one thing from here to there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivitySpan {
    pub begin: Nanos,
    pub end: Nanos,
    pub activity: Activity,
}

impl ActivitySpan {
    pub fn duration(&self) -> i64 {
        self.end.0 - self.begin.0
    }
}

/// The spans of all threads.
#[derive(Debug)]
pub struct Activities {
    threads: Vec<Timeline>,
}

#[derive(Debug, Default)]
struct Timeline {
    /// When each span begins; it ends where the next one begins.
    begins: Vec<i64>,
    activity: Vec<Activity>,
    /// Idle time before each span, so that any span is two lookups.
    idle: Vec<i64>,
}

impl Activities {
    pub fn of(analysis: &Analysis<'_>) -> Activities {
        let threads = (0..analysis.model.threads.len()).map(ThreadId::from_index);
        Activities {
            threads: threads
                .map(|thread| Timeline::of(analysis, thread))
                .collect(),
        }
    }

    /// What a thread did in a span, without gaps: the durations add up to that of the span.
    pub fn spans(
        &self,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = ActivitySpan> + '_ {
        let timeline = &self.threads[thread.index()];
        let first = timeline.begins.partition_point(|begin| *begin <= from.0);
        let mut next = first;
        let mut at = from.0;
        std::iter::from_fn(move || {
            if at >= to.0 {
                return None;
            }
            let activity = match next.checked_sub(1) {
                Some(current) => timeline.activity[current],
                None => Activity::Unobserved,
            };
            let end = timeline.begins.get(next).map_or(to.0, |it| (*it).min(to.0));
            let span = ActivitySpan {
                begin: Nanos(at),
                end: Nanos(end),
                activity,
            };
            at = end;
            next += 1;
            Some(span)
        })
        .filter(|span| span.duration() > 0)
    }

    /// How much of a span a thread was idle, as far as is known.
    pub fn idle(&self, thread: ThreadId, from: Nanos, to: Nanos) -> i64 {
        let timeline = &self.threads[thread.index()];
        (timeline.idle_until(to.0) - timeline.idle_until(from.0)).max(0)
    }
}

impl Timeline {
    fn of(analysis: &Analysis<'_>, thread: ThreadId) -> Timeline {
        let model = analysis.model;
        let phases = analysis.phases_on(thread);
        let mut runs = Runs::of(analysis, thread);
        let mut timeline = Timeline::default();
        if runs.peek().is_none() && phases.is_empty() {
            return timeline;
        }
        let between = if phases.is_empty() {
            Activity::Unobserved
        } else {
            Activity::Executor
        };
        let mut phases = phases.iter().map(|id| model.phases[id.index()]).peekable();
        let mut reached = i64::MIN;
        while let Some(Run {
            start,
            end,
            activity,
        }) = runs.next()
        {
            if start < reached {
                // Inside the one before; where that has no end of its own, this is the first sign that it is over.
                continue;
            }
            while let Some(phase) = phases.next_if(|phase| phase.time.0 <= start) {
                timeline.phase(phase.time.0, phase.kind);
            }
            // What has no end has no known duration. It is over when the executor goes on, so the thread was not free before that; an
            // executor that tells no phases may have gone on at any time.
            let known_end = end;
            let end = known_end.unwrap_or_else(|| {
                let next = runs.peek().map(|next| next.start);
                let phase = phases.peek().map(|phase| phase.time.0);
                next.into_iter().chain(phase).min().unwrap_or(start)
            });
            let activity = match (known_end, activity) {
                (Some(_), activity) => activity,
                // If events were lost meanwhile, its end may be one of them, and much else may have happened since.
                _ if analysis.is_damaged(Nanos(start), Nanos(end)) => Activity::Unobserved,
                (None, Activity::Callback(id)) if between == Activity::Executor => {
                    Activity::Unended(id)
                }
                (None, _) => between,
            };
            timeline.push(start, activity);
            // Phases inside a callback are those of an executor that is spun there.
            while phases.next_if(|phase| phase.time.0 < end).is_some() {}
            timeline.push(end, between);
            reached = end;
        }
        for phase in phases {
            timeline.phase(phase.time.0, phase.kind);
        }
        timeline.interrupt(model.losses.pauses());
        timeline.sum();
        timeline
    }

    /// Of what a thread did when a recording stopped nobody knows how long it went on; what it does is known again with its next event.
    fn interrupt(&mut self, pauses: &[(Nanos, Nanos)]) {
        for (pause, _) in pauses {
            let next = self.begins.partition_point(|begin| *begin <= pause.0);
            let Some(current) = next.checked_sub(1) else {
                continue;
            };
            if self.activity[current] != Activity::Unobserved {
                self.begins.insert(next, pause.0);
                self.activity.insert(next, Activity::Unobserved);
            }
        }
    }

    fn phase(&mut self, at: i64, kind: PhaseKind) {
        let activity = match kind {
            PhaseKind::WaitForWork => Activity::Waiting,
            PhaseKind::GetNextReady | PhaseKind::Execute => Activity::Executor,
        };
        self.push(at, activity);
    }

    fn push(&mut self, at: i64, activity: Activity) {
        if self.begins.last() == Some(&at) {
            self.begins.pop();
            self.activity.pop();
        }
        if self.activity.last() != Some(&activity) {
            self.begins.push(at);
            self.activity.push(activity);
        }
    }

    fn sum(&mut self) {
        let mut idle = 0;
        for (number, begin) in self.begins.iter().enumerate() {
            if number > 0 && self.activity[number - 1].is_idle() {
                idle += begin - self.begins[number - 1];
            }
            self.idle.push(idle);
        }
    }

    /// Idle time up to an instant; before the first span everything is.
    fn idle_until(&self, at: i64) -> i64 {
        let after = self.begins.partition_point(|begin| *begin <= at);
        match after.checked_sub(1) {
            Some(current) if self.activity[current].is_idle() => {
                self.idle[current] + (at - self.begins[current])
            }
            Some(current) => self.idle[current],
            None => self.begins.first().map_or(at, |first| at - first),
        }
    }
}

/// What a thread ran.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: i64,
    end: Option<i64>,
    activity: Activity,
}

/// Executions of a thread's callbacks, and of its clients', in the order of their starts.
struct Runs<'a> {
    analysis: &'a Analysis<'a>,
    instances: &'a [InstanceId],
    clients: &'a [ClientCallbackId],
}

impl<'a> Runs<'a> {
    fn of(analysis: &'a Analysis<'_>, thread: ThreadId) -> Runs<'a> {
        Runs {
            analysis,
            instances: analysis.instances_on(thread),
            clients: analysis.client_callbacks_on(thread),
        }
    }

    fn peek(&self) -> Option<Run> {
        let callback = self.instances.first().map(|id| {
            let row = self.analysis.instance(*id);
            Run {
                start: row.start.0,
                end: row.end.map(|end| end.0),
                activity: Activity::Callback(*id),
            }
        });
        let client = self.clients.first().map(|id| {
            let row = self.analysis.client_callback(*id);
            Run {
                start: row.start.0,
                end: row.end.map(|end| end.0),
                activity: Activity::Client(*id),
            }
        });
        match (callback, client) {
            (Some(callback), Some(client)) if client.start < callback.start => Some(client),
            (callback, client) => callback.or(client),
        }
    }

    fn next(&mut self) -> Option<Run> {
        let run = self.peek()?;
        match run.activity {
            Activity::Client(_) => self.clients = &self.clients[1..],
            _ => self.instances = &self.instances[1..],
        }
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_did_when_a_recording_stopped_does_not_go_on_in_the_pause() {
        let mut timeline = Timeline {
            begins: vec![0, 10, 50],
            activity: vec![Activity::Executor, Activity::Waiting, Activity::Executor],
            idle: Vec::new(),
        };
        timeline.interrupt(&[(Nanos(20), Nanos(40))]);
        timeline.sum();
        let activities = Activities {
            threads: vec![timeline],
        };
        let thread = ThreadId::from_index(0);
        let spans = activities.spans(thread, Nanos(0), Nanos(60));
        let spans: Vec<_> = spans
            .map(|it| (it.begin.0, it.end.0, it.activity))
            .collect();
        let expected = [
            (0, 10, Activity::Executor),
            (10, 20, Activity::Waiting),
            (20, 50, Activity::Unobserved),
            (50, 60, Activity::Executor),
        ];
        assert_eq!(spans, expected);
    }
}
