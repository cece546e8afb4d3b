//! What the verbs that list entities have in common: they read the trace, tell the damage first, print rows as a table, as JSON
//! or as CSV, and say what is missing.

use std::io::{BufWriter, Write};

use rostrace_analyze::list::List;
use rostrace_analyze::table::{Cell, Column, ColumnKind, Unit};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::args::{LookArguments, LookFormat};
use crate::capabilities::INITIALISATION;
use crate::cell;
use crate::columns::Layout;
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::diagnostic;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table, Tone};
use crate::view::View;
use rostrace_base::units;

/// Stands in a table where a value is not known.
pub(crate) const NOT_KNOWN: &str = "–";

/// One row of a list.
pub(crate) trait Row {
    /// What the list is called and which columns it has.
    const LIST: &'static List;

    /// In the order of the list's columns.
    fn cells(&self) -> Vec<Cell<'_>>;

    /// The same for the table, where other numbers are meant: it leaves out what is built in, unless all is asked for.
    fn table_cells(&self, _all: bool) -> Vec<Cell<'_>> {
        self.cells()
    }

    /// The text of a cell of the table, where it is not just the value with its unit.
    fn shown(&self, _title: &str, _all: bool) -> Option<String> {
        None
    }

    /// Whether the table leaves it out, unless all is asked for.
    fn is_folded(&self) -> bool;

    /// The lines at the end of the table that stand for the rows that it leaves out: texts by title.
    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>>;

    /// Whether it deserves a look.
    fn is_conspicuous(&self) -> bool {
        false
    }
}

/// A trace that was read to be listed.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) arguments: &'a LookArguments,
    layout: Layout,
    pub(crate) recorded: Recorded,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(
        list: &'static List,
        arguments: &'a LookArguments,
    ) -> anyhow::Result<Reading<'a>> {
        Ok(Reading {
            layout: Layout::of(list, &arguments.list, arguments.format)?,
            recorded: Recorded::read(&arguments.input.traces)?,
            arguments,
        })
    }

    /// The part that was asked for.
    pub(crate) fn view(&self) -> anyhow::Result<View<'_>> {
        let view = View::new(
            &self.recorded.set,
            &self.recorded.model,
            &self.arguments.filter,
        )?;
        diagnostic::notes(&view.notes());
        Ok(view)
    }

    /// `3 callbacks have no name: …`, and why; nothing for none.
    pub(crate) fn unnamed(&self, number: usize, noun: &str) -> Option<String> {
        let have = if number == 1 { "has" } else { "have" };
        let counted = units::counted(number as u64, noun);
        (number > 0).then(|| format!("{counted} {have} no name: {}", self.why_unnamed()))
    }

    /// Why entities of this trace may have no name.
    pub(crate) fn why_unnamed(&self) -> &'static str {
        if INITIALISATION.events(&self.recorded.model.kinds) == 0 {
            "the recording has no initialisation events, since it began after the nodes were created"
        } else if self.recorded.outcome() == Outcome::LostData {
            "events were lost, among them some of their initialisation"
        } else {
            "their initialisation is not complete in the recording, or they were created before it began"
        }
    }

    /// Prints all rows in the format that was asked for; `notes` say what is missing.
    pub(crate) fn print<R: Row>(
        &self,
        mut rows: Vec<R>,
        notes: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Outcome> {
        let all = self.arguments.all;
        let is_folded = |row: &R| row.is_folded() && !all;
        let is_table = self.arguments.format == LookFormat::Table;
        self.layout.sort(&mut rows, |row| match is_table {
            true => row.table_cells(all),
            false => row.cells(),
        });
        if self.layout.is_sorted() || self.layout.limit.is_some() {
            // So that every format leaves out the same rows.
            rows.sort_by_key(is_folded);
        }
        let is_empty = rows.is_empty();
        let left_out = self.limit(&mut rows, is_folded);
        let headline = self.recorded.headline();
        let mut out = BufWriter::new(std::io::stdout().lock());
        match self.arguments.format {
            LookFormat::Table => {
                if let Some(headline) = &headline {
                    writeln!(out, "{}", Palette::for_stdout().alarm(headline))?;
                }
                write!(out, "{}", table(&self.layout, &rows, all))?;
            }
            LookFormat::Json => {
                let whole = || rows.iter().map(|row| grouped(R::LIST, row.cells()));
                let cells = rows.iter().map(R::cells);
                write_json(&mut out, &self.layout, cells, || {
                    whole().collect::<Vec<_>>()
                })?;
            }
            LookFormat::Csv => write_csv(&mut out, &self.layout, rows.iter().map(R::cells))?,
        }
        out.flush()?;
        drop(out);
        if let (Some(headline), false) = (&headline, self.arguments.format == LookFormat::Table) {
            diagnostic::note(headline);
        }
        if is_empty {
            let filter = &self.arguments.filter.entities;
            diagnostic::notes(filter.nothing_fits(R::LIST.noun).as_slice());
        }
        if left_out > 0 {
            let counted = units::counted(left_out as u64, &format!("more {}", R::LIST.noun));
            diagnostic::note(&format!("{counted} not shown, because of --limit"));
        }
        for note in notes {
            diagnostic::note(&note);
        }
        Ok(self.recorded.outcome())
    }

    /// Drops what `--limit` leaves out, and counts it. In a table, what is folded anyway stands in a line of its own.
    fn limit<R: Row>(&self, rows: &mut Vec<R>, is_folded: impl Fn(&R) -> bool) -> usize {
        let Some(limit) = self.layout.limit else {
            return 0;
        };
        let is_table = self.arguments.format == LookFormat::Table;
        let mut shown = 0;
        let before = rows.len();
        rows.retain(|row| {
            let stays = is_table && is_folded(row);
            shown += usize::from(!stays);
            stays || shown <= limit
        });
        before - rows.len()
    }
}

/// The rows that are not folded, and a few lines for those that are.
fn table<R: Row>(layout: &Layout, rows: &[R], all: bool) -> Table {
    let columns = layout.table();
    let mut table = empty_table(layout, &columns);
    let (folded, shown): (Vec<&R>, Vec<&R>) = rows.iter().partition(|row| row.is_folded() && !all);
    for row in shown {
        let cells = row.table_cells(all);
        let picked = columns.iter().zip(layout.pick(&columns, &cells));
        let texts = picked.map(|(column, cell)| {
            let title = layout.list.title(column);
            let otherwise = title.and_then(|title| row.shown(title, all));
            otherwise.unwrap_or_else(|| cell::shown(cell, column.unit))
        });
        let tone = if row.is_conspicuous() {
            Tone::Caution
        } else {
            Tone::Plain
        };
        table.toned_row(tone, texts);
    }
    if !folded.is_empty() {
        for line in R::folded(&folded) {
            let text = |column: &&Column| {
                let texts = line.iter();
                let mut texts =
                    texts.filter(|(title, _)| layout.list.title(column) == Some(*title));
                texts.next().map_or(String::new(), |(_, text)| text.clone())
            };
            let texts: Vec<String> = columns.iter().map(text).collect();
            // Without its name a line would not say what it counts.
            if texts.first().is_some_and(|text| !text.is_empty()) || layout.chosen().is_none() {
                table.toned_row(Tone::Dim, texts);
            }
        }
    }
    table
}

/// A table with the titles of these columns.
pub(crate) fn empty_table(layout: &Layout, columns: &[&'static Column]) -> Table {
    let titles: Vec<(&str, Align)> = columns
        .iter()
        .map(|column| {
            let align = match column.unit {
                Unit::Text | Unit::Instant | Unit::YesOrNo => Align::Left,
                _ => Align::Right,
            };
            (layout.list.title(column).unwrap_or(column.name), align)
        })
        .collect();
    // What was asked for is not left out.
    match layout.chosen() {
        Some(_) => Table::new(&titles),
        None => Table::new(&titles).dispensable(layout.list.dispensable),
    }
}

/// A table of these rows; `otherwise` has the text of a cell, by row and name of its column, where it is not just the value with its unit.
pub(crate) fn table_of<T>(
    layout: &Layout,
    rows: &[T],
    cells: impl Fn(&T) -> Vec<Cell<'_>>,
    otherwise: impl Fn(&T, &str) -> Option<String>,
) -> Table {
    let columns = layout.table();
    let mut table = empty_table(layout, &columns);
    for row in rows {
        let cells = cells(row);
        let picked = columns.iter().zip(layout.pick(&columns, &cells));
        table.row(picked.map(|(column, cell)| {
            otherwise(row, column.name).unwrap_or_else(|| cell::shown(cell, column.unit))
        }));
    }
    table
}

/// Drops what `--limit` leaves out, and says how much that is.
pub(crate) fn limit<T>(layout: &Layout, rows: &mut Vec<T>) -> Option<String> {
    let limit = layout.limit.filter(|limit| rows.len() > *limit)?;
    let more = (rows.len() - limit) as u64;
    rows.truncate(limit);
    let counted = units::counted(more, &format!("more {}", layout.list.noun));
    Some(format!("{counted} not shown, because of --limit"))
}

/// The chosen columns of all rows; without a choice what `whole` makes.
pub(crate) fn write_json<'c, W: Serialize>(
    out: &mut impl Write,
    layout: &Layout,
    rows: impl Iterator<Item = Vec<Cell<'c>>>,
    whole: impl FnOnce() -> W,
) -> anyhow::Result<()> {
    if layout.chosen().is_some() {
        return write_chosen_json(out, layout, rows);
    }
    serde_json::to_writer_pretty(&mut *out, &whole()).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// All columns of a row: those of a summary together in an object, which is nothing without values.
fn grouped(list: &List, cells: Vec<Cell<'_>>) -> Value {
    let mut row = Map::new();
    for (column, cell) in list.columns.iter().zip(cells) {
        let value = match (column.kind, cell) {
            (ColumnKind::Names, Cell::Text(names)) => names.split_whitespace().collect(),
            _ => cell::json(cell),
        };
        let Some((object, member)) = column.member else {
            row.insert(column.name.to_owned(), value);
            continue;
        };
        let object = row
            .entry(object)
            .or_insert_with(|| match value == json!(0) {
                true => Value::Null,
                false => json!({}),
            });
        if let Value::Object(object) = object {
            object.insert(member.to_owned(), value);
        }
    }
    Value::Object(row)
}

/// An array of objects that have the chosen columns and nothing else.
pub(crate) fn write_chosen_json<'c>(
    out: &mut impl Write,
    layout: &Layout,
    rows: impl Iterator<Item = Vec<Cell<'c>>>,
) -> anyhow::Result<()> {
    struct Object(Vec<(&'static str, Value)>);
    impl Serialize for Object {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
        }
    }
    let columns = layout.csv();
    let objects = rows.map(|cells| {
        let values = layout.pick(&columns, &cells).into_iter().map(cell::json);
        Object(
            columns
                .iter()
                .map(|column| column.name)
                .zip(values)
                .collect(),
        )
    });
    let objects: Vec<Object> = objects.collect();
    serde_json::to_writer_pretty(&mut *out, &objects).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

pub(crate) fn write_csv<'c>(
    out: &mut impl Write,
    layout: &Layout,
    rows: impl Iterator<Item = Vec<Cell<'c>>>,
) -> anyhow::Result<()> {
    let columns = layout.csv();
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(columns.iter().map(|column| column.name))?;
    for cells in rows {
        csv.write_record(layout.pick(&columns, &cells).into_iter().map(cell::csv))?;
    }
    Ok(csv.flush()?)
}
