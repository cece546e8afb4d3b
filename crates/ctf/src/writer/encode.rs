//! Encodes a tree of values as its class says: the inverse of decoding, for all classes of CTF 1.8 and CTF 2.
//!
//! Lengths and selectors are members like others, so a tree can contradict itself (a length of 3 before an array of
//! 4 elements). That is an error here: no reader could make sense of the bytes.

use super::bits::{BitWriter, Mark};
use super::error::{Problem, WriteError};
use crate::layout::decode::is_present;
use crate::schema::{
    Encoding, FieldClass, Integer, IntegerForm, Length, Range, Role, Slot, Struct, VariantOption,
    updated_clock, with_sign,
};
use crate::text;
use crate::value::{Value, narrow};

/// The packet that is being written, and what a reader would know at this point of it.
#[derive(Debug, Clone)]
pub(super) struct Encoder {
    bits: BitWriter,
    slots: Vec<u64>,
    /// What the reader's clock shows.
    pub(super) clock: u64,
    /// Where fields with a role lie that can be overwritten later; filled while `patchable`.
    places: Vec<RoleField>,
    /// Integers of variable length that have a role are written in a form that leaves room for other values.
    pub(super) patchable: bool,
}

/// Where a field with a role was written.
#[derive(Debug, Clone, Copy)]
struct RoleField {
    role: Role,
    position: u64,
    form: IntegerForm,
}

/// A state of an [`Encoder`] that it can go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checkpoint {
    mark: Mark,
    clock: u64,
}

/// A variable-length integer that is overwritten later has so many bytes: room for 63 bits. A tenth byte
/// may not be redundant.
const PATCHABLE_LEB128_BYTES: usize = 9;

impl Encoder {
    /// An empty packet. `slots` is the schema's number of slots, `clock` the stream's clock before the packet.
    pub(super) fn new(slots: u32, clock: u64) -> Encoder {
        Encoder {
            bits: BitWriter::new(),
            slots: vec![0; slots as usize],
            clock,
            places: Vec::new(),
            patchable: false,
        }
    }

    /// In bits, from the beginning of the packet.
    pub(super) fn position(&self) -> u64 {
        self.bits.position()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bits.into_bytes()
    }

    pub(super) fn align(&mut self, alignment: u32) {
        self.bits.align(alignment);
    }

    /// Makes room for so many more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bits.reserve(bytes);
    }

    /// Whole bytes that need no encoding.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.bits.extend(bytes);
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            mark: self.bits.mark(),
            clock: self.clock,
        }
    }

    /// Forgets everything that was encoded after the checkpoint; what it left in slots stays there.
    pub(super) fn go_back_to(&mut self, checkpoint: Checkpoint) {
        self.bits.go_back_to(checkpoint.mark);
        self.clock = checkpoint.clock;
    }

    pub(super) fn slots(&self) -> &[u64] {
        &self.slots
    }

    pub(super) fn set_slots(&mut self, slots: &[u64]) {
        self.slots.copy_from_slice(slots);
    }

    /// Whether a field with this role can be overwritten.
    pub(super) fn has_place(&self, role: Role) -> bool {
        self.places.iter().any(|place| place.role == role)
    }

    /// Overwrites all fields with this role that were written while `patchable`.
    pub(super) fn patch(&mut self, role: Role, value: u64) -> Result<(), Problem> {
        for place in self.places.iter().filter(|place| place.role == role) {
            match place.form {
                IntegerForm::Fixed(bits) => self.bits.patch(place.position, bits, value)?,
                IntegerForm::Variable => {
                    let bytes = leb128(value, false, PATCHABLE_LEB128_BYTES);
                    if bytes.len() > PATCHABLE_LEB128_BYTES {
                        return Err(Problem::DoesNotFit {
                            value: value.into(),
                            size: 7 * PATCHABLE_LEB128_BYTES as u8,
                        });
                    }
                    self.bits.patch_bytes(place.position, &bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Encodes a structure. Errors say the way to the field that does not fit, beginning with `name`.
    pub(super) fn structure(
        &mut self,
        name: &str,
        structure: &Struct,
        value: &Value,
    ) -> Result<(), WriteError> {
        let Value::Struct(values) = value else {
            return Err(WriteError::at(name, other_kind("a structure", value)));
        };
        let (declared, found) = (structure.members.len(), values.len());
        if found != declared {
            return Err(WriteError::at(
                name,
                Problem::MemberCount { declared, found },
            ));
        }
        self.bits.align(structure.align);
        for (member, value) in structure.members.iter().zip(values) {
            self.member(&member.name, &member.class, value)
                .map_err(|error| error.inside(name))?;
        }
        Ok(())
    }

    fn member(&mut self, name: &str, class: &FieldClass, value: &Value) -> Result<(), WriteError> {
        let at = |problem| WriteError::at(name, problem);
        match (class, value) {
            (FieldClass::Struct(structure), value) => self.structure(name, structure, value),
            (
                FieldClass::Array {
                    length,
                    align,
                    element,
                },
                Value::Array(values),
            ) => {
                self.bits.align(*align);
                self.check_length(*length, values.len()).map_err(at)?;
                for (index, value) in values.iter().enumerate() {
                    self.member(&format!("{name}[{index}]"), element, value)?;
                }
                Ok(())
            }
            (
                FieldClass::Optional {
                    selector,
                    selector_signed,
                    ranges,
                    class,
                },
                Value::Optional(value),
            ) => {
                let ranges = ranges.as_deref();
                self.check_presence(*selector, *selector_signed, ranges, value.is_some())
                    .map_err(at)?;
                match value {
                    Some(value) => self.member(name, class, value),
                    None => Ok(()),
                }
            }
            (
                FieldClass::Variant {
                    selector,
                    selector_signed,
                    options,
                },
                Value::Variant(option, value),
            ) => {
                let class = self.checked_option(*selector, *selector_signed, options, *option);
                self.member(name, class.map_err(at)?, value)
            }
            (class, value) => self.leaf(class, value).map_err(at),
        }
    }

    /// A field that contains no others.
    fn leaf(&mut self, class: &FieldClass, value: &Value) -> Result<(), Problem> {
        match (class, value) {
            (FieldClass::Integer(integer), value) => self.integer(integer, value),
            (FieldClass::Float(bits), Value::Float(number)) => match bits.size {
                32 => {
                    let narrow = narrow(*number).ok_or(Problem::NeedsDoublePrecision)?;
                    self.bits.field(*bits, narrow.into()).map(drop)
                }
                64 => self.bits.field(*bits, number.to_bits()).map(drop),
                size => Err(Problem::UnsupportedSize { size }),
            },
            (FieldClass::Boolean { bits, slot }, Value::Boolean(value)) => {
                self.bits.field(*bits, u64::from(*value))?;
                self.leave(*slot, u64::from(*value))
            }
            (FieldClass::BitArray(bits) | FieldClass::BitMap { bits, .. }, Value::Bits(value)) => {
                self.bits.field(*bits, *value).map(drop)
            }
            (FieldClass::String { encoding }, Value::Text(text)) => {
                let mut bytes = encoded_text(text, *encoding)?;
                bytes.resize(bytes.len() + encoding.unit(), 0);
                self.bits.extend(&bytes);
                Ok(())
            }
            (FieldClass::Text { length, encoding }, Value::Text(text)) => {
                self.text(*length, *encoding, text)
            }
            (FieldClass::Blob { length, .. }, Value::Blob(bytes)) => {
                self.check_length(*length, bytes.len())?;
                self.bits.extend(bytes);
                Ok(())
            }
            (class, value) => Err(other_kind(expected_kind(class), value)),
        }
    }

    fn integer(&mut self, integer: &Integer, value: &Value) -> Result<(), Problem> {
        let raw = match value {
            Value::Unsigned(value) if !integer.signed => *value,
            Value::Signed(value) if integer.signed => *value as u64,
            value if integer.signed => return Err(other_kind("a signed integer", value)),
            value => return Err(other_kind("an unsigned integer", value)),
        };
        let keeps_place = self.patchable && integer.role.is_some();
        let (position, carried) = match integer.form {
            IntegerForm::Fixed(bits) => {
                let stored = match integer.signed {
                    true => twos_complement(raw as i64, bits.size)?,
                    false => raw,
                };
                (self.bits.field(bits, stored)?, u32::from(bits.size))
            }
            IntegerForm::Variable => {
                let least = if keeps_place {
                    PATCHABLE_LEB128_BYTES
                } else {
                    1
                };
                let bytes = leb128(raw, integer.signed, least);
                self.bits.align(8);
                let position = self.bits.position();
                self.bits.extend(&bytes);
                (position, (7 * bytes.len() as u32).min(64))
            }
        };
        if let Some(role) = integer.role.filter(|_| keeps_place) {
            self.places.push(RoleField {
                role,
                position,
                form: integer.form,
            });
        }
        if integer.updates_clock {
            self.clock = updated_clock(self.clock, raw, carried);
        }
        self.leave(integer.slot, raw)
    }

    fn text(&mut self, length: Length, encoding: Encoding, text: &[u8]) -> Result<(), Problem> {
        let available = self.length(length)?;
        let mut bytes = encoded_text(text, encoding)?;
        let too_long = Problem::TextTooLong {
            needed: bytes.len(),
            available,
        };
        let room = usize::try_from(available)
            .ok()
            .and_then(|available| available.checked_sub(bytes.len()))
            .ok_or(too_long.clone())?;
        // Less than a code unit of zeros would not end the text, but be an invalid part of it.
        if room != 0 && room < encoding.unit() {
            return Err(too_long);
        }
        bytes.resize(bytes.len() + room, 0);
        self.bits.extend(&bytes);
        Ok(())
    }

    fn check_length(&self, length: Length, found: usize) -> Result<(), Problem> {
        let declared = self.length(length)?;
        if declared != found as u64 {
            return Err(Problem::Length { declared, found });
        }
        Ok(())
    }

    fn check_presence(
        &self,
        selector: Slot,
        signed: bool,
        ranges: Option<&[Range]>,
        found: bool,
    ) -> Result<(), Problem> {
        let raw = self.read_slot(selector)?;
        let present = is_present(raw, signed, ranges);
        if present != found {
            let selector = with_sign(raw, signed);
            return Err(Problem::OtherPresence { selector, present });
        }
        Ok(())
    }

    fn checked_option<'c>(
        &self,
        selector: Slot,
        signed: bool,
        options: &'c [VariantOption],
        found: usize,
    ) -> Result<&'c FieldClass, Problem> {
        let selector = with_sign(self.read_slot(selector)?, signed);
        (options.iter().enumerate())
            .find(|(_, option)| Range::any(&option.ranges, selector))
            .filter(|(index, _)| *index == found)
            .map(|(_, option)| &option.class)
            .ok_or(Problem::OtherOption {
                selector,
                option: found,
            })
    }

    fn length(&self, length: Length) -> Result<u64, Problem> {
        match length {
            Length::Fixed(length) => Ok(length),
            Length::Slot(slot) => self.read_slot(slot),
        }
    }

    fn read_slot(&self, slot: Slot) -> Result<u64, Problem> {
        let value = self.slots.get(slot.0 as usize);
        value.copied().ok_or(self.no_such_slot(slot))
    }

    fn no_such_slot(&self, Slot(slot): Slot) -> Problem {
        let slots = self.slots.len();
        Problem::NoSuchSlot { slot, slots }
    }

    fn leave(&mut self, slot: Option<Slot>, value: u64) -> Result<(), Problem> {
        let Some(slot) = slot else {
            return Ok(());
        };
        let missing = self.no_such_slot(slot);
        *self.slots.get_mut(slot.0 as usize).ok_or(missing)? = value;
        Ok(())
    }
}

fn encoded_text(text: &[u8], encoding: Encoding) -> Result<Vec<u8>, Problem> {
    if text.contains(&0) {
        return Err(Problem::TextWithNul);
    }
    Ok(text::from_utf8(text, encoding))
}

fn twos_complement(value: i64, size: u8) -> Result<u64, Problem> {
    if size >= 64 {
        return Ok(value as u64);
    }
    let half = 1i64
        .checked_shl(u32::from(size).saturating_sub(1))
        .unwrap_or(1);
    if value < -half || value >= half {
        return Err(Problem::DoesNotFit {
            value: value.into(),
            size,
        });
    }
    Ok(value as u64 & ((1 << size) - 1))
}

/// LEB128 with at least `least` bytes; redundant groups repeat the sign.
fn leb128(value: u64, signed: bool, least: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = value;
    loop {
        let group = (rest & 0x7F) as u8;
        let done = if signed {
            rest = ((rest as i64) >> 7) as u64;
            (rest == 0 && group & 0x40 == 0) || (rest == u64::MAX && group & 0x40 != 0)
        } else {
            rest >>= 7;
            rest == 0
        };
        if done && bytes.len() + 1 >= least {
            bytes.push(group);
            return bytes;
        }
        bytes.push(group | 0x80);
    }
}

fn other_kind(expected: &'static str, found: &Value) -> Problem {
    Problem::OtherKind {
        expected,
        found: found.kind(),
    }
}

fn expected_kind(class: &FieldClass) -> &'static str {
    match class {
        FieldClass::Integer(integer) if integer.signed => "a signed integer",
        FieldClass::Integer(_) => "an unsigned integer",
        FieldClass::Float(_) => "a floating-point number",
        FieldClass::Boolean { .. } => "a boolean",
        FieldClass::BitArray(_) | FieldClass::BitMap { .. } => "bits",
        FieldClass::String { .. } | FieldClass::Text { .. } => "a text",
        FieldClass::Blob { .. } => "a BLOB",
        FieldClass::Struct(_) => "a structure",
        FieldClass::Array { .. } => "an array",
        FieldClass::Optional { .. } => "an optional value",
        FieldClass::Variant { .. } => "a variant",
    }
}

#[cfg(test)]
mod tests;
