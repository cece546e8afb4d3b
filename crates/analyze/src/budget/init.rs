//! A budget file from a good run: what was measured, with a margin.
//!
//! Each budget is first made without limits and held against the recording by the same code that checks it, so the limits are those of whatever
//! it fits, and the recording that they come from keeps them.

use std::collections::BTreeSet;
use std::fmt::Write;

use glob::Pattern;
use rostrace_architecture::yaml::Position;

use super::check::{Recording, check};
use super::key::{Bound, Measure, ValueKind};
use super::limit::{Budget, Limit, Target};
use super::quantity::{Quantity, rounded};
use crate::measured::{CallbackKind, MeasuredPath};

/// What happened less often is nothing to judge others by.
const LEAST_VALUES: u64 = 20;

/// Of many paths the slowest: each is followed through the whole recording.
const MOST_PATHS: usize = 50;

/// The text of a file.
pub fn generate(recording: &Recording<'_>, margin: f64, from: &str) -> String {
    let mut text = format!(
        "# What {} kept, with a margin of {}: made by `rostrace check --init`.\n\
         # Edit it: delete what does not matter, tighten what does. Times have a unit (us, ms, s), rates Hz, shares %.\n\
         budgets:\n",
        comment(from),
        Quantity::Share(margin).written(),
    );
    let measured = recording.measured;
    let mut empty = true;
    let mut section = |title: &str, budgets: Vec<Draft>| {
        let blocks: Vec<String> = budgets
            .into_iter()
            .filter_map(|draft| draft.write(recording, margin))
            .collect();
        if !blocks.is_empty() {
            empty = false;
            let _ = write!(text, "\n  # {title}\n{}", blocks.concat());
        }
    };
    section(
        "Callbacks: how long they take, and how late timers are.",
        callbacks(recording),
    );
    section(
        "Topics: how often, how fast, and what is lost.",
        topics(recording),
    );
    section(
        "Paths, as messages were seen to go; of many the slowest.",
        paths(recording),
    );
    if empty {
        text = text.replace("budgets:\n", "budgets: []\n");
        let _ = writeln!(
            text,
            "# Nothing happened {LEAST_VALUES} times in this recording of {} nodes: there is nothing to go by.",
            measured.nodes.len()
        );
    }
    text
}

/// A budget without its limits.
struct Draft {
    /// Lines of the file.
    head: String,
    target: Target,
    measures: Vec<(Measure, Vec<Bound>)>,
}

fn callbacks(recording: &Recording<'_>) -> Vec<Draft> {
    let mut known = BTreeSet::new();
    let callbacks = recording.measured.callbacks.iter();
    callbacks
        .filter(|it| it.executions >= LEAST_VALUES)
        .filter(|it| known.insert((&it.node, &it.trigger)))
        .map(|it| {
            let mut measures = vec![(Measure::Duration, ends(it.duration.len()))];
            if it.kind == CallbackKind::Timer {
                measures.push((Measure::Period, vec![Bound::P95]));
                measures.push((Measure::Lateness, ends(it.lateness.len())));
            }
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
                measures,
            }
        })
        .collect()
}

fn topics(recording: &Recording<'_>) -> Vec<Draft> {
    let topics = recording.measured.topics.iter();
    topics
        .filter(|it| it.instants.len() as u64 >= LEAST_VALUES)
        .map(|it| {
            let name = Pattern::escape(&it.name);
            Draft {
                head: format!("  - topic: {}\n", scalar(&name)),
                target: Target::Topic {
                    name: pattern(&name),
                    publisher: None,
                    subscriber: None,
                },
                measures: vec![
                    (Measure::Rate, vec![Bound::Min, Bound::Max]),
                    (Measure::Drops, vec![Bound::Max]),
                    (Measure::Latency, ends(it.instants.len())),
                ],
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
        .filter(|it| it.latency.len() as u64 >= LEAST_VALUES)
        .filter_map(|it| Some((&it.hops.first()?.publishing_node, &it.hops.last()?.node, it)))
        .filter(|(from, to, _)| !from.is_empty() && !to.is_empty())
        .filter(|(from, to, _)| known.insert((*from, *to)))
        .map(|(from, to, it)| {
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
                measures: vec![(Measure::Latency, ends(it.latency.len()))],
            }
        })
        .take(MOST_PATHS)
        .collect();
    drafts.sort_by(|a, b| a.head.cmp(&b.head));
    drafts
}

/// A percentile where there are values enough for one.
fn ends(values: usize) -> Vec<Bound> {
    match values >= Bound::P99.least_values() {
        true => vec![Bound::P99, Bound::Max],
        false => vec![Bound::Max],
    }
}

impl Draft {
    /// Nothing if there is nothing to limit.
    fn write(self, recording: &Recording<'_>, margin: f64) -> Option<String> {
        // Held against the recording once, with limits that say nothing.
        let at = Position { line: 1, column: 1 };
        let limits = self.measures.iter().flat_map(|(measure, bounds)| {
            bounds.iter().map(|bound| Limit {
                at,
                measure: *measure,
                bound: *bound,
                value: anything(*measure),
            })
        });
        let budget = Budget {
            at,
            target: self.target,
            optional: true,
            allowed: None,
            limits: limits.collect(),
        };
        let judgements = check(std::slice::from_ref(&budget), recording);
        let mut text = self.head;
        let mut is_limited = false;
        for (measure, bounds) in &self.measures {
            let mut written = Vec::new();
            for bound in bounds {
                let is_it = |limit: &Limit| limit.measure == *measure && limit.bound == *bound;
                let measured = judgements
                    .iter()
                    .filter(|it| it.limit.as_ref().is_some_and(is_it))
                    .filter_map(|it| it.measured)
                    .map(Quantity::number);
                let limit = limit(*measure, *bound, measured, margin);
                written.extend(limit.map(|it| format!("{}: {}", bound.name(), it.written())));
            }
            if !written.is_empty() {
                is_limited = true;
                let _ = writeln!(text, "    {}: {{ {} }}", measure.name(), written.join(", "));
            }
        }
        is_limited.then_some(text)
    }
}

/// A value of the right kind.
fn anything(measure: Measure) -> Quantity {
    match measure.key().values {
        ValueKind::Duration => Quantity::Nanoseconds(0),
        ValueKind::Rate => Quantity::Hertz(0.0),
        ValueKind::Share | ValueKind::CountOrShare => Quantity::Share(0.0),
    }
}

/// The worst that was measured of anything that fits, and the margin on top.
fn limit(
    measure: Measure,
    bound: Bound,
    measured: impl Iterator<Item = f64>,
    margin: f64,
) -> Option<Quantity> {
    let is_least = bound == Bound::Min;
    let worst = match is_least {
        true => measured.reduce(f64::min),
        false => measured.reduce(f64::max),
    }?;
    // Clocks of two hosts may make a latency negative: nothing to build on.
    if worst < 0.0 {
        return None;
    }
    let value = match is_least {
        true => rounded(worst * (1.0 - margin).max(0.0), false),
        false => rounded(worst * (1.0 + margin), true),
    };
    Some(match anything(measure) {
        Quantity::Nanoseconds(_) => Quantity::Nanoseconds(value.ceil() as i64),
        Quantity::Hertz(_) => Quantity::Hertz(value),
        _ if worst == 0.0 => Quantity::Count(0),
        // A ten-thousandth of a percent is as fine as it is written.
        _ => Quantity::Share(((value * 1e8).ceil() / 1e8).min(1.0)),
    })
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

/// One line, whatever the name of a folder is.
fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
