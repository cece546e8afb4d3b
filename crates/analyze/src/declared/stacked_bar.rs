//! A path's response times, part by part: what CARET draws as a stacked bar.
//!
//! In our own style there is a bar for every response time, and its parts add up to it. A lost message's bar goes on with the message
//! that was answered instead: the part in which it was lost has the wait.

use std::collections::{BTreeMap, HashMap};

use crate::declared::Style;
use crate::declared::records::{Cell, Records};
use crate::declared::response_time::{Case, ResponseInput, ResponseTimes, is_in_order, sweep};

/// One row per response, one column per part, and the start.
pub fn stacked(records: &Records, case: Case, style: Style) -> Records {
    let responses = responses(records, case, style);
    bars(&responses.columns, &responses.rows)
}

/// The instants behind the bars. The case with external latency has one more at the front: since when an event can have waited.
pub fn responses(records: &Records, case: Case, style: Style) -> Records {
    let rows = match (style, case) {
        (Style::Own, _) => rows_of_responses(records, case),
        (Style::Caret, Case::All) => rows_of_all(records),
        (Style::Caret, Case::Worst) => rows_of_worst(records),
        (Style::Caret, Case::Best | Case::WorstWithExternalLatency) => rows_of_best(records, case),
    };
    let mut columns = records.columns.clone();
    if case == Case::WorstWithExternalLatency && !columns.is_empty() {
        columns.insert(0, format!("{}_min", columns[0]));
    }
    Records { columns, rows }
}

/// The row of each response. What a lost message lacks is that of the oldest one with the same output, but never before what it has, nor after the
/// output.
fn rows_of_responses(records: &Records, case: Case) -> Vec<Vec<Cell>> {
    let times = ResponseTimes::of(records, Style::Own);
    let mut made_from: HashMap<i64, &ResponseInput> = HashMap::new();
    for (_, entry) in times.chosen(Case::All) {
        let known = made_from.entry(entry.end).or_insert(entry);
        if entry.start < known.start {
            *known = entry;
        }
    }
    let mut rows: Vec<(i64, Vec<Cell>)> = Vec::new();
    for (from, entry) in times.chosen(case) {
        let mut row = records.rows[entry.row].clone();
        if let Some(answered) = made_from.get(&entry.end).filter(|_| !entry.reached) {
            let mut before = i64::MIN;
            for (value, answered) in row.iter_mut().zip(&records.rows[answered.row]) {
                *value = value.or(answered.map(|answered| answered.max(before)));
                // It may have gone on after the answer, in vain.
                *value = value.map(|value| value.min(entry.end));
                before = value.unwrap_or(before);
            }
        }
        if case == Case::WorstWithExternalLatency {
            row.insert(0, Some(from));
        }
        rows.push((from, row));
    }
    rows.sort_by_key(|(from, _)| *from);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// A row that ends early has led to the output of those behind it: what it lacks is the earliest of theirs.
fn rows_of_all(records: &Records) -> Vec<Vec<Cell>> {
    let entries = sweep(records, is_in_order);
    let mut earliest: HashMap<i64, Vec<Cell>> = HashMap::new();
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries.iter().rev() {
        let mut row = records.rows[entry.row].clone();
        let known = earliest
            .entry(entry.end)
            .or_insert_with(|| vec![None; row.len()]);
        for (value, known) in row.iter_mut().zip(known) {
            *value = value.or(*known);
            *known = known.iter().chain(&*value).min().copied();
        }
        rows.push(row);
    }
    rows.reverse();
    rows
}

fn rows_of_worst(records: &Records) -> Vec<Vec<Cell>> {
    let last = records.columns.len().saturating_sub(1);
    let mut by_end: BTreeMap<i64, Vec<Cell>> = BTreeMap::new();
    for row in rows_of_all(records) {
        let Some(end) = row[last] else { continue };
        let known = by_end.entry(end).or_insert_with(|| row.clone());
        for (known, value) in known.iter_mut().zip(&row) {
            *known = known.iter().chain(value).min().copied();
        }
    }
    by_end.into_values().collect()
}

fn rows_of_best(records: &Records, case: Case) -> Vec<Vec<Cell>> {
    let last = records.columns.len().saturating_sub(1);
    let mut by_end: BTreeMap<i64, &Vec<Cell>> = BTreeMap::new();
    let is_complete = |row: &&Vec<Cell>| row.iter().all(Option::is_some) && is_in_order(row);
    for row in records.rows.iter().filter(is_complete) {
        let Some(end) = row[last] else { continue };
        let younger = by_end.get(&end).is_none_or(|known| known[0] < row[0]);
        if younger {
            by_end.insert(end, row);
        }
    }
    // Since the very first input nobody can have waited longer.
    let mut complete = records.rows.iter().filter(|row| is_complete(row));
    let first = complete.next().and_then(|row| row[0]);
    let mut rows = Vec::new();
    let mut before: Cell = None;
    for row in by_end.into_values() {
        let start = row[0];
        let (from, to) = (before.max(first), before.max(start));
        if from != to {
            rows.push(match case {
                Case::WorstWithExternalLatency => [from].iter().chain(row).copied().collect(),
                _ => row.clone(),
            });
        }
        before = start;
    }
    rows
}

/// From instants to durations: of the columns that are shown, the distance to the next one.
fn bars(columns: &[String], rows: &[Vec<Cell>]) -> Records {
    let mut shown: Vec<(usize, String)> = Vec::new();
    for (number, column) in columns.iter().enumerate() {
        if number == 0 && column.ends_with("_min") {
            shown.push((number, "[worst - best] response time".to_owned()));
            continue;
        }
        let mut parts = column.rsplitn(3, '/');
        let (_, stamp, owner) = (
            parts.next(),
            parts.next().unwrap_or(""),
            parts.next().unwrap_or(""),
        );
        if stamp.contains("rclcpp_publish")
            || stamp.contains("rmw_take")
            || stamp.contains("callback_start")
        {
            shown.push((number, owner.to_owned()));
        } else if stamp.contains("callback_end") {
            shown.push((number, format!("{owner}_end")));
        }
    }
    let names = shown
        .iter()
        .take(shown.len().saturating_sub(1))
        .map(|(_, name)| name.clone());
    let mut records = Records::new(names.chain(["start time".to_owned()]));
    for row in rows {
        let at = |(number, _): &(usize, String)| row[*number];
        let mut cells: Vec<Cell> = shown
            .windows(2)
            .map(|pair| Some(at(&pair[1])? - at(&pair[0])?))
            .collect();
        cells.push(shown.first().and_then(at));
        records.rows.push(cells);
    }
    records
}
