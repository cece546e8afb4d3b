//! Topics as people see them: short names, units, and what ROS 2 makes by itself in one line.

use std::collections::BTreeSet;

use super::count::Deliveries;
use super::row::TopicRow;
use crate::listing::cell;
use crate::render::table::{Align, Table};
use crate::render::units;

/// By name; what is built in is one line at the end, unless all is asked for.
pub(super) fn table(rows: &[TopicRow<'_>], all: bool) -> Table {
    let mut table = Table::new(&[
        ("topic", Align::Left),
        ("from", Align::Left),
        ("to", Align::Left),
        ("messages", Align::Right),
        ("sent at", Align::Right),
        ("longest pause", Align::Right),
        ("received at", Align::Right),
        ("delivered", Align::Right),
        ("lost", Align::Right),
        ("overwritten", Align::Right),
        ("queued", Align::Right),
        ("unknown", Align::Right),
        ("inter", Align::Right),
        ("intra", Align::Right),
    ])
    .dispensable(&[
        "inter",
        "intra",
        "unknown",
        "queued",
        "received at",
        "delivered",
        "overwritten",
    ]);
    let (folded, shown): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.built_in && !all);
    for row in shown {
        let mut cells = vec![
            row.name(),
            some_names(row.senders()),
            some_names(row.receivers()),
            units::count(row.messages),
            cell(row.rate_hz.map(units::hertz)),
            cell(row.longest_pause_ns.map(units::signed_duration)),
            rates(row.receive_rate_min_hz, row.receive_rate_max_hz),
        ];
        cells.extend(row.deliveries.numbers().map(units::count));
        table.row(cells);
    }
    if !folded.is_empty() {
        let number = units::counted(folded.len() as u64, "built-in topic");
        let messages = folded.iter().map(|row| row.messages).sum();
        let deliveries = folded
            .iter()
            .fold(Deliveries::default(), |sum, row| sum.plus(row.deliveries));
        let mut cells = vec![number, String::new(), String::new(), units::count(messages)];
        cells.extend([String::new(), String::new(), String::new()]);
        cells.extend(deliveries.numbers().map(units::count));
        table.row(cells);
    }
    table
}

/// `/a, /b`, `/a, /b and 3 more`
fn some_names(names: BTreeSet<&str>) -> String {
    const MOST: usize = 2;
    let more = names.len().saturating_sub(MOST);
    let shown: Vec<&str> = names.into_iter().take(MOST).collect();
    match (shown.is_empty(), more) {
        (true, _) => "–".to_owned(),
        (_, 0) => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

/// `99.8 Hz`, or from the slowest to the fastest where they differ.
fn rates(slowest: Option<f64>, fastest: Option<f64>) -> String {
    let (Some(slowest), Some(fastest)) = (slowest.map(units::hertz), fastest.map(units::hertz))
    else {
        return String::new();
    };
    if slowest == fastest {
        return fastest;
    }
    let slowest = slowest.trim_end_matches(" Hz");
    format!("{slowest} – {fastest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rates_are_short() {
        assert_eq!(some_names(BTreeSet::new()), "–");
        assert_eq!(some_names(BTreeSet::from(["/a", "/b"])), "/a, /b");
        let four = BTreeSet::from(["/a", "/b", "/c", "/d"]);
        assert_eq!(some_names(four), "/a, /b and 2 more");
        assert_eq!(rates(Some(10.01), Some(10.02)), "10.0 Hz");
        assert_eq!(rates(Some(0.0), Some(99.9)), "0.0 – 99.9 Hz");
        assert_eq!(rates(None, None), "");
    }
}
