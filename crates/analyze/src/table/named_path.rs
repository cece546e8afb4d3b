//! Paths that an architecture file names, in our own style: empty without one.

use std::io;

use rostrace_architecture::NamedPath;
use rostrace_ctf::schema::Nanos;

use super::recurring::{CASE, RESPONSE_START, RESPONSE_TIME, STAGE};
use super::statistics_columns::statistics_cells;
use super::{Cell, Column, Role, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::declared::Style;
use crate::declared::paths::{Ends, PathError};
use crate::declared::records::Records;
use crate::declared::response_time::{Case, ResponseTimes};
use crate::declared::stacked_bar::responses;
use crate::declared::summary::{answerable, declared_path, instants, stage_of};
use crate::declared::tables::Indexed;

/// Hands over every named path.
fn each<'m>(
    analysis: &Analysis<'m>,
    mut take: impl FnMut(&Indexed<'m>, &NamedPath) -> io::Result<()>,
) -> io::Result<()> {
    let Some(architecture) = analysis.architecture else {
        return Ok(());
    };
    if architecture.paths.is_empty() {
        return Ok(());
    }
    let indexed = Indexed::new(analysis.model, Style::Own);
    let mut paths = architecture.paths.iter();
    paths.try_for_each(|path| take(&indexed, path))
}

/// The instants of a path that count; nothing if it cannot be followed, which `named_paths` tells.
fn records_of(analysis: &Analysis<'_>, indexed: &Indexed<'_>, path: &NamedPath) -> Option<Records> {
    let counts = |time| analysis.counts(time);
    instants(
        indexed,
        analysis.architecture?,
        path,
        Ends::default(),
        counts,
    )
    .ok()
}

const NAMED_PATH: Column = Column::text("named_path", "Name of the path.").role(Role::NamedPath);

pub(super) const NAMED_PATHS: Table = Table {
    name: "named_paths",
    about: "One path that the file of `--architecture` names, followed as its message contexts say. Empty without such a file.",
    columns: columns! {
        NAMED_PATH,
        integer "begun" "Messages that began; one that led to several outputs counts as often.",
        integer? "complete" "Messages that came through to the end; empty if unknown.",
        statistics "latency" "latency: first publish to the start of the last callback",
        statistics "best" "best response time",
        statistics "worst" "worst response time",
        statistics "worst_with_external_latency" "worst response time with external latency",
        text? "error" "Why the path cannot be followed; nothing if it can.",
    },
    rows: named_paths,
};

fn named_paths(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    each(analysis, |indexed, path| {
        let Some(architecture) = analysis.architecture else {
            return Ok(());
        };
        let counts = |time| analysis.counts(time);
        let found = declared_path(indexed, architecture, path, Ends::default(), counts);
        let error = found.as_ref().err().map(PathError::to_string);
        let found = found.ok();
        let count = |number: Option<usize>| Cell::Integer(number.unwrap_or(0) as i64);
        let complete = match &found {
            Some(found) if found.unknown_arrival.is_some() => Cell::Nothing,
            found => count(found.as_ref().map(|it| it.complete)),
        };
        let mut cells: Vec<Cell<'_>> = vec![
            path.name.as_str().into(),
            count(found.as_ref().map(|it| it.begun)),
            complete,
        ];
        let latency = found.as_ref().and_then(|it| it.latency);
        cells.extend(statistics_cells(latency.as_ref()));
        // All response times are those of the messages that came through: the latency.
        for case in 1..Case::EVERY.len() {
            let times = found.as_ref().and_then(|it| it.response_times[case]);
            cells.extend(statistics_cells(times.as_ref()));
        }
        cells.push(error.as_deref().into());
        take(&cells)
    })
}

pub(super) const NAMED_PATH_STAGES: Table = Table {
    name: "named_path_stages",
    about: "One stage of a named path, summarised over the messages that came through: the means add up to that of the path.",
    columns: columns! {
        NAMED_PATH,
        STAGE,
        text "kind" "`communication`: publish to callback or take; `callback`: start of a callback to the next publish, or to its end; `variable_passing`: end of a callback to the start of the one that reads what it stored.",
        text "name" "Topic of a communication, else the callback.",
        integer "ended_here" "Messages that were seen at its beginning and never after it.",
        statistics "duration" "duration of the stage",
    },
    rows: named_path_stages,
};

fn named_path_stages(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    each(analysis, |indexed, path| {
        let Some(architecture) = analysis.architecture else {
            return Ok(());
        };
        let counts = |time| analysis.counts(time);
        let found = declared_path(indexed, architecture, path, Ends::default(), counts);
        let stages = found.map_or(Vec::new(), |found| found.stages);
        for (number, stage) in stages.iter().enumerate() {
            let mut cells: Vec<Cell<'_>> = Vec::from(cells! {
                path.name.as_str(), number as i64, stage.kind.name(), stage.name.as_str(),
                stage.ended_here as i64,
            });
            cells.extend(statistics_cells(stage.duration.as_ref()));
            take(&cells)?;
        }
        Ok(())
    })
}

pub(super) const NAMED_PATH_INSTANTS: Table = Table {
    name: "named_path_instants",
    about: "One instant of one message along a named path. A message that was lost, or that nothing was made from, has no instant after that.",
    columns: columns! {
        NAMED_PATH,
        integer "message" "Number of the message, in the order of time.",
        integer "place" "Number of the instant, from 0.",
        text "instant" "As CARET names its columns: `/points/rclcpp_publish_timestamp/0`.",
        time "time_ns" "When it was.",
    },
    rows: named_path_instants,
};

fn named_path_instants(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    each(analysis, |indexed, path| {
        let records = records_of(analysis, indexed, path).unwrap_or_default();
        for (message, row) in records.rows.iter().enumerate() {
            for (place, (time, column)) in row.iter().zip(&records.columns).enumerate() {
                let Some(time) = *time else { continue };
                take(&cells! {
                    path.name.as_str(), message as i64, place as i64, column, time,
                })?;
            }
        }
        Ok(())
    })
}

pub(super) const NAMED_RESPONSE_TIMES: Table = Table {
    name: "named_response_times",
    about: "One response time of a named path.",
    columns: &[NAMED_PATH, CASE, RESPONSE_START, RESPONSE_TIME],
    rows: named_response_times,
};

fn named_response_times(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    each(analysis, |indexed, path| {
        let records = records_of(analysis, indexed, path).unwrap_or_default();
        let times = ResponseTimes::of(&answerable(indexed, records), Style::Own);
        for case in Case::EVERY {
            for (start, response) in times.case(case) {
                take(&cells! {
                    path.name.as_str(), case.name(), start, response,
                })?;
            }
        }
        Ok(())
    })
}

pub(super) const NAMED_RESPONSE_STAGES: Table = Table {
    name: "named_response_stages",
    about: "One part of one response time of a named path. The parts of a response add up to it exactly.",
    columns: columns! {
        NAMED_PATH,
        CASE,
        integer "response" "Number of the response in its case, in the order of time.",
        integer "stage" "Number of the part, from 0.",
        text "kind" "`external`: since the input before; else as in `named_path_stages`.",
        text "name" "Topic of a communication, else the callback; empty for `external`.",
        time "begin_ns" "When the part began.",
        duration "duration_ns" "How long it was.",
    },
    rows: named_response_stages,
};

fn named_response_stages(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    each(analysis, |indexed, path| {
        let records = records_of(analysis, indexed, path).unwrap_or_default();
        let records = answerable(indexed, records);
        let mut parts: Vec<(usize, &str, String)> = Vec::new();
        for (place, column) in records.columns.iter().enumerate() {
            let part = stage_of(column);
            parts.extend(part.map(|(kind, name)| (place, kind.name(), name)));
        }
        for case in Case::EVERY {
            // The case with external latency has an instant more at the front.
            let external = case == Case::WorstWithExternalLatency;
            let shift = usize::from(external);
            let mut shown: Vec<(usize, &str, &str)> = Vec::new();
            shown.extend(external.then_some((0, "external", "")));
            let inner = parts.iter();
            shown.extend(inner.map(|(place, kind, name)| (place + shift, *kind, name.as_str())));
            let bars = responses(&records, case, Style::Own);
            for (response, row) in bars.rows.iter().enumerate() {
                for (stage, pair) in shown.windows(2).enumerate() {
                    let [begin, end] = [pair[0].0, pair[1].0].map(|place| row[place]);
                    let (Some(begin), Some(end)) = (begin, end) else {
                        continue;
                    };
                    take(&cells! {
                        path.name.as_str(), case.name(), response as i64, stage as i64, pair[0].1,
                        pair[0].2, Nanos(begin), end - begin,
                    })?;
                }
            }
        }
        Ok(())
    })
}
