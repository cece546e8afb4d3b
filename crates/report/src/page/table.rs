//! A table of the page: the columns that `rostrace_analyze::table` declares, the rows, and beside each row what only the page has of it.

use std::io;

use rostrace_analyze::table::{Cell, Column, PageColumn, PageTable, Unit};
use serde::Serialize;
use serde_json::Value;

use super::Subject;

/// `D` is what stands beside a row: series, worst instances, addresses of other pages.
#[derive(Debug, Serialize)]
pub(crate) struct TableData<D> {
    #[serde(skip)]
    origin: i64,
    #[serde(skip)]
    declared: Vec<&'static Column>,
    columns: Vec<ColumnData>,
    shown: &'static [PageColumn],
    filter: &'static str,
    sort: &'static str,
    rows: Vec<Vec<Value>>,
    details: Vec<D>,
}

#[derive(Debug, Serialize)]
struct ColumnData {
    name: &'static str,
    unit: Unit,
    /// Statistics are an object of the row, as in the JSON of a list.
    member: Option<(&'static str, &'static str)>,
}

impl<D> TableData<D> {
    pub(crate) fn new(subject: Subject<'_>, page: &'static PageTable) -> TableData<D> {
        let columns = page.columns().map(|column| ColumnData {
            name: column.name,
            unit: column.unit,
            member: column.member,
        });
        TableData {
            origin: subject.origin,
            declared: page.columns().collect(),
            columns: columns.collect(),
            shown: page.shown,
            filter: page.filter,
            sort: page.sort,
            rows: Vec::new(),
            details: Vec::new(),
        }
    }

    /// The cells of the table, then those that are joined to it.
    pub(crate) fn push<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>, details: D) {
        let columns = self.declared.iter();
        let cells = columns.zip(cells).map(|(column, cell)| match cell {
            Cell::Nothing => Value::Null,
            Cell::Text(text) => text.into(),
            Cell::Integer(time) if column.unit == Unit::Instant => {
                time.saturating_sub(self.origin).into()
            }
            Cell::Integer(integer) => integer.into(),
            Cell::Number(number) => number.into(),
            Cell::Flag(flag) => flag.into(),
        });
        let cells: Vec<Value> = cells.collect();
        debug_assert_eq!(cells.len(), self.declared.len());
        self.rows.push(cells);
        self.details.push(details);
    }

    /// Rows that a function of the table hands over; those without details are left out.
    pub(crate) fn take<'c>(
        &mut self,
        rows: impl FnOnce(&mut dyn FnMut(&[Cell<'_>]) -> io::Result<()>) -> io::Result<()>,
        mut details: impl FnMut(usize) -> Option<(Vec<Cell<'c>>, D)>,
    ) {
        let mut number = 0;
        let taken = rows(&mut |cells| {
            if let Some((joined, details)) = details(number) {
                self.push(cells.iter().copied().chain(joined), details);
            }
            number += 1;
            Ok(())
        });
        taken.expect("memory takes every row");
    }
}
