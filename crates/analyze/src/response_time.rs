//! Response times: how long an input takes until the output that is made from it.
//!
//! Between two outputs many inputs may arrive; the oldest of them waited longest (worst), the youngest shortest (best), and an
//! event in the outside world that just missed an input waited since the input before (worst with external latency). One
//! sweep from the last row to the first computes all of them in linear time.

use std::collections::{BTreeMap, HashMap};

use crate::records::{Cell, Records};

/// Inputs with the output that each of them led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseTimes {
    /// Start and end, in the order of the table.
    entries: Vec<(i64, i64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    All,
    Best,
    Worst,
    WorstWithExternalLatency,
}

impl Case {
    pub const EVERY: [Case; 4] = [
        Case::All,
        Case::Best,
        Case::Worst,
        Case::WorstWithExternalLatency,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Case::All => "all",
            Case::Best => "best",
            Case::Worst => "worst",
            Case::WorstWithExternalLatency => "worst_with_external_latency",
        }
    }
}

impl ResponseTimes {
    /// Of a path: from its first column to its last.
    pub fn of(records: &Records) -> ResponseTimes {
        let last = records.columns.len().saturating_sub(1);
        let found = sweep(
            records,
            |row, end| match row.first() {
                Some(Some(start)) if *start <= end => Some((*start, end, ())),
                _ => None,
            },
            last,
        );
        ResponseTimes {
            entries: found
                .into_iter()
                .map(|(start, end, ())| (start, end))
                .collect(),
        }
    }

    /// Start and response time, in the order of time.
    pub fn case(&self, case: Case) -> Vec<(i64, i64)> {
        // By end: place and start of the entry that stands for it.
        let mut chosen: BTreeMap<i64, (usize, i64)> = BTreeMap::new();
        // Who just missed the first input of all would have waited since before the recording.
        let first = usize::from(case == Case::WorstWithExternalLatency);
        for (place, (start, end)) in self.entries.iter().enumerate().skip(first) {
            let better = |known: i64| match case {
                Case::Best => *start > known,
                _ => *start < known,
            };
            match chosen.get(end) {
                Some((_, known)) if !better(*known) => {}
                _ => {
                    chosen.insert(*end, (place, *start));
                }
            }
        }
        let mut rows: Vec<(i64, i64)> = match case {
            Case::All => self
                .entries
                .iter()
                .map(|(start, end)| (*start, end - start))
                .collect(),
            Case::Best | Case::Worst => chosen
                .iter()
                .map(|(end, (_, start))| (*start, end - start))
                .collect(),
            Case::WorstWithExternalLatency => chosen
                .iter()
                .filter_map(|(end, (place, _))| {
                    let (before, _) = self.entries[place.checked_sub(1)?];
                    Some((before, end - before))
                })
                .collect(),
        };
        rows.sort_by_key(|(start, _)| *start);
        rows
    }
}

/// Goes through the rows from the last to the first. A row without an end has the earliest end of those behind it: its
/// input is part of that output or of none. The inputs of the first output are left out, for the oldest of them
/// may lie before the recording.
fn sweep<T>(
    records: &Records,
    mut entry: impl FnMut(&[Cell], i64) -> Option<(i64, i64, T)>,
    last: usize,
) -> Vec<(i64, i64, T)> {
    let mut entries: Vec<(i64, i64, T)> = Vec::new();
    let mut place_of: HashMap<i64, usize> = HashMap::new();
    let mut earliest: Option<i64> = None;
    for row in records.rows.iter().rev() {
        let Some(end) = row.get(last).copied().flatten().or(earliest) else {
            continue;
        };
        let Some(found) = entry(row, end) else {
            continue;
        };
        match place_of.get(&found.0) {
            None => {
                place_of.insert(found.0, entries.len());
                earliest = Some(earliest.map_or(found.1, |earliest| earliest.min(found.1)));
                entries.push(found);
            }
            Some(place) if found.1 < entries[*place].1 => {
                earliest = Some(earliest.map_or(found.1, |earliest| earliest.min(found.1)));
                entries[*place] = found;
            }
            Some(_) => {}
        }
    }
    entries.reverse();
    if let Some(earliest) = earliest {
        entries.retain(|(_, end, _)| *end != earliest);
    }
    entries
}

/// A path's response times, part by part: one row per response, one column per part, and the start.
pub fn stacked(records: &Records, case: Case) -> Records {
    let rows = match case {
        Case::All => rows_of_all(records),
        Case::Worst => rows_of_worst(records),
        Case::Best | Case::WorstWithExternalLatency => rows_of_best(records, case),
    };
    let mut columns = records.columns.clone();
    if case == Case::WorstWithExternalLatency && !columns.is_empty() {
        columns.insert(0, format!("{}_min", columns[0]));
    }
    bars(&columns, &rows)
}

fn is_in_order(row: &[Cell]) -> bool {
    let mut before = i64::MIN;
    row.iter().flatten().all(|value| {
        let fine = *value >= before;
        before = *value;
        fine
    })
}

/// A row that ends early has led to the output of those behind it: what it lacks is the earliest of theirs.
fn rows_of_all(records: &Records) -> Vec<Vec<Cell>> {
    let last = records.columns.len().saturating_sub(1);
    let entry = |row: &[Cell], end: i64| {
        let start = row.first().copied().flatten()?;
        (is_in_order(row) && start <= end).then(|| (start, end, row.to_vec()))
    };
    let mut entries = sweep(records, entry, last);
    let mut earliest: HashMap<i64, Vec<Cell>> = HashMap::new();
    for (_, end, row) in entries.iter_mut().rev() {
        let known = earliest
            .entry(*end)
            .or_insert_with(|| vec![None; row.len()]);
        for (value, known) in row.iter_mut().zip(known) {
            *value = value.or(*known);
            *known = known.iter().chain(&*value).min().copied();
        }
    }
    entries.into_iter().map(|(_, _, row)| row).collect()
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
    for row in records
        .rows
        .iter()
        .filter(|row| row.iter().all(Option::is_some) && is_in_order(row))
    {
        let Some(end) = row[last] else { continue };
        let younger = by_end.get(&end).is_none_or(|known| known[0] < row[0]);
        if younger {
            by_end.insert(end, row);
        }
    }
    let first = records
        .rows
        .iter()
        .find_map(|row| row.first().copied().flatten());
    let mut rows = Vec::new();
    let mut before: Cell = None;
    for row in by_end.into_values() {
        let start = row[0];
        let (from, to) = (before.max(first), before.max(start));
        if before.is_some() && from != to {
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
