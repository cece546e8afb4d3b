//! Tables that other programs read: each is declared once, with its columns and what they mean. Exports, their schema and the
//! reference page come from the declarations.

mod callback;
mod communication;
mod describe;
mod endpoint;
mod flow;
mod lifecycle;
mod memory;
mod named_path;
mod path;
mod process;
mod publication;
mod rate;
mod recurring;
mod scheduling;
mod service;
mod statistics_columns;
mod thread;

use std::io;

use rostrace_ctf::schema::Nanos;

use crate::analysis::Analysis;

/// A table: a function hands its rows over one by one, so that none has to be held in memory.
#[derive(Debug)]
pub struct Table {
    /// As in `--tables`, and the name of the file.
    pub name: &'static str,
    /// What one row is.
    pub about: &'static str,
    pub columns: &'static [Column],
    pub rows: fn(&Analysis<'_>, Sink<'_>) -> io::Result<()>,
}

/// Every table, in the order of the reference page.
pub const TABLES: &[&Table] = &[
    &callback::CALLBACKS,
    &callback::CALLBACK_INSTANCES,
    &publication::PUBLICATIONS,
    &communication::COMMUNICATIONS,
    &communication::DELIVERIES,
    &path::NODE_LATENCIES,
    &path::PATHS,
    &path::PATH_STAGES,
    &flow::FLOWS,
    &path::PATH_FLOWS,
    &path::RESPONSE_TIMES,
    &named_path::NAMED_PATHS,
    &named_path::NAMED_PATH_STAGES,
    &named_path::NAMED_PATH_INSTANTS,
    &named_path::NAMED_RESPONSE_TIMES,
    &named_path::NAMED_RESPONSE_STAGES,
    &scheduling::CALLBACK_SCHEDULING,
    &scheduling::SCHEDULING_DELAYS,
    &memory::MESSAGE_SIZES,
    &memory::MEMORY_TOTALS,
    &memory::MEMORY_USAGE,
    &memory::CALLBACK_MEMORY,
    &endpoint::PUBLISHERS,
    &endpoint::SUBSCRIPTIONS,
    &rate::RATES,
    &service::SERVICES,
    &service::CLIENT_CALLBACKS,
    &lifecycle::LIFECYCLE_STATES,
    &thread::THREADS,
    &thread::EXECUTOR_SHARES,
    &thread::SPINS,
    &process::NODE_SHARES,
    &process::PROCESS_SHARES,
];

/// Takes one row after the other: a cell for each column of the table.
pub type Sink<'s> = &'s mut dyn FnMut(&[Cell<'_>]) -> io::Result<()>;

#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
    /// Whether a row may have nothing here.
    pub optional: bool,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Integer,
    /// A real number.
    Number,
    Flag,
    /// Nanoseconds since 1970.
    Time,
    /// Nanoseconds.
    Duration,
}

impl Column {
    const fn new(name: &'static str, kind: ColumnKind, about: &'static str) -> Column {
        Column {
            name,
            kind,
            optional: false,
            about,
        }
    }

    pub const fn text(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Text, about)
    }

    pub const fn integer(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Integer, about)
    }

    pub const fn number(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Number, about)
    }

    pub const fn flag(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Flag, about)
    }

    pub const fn time(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Time, about)
    }

    pub const fn duration(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Duration, about)
    }

    pub const fn optional(mut self) -> Column {
        self.optional = true;
        self
    }
}

/// One value of a row.
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
    /// Whether a column can hold it.
    pub fn fits(&self, column: &Column) -> bool {
        match self {
            Cell::Nothing => column.optional,
            Cell::Text(_) => column.kind == ColumnKind::Text,
            Cell::Integer(_) => matches!(
                column.kind,
                ColumnKind::Integer | ColumnKind::Time | ColumnKind::Duration
            ),
            Cell::Number(_) => column.kind == ColumnKind::Number,
            Cell::Flag(_) => column.kind == ColumnKind::Flag,
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
