//! Finding the packets of a stream file.
//!
//! Packets follow each other without gaps, so one wrong size or one overwritten page hides everything behind it. When
//! the next head is not where it should be, it is searched for: at the places that the index names, then wherever the
//! magic number and the trace's UUID stand.

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem;

use super::head::{Head, HeadReader, PacketHeaderError};
use super::{Index, Packet, PacketState};
use crate::damage::DamageKind;
use crate::schema::{Cycles, Nanos, Schema, Uuid};
use crate::trace::time::{Conversion, TimeBase};

/// A packet, and which stream it belongs to.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) packet: Packet,
    pub(crate) class: usize,
    pub(crate) instance: Option<u64>,
    pub(crate) has_begin: bool,
}

/// Something wrong at a byte of the file.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) kind: DamageKind,
    pub(crate) offset: u64,
    /// When events may be missing because of it, as far as it is known.
    pub(crate) window: Option<(Nanos, Nanos)>,
    pub(crate) message: String,
}

/// LTTng rounds packets up to pages: more unused bytes than this are worth a look.
const USUAL_PADDING: u64 = 4096;

pub(crate) struct Discovery<'a> {
    data: &'a [u8],
    file: u32,
    reader: &'a HeadReader,
    uuid: Option<Uuid>,
    /// Of the packets of this file that have another one than the trace.
    foreign_uuid: Option<Uuid>,
    index: Option<&'a Index>,
    schema: &'a Schema,
    pub(crate) packets: Vec<Found>,
    tell: &'a mut dyn FnMut(Finding),
    /// Where the zero bytes begin that the file ends with, once somebody asked.
    zero_from: OnceCell<u64>,
}

impl<'a> Discovery<'a> {
    pub(crate) fn new(
        data: &'a [u8],
        file: u32,
        schema: &'a Schema,
        reader: &'a HeadReader,
        index: Option<&'a Index>,
        tell: &'a mut dyn FnMut(Finding),
    ) -> Discovery<'a> {
        Discovery {
            data,
            file,
            reader,
            uuid: schema.uuid,
            foreign_uuid: None,
            index,
            schema,
            packets: Vec::new(),
            tell,
            zero_from: OnceCell::new(),
        }
    }

    pub(crate) fn run(&mut self) {
        let size = self.data.len() as u64;
        let mut registers = self.reader.registers();
        let mut foreign = 0u64;
        let mut offset = 0;
        while offset < size {
            let rest = &self.data[offset as usize..];
            match self.reader.read(rest, &mut registers) {
                Ok(head) => {
                    if self.uuid.is_some() && head.uuid.is_some() && head.uuid != self.uuid {
                        foreign += 1;
                        self.foreign_uuid = head.uuid;
                    }
                    let next = self.packet(offset, &head);
                    debug_assert!(next > offset);
                    offset = next;
                }
                Err(reason) => match self.lost(offset, &reason) {
                    Some(next) => offset = next,
                    None => break,
                },
            }
        }
        if foreign > 0 {
            let message = format!(
                "{foreign} packets carry the UUID of another trace; they were read all the same"
            );
            self.report(DamageKind::ForeignPackets, 0, None, message);
        }
        self.report_missing();
    }

    /// Packets of the index that lie behind the end of the file.
    fn report_missing(&mut self) {
        let size = self.size();
        let Some(index) = self.index else { return };
        let first = index.entries.partition_point(|entry| entry.offset < size);
        let missing = &index.entries[first..];
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else {
            return;
        };
        let class =
            (self.schema.streams.iter()).position(|class| class.id == first.stream_class_id);
        let window =
            class.and_then(|class| self.window(class, first.timestamp_begin, last.timestamp_end));
        let count = missing.len();
        let message = format!("the index lists {count} more packets behind the end of the file");
        self.report(DamageKind::MissingPackets, size, window, message);
    }

    /// From one time of a stream class to another.
    fn window(&self, class: usize, begin: u64, end: u64) -> Option<(Nanos, Nanos)> {
        let clock = self.schema.streams[class].clock?;
        let time = TimeBase::new(self.schema.clocks.get(clock), Conversion::Exact);
        (begin <= end).then(|| (time.nanos(Cycles(begin)), time.nanos(Cycles(end))))
    }

    /// Takes the packet at `offset`; returns where the next one begins.
    fn packet(&mut self, offset: u64, head: &Head) -> u64 {
        let left = self.data.len() as u64 - offset;
        let sizes = (head.roles.packet_size, head.roles.content_size);
        let total = match sizes {
            (None, None) => Some(left.saturating_mul(8)),
            (Some(total), None) | (None, Some(total)) => total.checked_next_multiple_of(8),
            (Some(total), Some(content)) if content <= total => Some(total),
            _ => None,
        };
        let content = sizes.1.or(sizes.0);
        let plausible = total.filter(|&total| {
            total.is_multiple_of(8)
                && total > 0
                && total >= head.first_event
                && content.is_none_or(|content| content >= head.first_event)
        });
        let all_ones = sizes.0.is_some_and(|size| size == u64::MAX) || sizes.1 == Some(u64::MAX);
        let (size, state) = match plausible.map(|bits| bits / 8) {
            Some(bytes) if bytes <= left && !all_ones => (bytes, PacketState::Closed),
            Some(bytes) if !all_ones => {
                // Longer than the file: cut, unless another packet begins inside.
                match self.search(offset + 1..self.size()) {
                    Some(next) => {
                        self.report_size(offset, bytes, next);
                        (next - offset, PacketState::Open)
                    }
                    None => {
                        let times = (head.roles.timestamp_begin).zip(head.roles.timestamp_end);
                        let window =
                            times.and_then(|(begin, end)| self.window(head.class, begin, end));
                        let message = format!(
                            "the file ends inside a packet: {} of its {bytes} bytes are missing",
                            bytes - left
                        );
                        self.report(DamageKind::CutPacket, offset, window, message);
                        (left, PacketState::Cut)
                    }
                }
            }
            _ => {
                let next = self
                    .search(offset + 1..self.size())
                    .unwrap_or(offset + left);
                if all_ones {
                    let message =
                        "the tracer did not close this packet; its events are read until they end";
                    self.report(DamageKind::OpenPacket, offset, None, message.to_owned());
                } else {
                    let (packet, content) = (sizes.0.unwrap_or(0), sizes.1.unwrap_or(0));
                    let message = format!(
                        "the sizes of a packet cannot be true (content {content}, packet {packet} bits)"
                    );
                    self.report(DamageKind::CorruptPacket, offset, None, message);
                }
                (next - offset, PacketState::Open)
            }
        };
        let (size, state) = self.check_end(offset, size, state, content);
        self.packets.push(Found {
            packet: Packet {
                offset,
                size,
                begin: head.roles.timestamp_begin.unwrap_or(0),
                file: self.file,
                state,
            },
            class: head.class,
            instance: head.roles.stream_instance_id,
            has_begin: head.roles.timestamp_begin.is_some(),
        });
        offset + size
    }

    /// A size that is wrong can hide packets: either no head stands behind it, or heads stand in its padding.
    fn check_end(
        &mut self,
        offset: u64,
        size: u64,
        state: PacketState,
        content: Option<u64>,
    ) -> (u64, PacketState) {
        let end = offset + size;
        if state != PacketState::Closed || self.reader.magic_bytes().is_none() {
            return (size, state);
        }
        let content_end = offset + content.map_or(size, |bits| bits.div_ceil(8)).min(size);
        let at_the_end = end == self.data.len() as u64;
        let hidden = if !at_the_end && !self.is_head(end, false) && !self.is_zero_from(end) {
            self.search(offset + 1..end)
        } else if end - content_end >= USUAL_PADDING {
            self.search(content_end..end)
        } else {
            None
        };
        match hidden {
            Some(next) => {
                self.report_size(offset, size, next);
                match next < content_end {
                    true => (next - offset, PacketState::Open),
                    false => (next - offset, state),
                }
            }
            None => (size, state),
        }
    }

    /// No packet begins at `offset`: reports that and returns where the next one begins, if any does.
    fn lost(&mut self, offset: u64, reason: &PacketHeaderError) -> Option<u64> {
        let rest = self.data.len() as u64 - offset;
        if offset > 0 && self.is_zero_from(offset) {
            let message = format!("{rest} zero bytes stand behind the last packet");
            self.report(DamageKind::CorruptPacket, offset, None, message);
            return None;
        }
        let next = self.search(offset + 1..self.size());
        let (kind, at, message) = match next {
            Some(next) => {
                let bytes = next - offset;
                let message =
                    format!("{bytes} bytes are no packet ({reason}); skipped to the next one");
                (DamageKind::CorruptPacket, offset, message)
            }
            None if self.packets.is_empty() => {
                let message =
                    format!("this file is no stream of the trace ({reason}); it was skipped");
                (DamageKind::NotAStream, 0, message)
            }
            None => {
                let message = format!("the last {rest} bytes of the file are no packet ({reason})");
                (DamageKind::CorruptPacket, offset, message)
            }
        };
        self.report(kind, at, None, message);
        next
    }

    fn size(&self) -> u64 {
        self.data.len() as u64
    }

    /// The first of these places where a packet really begins. Nothing outside is looked at, so that the time stays
    /// proportional to the file's size.
    fn search(&self, Range { start, end }: Range<u64>) -> Option<u64> {
        let magic = self.reader.magic_bytes();
        let found = magic.and_then(|magic| {
            let behind = (end as usize + magic.len() - 1).min(self.data.len());
            let stretch = self.data.get(start as usize..behind)?;
            let mut places = memmem::find_iter(stretch, &magic).map(|at| start + at as u64);
            places.find(|&at| self.is_head(at, true))
        });
        let indexed = self.index.and_then(|index| {
            let first = index.entries.partition_point(|entry| entry.offset < start);
            let mut places = index.entries[first..]
                .iter()
                .map(|entry| entry.offset)
                .take_while(|&at| at < found.unwrap_or(end));
            places.find(|&at| self.is_head(at, false))
        });
        indexed.or(found)
    }

    /// Whether a packet of this trace begins here. `strict`: nothing but the bytes themselves speaks for it.
    fn is_head(&self, at: u64, strict: bool) -> bool {
        let Some(rest) = self.data.get(at as usize..).filter(|rest| !rest.is_empty()) else {
            return false;
        };
        let mut registers = self.reader.registers();
        let Ok(head) = self.reader.read(rest, &mut registers) else {
            return false;
        };
        match (head.uuid, self.uuid) {
            (Some(found), Some(expected)) => found == expected || self.foreign_uuid == Some(found),
            _ if !strict => true,
            // Four bytes alone prove little: the sizes must be possible too.
            _ => match (head.roles.packet_size, head.roles.content_size) {
                (Some(total), content) => {
                    total.is_multiple_of(8)
                        && total / 8 <= rest.len() as u64
                        && total >= head.first_event
                        && content
                            .is_none_or(|content| content <= total && content >= head.first_event)
                }
                _ => false,
            },
        }
    }

    fn is_zero_from(&self, offset: u64) -> bool {
        let zero_from = self.zero_from.get_or_init(|| {
            let last = self.data.iter().rposition(|&byte| byte != 0);
            last.map_or(0, |last| last as u64 + 1)
        });
        offset >= *zero_from
    }

    fn report_size(&mut self, offset: u64, bytes: u64, next: u64) {
        let message = format!(
            "the packet claims {bytes} bytes but the next one begins after {}",
            next - offset
        );
        self.report(DamageKind::CorruptPacket, offset, None, message);
    }

    fn report(
        &mut self,
        kind: DamageKind,
        offset: u64,
        window: Option<(Nanos, Nanos)>,
        message: String,
    ) {
        (self.tell)(Finding {
            kind,
            offset,
            window,
            message,
        });
    }
}
