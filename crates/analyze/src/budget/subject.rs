//! Whom a budget is about in a recording, and what there is of each of its measures.

use glob::Pattern;
use rostrace_base::similar::most_similar;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;

use super::check::Recording;
use super::key::Measure;
use super::limit::Target;
use crate::declared::Style;
use crate::declared::paths::Ends as IncludedEnds;
use crate::declared::response_time::Case;
use crate::declared::summary::declared_path;
use crate::declared::tables::Indexed;
use crate::flow_path::Ends;
use crate::measured::{Measured, MeasuredCallback, Series, measured_paths, rate_of};
use crate::statistics::Statistics;

/// A thing that a budget is about, and what there is of each measure.
pub(super) struct BudgetSubject {
    pub(super) name: String,
    pub(super) measures: Vec<(Measure, Values)>,
}

pub(super) enum Values {
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

impl Values {
    fn load(of: &MeasuredCallback) -> Values {
        Values::Share {
            share: of.load(),
            values: of.cycles.len(),
            damaged: of.damaged,
        }
    }

    fn rate(instants: &[Nanos], damaged: u64) -> Values {
        Values::Rate {
            hertz: rate_of(instants),
            instants: instants.to_vec(),
            damaged,
        }
    }
}

/// What a budget is about; a reason if there is nothing.
pub(super) fn subjects(
    target: &Target,
    recording: &Recording<'_>,
) -> Result<Vec<BudgetSubject>, String> {
    let measured = recording.measured;
    let subjects = match target {
        Target::Callback { name, trigger } => {
            let trigger = trigger.as_ref();
            let callbacks = measured.callbacks.iter().filter(|it| {
                let is_it = name.matches(&it.node) || name.matches(&it.name);
                let is_named = trigger.is_some_and(|trigger| trigger.as_str() == it.trigger);
                is_it
                    && (is_named || !it.built_in)
                    && trigger.is_none_or(|trigger| trigger.matches(&it.trigger))
            });
            let subjects = callbacks.map(|it| BudgetSubject {
                name: it.name.clone(),
                measures: vec![
                    (Measure::Duration, Values::Series(it.duration.clone())),
                    (Measure::Period, Values::Series(it.period.clone())),
                    (Measure::Lateness, Values::Series(it.lateness.clone())),
                    (Measure::Load, Values::load(it)),
                    (Measure::Rate, Values::rate(&it.starts, it.damaged)),
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
            let topics = topics.map(|it| BudgetSubject {
                name: it.name.clone(),
                measures: vec![
                    (Measure::Period, Values::Series(it.intervals.clone())),
                    (
                        Measure::Rate,
                        Values::rate(&it.instants, it.intervals.damaged),
                    ),
                ],
            });
            let is_by = |pattern: &Option<Pattern>, node: &str| {
                let pattern = pattern.as_ref();
                pattern.is_none_or(|pattern| pattern.matches(node))
            };
            let communications = measured.communications.iter().filter(|it| {
                let is_between =
                    is_by(publisher, &it.publisher) && is_by(subscriber, &it.subscriber);
                fits(&it.topic) && is_between
            });
            let communications = communications.map(|it| BudgetSubject {
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
            let subjects = paths.map(|path| BudgetSubject {
                name: path.name,
                measures: vec![(Measure::Latency, Values::Series(path.latency))],
            });
            subjects.collect()
        }
        Target::NamedPath(name) => vec![named(name, recording)?],
    };
    let subjects: Vec<BudgetSubject> = subjects;
    if subjects.is_empty() {
        return Err(nothing(target, measured));
    }
    Ok(subjects)
}

fn named(name: &str, recording: &Recording<'_>) -> Result<BudgetSubject, String> {
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
    let (ends, counts) = (IncludedEnds::default(), |time| analysis.counts(time));
    let found = declared_path(&indexed, architecture, path, ends, counts);
    let found = found.map_err(|error| error.to_string())?;
    let of_case = |case: Case| found.response_times[case as usize];
    let measures = [
        (Measure::Latency, found.latency),
        (Measure::ResponseTime, of_case(Case::Worst)),
        (Measure::BestResponseTime, of_case(Case::Best)),
    ];
    Ok(BudgetSubject {
        name: name.to_owned(),
        measures: measures
            .map(|(it, found)| (it, Values::Summary(found)))
            .into(),
    })
}

/// Why nothing fits, with the name that may have been meant.
fn nothing(target: &Target, measured: &Measured) -> String {
    let nodes = || measured.nodes.iter().map(|node| node.name.as_str());
    let topics = || measured.topics.iter().map(|topic| topic.name.as_str());
    let hint = |pattern: &Pattern, names: &mut dyn Iterator<Item = &str>| {
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
