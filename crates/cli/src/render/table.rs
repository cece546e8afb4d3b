//! Tables for people: no lines, two spaces between columns, numbers to the right. Every cell is made printable here, so
//! no command can forget it.

use std::fmt;

use comfy_table::{Cell, CellAlignment, ContentArrangement, presets};

use super::printable::printable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

#[derive(Debug)]
pub(crate) struct Table {
    alignments: Vec<CellAlignment>,
    table: comfy_table::Table,
}

impl Table {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        let alignments: Vec<CellAlignment> = columns
            .iter()
            .map(|(_, align)| match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            })
            .collect();
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        if let Some(width) = terminal_width() {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width.max(60));
        }
        if columns.iter().any(|(title, _)| !title.is_empty()) {
            let titles = columns.iter().zip(&alignments);
            table.set_header(titles.map(|((title, _), align)| cell(title, *align)));
        }
        Table { alignments, table }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        let cells = cells.into_iter().zip(&self.alignments);
        self.table
            .add_row(cells.map(|(text, align)| cell(text.as_ref(), *align)));
    }
}

fn cell(text: &str, align: CellAlignment) -> Cell {
    Cell::new(printable(text)).set_alignment(align)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.table.lines() {
            writeln!(f, " {}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Where standard output is a terminal, its width.
fn terminal_width() -> Option<u16> {
    let terminal = console::Term::stdout();
    terminal.size_checked().map(|(_, columns)| columns)
}
