//! Tables for people: no lines, two spaces between columns, numbers to the right. Every cell is made printable here, so
//! no command can forget it.

use std::fmt;

use comfy_table::{Cell, CellAlignment, presets};

use super::fit;
use super::palette::Palette;
use super::printable::printable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Column {
    title: String,
    align: Align,
    /// The place among those that a narrow terminal does without.
    order: Option<usize>,
}

impl Table {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        let columns = columns.iter().map(|(title, align)| Column {
            title: printable(title).into_owned(),
            align: *align,
            order: None,
        });
        Table {
            columns: columns.collect(),
            rows: Vec::new(),
        }
    }

    /// Names columns that a narrow terminal does without, the least needed first.
    pub(crate) fn dispensable(mut self, titles: &[&str]) -> Table {
        for column in &mut self.columns {
            column.order = titles.iter().position(|title| *title == column.title);
        }
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        let cells = cells
            .into_iter()
            .map(|text| printable(text.as_ref()).into_owned());
        self.rows.push(cells.collect());
    }

    /// Its lines, and what there was no room for; `room` is the width of the terminal that they are for.
    fn rendered(&self, room: Option<usize>) -> (Vec<String>, Option<String>) {
        let shown = self.fitted(room);
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        let cells = |texts: &dyn Fn(usize) -> String| -> Vec<Cell> {
            let cells = shown.iter().map(|(place, width)| {
                let align = match self.columns[*place].align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                };
                let text = fit::wrap(&texts(*place), *width).join("\n");
                Cell::new(text).set_alignment(align)
            });
            cells.collect()
        };
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            table.set_header(cells(&|place| self.columns[place].title.clone()));
        }
        for row in &self.rows {
            table.add_row(cells(&|place| row.get(place).cloned().unwrap_or_default()));
        }
        let lines = table.lines().map(|line| format!(" {}", line.trim_end()));
        let missing: Vec<&str> = (0..self.columns.len())
            .filter(|place| shown.iter().all(|(other, _)| other != place))
            .map(|place| self.columns[place].title.as_str())
            .collect();
        let note = (!missing.is_empty()).then(|| {
            format!(
                "   no room for {}; `| less -S` shows all",
                missing.join(", ")
            )
        });
        (lines.collect(), note)
    }

    /// The columns that are shown, with their widths.
    fn fitted(&self, room: Option<usize>) -> Vec<(usize, usize)> {
        let Some(room) = room else {
            return (0..self.columns.len())
                .map(|place| (place, usize::MAX))
                .collect();
        };
        let columns = self.columns.iter().enumerate().map(|(place, column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            fit::Column {
                title: &column.title,
                align: column.align,
                order: column.order,
                cells: cells.map(String::as_str).collect(),
            }
        });
        fit::fit(&columns.collect::<Vec<_>>(), room)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lines, note) = self.rendered(terminal_width());
        for line in lines {
            writeln!(f, "{line}")?;
        }
        match note {
            Some(note) => writeln!(f, "{}", Palette::for_stdout().dim(&note)),
            None => Ok(()),
        }
    }
}

/// Where standard output is a terminal, its width.
fn terminal_width() -> Option<usize> {
    let terminal = console::Term::stdout();
    terminal
        .size_checked()
        .map(|(_, columns)| usize::from(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callbacks() -> Table {
        let mut table = Table::new(&[
            ("callback", Align::Left),
            ("process", Align::Left),
            ("mean", Align::Right),
            ("worst / period", Align::Right),
        ])
        .dispensable(&["process", "mean"]);
        table.row(["/filter ← /raw_a", "filter 22248", "5.656 ms", "308 %"]);
        table.row(["/planner · 8 built-in callbacks", "planner 22268"]);
        table
    }

    #[test]
    fn a_pipe_gets_every_column_on_one_line_each() {
        let (lines, note) = callbacks().rendered(None);
        assert_eq!((lines.len(), note), (3, None));
        assert!(lines[0].ends_with("process            mean  worst / period"));
        assert_eq!((lines, None), callbacks().rendered(Some(74)));
    }

    #[test]
    fn a_narrow_terminal_says_what_it_does_without() {
        let (lines, note) = callbacks().rendered(Some(48));
        let expected = [
            "  callback                   mean  worst /",
            "                                    period",
            "  /filter ← /raw_a       5.656 ms    308 %",
            "  /planner · 8 built-in",
            "    callbacks",
        ];
        assert_eq!(lines, expected);
        let said = "   no room for process; `| less -S` shows all";
        assert_eq!(note.as_deref(), Some(said));
    }
}
