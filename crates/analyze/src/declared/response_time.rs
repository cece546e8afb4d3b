//! Response times: how long an input takes until the output that is made from it.
//!
//! Between two outputs many inputs may arrive; the oldest of them waited longest (worst), the youngest shortest (best), and an
//! event in the outside world that just missed an input waited since the input before (worst with external latency). One
//! sweep from the last row to the first computes all of them; the rest is sorting.
//!
//! # What counts in our own style
//!
//! - **A message that was lost, overwritten or passed over** has a row without an end. It led to no output, so it has no response time of its
//!   own and is neither in *all* nor in *best*. But what it reported was answered by the first output that was made from a later
//!   input, and whoever relies on the system waited until then: in *worst* and *worst with external latency* it counts, with that
//!   output. Rows that no output follows count nowhere.
//! - **The first output of a recording** can tell its best case, and how long each of its inputs took, but not its worst
//!   case: older inputs may lie before the recording. So it is in *all* and *best* only; its inputs still say since when an event can
//!   have waited for the second output.
//! - **Where events were lost** a row without an end may have had one: it counts nowhere ([`leave_out_damaged`]).
//! - **A row that goes back in time** anywhere is left out, alone.
//! - An input that led to several outputs counts with the first.
//!
//! So for each output best ≤ all ≤ worst ≤ worst with external latency, where it has them. In CARET's style the first output is left out
//! of every case, a row without an end has the earliest end behind it in every case, and only first and last column are compared.

use std::collections::{BTreeMap, HashMap};

use rostrace_ctf::schema::Nanos;

use crate::declared::Style;
use crate::declared::records::{Cell, Records};

/// Inputs with the output that each of them led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseTimes {
    /// In the order of the table.
    entries: Vec<ResponseInput>,
    /// Of the first output, if it cannot tell its worst case.
    unknown_worst: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResponseInput {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The output was made from this input; otherwise from a later one.
    pub(crate) reached: bool,
    pub(crate) row: usize,
}

/// One response time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// The instant that it is counted from.
    pub from: i64,
    pub end: i64,
    /// The input that stands for it.
    pub row: usize,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Case {
        All = "all",
        Best = "best",
        Worst = "worst",
        WorstWithExternalLatency = "worst_with_external_latency",
    }
}

impl ResponseTimes {
    /// Of a path: from its first column to its last.
    pub fn of(records: &Records, style: Style) -> ResponseTimes {
        match style {
            Style::Caret => ResponseTimes {
                entries: sweep(records, |_| true),
                unknown_worst: None,
            },
            Style::Own => {
                let entries = sweep_own(records);
                let unknown_worst = entries.iter().map(|entry| entry.end).min();
                ResponseTimes {
                    entries,
                    unknown_worst,
                }
            }
        }
    }

    /// Start and response time, in the order of time.
    pub fn case(&self, case: Case) -> Vec<(i64, i64)> {
        let mut rows: Vec<(i64, i64)> = self
            .chosen(case)
            .map(|(start, entry)| (start, entry.end - start))
            .collect();
        if case != Case::All {
            rows.sort_by_key(|(start, _)| *start);
        }
        rows
    }

    /// The same with the row of the table that each was found in.
    pub fn rows(&self, case: Case) -> Vec<Response> {
        let chosen = self.chosen(case).map(|(from, entry)| Response {
            from,
            end: entry.end,
            row: entry.row,
        });
        let mut rows: Vec<Response> = chosen.collect();
        rows.sort_by_key(|response| response.from);
        rows
    }

    /// The entries that stand for the responses of a case, each with the instant that it is counted from.
    pub(crate) fn chosen(&self, case: Case) -> impl Iterator<Item = (i64, &ResponseInput)> {
        let counts = |entry: &ResponseInput| match case {
            // Of what CARET's sweep found no worst case is unknown, and every end counts as reached.
            Case::All | Case::Best => entry.reached || self.unknown_worst.is_none(),
            Case::Worst | Case::WorstWithExternalLatency => Some(entry.end) != self.unknown_worst,
        };
        // Who just missed the first input of all would have waited since before the recording. CARET then looks at the next
        // input of the same output, for which it is too short; we leave the output out.
        let external = case == Case::WorstWithExternalLatency;
        let first = usize::from(external && self.unknown_worst.is_none());
        let mut by_end: BTreeMap<i64, usize> = BTreeMap::new();
        let mut places: Vec<usize> = Vec::new();
        for (place, entry) in self.entries.iter().enumerate().skip(first) {
            if !counts(entry) {
                continue;
            }
            if case == Case::All {
                places.push(place);
                continue;
            }
            let better = |known: usize| match case {
                Case::Best => entry.start > self.entries[known].start,
                _ => entry.start < self.entries[known].start,
            };
            let known = by_end.get(&entry.end);
            if known.is_none_or(|known| better(*known)) {
                by_end.insert(entry.end, place);
            }
        }
        places.extend(by_end.into_values().filter(|place| !external || *place > 0));
        places.into_iter().map(move |place| {
            let entry = &self.entries[place];
            let from = match case {
                Case::WorstWithExternalLatency => &self.entries[place.saturating_sub(1)],
                _ => entry,
            };
            (from.start, entry)
        })
    }
}

/// As CARET does it, from the last row to the first: a row without an end has the earliest end of those behind it, and the
/// inputs of the first output are left out.
pub(crate) fn sweep(records: &Records, fits: impl Fn(&[Cell]) -> bool) -> Vec<ResponseInput> {
    let last = records.columns.len().saturating_sub(1);
    let mut entries: Vec<ResponseInput> = Vec::new();
    let mut place_of: HashMap<i64, usize> = HashMap::new();
    let mut earliest: Option<i64> = None;
    for (number, row) in records.rows.iter().enumerate().rev() {
        let own = row.get(last).copied().flatten();
        let (Some(start), Some(end)) = (row.first().copied().flatten(), own.or(earliest)) else {
            continue;
        };
        if start > end || !fits(row) {
            continue;
        }
        let found = ResponseInput {
            start,
            end,
            reached: own.is_some(),
            row: number,
        };
        match place_of.get(&start) {
            None => {
                place_of.insert(start, entries.len());
                entries.push(found);
            }
            Some(place) if end < entries[*place].end => entries[*place] = found,
            Some(_) => continue,
        }
        earliest = Some(earliest.map_or(end, |earliest| earliest.min(end)));
    }
    entries.reverse();
    entries.retain(|entry| Some(entry.end) != earliest);
    entries
}

/// As the page above says it, in the order of starts.
fn sweep_own(records: &Records) -> Vec<ResponseInput> {
    let last = records.columns.len().saturating_sub(1);
    let mut rows: Vec<(i64, usize)> = records
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| is_in_order(row))
        .filter_map(|(number, row)| Some((row.first().copied().flatten()?, number)))
        .collect();
    rows.sort_unstable();
    let mut entries: Vec<ResponseInput> = Vec::new();
    let mut earliest: Option<i64> = None;
    for same in rows.chunk_by(|a, b| a.0 == b.0).rev() {
        let start = same[0].0;
        let ends = same.iter().filter_map(|(_, row)| {
            let end = records.rows[*row].get(last).copied().flatten()?;
            Some((end, *row))
        });
        let own = ends.min();
        earliest = earliest.into_iter().chain(own.map(|(end, _)| end)).min();
        let entry = match (own, earliest) {
            (Some((end, row)), _) => Some((end, row)),
            (None, Some(end)) => Some((end, same[0].1)),
            (None, None) => None,
        };
        entries.extend(entry.map(|(end, row)| ResponseInput {
            start,
            end,
            reached: own.is_some(),
            row,
        }));
    }
    entries.reverse();
    entries
}

/// Takes away rows without an end, of a table in the order of its first column, if events may be missing between their begin and the next
/// end: the output that was made from them may be among those.
pub fn leave_out_damaged(records: &mut Records, is_damaged: impl Fn(Nanos, Nanos) -> bool) {
    let last = records.columns.len().saturating_sub(1);
    let mut earliest: Option<i64> = None;
    let mut kept: Vec<bool> = Vec::with_capacity(records.rows.len());
    for row in records.rows.iter().rev() {
        let [begin, end] = [0, last].map(|column| row.get(column).copied().flatten());
        earliest = earliest.into_iter().chain(end).min();
        let uncertain = begin.filter(|_| end.is_none()).zip(earliest);
        kept.push(!uncertain.is_some_and(|(begin, end)| is_damaged(Nanos(begin), Nanos(end))));
    }
    records.rows.retain(|_| kept.pop().unwrap_or(true));
}

pub(crate) fn is_in_order(row: &[Cell]) -> bool {
    row.iter().flatten().is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_had_an_output_that_was_lost_does_not_wait_for_a_later_one() {
        let mut records = Records::new(["start", "end"]);
        let rows = [
            (10, Some(15)),
            (20, None),
            (30, Some(35)),
            (40, None),
            (50, Some(55)),
        ];
        records.rows = rows.map(|(start, end)| vec![Some(start), end]).to_vec();
        // Events were lost at 42.
        leave_out_damaged(&mut records, |from, to| (from.0..=to.0).contains(&42));
        let starts: Vec<_> = records.column(0).flatten().collect();
        assert_eq!(starts, [10, 20, 30, 50]);
        let worst = ResponseTimes::of(&records, Style::Own).case(Case::Worst);
        assert_eq!(worst, [(20, 15), (50, 5)]);
    }
}
