//! Following a layout through the data of one event.
//!
//! Two results come out: where the event ends and, if wanted, where its anchors are. With the anchors every leaf
//! can be read in any order.

use super::bits::{Codec, align_up};
use super::decode::{
    DecodeError, Reader, Registers, Roles, admit, float, is_present, leb128, length_before_nul,
};
use super::{Block, Layout, Leaf, LeafType, Scope, Step};
use crate::schema::{Range, with_sign};
use crate::value::Value;

/// One packet's bytes and where its content ends, in bits; the end is never beyond the bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketContent<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) end: u64,
}

impl Layout {
    /// Where the event ends whose body begins at `position`. Anchors are appended to `anchors`, the first being
    /// the body's own position.
    #[inline]
    pub(crate) fn follow(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
        anchors: &mut Vec<u64>,
    ) -> Result<u64, DecodeError> {
        anchors.push(position);
        if let Some(size) = self.constant {
            return within(position, size, content.end);
        }
        registers.begin_event(self.slots.clone());
        if self.irregular {
            return self.follow_field_by_field(content, position, registers);
        }
        self.block
            .run::<true>(content, position, registers, anchors)
    }

    #[cold]
    fn follow_field_by_field(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
    ) -> Result<u64, DecodeError> {
        let mut roles = Roles::default();
        let mut reader = Reader::new(content.data, position, content.end, registers, &mut roles);
        for (_, structure) in &self.scopes {
            reader.structure(structure)?;
        }
        // Padding alone can lead behind the end.
        within(reader.position, 0, content.end)
    }

    /// All scopes of the event, field by field.
    pub(crate) fn values(
        &self,
        content: PacketContent<'_>,
        position: u64,
        registers: &mut Registers,
    ) -> Result<Vec<(Scope, Value)>, DecodeError> {
        registers.begin_event(self.slots.clone());
        registers.begin_packet();
        let mut roles = Roles::default();
        let mut reader = Reader::new(content.data, position, content.end, registers, &mut roles);
        self.scopes
            .iter()
            .map(|(scope, structure)| Ok((*scope, reader.structure(structure)?)))
            .collect()
    }
}

/// The end of something of known size, if it is within the content.
#[inline]
pub(crate) fn within(position: u64, size: u64, end: u64) -> Result<u64, DecodeError> {
    let behind = position.saturating_add(size);
    if behind > end {
        return Err(DecodeError::OutOfBits {
            needed: size,
            left: end.saturating_sub(position),
        });
    }
    Ok(behind)
}

impl Block {
    fn run<const RECORD: bool>(
        &self,
        content: PacketContent<'_>,
        mut position: u64,
        registers: &mut Registers,
        anchors: &mut Vec<u64>,
    ) -> Result<u64, DecodeError> {
        for step in &self.steps {
            match step {
                Step::Save {
                    offset,
                    codec,
                    slot,
                    boolean,
                } => {
                    let at = position.saturating_add(*offset);
                    within(at, u64::from(codec.size), content.end)?;
                    let value = match (codec.read(content.data, at), *boolean) {
                        (value, true) => u64::from(value != 0),
                        (value, false) => value,
                    };
                    registers.save(*slot, value);
                    continue;
                }
                Step::Clock { offset, codec } => {
                    let at = position.saturating_add(*offset);
                    within(at, u64::from(codec.size), content.end)?;
                    registers.advance_clock(codec.read(content.data, at), u32::from(codec.size));
                    continue;
                }
                Step::Mixed => return Err(DecodeError::MixedByteOrder),
                Step::Align { skip, align } => {
                    position = align_up(within(position, *skip, content.end)?, *align);
                }
                Step::String { skip, encoding } => {
                    position = within(position, *skip, content.end)?;
                    let rest = rest(content, position);
                    let length =
                        length_before_nul(rest, *encoding).ok_or(DecodeError::EndlessString)?;
                    position += (length + encoding.unit()) as u64 * 8;
                }
                Step::Variable {
                    skip,
                    signed,
                    slot,
                    clock,
                } => {
                    position = within(position, *skip, content.end)?;
                    let (value, length) = leb128(rest(content, position), *signed)?;
                    position += length as u64 * 8;
                    if let Some(slot) = slot {
                        registers.save(*slot, value);
                    }
                    if *clock {
                        registers.advance_clock(value, (7 * length as u32).min(64));
                    }
                }
                Step::Run {
                    skip,
                    length,
                    stride,
                } => {
                    position = within(position, *skip, content.end)?;
                    let size = registers.load(*length).saturating_mul(*stride);
                    position = within(position, size, content.end)?;
                }
                Step::Loop {
                    skip,
                    length,
                    least,
                    element,
                } => {
                    position = within(position, *skip, content.end)?;
                    let length = length.of(|slot| registers.load(slot));
                    admit(length, *least, content.end - position)?;
                    for _ in 0..length {
                        let begin = position;
                        position = element.run::<false>(content, position, registers, anchors)?;
                        if position == begin {
                            registers.pass_empty_element()?;
                        }
                    }
                }
                Step::Variant {
                    skip,
                    selector,
                    signed,
                    options,
                } => {
                    position = within(position, *skip, content.end)?;
                    let value = with_sign(registers.load(*selector), *signed);
                    let (_, block) = options
                        .iter()
                        .find(|(ranges, _)| Range::any(ranges, value))
                        .ok_or(DecodeError::NoOption { value })?;
                    position = block.run::<false>(content, position, registers, anchors)?;
                }
                Step::Optional {
                    skip,
                    selector,
                    signed,
                    ranges,
                    block,
                } => {
                    position = within(position, *skip, content.end)?;
                    if is_present(registers.load(*selector), *signed, ranges.as_deref()) {
                        position = block.run::<false>(content, position, registers, anchors)?;
                    }
                }
            }
            if RECORD {
                anchors.push(position);
            }
        }
        within(position, self.tail, content.end)
    }
}

#[inline]
fn rest(content: PacketContent<'_>, position: u64) -> &[u8] {
    content
        .data
        .get((position / 8) as usize..(content.end / 8) as usize)
        .unwrap_or_default()
}

/// A leaf's raw content.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Raw<'a> {
    /// Sign-extended to 64 bits if the class is signed. Booleans are their bits: true unless 0.
    Number(u64),
    Float(f64),
    /// The bytes of a string, text or BLOB, cut before the first NUL for texts; not yet converted to UTF-8.
    Bytes(&'a [u8]),
    /// Numbers or floats, to be read one by one.
    List(List<'a>),
    /// Decode the event field by field.
    Nested,
}

/// The elements of an array or sequence of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct List<'a> {
    data: &'a [u8],
    position: u64,
    stride: u64,
    count: u64,
    codec: Codec,
}

impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        self.count as usize
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The raw numbers; for floats their bits.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u64> + 'a {
        // An ExactSizeIterator over usize: the count was compared with the packet's size.
        (0..self.count as usize).map(move |i| {
            self.codec
                .read(self.data, self.position + i as u64 * self.stride)
        })
    }
}

impl Leaf {
    /// The number that the leaf is; nothing if it is none.
    #[inline]
    pub(crate) fn number(&self, data: &[u8], anchors: &[u64]) -> Option<u64> {
        match self.shape {
            LeafType::Number(codec) => {
                let anchor = *anchors.get(self.place.anchor as usize)?;
                Some(codec.read(data, anchor + self.place.offset))
            }
            _ => match self.read(data, anchors) {
                Raw::Number(number) => Some(number),
                _ => None,
            },
        }
    }

    /// Reads the leaf of an event that was followed before, so that everything is known to be inside the content.
    #[inline]
    pub(crate) fn read<'a>(&self, data: &'a [u8], anchors: &[u64]) -> Raw<'a> {
        let Some(&anchor) = anchors.get(self.place.anchor as usize) else {
            return Raw::Nested;
        };
        let position = anchor + self.place.offset;
        let behind = || {
            anchors
                .get(self.place.anchor as usize + 1)
                .copied()
                .unwrap_or(position)
        };
        let bytes = |end: u64| {
            data.get((position / 8) as usize..(end / 8) as usize)
                .unwrap_or_default()
        };
        match self.shape {
            LeafType::Number(codec) => Raw::Number(codec.read(data, position)),
            LeafType::Float(codec) => Raw::Float(float(codec.read(data, position), codec.size)),
            LeafType::Variable { signed } => {
                Raw::Number(leb128(bytes(behind()), signed).map_or(0, |(value, _)| value))
            }
            LeafType::String(encoding) => {
                Raw::Bytes(bytes(behind().saturating_sub(encoding.unit() as u64 * 8)))
            }
            LeafType::Text { fixed, encoding } => {
                let text = bytes(fixed.map_or_else(behind, |length| position + length * 8));
                Raw::Bytes(&text[..length_before_nul(text, encoding).unwrap_or(text.len())])
            }
            LeafType::Blob { fixed } => Raw::Bytes(bytes(
                fixed.map_or_else(behind, |length| position + length * 8),
            )),
            LeafType::List {
                fixed,
                stride,
                codec,
                ..
            } => {
                let count = fixed.unwrap_or_else(|| (behind() - position) / stride);
                Raw::List(List {
                    data,
                    position,
                    stride,
                    count,
                    codec,
                })
            }
            LeafType::Nested => Raw::Nested,
        }
    }
}
