//! A path that an architecture file declares, summarised: stage by stage, end to end, and as response times.
//!
//! Statistics of stages are those of messages that came through to the end, so that their means add up to that of the whole.

use std::collections::BTreeSet;

use rostrace_architecture::node_path::node_paths;
use rostrace_architecture::{Architecture, ContextType, NamedPath};
use rostrace_ctf::schema::Nanos;

use crate::declared::Style;
use crate::declared::paths::{Ends, PathError};
use crate::declared::records::{Cell, Instant, Records, Stamp};
use crate::declared::response_time::{Case, ResponseTimes, leave_out_damaged};
use crate::declared::tables::Indexed;
use crate::statistics::Statistics;

#[derive(Debug)]
pub struct DeclaredPath {
    pub stages: Vec<Stage>,
    pub latency: Option<Statistics>,
    /// By [`Case::EVERY`].
    pub response_times: [Option<Statistics>; 4],
    /// Messages that began, and those of them that came through. A message that led to several outputs counts as often.
    pub begun: usize,
    pub complete: usize,
    /// The first topic on the way of which the trace tells of no message whether it arrived: then nobody knows how many came through.
    pub unknown_arrival: Option<String>,
}

impl DeclaredPath {
    /// What to say where nobody knows whether messages arrived.
    pub fn not_known(&self) -> Option<String> {
        let topic = self.unknown_arrival.as_ref()?;
        Some(format!(
            "whether messages came through is not known: the trace tells of none on {topic} whether it arrived"
        ))
    }
}

/// From one instant of a path to the next.
#[derive(Debug)]
pub struct Stage {
    pub kind: StageKind,
    /// Of a communication the topic, else the callback.
    pub name: String,
    pub duration: Option<Statistics>,
    /// Messages that were seen at its beginning and at no later instant.
    pub ended_here: usize,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StageKind {
        /// Publish to callback, or to the take.
        Communication = "communication",
        /// Start of a callback to the next publish, or to its end.
        Callback = "callback",
        /// End of a callback to the start of the one that reads what it stored.
        VariablePassing = "variable_passing",
    }
}

/// The path as its messages went; an error names the stage where they cannot be followed.
pub fn declared_path(
    indexed: &Indexed<'_>,
    architecture: &Architecture,
    path: &NamedPath,
    ends: Ends,
    counts: impl Fn(Nanos) -> bool,
) -> Result<DeclaredPath, PathError> {
    let records = instants(indexed, architecture, path, ends, counts)?;
    Ok(DeclaredPath {
        unknown_arrival: unknown_arrival(indexed, architecture, path),
        ..summary(indexed, &records)
    })
}

/// The first topic of a path of which the trace tells of no message whether it arrived.
pub fn unknown_arrival(
    indexed: &Indexed<'_>,
    architecture: &Architecture,
    path: &NamedPath,
) -> Option<String> {
    path.steps.windows(2).find_map(|pair| {
        let (from, to) = (&pair[0], &pair[1]);
        let (publisher, subscription) = (from.publisher.as_ref()?, to.subscription.as_ref()?);
        let publishing = architecture.node(&from.node).ok()?;
        let subscribing = architecture.node(&to.node).ok()?;
        let is_known =
            indexed.is_arrival_known((publishing, publisher), (subscribing, subscription));
        (!is_known).then(|| publisher.topic.clone())
    })
}

/// Summarises what [`instants`] found.
pub fn summary(indexed: &Indexed<'_>, records: &Records) -> DeclaredPath {
    let instants: Vec<(usize, StageKind, String)> = records
        .columns
        .iter()
        .enumerate()
        .filter_map(|(number, column)| {
            let (kind, name) = stage_of(column)?;
            Some((number, kind, name))
        })
        .collect();
    let times = ResponseTimes::of(&answerable(indexed, records.clone()), Style::Own);
    let columns: Vec<usize> = instants.iter().map(|(number, ..)| *number).collect();
    let records = records.select(&columns);
    let is_complete = |row: &&Vec<Cell>| row.iter().all(Option::is_some);
    let complete = records.rows.iter().filter(is_complete).count();
    let stages = instants
        .windows(2)
        .enumerate()
        .map(|(number, pair)| stage(&records, number, pair[0].1, pair[0].2.clone()));
    let stages = stages.collect();
    let last = records.columns.len().saturating_sub(1);
    DeclaredPath {
        stages,
        latency: durations(&records, 0, last),
        response_times: Case::EVERY.map(|case| {
            let rows = times.case(case).into_iter();
            let mut values: Vec<_> = rows.map(|(start, time)| (time, Nanos(start))).collect();
            Statistics::of(&mut values)
        }),
        begun: records.rows.len(),
        complete,
        unknown_arrival: None,
    }
}

/// `/sensor → /points → /fusion`, after the name if it has one.
pub fn title(path: &NamedPath) -> String {
    let mut title = String::new();
    for step in &path.steps {
        if let Some(subscription) = &step.subscription {
            title += &format!(" → {} → ", subscription.topic);
        }
        title += &step.node;
    }
    if path.name.is_empty() {
        title
    } else {
        format!("{}: {title}", path.name)
    }
}

/// The instants of all messages of a path that began when it counts.
pub fn instants(
    indexed: &Indexed<'_>,
    architecture: &Architecture,
    path: &NamedPath,
    ends: Ends,
    counts: impl Fn(Nanos) -> bool,
) -> Result<Records, PathError> {
    Ok(stamped_instants(indexed, architecture, path, ends, counts)?.times())
}

/// The same with what happened at each instant.
pub fn stamped_instants(
    indexed: &Indexed<'_>,
    architecture: &Architecture,
    path: &NamedPath,
    ends: Ends,
    counts: impl Fn(Nanos) -> bool,
) -> Result<Records<Stamp>, PathError> {
    let mut records = indexed.stamped_path(architecture, path, ends)?;
    let is_counted = |begin: Stamp| counts(Nanos(begin.time));
    records.rows.retain(|row| row[0].is_some_and(is_counted));
    Ok(records)
}

/// The messages that have response times.
pub fn answerable(indexed: &Indexed<'_>, mut records: Records) -> Records {
    let losses = &indexed.model.losses;
    if losses.any() {
        leave_out_damaged(&mut records, |from, to| losses.between(from, to));
    }
    records
}

/// What begins with an instant, and its name; nothing for the instants inside a stage.
pub fn stage_of(column: &str) -> Option<(StageKind, String)> {
    let (name, _) = column.rsplit_once('/')?;
    let (owner, instant) = name.rsplit_once('/')?;
    let kind = match instant {
        "rclcpp_publish_timestamp" | "agnocast_publish_timestamp" => StageKind::Communication,
        "callback_start_timestamp" | "rmw_take_timestamp" => StageKind::Callback,
        "callback_end_timestamp" => StageKind::VariablePassing,
        _ => return None,
    };
    Some((kind, owner.to_owned()))
}

/// The columns with which a stage begins; the last one ends the last stage.
pub fn stage_columns<T: Instant>(records: &Records<T>) -> Vec<usize> {
    let columns = records.columns.iter().enumerate();
    columns
        .filter(|(_, column)| stage_of(column).is_some())
        .map(|(number, _)| number)
        .collect()
}

fn stage(records: &Records, number: usize, kind: StageKind, name: String) -> Stage {
    let ended_here = records
        .rows
        .iter()
        .filter(|row| row[number].is_some() && row[number + 1..].iter().all(Option::is_none))
        .count();
    Stage {
        kind,
        name,
        duration: durations(records, number, number + 1),
        ended_here,
    }
}

/// Of the messages that came through.
fn durations(records: &Records, from: usize, to: usize) -> Option<Statistics> {
    let complete = records
        .rows
        .iter()
        .filter(|row| row.iter().all(Option::is_some));
    let mut values: Vec<(i64, Nanos)> = complete
        .filter_map(|row| Some((row[to]? - row[from]?, Nanos(row[0]?))))
        .collect();
    Statistics::of(&mut values)
}

/// Where nothing says how a node on a path makes its output, takes it to use the newest input; so too where an output is made from several
/// inputs (`fused` has the ways through nodes for which that is assumed), since then not every one is published in the callback that received this one.
/// Says which nodes these are.
pub fn assume_latest_message(
    architecture: &mut Architecture,
    path: &NamedPath,
    fused: &BTreeSet<[String; 3]>,
) -> Vec<String> {
    let mut assumed = Vec::new();
    for step in &path.steps {
        let (Some(input), Some(output)) = (&step.subscription, &step.publisher) else {
            continue;
        };
        let Ok(node) = architecture.node(&step.node) else {
            continue;
        };
        let found = node_paths(node);
        let through = found
            .between(&step.subscription, &step.publisher)
            .next()
            .and_then(|path| path.context);
        let way = [&step.node, &input.topic, &output.topic].map(String::clone);
        let is_open = match through {
            None => true,
            Some(context) => !context.declared && fused.contains(&way),
        };
        if is_open
            && architecture
                .update_message_context(
                    &step.node,
                    Some(ContextType::UseLatestMessage),
                    input,
                    output,
                )
                .is_ok()
        {
            assumed.push(step.node.clone());
        }
    }
    assumed
}
