//! One value of a row.

use rostrace_ctf::schema::Nanos;

use super::ColumnKind;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    Nothing,
    Text(&'a str),
    /// For columns of integers, times and durations.
    Integer(i64),
    Number(f64),
    Flag(bool),
}

impl Cell<'_> {
    /// Whether a column of this kind can hold it; `optional` if a row may have nothing there.
    pub fn fits(&self, kind: ColumnKind, optional: bool) -> bool {
        match self {
            Cell::Nothing => optional,
            Cell::Text(_) => matches!(kind, ColumnKind::Text | ColumnKind::Names),
            Cell::Integer(_) => matches!(
                kind,
                ColumnKind::Integer | ColumnKind::Time | ColumnKind::Duration
            ),
            Cell::Number(_) => kind == ColumnKind::Number,
            Cell::Flag(_) => kind == ColumnKind::Flag,
        }
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Cell<'a> {
        Cell::Text(text)
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Cell<'a> {
        Cell::Text(text)
    }
}

impl From<i64> for Cell<'_> {
    fn from(integer: i64) -> Self {
        Cell::Integer(integer)
    }
}

impl From<u64> for Cell<'_> {
    fn from(integer: u64) -> Self {
        // Counts and depths; what is larger than 2^63 is none.
        Cell::Integer(i64::try_from(integer).unwrap_or(i64::MAX))
    }
}

impl From<Nanos> for Cell<'_> {
    fn from(time: Nanos) -> Self {
        Cell::Integer(time.0)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Cell::Flag(flag)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Cell<'a> {
        value.map_or(Cell::Nothing, Into::into)
    }
}

/// The cells of a row, from whatever is in them.
macro_rules! cells {
    ($($value:expr),+ $(,)?) => {
        [$($crate::table::Cell::from($value)),+]
    };
}

pub(crate) use cells;
