//! Damage for people: how much of each kind, then where and when.

use std::collections::BTreeMap;
use std::fmt::Write;

use rostrace_ctf::{Damage, DamageKind};

use super::diagnostic;
use super::palette::Palette;
use super::table::{Align, Table};
use super::time;
use rostrace_base::text::visible;
use rostrace_base::units;

/// Rows of one kind that are shown unless all are asked for.
const MOST_ROWS: usize = 10;

fn by_kind<'d>(rows: impl Iterator<Item = &'d Damage>) -> BTreeMap<DamageKind, Vec<&'d Damage>> {
    let mut kinds: BTreeMap<DamageKind, Vec<&Damage>> = BTreeMap::new();
    for row in rows {
        kinds.entry(row.kind).or_default().push(row);
    }
    kinds
}

/// What is wrong, one title for each kind, and whether data is gone.
pub(crate) fn titles<'d>(rows: impl Iterator<Item = &'d Damage>) -> Vec<(String, bool)> {
    let kinds = by_kind(rows);
    let titles = kinds
        .iter()
        .map(|(kind, rows)| (title(*kind, rows), kind.is_loss()));
    titles.collect()
}

/// What is wrong, as a title: `43,809 events discarded`.
fn title(kind: DamageKind, rows: &[&Damage]) -> String {
    let known: u64 = rows.iter().filter_map(|row| row.count).sum();
    let places: u64 = rows.iter().map(|row| row.places()).sum();
    let at_least = if rows.iter().any(|row| row.count.is_none()) {
        "at least "
    } else {
        ""
    };
    match kind {
        DamageKind::DiscardedEvents => {
            format!("{at_least}{} discarded", units::counted(known, "event"))
        }
        DamageKind::LostPackets => {
            format!("{at_least}{} lost", units::counted(known, "packet"))
        }
        DamageKind::CutPacket => format!("{} cut short", units::counted(places, "packet")),
        DamageKind::OpenPacket => {
            format!("{} never closed", units::counted(places, "packet"))
        }
        DamageKind::CorruptPacket => {
            format!("no packet in {}", units::counted(places, "place"))
        }
        DamageKind::UndecodableEvents => {
            format!(
                "{} with undecodable events",
                units::counted(places, "packet")
            )
        }
        DamageKind::TimeGoesBack => {
            format!(
                "time goes back {}",
                units::counted(known.max(places), "time")
            )
        }
        DamageKind::UnorderedPackets => {
            format!("{} out of order", units::counted(known, "packet"))
        }
        DamageKind::ForeignPackets => {
            format!(
                "packets of other traces in {}",
                units::counted(places, "place")
            )
        }
        DamageKind::NotAStream => {
            format!("{} without a stream", units::counted(places, "file"))
        }
        DamageKind::MissingPackets => {
            format!("packets missing in {}", units::counted(places, "file"))
        }
        DamageKind::MissingStream => {
            format!("streams missing in {}", units::counted(places, "place"))
        }
        DamageKind::MissingIndex => {
            format!("{} without an index", units::counted(places, "file"))
        }
        DamageKind::MetadataCut => {
            format!("metadata cut short in {}", units::counted(places, "trace"))
        }
        DamageKind::UnreadableTrace => {
            format!("{} unreadable", units::counted(places, "trace"))
        }
        DamageKind::UnreadableFile => {
            format!("{} that cannot be read", units::counted(places, "file"))
        }
        DamageKind::IncomparableClocks => "clocks that cannot be compared".to_owned(),
    }
}

/// The damage in one line, for results that are less than what happened; nothing if nothing was lost.
pub(crate) fn headline<'d>(rows: impl Iterator<Item = &'d Damage>) -> Option<String> {
    let losses: Vec<&Damage> = rows.filter(|row| row.kind.is_loss()).collect();
    let (counted, others): (Vec<_>, Vec<_>) = by_kind(losses.iter().copied())
        .into_iter()
        .partition(|(kind, _)| {
            matches!(kind, DamageKind::DiscardedEvents | DamageKind::LostPackets)
        });
    let mut parts = Vec::new();
    if !counted.is_empty() {
        let number = |rows: &[&Damage]| rows.iter().filter_map(|row| row.count).sum::<u64>();
        let things: Vec<String> = counted
            .iter()
            .map(|(kind, rows)| match kind {
                DamageKind::DiscardedEvents => units::counted(number(rows), "event"),
                _ => units::counted(number(rows), "packet"),
            })
            .collect();
        let all: Vec<&Damage> = counted.iter().flat_map(|(_, rows)| rows.clone()).collect();
        let verb = if number(&all) == 1 { "was" } else { "were" };
        let mut part = format!("{} {verb} lost", things.join(" and "));
        part += &between(&all);
        parts.push(part);
    }
    if !others.is_empty() {
        let titles = others.iter().map(|(kind, rows)| title(*kind, rows));
        let titles: Vec<String> = titles.collect();
        let all: Vec<&Damage> = others.iter().flat_map(|(_, rows)| rows.clone()).collect();
        parts.push(format!("{}{}", titles.join(", "), between(&all)));
    }
    let lost = (!parts.is_empty()).then(|| parts.join("; "))?;
    Some(format!("{lost}: counts are lower bounds"))
}

/// ` between … and …`: from the first of it to the last, if that is known.
fn between(rows: &[&Damage]) -> String {
    let begin = rows.iter().filter_map(|row| row.begin).min();
    let end = rows.iter().filter_map(|row| row.end).max();
    begin.zip(end).map_or(String::new(), |(begin, end)| {
        let (begin, end) = (time::time_of_day(begin), time::time_of_day(end));
        format!(" between {begin} and {end}")
    })
}

/// When it happened, as far as it is known.
fn when(row: &Damage) -> String {
    match (row.begin, row.end) {
        (Some(begin), Some(end)) if begin != end => {
            format!("{} – {}", time::time_of_day(begin), time::time_of_day(end))
        }
        (Some(at), _) | (None, Some(at)) => time::time_of_day(at),
        (None, None) => String::new(),
    }
}

/// All damage as a chapter of text; empty if there is none.
pub(crate) fn chapter(rows: &[&Damage], all: bool, palette: &Palette) -> String {
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    let _ = writeln!(text, "{}", palette.alarm("Damage"));
    for (kind, rows) in by_kind(rows.iter().copied()) {
        let _ = writeln!(text, " {}", palette.heading(&title(kind, &rows)));
        let shown = if all { rows.len() } else { MOST_ROWS };
        let mut table = Table::new(&[
            ("when", Align::Left),
            ("trace", Align::Left),
            ("stream", Align::Left),
            ("byte", Align::Right),
            ("what", Align::Left),
        ]);
        for row in rows.iter().take(shown) {
            let file = row.path.file_name().unwrap_or_default();
            table.row([
                when(row),
                row.trace.clone(),
                file.to_string_lossy().into_owned(),
                row.offset
                    .map(|offset| offset.to_string())
                    .unwrap_or_default(),
                row.message.clone(),
            ]);
        }
        text.push_str(&table.to_string());
        if rows.len() > shown {
            let more = format!("  and {} more; --all-damage shows them", rows.len() - shown);
            let _ = writeln!(text, "{}", palette.dim(&more));
        }
    }
    text.push('\n');
    text
}

/// All damage as sentences on standard error, for commands whose result is elsewhere.
pub(crate) fn tell<'d>(rows: impl IntoIterator<Item = &'d Damage>) {
    let palette = Palette::for_stderr();
    for (kind, rows) in by_kind(rows.into_iter()) {
        let name = palette.alarm("rostrace:");
        diagnostic::line(&format!("{name} {}", title(kind, &rows)));
        for row in rows.iter().take(MOST_ROWS) {
            diagnostic::line(&format!("  {}", visible(&sentence(row))));
        }
        if rows.len() > MOST_ROWS {
            let more = rows.len() - MOST_ROWS;
            diagnostic::line(&palette.dim(&format!(
                "  and {more} more; `rostrace info --all-damage` shows them"
            )));
        }
    }
}

fn sentence(row: &Damage) -> String {
    let mut sentence = row.path.display().to_string();
    if let Some(offset) = row.offset {
        let _ = write!(sentence, ", byte {offset}");
    }
    let when = when(row);
    if !when.is_empty() {
        let _ = write!(sentence, ", {when}");
    }
    let _ = write!(sentence, ": {}", row.message);
    sentence
}
