//! Column buffers and the loops that fill them.

use super::gather::Rows;
use crate::bits::Codec;
use crate::decode::{float, leb128, length_before_nul};
use crate::layout::{Layout, Leaf, Raw, Scope, Shape};
use crate::schema::{Encoding, FieldClass, Struct};
use crate::value::Value;

/// The values of one field, a row per event.
#[derive(Debug, Clone)]
pub enum Column<'a> {
    /// Unsigned integers and enumerations, booleans, bits.
    Unsigned(Vec<u64>),
    Signed(Vec<i64>),
    Float(Vec<f64>),
    /// Strings, texts and BLOBs, as they stand in the file.
    Bytes(Vec<&'a [u8]>),
    /// Arrays and sequences of numbers.
    Lists(Lists),
    /// Everything that has no flat form.
    Values(Vec<Value>),
}

/// Several numbers per row. Signed ones are sign-extended, floats are their bits.
#[derive(Debug, Clone, Default)]
pub struct Lists {
    ends: Vec<usize>,
    values: Vec<u64>,
}

impl Lists {
    /// The numbers of one row.
    pub fn row(&self, row: usize) -> &[u64] {
        let end = self.ends.get(row).copied().unwrap_or(0);
        let start = if row == 0 {
            0
        } else {
            self.ends.get(row - 1).copied().unwrap_or(end)
        };
        self.values.get(start..end).unwrap_or_default()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }
}

impl<'a> Column<'a> {
    pub(super) fn new(leaf: &Leaf) -> Column<'a> {
        match leaf.shape {
            Shape::Number(Codec { signed: true, .. }) | Shape::Variable { signed: true } => {
                Column::Signed(Vec::new())
            }
            Shape::Number(_) | Shape::Variable { .. } => Column::Unsigned(Vec::new()),
            Shape::Float(_) => Column::Float(Vec::new()),
            Shape::String(Encoding::Utf8)
            | Shape::Text {
                encoding: Encoding::Utf8,
                ..
            }
            | Shape::Blob { .. } => Column::Bytes(Vec::new()),
            Shape::List { .. } => Column::Lists(Lists::default()),
            Shape::String(_) | Shape::Text { .. } | Shape::Nested => Column::Values(Vec::new()),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Column::Unsigned(column) => column.len(),
            Column::Signed(column) => column.len(),
            Column::Float(column) => column.len(),
            Column::Bytes(column) => column.len(),
            Column::Lists(column) => column.rows(),
            Column::Values(column) => column.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn clear(&mut self) {
        match self {
            Column::Unsigned(column) => column.clear(),
            Column::Signed(column) => column.clear(),
            Column::Float(column) => column.clear(),
            Column::Bytes(column) => column.clear(),
            Column::Lists(Lists { ends, values }) => {
                ends.clear();
                values.clear();
            }
            Column::Values(column) => column.clear(),
        }
    }

    /// Appends a value for each row.
    pub(super) fn fill(&mut self, leaf: &Leaf, rows: Rows<'a, '_>) {
        let place = (leaf.place.anchor as usize, leaf.place.offset);
        let data = rows.data;
        let positions = || rows.positions(place.0, place.1);
        match (self, leaf.shape) {
            (Column::Unsigned(column), Shape::Number(codec)) => {
                rows.numbers(column, place, codec, |raw| raw);
            }
            (Column::Signed(column), Shape::Number(codec)) => {
                rows.numbers(column, place, codec, |raw| raw as i64);
            }
            (Column::Float(column), Shape::Float(codec)) => {
                rows.numbers(column, place, codec, |raw| float(raw, codec.size));
            }
            (Column::Unsigned(column), Shape::Variable { signed }) => {
                column.extend(positions().map(|position| variable(data, position, signed)));
            }
            (Column::Signed(column), Shape::Variable { signed }) => {
                column.extend(positions().map(|position| variable(data, position, signed) as i64));
            }
            (
                Column::Bytes(column),
                Shape::Text {
                    fixed: Some(length),
                    ..
                },
            ) => {
                column.extend(positions().map(|position| fixed_text(data, position, length)));
            }
            (Column::Bytes(column), _) => {
                column.extend(rows.each().map(|row| match leaf.read(data, row) {
                    Raw::Bytes(bytes) => bytes,
                    _ => &[],
                }));
            }
            (Column::Lists(column), _) => {
                for row in rows.each() {
                    if let Raw::List(list) = leaf.read(data, row) {
                        column.values.extend(list.iter());
                    }
                    column.ends.push(column.values.len());
                }
            }
            // Filled while the walker stood at the event.
            (Column::Values(_), _) => {}
            (Column::Unsigned(_) | Column::Signed(_) | Column::Float(_), _) => {}
        }
    }
}

fn variable(data: &[u8], position: u64, signed: bool) -> u64 {
    let bytes = data.get((position / 8) as usize..).unwrap_or_default();
    leb128(bytes, signed).map_or(0, |(value, _)| value)
}

/// The bytes before the first NUL of a text of known length.
#[inline]
fn fixed_text(data: &[u8], position: u64, length: u64) -> &[u8] {
    let start = (position / 8) as usize;
    let text = data.get(start..start + length as usize).unwrap_or_default();
    // Names are short: eight bytes at a time find their end sooner than a call does.
    let mut at = 0;
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let zeros = word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080;
        if zeros != 0 {
            return &text[..at + zeros.trailing_zeros() as usize / 8];
        }
        at += 8;
    }
    let rest = &text[at..];
    &text[..at + length_before_nul(rest, Encoding::Utf8).unwrap_or(rest.len())]
}

/// The value of a leaf, found in the decoded scopes by its place among the leaves.
pub(super) fn value_of(layout: &Layout, leaf: usize, scopes: &[(Scope, Value)]) -> Value {
    fn find<'v>(structure: &Struct, value: &'v Value, left: &mut usize) -> Option<&'v Value> {
        for (member, value) in structure.members.iter().zip(value.members()?) {
            match &member.class {
                FieldClass::Struct(inner) => {
                    if let Some(found) = find(inner, value, left) {
                        return Some(found);
                    }
                }
                _ if *left == 0 => return Some(value),
                _ => *left -= 1,
            }
        }
        None
    }
    let mut left = leaf;
    let mut scopes = layout.scopes.iter().zip(scopes);
    let found = scopes.find_map(|((_, structure), (_, value))| find(structure, value, &mut left));
    found.cloned().unwrap_or(Value::Struct(Vec::new()))
}
