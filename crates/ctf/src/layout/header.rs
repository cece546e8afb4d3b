//! Event headers: which event it is, and when.
//!
//! The two shapes that LTTng writes (5 + 27 bits and 16 + 32 bits, each with an extended form) and every header of
//! constant layout have fast paths; any other structure is decoded field by field.

use super::bits::{Codec, align_up, word_le};
use super::decode::{DecodeError, Reader, Registers, Roles};
use super::phase::Phase;
use super::run::{PacketContent, within};
use super::{compile, slots};
use crate::schema::{
    BitField, ByteOrder, FieldClass, Integer, Range, Role, Slot, StreamClass, Struct, updated_clock,
};

#[derive(Debug)]
pub(crate) enum Header {
    None,
    /// LTTng's "large" header, little-endian and packed: what most traces have.
    LargePacked,
    Lttng(LttngHeader),
    Constant(ConstantHeader),
    General(GeneralHeader),
}

/// A short id; its largest value says that a long id and a full timestamp follow, the others that a partial
/// timestamp does.
#[derive(Debug)]
pub(crate) struct LttngHeader {
    align: u64,
    id: Codec,
    extended: u64,
    /// Alignment of the compact form and its timestamp.
    short_align: u64,
    short: Codec,
    /// Alignment of the extended form, its id and its timestamp.
    long_align: u64,
    long_id_align: u64,
    long_id: Codec,
    long_time_align: u64,
    long_time: Codec,
}

/// Everything at a known distance from the aligned start.
#[derive(Debug)]
pub(crate) struct ConstantHeader {
    align: u64,
    size: u64,
    id: Option<(u64, Codec)>,
    clock: Vec<(u64, Codec)>,
}

#[derive(Debug)]
pub(crate) struct GeneralHeader {
    structure: Struct,
    /// The registers to clear before each event.
    slots: std::ops::Range<usize>,
    /// The id of an event whose header says none: that of the only class, or one that no class has.
    absent_id: u64,
}

/// What an event header says: the id (if it has one) and the first bit behind it. The time is in the registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    pub(crate) id: u64,
    pub(crate) body: u64,
}

impl Header {
    pub(super) fn new(stream: &StreamClass) -> (Header, Phase) {
        let Some(structure) = &stream.event_header else {
            // Nothing is between the events: one begins wherever the last one ended.
            return (Header::None, Phase::UNKNOWN);
        };
        let phase = compile::phase_behind(structure);
        let header = match lttng(structure) {
            Some((header, slot)) if !is_read_elsewhere(stream, slot) => {
                if header.is_large_packed() {
                    Header::LargePacked
                } else {
                    Header::Lttng(header)
                }
            }
            _ => match constant(structure) {
                Some(header) => Header::Constant(header),
                None => Header::General(GeneralHeader {
                    structure: structure.clone(),
                    slots: slots::slots_of([structure].into_iter()),
                    absent_id: match stream.events.as_slice() {
                        [only] => only.id,
                        _ => u64::MAX,
                    },
                }),
            },
        };
        (header, phase)
    }

    /// Reads the header at `position` and advances the clock.
    // The usual header is a few instructions, of which a call would be half.
    #[inline(always)]
    pub(crate) fn begin(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
    ) -> Result<Begun, DecodeError> {
        match self {
            Header::LargePacked => large_packed(content, position, registers),
            other => other.begin_unusual(content, position, registers),
        }
    }

    #[inline(never)]
    fn begin_unusual(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
    ) -> Result<Begun, DecodeError> {
        match self {
            Header::LargePacked => large_packed(content, position, registers),
            Header::Lttng(header) => header.begin(content, position, registers),
            Header::Constant(header) => header.begin(content, position, registers),
            Header::None => Ok(Begun {
                id: 0,
                body: position,
            }),
            Header::General(header) => header.begin(content, position, registers),
        }
    }
}

#[inline(always)]
fn large_packed(
    content: PacketContent<'_>,
    position: u64,
    registers: &mut Registers,
) -> Result<Begun, DecodeError> {
    let position = align_up(position, 8);
    let short = within(position, 48, content.end)?;
    let word = word_le(content.data, (position / 8) as usize);
    let id = word & 0xffff;
    if id != 0xffff {
        registers.clock = updated_clock(registers.clock, (word >> 16) & 0xffff_ffff, 32);
        return Ok(Begun { id, body: short });
    }
    let long = within(position, 112, content.end)?;
    registers.clock = word_le(content.data, (position / 8) as usize + 6);
    Ok(Begun {
        id: (word >> 16) & 0xffff_ffff,
        body: long,
    })
}

impl LttngHeader {
    fn is_large_packed(&self) -> bool {
        let little = |codec: Codec, size| codec.size == size && codec.order == ByteOrder::Little;
        let aligns = [
            self.align,
            self.short_align,
            self.long_align,
            self.long_id_align,
            self.long_time_align,
        ];
        aligns.iter().all(|&align| align == 8)
            && little(self.id, 16)
            && little(self.short, 32)
            && little(self.long_id, 32)
            && little(self.long_time, 64)
    }

    #[inline]
    fn begin(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
    ) -> Result<Begun, DecodeError> {
        let position = align_up(position, self.align);
        let behind = within(position, u64::from(self.id.size), content.end)?;
        let id = self.id.read(content.data, position);
        if id != self.extended {
            let at = align_up(behind, self.short_align);
            let body = within(at, u64::from(self.short.size), content.end)?;
            registers.advance_clock(
                self.short.read(content.data, at),
                u32::from(self.short.size),
            );
            return Ok(Begun { id, body });
        }
        let at = align_up(align_up(behind, self.long_align), self.long_id_align);
        let behind = within(at, u64::from(self.long_id.size), content.end)?;
        let id = self.long_id.read(content.data, at);
        let at = align_up(behind, self.long_time_align);
        let body = within(at, u64::from(self.long_time.size), content.end)?;
        registers.advance_clock(
            self.long_time.read(content.data, at),
            u32::from(self.long_time.size),
        );
        Ok(Begun { id, body })
    }
}

impl ConstantHeader {
    #[inline]
    fn begin(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
    ) -> Result<Begun, DecodeError> {
        let position = align_up(position, self.align);
        let body = within(position, self.size, content.end)?;
        let id = self.id.map_or(0, |(offset, codec)| {
            codec.read(content.data, position + offset)
        });
        for &(offset, codec) in &self.clock {
            registers.advance_clock(
                codec.read(content.data, position + offset),
                u32::from(codec.size),
            );
        }
        Ok(Begun { id, body })
    }
}

impl GeneralHeader {
    fn begin(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
    ) -> Result<Begun, DecodeError> {
        registers.begin_event(self.slots.clone());
        let mut roles = Roles::default();
        let mut reader = Reader::new(content.data, position, content.end, registers, &mut roles);
        reader.structure(&self.structure)?;
        let body = reader.position;
        Ok(Begun {
            id: roles.event_id.unwrap_or(self.absent_id),
            body,
        })
    }
}

/// Recognises LTTng's two headers by their structure, whatever the names, sizes and alignments are.
fn lttng(structure: &Struct) -> Option<(LttngHeader, Slot)> {
    let [first, second] = structure.members.as_slice() else {
        return None;
    };
    let FieldClass::Integer(id) = &first.class else {
        return None;
    };
    let FieldClass::Variant {
        selector,
        selector_signed: false,
        options,
    } = &second.class
    else {
        return None;
    };
    let [short, long] = options.as_slice() else {
        return None;
    };
    let (id_bits, slot) = (unsigned(id, Role::EventId)?, id.slot?);
    let extended = if id_bits.size < 64 {
        (1u64 << id_bits.size) - 1
    } else {
        return None;
    };
    if slot != *selector || id.updates_clock {
        return None;
    }
    let covers = |ranges: &[Range], low: u64, high: u64| matches!(ranges, [range] if (range.low, range.high) == (low.into(), high.into()));
    if !covers(&short.ranges, 0, extended - 1) || !covers(&long.ranges, extended, extended) {
        return None;
    }
    let (FieldClass::Struct(short), FieldClass::Struct(long)) = (&short.class, &long.class) else {
        return None;
    };
    let [short_time] = short.members.as_slice() else {
        return None;
    };
    let [long_id, long_time] = long.members.as_slice() else {
        return None;
    };
    let short_bits = timestamp(&short_time.class)?;
    let long_time_bits = timestamp(&long_time.class)?;
    let FieldClass::Integer(long_id) = &long_id.class else {
        return None;
    };
    let long_id_bits = unsigned(long_id, Role::EventId).filter(|_| long_id.slot.is_none())?;
    let orders = [
        id_bits.order,
        short_bits.order,
        long_id_bits.order,
        long_time_bits.order,
    ];
    if orders.iter().any(|&order| order != orders[0]) {
        return None;
    }
    let header = LttngHeader {
        align: u64::from(structure.align.max(id_bits.align)),
        id: Codec::new(id_bits, false),
        extended,
        short_align: u64::from(short.align.max(short_bits.align)),
        short: Codec::new(short_bits, false),
        long_align: u64::from(long.align),
        long_id_align: u64::from(long_id_bits.align),
        long_id: Codec::new(long_id_bits, false),
        long_time_align: u64::from(long_time_bits.align),
        long_time: Codec::new(long_time_bits, false),
    };
    Some((header, slot))
}

fn unsigned(integer: &Integer, role: Role) -> Option<BitField> {
    let bits = integer.bits()?;
    (!integer.signed && !bits.reversed && integer.role == Some(role)).then_some(bits)
}

fn timestamp(class: &FieldClass) -> Option<BitField> {
    match class {
        FieldClass::Integer(integer) if integer.updates_clock && integer.slot.is_none() => {
            unsigned(integer, Role::Timestamp)
        }
        _ => None,
    }
}

/// A header of nothing but bit fields without slots, each at a constant distance from the start.
fn constant(structure: &Struct) -> Option<ConstantHeader> {
    let align = u64::from(structure.align);
    // The distances are constant only if nothing inside is aligned more strictly, which holds for effective
    // alignments, and if no two byte orders can meet inside a byte.
    let mut position = 0;
    let mut header = ConstantHeader {
        align,
        size: 0,
        id: None,
        clock: Vec::new(),
    };
    let mut order = None;
    for member in &structure.members {
        let integer = match &member.class {
            FieldClass::Integer(integer) if integer.slot.is_none() => Some(integer),
            FieldClass::Float(_) | FieldClass::BitArray(_) | FieldClass::BitMap { .. } => None,
            _ => return None,
        };
        let bits = member.class.bits()?;
        if *order.get_or_insert(bits.order) != bits.order {
            return None;
        }
        position = align_up(position, u64::from(bits.align));
        if let Some(integer) = integer {
            let place = (position, Codec::new(bits, integer.signed));
            if integer.role == Some(Role::EventId) {
                header.id = Some(place);
            }
            if integer.updates_clock {
                header.clock.push(place);
            }
        }
        position += u64::from(bits.size);
    }
    header.size = position;
    Some(header)
}

pub(super) fn has_event_id(structure: &Struct) -> bool {
    let is_id = |integer: &Integer| integer.role == Some(Role::EventId);
    let mut fields = structure.all();
    fields.any(|class| matches!(class, FieldClass::Integer(integer) if is_id(integer)))
}

/// Whether a context or payload depends on this field of the header.
fn is_read_elsewhere(stream: &StreamClass, slot: Slot) -> bool {
    let of_events = stream
        .events
        .iter()
        .flat_map(|event| [&event.context, &event.payload]);
    let mut fields = ([&stream.event_context].into_iter().chain(of_events))
        .flatten()
        .flat_map(Struct::all);
    fields.any(|class| class.depends_on() == Some(slot))
}
