//! Paths that an architecture file declares.

use std::cmp::Reverse;
use std::collections::HashMap;

use rostrace_analyze::clocks::UnsynchronisedHosts;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::chain::{ChainPart, PartKind};
use rostrace_analyze::declared::path_instance::PathInstance;
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::records::{Cell, Records, Stamp};
use rostrace_analyze::declared::response_time::Case;
use rostrace_analyze::declared::stacked_bar;
use rostrace_analyze::declared::summary::{
    DeclaredPath, StageKind, stage_columns, stamped_instants, summary, title, unknown_arrival,
};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::statistics::Statistics;
use rostrace_analyze::why::Why;
use rostrace_architecture::NamedPath;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::CallbackId;

use super::material::{Instant, Link, Material, Response, ResponseParts, Spread, Stage};
use super::worst::{WORST, worst};
use super::{CAME_THROUGH, ENDED, NOT_PASSED_ON, PathEntry};
use crate::explained::Explained;
use crate::page::Subject;
use crate::page::numbers::numbers;

#[derive(Debug)]
pub(super) struct Declared<'a> {
    subject: Subject<'a>,
    indexed: Indexed<'a>,
    paths: Vec<Path<'a>>,
    /// By the name that the file gives a callback: those that it means.
    callbacks: HashMap<&'a str, Vec<CallbackId>>,
}

#[derive(Debug)]
struct Path<'a> {
    number: usize,
    path: &'a NamedPath,
    found: Result<Found, String>,
}

#[derive(Debug)]
struct Found {
    records: Records,
    /// The slowest first.
    slowest: Vec<PathInstance>,
    summary: DeclaredPath,
    chain: Vec<ChainPart>,
}

impl<'a> Declared<'a> {
    /// Nothing without an architecture file.
    pub(super) fn of(subject: Subject<'a>) -> Option<Declared<'a>> {
        let architecture = subject.options.architecture?;
        let analysis = subject.analysis;
        let mut declared = Declared {
            subject,
            indexed: Indexed::new(analysis.model, Style::Own),
            paths: Vec::new(),
            callbacks: HashMap::new(),
        };
        for node in &architecture.nodes {
            for callback in &node.callbacks {
                let ids = declared.indexed.objects.callbacks(node, callback).to_vec();
                declared.callbacks.insert(&callback.name, ids);
            }
        }
        let indexed = &declared.indexed;
        let counts = |time: Nanos| analysis.counts(time);
        let ends = Ends::default();
        let mut paths = Vec::new();
        for (number, path) in architecture.paths.iter().enumerate() {
            let topics = path.steps.iter().filter_map(|step| step.publisher.as_ref());
            let topics = topics.map(|it| it.topic.as_str());
            let title = title(path);
            let names = [path.name.as_str(), title.as_str()];
            let selection = &subject.analysis.selection;
            let is_wanted = selection.fits_path(&names)
                && selection.fits_any_node(path.node_names().map(Some))
                && selection.fits_any_topic(topics.map(Some));
            if !is_wanted {
                continue;
            }
            let found = stamped_instants(indexed, architecture, path, ends, counts);
            let found = found.and_then(|stamped| {
                let records = stamped.times();
                Ok(Found {
                    slowest: slowest(indexed, &stamped),
                    summary: DeclaredPath {
                        unknown_arrival: unknown_arrival(indexed, architecture, path),
                        ..summary(indexed, &records)
                    },
                    chain: indexed.chain_latency(architecture, path, ends)?,
                    records,
                })
            });
            let found = found.map_err(|error| error.to_string());
            paths.push(Path {
                number,
                path,
                found: found.and_then(|found| match found.summary.not_known() {
                    Some(sentence) => Err(sentence),
                    None => Ok(found),
                }),
            });
        }
        declared.paths = paths;
        Some(declared)
    }

    pub(super) fn rows(&self) -> Vec<PathEntry> {
        let figures = |it: &Option<Statistics>| numbers(self.subject, it.as_ref());
        let paths = self.paths.iter();
        paths
            .map(|path| {
                let summary = path.found.as_ref().ok().map(|found| &found.summary);
                let hops = path.path.steps.len().saturating_sub(1);
                let times = summary.map(|it| it.response_times.each_ref().map(figures));
                // What ends in a communication was lost; elsewhere a newer message was used instead.
                let ended = |on_the_way: bool| {
                    let stages = summary.into_iter().flat_map(|it| &it.stages);
                    let stages =
                        stages.filter(|it| (it.kind == StageKind::Communication) == on_the_way);
                    stages.map(|stage| stage.ended_here as u64).sum()
                };
                PathEntry {
                    id: format!("d{}", path.number),
                    title: title(path.path),
                    declared: true,
                    error: path.found.as_ref().err().cloned(),
                    hops,
                    sent: summary.map_or(0, |it| it.begun as u64),
                    flows: summary.map_or(0, |it| it.complete as u64),
                    lost: ended(true),
                    ended: ended(false),
                    damaged: path
                        .found
                        .as_ref()
                        .map_or(0, |it| self.damaged(&it.records)),
                    assumed: 0,
                    inputs: None,
                    clocks: UnsynchronisedHosts::on_declared_path(
                        self.subject.analysis.model,
                        path.path,
                    )
                    .map(|it| it.sentence()),
                    latency: summary.and_then(|it| figures(&it.latency)),
                    response_times: times.unwrap_or([None; 4]),
                    detailed: false,
                }
            })
            .collect()
    }

    /// How many of the messages that came through were on their way while events were lost.
    fn damaged(&self, records: &Records) -> u64 {
        let through = records.rows.iter().filter_map(|row| {
            let is_complete = row.iter().all(Option::is_some);
            (*row.first()?).zip(*row.last()?).filter(|_| is_complete)
        });
        let is_damaged = |(begin, end): &(i64, i64)| {
            let analysis = self.subject.analysis;
            analysis.is_damaged(Nanos(*begin), Nanos(*end))
        };
        through.filter(is_damaged).count() as u64
    }

    /// Nothing for a path that cannot be followed.
    pub(super) fn material(&self, place: usize) -> Option<Material<'_>> {
        let found = self.paths[place].found.as_ref().ok()?;
        let is_lost = |kind| kind == StageKind::Communication;
        let stages: Vec<Stage> = found
            .summary
            .stages
            .iter()
            .map(|stage| Stage {
                kind: stage.kind.name(),
                name: match stage.kind {
                    StageKind::VariablePassing => format!("{}, stored", self.called(&stage.name)),
                    _ => self.called(&stage.name),
                },
                topic: None,
                node: None,
                duration: numbers(self.subject, stage.duration.as_ref()),
                sent: None,
                arrived: None,
                lost: is_lost(stage.kind).then_some(stage.ended_here as u64),
                ended: (!is_lost(stage.kind)).then_some(stage.ended_here as u64),
            })
            .collect();
        let records = &found.records;
        let last = records.columns.len().saturating_sub(1);
        let instants = self.instants(records);
        let ends = records.rows.iter().map(|row| {
            let reached = row.iter().rposition(Option::is_some).unwrap_or(0);
            match instants[reached].kind {
                _ if reached == last => CAME_THROUGH,
                "start" | "end" | "take" => NOT_PASSED_ON,
                _ => ENDED,
            }
        });
        let mut parts: [Vec<Vec<i64>>; 4] = Default::default();
        let responses = Case::EVERY.map(|case| responses(records, case, &mut parts[case as usize]));
        let nodes = self.paths[place].path.node_names();
        Some(Material {
            nodes: nodes.map(str::to_owned).collect(),
            latency: numbers(self.subject, found.summary.latency.as_ref()),
            chain: found.chain.iter().map(link).collect(),
            ends: ends.collect(),
            instants,
            messages: records.clone(),
            measured: (0, last),
            responses,
            parts: ResponseParts::Declared(parts),
            of: records.rows.len(),
            worst: self.worst(&found.slowest),
            stages,
        })
    }

    /// A callback as the rest of the page calls it; else as the file does.
    fn called(&self, name: &str) -> String {
        let ids = self.callbacks.get(name).and_then(|ids| ids.first());
        let called = ids.map(|id| self.subject.analysis.names.unnumbered(*id));
        called.unwrap_or(name).to_owned()
    }

    fn instants(&self, records: &Records) -> Vec<Instant> {
        let last = records.columns.len().saturating_sub(1);
        let columns = records.columns.iter().enumerate();
        columns
            .map(|(number, column)| {
                let column = column.rsplit_once('/').map_or(column.as_str(), |it| it.0);
                let (owner, event) = column.rsplit_once('/').unwrap_or(("", column));
                let event = event.strip_suffix("_timestamp").unwrap_or(event);
                let (kind, coarse) = match event {
                    "rclcpp_publish" | "agnocast_publish" => ("publish", true),
                    "rcl_publish" => ("rcl_publish", false),
                    "dds_write" => ("handed", false),
                    "rmw_take" => ("take", number == last),
                    "callback_start" => ("start", true),
                    "callback_end" => ("end", true),
                    _ => ("instant", false),
                };
                let callbacks = match kind {
                    "start" => self.callbacks.get(owner).cloned().unwrap_or_default(),
                    _ => Vec::new(),
                };
                Instant {
                    kind,
                    of: self.called(owner),
                    coarse,
                    callbacks,
                }
            })
            .collect()
    }

    fn worst(&self, slowest: &[PathInstance]) -> Vec<Explained> {
        let mut why = Why::new(self.subject.analysis);
        let explanations = slowest.iter().map(|it| why.path_instance(it));
        explanations.map(|it| worst(self.subject, &it)).collect()
    }
}

/// Of the messages that came through.
fn slowest(indexed: &Indexed<'_>, records: &Records<Stamp>) -> Vec<PathInstance> {
    let columns = stage_columns(records);
    let rows = records.rows.iter().enumerate();
    let mut slowest: Vec<(i64, usize)> = rows
        .filter_map(|(number, row)| Some((latency(&columns, row)?, number)))
        .collect();
    slowest.sort_by_key(|(latency, number)| (Reverse(*latency), *number));
    let slowest = slowest.iter().take(WORST);
    slowest
        .filter_map(|(_, number)| PathInstance::of(indexed, &columns, &records.rows[*number]))
        .collect()
}

/// Nothing for a message that did not come through.
fn latency(columns: &[usize], row: &[Cell<Stamp>]) -> Option<i64> {
    let complete = columns.iter().all(|column| row[*column].is_some());
    let ends = columns.first().zip(columns.last()).filter(|_| complete)?;
    Some(row[*ends.1]?.time - row[*ends.0]?.time)
}

fn responses(records: &Records, case: Case, parts: &mut Vec<Vec<i64>>) -> Vec<Response> {
    let found = stacked_bar::responses(records, case, Style::Own);
    let waits = usize::from(case == Case::WorstWithExternalLatency);
    let mut columns: Vec<usize> = stage_columns(records)
        .into_iter()
        .map(|column| column + waits)
        .collect();
    if waits == 1 {
        columns.insert(0, 0);
    }
    let rows = found.rows.iter();
    rows.filter_map(|row| {
        let instants: Option<Vec<i64>> = columns.iter().map(|column| row[*column]).collect();
        let instants = instants?;
        let (from, end) = (*instants.first()?, *instants.last()?);
        parts.push(instants.windows(2).map(|pair| pair[1] - pair[0]).collect());
        Some(Response {
            from,
            time: end - from,
            row: parts.len() - 1,
        })
    })
    .collect()
}

fn link(part: &ChainPart) -> Link {
    Link {
        kind: match part.kind {
            PartKind::Node => "node",
            PartKind::Communication => "communication",
            PartKind::Whole => "whole",
        },
        name: part.name.clone(),
        spread: part.latency.map(|it| Spread {
            count: it.count as u64,
            min: it.min,
            mean: it.mean,
            max: it.max,
        }),
    }
}
