//! Which events are wanted: from the options to a [`Selection`], with a hint where it can select nothing.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use glob::Pattern;
use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Selection, TraceSet};

use crate::args::FilterArguments;
use crate::name;
use crate::outcome::wrong_usage;
use crate::source;
use crate::time_argument::TimeArgument;
use crate::window;

/// What was asked for on the command line, with times that are meant in this set.
pub(crate) fn selection(set: &TraceSet, arguments: &FilterArguments) -> anyhow::Result<Selection> {
    let time = time_range(set, arguments.since, arguments.until)?;
    known_events(set, &arguments.events)?;
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

/// What `--since` and `--until` mean in this set; nothing if neither was given.
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
        wrong_usage!("--since is a later time than --until, so that nothing can be between them");
    }
    Ok(Some(from..=to))
}

/// A sentence for a range of time in which there are no events.
pub(crate) fn hints(set: &TraceSet, selection: &Selection) -> Vec<String> {
    let covered = source::span(set).map(|span| (span.begin, span.end));
    match (&selection.time, covered) {
        (Some(time), Some((begin, end))) if *time.end() < begin || *time.start() > end => {
            vec![window::nothing_in(time, (begin, end))]
        }
        _ => Vec::new(),
    }
}

/// Fails for a pattern that no declared event has.
fn known_events(set: &TraceSet, patterns: &[Pattern]) -> anyhow::Result<()> {
    let classes = set.traces.iter().flat_map(|trace| &trace.schema.streams);
    let events = classes.flat_map(|stream| &stream.events);
    let names: BTreeSet<&str> = events.filter_map(|event| event.name.as_deref()).collect();
    for pattern in patterns {
        if !names.iter().any(|name| pattern.matches(name)) {
            let names = names.iter().copied();
            let written = pattern.as_str();
            let instead = name::similar_or(written, names, "`rostrace info` lists their names");
            wrong_usage!("--event: no event of these traces is named `{written}`; {instead}");
        }
    }
    Ok(())
}
