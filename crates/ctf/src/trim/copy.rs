//! Writes the packets of one stream from events of another one.
//!
//! Events are copied byte by byte where that gives the same fields: at byte boundaries, with the same alignment, and if the
//! bits of the time that the event header has are enough to tell it from the event now before it. Neighbours are copied
//! in one go. Any other event is decoded and encoded anew; if no form of the event header can tell its time, a new packet
//! begins.

use std::path::PathBuf;
use std::sync::Arc;

use super::alignment::alignments;
use super::counters::{Counters, PacketCount, PacketLosses};
use super::error::TrimError;
use super::event_values::EventValues;
use super::output::{StreamOutput, TraceOutput};
use crate::layout::StreamLayout;
use crate::layout::bits::align_up;
use crate::layout::decode::{DecodeError, Registers};
use crate::packet::Packet;
use crate::packet::head::{Head, HeadValues};
use crate::schema::{Role, StreamClass, updated_clock};
use crate::trace::Trace;
use crate::trace::decoder::role_size;
use crate::trace::stream::Stream;
use crate::walk::{Event, Walker};
use crate::writer::{
    FinishedPacket, IndexEntry, Others, PacketEnd, PacketStart, PacketWriter, WriteError, says_size,
};

/// Bytes of neighbours that are worth an allocation of the right size, with room for padding.
const BIG_RUN: usize = 16 * 1024;
/// Bytes; what no packet is padded to without need.
const MOST_PADDING: u32 = 1 << 24;
/// Packets of tracers that write whole pages keep to that.
const PAGE: u64 = 4096;

#[cfg(test)]
thread_local! {
    /// Tests want to see all kinds of events decoded and encoded anew, not only those that have to be.
    pub(super) static ENCODES_EVERYTHING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The packet that events come from.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) packet: &'a Packet,
    pub(super) head: &'a Head,
    /// Its place in the stream.
    pub(super) number: usize,
}

pub(super) struct Copier<'a> {
    trace: &'a Trace,
    class: &'a StreamClass,
    class_number: usize,
    layout: &'a StreamLayout,
    /// The largest alignment in events of each class.
    alignments: Vec<u64>,
    header_alignment: u64,
    trace_output: &'a mut TraceOutput,
    output: Option<StreamOutput>,
    name: String,
    counters: Counters,
    open: Option<OpenPacket>,
    /// What a reader's clock shows behind the packets so far, and what the last one said of itself.
    clock: u64,
    last: Option<IndexEntry>,
    scratch: Registers,
}

#[derive(Debug)]
struct OpenPacket {
    writer: PacketWriter,
    count: PacketCount,
    /// Bits of the source that are copied when the run of neighbours ends.
    run: Option<CopiedRange>,
    /// What a reader's clock shows behind the run.
    clock: u64,
    /// The time of the last event.
    last: Option<u64>,
    multiple: u32,
}

#[derive(Debug, Clone, Copy)]
struct CopiedRange {
    from: u64,
    to: u64,
    /// From the place in the source to the place in the copy, modulo 2^64.
    shift: u64,
}

impl<'a> Copier<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        stream: &'a Stream,
        trace_output: &'a mut TraceOutput,
    ) -> Copier<'a> {
        let class = &trace.schema.streams[stream.class];
        let name = trace.path_of(stream).file_name();
        let name = name.map_or("stream".into(), |name| name.to_string_lossy().into_owned());
        Copier {
            trace,
            class,
            class_number: stream.class,
            layout: &trace.decoder.streams[stream.class],
            alignments: alignments(class),
            header_alignment: (class.event_header.as_ref())
                .map_or(1, |header| u64::from(header.align.max(1))),
            trace_output,
            output: None,
            name,
            counters: Counters::default(),
            open: None,
            clock: 0,
            last: None,
            scratch: trace.decoder.heads.registers(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Begins a packet that has the header and the context of the source, but for what this packet says of itself.
    pub(super) fn begin(
        &mut self,
        source: &Source<'_>,
        begin: u64,
        losses: PacketLosses,
    ) -> Result<(), TrimError> {
        self.tell_where_losses_begin(source, losses)?;
        let count = (self.counters).next(losses, source.head.roles.events_discarded.unwrap_or(0));
        self.begin_part(source, begin, count)
    }

    /// A loss is known from the difference between two packets, and it begins with the end of the first one. If that is
    /// not the last one written, an empty packet stands for it.
    fn tell_where_losses_begin(
        &mut self,
        source: &Source<'_>,
        losses: PacketLosses,
    ) -> Result<(), TrimError> {
        let needed = match (losses.since, self.last.map(|last| last.timestamp_end)) {
            (Some(since), Some(end)) => end < since,
            (_, None) => true,
            (None, _) => false,
        };
        if losses.is_empty() || source.number == 0 || !needed || !self.can_be_empty(source) {
            return Ok(());
        }
        let at = losses.since.unwrap_or(self.clock);
        let count = self.counters.next(PacketLosses::default(), 0);
        self.begin_part(source, at, count)?;
        self.close(at)
    }

    /// Whether a packet without events can be written: readers must see where it ends.
    pub(super) fn can_be_empty(&self, source: &Source<'_>) -> bool {
        let roles = &source.head.roles;
        let says_both = roles.content_size.is_some() && roles.packet_size.is_some();
        says_size(self.class) && (says_both || source.head.first_event.is_multiple_of(8))
    }

    fn begin_part(
        &mut self,
        source: &Source<'_>,
        begin: u64,
        count: PacketCount,
    ) -> Result<(), TrimError> {
        let data = self.trace.data(source.packet);
        let values = (self.trace.decoder.heads).decode(data, &mut self.scratch);
        let (head, HeadValues { header, context }) = match values {
            Ok(values) => values,
            // Cannot be: the head was read before.
            Err(_) => (source.head.clone(), HeadValues::default()),
        };
        let others = |value| match value {
            Some(value) => Others::Whole(value),
            None => Others::None,
        };
        let start = PacketStart {
            begin: self.fitted(Role::TimestampBegin, begin),
            sequence: count.sequence,
            header: others(header.as_ref()),
            context: others(context.as_ref()),
        };
        let writer = PacketWriter::begin(
            Arc::clone(&self.trace.schema),
            self.class_number,
            head.roles.stream_instance_id.unwrap_or(0),
            self.clock,
            start,
        )
        .map_err(|error| self.unwritable(source, error))?;
        self.open = Some(OpenPacket {
            clock: writer.clock(),
            writer,
            count,
            run: None,
            last: None,
            multiple: if source.packet.size.is_multiple_of(PAGE) {
                PAGE as u32
            } else {
                1
            },
        });
        Ok(())
    }

    /// Appends the event that the walker has just yielded. `clock` is what the walker's clock showed before it.
    #[inline]
    pub(super) fn event(
        &mut self,
        source: &Source<'_>,
        walker: &Walker<'_>,
        event: &Event,
        clock: u64,
    ) -> Result<(), TrimError> {
        let alignment = self.alignments[event.class as usize];
        let begin = align_up(event.start, self.header_alignment);
        let at_bytes = begin.is_multiple_of(8) && event.end.is_multiple_of(8);
        if let Some(open) = &mut self.open
            && let Some(run) = &mut open.run
            && at_bytes
            && run.to == event.start
            && run.shift.is_multiple_of(alignment)
        {
            run.to = event.end;
            open.clock = walker.registers().clock;
            open.last = Some(event.time.0);
            return Ok(());
        }
        self.begin_run(source, walker, event, clock, at_bytes)
    }

    fn begin_run(
        &mut self,
        source: &Source<'_>,
        walker: &Walker<'_>,
        event: &Event,
        clock: u64,
        at_bytes: bool,
    ) -> Result<(), TrimError> {
        let Some(open) = &mut self.open else {
            return Err(WriteError::NoOpenPacket.into());
        };
        open.flush(walker.data(), self.header_alignment);
        let alignment = self.alignments[event.class as usize];
        let begin = align_up(event.start, self.header_alignment);
        let position = align_up(open.writer.position(), self.header_alignment);
        let shift = position.wrapping_sub(begin);
        // Powers of two all: also the difference of what wrapped around has a remainder.
        if at_bytes && shift.is_multiple_of(alignment.max(8)) && !encodes_everything() {
            let now = open.clock;
            if now == clock || self.tells_time(walker, event, now) {
                let Some(open) = &mut self.open else {
                    return Err(WriteError::NoOpenPacket.into());
                };
                open.run = Some(CopiedRange {
                    from: begin,
                    to: event.end,
                    shift,
                });
                open.clock = walker.registers().clock;
                open.last = Some(event.time.0);
                return Ok(());
            }
        }
        self.encode(source, walker, event)
    }

    /// Whether the event's header leads to the right time when a reader's clock shows this before.
    fn tells_time(&mut self, walker: &Walker<'_>, event: &Event, clock: u64) -> bool {
        self.scratch
            .slots
            .copy_from_slice(&walker.registers().slots);
        self.scratch.clock = clock;
        let begun = (self.layout.header).begin(walker.content(), event.start, &mut self.scratch);
        begun.is_ok() && self.scratch.clock == event.time.0
    }

    fn encode(
        &mut self,
        source: &Source<'_>,
        walker: &Walker<'_>,
        event: &Event,
    ) -> Result<(), TrimError> {
        let values = EventValues::of(self.class, walker, event)
            .map_err(|error| self.unreadable(source, error))?;
        let record = values.record(event);
        for attempt in 0..2 {
            let Some(open) = &mut self.open else {
                return Err(WriteError::NoOpenPacket.into());
            };
            match open.writer.event(&record) {
                Ok(()) => {
                    open.clock = open.writer.clock();
                    open.last = Some(event.time.0);
                    return Ok(());
                }
                Err(WriteError::TimeDoesNotFit { .. }) if attempt == 0 && says_size(self.class) => {
                    // A packet that has no events yet is begun anew.
                    let (count, last) = (open.count, open.last);
                    let count = match last {
                        None => count,
                        Some(end) => {
                            self.close(end)?;
                            self.counters.next(PacketLosses::default(), 0)
                        }
                    };
                    self.begin_part(source, event.time.0, count)?;
                }
                Err(WriteError::TimeDoesNotFit { .. }) => {
                    return Err(TrimError::TimeUnknown {
                        path: self.path(source),
                    });
                }
                Err(error) => return Err(self.unwritable(source, error)),
            }
        }
        Ok(())
    }

    /// Closes the open packet, if there is one. Its bytes are those of the packet that the last events came from.
    pub(super) fn finish_packet(
        &mut self,
        walker: &Walker<'_>,
        end: impl FnOnce(Option<u64>) -> u64,
    ) -> Result<(), TrimError> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        open.flush(walker.data(), self.header_alignment);
        let end = end(open.last);
        self.close(end)
    }

    fn close(&mut self, end: u64) -> Result<(), TrimError> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let end = self.fitted(Role::TimestampEnd, end);
        let mut clock = open.writer.clock();
        let packet_end = PacketEnd {
            end,
            discarded: open.count.discarded,
        };
        let packet = self.finished(open.writer, packet_end, open.multiple)?;
        // As readers do it: see `Decoder::leave`.
        if let Some(size) = role_size(self.class, Role::TimestampEnd)
            && (size < 64 || end >= clock)
        {
            clock = updated_clock(clock, end, size);
        }
        self.clock = clock;
        self.last = Some(packet.entry);
        if self.output.is_none() {
            self.output = Some(self.trace_output.stream(&self.name, self.has_index())?);
        }
        if let Some(output) = &mut self.output {
            output.packet(&packet)?;
        }
        Ok(())
    }

    /// Readers take two packets with the same times, size and number for copies of one, as overlapping snapshots have
    /// them, and drop the second. Without numbers, packets that were different before could become so: then the second
    /// one gets more padding.
    fn finished(
        &self,
        writer: PacketWriter,
        end: PacketEnd,
        mut multiple: u32,
    ) -> Result<FinishedPacket, TrimError> {
        let has_number = role_size(self.class, Role::PacketSequence).is_some();
        let alike = |entry: &IndexEntry| {
            !has_number
                && entry.timestamp_begin == writer.begin_time()
                && entry.timestamp_end == end.end
        };
        let Some(last) = self.last.filter(alike) else {
            return Ok(writer.finish(end, multiple)?);
        };
        let mut packet = writer.clone().finish(end, multiple)?;
        while packet.entry.packet_size == last.packet_size && multiple < MOST_PADDING {
            multiple *= 2;
            packet = writer.clone().finish(end, multiple)?;
        }
        Ok(packet)
    }

    /// An index is of use only if packets have times that mean something without the packets before them.
    fn has_index(&self) -> bool {
        let full = |role| role_size(self.class, role) == Some(64);
        self.class.clock.is_some()
            && says_size(self.class)
            && full(Role::TimestampBegin)
            && full(Role::TimestampEnd)
    }

    /// Completes the file; gives its size, if there is one.
    pub(super) fn finish(mut self) -> Result<Option<u64>, TrimError> {
        let Some(output) = self.output.take() else {
            self.trace_output.leave_empty(self.name);
            return Ok(None);
        };
        let bytes = output.bytes;
        output.finish()?;
        Ok(Some(bytes))
    }

    /// As many bits of a time as the member with this role has.
    fn fitted(&self, role: Role, time: u64) -> u64 {
        match role_size(self.class, role) {
            Some(size) if size < 64 => time & ((1 << size) - 1),
            _ => time,
        }
    }

    fn path(&self, source: &Source<'_>) -> PathBuf {
        self.trace.path_of_packet(source.packet).to_owned()
    }

    fn unwritable(&self, source: &Source<'_>, error: WriteError) -> TrimError {
        TrimError::Event {
            path: self.path(source),
            offset: source.packet.offset,
            source: error,
        }
    }

    fn unreadable(&self, source: &Source<'_>, error: DecodeError) -> TrimError {
        TrimError::Unreadable {
            path: self.path(source),
            offset: source.packet.offset,
            source: error,
        }
    }
}

impl OpenPacket {
    fn flush(&mut self, data: &[u8], header_alignment: u64) {
        let Some(run) = self.run.take() else {
            return;
        };
        let bytes = data.get((run.from / 8) as usize..(run.to / 8) as usize);
        let bytes = bytes.unwrap_or_default();
        if bytes.len() >= BIG_RUN {
            self.writer.reserve(bytes.len() + PAGE as usize);
        }
        self.writer.copy(bytes, header_alignment as u32, self.clock);
    }
}

#[cfg(test)]
fn encodes_everything() -> bool {
    ENCODES_EVERYTHING.get()
}

#[cfg(not(test))]
const fn encodes_everything() -> bool {
    false
}
