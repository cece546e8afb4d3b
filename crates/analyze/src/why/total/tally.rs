//! Adds up the explanations of one victim, and says how late each of them was.
//!
//! An execution or message was late by what was in its way, and by what went beyond the usual on its way; an execution of a timer by all that
//! passed since it was due. What is less than anybody notices is no lateness at all. It is two passes: what is usual is known when all is added up.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use super::blame::{Blame, BlameKind};
use super::remedy::Remedy;
use super::victim::Victim;
use super::{CauseTotal, Explainable, OfRemedy, VictimTotal};
use crate::analysis::Analysis;
use crate::finding::{Phases, late_from};
use crate::why::{Explanation, Part, Why};

/// How late a victim has to be to be late.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    /// The period that it is set to or keeps, if any.
    pub(super) period: Option<i64>,
    /// A path has no period: its usual latency stands for it.
    pub(super) is_path: bool,
    /// Whether its lateness is known and matters to anybody.
    pub(super) is_weighed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    rows: Vec<RowInProgress>,
    places: HashMap<(usize, Blame), usize>,
    explained: Vec<Explained>,
    /// Of all explanations, one after the other.
    entries: Vec<BlamedParts>,
}

#[derive(Debug)]
struct RowInProgress {
    row: CauseTotal,
    remedy: Option<Remedy>,
    /// The last entry of it, by whether it counts as a whole.
    last: [Option<usize>; 2],
}

#[derive(Debug)]
struct Explained {
    end: Nanos,
    duration: i64,
    damaged: bool,
    /// Where its entries begin.
    entries: usize,
}

/// All parts of one explanation that are put down to the same.
#[derive(Debug, Clone, Copy)]
struct BlamedParts {
    row: usize,
    duration: i64,
    /// Whether all of it is too much, whatever is usual: a timer was due.
    is_whole: bool,
}

impl Tally {
    /// Nothing if nothing of it could be explained.
    pub(super) fn of<'s>(
        why: &mut Why<'_>,
        analysis: &Analysis<'_>,
        phases: &Phases<'_>,
        victim: Victim,
        measure: Measure,
        subjects: impl Iterator<Item = Explainable<'s>>,
    ) -> Option<VictimTotal> {
        let mut tally = Tally::default();
        for subject in subjects {
            // Until when all of the time is lateness.
            let mut due_until = None;
            let explanation = match subject {
                Explainable::Execution(timing) => {
                    let start = analysis.instance(timing.instance).start;
                    due_until = timing.firing.map(|_| start);
                    Some(why.instance(timing.instance, timing.firing.as_ref()))
                }
                Explainable::Message(id) => why.communication(id),
                Explainable::Flow(flow) => why.flow(flow),
                Explainable::PathInstance(path_instance) => Some(why.path_instance(path_instance)),
            };
            if let Some(explanation) = explanation {
                tally.add(analysis, victim, &explanation, due_until);
            }
        }
        (!tally.explained.is_empty()).then(|| tally.finish(phases, victim, measure))
    }

    fn add(
        &mut self,
        analysis: &Analysis<'_>,
        victim: Victim,
        explanation: &Explanation,
        due_until: Option<Nanos>,
    ) {
        let first = self.entries.len();
        self.explained.push(Explained {
            end: explanation.end,
            duration: explanation.end.0 - explanation.begin.0,
            damaged: explanation.damaged,
            entries: first,
        });
        for part in &explanation.parts {
            let is_whole = due_until.is_some_and(|start| part.end <= start);
            let row = self.place(analysis, victim, part);
            let in_progress = &mut self.rows[row];
            let last = &mut in_progress.last[usize::from(is_whole)];
            let row_total = &mut in_progress.row;
            row_total.duration += part.duration();
            if part.duration() > row_total.longest.duration() {
                row_total.longest = *part;
            }
            match last.filter(|last| *last >= first) {
                Some(last) => self.entries[last].duration += part.duration(),
                None => {
                    *last = Some(self.entries.len());
                    let other = in_progress.last[usize::from(!is_whole)];
                    let is_new = other.is_none_or(|other| other < first);
                    in_progress.row.count += u64::from(is_new);
                    self.entries.push(BlamedParts {
                        row,
                        duration: part.duration(),
                        is_whole,
                    });
                }
            }
        }
    }

    fn place(&mut self, analysis: &Analysis<'_>, victim: Victim, part: &Part) -> usize {
        let blame = Blame::of(analysis, part);
        let rows = &mut self.rows;
        *self.places.entry((part.hop, blame)).or_insert_with(|| {
            rows.push(RowInProgress {
                row: CauseTotal {
                    hop: part.hop,
                    blame,
                    duration: 0,
                    weighted: 0,
                    count: 0,
                    late: 0,
                    usual: 0,
                    is_period: false,
                    longest: *part,
                },
                remedy: Remedy::of(analysis, victim, &blame, part),
                last: [None; 2],
            });
            rows.len() - 1
        })
    }

    fn finish(mut self, phases: &Phases<'_>, victim: Victim, measure: Measure) -> VictimTotal {
        for (row, (usual, is_period)) in self.allowed(victim, measure).into_iter().enumerate() {
            let row = &mut self.rows[row].row;
            (row.usual, row.is_period) = (usual, is_period);
        }
        let from = match measure.is_path {
            true => {
                let mut all: Vec<i64> = self.explained.iter().map(|it| it.duration).collect();
                late_from(median(&mut all, self.explained.len()))
            }
            false => late_from(measure.period.unwrap_or(0)),
        };
        let (mut remedies, remedy_of) = self.remedies();
        // By row: the number of the last late explanation that it had a part in. By remedy: what it gains in this one.
        let mut seen_row = vec![usize::MAX; self.rows.len()];
        let mut gains = vec![0; remedies.len()];
        let mut gained: Vec<usize> = Vec::new();
        let (mut late, mut lateness) = (0, 0);
        let ends = self.explained.iter().skip(1).map(|it| it.entries);
        let ends: Vec<usize> = ends.chain([self.entries.len()]).collect();
        for (number, (explained, end)) in self.explained.iter().zip(ends).enumerate() {
            let entries = &self.entries[explained.entries..end];
            let rows = &self.rows;
            let excess = |entry: &BlamedParts| match entry.is_whole {
                true => entry.duration.max(0),
                false => (entry.duration - rows[entry.row].row.usual).max(0),
            };
            let excesses: Vec<i64> = entries.iter().map(excess).collect();
            let all: i64 = excesses.iter().sum();
            if !measure.is_weighed || all < from {
                continue;
            }
            late += 1;
            lateness += all;
            let is_in_phase = phases.at(explained.end).is_some();
            for (entry, excess) in entries.iter().zip(excesses) {
                if excess == 0 {
                    continue;
                }
                let row = &mut self.rows[entry.row].row;
                row.weighted += excess;
                if seen_row[entry.row] != number {
                    seen_row[entry.row] = number;
                    row.late += 1;
                }
                let Some(place) = remedy_of[entry.row] else {
                    continue;
                };
                let of_remedy = &mut remedies[place];
                of_remedy.gain += excess;
                if is_in_phase {
                    of_remedy.in_phase += excess;
                }
                if matches!(row.blame.kind, BlameKind::Execution) {
                    of_remedy.own += excess;
                    of_remedy.usual = Some((row.usual, row.is_period));
                }
                if gains[place] == 0 {
                    gained.push(place);
                }
                gains[place] += excess;
            }
            for place in gained.drain(..) {
                let gain = std::mem::take(&mut gains[place]);
                let of_remedy = &mut remedies[place];
                of_remedy.times += 1;
                if gain > of_remedy.worst.0 {
                    of_remedy.worst = (gain, explained.end);
                }
            }
        }
        remedies.retain(|it| it.gain > 0);
        remedies.sort_by_key(|it| std::cmp::Reverse(it.gain));
        let mut rows: Vec<CauseTotal> = self.rows.iter().map(|it| it.row).collect();
        rows.sort_by_key(|it| std::cmp::Reverse((it.weighted, it.duration)));
        VictimTotal {
            victim,
            explained: self.explained.len() as u64,
            late,
            damaged: self.explained.iter().filter(|it| it.damaged).count() as u64,
            duration: self.explained.iter().map(|it| it.duration).sum(),
            lateness,
            late_from: from,
            rows,
            remedies,
        }
    }

    /// The remedies of all rows, each once, and by row which it is.
    fn remedies(&self) -> (Vec<OfRemedy>, Vec<Option<usize>>) {
        let mut remedies: Vec<OfRemedy> = Vec::new();
        let mut places: HashMap<Remedy, usize> = HashMap::new();
        let of_rows = self.rows.iter().map(|RowInProgress { row, remedy, .. }| {
            let remedy = (*remedy)?;
            let place = *places.entry(remedy).or_insert_with(|| {
                remedies.push(OfRemedy {
                    remedy,
                    gain: 0,
                    own: 0,
                    in_phase: 0,
                    usual: None,
                    times: 0,
                    longest: row.longest,
                    worst: (0, row.longest.end),
                });
                remedies.len() - 1
            });
            let of_remedy = &mut remedies[place];
            if row.longest.duration() > of_remedy.longest.duration() {
                of_remedy.longest = row.longest;
            }
            Some(place)
        });
        let of_rows = of_rows.collect();
        (remedies, of_rows)
    }

    /// By row: how much of it is not too much. What is in the way is too much from the beginning; else it is the median of all explanations, those
    /// without such a part included, and of a callback's own execution at most its period, which is said.
    fn allowed(&self, victim: Victim, measure: Measure) -> Vec<(i64, bool)> {
        let mut durations: Vec<Vec<i64>> = vec![Vec::new(); self.rows.len()];
        for entry in self.entries.iter().filter(|entry| !entry.is_whole) {
            if self.rows[entry.row].row.blame.kind.has_usual() {
                durations[entry.row].push(entry.duration);
            }
        }
        let rows = self.rows.iter().zip(durations);
        let allowed = rows.map(|(row, mut durations)| {
            let usual = median(&mut durations, self.explained.len());
            let is_own = matches!(victim, Victim::Callback(_));
            let most = match (row.row.blame.kind, measure.period) {
                (BlameKind::Execution, Some(period)) if is_own => period,
                _ => i64::MAX,
            };
            (usual.min(most).max(0), most < usual)
        });
        allowed.collect()
    }
}

/// The median (nearest rank) of so many values; those that are not listed are 0.
fn median(values: &mut [i64], of: usize) -> i64 {
    let absent = of.saturating_sub(values.len());
    let rank = of.div_ceil(2).saturating_sub(1);
    match rank.checked_sub(absent) {
        Some(place) if place < values.len() => *values.select_nth_unstable(place).1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_do_without_is_usually_nothing() {
        assert_eq!(median(&mut [7, 9], 5), 0);
        assert_eq!(median(&mut [9, 7, 8], 5), 7);
        assert_eq!(median(&mut [3, 1, 2], 3), 2);
        assert_eq!(median(&mut [], 0), 0);
    }
}
