//! Events of all streams in the order of time.
//!
//! A [`Cursor`] holds one event per stream and always yields the earliest: memory does not grow with the trace. Within
//! a stream the order of the file is never changed; at equal times the stream's rank decides, so the order is the same
//! in every run. A range of time can be given, and cursors over adjoining ranges together yield each event
//! exactly once: that is how ordered work is shared among threads.

use std::cmp::Ordering;
use std::ops::Range;

use super::merge::Merge;
use crate::damage::{Damage, DamageKind, DamageRows};
use crate::layout::decode::{DecodeError, Registers};
use crate::layout::{Layout, Raw, Scope};
use crate::packet::head::Head;
use crate::packet::{Packet, PacketState};
use crate::schema::{Cycles, EventClass, Nanos, StreamClass};
use crate::trace::stream::Stream;
use crate::trace::time::{Conversion, TimeBase};
use crate::trace::{StreamId, Trace, TraceSet};
use crate::value::Value;
use crate::walk::{Event, Walker};
use crate::walk::{Selection, StreamSelection};

/// Yields the events of a [`TraceSet`] in order.
#[derive(Debug)]
pub struct Cursor<'a> {
    lanes: Vec<Lane<'a>>,
    /// Lanes that have an event.
    order: Merge<Turn>,
    /// The lane whose event was yielded last and is to be advanced.
    current: Option<usize>,
    range: Range<i64>,
    pub damage: DamageRows,
}

/// When it is a lane's turn: by the time of its event, then by the rank of its stream. Kept beside the lanes, which are large.
#[derive(Debug, Clone, Copy)]
struct Turn {
    key: i64,
    rank: u32,
    lane: u32,
}

impl Turn {
    fn of(lanes: &[Lane<'_>], number: usize) -> Turn {
        Turn {
            key: lanes[number].key,
            rank: lanes[number].stream.rank,
            lane: number as u32,
        }
    }

    #[inline]
    fn is_before(&self, other: &Turn, lanes: &[Lane<'_>]) -> bool {
        if self.key != other.key {
            return self.key < other.key;
        }
        if self.rank != other.rank {
            return self.rank < other.rank;
        }
        let (lane, other) = (&lanes[self.lane as usize], &lanes[other.lane as usize]);
        lane.compare_events(other) == Ordering::Less
    }
}

/// One stream on its way through the merge.
#[derive(Debug)]
pub(crate) struct Lane<'a> {
    id: StreamId,
    pub(crate) trace: &'a Trace,
    pub(crate) stream: &'a Stream,
    selection: StreamSelection<'a>,
    pub(crate) time: TimeBase<'a>,
    pub(crate) walker: Walker<'a>,
    pub(crate) next_packet: usize,
    pub(crate) head: Option<Head>,
    event: Event,
    /// Time of the event, and the time that it is sorted by: the two differ only where the time goes back.
    pub(crate) nanos: Nanos,
    key: i64,
    /// Keys stay between the begins of this and the next packet, so that they never decrease.
    ceiling: i64,
    last_time: Cycles,
    non_monotonic: u64,
}

/// An event, with access to its fields.
#[derive(Debug, Clone, Copy)]
pub struct EventView<'c> {
    pub(crate) lane: &'c Lane<'c>,
}

impl<'a> Cursor<'a> {
    /// All events.
    pub fn new(set: &'a TraceSet, conversion: Conversion) -> Cursor<'a> {
        Cursor::select(set, conversion, &Selection::default())
    }

    /// The selected events.
    pub fn select(set: &'a TraceSet, conversion: Conversion, selection: &Selection) -> Cursor<'a> {
        Cursor::within(set, conversion, selection, selection.range())
    }

    /// The selected events from the first time up to, not including, the second one, whatever times the
    /// selection has. The last possible instant belongs to a range that ends with it.
    pub fn within(
        set: &'a TraceSet,
        conversion: Conversion,
        selection: &Selection,
        range: Range<Nanos>,
    ) -> Cursor<'a> {
        let range = range.start.0..range.end.0;
        let mut damage = DamageRows::default();
        let mut lanes: Vec<Lane<'_>> = set
            .streams()
            .map(|id| Lane::new(set, id, conversion, selection))
            .collect();
        let mut filled = Vec::new();
        for (number, lane) in lanes.iter_mut().enumerate() {
            lane.seek(range.start);
            if lane.advance_into(&range, &mut damage) {
                filled.push(number);
            }
        }
        let turns = filled.into_iter().map(|number| Turn::of(&lanes, number));
        let order = Merge::new(turns.collect(), |a, b| a.is_before(b, &lanes));
        Cursor {
            lanes,
            order,
            current: None,
            range,
            damage,
        }
    }

    /// The next event. (An iterator could not lend out its own buffers.)
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<EventView<'_>> {
        if let Some(number) = self.current.take() {
            self.advance(number);
        }
        let number = self.order.first()?.lane as usize;
        self.current = Some(number);
        Some(EventView {
            lane: &self.lanes[number],
        })
    }

    /// Moves the first lane on and puts it back in its place.
    #[inline]
    fn advance(&mut self, number: usize) {
        let goes_on = self.lanes[number].advance(&self.range, &mut self.damage);
        let lanes = &self.lanes;
        if goes_on {
            let turn = Turn::of(lanes, number);
            (self.order).replace_first(turn, |a, b| a.is_before(b, lanes));
        } else {
            self.order.remove_first(|a, b| a.is_before(b, lanes));
        }
    }
}

impl<'a> Lane<'a> {
    pub(crate) fn new(
        set: &'a TraceSet,
        id: StreamId,
        conversion: Conversion,
        selection: &Selection,
    ) -> Lane<'a> {
        let trace = set.trace_of(id);
        let stream = set.stream(id);
        Lane {
            id,
            trace,
            stream,
            selection: selection.of_stream(trace, stream),
            time: trace.time_base(stream, conversion),
            walker: trace.decoder.walker(stream.class),
            next_packet: 0,
            head: None,
            event: Event {
                class: 0,
                start: 0,
                body: 0,
                end: 0,
                time: Cycles(0),
            },
            nanos: Nanos(0),
            key: i64::MIN,
            ceiling: i64::MIN,
            last_time: Cycles(0),
            non_monotonic: 0,
        }
    }

    /// Goes to the last packet that can have events at `from`. Streams whose packets depend on each other are
    /// read from their start.
    fn seek(&mut self, from: i64) {
        if self.stream.sequential || !self.time.has_clock() {
            return;
        }
        // A packet's events are not later than the next packet's begin.
        let packets = &self.stream.packets;
        let behind = packets.partition_point(|packet| self.begin_key(packet) < from);
        self.next_packet = behind.saturating_sub(1);
    }

    fn begin_key(&self, packet: &Packet) -> i64 {
        self.time.nanos(Cycles(packet.begin)).0
    }

    fn advance_into(&mut self, range: &Range<i64>, damage: &mut DamageRows) -> bool {
        while self.advance(range, damage) {
            if self.key >= range.start {
                return true;
            }
        }
        false
    }

    /// Goes to the next event; false behind the last one in the range.
    #[inline]
    fn advance(&mut self, range: &Range<i64>, damage: &mut DamageRows) -> bool {
        loop {
            match self.walker.next_event() {
                Ok(Some(event)) => {
                    self.take(event);
                    if self.key >= range.end && range.end != i64::MAX {
                        return false;
                    }
                    if self.selection.wants_event(&event, &self.walker) {
                        return true;
                    }
                }
                Ok(None) => {
                    if !self.next_packet(range, damage) {
                        return false;
                    }
                }
                Err(error) => {
                    let (stream, walker) = (self.stream, &self.walker);
                    let packet = &stream.packets[self.next_packet - 1];
                    damage.extend(undecodable(self.trace, stream, packet, walker, &error));
                }
            }
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, event: Event) {
        if event.time < self.last_time {
            self.non_monotonic += 1;
        }
        self.last_time = event.time;
        self.nanos = self.time.nanos(event.time);
        self.key = self.nanos.0.min(self.ceiling).max(self.key);
        self.event = event;
    }

    pub(crate) fn next_packet(&mut self, range: &Range<i64>, damage: &mut DamageRows) -> bool {
        self.report_time(damage);
        if let Some(head) = self.head.take() {
            self.trace.decoder.leave(&mut self.walker, &head);
        }
        loop {
            let Some(packet) = self.stream.packets.get(self.next_packet) else {
                return false;
            };
            self.next_packet += 1;
            if self.stream.sequential || !self.time.has_clock() {
                self.ceiling = i64::MAX;
            } else {
                let begin = self.begin_key(packet);
                if begin >= range.end && range.end != i64::MAX {
                    return false;
                }
                self.key = self.key.max(begin);
                let next = self.stream.packets.get(self.next_packet);
                self.ceiling = next
                    .map_or(i64::MAX, |next| self.begin_key(next))
                    .max(self.key);
            }
            let data = self.trace.data(packet);
            if !self.stream.sequential && !self.selection.wants_packet(&self.trace.decoder, data) {
                continue;
            }
            if let Ok(head) = self.trace.decoder.enter(&mut self.walker, packet, data) {
                self.head = Some(head);
                return true;
            }
        }
    }

    fn report_time(&mut self, damage: &mut DamageRows) {
        if self.non_monotonic > 0 {
            let packet = &self.stream.packets[self.next_packet.saturating_sub(1)];
            let times = std::mem::take(&mut self.non_monotonic);
            damage.push(non_monotonic(self.trace, packet, times, self.nanos));
        }
    }

    /// Streams that nothing tells apart: the event classes decide, then the order of the files.
    #[cold]
    fn compare_events(&self, other: &Lane<'_>) -> Ordering {
        (self.class().compare(other.class())).then_with(|| self.id.cmp(&other.id))
    }

    fn class(&self) -> &'a EventClass {
        &self.trace.schema.streams[self.stream.class].events[self.event.class as usize]
    }
}

/// The row for a packet whose events cannot all be decoded; none where that was said before.
pub(crate) fn undecodable(
    trace: &Trace,
    stream: &Stream,
    packet: &Packet,
    walker: &Walker<'_>,
    error: &DecodeError,
) -> Option<Damage> {
    match (packet.state, error) {
        (PacketState::Open, _)
        | (PacketState::Cut, DecodeError::OutOfBits { .. } | DecodeError::EndlessString) => {
            return None;
        }
        _ => {}
    }
    let offset = packet.offset + walker.position() / 8;
    let left = (walker.content_end() - walker.position()).div_ceil(8);
    let time = trace.time_base(stream, Conversion::Exact);
    let message = format!("{error}; the packet's last {left} bytes were skipped");
    Some(Damage {
        offset: Some(offset),
        begin: time.has_clock().then(|| time.nanos(Cycles(packet.begin))),
        ..trace.damage_of_packet(DamageKind::UndecodableEvents, packet, message)
    })
}

pub(crate) fn non_monotonic(trace: &Trace, packet: &Packet, times: u64, at: Nanos) -> Damage {
    let message = match times {
        1 => "an event is older than the one before it".to_owned(),
        _ => format!("{times} events are older than those before them"),
    };
    Damage {
        begin: Some(at),
        count: Some(times),
        ..trace.damage_of_packet(DamageKind::TimeGoesBack, packet, message)
    }
}

impl<'c> EventView<'c> {
    pub fn stream_id(&self) -> StreamId {
        self.lane.id
    }

    pub fn trace(&self) -> &'c Trace {
        self.lane.trace
    }

    pub fn stream(&self) -> &'c Stream {
        self.lane.stream
    }

    pub fn stream_class(&self) -> &'c StreamClass {
        &self.lane.trace.schema.streams[self.lane.stream.class]
    }

    pub fn class(&self) -> &'c EventClass {
        self.lane.class()
    }

    /// Class, time in cycles, and place in the packet.
    pub fn event(&self) -> Event {
        self.lane.event
    }

    /// Since the origin of the clock; nothing if the stream has none.
    pub fn nanos(&self) -> Option<Nanos> {
        self.lane.time.has_clock().then_some(self.lane.nanos)
    }

    /// The packet that the event is in.
    pub fn packet(&self) -> &'c Packet {
        &self.lane.stream.packets[self.lane.next_packet - 1]
    }

    /// The position of the packet in its stream.
    pub fn packet_number(&self) -> usize {
        self.lane.next_packet - 1
    }

    pub fn layout(&self) -> &'c Layout {
        self.lane.walker.layout_of(&self.lane.event)
    }

    /// The packet's bytes from its first one.
    pub fn data(&self) -> &'c [u8] {
        self.lane.walker.data()
    }

    /// A field of the class's layout.
    #[inline]
    pub fn read(&self, leaf: usize) -> Raw<'c> {
        self.layout().leaves[leaf].read(self.lane.walker.data(), self.lane.walker.anchors())
    }

    /// A field that is a number; nothing if it is none.
    #[inline]
    pub fn number(&self, leaf: usize) -> Option<u64> {
        let leaf = &self.layout().leaves[leaf];
        leaf.number(self.lane.walker.data(), self.lane.walker.anchors())
    }

    /// All scopes, field by field.
    pub fn values(&self) -> Result<Vec<(Scope, Value)>, DecodeError> {
        let mut registers: Registers = self.lane.walker.registers().clone();
        let (content, body) = (self.lane.walker.content(), self.lane.event.body);
        self.layout().values(content, body, &mut registers)
    }

    /// The packet context, field by field.
    pub fn packet_context(&self) -> Option<Value> {
        self.lane.trace.packet_context(self.packet())
    }
}

impl Trace {
    /// The context of a packet, field by field.
    pub fn packet_context(&self, packet: &Packet) -> Option<Value> {
        let mut registers = self.decoder.heads.registers();
        let head = (self.decoder.heads).decode(self.data(packet), &mut registers);
        head.ok()?.1.context
    }
}
