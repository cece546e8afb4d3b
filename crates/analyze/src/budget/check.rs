//! Budgets held against a recording.

use std::collections::BTreeSet;

use rostrace_architecture::{Architecture, most_similar};
use rostrace_ctf::schema::Nanos;

use super::file::{Budget, Limit, Target};
use super::key::{Bound, Measure, SubjectKind};
use super::quantity::Quantity;
use super::run::beyond;
use crate::analysis::Analysis;
use crate::built_in;
use crate::declared::Style;
use crate::declared::paths::Ends as IncludedEnds;
use crate::declared::response_time::Case;
use crate::declared::summary::declared_path;
use crate::declared::tables::Indexed;
use crate::flow_path::Ends;
use crate::measured::{Measured, Series, measured_paths, rate_of};
use crate::rate::bins;
use crate::statistics::Statistics;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    Broken,
    /// Nothing fits, or what fits did nothing.
    Nothing,
    /// The same, and the budget is optional.
    Skipped,
    Kept,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Broken => "broken",
            Verdict::Nothing => "nothing",
            Verdict::Skipped => "skipped",
            Verdict::Kept => "kept",
        }
    }

    pub fn is_failure(self) -> bool {
        matches!(self, Verdict::Broken | Verdict::Nothing)
    }
}

/// One limit of one budget, held against one thing.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// Counts the budgets of the file.
    pub budget: usize,
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
    let budgets = budgets.iter().enumerate();
    budgets
        .flat_map(|(number, budget)| judge(number, budget, recording))
        .collect()
}

/// A thing that a budget is about, and what there is of each measure.
struct Subject {
    name: String,
    measures: Vec<(Measure, Values)>,
}

enum Values {
    Series(Series),
    /// Of these instants, without those between which events were lost.
    Rate {
        hertz: Option<f64>,
        instants: Vec<Nanos>,
        damaged: u64,
    },
    Share {
        share: Option<f64>,
        values: usize,
        damaged: u64,
    },
    /// 1 for each message that did not arrive.
    Drops(Series),
    Summary(Option<Statistics>),
}

fn judge(number: usize, budget: &Budget, recording: &Recording<'_>) -> Vec<Judgement> {
    let blank = |limit: Option<Limit>| {
        let at = limit.map_or(budget.at, |limit| limit.at);
        Judgement {
            budget: number,
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
        let value = match limit.bound {
            Bound::Min => statistics.min,
            Bound::Mean => statistics.mean.round() as i64,
            Bound::P50 => statistics.p50,
            Bound::P90 => statistics.p90,
            Bound::P95 => statistics.p95,
            Bound::P99 => statistics.p99,
            Bound::P99_9 => statistics.p99_9,
            Bound::Max => statistics.max,
        };
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
    fn beyond(&mut self, limit: &Limit, allowed: super::file::Allowed, values: &[(i64, Nanos)]) {
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

/// What a budget is about; a reason if there is nothing.
fn subjects(target: &Target, recording: &Recording<'_>) -> Result<Vec<Subject>, String> {
    let measured = recording.measured;
    let subjects = match target {
        Target::Callback { name, trigger } => {
            let callbacks = measured.callbacks.iter().filter(|it| {
                let is_it = name.matches(&it.node) || name.matches(&it.name);
                let is_named = trigger
                    .as_ref()
                    .is_some_and(|it_is| it_is.as_str() == it.trigger);
                is_it
                    && (is_named || !it.is_built_in())
                    && trigger
                        .as_ref()
                        .is_none_or(|trigger| trigger.matches(&it.trigger))
            });
            let subjects = callbacks.map(|it| Subject {
                name: it.name.clone(),
                measures: vec![
                    (Measure::Duration, Values::Series(it.duration.clone())),
                    (Measure::Period, Values::Series(it.period.clone())),
                    (Measure::Lateness, Values::Series(it.lateness.clone())),
                    (
                        Measure::Load,
                        Values::Share {
                            share: it.load(),
                            values: it.cycles.len(),
                            damaged: it.damaged,
                        },
                    ),
                    (
                        Measure::Rate,
                        Values::Rate {
                            hertz: rate_of(&it.starts),
                            instants: it.starts.clone(),
                            damaged: it.damaged,
                        },
                    ),
                ],
            });
            subjects.collect()
        }
        Target::Topic {
            name,
            publisher,
            subscriber,
        } => {
            // What every node has is meant only by those who name it.
            let fits = |topic: &str| {
                name.as_str() == topic || name.matches(topic) && !built_in::topic(topic)
            };
            let topics = measured.topics.iter().filter(|it| fits(&it.name));
            let topics = topics.map(|it| Subject {
                name: it.name.clone(),
                measures: vec![
                    (Measure::Period, Values::Series(it.intervals.clone())),
                    (
                        Measure::Rate,
                        Values::Rate {
                            hertz: it.rate(),
                            instants: it.instants.clone(),
                            damaged: it.intervals.damaged,
                        },
                    ),
                ],
            });
            let communications = measured.communications.iter().filter(|it| {
                let publishes = publisher
                    .as_ref()
                    .is_none_or(|name| name.matches(&it.publisher));
                let receives = subscriber
                    .as_ref()
                    .is_none_or(|name| name.matches(&it.subscriber));
                fits(&it.topic) && publishes && receives
            });
            let communications = communications.map(|it| Subject {
                name: it.name(),
                measures: vec![
                    (Measure::Latency, Values::Series(it.latency.clone())),
                    (Measure::Drops, Values::Drops(it.drops.clone())),
                ],
            });
            topics.chain(communications).collect()
        }
        Target::Path { from, to } => {
            let (is_from, is_to) = (
                |name: &str| from.matches(name),
                |name: &str| to.matches(name),
            );
            let ends = Ends {
                from: Some(&is_from),
                to: Some(&is_to),
            };
            let paths = measured_paths(recording.analysis, &ends, false).into_iter();
            let subjects = paths.map(|path| Subject {
                name: path.name,
                measures: vec![(Measure::Latency, Values::Series(path.latency))],
            });
            subjects.collect()
        }
        Target::NamedPath(name) => vec![named(name, recording)?],
    };
    let subjects: Vec<Subject> = subjects;
    if subjects.is_empty() {
        return Err(nothing(target, measured));
    }
    Ok(subjects)
}

fn named(name: &str, recording: &Recording<'_>) -> Result<Subject, String> {
    let Some(architecture) = recording.architecture else {
        return Err("only an architecture file can name a path; --architecture says which".into());
    };
    let Some(path) = architecture.paths.iter().find(|path| path.name == name) else {
        let names = architecture.paths.iter().map(|path| path.name.as_str());
        let hint = match most_similar(name, names) {
            Some(similar) => format!("; do you mean `{similar}`?"),
            None => String::new(),
        };
        return Err(format!("the architecture file names no such path{hint}"));
    };
    let analysis = recording.analysis;
    let indexed = Indexed::new(analysis.model, Style::Own);
    let ends = IncludedEnds {
        first_callback: false,
        last_callback: false,
    };
    let found = declared_path(&indexed, architecture, path, ends, |time| {
        analysis.counts(time)
    });
    let found = found.map_err(|error| error.to_string())?;
    let of_case = |case: Case| {
        let place = Case::EVERY.iter().position(|it| *it == case);
        place.and_then(|place| found.response_times[place])
    };
    Ok(Subject {
        name: name.to_owned(),
        measures: vec![
            (Measure::Latency, Values::Summary(found.latency)),
            (Measure::ResponseTime, Values::Summary(of_case(Case::Worst))),
            (
                Measure::BestResponseTime,
                Values::Summary(of_case(Case::Best)),
            ),
        ],
    })
}

/// Why nothing fits, with the name that may have been meant.
fn nothing(target: &Target, measured: &Measured) -> String {
    let nodes = || measured.nodes.iter().map(|node| node.name.as_str());
    let topics = || measured.topics.iter().map(|topic| topic.name.as_str());
    let hint = |pattern: &glob::Pattern, names: &mut dyn Iterator<Item = &str>| {
        let similar = most_similar(pattern.as_str(), names);
        similar.map_or(String::new(), |similar| format!("; similar: {similar}"))
    };
    match target {
        Target::Callback { name, trigger } => {
            let mut of_node = measured.callbacks.iter();
            match of_node.any(|it| name.matches(&it.node) || name.matches(&it.name)) {
                true => {
                    let triggers = measured.callbacks.iter();
                    let triggers = triggers.filter(|it| name.matches(&it.node));
                    let mut triggers = triggers.map(|it| it.trigger.as_str());
                    let hint = trigger.as_ref().map(|it| hint(it, &mut triggers));
                    format!(
                        "matches nothing: such a node has no such callback{}",
                        hint.unwrap_or_default()
                    )
                }
                false => format!("matches nothing{}", hint(name, &mut nodes())),
            }
        }
        Target::Topic { name, .. } => format!("matches nothing{}", hint(name, &mut topics())),
        Target::Path { from, to } => {
            for end in [from, to] {
                if !nodes().chain(topics()).any(|name| end.matches(name)) {
                    let hint = hint(end, &mut nodes().chain(topics()));
                    return format!("matches nothing: there is no node and no topic `{end}`{hint}");
                }
            }
            "matches nothing: no message was seen to go this way without a break; an architecture file can say how nodes make outputs \
             from stored inputs"
                .to_owned()
        }
        Target::NamedPath(_) => "matches nothing".to_owned(),
    }
}
