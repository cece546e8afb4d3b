//! Processes that left before the others, and nodes that came after them.

use std::collections::BTreeSet;

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{CallbackOwner, InstanceId, NodeId, ProcessId};
use rostrace_tracepoints::Kind;

use super::{
    ENOUGH, Finding, FindingKind, ProcessEnd, Runner, SECOND, is_regular, reason, recorded,
};
use crate::analysis::Analysis;
use crate::clocks::UnsynchronisedHosts;
use crate::statistics::Statistics;

/// A difference that is a smaller part of the recording says nothing.
const NOTICEABLE_PART: f64 = 0.05;
/// So many periods without a sign mean that a process is gone, or stuck.
const PERIODS: i64 = 10;
const LEFT: f64 = 1.0;
const CAME_LATE: f64 = 0.5;
/// A node is late if it came so much later than half of all as a part of the recording, and not earlier than this.
const LATE_PART: f64 = 0.1;
const LATE: i64 = 2 * SECOND;

pub(super) fn find(analysis: &Analysis<'_>, found: &mut Vec<Finding>) {
    let (_, end, _) = recorded(analysis);
    for (process, last, how) in ended_early(analysis) {
        let kind = FindingKind::EndedEarly {
            process,
            before_end: end.0 - last.0,
            end: how,
            inside: inside(analysis, process),
        };
        let severity = match how {
            // Somebody wanted it so, perhaps.
            ProcessEnd::Orderly => LEFT / 2.0,
            ProcessEnd::Abrupt => 2.0 * LEFT,
            ProcessEnd::Unknown => LEFT,
        };
        found.push(Finding::new(kind, severity, Some(last)));
    }
    found.extend(late_nodes(analysis));
}

/// Processes of the application that were heard of for the last time well before the end, though others went on. Silence alone is no end: a process
/// that waits for a request has nothing to say. So either the trace tells that its nodes were destroyed, or something in it had a rhythm.
pub(super) fn ended_early<'a>(
    analysis: &'a Analysis<'_>,
) -> impl Iterator<Item = (ProcessId, Nanos, ProcessEnd)> + 'a {
    let model = analysis.model;
    let (begin, end, length) = recorded(analysis);
    let margin = SECOND.max((NOTICEABLE_PART * length as f64) as i64);
    let mut of_application: BTreeSet<ProcessId> = BTreeSet::new();
    for node in &model.nodes {
        if !built_in::node(&node.name) {
            of_application.insert(node.process);
        }
    }
    let last = move |process: &ProcessId| model.processes[process.index()].recorded().1;
    let goes_on = of_application
        .iter()
        .any(|process| last(process).0 >= end.0 - margin / 2);
    let tells_ends = model.count(Kind::RclNodeFini) > 0;
    // Lost events may be the last ones of anybody, and clocks that differ say nothing of who was last.
    let is_known = goes_on
        && !analysis.is_lossy(begin, end)
        && *analysis.window.end() >= end
        && UnsynchronisedHosts::of(model).is_none();
    let processes = of_application.into_iter().filter(move |_| is_known);
    processes.filter_map(move |process| {
        let last = last(&process);
        let silence = end.0.saturating_sub(last.0);
        // What ended with a recording, before the next one began, did not end early.
        if silence < margin || analysis.is_damaged(last, Nanos(last.0 + margin)) {
            return None;
        }
        let nodes = || {
            let nodes = model.nodes.iter();
            nodes.filter(|node| node.process == process && !built_in::node(&node.name))
        };
        let is_destroyed = nodes().all(|node| node.ended.is_some());
        let had_rhythm = rhythm(analysis, process).is_some_and(|it| silence >= PERIODS * it);
        let how = match (is_destroyed, had_rhythm) {
            (true, _) => ProcessEnd::Orderly,
            (false, true) if tells_ends => ProcessEnd::Abrupt,
            (false, true) => ProcessEnd::Unknown,
            (false, false) => return None,
        };
        Some((process, last, how))
    })
}

/// The shortest period of a timer that fired in a process until it was last heard of.
fn rhythm(analysis: &Analysis<'_>, process: ProcessId) -> Option<i64> {
    let model = analysis.model;
    let (_, last) = model.processes[process.index()].recorded();
    let callbacks = model.callbacks.iter().enumerate();
    let timers = callbacks
        .filter(|(_, it)| it.process == process && matches!(it.owner, CallbackOwner::Timer(_)));
    let periods = timers.filter_map(|(index, _)| {
        let id = rostrace_model::entity::CallbackId::from_index(index);
        let runs = analysis.instances_of(id);
        let starts = runs.iter().map(|id| analysis.instance(*id).start);
        let starts: Vec<Nanos> = starts.collect();
        let mut periods: Vec<(i64, Nanos)> = starts
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0, pair[1]))
            .collect();
        let period = Statistics::of(&mut periods).filter(is_regular)?.p50;
        let is_kept = last.0 - starts.last()?.0 <= 2 * period;
        (is_kept && runs.len() as u64 >= ENOUGH).then_some(period)
    });
    periods.min()
}

/// The callback that a process was in when it was last heard of.
fn inside(analysis: &Analysis<'_>, process: ProcessId) -> Option<Runner> {
    let model = analysis.model;
    let threads = model.threads.iter().enumerate();
    let threads = threads.filter(|(_, thread)| thread.process == process);
    let last: Option<InstanceId> = threads
        .filter_map(|(index, _)| {
            let thread = rostrace_model::entity::ThreadId::from_index(index);
            let last = *analysis.instances_on(thread).last()?;
            super::execution::at_least(analysis, last).map(|_| last)
        })
        .max_by_key(|id| analysis.instance(*id).start);
    Some(Runner::of(model, analysis.instance(last?)))
}

/// Nodes that came long after half of the others, for the first time.
fn late_nodes(analysis: &Analysis<'_>) -> Option<Finding> {
    let model = analysis.model;
    let (begin, _, length) = recorded(analysis);
    let mut names = BTreeSet::new();
    let mut created: Vec<(Nanos, NodeId)> = Vec::new();
    let mut nodes: Vec<(Nanos, NodeId)> = (model.nodes.iter().enumerate())
        .map(|(index, node)| (node.created, NodeId::from_index(index)))
        .collect();
    nodes.sort();
    for (at, id) in nodes {
        let node = &model.nodes[id.index()];
        // What every buffer of transforms makes for itself has another name each time.
        let is_own = built_in::node(&node.name) || node.name.contains("transform_listener_impl_");
        if !is_own && names.insert(node.name.as_str()) {
            created.push((at.max(begin), id));
        }
    }
    let first = created.first()?.0;
    let half = created[created.len().div_ceil(2) - 1].0;
    let usual = 2 * (half.0 - first.0);
    let limit = LATE.max((LATE_PART * length as f64) as i64).max(usual);
    let is_late = |at: Nanos| at.0 - half.0 > limit && !analysis.is_damaged(half, at);
    created.retain(|(at, _)| is_late(*at) && analysis.counts(*at));
    if UnsynchronisedHosts::of(model).is_some() {
        return None;
    }
    let (last, _) = *created.last()?;
    let reasons = created.iter();
    let reasons = reasons.filter_map(|(_, id)| reason::late_node(analysis, *id, half));
    let kind = FindingKind::LateNodes {
        reasons: reason::counted(reasons),
        nodes: created.iter().map(|(_, id)| *id).collect(),
        after: last.0 - half.0,
    };
    Some(Finding::new(kind, CAME_LATE, Some(last)))
}
