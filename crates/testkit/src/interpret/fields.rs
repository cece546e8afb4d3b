//! Turns bits into values: one function per kind of field.

use std::collections::HashMap;

use super::naive_bits::NaiveBits;
use super::stop::StopReason;
use super::{PacketRoles, minimum_bits};
use rostrace_ctf::schema::updated_clock;
use rostrace_ctf::schema::{
    BitField, Encoding, FieldClass, Integer, IntegerForm, Length, Range, Role, Slot, Struct,
};
use rostrace_ctf::text;
use rostrace_ctf::value::{Value, widen};

/// So many array elements of one packet may have no bits: they cost time and memory that no data pay for.
const EMPTY_ELEMENT_LIMIT: u64 = 1 << 20;

/// The cursor, and everything that decoding a field leaves behind for later fields.
#[derive(Debug)]
pub(super) struct Fields<'d> {
    pub(super) bits: NaiveBits<'d>,
    pub(super) clock: u64,
    pub(super) roles: PacketRoles,
    /// Of the event that is being read; the last one decoded wins.
    pub(super) event_id: Option<u64>,
    /// A slot that nothing was left in reads 0.
    slots: HashMap<Slot, u64>,
    /// What the packet's headers left in the slots: the state in which each event begins.
    packet_slots: HashMap<Slot, u64>,
    empty_elements: u64,
}

impl<'d> Fields<'d> {
    pub(super) fn new(data: &'d [u8], clock: u64) -> Fields<'d> {
        Fields {
            bits: NaiveBits::new(data),
            clock,
            roles: PacketRoles::default(),
            event_id: None,
            slots: HashMap::new(),
            packet_slots: HashMap::new(),
            empty_elements: 0,
        }
    }

    pub(super) fn keep_packet_slots(&mut self) {
        self.packet_slots = self.slots.clone();
        self.empty_elements = 0;
    }

    /// Forgets what the event before left behind.
    pub(super) fn begin_event(&mut self) {
        self.slots = self.packet_slots.clone();
        self.event_id = None;
        // Whether byte orders fit is asked within a header and within what follows it, not from event to event.
        self.bits.forget_order();
    }

    pub(super) fn scope(&mut self, scope: Option<&Struct>) -> Result<Option<Value>, StopReason> {
        scope.map(|scope| self.structure(scope)).transpose()
    }

    fn structure(&mut self, structure: &Struct) -> Result<Value, StopReason> {
        self.bits.align(structure.align)?;
        (structure.members.iter())
            .map(|member| self.field(&member.class))
            .collect::<Result<_, _>>()
            .map(Value::Struct)
    }

    fn field(&mut self, class: &FieldClass) -> Result<Value, StopReason> {
        match class {
            FieldClass::Integer(integer) => self.integer(integer),
            FieldClass::Float(bits) => self.float(*bits),
            FieldClass::Boolean { bits, slot } => {
                let value = self.bits.field(*bits)? != 0;
                self.leave(*slot, u64::from(value));
                Ok(Value::Boolean(value))
            }
            FieldClass::BitArray(bits) | FieldClass::BitMap { bits, .. } => {
                self.bits.field(*bits).map(Value::Bits)
            }
            FieldClass::String { encoding } => self.string(*encoding),
            FieldClass::Text { length, encoding } => {
                let bytes = self.bytes(*length)?;
                Ok(Value::Text(text::to_utf8(&bytes, *encoding)))
            }
            FieldClass::Blob { length, .. } => self.bytes(*length).map(Value::Blob),
            FieldClass::Struct(structure) => self.structure(structure),
            FieldClass::Array {
                length,
                align,
                element,
            } => self.array(*length, *align, element),
            FieldClass::Optional {
                selector,
                selector_signed,
                ranges,
                class,
            } => {
                let value = self.selector(*selector, *selector_signed);
                let present = match ranges {
                    Some(ranges) => contains(ranges, value),
                    None => value != 0,
                };
                let value = present.then(|| self.field(class)).transpose()?;
                Ok(Value::Optional(value.map(Box::new)))
            }
            FieldClass::Variant {
                selector,
                selector_signed,
                options,
            } => {
                let selector = self.selector(*selector, *selector_signed);
                let index = (options.iter())
                    .position(|option| contains(&option.ranges, selector))
                    .ok_or(StopReason::VariantWithoutOption { selector })?;
                let value = self.field(&options[index].class)?;
                Ok(Value::variant(index, value))
            }
        }
    }

    fn integer(&mut self, integer: &Integer) -> Result<Value, StopReason> {
        let (raw, size) = match integer.form {
            IntegerForm::Fixed(bits) => {
                let raw = self.bits.field(bits)?;
                let size = u32::from(bits.size);
                let raw = if integer.signed {
                    sign_extended(raw, size)
                } else {
                    raw
                };
                (raw, size)
            }
            IntegerForm::Variable => self.leb128(integer.signed)?,
        };
        if integer.updates_clock {
            self.clock = updated_clock(self.clock, raw, size);
        }
        if let Some(role) = integer.role {
            self.take_role(role, raw);
        }
        self.leave(integer.slot, raw);
        Ok(if integer.signed {
            Value::Signed(raw as i64)
        } else {
            Value::Unsigned(raw)
        })
    }

    /// The value, signed ones extended to 64 bits, and the number of bits that the encoding carried.
    fn leb128(&mut self, signed: bool) -> Result<(u64, u32), StopReason> {
        self.bits.align(8)?;
        let mut value = 0u64;
        for index in 0..10u32 {
            let byte = self.bits.byte()?;
            if index == 9 {
                let allowed: &[u8] = if signed { &[0x00, 0x7F] } else { &[0x01] };
                if !allowed.contains(&byte) {
                    return Err(StopReason::Leb128TooLong);
                }
            }
            value |= u64::from(byte & 0x7F) << (7 * index);
            if byte & 0x80 == 0 {
                let carried = (7 * (index + 1)).min(64);
                let value = if signed {
                    sign_extended(value, carried)
                } else {
                    value
                };
                return Ok((value, carried));
            }
        }
        Err(StopReason::Leb128TooLong)
    }

    fn float(&mut self, bits: BitField) -> Result<Value, StopReason> {
        match bits.size {
            32 => Ok(Value::Float(widen(self.bits.field(bits)? as u32))),
            64 => Ok(Value::Float(f64::from_bits(self.bits.field(bits)?))),
            size => Err(StopReason::UnsupportedSize { size }),
        }
    }

    fn string(&mut self, encoding: Encoding) -> Result<Value, StopReason> {
        self.bits.align(8)?;
        let mut bytes = Vec::new();
        loop {
            let mut all_zero = true;
            for _ in 0..encoding.unit() {
                let byte = self.bits.byte().map_err(|_| StopReason::TextWithoutEnd)?;
                all_zero &= byte == 0;
                bytes.push(byte);
            }
            if all_zero {
                return Ok(Value::Text(text::to_utf8(&bytes, encoding)));
            }
        }
    }

    fn bytes(&mut self, length: Length) -> Result<Vec<u8>, StopReason> {
        self.bits.align(8)?;
        let length = self.length(length);
        let available = self.bits.remaining();
        if length > available / 8 {
            return Err(StopReason::AbsurdLength { length, available });
        }
        (0..length).map(|_| self.bits.byte()).collect()
    }

    fn array(
        &mut self,
        length: Length,
        align: u32,
        element: &FieldClass,
    ) -> Result<Value, StopReason> {
        self.bits.align(align)?;
        let length = self.length(length);
        let available = self.bits.remaining();
        if length.saturating_mul(minimum_bits(element)) > available {
            return Err(StopReason::AbsurdLength { length, available });
        }
        let mut elements = Vec::new();
        for _ in 0..length {
            let begin = self.bits.position();
            elements.push(self.field(element)?);
            if self.bits.position() == begin {
                self.empty_elements += 1;
                if self.empty_elements > EMPTY_ELEMENT_LIMIT {
                    return Err(StopReason::TooManyEmptyElements {
                        limit: EMPTY_ELEMENT_LIMIT,
                    });
                }
            }
        }
        Ok(Value::Array(elements))
    }

    fn length(&self, length: Length) -> u64 {
        match length {
            Length::Fixed(length) => length,
            Length::Slot(slot) => self.read_slot(slot),
        }
    }

    fn selector(&self, slot: Slot, signed: bool) -> i128 {
        let value = self.read_slot(slot);
        if signed {
            i128::from(value as i64)
        } else {
            i128::from(value)
        }
    }

    fn read_slot(&self, slot: Slot) -> u64 {
        self.slots.get(&slot).copied().unwrap_or(0)
    }

    fn leave(&mut self, slot: Option<Slot>, value: u64) {
        if let Some(slot) = slot {
            self.slots.insert(slot, value);
        }
    }

    fn take_role(&mut self, role: Role, value: u64) {
        let place = match role {
            Role::PacketMagic => &mut self.roles.magic,
            Role::StreamClassId => &mut self.roles.stream_class_id,
            Role::StreamInstanceId => &mut self.roles.stream_instance_id,
            Role::PacketSize => &mut self.roles.packet_size,
            Role::ContentSize => &mut self.roles.content_size,
            Role::TimestampBegin => &mut self.roles.timestamp_begin,
            Role::TimestampEnd => &mut self.roles.timestamp_end,
            Role::EventsDiscarded => &mut self.roles.events_discarded,
            Role::PacketSequence => &mut self.roles.sequence,
            Role::EventId => &mut self.event_id,
            // Its only effect is that it updates the clock.
            Role::Timestamp => return,
        };
        *place = Some(value);
    }
}

fn contains(ranges: &[Range], value: i128) -> bool {
    ranges.iter().any(|range| range.contains(value))
}

/// `value` has `size` bits in two's complement.
fn sign_extended(value: u64, size: u32) -> u64 {
    match size {
        1..64 if value >> (size - 1) & 1 == 1 => value | u64::MAX << size,
        _ => value,
    }
}
