//! One stream on its way into the new trace: which events are kept, and what its packets say of themselves.

use super::copy::{Copier, Source};
use super::counters::PacketLosses;
use super::error::TrimError;
use super::output::TraceOutput;
use super::{Trim, TrimReport};

use crate::damage::DamageRows;
use crate::packet::Packet;
use crate::schema::{Cycles, Nanos};
use crate::trace::Trace;
use crate::trace::decoder::Decoder;
use crate::trace::loss::Loss;
use crate::trace::stream::Stream;
use crate::trace::time::{Conversion, TimeBase};
use crate::walk::{Event, Walker, undecodable};
use crate::walk::{Selection, StreamSelection};

pub(super) struct StreamTrim<'a> {
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

impl<'a> StreamTrim<'a> {
    pub(super) fn new(
        trim: &Trim,
        trace: &'a Trace,
        stream: &'a Stream,
        output: &'a mut TraceOutput,
    ) -> StreamTrim<'a> {
        let (from, to) = trim.range().into_inner();
        let time = trace.time_base(stream, Conversion::Exact);
        let in_range = |loss: &Loss| {
            loss.window
                .is_none_or(|(since, until)| time.nanos(since) <= to && time.nanos(until) >= from)
        };
        StreamTrim {
            trace,
            stream,
            time,
            from,
            to,
            wanted: trim.selection.of_stream(trace, stream),
            initialisation: initialisation(trim, trace, stream),
            losses: (trace.losses(stream).into_iter())
                .filter(in_range)
                .collect(),
            copier: Copier::new(trace, stream, output),
        }
    }

    /// Writes the stream; false if it was told to stop. `go_on` is told the bytes of this stream that are done.
    pub(super) fn run(
        mut self,
        report: &mut TrimReport,
        damage: &mut DamageRows,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, TrimError> {
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
            let reported = (&mut *report, &mut *damage);
            self.packet(&mut walker, number, wants_packet, found, reported)?;
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
        (report, damage): (&mut TrimReport, &mut DamageRows),
    ) -> Result<(), TrimError> {
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
        let trouble = walker.each_event(|walker, event, clock| {
            report.read += 1;
            let Some(reason) = self.reason(walker, &event, wants_packet) else {
                dropped = true;
                return Ok(());
            };
            report.note(reason, self.time.nanos(event.time), self.time.has_clock());
            if !self.copier.is_open() {
                let keeps_begin = !dropped || losses.has_packets();
                let begin = if keeps_begin { begin } else { event.time.0 };
                self.copier.begin(&source, begin, losses)?;
            }
            dropped = false;
            self.copier.event(&source, walker, &event, clock)
        })?;
        if let Some(error) = trouble {
            dropped = true;
            damage.extend(undecodable(self.trace, self.stream, packet, walker, &error));
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

impl TrimReport {
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

fn initialisation<'a>(
    trim: &Trim,
    trace: &'a Trace,
    stream: &Stream,
) -> Option<StreamSelection<'a>> {
    if trim.initialisation.is_empty() {
        return None;
    }
    let selection = Selection {
        events: trim.initialisation.clone(),
        vpids: trim.selection.vpids.clone(),
        ..Selection::default()
    };
    let classes = trace.schema.streams[stream.class].events.len();
    let prepared = selection.of_stream(trace, stream);
    (0..classes)
        .any(|class| prepared.wants_class(class))
        .then_some(prepared)
}
