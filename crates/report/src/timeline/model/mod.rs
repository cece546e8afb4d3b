//! What happened, event track by track: the trace itself, CPUs, then process by process what is its own and what its threads did.

mod cpu;
mod damage;
mod inside;
mod message;
mod process;
mod service_call;
mod thread;

use std::io;

use rostrace_analyze::Analysis;
use rostrace_analyze::groups::Groups;
use rostrace_analyze::selection::{Selected, Selection};
use rostrace_ctf::Damage;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{ProcessId, PublicationId, SubscriptionId, TakeId, ThreadId, TimerId};

use super::Written;
use super::identity::Identities;
use super::label::{LabelId, Labels};
use super::sink::{Sink, TimelineEvent, Track, TrackId, TrackKind};
use service_call::Calls;

/// What relative times count from: the begin of the recording, whatever of it is event.
pub(super) fn beginning(analysis: &Analysis<'_>) -> Nanos {
    analysis.model.begin.unwrap_or(Nanos(0))
}

/// Hands a sink every event that is selected. `bytes` of the result is for the sink to fill in.
pub(super) fn write_events(
    analysis: &Analysis<'_>,
    selection: &Selection,
    damage: &[Damage],
    sink: &mut impl Sink,
) -> io::Result<Written> {
    let selected = Selected::of(analysis.model, selection);
    let mut timeline = TimelineModel::new(analysis, &selected, sink);
    timeline.damage(damage)?;
    timeline.cpus()?;
    for index in 0..analysis.model.processes.len() {
        let process = ProcessId::from_index(index);
        if selected.has_process(process) {
            timeline.process(process)?;
        }
    }
    Ok(timeline.written)
}

struct TimelineModel<'a, S> {
    analysis: &'a Analysis<'a>,
    selected: &'a Selected,
    identities: Identities,
    labels: Labels,
    /// What belongs to a process or a thread.
    threads_of: Groups<ProcessId, ThreadId>,
    publications_on: Groups<ThreadId, PublicationId>,
    /// Those that no callback followed.
    takes_on: Groups<ThreadId, TakeId>,
    subscriptions_of: Groups<ProcessId, SubscriptionId>,
    timers_of: Vec<Vec<TimerId>>,
    user_events_on: Vec<Vec<u32>>,
    calls: Calls,
    /// By execution: how late a timer fired, [`NOT_LATE`] for others.
    lateness: Vec<i64>,
    /// The part of the time that counts and that the trace covers.
    begin: Nanos,
    end: Nanos,
    tracks: u32,
    sink: &'a mut S,
    written: Written,
}

const NOT_LATE: i64 = i64::MIN;

impl<'a, S: Sink> TimelineModel<'a, S> {
    fn new(analysis: &'a Analysis<'a>, selected: &'a Selected, sink: &'a mut S) -> Self {
        let model = analysis.model;
        let first = model.begin.unwrap_or(Nanos(0));
        let last = model.end.unwrap_or(first);
        let begin = first.max(*analysis.window.start());
        let mut timers_of = vec![Vec::new(); model.processes.len()];
        for (index, timer) in model.timers.iter().enumerate() {
            timers_of[timer.process.index()].push(TimerId::from_index(index));
        }
        let mut user_events_on = Vec::new();
        if !model.user_events.is_empty() {
            user_events_on.resize_with(model.threads.len(), Vec::new);
        }
        for (index, event) in model.user_events.iter().enumerate() {
            user_events_on[event.thread.index()].push(index as u32);
        }
        TimelineModel {
            analysis,
            selected,
            identities: Identities::of(analysis),
            labels: Labels::of(analysis),
            threads_of: Groups::new(model.processes.len(), model.threads.len(), |row| {
                Some(model.threads[row].process)
            }),
            publications_on: Groups::new(model.threads.len(), model.publications.len(), |row| {
                Some(model.publications[row].thread)
            }),
            takes_on: Groups::new(model.threads.len(), model.takes.len(), |row| {
                let take = &model.takes[row];
                take.instance.is_none().then_some(take.thread)
            }),
            subscriptions_of: Groups::new(
                model.processes.len(),
                model.subscriptions.len(),
                |row| Some(model.subscriptions[row].process),
            ),
            timers_of,
            user_events_on,
            calls: Calls::of(model),
            lateness: vec![NOT_LATE; model.instances.len()],
            begin,
            end: last.min(*analysis.window.end()).max(begin),
            tracks: 0,
            sink,
            written: Written::default(),
        }
    }

    fn track(&mut self, parent: Option<TrackId>, kind: TrackKind<'_>) -> io::Result<TrackId> {
        let id = TrackId(self.tracks);
        self.tracks += 1;
        self.sink.track(&Track { id, parent, kind })?;
        Ok(id)
    }
}

/// Something that is as its label says, until more is said of it.
fn labelled(labels: &Labels, track: TrackId, begin: Nanos, label: LabelId) -> TimelineEvent<'_> {
    TimelineEvent {
        track,
        begin,
        end: None,
        label,
        described: labels.get(label),
        name: None,
        arguments: &[],
        given: &[],
        sends: &[],
        receives: &[],
    }
}
