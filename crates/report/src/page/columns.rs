//! Long columns of numbers beside the JSON of a part: differences between neighbours, zigzag, seven bits to a byte. Times that rise and values that
//! resemble each other become one to four bytes each, before compression.

use serde::Serialize;

#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) bytes: Vec<u8>,
}

/// Where a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct ColumnReference {
    /// The first byte.
    pub(crate) at: usize,
    /// How many numbers.
    pub(crate) n: usize,
}

impl Columns {
    /// Adds a column. The page calculates in floating point, so numbers beyond 2^53 lose their last digits there.
    pub(crate) fn add(&mut self, values: impl IntoIterator<Item = i64>) -> ColumnReference {
        let at = self.bytes.len();
        let mut n = 0;
        let mut before = 0i64;
        for value in values {
            let difference = value.wrapping_sub(before);
            before = value;
            self.push(((difference << 1) ^ (difference >> 63)) as u64);
            n += 1;
        }
        ColumnReference { at, n }
    }

    fn push(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(columns: &Columns, reference: ColumnReference) -> Vec<i64> {
        let mut bytes = columns.bytes[reference.at..].iter();
        let mut before = 0i64;
        let mut next = || {
            let mut number = 0u64;
            for shift in (0..).step_by(7) {
                let byte = *bytes.next().unwrap();
                number |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            before = before.wrapping_add((number >> 1) as i64 ^ -((number & 1) as i64));
            before
        };
        (0..reference.n).map(|_| next()).collect()
    }

    proptest! {
        #[test]
        fn columns_come_back(first: Vec<i64>, second: Vec<i64>) {
            let mut columns = Columns::default();
            let (a, b) = (columns.add(first.iter().copied()), columns.add(second.iter().copied()));
            prop_assert_eq!(decoded(&columns, a), first);
            prop_assert_eq!(decoded(&columns, b), second);
        }
    }
}
