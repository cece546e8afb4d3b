//! Which events are wanted: from the options to a [`Selection`], with a hint where it can select nothing.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use glob::Pattern;
use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Selection, TraceSet};

use crate::args::FilterArguments;
use crate::outcome::wrong_usage;
use crate::source;
use crate::time_argument::TimeArgument;
use crate::window;

/// Names that are less alike than this are not worth a hint.
const ALIKE: f64 = 0.75;
const MOST_HINTS: usize = 3;

/// What was asked for on the command line, with times that are meant in this set.
pub(crate) fn selection(set: &TraceSet, arguments: &FilterArguments) -> anyhow::Result<Selection> {
    let time = time_range(set, arguments.from, arguments.to)?;
    Ok(Selection {
        events: arguments
            .events
            .iter()
            .map(|glob| glob.as_str().to_owned())
            .collect(),
        time,
        vpids: arguments.vpids.clone(),
        vtids: arguments.vtids.clone(),
        cpus: arguments.cpus.clone(),
    })
}

/// What `--from` and `--to` mean in this set; nothing if neither was given.
pub(crate) fn time_range(
    set: &TraceSet,
    from: Option<TimeArgument>,
    to: Option<TimeArgument>,
) -> anyhow::Result<Option<RangeInclusive<Nanos>>> {
    if from.is_none() && to.is_none() {
        return Ok(None);
    }
    let span = source::span(set);
    let from = from.map(|time| time.resolve(span)).transpose()?;
    let to = to.map(|time| time.resolve(span)).transpose()?;
    let (from, to) = (
        from.unwrap_or(Nanos(i64::MIN)),
        to.unwrap_or(Nanos(i64::MAX)),
    );
    if from > to {
        wrong_usage!("--from is a later time than --to, so that nothing can be between them");
    }
    Ok(Some(from..=to))
}

/// A sentence for each pattern that no declared event has, and for a range of time in which there are no events.
pub(crate) fn hints(set: &TraceSet, selection: &Selection) -> Vec<String> {
    let mut hints = unknown_names(set, selection);
    let covered = source::span(set).map(|span| (span.begin, span.end));
    if let (Some(time), Some((begin, end))) = (&selection.time, covered)
        && (*time.end() < begin || *time.start() > end)
    {
        hints.push(window::nothing_in(time, (begin, end)));
    }
    hints
}

fn unknown_names(set: &TraceSet, selection: &Selection) -> Vec<String> {
    let classes = set.traces.iter().flat_map(|trace| &trace.schema.streams);
    let names: BTreeSet<&str> = classes
        .flat_map(|stream| {
            stream
                .events
                .iter()
                .filter_map(|event| event.name.as_deref())
        })
        .collect();
    let unknown = selection.events.iter().filter(|glob| {
        Pattern::new(glob).is_ok_and(|pattern| !names.iter().any(|name| pattern.matches(name)))
    });
    unknown
        .map(|glob| {
            let similar = similar(glob, &names);
            if similar.is_empty() {
                format!(
                    "no event of these traces is named `{glob}`; `rostrace info` lists their names"
                )
            } else {
                let similar: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
                format!(
                    "no event of these traces is named `{glob}`; similar: {}",
                    similar.join(", ")
                )
            }
        })
        .collect()
}

/// The most similar names, best first.
pub(crate) fn similar<'n>(glob: &str, names: &BTreeSet<&'n str>) -> Vec<&'n str> {
    let plain: String = glob.chars().filter(|c| !"*?[]".contains(*c)).collect();
    let likeness = |name: &str| {
        // People forget the provider: `callback_start` for `ros2:callback_start`.
        let event = name.split_once(':').map_or(name, |(_, event)| event);
        strsim::jaro_winkler(&plain, name).max(strsim::jaro_winkler(&plain, event))
    };
    let mut alike: Vec<(f64, &str)> = names
        .iter()
        .map(|name| (likeness(name), *name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    alike.truncate(MOST_HINTS);
    alike.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_provider_or_a_slip_finds_the_name() {
        let names = BTreeSet::from(["ros2:callback_start", "ros2:rcl_publish", "sched_switch"]);
        assert_eq!(similar("callback_start", &names), ["ros2:callback_start"]);
        assert_eq!(similar("ros2:rcl_publsh", &names)[0], "ros2:rcl_publish");
        assert!(similar("qqq", &names).is_empty());
    }
}
