//! What a thread did: callbacks, with what they published and what the application said inside them; beside them the phases of its executor, and
//! what it waited for.

use std::cmp::Reverse;
use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, ProcessId, PublicationId, TakeId, ThreadId};
use rostrace_model::flow::{LockKind, PhaseKind, UserEventKind};

use super::super::flow::FlowId;
use super::super::label::{Common, Labels};
use super::super::lanes::Lanes;
use super::super::sink::{Argument, Sink, TrackId, TrackKind};
use super::{NOT_LATE, TimelineModel, labelled};

/// Something on a thread, small because those of one thread are sorted.
#[derive(Debug, Clone, Copy)]
struct ThreadEntry {
    begin: Nanos,
    end: Nanos,
    what: ThreadEvent,
}

/// In the order in which what begins and ends together is put into each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ThreadEvent {
    Execution(InstanceId),
    /// The trace does not have its end.
    Unfinished(InstanceId),
    Span(u32),
    Publication(PublicationId),
    Take(TakeId),
    ServiceStep(u32),
    Said(u32),
}

/// The tracks of a thread: its own, and more where it does several things at once.
struct Tracks {
    own: TrackId,
    lanes: Lanes,
    more: Vec<TrackId>,
}

impl<S: Sink> TimelineModel<'_, S> {
    pub(super) fn thread(
        &mut self,
        process: ProcessId,
        thread: ThreadId,
        parent: TrackId,
    ) -> io::Result<()> {
        let entries = self.entries(thread);
        let has_phases = !self.analysis.phases_on(thread).is_empty();
        if entries.is_empty() && !(has_phases && self.selected.has_unnamed()) {
            return Ok(());
        }
        let pid = self.identities.pid(process);
        let tid = self.identities.tid(thread);
        let name = self.thread_name(process, thread);
        let track = self.track(
            Some(parent),
            TrackKind::Thread {
                pid,
                tid,
                name: &name,
            },
        )?;
        self.written.threads += 1;
        let mut tracks = Tracks {
            own: track,
            lanes: Lanes::default(),
            more: Vec::new(),
        };
        for entry in entries {
            self.entry(&mut tracks, entry)?;
        }
        self.sink.close(track)?;
        for track in tracks.more {
            self.sink.close(track)?;
        }
        self.phases(process, thread, track)?;
        self.locks(thread, track)?;
        self.inside(thread, track)
    }

    /// As the kernel calls it; without its events the main thread has the name of the process.
    fn thread_name(&self, process: ProcessId, thread: ThreadId) -> String {
        let model = self.analysis.model;
        let tid = model.threads[thread.index()].tid;
        let of_process = &model.processes[process.index()];
        let mut name = match self.identities.kernel_name(thread) {
            Some(name) => name.to_owned(),
            None if tid == of_process.pid => of_process.name.clone(),
            None => "thread".to_owned(),
        };
        if self.identities.tid(thread) != tid {
            name = format!("{name} (tid {tid})");
        }
        name
    }

    /// Everything that is shown, in the order of time; what contains comes before what it contains.
    fn entries(&self, thread: ThreadId) -> Vec<ThreadEntry> {
        let model = self.analysis.model;
        let mut entries = Vec::new();
        let instances = self.analysis.instances_on(thread);
        for id in instances {
            let instance = self.analysis.instance(*id);
            if !self.shows_instance(instance) {
                continue;
            }
            let begin = instance.start;
            let entry = match instance.end {
                Some(end) => ThreadEntry {
                    begin,
                    end: end.max(begin),
                    what: ThreadEvent::Execution(*id),
                },
                // How long it ran is not known; it did as long as it published.
                None => {
                    let published = self.analysis.publications_in(*id).last();
                    let published = published.map(|it| self.analysis.publication(*it).last);
                    ThreadEntry {
                        begin,
                        end: published.unwrap_or(begin).max(begin),
                        what: ThreadEvent::Unfinished(*id),
                    }
                }
            };
            entries.push(entry);
        }
        for id in self.publications_on.of(thread) {
            let publication = self.analysis.publication(*id);
            if self.shows_publication(publication) {
                entries.push(ThreadEntry {
                    begin: publication.publish,
                    end: publication.last.max(publication.publish),
                    what: ThreadEvent::Publication(*id),
                });
            }
        }
        let mut instant = |at: Nanos, what: ThreadEvent| {
            entries.push(ThreadEntry {
                begin: at,
                end: at,
                what,
            });
        };
        for id in self.takes_on.of(thread) {
            let take = &model.takes[id.index()];
            if self.shows_take(take) {
                instant(take.time, ThreadEvent::Take(*id));
            }
        }
        for row in self.calls.steps_on(thread.index()) {
            let step = &model.service_steps[*row];
            if self.shows_step(step) {
                instant(step.time, ThreadEvent::ServiceStep(*row as u32));
            }
        }
        let said = self.user_events_on.get(thread.index());
        let said = said.filter(|_| self.selected.has_unnamed());
        for row in said.into_iter().flatten() {
            let event = &model.user_events[*row as usize];
            if !self.analysis.counts(event.time) {
                continue;
            }
            let (end, what) = match event.kind {
                UserEventKind::Span { end: Some(end) } => (end, ThreadEvent::Span(*row)),
                UserEventKind::Counter(_) => continue,
                // A span whose end nobody knows is shown where it began.
                _ => (event.time, ThreadEvent::Said(*row)),
            };
            entries.push(ThreadEntry {
                begin: event.time,
                end: end.max(event.time),
                what,
            });
        }
        entries.sort_unstable_by_key(|entry| (entry.begin, Reverse(entry.end), entry.what));
        entries
    }

    fn entry(&mut self, tracks: &mut Tracks, entry: ThreadEntry) -> io::Result<()> {
        let ThreadEntry { begin, what, .. } = entry;
        let mut end = entry.end;
        match what {
            ThreadEvent::Take(id) => return self.take(tracks.own, id),
            ThreadEvent::ServiceStep(row) => {
                let step = &self.analysis.model.service_steps[row as usize];
                return self.service_step(tracks.own, step);
            }
            ThreadEvent::Said(row) => return self.said(tracks.own, row, begin, None),
            _ => {}
        }
        if let ThreadEvent::Unfinished(_) = what {
            // What it is inside of has ended with it.
            let outer = tracks.lanes.enclosing_end(begin);
            end = outer.map_or(end, |outer| end.min(outer));
        }
        let lane = tracks.lanes.place(begin, end);
        while tracks.more.len() < lane {
            let name = "at the same time";
            tracks
                .more
                .push(self.track(Some(tracks.own), TrackKind::Named(name))?);
        }
        let track = match lane.checked_sub(1) {
            Some(more) => tracks.more[more],
            None => tracks.own,
        };
        match what {
            ThreadEvent::Execution(id) => self.execution(track, id, end, false),
            ThreadEvent::Unfinished(id) => self.execution(track, id, end, true),
            ThreadEvent::Publication(id) => self.publication(track, id, end),
            ThreadEvent::Span(row) => self.said(track, row, begin, Some(end)),
            ThreadEvent::Take(_) | ThreadEvent::ServiceStep(_) | ThreadEvent::Said(_) => Ok(()),
        }
    }

    fn execution(
        &mut self,
        track: TrackId,
        id: InstanceId,
        end: Nanos,
        unfinished: bool,
    ) -> io::Result<()> {
        let model = self.analysis.model;
        let instance = self.analysis.instance(id);
        let mut arguments = Vec::with_capacity(6);
        let lateness = self.lateness[id.index()];
        if lateness != NOT_LATE {
            arguments.push(("lateness_ns", Argument::Integer(lateness)));
        }
        if let Some(latency) = self.latency(id) {
            arguments.push(("latency_ns", Argument::Integer(latency)));
        }
        if let Some(delivery) = self.analysis.received_by(id) {
            let publication = self.analysis.delivery(delivery).publication;
            let publisher = self.analysis.publication(publication).publisher;
            let node = publisher.and_then(|id| model.publishers[id.index()].node);
            if let Some(node) = model.node_name(node) {
                arguments.push(("publisher", Argument::Text(node)));
            }
        }
        if instance.intra_process {
            arguments.push(("intra_process", Argument::Flag(true)));
        }
        if unfinished {
            arguments.push(("unfinished", Argument::Flag(true)));
            self.written.unfinished += 1;
        }
        if self.analysis.is_execution_damaged(id) {
            arguments.push(("damaged", Argument::Flag(true)));
        }
        let received = self.analysis.all_received_by(id).iter();
        let received = received.filter_map(|delivery| self.arrow(*delivery));
        let receives: Vec<FlowId> = received.chain(self.requests_of(id)).collect();
        let label = self.labels.callback(instance.callback, instance.address);
        let mut event = labelled(&self.labels, track, instance.start, label);
        event.end = Some(end);
        event.arguments = &arguments;
        event.receives = &receives;
        self.written.executions += 1;
        self.sink.event(&event)
    }

    fn publication(&mut self, track: TrackId, id: PublicationId, end: Nanos) -> io::Result<()> {
        let publication = self.analysis.publication(id);
        let mut arguments = Vec::new();
        if let Some(stamp) = publication.source_timestamp {
            arguments.push(("source_timestamp_ns", Argument::Integer(stamp)));
        }
        if self.analysis.begins_late(id) {
            arguments.push(("damaged", Argument::Flag(true)));
        }
        let deliveries = self.analysis.deliveries_of(id).iter();
        let sends: Vec<FlowId> = deliveries.filter_map(|id| self.arrow(*id)).collect();
        let handle = publication.handle;
        let label = self.labels.publisher(publication.publisher, handle);
        let mut event = labelled(&self.labels, track, publication.publish, label);
        event.end = Some(end);
        event.arguments = &arguments;
        event.sends = &sends;
        self.written.publications += 1;
        self.written.messages += sends.len() as u64;
        self.sink.event(&event)
    }

    fn take(&mut self, track: TrackId, id: TakeId) -> io::Result<()> {
        let model = self.analysis.model;
        let take = &model.takes[id.index()];
        let arrow = self.taken(take).and_then(|delivery| self.arrow(delivery));
        let receives: Vec<FlowId> = arrow.into_iter().collect();
        let topic = take.subscription;
        let topic = topic.map(|id| model.subscriptions[id.index()].topic.as_str());
        let name = topic.map(|topic| format!("take {topic}"));
        let label = Labels::common(Common::Take);
        let mut event = labelled(&self.labels, track, take.time, label);
        event.name = name.as_deref();
        event.receives = &receives;
        self.sink.event(&event)
    }

    /// What the application said: a moment, or a span.
    fn said(
        &mut self,
        track: TrackId,
        row: u32,
        begin: Nanos,
        end: Option<Nanos>,
    ) -> io::Result<()> {
        let user_event = &self.analysis.model.user_events[row as usize];
        let mut arguments = Vec::new();
        if user_event.kind == (UserEventKind::Span { end: None }) {
            arguments.push(("unfinished", Argument::Flag(true)));
        }
        if user_event.kind == UserEventKind::SpanEnd {
            arguments.push(("end_of_a_span_that_began_before", Argument::Flag(true)));
        }
        let mut event = labelled(&self.labels, track, begin, Labels::common(Common::User));
        event.end = end;
        event.name = Some(&user_event.name);
        event.arguments = &arguments;
        event.given = &user_event.fields;
        self.written.user_events += 1;
        self.sink.event(&event)
    }

    /// What the executor on a thread did: each phase lasts until the next one.
    fn phases(&mut self, process: ProcessId, thread: ThreadId, parent: TrackId) -> io::Result<()> {
        let model = self.analysis.model;
        let phases = self.analysis.phases_on(thread);
        let last = model.processes[process.index()].last;
        let mut track = None;
        let mut reached = Nanos(i64::MIN);
        for (place, id) in phases.iter().enumerate() {
            let phase = model.phases[id.index()];
            // Where the time of a stream goes back, a phase begins when the one before has ended.
            let begin = phase.time.max(reached);
            if !self.analysis.counts(phase.time) {
                continue;
            }
            let next = phases
                .get(place + 1)
                .map(|it| model.phases[it.index()].time);
            let end = next.unwrap_or(last).max(begin);
            reached = end;
            let track = match track {
                Some(track) => track,
                None => *track.insert(self.track(Some(parent), TrackKind::Named("executor"))?),
            };
            let label = match phase.kind {
                PhaseKind::GetNextReady => Common::GetNextReady,
                PhaseKind::WaitForWork => Common::WaitForWork,
                PhaseKind::Execute => Common::Execute,
            };
            let mut event = labelled(&self.labels, track, begin, Labels::common(label));
            event.end = Some(end);
            self.sink.event(&event)?;
            self.written.phases += 1;
        }
        match track {
            Some(track) => self.sink.close(track),
            None => Ok(()),
        }
    }

    /// When a thread waited for locks, and inside callbacks for condition variables: outside of them it waits so for work.
    fn locks(&mut self, thread: ThreadId, parent: TrackId) -> io::Result<()> {
        let analysis = self.analysis;
        let end = analysis.model.processes[analysis.model.process_of(thread).index()].last;
        let mut track = None;
        for id in analysis.lock_waits_on(thread) {
            let wait = analysis.lock_wait(*id);
            let is_idle = wait.kind == LockKind::Condition
                && analysis.execution_at(thread, wait.begin).is_none();
            if is_idle || !analysis.counts(wait.begin) {
                continue;
            }
            let track = match track {
                Some(track) => track,
                None => *track.insert(self.track(Some(parent), TrackKind::Named("locks"))?),
            };
            let holder = wait.holders.first().map(|(_, holder)| holder.tid);
            let arguments = holder.map(|tid| ("held_by_tid", Argument::Integer(tid)));
            let arguments: Vec<_> = arguments.into_iter().collect();
            let label = Labels::common(Common::Lock);
            let mut event = labelled(&self.labels, track, wait.begin, label);
            event.end = Some(wait.end.unwrap_or(end).max(wait.begin));
            event.name = Some(match wait.kind {
                LockKind::Mutex => "wait for a mutex",
                LockKind::Read | LockKind::Write => "wait for a read-write lock",
                LockKind::Condition => "wait for a condition variable",
            });
            event.arguments = &arguments;
            self.sink.event(&event)?;
        }
        match track {
            Some(track) => self.sink.close(track),
            None => Ok(()),
        }
    }
}
