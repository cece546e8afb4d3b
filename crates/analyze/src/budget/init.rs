//! A budget file from good runs: what was measured, with room for what varies from one run to the next.
//!
//! Only what every run has gets a budget, and only statistics that have values enough in each of them. `noise` says how far a limit has to
//! be from what was measured so that the next run of the same system keeps it; where that is too far to mean anything, there is no limit.

use std::collections::BTreeSet;
use std::fmt::Write;

use glob::Pattern;

use super::check::Recording;
use super::key::{Bound, Measure, ValueKind};
use super::limit::Target;
use super::noise::{Noise, Scale};
use super::quantity::{Quantity, rounded};
use super::subject::{BudgetSubject, Values, subjects};
use rostrace_base::text::visible;
use rostrace_model::describe::CallbackKind;

use crate::measured::{MeasuredPath, Series, rate_of};

/// What happened less often is nothing to judge others by.
const LEAST_VALUES: usize = 20;
/// A percentile says something if so many values of a run are above it.
const LEAST_ABOVE: f64 = 10.0;
/// Of many paths the slowest: each is followed through the whole recording.
const MOST_PATHS: usize = 50;
/// One run is taken as so many short ones.
const PARTS: usize = 5;

/// A file, and what there is to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    pub text: String,
    pub limits: usize,
    /// Statistics that vary too much for a limit.
    pub too_noisy: usize,
}

/// From runs of the same system.
pub fn generate(runs: &[Recording<'_>], margin: f64, from: &str) -> Generated {
    let number = match runs.len() {
        1 => "one run",
        _ => "these runs",
    };
    let mut text = format!(
        "# What {} kept, with a margin of {} and room for noise: made by `rostrace check --init` of {number}.\n\
         # Edit it: delete what does not matter, tighten what does. Times have a unit (us, ms, s), rates Hz, shares %.\n\
         budgets:\n",
        visible(from),
        Quantity::Share(margin).written(),
    );
    let sections = [
        (
            "Callbacks: how long they take, and how late timers are.",
            of_every_run(runs, callbacks),
        ),
        (
            "Topics: how often, how fast, and what is lost.",
            of_every_run(runs, topics),
        ),
        (
            "Paths, as messages were seen to go; of many the slowest.",
            of_every_run(runs, paths),
        ),
    ];
    let sections = sections.map(|(title, drafts)| {
        let drafts: Vec<(Draft, Vec<Observed>)> = drafts
            .into_iter()
            .map(|draft| {
                let observed = draft.observe(runs);
                (draft, observed)
            })
            .collect();
        (title, drafts)
    });
    let all = sections.iter().flat_map(|(_, drafts)| drafts);
    let noise = Noise::of(all.flat_map(|(_, observed)| {
        observed
            .iter()
            .map(|it| (it.kind(), scale(it.measure), &it.parts[..]))
    }));
    let (mut limits, mut too_noisy) = (0, 0);
    for (title, drafts) in &sections {
        let mut blocks = String::new();
        for (draft, observed) in drafts {
            let (lines, noisy) = written(observed, &noise, margin);
            too_noisy += noisy;
            limits += lines.iter().map(|(_, number)| number).sum::<usize>();
            if !lines.is_empty() {
                blocks += &draft.head;
                lines.iter().for_each(|(line, _)| blocks += line);
            }
        }
        if !blocks.is_empty() {
            let _ = write!(text, "\n  # {title}\n{blocks}");
        }
    }
    if limits == 0 {
        text = text.replace("budgets:\n", "budgets: []\n");
        let nodes = runs.first().map_or(0, |run| run.measured.nodes.len());
        let _ = writeln!(
            text,
            "# Nothing happened {LEAST_VALUES} times in each run of {nodes} nodes in a way that can be limited: there is nothing to go by."
        );
    }
    Generated {
        text,
        limits,
        too_noisy,
    }
}

/// A budget without its limits.
struct Draft {
    /// Lines of the file.
    head: String,
    target: Target,
    measures: Vec<Measure>,
}

/// One statistic in every run.
struct Observed {
    measure: Measure,
    bound: Bound,
    /// Of each run.
    runs: Vec<f64>,
    /// The same, or, of a single run, of its parts.
    parts: Vec<f64>,
}

/// Statistics that vary alike: medians of a measure, and everything above them.
type Variation = (Measure, bool);

/// What all runs have, in the order of the first.
fn of_every_run(runs: &[Recording<'_>], drafts: fn(&Recording<'_>) -> Vec<Draft>) -> Vec<Draft> {
    let Some((first, others)) = runs.split_first() else {
        return Vec::new();
    };
    let others: Vec<BTreeSet<String>> = others
        .iter()
        .map(|run| drafts(run).into_iter().map(|draft| draft.head).collect())
        .collect();
    let mut drafts = drafts(first);
    drafts.retain(|draft| others.iter().all(|heads| heads.contains(&draft.head)));
    drafts
}

fn callbacks(recording: &Recording<'_>) -> Vec<Draft> {
    let mut known = BTreeSet::new();
    let callbacks = recording.measured.callbacks.iter();
    callbacks
        .filter(|it| it.executions >= LEAST_VALUES as u64)
        .filter(|it| known.insert((&it.node, &it.trigger)))
        .map(|it| {
            let (name, trigger) = (Pattern::escape(&it.node), Pattern::escape(&it.trigger));
            Draft {
                head: format!(
                    "  - callback: {}\n    trigger: {}\n",
                    scalar(&name),
                    scalar(&trigger)
                ),
                target: Target::Callback {
                    name: pattern(&name),
                    trigger: Some(pattern(&trigger)),
                },
                measures: match it.kind {
                    CallbackKind::Timer => {
                        vec![Measure::Duration, Measure::Period, Measure::Lateness]
                    }
                    _ => vec![Measure::Duration],
                },
            }
        })
        .collect()
}

fn topics(recording: &Recording<'_>) -> Vec<Draft> {
    let topics = recording.measured.topics.iter();
    topics
        .filter(|it| it.instants.len() >= LEAST_VALUES)
        .map(|it| {
            let name = Pattern::escape(&it.name);
            Draft {
                head: format!("  - topic: {}\n", scalar(&name)),
                target: Target::Topic {
                    name: pattern(&name),
                    publisher: None,
                    subscriber: None,
                },
                measures: vec![Measure::Rate, Measure::Drops, Measure::Latency],
            }
        })
        .collect()
}

fn paths(recording: &Recording<'_>) -> Vec<Draft> {
    let mut known = BTreeSet::new();
    let mut paths: Vec<&MeasuredPath> = recording.measured.paths.iter().collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.latency.numbers().max()));
    let mut drafts: Vec<Draft> = paths
        .into_iter()
        .filter(|it| it.latency.len() >= LEAST_VALUES)
        .filter_map(|it| Some((&it.hops.first()?.publishing_node, &it.hops.last()?.node)))
        .filter(|(from, to)| !from.is_empty() && !to.is_empty())
        .filter(|ends| known.insert(*ends))
        .map(|(from, to)| {
            let (from, to) = (Pattern::escape(from), Pattern::escape(to));
            Draft {
                head: format!(
                    "  - path: {{ from: {}, to: {} }}\n",
                    scalar(&from),
                    scalar(&to)
                ),
                target: Target::Path {
                    from: pattern(&from),
                    to: pattern(&to),
                },
                measures: vec![Measure::Latency],
            }
        })
        .take(MOST_PATHS)
        .collect();
    drafts.sort_by(|a, b| a.head.cmp(&b.head));
    drafts
}

impl Draft {
    /// What can be limited of it.
    fn observe(&self, runs: &[Recording<'_>]) -> Vec<Observed> {
        let found: Option<Vec<Vec<BudgetSubject>>> = runs
            .iter()
            .map(|run| subjects(&self.target, run).ok())
            .collect();
        let Some(runs) = found else {
            return Vec::new();
        };
        let of_measure = |measure: Measure| -> Option<Vec<Vec<&Values>>> {
            let runs = runs.iter().map(|subjects| of_measure(subjects, measure));
            let runs: Vec<_> = runs.collect();
            runs.iter().all(|values| !values.is_empty()).then_some(runs)
        };
        let measures = self.measures.iter();
        let measures = measures.filter_map(|measure| Some((*measure, of_measure(*measure)?)));
        measures
            .flat_map(|(measure, runs)| {
                let fewest = runs.iter().flatten().map(|values| count(values)).min();
                let bounds = bounds(measure, fewest.unwrap_or(0));
                let observed = bounds
                    .into_iter()
                    .filter_map(move |bound| Observed::new(measure, bound, &runs));
                observed.collect::<Vec<_>>()
            })
            .collect()
    }
}

/// Of everything that a budget fits in one run.
fn of_measure(subjects: &[BudgetSubject], measure: Measure) -> Vec<&Values> {
    let measures = subjects.iter().flat_map(|it| &it.measures);
    measures
        .filter(|(it, values)| *it == measure && count(values) > 0)
        .map(|(_, values)| values)
        .collect()
}

fn count(values: &Values) -> usize {
    match values {
        Values::Series(series) | Values::Drops(series) => series.len(),
        Values::Rate { instants, .. } => instants.len(),
        Values::Share { values, .. } => *values,
        Values::Summary(statistics) => statistics.map_or(0, |it| it.count as usize),
    }
}

/// What so many values tell: of times the median, and the highest percentile that is more than the largest few.
fn bounds(measure: Measure, values: usize) -> Vec<Bound> {
    if values < LEAST_VALUES {
        return Vec::new();
    }
    match measure {
        Measure::Rate => vec![Bound::Min, Bound::Max],
        Measure::Drops | Measure::Load => vec![Bound::Max],
        _ => {
            let above = |bound: &Bound| {
                bound.per_mille().is_some_and(|it| {
                    values as f64 * (1.0 - f64::from(it) / 1000.0) >= LEAST_ABOVE - 1e-9
                })
            };
            let highest = Bound::EVERY.into_iter().rfind(above);
            let mut bounds = vec![Bound::P50];
            bounds.extend(highest.filter(|it| *it != Bound::P50));
            bounds
        }
    }
}

impl Observed {
    fn kind(&self) -> Variation {
        (self.measure, self.bound != Bound::P50)
    }

    /// Nothing if a run has no such value, or a negative one: clocks of two hosts differ, and that is nothing to build on.
    fn new(measure: Measure, bound: Bound, runs: &[Vec<&Values>]) -> Option<Observed> {
        let worst = |values: &[&Values], part: Option<usize>| {
            let values = values.iter().filter_map(|it| statistic(it, bound, part));
            match bound {
                Bound::Min => values.reduce(f64::min),
                _ => values.reduce(f64::max),
            }
        };
        let whole: Option<Vec<f64>> = runs.iter().map(|run| worst(run, None)).collect();
        let whole = whole?;
        if whole.iter().any(|value| *value < 0.0) {
            return None;
        }
        let parts = match runs {
            [single] => (0..PARTS)
                .filter_map(|part| worst(single, Some(part)))
                .collect(),
            _ => whole.clone(),
        };
        Some(Observed {
            measure,
            bound,
            runs: whole,
            parts,
        })
    }
}

/// Of everything, or of one of the parts that a run is divided into.
fn statistic(values: &Values, bound: Bound, part: Option<usize>) -> Option<f64> {
    fn of_part<T>(all: &[T], part: Option<usize>) -> &[T] {
        let Some(part) = part else { return all };
        let at = |number: usize| all.len() * number / PARTS;
        &all[at(part)..at(part + 1)]
    }
    match values {
        Values::Series(series) => {
            let series = Series {
                values: of_part(&series.values, part).to_vec(),
                damaged: 0,
            };
            Some(bound.of(&series.statistics()?))
        }
        Values::Rate {
            hertz, instants, ..
        } => match part {
            None => *hertz,
            Some(_) => rate_of(of_part(instants, part)),
        },
        Values::Drops(series) => {
            let all = of_part(&series.values, part);
            let dropped = all.iter().filter(|(dropped, _)| *dropped > 0).count();
            (!all.is_empty()).then(|| dropped as f64 / all.len() as f64)
        }
        Values::Share { share, .. } => *share,
        Values::Summary(statistics) => statistics.as_ref().map(|it| bound.of(it)),
    }
}

fn scale(measure: Measure) -> Scale {
    match measure.key().values {
        ValueKind::Duration if measure == Measure::Period => Scale::Period,
        ValueKind::Duration => Scale::Time,
        ValueKind::Rate => Scale::Rate,
        ValueKind::Share | ValueKind::CountOrShare => Scale::Share,
    }
}

/// A line for each measure with how many limits it has, and how many there are not because of noise.
fn written(
    observed: &[Observed],
    noise: &Noise<Variation>,
    margin: f64,
) -> (Vec<(String, usize)>, usize) {
    let mut lines: Vec<(Measure, Vec<String>)> = Vec::new();
    let mut too_noisy = 0;
    for it in observed {
        let scale = scale(it.measure);
        let is_least = it.bound == Bound::Min;
        let Some(limit) = noise.limit(it.kind(), scale, &it.runs, &it.parts, is_least, margin)
        else {
            too_noisy += 1;
            continue;
        };
        let value = rounded(limit, !is_least);
        let value = match scale {
            Scale::Time | Scale::Period => Quantity::Nanoseconds(value.ceil() as i64),
            Scale::Rate => Quantity::Hertz(value),
            // A ten-thousandth of a percent is as fine as it is written.
            Scale::Share => Quantity::Share(((value * 1e8).ceil() / 1e8).min(1.0)),
        };
        let limit = format!("{}: {}", it.bound.name(), value.written());
        match lines.last_mut() {
            Some((measure, limits)) if *measure == it.measure => limits.push(limit),
            _ => lines.push((it.measure, vec![limit])),
        }
    }
    let lines = lines.into_iter().map(|(measure, limits)| {
        let line = format!("    {}: {{ {} }}\n", measure.name(), limits.join(", "));
        (line, limits.len())
    });
    (lines.collect(), too_noisy)
}

fn pattern(escaped: &str) -> Pattern {
    Pattern::new(escaped).unwrap_or_default()
}

/// A name as YAML: plain where nobody can mistake it.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_~.".contains(c);
    let is_timer = text.strip_prefix("timer ").is_some();
    let is_simple = text.starts_with('/') && text.chars().all(is_plain);
    if is_simple || is_timer && text.chars().all(|c| is_plain(c) || c == ' ' || c == 'µ') {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() || !c.is_ascii() => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
