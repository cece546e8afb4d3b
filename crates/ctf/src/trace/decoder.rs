//! A trace's metadata, compiled: everything that reading its packets needs.

use std::sync::Arc;

use crate::layout::{PacketContent, StreamLayout};
use crate::packet::head::{Head, HeadReader, PacketHeaderError};
use crate::packet::{Packet, PacketState};
use crate::schema::{Cycles, FieldClass, Role, Schema, StreamClass};
use crate::trace::loss::Quirk;
use crate::walk::Walker;

#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) schema: Arc<Schema>,
    pub(crate) heads: HeadReader,
    pub(crate) streams: Vec<StreamLayout>,
    /// Per stream class: the clock's value must be carried from packet to packet, since the packets do not say it.
    pub(crate) sequential: Vec<bool>,
    pub(crate) quirk: Quirk,
}

impl Decoder {
    pub(crate) fn new(schema: Arc<Schema>) -> Decoder {
        Decoder {
            heads: HeadReader::new(&schema),
            streams: (0..schema.streams.len())
                .map(|stream| StreamLayout::new(&schema, stream))
                .collect(),
            sequential: schema.streams.iter().map(is_sequential).collect(),
            quirk: Quirk::of(&schema),
            schema,
        }
    }

    pub(crate) fn walker(&self, class: usize) -> Walker<'_> {
        Walker::new(&self.streams[class], self.schema.slots)
    }

    /// Brings the walker to the first event of a packet, whose bytes are `data`.
    pub(crate) fn enter<'a>(
        &'a self,
        walker: &mut Walker<'a>,
        packet: &Packet,
        data: &'a [u8],
    ) -> Result<Head, PacketHeaderError> {
        let head = self.heads.read(data, walker.registers_mut())?;
        let there = data.len() as u64 * 8;
        let content = head.roles.content_size.or(head.roles.packet_size);
        let possible = content.filter(|&content| content <= there && content >= head.first_event);
        let (end, open) = match packet.state {
            PacketState::Closed | PacketState::Cut => (content.unwrap_or(there).min(there), false),
            PacketState::Open => (possible.unwrap_or(there), possible.is_none()),
        };
        walker.set_layout(&self.streams[head.class]);
        walker.enter(PacketContent { data, end }, head.first_event, open);
        Ok(head)
    }

    /// What happens to the clock behind the last event of a packet.
    pub(crate) fn leave(&self, walker: &mut Walker<'_>, head: &Head) {
        if let Some(end) = (head.roles.timestamp_end).filter(|_| self.sequential[head.class]) {
            let class = &self.schema.streams[head.class];
            let size = role_size(class, Role::TimestampEnd).unwrap_or(64);
            let registers = walker.registers_mut();
            // An old tracer's last event may be younger than the end that it wrote; a crashed one wrote none.
            let keeps = self.quirk == Quirk::EventAfterPacket && end < registers.clock || end == 0;
            if size < 64 || !keeps {
                registers.advance_clock(end, size);
            }
        }
    }

    /// The times of the events of a packet that can be decoded alone.
    pub(crate) fn event_times<'a>(
        &'a self,
        packet: &Packet,
        data: &'a [u8],
        class: usize,
    ) -> impl Iterator<Item = Cycles> + 'a {
        let mut walker = self.walker(class);
        let entered = self.enter(&mut walker, packet, data).is_ok();
        std::iter::from_fn(move || Some(walker.next_event().ok()??.time))
            .take_while(move |_| entered)
    }
}

/// A packet can be decoded alone if its begin sets the whole clock.
fn is_sequential(stream: &StreamClass) -> bool {
    stream.clock.is_some() && role_size(stream, Role::TimestampBegin) != Some(64)
}

/// The size in bits of the packet context's member that has this role.
pub(crate) fn role_size(stream: &StreamClass, role: Role) -> Option<u32> {
    let mut members = stream.packet_context.as_ref()?.members.iter();
    members.find_map(|member| match &member.class {
        FieldClass::Integer(integer) if integer.role == Some(role) => {
            integer.bits().map(|bits| u32::from(bits.size))
        }
        _ => None,
    })
}
