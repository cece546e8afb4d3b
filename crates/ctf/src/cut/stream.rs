//! One stream on its way into the new trace: which events are kept, and what its packets say of themselves.

use super::copy::{Copier, Source};
use super::counters::PacketLosses;
use super::error::CutError;
use super::output::TraceOutput;
use super::{Cut, CutReport};
use crate::cursor;
use crate::damage::DamageRows;
use crate::decoder::Decoder;
use crate::loss::Loss;
use crate::packet::Packet;
use crate::schema::{Cycles, Nanos};
use crate::selection::{Selection, StreamSelection};
use crate::stream::Stream;
use crate::time::{Conversion, TimeBase};
use crate::trace::Trace;
use crate::walk::{Event, Walker};

pub(super) struct StreamCut<'a> {
    trace: &'a Trace,
    stream: &'a Stream,
    time: TimeBase<'a>,
    from: Nanos,
    to: Nanos,
    wanted: StreamSelection<'a>,
    /// Nothing if no event of this stream names anything.
    initialisation: Option<StreamSelection<'a>>,
    /// Those in the range, in the order of packets.
    losses: Vec<Loss>,
    copier: Copier<'a>,
}

/// Why an event is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Selected,
    Initialisation,
}

impl<'a> StreamCut<'a> {
    pub(super) fn new(
        cut: &Cut,
        trace: &'a Trace,
        stream: &'a Stream,
        output: &'a mut TraceOutput,
    ) -> StreamCut<'a> {
        let (from, to) = cut.range().into_inner();
        let time = trace.time_base(stream, Conversion::Exact);
        let in_range = |loss: &Loss| {
            loss.window
                .is_none_or(|(since, until)| time.nanos(since) <= to && time.nanos(until) >= from)
        };
        StreamCut {
            trace,
            stream,
            time,
            from,
            to,
            wanted: cut.selection.of_stream(trace, stream),
            initialisation: initialisation(cut, trace, stream),
            losses: (trace.losses(stream).into_iter())
                .filter(in_range)
                .collect(),
            copier: Copier::new(trace, stream, output),
        }
    }

    /// Writes the stream; false if it was told to stop. `go_on` is told the bytes of this stream that are done.
    pub(super) fn run(
        mut self,
        report: &mut CutReport,
        damage: &mut DamageRows,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, CutError> {
        let mut walker = self.trace.decoder.walker(self.stream.class);
        let losses = std::mem::take(&mut self.losses);
        let mut losses = losses.iter().peekable();
        let mut bytes = 0;
        for (number, packet) in self.stream.packets.iter().enumerate() {
            if !go_on(bytes) {
                return Ok(false);
            }
            bytes += packet.size;
            let mut found = PacketLosses::default();
            let wants_packet =
                (self.wanted).wants_packet(&self.trace.decoder, self.trace.data(packet));
            while let Some(loss) = losses.next_if(|loss| loss.packet == number) {
                if wants_packet {
                    found.add(loss);
                    damage.push(self.trace.loss_row(self.stream, loss));
                }
            }
            if found.is_empty() && self.can_skip(number, wants_packet) {
                if losses.peek().is_none() && self.begins_behind(packet) {
                    break;
                }
                continue;
            }
            let told = (&mut *report, &mut *damage);
            self.packet(&mut walker, number, wants_packet, found, told)?;
        }
        if let Some(bytes) = self.copier.finish()? {
            report.streams += 1;
            report.bytes += bytes;
        }
        Ok(true)
    }

    fn packet(
        &mut self,
        walker: &mut Walker<'a>,
        number: usize,
        wants_packet: bool,
        losses: PacketLosses,
        (report, damage): (&mut CutReport, &mut DamageRows),
    ) -> Result<(), CutError> {
        let packet = &self.stream.packets[number];
        let data = self.trace.data(packet);
        let decoder: &'a Decoder = &self.trace.decoder;
        let Ok(head) = decoder.enter(walker, packet, data) else {
            return Ok(());
        };
        let source = Source {
            packet,
            head: &head,
            number,
        };
        let begin = head.roles.timestamp_begin.unwrap_or(0);
        // Since the last event that is kept, or since the packet's begin.
        let mut dropped = false;
        loop {
            let clock = walker.registers().clock;
            let event = match walker.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(error) => {
                    dropped = true;
                    let row = cursor::undecodable(self.trace, self.stream, packet, walker, &error);
                    damage.extend(row);
                    continue;
                }
            };
            report.read += 1;
            let Some(reason) = self.reason(walker, &event, wants_packet) else {
                dropped = true;
                continue;
            };
            report.note(reason, self.time.nanos(event.time), self.time.has_clock());
            if !self.copier.is_open() {
                let keeps_begin = !dropped || losses.has_packets();
                let begin = if keeps_begin { begin } else { event.time.0 };
                self.copier.begin(&source, begin, losses)?;
            }
            self.copier.event(&source, walker, &event, clock)?;
            dropped = false;
        }
        if !self.copier.is_open() && !losses.is_empty() && self.copier.can_be_empty(&source) {
            self.copier.begin(&source, begin, losses)?;
        }
        let keeps_end = !dropped || losses.has_events();
        let end = keeps_end.then(|| self.end_of(&source)).flatten();
        let sequential = self.stream.sequential;
        self.copier
            .finish_packet(walker, |last| match (end, last) {
                (Some(end), Some(last)) if !sequential => end.max(last),
                (Some(end), _) => end,
                (None, last) => last.unwrap_or(begin),
            })?;
        decoder.leave(walker, &head);
        Ok(())
    }

    #[inline]
    fn reason(&self, walker: &Walker<'_>, event: &Event, wants_packet: bool) -> Option<Reason> {
        let time = self.time.nanos(event.time);
        if time > self.to {
            return None;
        }
        if wants_packet && time >= self.from && self.wanted.wants_event(event, walker) {
            return Some(Reason::Selected);
        }
        let initialisation = self.initialisation.as_ref()?;
        (initialisation.wants_event(event, walker)).then_some(Reason::Initialisation)
    }

    /// The packet's end as the source says it, repaired.
    fn end_of(&self, source: &Source<'_>) -> Option<u64> {
        let said = source.head.roles.timestamp_end;
        if self.stream.sequential {
            return said;
        }
        let repaired = (self.trace).packet_end(self.stream, source.number, source.head);
        repaired.map(|end| end.0).or(said)
    }

    /// Whether a packet that tells no loss has nothing to keep, and nothing that later ones depend on.
    fn can_skip(&self, number: usize, wants_packet: bool) -> bool {
        if self.stream.sequential || !self.time.has_clock() {
            return false;
        }
        let packets = &self.stream.packets;
        if self.begins_behind(&packets[number]) {
            return true;
        }
        // A packet's events are not later than the next packet's begin.
        let next = packets.get(number + 1);
        let ends_before = next.is_some_and(|next| self.time.nanos(Cycles(next.begin)) < self.from);
        self.initialisation.is_none() && (!wants_packet || ends_before)
    }

    fn begins_behind(&self, packet: &Packet) -> bool {
        self.time.nanos(Cycles(packet.begin)) > self.to
    }
}

impl CutReport {
    fn note(&mut self, reason: Reason, time: Nanos, has_clock: bool) {
        self.kept += 1;
        if reason == Reason::Initialisation {
            self.initialisation += 1;
        } else if has_clock {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
    }
}

fn initialisation<'a>(cut: &Cut, trace: &'a Trace, stream: &Stream) -> Option<StreamSelection<'a>> {
    if cut.initialisation.is_empty() {
        return None;
    }
    let selection = Selection {
        events: cut.initialisation.clone(),
        vpids: cut.selection.vpids.clone(),
        ..Selection::default()
    };
    let classes = trace.schema.streams[stream.class].events.len();
    let prepared = selection.of_stream(trace, stream);
    (0..classes)
        .any(|class| prepared.wants_class(class))
        .then_some(prepared)
}
