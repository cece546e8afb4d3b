//! What belongs to a process and not to one of its threads: when timers were due, states of nodes, messages that it missed, what it counts.

use std::collections::BTreeMap;
use std::io;

use rostrace_analyze::communication::DropCause;
use rostrace_analyze::timer::{self, Firing};
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::names;
use rostrace_model::entity::{DeliveryId, ProcessId, StateMachineId};
use rostrace_model::flow::{LifecycleState, UserEventKind};

use super::super::label::{Common, Labels};
use super::super::lanes::Lanes;
use super::super::sink::{Argument, CounterUnit, Sink, TrackId, TrackKind};
use super::{TimelineModel, labelled};

impl<S: Sink> TimelineModel<'_, S> {
    pub(super) fn process(&mut self, process: ProcessId) -> io::Result<()> {
        let pid = self.identities.pid(process);
        let name = self.identities.process_name(process).to_owned();
        let track = self.track(None, TrackKind::Process { pid, name: &name })?;
        self.written.processes += 1;
        self.timers(process, track)?;
        self.lifecycles(process, track)?;
        self.drops(process, track)?;
        self.service_calls(process, track)?;
        self.memory(process, track)?;
        self.user_counters(process, track)?;
        for thread in self.threads_of.of(process).to_vec() {
            self.thread(process, thread, track)?;
        }
        Ok(())
    }

    /// From when each timer was due to the start of its callback.
    fn timers(&mut self, process: ProcessId, track: TrackId) -> io::Result<()> {
        let model = self.analysis.model;
        let mut group = None;
        for id in self.timers_of[process.index()].clone() {
            let callback = model.timers[id.index()].callback;
            let Some(callback) = callback.filter(|it| self.selected.has_callback(Some(*it))) else {
                continue;
            };
            let start = |firing: &Firing| self.analysis.instance(firing.instance).start;
            let mut firings = timer::firings(self.analysis, id);
            firings.retain(|firing| self.analysis.counts(start(firing)));
            if firings.is_empty() {
                continue;
            }
            for firing in &firings {
                self.lateness[firing.instance.index()] = firing.lateness;
            }
            let span = |firing: &Firing| {
                let begin = firing.expected.min(start(firing));
                (begin, start(firing))
            };
            firings.sort_by_key(|firing| {
                let (begin, end) = span(firing);
                (begin, std::cmp::Reverse(end))
            });
            let spans: Vec<(Nanos, Nanos)> = firings.iter().map(span).collect();
            let parent = match group {
                Some(group) => group,
                None => *group.insert(self.track(Some(track), TrackKind::Named("timers"))?),
            };
            let name = self.analysis.names.callback(callback);
            let mut lanes = Lanes::default();
            let mut tracks = Vec::new();
            for (firing, (begin, end)) in firings.iter().zip(spans) {
                let lane = lanes.place(begin, end);
                while tracks.len() <= lane {
                    tracks.push(self.track(Some(parent), TrackKind::Named(name))?);
                }
                let arguments = [
                    ("lateness_ns", Argument::Integer(firing.lateness)),
                    ("skipped", Argument::Integer(firing.skipped as i64)),
                    ("expected_by", Argument::Text(firing.basis.name())),
                ];
                let label = Labels::common(Common::Due);
                let mut event = labelled(&self.labels, tracks[lane], begin, label);
                event.end = Some(end);
                event.arguments = &arguments;
                self.sink.event(&event)?;
                self.written.timer_firings += 1;
            }
            for track in tracks {
                self.sink.close(track)?;
            }
        }
        Ok(())
    }

    fn lifecycles(&mut self, process: ProcessId, track: TrackId) -> io::Result<()> {
        let model = self.analysis.model;
        let mut states: BTreeMap<StateMachineId, Vec<&LifecycleState>> = BTreeMap::new();
        for state in &model.lifecycle_states {
            let machine = &model.state_machines[state.state_machine.index()];
            if machine.process == process && self.selected.has_node(machine.node) {
                states.entry(state.state_machine).or_default().push(state);
            }
        }
        for (machine, mut states) in states {
            states.sort_by_key(|state| state.begin);
            let node = names::of_node(model, model.state_machines[machine.index()].node);
            let name = format!("lifecycle of {node}");
            let track = self.track(Some(track), TrackKind::Named(&name))?;
            for (place, state) in states.iter().enumerate() {
                let next = states.get(place + 1).map(|next| next.begin);
                let end = state.end.or(next).unwrap_or(self.end).min(self.end);
                let begin = state.begin.max(self.begin);
                if end < begin || state.begin > self.end {
                    continue;
                }
                let is_uncertain = state.end.is_none() && next.is_some();
                let arguments = [("end_is_uncertain", Argument::Flag(true))];
                let label = Labels::common(Common::Lifecycle);
                let mut event = labelled(&self.labels, track, begin, label);
                event.end = Some(end);
                event.name = Some(&state.state);
                event.arguments = if is_uncertain { &arguments } else { &[] };
                self.sink.event(&event)?;
            }
            self.sink.close(track)?;
        }
        Ok(())
    }

    /// Messages that did not arrive, when they were published. What is still under way, or unknown, is no drop.
    fn drops(&mut self, process: ProcessId, track: TrackId) -> io::Result<()> {
        let model = self.analysis.model;
        let mut group = None;
        for id in self.subscriptions_of.of(process).to_vec() {
            let subscription = &model.subscriptions[id.index()];
            let is_shown = match subscription.callback {
                Some(callback) => self.selected.has_callback(Some(callback)),
                None => self.selected.has_node(subscription.node),
            };
            if !is_shown {
                continue;
            }
            let deliveries = self.analysis.deliveries_to(id).iter();
            let dropped = deliveries.filter_map(|delivery| {
                let cause = self.analysis.drop_cause(*delivery)?;
                let publication = self.analysis.delivery(*delivery).publication;
                let at = self.analysis.publication(publication).publish;
                let is_drop = matches!(
                    cause,
                    DropCause::RingBufferFull | DropCause::HistoryFull | DropCause::Middleware
                );
                (is_drop && self.analysis.counts(at)).then_some((at, *delivery, cause))
            });
            let mut dropped: Vec<(Nanos, DeliveryId, DropCause)> = dropped.collect();
            if dropped.is_empty() {
                continue;
            }
            dropped.sort_by_key(|(at, delivery, _)| (*at, *delivery));
            let parent = match group {
                Some(group) => group,
                None => *group.insert(self.track(Some(track), TrackKind::Named("drops"))?),
            };
            let node = names::of_node(model, subscription.node);
            let name = format!("{node} ← {}", subscription.topic);
            let track = self.track(Some(parent), TrackKind::Named(&name))?;
            for (at, delivery, cause) in dropped {
                let publication = self.analysis.delivery(delivery).publication;
                let publisher = self.analysis.publication(publication).publisher;
                let publisher = publisher.map(|id| model.publishers[id.index()].node);
                let arguments = [
                    ("cause", Argument::Text(cause.name())),
                    ("topic", Argument::Text(&subscription.topic)),
                    (
                        "publisher",
                        Argument::Text(names::of_node(model, publisher.flatten())),
                    ),
                ];
                let name = format!("dropped: {}", cause.name());
                let mut event = labelled(&self.labels, track, at, Labels::common(Common::Drop));
                event.name = Some(&name);
                event.arguments = &arguments;
                self.sink.event(&event)?;
                self.written.drops += 1;
            }
            self.sink.close(track)?;
        }
        Ok(())
    }

    fn memory(&mut self, process: ProcessId, track: TrackId) -> io::Result<()> {
        let memory = self.analysis.memory.as_ref();
        let Some(memory) = memory.and_then(|memory| memory.of_process(process)) else {
            return Ok(());
        };
        let name = if memory.uncertain {
            "heap in use (events were lost: uncertain)"
        } else {
            "heap in use"
        };
        let unit = CounterUnit::Bytes;
        let track = self.track(Some(track), TrackKind::Counter { name, unit })?;
        for usage in &memory.series {
            if self.analysis.counts(usage.time) {
                self.sink.count(track, usage.time, usage.bytes as f64)?;
            }
        }
        self.sink.close(track)
    }

    /// What the application counts.
    fn user_counters(&mut self, process: ProcessId, track: TrackId) -> io::Result<()> {
        let model = self.analysis.model;
        if self.user_events_on.is_empty() || !self.selected.has_unnamed() {
            return Ok(());
        }
        let mut counters: BTreeMap<&str, Vec<(Nanos, f64)>> = BTreeMap::new();
        for thread in self.threads_of.of(process) {
            for row in &self.user_events_on[thread.index()] {
                let event = &model.user_events[*row as usize];
                if let UserEventKind::Counter(value) = event.kind
                    && self.analysis.counts(event.time)
                {
                    counters
                        .entry(&event.name)
                        .or_default()
                        .push((event.time, value));
                }
            }
        }
        for (name, mut values) in counters {
            values.sort_by_key(|(at, _)| *at);
            let unit = CounterUnit::Unknown;
            let track = self.track(Some(track), TrackKind::Counter { name, unit })?;
            for (at, value) in values {
                self.sink.count(track, at, value)?;
                self.written.user_events += 1;
            }
            self.sink.close(track)?;
        }
        Ok(())
    }
}
