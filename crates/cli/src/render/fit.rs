//! Fitting a table into a terminal: which columns there is room for, and where texts are broken.
//!
//! Numbers are never broken, for half of one reads as another one. So a terminal that is too narrow does without the columns that the
//! table calls dispensable, and long names are broken where they have a joint.

use super::table::Align;

/// Between two columns, and before the first.
const GAP: usize = 2;

/// What is left of long texts at least: of those in the first column, and in the others.
const LEAST: (usize, usize) = (24, 16);

/// One column of a table, as it is to be fitted.
#[derive(Debug)]
pub(super) struct Column<'t> {
    pub(super) title: &'t str,
    pub(super) align: Align,
    /// The more dispensable, the lower; nothing if it must be shown.
    pub(super) order: Option<usize>,
    /// Its cells, without the title.
    pub(super) cells: Vec<&'t str>,
}

impl Column<'_> {
    /// The widest cell.
    fn content(&self) -> usize {
        let widths = self.cells.iter().map(|cell| width(cell));
        widths.max().unwrap_or(0)
    }

    /// The widest cell or title.
    fn natural(&self) -> usize {
        self.content().max(width(self.title))
    }

    /// The same with a title in several lines.
    fn slim(&self) -> usize {
        let mut widest = 0;
        let mut last = 0;
        for word in self.title.split(' ').map(width) {
            // A sign stays behind its word.
            last = if word == 1 { last + 1 + word } else { word };
            widest = widest.max(last);
        }
        widest.max(self.content())
    }

    fn least(&self, place: usize) -> usize {
        let least = if place == 0 { LEAST.0 } else { LEAST.1 };
        match self.align {
            Align::Left => self.slim().min(least),
            Align::Right => self.slim(),
        }
    }

    /// Whether all cells say that there is nothing.
    fn is_idle(&self) -> bool {
        self.cells
            .iter()
            .all(|cell| matches!(*cell, "" | "0" | "–"))
    }
}

/// The places of the columns that are shown, each with its width. `room` is that of the terminal.
pub(super) fn fit(columns: &[Column<'_>], room: usize) -> Vec<(usize, usize)> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let wide = |shown: &[usize], width: &dyn Fn(usize) -> usize| -> usize {
        shown.iter().map(|place| width(*place) + GAP).sum()
    };
    let natural = |place: usize| columns[place].natural();
    if wide(&shown, &natural) <= room {
        return shown
            .into_iter()
            .map(|place| (place, natural(place)))
            .collect();
    }
    let mut dispensable: Vec<usize> = (0..columns.len())
        .filter(|place| columns[*place].order.is_some())
        .collect();
    dispensable.sort_by_key(|place| (!columns[*place].is_idle(), columns[*place].order));
    let mut dispensable = dispensable.into_iter();
    while wide(&shown, &|place| columns[place].least(place)) > room {
        let Some(place) = dispensable.next() else {
            break;
        };
        shown.retain(|other| *other != place);
    }
    let mut widths: Vec<(usize, usize)> = shown
        .iter()
        .map(|place| (*place, columns[*place].slim()))
        .collect();
    let mut excess = wide(&shown, &|place| columns[place].slim()).saturating_sub(room);
    // The longest texts give way first.
    while excess > 0 {
        let text = widths
            .iter_mut()
            .filter(|(place, width)| *width > columns[*place].least(*place));
        let Some((_, width)) = text.max_by_key(|(_, width)| *width) else {
            break;
        };
        *width -= 1;
        excess -= 1;
    }
    widths
}

/// The text in lines of at most `room` columns. Lines after the first are indented, so that they do not look like rows.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    if width(text) <= room {
        return vec![text.to_owned()];
    }
    let indent = text.len() - text.trim_start().len() + 2;
    let indent = if indent + 8 <= room { indent } else { 0 };
    let mut lines = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        let mut piece = piece;
        while width(&line) + width(piece.trim_end()) > room {
            let begun = line.len() > indent || lines.is_empty() && !line.trim().is_empty();
            let left = room.saturating_sub(width(&line));
            if !begun || left > 0 && width(piece.trim_end()) + indent > room {
                // Longer than a line: broken anywhere.
                let (head, tail) = split_at_width(piece, left);
                line.push_str(head);
                piece = tail;
            }
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
        }
        line.push_str(piece);
    }
    if !line.trim().is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// The text cut at its joints: behind spaces, underscores and commas, and before slashes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let blank = rest.len() - rest.trim_start().len();
        let end = rest
            .char_indices()
            .skip_while(|(at, _)| *at < blank)
            .find_map(|(at, c)| match c {
                ' ' | '_' | ',' => Some(at + 1),
                '/' if at > blank => Some(at),
                _ => None,
            });
        let (piece, left) = rest.split_at(end.unwrap_or(rest.len()));
        rest = left;
        Some(piece)
    })
}

/// As much of the text as fits, one character at least, and the rest.
fn split_at_width(text: &str, room: usize) -> (&str, &str) {
    let mut used = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > room && at > 0 {
            break;
        }
        end = at + c.len_utf8();
    }
    text.split_at(end)
}

fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column<'t>(title: &'t str, align: Align, order: Option<usize>, cell: &'t str) -> Column<'t> {
        Column {
            title,
            align,
            order,
            cells: vec![cell, "0"],
        }
    }

    fn names(columns: &[Column<'_>], room: usize) -> Vec<String> {
        let fitted = fit(columns, room).into_iter();
        fitted
            .map(|(place, width)| format!("{} {width}", columns[place].title))
            .collect()
    }

    #[test]
    fn a_table_that_fits_is_left_alone() {
        let columns = [
            column("callback", Align::Left, None, "/planner · timer 50 ms"),
            column("late max", Align::Right, Some(0), "2 ms"),
        ];
        assert_eq!(names(&columns, 34), ["callback 22", "late max 8"]);
    }

    #[test]
    fn titles_break_before_names_and_names_before_columns_go() {
        let name = "/a_node_with_a_long_name_indeed ← /topic";
        let columns = [
            column("callback", Align::Left, None, name),
            column("late max", Align::Right, Some(0), "2 ms"),
            column("max", Align::Right, None, "61.372 ms"),
        ];
        assert_eq!(names(&columns, 59), ["callback 40", "late max 4", "max 9"]);
        assert_eq!(names(&columns, 50), ["callback 31", "late max 4", "max 9"]);
        assert_eq!(names(&columns, 43), ["callback 24", "late max 4", "max 9"]);
        assert_eq!(names(&columns, 42), ["callback 29", "max 9"]);
    }

    #[test]
    fn what_says_nothing_goes_first() {
        let columns = [
            column("topic", Align::Left, None, "/points"),
            column("delivered", Align::Right, Some(0), "123"),
            column("overwritten", Align::Right, Some(1), "0"),
        ];
        assert_eq!(names(&columns, 24), ["topic 7", "delivered 9"]);
        assert_eq!(names(&columns, 12), ["topic 7"]);
    }

    #[test]
    fn numbers_are_never_broken() {
        let columns = [
            column("", Align::Left, None, "/planner"),
            column("p99", Align::Right, None, "123.456 ms"),
        ];
        assert_eq!(names(&columns, 5), [" 8", "p99 10"]);
    }

    #[test]
    fn names_break_at_their_joints() {
        let name = "/system/system_monitor/cpu_monitor · timer 1 s";
        let lines = ["/system/system_monitor", "  /cpu_monitor · timer 1", "  s"];
        assert_eq!(wrap(name, 24), lines);
        assert_eq!(wrap("short", 24), ["short"]);
    }

    #[test]
    fn what_has_no_joint_breaks_anywhere_and_nothing_is_lost() {
        let name = format!("/{}", "long".repeat(30));
        for room in 1..40 {
            let lines = wrap(&name, room);
            assert!(lines.iter().all(|line| width(line) <= room), "{lines:?}");
            let all: String = lines.iter().map(|line| line.trim_start()).collect();
            assert_eq!(all, name);
        }
    }

    #[test]
    fn every_line_of_a_broken_text_fits() {
        for text in [
            "    /raw_a and more, of it",
            "日本語日本語日本語",
            "waiting: /a_b ← /c ran (same thread)",
            "a  b",
        ] {
            for room in 2..30 {
                for line in wrap(text, room) {
                    assert!(width(&line) <= room, "{room}: {line:?}");
                }
            }
        }
    }
}
