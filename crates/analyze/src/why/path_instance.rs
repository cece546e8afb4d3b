//! One message along a declared path, explained stage by stage.
//!
//! Messages and executions are explained as everywhere. What is left is the time that a node kept what it had received, because the
//! callback that was to use it had no reason to run yet: its timer was not due, or nothing had come for it.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackOwner, DeliveryId, InstanceId, PublicationId};

use super::cause::Cause;
use super::part::Parts;
use super::{Explanation, Why};
use crate::declared::path_instance::{PathInstance, SegmentKind};
use crate::service_hop::hop_to;
use crate::timer::{self, Firing};

impl Why<'_> {
    /// A message along a declared path, from the path's first instant to its last.
    pub fn path_instance(&mut self, path_instance: &PathInstance) -> Explanation {
        let mut parts = Parts::new(path_instance.begin);
        let mut communications = 0;
        let mut delivery = None;
        for segment in &path_instance.segments {
            match segment.kind {
                SegmentKind::Communication(found) => {
                    parts.hop = communications;
                    communications += 1;
                    delivery = found;
                    if let Some(id) = found {
                        self.add_message(&mut parts, id);
                    }
                }
                SegmentKind::Output { input, output } => {
                    let input = input.or_else(|| self.taker(delivery?, parts.at));
                    self.add_output(&mut parts, input, output, segment.end);
                }
                SegmentKind::Execution(instance) => {
                    self.add_execution(&mut parts, instance, segment.end);
                }
                SegmentKind::VariablePassing(reader) => {
                    self.add_storage(&mut parts, reader, segment.end)
                }
                SegmentKind::Unknown => {}
            }
            parts.until(segment.end, Cause::Unknown);
        }
        self.explanation(parts)
    }

    /// The path's instant is that of the whole call; a call that serves both ways hands the message over one after the other.
    fn add_message(&self, parts: &mut Parts, id: DeliveryId) {
        let Some(arrival) = self.analysis.arrival(id).copied() else {
            return;
        };
        let publication = self.analysis.delivery(id).publication;
        parts.thread = Some(self.analysis.publication(publication).thread);
        parts.until(arrival.publish, Cause::Publishing);
        self.add_communication(parts, id, &arrival);
    }

    /// From an input to the output that was made from it, perhaps by another execution.
    pub(super) fn add_output(
        &mut self,
        parts: &mut Parts,
        input: Option<InstanceId>,
        output: PublicationId,
        end: Nanos,
    ) {
        if let Some((asker, hop)) = hop_to(self.analysis, output)
            && input == Some(asker)
        {
            return self.add_service_hop(parts, asker, hop, end);
        }
        let publication = self.analysis.publication(output);
        let maker = publication.instance;
        let starts = maker.map_or(end, |maker| self.analysis.instance(maker).start);
        if let Some(input) = input.filter(|input| Some(*input) != maker) {
            let until = self.analysis.instance(input).end;
            if let Some(until) = until {
                self.add_execution(parts, input, until.min(starts).min(end));
            } else if starts.min(end) > parts.at {
                // How long it ran is not known, so neither is since when it was over.
                parts.until(starts.min(end), Cause::Unknown);
            }
        }
        match maker {
            Some(maker) => {
                self.add_storage(parts, maker, end);
                self.add_execution(parts, maker, end);
            }
            None => {
                parts.thread = Some(publication.thread);
                parts.until(end, Cause::OutsideCallbacks);
            }
        }
    }

    /// What lies in a node until an execution begins that uses it, which may have begun before.
    fn add_storage(&mut self, parts: &mut Parts, reader: InstanceId, end: Nanos) {
        let row = self.analysis.instance(reader);
        let start = row.start.min(end);
        if start <= parts.at {
            return;
        }
        parts.thread = None;
        if let Some(before) = self.run_before(reader, parts.at) {
            parts.until(before.min(start), Cause::UsedBefore(reader));
        }
        if let Some(firing) = self.firing(reader) {
            parts.until(firing.expected.min(start), Cause::Stored(reader));
            parts.thread = Some(row.thread);
            self.add_wait(parts, row.thread, Some(reader), start, Cause::TimerLateness);
        } else if let Some((_, arrival)) = self.reason(reader) {
            parts.until(arrival.handed.min(start), Cause::Stored(reader));
            let fetched = Nanos(arrival.received.0 - arrival.stages.dispatch).min(start);
            if fetched > parts.at {
                self.add_wait(
                    parts,
                    row.thread,
                    Some(reader),
                    fetched,
                    Cause::Stored(reader),
                );
            }
            parts.thread = Some(row.thread);
            parts.until(start, Cause::Dispatch);
        } else {
            parts.until(start, Cause::Stored(reader));
        }
    }

    /// When the callback of an execution last began before it, if that was after an instant.
    fn run_before(&self, reader: InstanceId, after: Nanos) -> Option<Nanos> {
        let runs = self
            .analysis
            .instances_of(self.analysis.instance(reader).callback?);
        let this = runs.binary_search(&reader).ok()?;
        let before = self
            .analysis
            .instance(*runs.get(this.checked_sub(1)?)?)
            .start;
        (before > after).then_some(before)
    }

    /// The execution in which a message was taken by hand.
    fn taker(&self, delivery: DeliveryId, at: Nanos) -> Option<InstanceId> {
        let take = self.analysis.take_of(self.analysis.delivery(delivery))?;
        let on_thread = self.analysis.instances_on(take.thread);
        let next = on_thread.partition_point(|id| self.analysis.instance(*id).start <= at);
        let last = *on_thread.get(next.checked_sub(1)?)?;
        let runs = self.analysis.instance(last).end.is_some_and(|it| it >= at);
        runs.then_some(last)
    }

    /// When the timer of an execution was due, if it is one of a timer.
    fn firing(&mut self, instance: InstanceId) -> Option<Firing> {
        let analysis = self.analysis;
        let callback = analysis.instance(instance).callback?;
        let CallbackOwner::Timer(timer) = analysis.model.callbacks[callback.index()].owner else {
            return None;
        };
        let firings = self.firings.entry(timer);
        let firings = firings.or_insert_with(|| timer::firings(analysis, timer));
        let place = firings.binary_search_by_key(&instance, |firing| firing.instance);
        place.ok().map(|place| firings[place])
    }
}
