//! One message along a path that an architecture file names, by default the slowest one of all its paths.

use std::path::Path;

use anyhow::bail;
use glob::Pattern;
use rostrace_analyze::Analysis;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::path_instance::{PathInstance, SegmentKind};
use rostrace_analyze::declared::paths::Ends as IncludedEnds;
use rostrace_analyze::declared::records::{Cell, Records, Stamp};
use rostrace_analyze::declared::summary::{
    assume_latest_message, stage_columns, stamped_instants, unknown_arrival,
};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_architecture::{Architecture, NamedPath, from_trace_with_flows};
use rostrace_ctf::schema::Nanos;

use super::subject::{Choice, Subject};
use crate::commands::latency::{Ends, assumption, named_path, search};
use crate::render::diagnostic;
use crate::view::View;

/// A path, the nodes that are taken to have used their newest input, and the instants of its messages.
type Followed = (NamedPath, Vec<String>, Records<Stamp>);

pub(super) fn find(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    (architecture, file): (&Architecture, &Path),
    names: &[Pattern],
    ends: (&Ends, &Ends),
    choice: Choice,
) -> anyhow::Result<Subject> {
    let indexed = Indexed::new(analysis.model, Style::Own);
    let found = followed(analysis, view, &indexed, (architecture, file), names, ends)?;
    if let Some(subject) = pick(&indexed, &found, choice) {
        return Ok(subject);
    }
    let unknown_arrival = found
        .iter()
        .any(|(path, ..)| unknown_arrival(&indexed, architecture, path).is_some());
    match unknown_arrival {
        true => bail!(
            "whether messages came through is not known: the trace does not tell of messages on the way whether they arrived"
        ),
        false => bail!(
            "no message came through in this part of the trace; `rostrace paths` with the same file says where they ended"
        ),
    }
}

/// All messages that came through, along each path of the file that is meant.
pub(super) fn all(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    architecture: (&Architecture, &Path),
    names: &[Pattern],
    ends: (&Ends, &Ends),
) -> anyhow::Result<Vec<(NamedPath, Vec<PathInstance>)>> {
    let indexed = Indexed::new(analysis.model, Style::Own);
    let found = followed(analysis, view, &indexed, architecture, names, ends)?;
    Ok(instances(&indexed, found))
}

fn followed(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    indexed: &Indexed<'_>,
    (architecture, file): (&Architecture, &Path),
    names: &[Pattern],
    (from, to): (&Ends, &Ends),
) -> anyhow::Result<Vec<Followed>> {
    let mut named = named_path::named(architecture, file, names)?;
    named.retain(|path| is_between(path, from, to));
    if named.is_empty() {
        let names = named_path::names_of(architecture);
        bail!("no path of this file has these ends; {names}");
    }
    let named = named_path::in_view(architecture, named, view)?;
    let ends = IncludedEnds::default();
    let mut found = Vec::new();
    let mut errors = Vec::new();
    for path in named {
        match stamped_instants(indexed, architecture, path, ends, |it| analysis.counts(it)) {
            Ok(records) => found.push((path.clone(), Vec::new(), records)),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if found.is_empty() {
        bail!("{}", errors.join("; "));
    }
    diagnostic::notes(&errors);
    Ok(found)
}

/// Paths between two ends that are looked at.
const MOST_PATHS: usize = 5;

/// The slowest message between two ends where observation finds none, since a callback on the way publishes what another one stored: as `latency` does, nodes
/// are taken to use their newest input.
pub(super) fn between(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    ends: (&Ends, &Ends),
    choice: Choice,
) -> Option<Subject> {
    let indexed = Indexed::new(analysis.model, Style::Own);
    pick(&indexed, &assumed(analysis, view, &indexed, ends), choice)
}

/// All messages between two ends, in the same way.
pub(super) fn all_between(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    ends: (&Ends, &Ends),
) -> Vec<(NamedPath, Vec<PathInstance>)> {
    let indexed = Indexed::new(analysis.model, Style::Own);
    let found = assumed(analysis, view, &indexed, ends);
    let mut nodes: Vec<String> = found.iter().flat_map(|it| it.1.clone()).collect();
    nodes.sort();
    nodes.dedup();
    if !nodes.is_empty() {
        diagnostic::note(&assumption(&nodes));
    }
    instances(&indexed, found)
}

fn assumed(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    indexed: &Indexed<'_>,
    (from, to): (&Ends, &Ends),
) -> Vec<Followed> {
    if from.names.is_empty() || to.names.is_empty() {
        return Vec::new();
    }
    let architecture = from_trace_with_flows(analysis.model);
    let mut found = Vec::new();
    let fused = analysis.stored_inputs().node_paths(analysis);
    for path in search(&architecture, from, to, MOST_PATHS, view) {
        let mut assuming = architecture.clone();
        let assumed = assume_latest_message(&mut assuming, &path, &fused);
        let ends = IncludedEnds::default();
        let counts = |time| analysis.counts(time);
        if let Ok(records) = stamped_instants(indexed, &assuming, &path, ends, counts) {
            found.push((path, assumed, records));
        }
    }
    found
}

fn pick(indexed: &Indexed<'_>, found: &[Followed], choice: Choice) -> Option<Subject> {
    let mut rows: Vec<(usize, &[Cell<Stamp>], Nanos, Nanos)> = Vec::new();
    for (number, (.., records)) in found.iter().enumerate() {
        rows.extend(complete(records).map(|(row, begin, end)| (number, row, begin, end)));
    }
    let (number, row, ..) =
        choice.pick(rows, |(_, _, begin, end)| (*begin, *end, end.0 - begin.0))?;
    let (path, assumed, records) = &found[number];
    let path_instance = PathInstance::of(indexed, &stage_columns(records), row)?;
    Some(Subject::NamedPath(
        path.clone(),
        path_instance,
        assumed.clone(),
    ))
}

fn instances(indexed: &Indexed<'_>, found: Vec<Followed>) -> Vec<(NamedPath, Vec<PathInstance>)> {
    let all = found.into_iter().map(|(path, _, records)| {
        let columns = stage_columns(&records);
        let rows = complete(&records);
        let rows = rows.filter_map(|(row, ..)| PathInstance::of(indexed, &columns, row));
        let rows = rows.collect();
        (path, rows)
    });
    all.collect()
}

/// The messages that came through, with their first and last instant.
fn complete(records: &Records<Stamp>) -> impl Iterator<Item = (&[Cell<Stamp>], Nanos, Nanos)> {
    let columns = stage_columns(records);
    records.rows.iter().filter_map(move |row| {
        let is_complete = columns.iter().all(|column| row[*column].is_some());
        let (first, last) = columns.first().zip(columns.last())?;
        let ends = row[*first].zip(row[*last]).filter(|_| is_complete);
        ends.map(|(begin, end)| (row.as_slice(), Nanos(begin.time), Nanos(end.time)))
    })
}

/// Whether it begins and ends in one of the nodes, or with one of the topics, that were given.
fn is_between(path: &NamedPath, from: &Ends, to: &Ends) -> bool {
    let first = path.steps.first();
    let last = path.steps.last();
    let is_from = first.is_some_and(|step| {
        let topic = step.publisher.as_ref().map(|it| it.topic.as_str());
        from.has(&step.node) || topic.is_some_and(|topic| from.has(topic))
    });
    let is_to = last.is_some_and(|step| {
        let topic = step.subscription.as_ref().map(|it| it.topic.as_str());
        to.has(&step.node) || topic.is_some_and(|topic| to.has(topic))
    });
    (from.names.is_empty() || is_from) && (to.names.is_empty() || is_to)
}

/// `/sensor → /points → /fusion`, for each communication of a path.
pub(super) fn hops(path: &NamedPath) -> impl Iterator<Item = String> {
    let pairs = path.steps.windows(2);
    pairs.filter_map(|pair| {
        let topic = &pair[1].subscription.as_ref()?.topic;
        Some(format!("{} → {topic} → {}", pair[0].node, pair[1].node))
    })
}

/// What a message's time begins with.
pub(super) fn begin(path_instance: &PathInstance) -> &'static str {
    match path_instance.segments.first().map(|segment| segment.kind) {
        Some(SegmentKind::Communication(_)) | None => "the publication",
        Some(_) => "the start of the first callback",
    }
}

/// What it ends with.
pub(super) fn end(analysis: &Analysis<'_>, path_instance: &PathInstance) -> &'static str {
    match path_instance.segments.last().map(|segment| segment.kind) {
        Some(SegmentKind::Output { .. }) => "the last publication",
        Some(SegmentKind::Execution(_)) => "the end of the last callback",
        Some(SegmentKind::Communication(Some(id))) if analysis.delivery(id).instance.is_none() => {
            "the last take"
        }
        _ => "the start of the last callback",
    }
}
