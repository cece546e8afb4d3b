//! The innermost loop of a scan: one field of many events of one file.
//!
//! The place that is furthest behind is found once for all columns; where even that one's field lies inside the data, so
//! do all others, and the loop has no branch.

use crate::bits::Codec;
use crate::schema::ByteOrder;

/// The places of the rows of one event class in one file: `stride` anchors per row, in bits.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, 'r> {
    pub(super) data: &'a [u8],
    anchors: &'r [u64],
    stride: usize,
    /// Every anchor is at a whole byte.
    at_bytes: bool,
    furthest: u64,
}

impl<'a, 'r> Rows<'a, 'r> {
    pub(super) fn new(data: &'a [u8], anchors: &'r [u64], stride: usize) -> Rows<'a, 'r> {
        let mut all_bits = 0;
        let mut furthest = 0;
        for &anchor in anchors {
            all_bits |= anchor;
            furthest = anchor.max(furthest);
        }
        Rows {
            data,
            anchors,
            stride: stride.max(1),
            at_bytes: all_bits % 8 == 0,
            furthest,
        }
    }

    /// The anchors of each row.
    pub(super) fn each(self) -> impl ExactSizeIterator<Item = &'r [u64]> {
        self.anchors.chunks_exact(self.stride)
    }

    /// The position of a field in each row, in bits.
    #[inline]
    pub(super) fn positions(
        self,
        anchor: usize,
        offset: u64,
    ) -> impl ExactSizeIterator<Item = u64> {
        self.each().map(move |row| row[anchor] + offset)
    }

    /// Appends the number that stands `offset` bits behind an anchor of each row.
    #[inline]
    pub(super) fn numbers<T>(
        self,
        column: &mut Vec<T>,
        (anchor, offset): (usize, u64),
        codec: Codec,
        convert: impl Fn(u64) -> T,
    ) {
        let plain = codec.order == ByteOrder::Little && !codec.reversed;
        if plain && self.at_bytes && offset % 8 == 0 && self.all_inside(offset, codec.size) {
            match (codec.size, codec.signed) {
                (8, false) => {
                    return self.copy(column, anchor, offset, |bytes: [u8; 1]| {
                        convert(bytes[0].into())
                    });
                }
                (16, false) => {
                    return self.copy(column, anchor, offset, |b| {
                        convert(u16::from_le_bytes(b).into())
                    });
                }
                (32, false) => {
                    return self.copy(column, anchor, offset, |b| {
                        convert(u32::from_le_bytes(b).into())
                    });
                }
                (64, _) => {
                    return self.copy(column, anchor, offset, |b| convert(u64::from_le_bytes(b)));
                }
                (8, true) => {
                    let extend = |b: [u8; 1]| convert(i64::from(b[0] as i8) as u64);
                    return self.copy(column, anchor, offset, extend);
                }
                (16, true) => {
                    let extend = |b| convert(i64::from(i16::from_le_bytes(b)) as u64);
                    return self.copy(column, anchor, offset, extend);
                }
                (32, true) => {
                    let extend = |b| convert(i64::from(i32::from_le_bytes(b)) as u64);
                    return self.copy(column, anchor, offset, extend);
                }
                _ => {}
            }
        }
        column.extend(
            self.positions(anchor, offset)
                .map(|position| convert(codec.read(self.data, position))),
        );
    }

    /// Whether the field certainly lies inside the data in every row.
    fn all_inside(self, offset: u64, size: u8) -> bool {
        let end = self
            .furthest
            .checked_add(offset)
            .and_then(|at| at.checked_add(u64::from(size)));
        end.is_some_and(|end| end.div_ceil(8) <= self.data.len() as u64)
    }

    /// Reads `N` bytes per row. Only after [`Rows::all_inside`], with anchors and offset at whole bytes.
    #[inline]
    fn copy<const N: usize, T>(
        self,
        column: &mut Vec<T>,
        anchor: usize,
        offset: u64,
        convert: impl Fn([u8; N]) -> T,
    ) {
        let start = self.data.as_ptr();
        let read = move |position: u64| {
            // SAFETY: `all_inside` has shown that the `N` bytes from `position / 8` lie inside `data` for the row that
            // is furthest behind, hence for all; an array of bytes has no alignment.
            convert(unsafe { start.add((position / 8) as usize).cast::<[u8; N]>().read() })
        };
        if self.stride == 1 {
            column.extend(self.anchors.iter().map(|row| read(row + offset)));
        } else {
            column.extend(self.positions(anchor, offset).map(read));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gathered_numbers_are_those_that_the_codec_reads(
            data in proptest::collection::vec(any::<u8>(), 1..80),
            mut anchors in proptest::collection::vec(0u64..900, 0..20),
            stride in 1usize..3,
            at_bytes: bool,
            offset in 0u64..64,
            size in prop_oneof![Just(8u8), Just(16), Just(32), Just(64), 1u8..=64],
            big_endian: bool,
            signed: bool,
        ) {
            if at_bytes {
                anchors.iter_mut().for_each(|anchor| *anchor &= !7);
            }
            anchors.truncate(anchors.len() / stride * stride);
            let offset = if at_bytes { offset & !7 } else { offset };
            let order = if big_endian { ByteOrder::Big } else { ByteOrder::Little };
            let codec = Codec { size, order, reversed: false, signed };
            let mut column = Vec::new();
            let rows = Rows::new(&data, &anchors, stride);
            rows.numbers(&mut column, (stride - 1, offset), codec, |raw| raw);
            let expected: Vec<u64> = anchors
                .chunks_exact(stride)
                .map(|row| codec.read(&data, row[stride - 1] + offset))
                .collect();
            prop_assert_eq!(column, expected);
        }
    }
}
