//! Reads bits one at a time, by the formulas of the format and nothing else.

use super::stop::StopReason;
use rostrace_ctf::schema::{BitField, ByteOrder};

/// A cursor over the bits of one packet.
#[derive(Debug, Clone)]
pub struct NaiveBits<'d> {
    data: &'d [u8],
    position: u64,
    end: u64,
    /// Of the last bit field that was read.
    last_order: Option<ByteOrder>,
}

impl<'d> NaiveBits<'d> {
    pub fn new(data: &'d [u8]) -> NaiveBits<'d> {
        NaiveBits {
            data,
            position: 0,
            end: data.len() as u64 * 8,
            last_order: None,
        }
    }

    /// In bits, from the beginning of the packet.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// Nothing beyond this bit belongs to the packet's content. Never more than there are data.
    pub fn set_end(&mut self, end: u64) {
        self.end = end.min(self.data.len() as u64 * 8);
    }

    pub fn remaining(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }

    /// Moves to the next multiple of `alignment`, which must still belong to the content.
    pub fn align(&mut self, alignment: u32) -> Result<(), StopReason> {
        let aligned = self.position.next_multiple_of(u64::from(alignment.max(1)));
        self.need(aligned - self.position)?;
        self.position = aligned;
        Ok(())
    }

    /// Aligns and reads the value of a bit field, unsigned.
    pub fn field(&mut self, bits: BitField) -> Result<u64, StopReason> {
        let size = u64::from(bits.size);
        if !(1..=64).contains(&size) {
            return Err(StopReason::UnsupportedSize { size: bits.size });
        }
        self.align(bits.align)?;
        self.need(size)?;
        if !self.position.is_multiple_of(8)
            && self.last_order.is_some_and(|order| order != bits.order)
        {
            return Err(StopReason::MixedByteOrder);
        }
        let mut value = 0;
        for k in 0..size {
            let bit_of_value = match bits.order {
                ByteOrder::Little => k,
                ByteOrder::Big => size - 1 - k,
            };
            value |= self.bit(self.position + k, bits.order) << bit_of_value;
        }
        self.position += size;
        self.last_order = Some(bits.order);
        Ok(match bits.reversed {
            true => mirrored(value, size),
            false => value,
        })
    }

    /// The next bit field may have any byte order.
    pub fn forget_order(&mut self) {
        self.last_order = None;
    }

    /// Reads one byte; the position must be a multiple of eight.
    pub fn byte(&mut self) -> Result<u8, StopReason> {
        let byte = self.field(BitField::new(8, 8, ByteOrder::Little));
        byte.map(|value| value as u8)
    }

    fn need(&self, needed: u64) -> Result<(), StopReason> {
        let available = self.remaining();
        if needed > available {
            return Err(StopReason::NotEnoughBits { needed, available });
        }
        Ok(())
    }

    fn bit(&self, position: u64, order: ByteOrder) -> u64 {
        let in_byte = match order {
            ByteOrder::Little => position % 8,
            ByteOrder::Big => 7 - position % 8,
        };
        // `need` has shown that the byte is there.
        let byte = self.data.get((position / 8) as usize).copied();
        u64::from(byte.unwrap_or(0) >> in_byte & 1)
    }
}

/// The lowest `size` bits in the opposite order.
fn mirrored(value: u64, size: u64) -> u64 {
    (0..size).fold(0, |mirror, k| mirror | (value >> k & 1) << (size - 1 - k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ByteOrder::{Big, Little};

    fn bits(size: u8, align: u32, order: ByteOrder) -> BitField {
        BitField::new(size, align, order)
    }

    fn packed(bytes: &[u8], order: ByteOrder, sizes: &[u8]) -> Vec<u64> {
        let mut reader = NaiveBits::new(bytes);
        sizes
            .iter()
            .map(|size| reader.field(bits(*size, 1, order)).unwrap())
            .collect()
    }

    #[test]
    fn packed_members_of_odd_sizes() {
        let sizes = [3, 5, 9, 15];
        let values = [5, 17, 300, 20000];
        assert_eq!(packed(&[0x8D, 0x2C, 0x41, 0x9C], Little, &sizes), values);
        assert_eq!(packed(&[0xB1, 0x96, 0x4E, 0x20], Big, &sizes), values);
    }

    #[test]
    fn the_compact_event_header_of_lttng() {
        let values = [3, 0x123_4567];
        assert_eq!(packed(&[0xE3, 0xAC, 0x68, 0x24], Little, &[5, 27]), values);
        assert_eq!(packed(&[0x19, 0x23, 0x45, 0x67], Big, &[5, 27]), values);
    }

    #[test]
    fn reversed_bit_order_mirrors_the_value() {
        let mut reader = NaiveBits::new(&[0x30, 0x39]);
        let reversed = BitField {
            reversed: true,
            ..bits(16, 1, Big)
        };
        assert_eq!(reader.field(reversed), Ok(0x9C0C));
    }

    #[test]
    fn sixty_four_bits_at_an_odd_position() {
        let bytes = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1];
        assert_eq!(packed(&bytes, Little, &[1, 64]), [0, u64::MAX]);
    }

    #[test]
    fn two_byte_orders_must_not_meet_inside_a_byte() {
        let mut reader = NaiveBits::new(&[0; 4]);
        reader.field(bits(3, 1, Little)).unwrap();
        let mixed = Err(StopReason::MixedByteOrder);
        assert_eq!(reader.field(bits(3, 1, Big)), mixed);
        assert!(reader.clone().field(bits(3, 8, Big)).is_ok());
        // Padding does not help while the byte is the same.
        assert_eq!(reader.field(bits(3, 4, Big)), mixed);
    }

    #[test]
    fn nothing_is_read_beyond_the_end() {
        let mut reader = NaiveBits::new(&[0; 4]);
        reader.set_end(12);
        reader.field(bits(8, 8, Little)).unwrap();
        let (needed, available) = (5, 4);
        let short = StopReason::NotEnoughBits { needed, available };
        assert_eq!(reader.field(bits(5, 1, Little)), Err(short));
        assert_eq!(reader.position(), 8);
        assert!(reader.align(16).is_err());
        assert!(reader.field(bits(4, 1, Little)).is_ok());
    }
}
