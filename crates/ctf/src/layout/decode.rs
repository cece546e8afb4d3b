//! Decoding one scope field by field into [`Value`]s, for what has no fast path.
//!
//! Packet headers and contexts, unusual event headers, and members inside variants, optional fields and arrays of
//! compounds are read here. Everything that most events consist of is read through `layout` instead.

use super::bits::{Codec, align_up, sign_extend};
use crate::schema::{
    BitField, ByteOrder, Encoding, FieldClass, Integer, IntegerForm, Length, Range, Role, Slot,
    Struct, updated_clock, with_sign,
};
use crate::text;
use crate::value::Value;

/// Array elements that occupy no bits are not limited by the packet's size: by this number per packet instead.
pub(crate) const MOST_EMPTY_ELEMENTS: u64 = 1 << 20;

/// Why decoding could not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error(
        "a field of {needed} bits does not fit into the {left} bits that are left of the packet's content"
    )]
    OutOfBits { needed: u64, left: u64 },
    #[error("a string has no end before the end of the packet's content")]
    EndlessString,
    #[error("no event class has the id {id}")]
    UnknownEvent { id: u64 },
    #[error("the selector of a variant is {value}, for which no option is declared")]
    NoOption { value: i128 },
    #[error("two fields of different byte order meet inside a byte")]
    MixedByteOrder,
    #[error("a variable-length integer is longer than 64 bits")]
    OversizedInteger,
    #[error("more than {MOST_EMPTY_ELEMENTS} array elements of the packet have no bits at all")]
    TooManyEmptyElements,
    #[error("an event occupies no bits")]
    EmptyEvent,
}

/// What the packet header, the packet context or an event header reported the format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) magic: Option<u64>,
    pub(crate) stream_class_id: Option<u64>,
    pub(crate) stream_instance_id: Option<u64>,
    pub(crate) packet_size: Option<u64>,
    pub(crate) content_size: Option<u64>,
    pub(crate) timestamp_begin: Option<u64>,
    pub(crate) timestamp_end: Option<u64>,
    pub(crate) events_discarded: Option<u64>,
    pub(crate) packet_sequence: Option<u64>,
    pub(crate) event_id: Option<u64>,
}

/// The registers of a decoder: what was decoded and is still needed.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    pub(crate) slots: Vec<u64>,
    pub(crate) clock: u64,
    /// How many more array elements of no size this packet may have.
    empty_elements: u64,
}

impl Registers {
    pub(crate) fn new(slots: u32) -> Registers {
        Registers {
            slots: vec![0; slots as usize],
            clock: 0,
            empty_elements: MOST_EMPTY_ELEMENTS,
        }
    }

    /// Forgets what the event before left in these slots.
    #[inline]
    pub(crate) fn begin_event(&mut self, slots: std::ops::Range<usize>) {
        if let Some(slots) = self.slots.get_mut(slots) {
            slots.fill(0);
        }
    }

    /// Grants the elements of no size that a packet may have.
    pub(crate) fn begin_packet(&mut self) {
        self.empty_elements = MOST_EMPTY_ELEMENTS;
    }

    /// An array element had no bits.
    #[cold]
    pub(crate) fn pass_empty_element(&mut self) -> Result<(), DecodeError> {
        self.empty_elements = self
            .empty_elements
            .checked_sub(1)
            .ok_or(DecodeError::TooManyEmptyElements)?;
        Ok(())
    }

    #[inline]
    pub(crate) fn save(&mut self, slot: Slot, value: u64) {
        if let Some(register) = self.slots.get_mut(slot.0 as usize) {
            *register = value;
        }
    }

    #[inline]
    pub(crate) fn load(&self, slot: Slot) -> u64 {
        self.slots.get(slot.0 as usize).copied().unwrap_or(0)
    }

    /// A partial timestamp of `size` bits moves the clock forward, by less than 2^size.
    #[inline]
    pub(crate) fn advance_clock(&mut self, value: u64, size: u32) {
        self.clock = updated_clock(self.clock, value, size);
    }
}

/// A position in one packet, with everything that reading from there needs and changes.
pub(crate) struct Reader<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) position: u64,
    /// End of the packet's content, in bits; never beyond the data.
    pub(crate) end: u64,
    pub(crate) registers: &'a mut Registers,
    pub(crate) roles: &'a mut Roles,
    /// Byte order of the last bit field: the next one must have the same if it starts inside a byte.
    last_order: Option<ByteOrder>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        data: &'a [u8],
        position: u64,
        end: u64,
        registers: &'a mut Registers,
        roles: &'a mut Roles,
    ) -> Reader<'a> {
        Reader {
            data,
            position,
            end,
            registers,
            roles,
            last_order: None,
        }
    }

    pub(crate) fn structure(&mut self, class: &Struct) -> Result<Value, DecodeError> {
        self.align(class.align);
        let mut members = Vec::with_capacity(class.members.len());
        for member in &class.members {
            members.push(self.field(&member.class)?);
        }
        Ok(Value::Struct(members))
    }

    pub(crate) fn field(&mut self, class: &FieldClass) -> Result<Value, DecodeError> {
        Ok(match class {
            FieldClass::Integer(integer) => self.integer(integer)?,
            FieldClass::Float(bits) => Value::Float(float(self.bits(bits)?, bits.size)),
            FieldClass::Boolean { bits, slot } => {
                let value = self.bits(bits)? != 0;
                if let Some(slot) = slot {
                    self.registers.save(*slot, u64::from(value));
                }
                Value::Boolean(value)
            }
            FieldClass::BitArray(bits) | FieldClass::BitMap { bits, .. } => {
                Value::Bits(self.bits(bits)?)
            }
            FieldClass::String { encoding } => Value::Text(self.string(*encoding)?),
            FieldClass::Text { length, encoding } => {
                Value::Text(text::to_utf8(self.bytes(*length)?, *encoding))
            }
            FieldClass::Blob { length, .. } => Value::Blob(self.bytes(*length)?.to_vec()),
            FieldClass::Struct(structure) => self.structure(structure)?,
            FieldClass::Array {
                length,
                align,
                element,
            } => self.array(*length, *align, element)?,
            FieldClass::Optional {
                selector,
                selector_signed,
                ranges,
                class,
            } => {
                let raw = self.registers.load(*selector);
                let value = match is_present(raw, *selector_signed, ranges.as_deref()) {
                    true => Some(Box::new(self.field(class)?)),
                    false => None,
                };
                Value::Optional(value)
            }
            FieldClass::Variant {
                selector,
                selector_signed,
                options,
            } => {
                let value = with_sign(self.registers.load(*selector), *selector_signed);
                let chosen = options
                    .iter()
                    .position(|option| Range::any(&option.ranges, value));
                let chosen = chosen.ok_or(DecodeError::NoOption { value })?;
                Value::Variant(chosen, Box::new(self.field(&options[chosen].class)?))
            }
        })
    }

    fn integer(&mut self, class: &Integer) -> Result<Value, DecodeError> {
        let (raw, size) = match class.form {
            IntegerForm::Fixed(bits) => {
                let raw = match (self.bits(&bits)?, class.signed) {
                    (raw, true) => sign_extend(raw, bits.size),
                    (raw, false) => raw,
                };
                (raw, u32::from(bits.size))
            }
            IntegerForm::Variable => self.leb128(class.signed)?,
        };
        if let Some(slot) = class.slot {
            self.registers.save(slot, raw);
        }
        if class.updates_clock {
            self.registers.advance_clock(raw, size);
        }
        if let Some(role) = class.role {
            self.roles.note(role, raw);
        }
        Ok(if class.signed {
            Value::Signed(raw as i64)
        } else {
            Value::Unsigned(raw)
        })
    }

    fn array(
        &mut self,
        length: Length,
        align: u32,
        element: &FieldClass,
    ) -> Result<Value, DecodeError> {
        self.align(align);
        let length = self.length(length);
        let left = self.end.saturating_sub(self.position);
        admit(length, least_size(element), left)?;
        let mut elements = Vec::new();
        for _ in 0..length {
            let begin = self.position;
            elements.push(self.field(element)?);
            if self.position == begin {
                self.registers.pass_empty_element()?;
            }
        }
        Ok(Value::Array(elements))
    }

    fn align(&mut self, align: u32) {
        self.position = align_up(self.position, u64::from(align.max(1)));
    }

    fn length(&self, length: Length) -> u64 {
        length.of(|slot| self.registers.load(slot))
    }

    fn need(&self, bits: u64) -> Result<(), DecodeError> {
        let left = self.end.saturating_sub(self.position);
        if bits > left {
            Err(DecodeError::OutOfBits { needed: bits, left })
        } else {
            Ok(())
        }
    }

    fn bits(&mut self, field: &BitField) -> Result<u64, DecodeError> {
        self.align(field.align);
        self.need(u64::from(field.size))?;
        if !self.position.is_multiple_of(8)
            && self.last_order.is_some_and(|order| order != field.order)
        {
            return Err(DecodeError::MixedByteOrder);
        }
        self.last_order = Some(field.order);
        let value = Codec::new(*field, false).read(self.data, self.position);
        self.position += u64::from(field.size);
        Ok(value)
    }

    fn bytes(&mut self, length: Length) -> Result<&'a [u8], DecodeError> {
        self.align(8);
        let length = self.length(length);
        self.need(length.saturating_mul(8))?;
        let start = (self.position / 8) as usize;
        self.position += length * 8;
        Ok(self
            .data
            .get(start..start + length as usize)
            .unwrap_or_default())
    }

    fn string(&mut self, encoding: Encoding) -> Result<Vec<u8>, DecodeError> {
        self.align(8);
        let start = (self.position / 8) as usize;
        let end = (self.end / 8) as usize;
        let rest = self.data.get(start..end).unwrap_or_default();
        let length = length_before_nul(rest, encoding).ok_or(DecodeError::EndlessString)?;
        self.position += (length + encoding.unit()) as u64 * 8;
        Ok(text::to_utf8(&rest[..length], encoding))
    }

    /// The value and the number of bits that it can carry, for the clock.
    fn leb128(&mut self, signed: bool) -> Result<(u64, u32), DecodeError> {
        self.align(8);
        self.need(8)?;
        let start = (self.position / 8) as usize;
        let end = (self.end / 8) as usize;
        let (value, length) = leb128(self.data.get(start..end).unwrap_or_default(), signed)?;
        self.position += length as u64 * 8;
        Ok((value, (7 * length as u32).min(64)))
    }
}

impl Roles {
    pub(crate) fn note(&mut self, role: Role, value: u64) {
        let place = match role {
            Role::PacketMagic => &mut self.magic,
            Role::StreamClassId => &mut self.stream_class_id,
            Role::StreamInstanceId => &mut self.stream_instance_id,
            Role::PacketSize => &mut self.packet_size,
            Role::ContentSize => &mut self.content_size,
            Role::TimestampBegin => &mut self.timestamp_begin,
            Role::TimestampEnd => &mut self.timestamp_end,
            Role::EventsDiscarded => &mut self.events_discarded,
            Role::PacketSequence => &mut self.packet_sequence,
            Role::EventId => &mut self.event_id,
            Role::Timestamp => return,
        };
        *place = Some(value);
    }
}

/// Whether an optional field is there, by what its selector holds.
#[inline]
pub(crate) fn is_present(raw: u64, signed: bool, ranges: Option<&[Range]>) -> bool {
    ranges.map_or(raw != 0, |ranges| {
        Range::any(ranges, with_sign(raw, signed))
    })
}

pub(crate) fn float(raw: u64, size: u8) -> f64 {
    if size == 32 {
        crate::value::widen(raw as u32)
    } else {
        f64::from_bits(raw)
    }
}

/// The value at the start of these bytes and how many of them it takes.
#[inline]
pub(crate) fn leb128(bytes: &[u8], signed: bool) -> Result<(u64, usize), DecodeError> {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(10).enumerate() {
        if i == 9 {
            let fits = if signed {
                byte == 0 || byte == 0x7f
            } else {
                byte == 1
            };
            if !fits {
                return Err(DecodeError::OversizedInteger);
            }
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            let bits = 7 * (i as u8 + 1);
            if signed && byte & 0x40 != 0 && bits < 64 {
                value = sign_extend(value, bits);
            }
            return Ok((value, i + 1));
        }
    }
    if bytes.len() >= 10 {
        Err(DecodeError::OversizedInteger)
    } else {
        let left = bytes.len() as u64 * 8;
        Err(DecodeError::OutOfBits {
            needed: left + 8,
            left,
        })
    }
}

/// Whether `length` elements of at least `least` bits each can be in the `left` bits of the packet. The file's
/// number decides nothing before this is known.
pub(crate) fn admit(length: u64, least: u64, left: u64) -> Result<(), DecodeError> {
    let needed = length.saturating_mul(least);
    if needed > left {
        return Err(DecodeError::OutOfBits { needed, left });
    }
    Ok(())
}

/// The fewest bits that a value of this class can occupy, for bounding array lengths.
pub(crate) fn least_size(class: &FieldClass) -> u64 {
    let unknown = |_| 0;
    match class {
        FieldClass::Integer(_) => class.bits().map_or(8, |bits| u64::from(bits.size)),
        FieldClass::String { encoding } => encoding.unit() as u64 * 8,
        FieldClass::Text { length, .. } | FieldClass::Blob { length, .. } => {
            length.of(unknown).saturating_mul(8)
        }
        FieldClass::Struct(structure) => (structure.members.iter())
            .map(|member| least_size(&member.class))
            .fold(0, u64::saturating_add),
        FieldClass::Array {
            length, element, ..
        } => length.of(unknown).saturating_mul(least_size(element)),
        FieldClass::Variant { options, .. } => {
            let least = options.iter().map(|option| least_size(&option.class));
            least.min().unwrap_or(0)
        }
        _ => class.bits().map_or(0, |bits| u64::from(bits.size)),
    }
}

/// Bytes before the first NUL code unit, if there is one.
#[inline]
pub(crate) fn length_before_nul(bytes: &[u8], encoding: Encoding) -> Option<usize> {
    match encoding.unit() {
        1 => memchr::memchr(0, bytes),
        unit => bytes
            .chunks_exact(unit)
            .position(|c| c.iter().all(|&b| b == 0))
            .map(|at| at * unit),
    }
}
