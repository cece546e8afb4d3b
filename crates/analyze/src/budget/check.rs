//! Budgets held against a recording.

use std::collections::BTreeSet;

use rostrace_architecture::Architecture;
use rostrace_ctf::schema::Nanos;

use super::key::{Bound, SubjectKind};
use super::limit::{Allowed, Budget, Limit};
use super::quantity::Quantity;
use super::run::beyond;
use super::subject::{Values, subjects};
use crate::analysis::Analysis;
use crate::measured::Measured;
use crate::rate::bins;
use crate::statistics::Statistics;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Verdict {
        Broken = "broken",
        /// Nothing fits, or what fits did nothing.
        Nothing = "nothing",
        /// The same, and the budget is optional.
        Skipped = "skipped",
        Kept = "kept",
    }
}

impl Verdict {
    pub fn is_failure(self) -> bool {
        matches!(self, Verdict::Broken | Verdict::Nothing)
    }
}

/// One limit of one budget, held against one thing.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// Nothing if the whole budget fits nothing.
    pub limit: Option<Limit>,
    pub line: usize,
    pub column: usize,
    pub kind: SubjectKind,
    /// What it was held against, or what the budget asks for if there is no such thing.
    pub subject: String,
    pub measured: Option<Quantity>,
    pub values: usize,
    /// When it was worst.
    pub worst: Option<Nanos>,
    /// Values that touch a time in which events were lost.
    pub damaged: u64,
    pub verdict: Verdict,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// What budgets are held against.
#[derive(Debug)]
pub struct Recording<'a> {
    pub analysis: &'a Analysis<'a>,
    pub measured: &'a Measured,
    /// Names paths.
    pub architecture: Option<&'a Architecture>,
}

/// All judgements, in the order of the file.
pub fn check(budgets: &[Budget], recording: &Recording<'_>) -> Vec<Judgement> {
    let judgements = budgets.iter().flat_map(|budget| judge(budget, recording));
    judgements.collect()
}

fn judge(budget: &Budget, recording: &Recording<'_>) -> Vec<Judgement> {
    let blank = |limit: Option<Limit>| {
        let at = limit.map_or(budget.at, |limit| limit.at);
        Judgement {
            limit,
            line: at.line,
            column: at.column,
            kind: budget.target.kind(),
            subject: budget.target.description(),
            measured: None,
            values: 0,
            worst: None,
            damaged: 0,
            verdict: match budget.optional {
                true => Verdict::Skipped,
                false => Verdict::Nothing,
            },
            notes: Vec::new(),
        }
    };
    let subjects = match subjects(&budget.target, recording) {
        Ok(subjects) => subjects,
        Err(reason) => {
            let mut judgement = blank(None);
            judgement.notes.push(reason);
            return vec![judgement];
        }
    };
    let mut judgements = Vec::new();
    for limit in &budget.limits {
        let before = judgements.len();
        for subject in &subjects {
            let of_measure = subject.measures.iter();
            for (_, values) in of_measure.filter(|(measure, _)| *measure == limit.measure) {
                let mut judgement = blank(Some(*limit));
                judgement.subject.clone_from(&subject.name);
                if judgement.hold(limit, values, budget) {
                    judgements.push(judgement);
                }
            }
        }
        if judgements.len() == before {
            let mut judgement = blank(Some(*limit));
            let found: BTreeSet<&str> = subjects.iter().map(|it| it.name.as_str()).collect();
            let note = match (found.len(), found.first()) {
                (1, Some(name)) => format!("{name} has no value of this in the recording"),
                (number, _) => format!("none of the {number} that fit has a value of this"),
            };
            judgement.notes.push(note);
            judgements.push(judgement);
        }
    }
    judgements
}

impl Judgement {
    /// Whether there was anything to judge.
    fn hold(&mut self, limit: &Limit, values: &Values, budget: &Budget) -> bool {
        let is_end = matches!(limit.bound, Bound::Min | Bound::Max);
        let allowed = budget.allowed.filter(|_| is_end);
        match values {
            Values::Series(series) => {
                self.values = series.len();
                self.damaged = series.damaged;
                let Some(statistics) = series.statistics() else {
                    return false;
                };
                self.summary(limit, &statistics);
                if limit.bound == Bound::Min {
                    let least = series.values.iter().min();
                    self.worst = least.map(|(_, at)| *at);
                }
                if let Some(allowed) = allowed {
                    self.beyond(limit, allowed, &series.values);
                }
            }
            Values::Summary(statistics) => {
                let Some(statistics) = statistics else {
                    return false;
                };
                self.values = statistics.count as usize;
                self.summary(limit, statistics);
            }
            Values::Rate {
                hertz,
                instants,
                damaged,
            } => {
                self.values = instants.len();
                self.damaged = *damaged;
                let Some(hertz) = hertz else {
                    return false;
                };
                self.measured = Some(Quantity::Hertz(*hertz));
                self.compare(limit, *hertz);
                let seconds: Vec<_> = bins(instants).collect();
                let worst = match limit.bound {
                    Bound::Min => seconds.iter().min_by_key(|bin| bin.count),
                    _ => seconds.iter().rev().max_by_key(|bin| bin.count),
                };
                self.worst = worst.map(|bin| bin.begin);
                if let Some(allowed) = allowed {
                    let seconds = seconds.iter().map(|bin| (bin.count as i64, bin.begin));
                    self.beyond(limit, allowed, &seconds.collect::<Vec<_>>());
                }
            }
            Values::Share {
                share,
                values,
                damaged,
            } => {
                self.values = *values;
                self.damaged = *damaged;
                let Some(share) = share else {
                    return false;
                };
                self.measured = Some(Quantity::Share(*share));
                self.compare(limit, *share);
            }
            Values::Drops(series) => {
                self.values = series.len();
                self.damaged = series.damaged;
                if series.is_empty() {
                    return false;
                }
                let dropped = series.values.iter().filter(|(dropped, _)| *dropped > 0);
                let number = dropped.clone().count();
                self.worst = dropped.clone().map(|(_, at)| *at).next();
                let measured = match limit.value {
                    Quantity::Count(_) => Quantity::Count(number as u64),
                    _ => Quantity::Share(number as f64 / series.len() as f64),
                };
                self.measured = Some(measured);
                self.compare(limit, measured.number());
            }
        }
        true
    }

    fn summary(&mut self, limit: &Limit, statistics: &Statistics) {
        let value = limit.bound.of(statistics).round() as i64;
        self.measured = Some(Quantity::Nanoseconds(value));
        self.worst = Some(statistics.worst);
        self.compare(limit, value as f64);
        let (values, least) = (self.values, limit.bound.least_values());
        if values < least {
            let name = limit.bound.name();
            let which = match values {
                1 => "the only one".to_owned(),
                _ => format!("the largest of {values}"),
            };
            self.notes.push(format!(
                "{name} of so few values is {which}; it takes {least} to tell"
            ));
        }
    }

    fn compare(&mut self, limit: &Limit, measured: f64) {
        let value = limit.value.number();
        let is_kept = match limit.bound {
            Bound::Min => measured >= value,
            _ => measured <= value,
        };
        self.verdict = match is_kept {
            true => Verdict::Kept,
            false => Verdict::Broken,
        };
    }

    /// Some may be beyond: decides anew by how many are, and how many in a row.
    fn beyond(&mut self, limit: &Limit, allowed: Allowed, values: &[(i64, Nanos)]) {
        let value = limit.value.number();
        let found = beyond(values, |it| match limit.bound {
            Bound::Min => (it as f64) < value,
            _ => it as f64 > value,
        });
        let ratio = found.number as f64 / values.len().max(1) as f64;
        let too_many = ratio > allowed.ratio;
        let too_long = allowed.run.is_some_and(|run| found.longest as u64 > run);
        self.verdict = match too_many || too_long {
            true => Verdict::Broken,
            false => Verdict::Kept,
        };
        if found.number > 0 {
            self.worst = found.longest_at.or(self.worst);
            self.notes.push(format!(
                "{} of {} values beyond it, {} in a row",
                found.number,
                values.len(),
                found.longest
            ));
        }
    }
}
