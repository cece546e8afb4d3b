//! Reading integers out of packed bits.
//!
//! Positions are bits from the first byte of a packet. Nothing here looks at limits: callers have compared the
//! end of the field with the end of the packet's content before, and a read that would leave the slice yields
//! zero bits instead of a panic.

use crate::schema::{BitField, ByteOrder};

/// How to read one number: everything of a [`BitField`] but its alignment, plus the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codec {
    pub size: u8,
    pub order: ByteOrder,
    pub reversed: bool,
    pub signed: bool,
}

impl Codec {
    pub fn new(bits: BitField, signed: bool) -> Codec {
        Codec {
            size: bits.size,
            order: bits.order,
            reversed: bits.reversed,
            signed,
        }
    }

    /// The number at this position; signed ones are sign-extended to 64 bits.
    #[inline]
    pub fn read(self, data: &[u8], position: u64) -> u64 {
        let mut value = match self.order {
            ByteOrder::Little => little(data, position, u32::from(self.size)),
            ByteOrder::Big => big(data, position, u32::from(self.size)),
        };
        if self.reversed {
            value = value.reverse_bits() >> (64 - u32::from(self.size));
        }
        if self.signed {
            sign_extend(value, self.size)
        } else {
            value
        }
    }
}

#[inline]
pub(crate) fn sign_extend(value: u64, size: u8) -> u64 {
    let unused = 64 - u32::from(size);
    (((value << unused) as i64) >> unused) as u64
}

/// `size` bits from `position`, first bit least significant.
#[inline]
fn little(data: &[u8], position: u64, size: u32) -> u64 {
    let byte = (position / 8) as usize;
    let shift = (position % 8) as u32;
    let low = word_le(data, byte) >> shift;
    let have = 64 - shift;
    let value = if size > have {
        low | u64::from(byte_at(data, byte + 8)) << have
    } else {
        low
    };
    keep_low(value, size)
}

/// `size` bits from `position`, first bit most significant.
#[inline]
fn big(data: &[u8], position: u64, size: u32) -> u64 {
    let byte = (position / 8) as usize;
    let shift = (position % 8) as u32;
    // The wanted bits start at bit 63 - shift of this word.
    let word = word_le(data, byte).swap_bytes();
    let have = 64 - shift;
    if size <= have {
        keep_low(word >> (have - size), size)
    } else {
        let missing = size - have;
        let next = u64::from(byte_at(data, byte + 8));
        keep_low(word << missing | next >> (8 - missing), size)
    }
}

#[inline]
fn keep_low(value: u64, size: u32) -> u64 {
    if size >= 64 {
        value
    } else {
        value & ((1 << size) - 1)
    }
}

/// Eight bytes from `at`, the first one least significant; zeros behind the end.
#[inline]
pub(crate) fn word_le(data: &[u8], at: usize) -> u64 {
    match data.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => word_at_the_end(data, at),
    }
}

#[cold]
fn word_at_the_end(data: &[u8], at: usize) -> u64 {
    (0..8).fold(0, |word, i| {
        word | u64::from(byte_at(data, at + i)) << (8 * i)
    })
}

#[inline]
fn byte_at(data: &[u8], at: usize) -> u8 {
    data.get(at).copied().unwrap_or(0)
}

/// The next multiple of `align`, a power of two.
#[inline]
pub(crate) fn align_up(position: u64, align: u64) -> u64 {
    (position + (align - 1)) & !(align - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: one bit after the other.
    fn naive(data: &[u8], position: u64, size: u8, order: ByteOrder) -> u64 {
        (0..u64::from(size)).fold(0, |value, k| {
            let at = position + k;
            let byte = data[(at / 8) as usize];
            match order {
                ByteOrder::Little => value | u64::from(byte >> (at % 8) & 1) << k,
                ByteOrder::Big => value << 1 | u64::from(byte >> (7 - at % 8) & 1),
            }
        })
    }

    proptest! {
        #[test]
        fn every_read_equals_the_bit_by_bit_definition(
            data in proptest::collection::vec(any::<u8>(), 9..40),
            position in 0u64..64,
            size in 1u8..=64,
            big_endian: bool,
        ) {
            let order = if big_endian { ByteOrder::Big } else { ByteOrder::Little };
            prop_assume!(position + u64::from(size) <= data.len() as u64 * 8);
            let codec = Codec { size, order, reversed: false, signed: false };
            prop_assert_eq!(codec.read(&data, position), naive(&data, position, size, order));
        }

        #[test]
        fn a_read_beyond_the_end_is_zero_bits_and_no_panic(
            data in proptest::collection::vec(any::<u8>(), 0..12),
            position in 0u64..400,
            size in 1u8..=64,
            big_endian: bool,
        ) {
            let order = if big_endian { ByteOrder::Big } else { ByteOrder::Little };
            Codec { size, order, reversed: true, signed: true }.read(&data, position);
        }
    }
}
