//! One message along a path that an architecture file names, by default the slowest one of all its paths.

use std::path::Path;

use anyhow::bail;
use glob::Pattern;
use rostrace_analyze::Analysis;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::paths::Ends as IncludedEnds;
use rostrace_analyze::declared::records::Cell;
use rostrace_analyze::declared::summary::{instants, stage_columns};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::declared::way::{Passage, Way, Ways};
use rostrace_architecture::NamedPath;
use rostrace_ctf::schema::Nanos;

use super::subject::{Choice, Subject};
use crate::commands::latency::{Ends, named_path};
use crate::render::diagnostic;
use crate::view::View;

pub(super) fn find(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    file: &Path,
    names: &[Pattern],
    (from, to): (&Ends<'_>, &Ends<'_>),
    choice: Choice,
) -> anyhow::Result<Subject> {
    let architecture = named_path::open(file)?;
    let mut named = named_path::named(&architecture, file, names)?;
    named.retain(|path| is_between(path, from, to));
    if named.is_empty() {
        let names = named_path::names_of(&architecture);
        bail!("no path of this file has these ends; {names}");
    }
    let named = named_path::in_view(&architecture, named, view)?;
    let indexed = Indexed::new(analysis.model, Style::Own);
    let ends = IncludedEnds::default();
    let mut found = Vec::new();
    let mut errors = Vec::new();
    for path in named {
        match instants(&indexed, &architecture, path, ends, |it| {
            analysis.counts(it)
        }) {
            Ok(records) => found.push((path, records)),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if found.is_empty() {
        bail!("{}", errors.join("; "));
    }
    diagnostic::notes(&errors);
    let mut rows: Vec<(usize, &[Cell], Nanos, Nanos)> = Vec::new();
    for (number, (_, records)) in found.iter().enumerate() {
        let columns = stage_columns(records);
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else {
            continue;
        };
        let complete = records
            .rows
            .iter()
            .filter(|row| columns.iter().all(|column| row[*column].is_some()));
        rows.extend(complete.filter_map(|row| {
            let (begin, end) = (Nanos(row[*first]?), Nanos(row[*last]?));
            Some((number, row.as_slice(), begin, end))
        }));
    }
    let picked = choice.pick(rows, |(_, _, begin, end)| (*begin, *end, end.0 - begin.0));
    let way = picked.and_then(|(number, row, ..)| {
        let (path, records) = &found[number];
        let way = Ways::new(&indexed, &architecture, path, records).of(row)?;
        Some(Subject::NamedPath((*path).clone(), way))
    });
    match way {
        Some(subject) => Ok(subject),
        None => bail!(
            "no message came through in this part of the trace; `rostrace paths` with the same file says where they ended"
        ),
    }
}

/// Whether it begins and ends in one of the nodes, or with one of the topics, that were given.
fn is_between(path: &NamedPath, from: &Ends<'_>, to: &Ends<'_>) -> bool {
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
pub(super) fn begin(way: &Way) -> &'static str {
    match way.legs.first().map(|leg| leg.passage) {
        Some(Passage::Communication(_)) | None => "the publication",
        Some(_) => "the start of the first callback",
    }
}

/// What it ends with.
pub(super) fn end(analysis: &Analysis<'_>, way: &Way) -> &'static str {
    match way.legs.last().map(|leg| leg.passage) {
        Some(Passage::Output { .. }) => "the last publication",
        Some(Passage::Execution(_)) => "the end of the last callback",
        Some(Passage::Communication(Some(id))) if analysis.delivery(id).instance.is_none() => {
            "the last take"
        }
        _ => "the start of the last callback",
    }
}
