//! Tables as they stand in the DOM, to be compared with tables of the program.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::browser::driver::Browser;

/// A row of a table in the page: by column its exact value, if it has one, and what is read there, without tags. `id` is that of the row.
pub type ShownRow = BTreeMap<String, (Option<f64>, String)>;

/// All rows of the table with this id; none if there is no such table. What is written in each cell is what its value says.
pub fn rows(browser: &Browser, id: &str) -> Vec<ShownRow> {
    let id = json!(id);
    browser.value(&format!(
        "(Array.from(document.getElementById({id})?.querySelectorAll('button') ?? []).filter((it) => it.textContent.startsWith('Show all')).forEach((it) => it.click()), true)"
    ));
    let reported = browser.value(&format!(
        "Array.from(document.getElementById({id})?.querySelectorAll('tbody tr') ?? [], (row) => [['id', row.dataset.row ?? null, row.dataset.row ?? ''], ...Array.from(row.cells, (cell) => [cell.dataset.column, cell.dataset.value ?? null, [...cell.childNodes].map((it) => it.className === 'tag' ? '' : it.querySelector?.('.tag') ? it.textContent.slice(0, -it.querySelector('.tag').textContent.length) : it.textContent).join('')])])"
    ));
    let mut rows = Vec::new();
    for cells in reported.as_array().unwrap() {
        let mut row = ShownRow::new();
        for cell in cells.as_array().unwrap() {
            let text = cell[2].as_str().unwrap().to_owned();
            let value = cell[1].as_str().and_then(|value| value.parse().ok());
            let column = cell[0].as_str().unwrap();
            if let (Some(value), Some(read)) = (value, read(&text)) {
                let exact: f64 = value;
                // Three digits are written; what is small has three decimals.
                let close = (read.value - exact).abs() <= exact.abs() * 0.006 + read.step;
                assert!(close, "{column} of {id}: {exact} is written as {text}");
            }
            row.insert(column.to_owned(), (value, text));
        }
        rows.push(row);
    }
    rows
}

struct Read {
    value: f64,
    /// What the last decimal means.
    step: f64,
}

/// The number that a person reads; nothing where a text has none, or two of them.
fn read(text: &str) -> Option<Read> {
    let plain = text.replace(',', "");
    let (number, unit) = match plain.trim_start_matches('+').split_once(' ') {
        Some((number, unit)) => (number.to_owned(), unit.to_owned()),
        None => (plain, String::new()),
    };
    let factor = match unit.as_str() {
        "ns" | "Hz" | "B" | "" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        "%" => 0.01,
        _ => return None,
    };
    let decimals = number
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let value: f64 = number.parse().ok()?;
    Some(Read {
        value: value * factor,
        step: 0.51 * factor / 10_f64.powi(i32::try_from(decimals).ok()?),
    })
}

/// The same rows on both sides, in any order: `columns` are names of columns of both, or of one of the page and `=` and one of the program.
pub fn assert_same(what: &str, shown: &[ShownRow], expected: &[Value], columns: &str) {
    let columns = columns.split_whitespace();
    let columns: Vec<(&str, &str)> = columns
        .map(|column| column.split_once('=').unwrap_or((column, column)))
        .collect();
    let of_page = |row: &ShownRow| -> Vec<Option<f64>> {
        // A column that is empty in every row is not shown.
        let value = |(column, _): &(&str, &str)| row.get(*column).and_then(|(value, _)| *value);
        columns.iter().map(value).collect()
    };
    let of_table = |row: &Value| -> Vec<Option<f64>> {
        let value = |(_, column): &(&str, &str)| {
            assert!(row.get(column).is_some(), "{what}: no {column} in {row}");
            row[*column].as_f64()
        };
        columns.iter().map(value).collect()
    };
    let found = sorted(shown.iter().map(of_page).collect());
    let expected = sorted(expected.iter().map(of_table).collect());
    assert_eq!(found.len(), expected.len(), "{what}: rows");
    let same = |a: &Option<f64>, b: &Option<f64>| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => (a - b).abs() <= b.abs() * 1e-9,
        _ => false,
    };
    for (found, expected) in found.iter().zip(&expected) {
        let all_same = found.iter().zip(expected).all(|(a, b)| same(a, b));
        assert!(
            all_same,
            "{what}: {found:?} in the page, {expected:?} in the table, of {columns:?}"
        );
    }
}

fn sorted(mut rows: Vec<Vec<Option<f64>>>) -> Vec<Vec<Option<f64>>> {
    // Sums of floats may differ in their last digits, which must not change the order.
    let key = |row: &Vec<Option<f64>>| -> Vec<Option<i64>> {
        let coarse = |value: f64| {
            if value.abs() < 1e4 {
                (value * 1e6).round()
            } else {
                value.round()
            }
        };
        row.iter()
            .map(|value| value.map(|it| coarse(it) as i64))
            .collect()
    };
    rows.sort_by_key(key);
    rows
}

/// As the page writes a duration.
pub fn written_duration(nanoseconds: f64) -> String {
    let units = [(1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")];
    let unit = units
        .iter()
        .find(|(below, divisor, _)| nanoseconds < *below && nanoseconds / divisor < 999.5);
    let (divisor, unit) = unit.map_or((1e9, "s"), |(_, divisor, unit)| (*divisor, *unit));
    if divisor == 1.0 {
        return format!("{nanoseconds:.0} ns");
    }
    format!("{} {unit}", digits(nanoseconds / divisor))
}

pub fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

pub fn written_count(value: f64) -> String {
    let plain = format!("{value:.0}");
    let mut written = String::new();
    for (place, digit) in plain.chars().enumerate() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}
