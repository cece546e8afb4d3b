//! Tables for people: no lines, two spaces between columns, numbers to the right. Every cell is made printable here, so
//! no command can forget it.

use std::fmt;

use comfy_table::{Cell, CellAlignment, presets};

use super::fit;
use super::palette::Palette;
use rostrace_base::text::visible;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// How a row looks on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// What deserves a look.
    Caution,
    /// What is there only to be complete.
    Dim,
}

#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<(Tone, Vec<String>)>,
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
            title: visible(title).into_owned(),
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
        self.toned_row(Tone::Plain, cells);
    }

    pub(crate) fn toned_row(
        &mut self,
        tone: Tone,
        cells: impl IntoIterator<Item = impl AsRef<str>>,
    ) {
        let cells = cells
            .into_iter()
            .map(|text| visible(text.as_ref()).into_owned());
        self.rows.push((tone, cells.collect()));
    }

    /// Its lines, and what there was no room for; `room` is the width of the terminal that they are for.
    fn rendered(&self, room: Option<usize>, palette: &Palette) -> (Vec<String>, Option<String>) {
        let shown = self.fitted(room);
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        // The texts of a row, each in lines, and how many lines the row takes.
        let texts = |text: &dyn Fn(usize) -> String| -> (Vec<Cell>, usize) {
            let mut height = 1;
            let cells = shown.iter().map(|(place, width)| {
                let align = match self.columns[*place].align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                };
                let lines = fit::wrap(&text(*place), *width);
                height = height.max(lines.len());
                Cell::new(lines.join("\n")).set_alignment(align)
            });
            (cells.collect(), height)
        };
        let mut tones: Vec<Option<Tone>> = Vec::new();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            let (cells, height) = texts(&|place| self.columns[place].title.clone());
            table.set_header(cells);
            tones.extend(std::iter::repeat_n(None, height));
        }
        for (tone, row) in &self.rows {
            let (cells, height) = texts(&|place| row.get(place).cloned().unwrap_or_default());
            table.add_row(cells);
            tones.extend(std::iter::repeat_n(Some(*tone), height));
        }
        let lines = table.lines().enumerate().map(|(number, line)| {
            let line = format!(" {}", line.trim_end());
            match tones.get(number) {
                Some(None) => palette.heading(&line),
                Some(Some(Tone::Caution)) => palette.caution(&line),
                Some(Some(Tone::Dim)) => palette.dim(&line),
                Some(Some(Tone::Plain)) | None => line,
            }
        });
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
            let cells = self.rows.iter().filter_map(|(_, row)| row.get(place));
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
        let palette = Palette::for_stdout();
        let (lines, note) = self.rendered(terminal_width(), &palette);
        for line in lines {
            writeln!(f, "{line}")?;
        }
        match note {
            Some(note) => writeln!(f, "{}", palette.dim(&note)),
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
        let (lines, note) = callbacks().rendered(None, &Palette::plain());
        assert_eq!((lines.len(), note), (3, None));
        assert!(lines[0].ends_with("process            mean  worst / period"));
        assert_eq!(
            (lines, None),
            callbacks().rendered(Some(74), &Palette::plain())
        );
    }

    #[test]
    fn titles_and_rows_in_trouble_stand_out_whole() {
        let mut table = callbacks();
        table.toned_row(Tone::Caution, ["/late_node_with_a_long_name", "", "1 ms"]);
        let (lines, _) = table.rendered(Some(48), &Palette::coloured());
        let coloured = |line: &&String| line.contains('\u{1b}');
        let plain: Vec<&String> = lines.iter().filter(|line| !coloured(line)).collect();
        assert_eq!(plain.len(), 3, "{lines:?}");
        assert!(
            lines.last().is_some_and(|line| coloured(&line)),
            "{lines:?}"
        );
        let (uncoloured, _) = table.rendered(Some(48), &Palette::plain());
        let stripped = lines.iter().map(|line| console::strip_ansi_codes(line));
        assert_eq!(stripped.collect::<Vec<_>>(), uncoloured);
    }

    #[test]
    fn a_narrow_terminal_says_what_it_does_without() {
        let (lines, note) = callbacks().rendered(Some(48), &Palette::plain());
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
