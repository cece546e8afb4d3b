//! Appends bit fields of any size at any position: the inverse of what readers do.
//!
//! Little-endian fields fill each byte from bit 0 upwards, big-endian ones from bit 7 downwards.

use super::error::Problem;
use crate::schema::{BitField, ByteOrder};

/// A growing packet. Bits that nothing was written to are 0.
#[derive(Debug, Clone, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// In bits; `bytes` always ends with the byte that holds the last one.
    position: u64,
    /// Of the last bit field that was written.
    last_order: Option<ByteOrder>,
}

/// A state of a [`BitWriter`] that it can go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    position: u64,
    last_byte: u8,
    last_order: Option<ByteOrder>,
}

impl BitWriter {
    pub(super) fn new() -> BitWriter {
        BitWriter::default()
    }

    /// In bits, from the beginning of the packet.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Pads with zeros up to the next multiple of `alignment` bits.
    pub(super) fn align(&mut self, alignment: u32) {
        self.advance_to(self.position.next_multiple_of(alignment.max(1).into()));
    }

    /// Aligns, and appends a value that must fit in the field's size. Gives the field's first bit.
    pub(super) fn field(&mut self, bits: BitField, value: u64) -> Result<u64, Problem> {
        let value = in_bit_order(bits, value)?;
        self.align(bits.align);
        if !self.position.is_multiple_of(8)
            && self.last_order.is_some_and(|order| order != bits.order)
        {
            return Err(Problem::MixedByteOrder);
        }
        let begin = self.position;
        self.advance_to(begin + u64::from(bits.size));
        store(&mut self.bytes, begin, bits.size, bits.order, value);
        self.last_order = Some(bits.order);
        Ok(begin)
    }

    /// Appends whole bytes at the next byte boundary.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.align(8);
        self.bytes.extend_from_slice(bytes);
        self.position += bytes.len() as u64 * 8;
    }

    /// Makes room for so many more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    /// Overwrites a field that was written before, at the position that [`BitWriter::field`] gave.
    pub(super) fn patch(
        &mut self,
        position: u64,
        bits: BitField,
        value: u64,
    ) -> Result<(), Problem> {
        let value = in_bit_order(bits, value)?;
        if position + u64::from(bits.size) > self.position {
            return Err(Problem::NothingToPatch { position });
        }
        store(&mut self.bytes, position, bits.size, bits.order, value);
        Ok(())
    }

    /// Overwrites whole bytes that were written before.
    pub(super) fn patch_bytes(&mut self, position: u64, bytes: &[u8]) -> Result<(), Problem> {
        let begin = (position / 8) as usize;
        self.bytes
            .get_mut(begin..begin + bytes.len())
            .ok_or(Problem::NothingToPatch { position })?
            .copy_from_slice(bytes);
        Ok(())
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            position: self.position,
            last_byte: self.bytes.last().copied().unwrap_or(0),
            last_order: self.last_order,
        }
    }

    /// Forgets everything that was appended after the mark.
    pub(super) fn go_back_to(&mut self, mark: Mark) {
        if mark.position > self.position {
            return;
        }
        self.bytes.truncate(mark.position.div_ceil(8) as usize);
        if let Some(last) = self.bytes.last_mut() {
            *last = mark.last_byte;
        }
        self.position = mark.position;
        self.last_order = mark.last_order;
    }

    fn advance_to(&mut self, position: u64) {
        self.bytes.resize(position.div_ceil(8) as usize, 0);
        self.position = position;
    }
}

/// The value with its bits in the field's bit order, if it fits.
fn in_bit_order(bits: BitField, value: u64) -> Result<u64, Problem> {
    let size = u32::from(bits.size);
    if !(1..=64).contains(&size) {
        return Err(Problem::UnsupportedSize { size: bits.size });
    }
    if size < 64 && value >> size != 0 {
        return Err(Problem::DoesNotFit {
            value: value.into(),
            size: bits.size,
        });
    }
    Ok(match bits.reversed {
        true => value.reverse_bits() >> (64 - size),
        false => value,
    })
}

/// Overwrites `size` bits, all of which must be there.
fn store(bytes: &mut [u8], position: u64, size: u8, order: ByteOrder, value: u64) {
    let mut position = position;
    let mut left = u64::from(size);
    while left > 0 {
        let in_byte = position % 8;
        let count = left.min(8 - in_byte);
        let mask = (1u64 << count) - 1;
        let (part, shift) = match order {
            ByteOrder::Little => (value >> (u64::from(size) - left) & mask, in_byte),
            ByteOrder::Big => (value >> (left - count) & mask, 8 - in_byte - count),
        };
        let byte = &mut bytes[(position / 8) as usize];
        *byte = *byte & !((mask << shift) as u8) | (part << shift) as u8;
        position += count;
        left -= count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ByteOrder::{Big, Little};

    fn bits(size: u8, align: u32, order: ByteOrder) -> BitField {
        BitField::new(size, align, order)
    }

    fn packed(order: ByteOrder, fields: &[(u8, u64)]) -> Vec<u8> {
        let mut writer = BitWriter::new();
        for (size, value) in fields {
            writer.field(bits(*size, 1, order), *value).unwrap();
        }
        writer.into_bytes()
    }

    #[test]
    fn packed_members_of_odd_sizes() {
        let fields = [(3, 5), (5, 17), (9, 300), (15, 20000)];
        assert_eq!(packed(Little, &fields), [0x8D, 0x2C, 0x41, 0x9C]);
        assert_eq!(packed(Big, &fields), [0xB1, 0x96, 0x4E, 0x20]);
    }

    #[test]
    fn the_compact_event_header_of_lttng() {
        let fields = [(5, 3), (27, 0x123_4567)];
        assert_eq!(packed(Little, &fields), [0xE3, 0xAC, 0x68, 0x24]);
        assert_eq!(packed(Big, &fields), [0x19, 0x23, 0x45, 0x67]);
    }

    #[test]
    fn padding_is_zero() {
        let mut writer = BitWriter::new();
        writer.field(bits(8, 8, Little), 1).unwrap();
        writer.align(32);
        writer.field(bits(8, 8, Little), 2).unwrap();
        assert_eq!(writer.bytes, [1, 0, 0, 0, 2]);
    }

    #[test]
    fn a_patch_changes_nothing_beside_the_field() {
        for order in [Little, Big] {
            let mut writer = BitWriter::new();
            writer.field(bits(3, 1, order), 7).unwrap();
            let position = writer.field(bits(13, 1, order), 0x1FFF).unwrap();
            writer.field(bits(8, 1, order), 0xFF).unwrap();
            writer.patch(position, bits(13, 1, order), 0x0A5).unwrap();
            let mut expected = BitWriter::new();
            expected.field(bits(3, 1, order), 7).unwrap();
            expected.field(bits(13, 1, order), 0x0A5).unwrap();
            expected.field(bits(8, 1, order), 0xFF).unwrap();
            assert_eq!(writer.bytes, expected.bytes);
        }
    }

    #[test]
    fn going_back_leaves_no_trace() {
        let mut writer = BitWriter::new();
        writer.field(bits(3, 1, Little), 5).unwrap();
        let mark = writer.mark();
        writer.field(bits(64, 1, Little), u64::MAX).unwrap();
        writer.go_back_to(mark);
        writer.field(bits(5, 1, Little), 17).unwrap();
        assert_eq!(writer.bytes, [0x8D]);
    }

    #[test]
    fn values_that_do_not_fit_and_mixed_byte_orders_are_refused() {
        let mut writer = BitWriter::new();
        assert!(writer.field(bits(3, 1, Little), 8).is_err());
        assert_eq!(writer.position(), 0);
        writer.field(bits(3, 1, Little), 7).unwrap();
        let mixed = writer.field(bits(3, 1, Big), 0).unwrap_err();
        assert_eq!(mixed, Problem::MixedByteOrder);
    }

    #[test]
    fn a_reversed_field_is_mirrored() {
        let mut writer = BitWriter::new();
        let reversed = BitField {
            reversed: true,
            ..bits(16, 1, Big)
        };
        writer.field(reversed, 0x9C0C).unwrap();
        assert_eq!(writer.bytes, [0x30, 0x39]);
    }
}
