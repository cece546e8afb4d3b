//! Threads without a pause, and paths that were slow.

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;

use super::{
    ENOUGH, Evidence, Finding, FindingKind, NOTICEABLE, Runner, damped, is_regular, recorded,
};
use crate::analysis::Analysis;
use crate::flow_latency::PathLatency;
use crate::flow_path::FlowPath;
use crate::statistics::Statistics;
use crate::thread::ThreadSummary;

/// A thread that was observed for a smaller part of the recording is not always busy, whatever it did.
const LONG_ENOUGH: f64 = 0.1;
/// What is busy less than half of the time has time.
const HALF: f64 = 0.5;
/// From here on a thread has no time for anything else.
const ALWAYS_BUSY: f64 = 0.9;

pub(super) fn find(analysis: &Analysis<'_>, evidence: Evidence<'_>, found: &mut Vec<Finding>) {
    let (_, _, length) = recorded(analysis);
    let threads = evidence.threads.iter();
    found.extend(threads.filter_map(|thread| of_thread(thread, length)));
    for (index, (path, latency)) in evidence.paths.iter().enumerate() {
        let finding = of_path(analysis, index, path, latency);
        found.extend(finding.filter(|finding| !is_reported(found, path, finding)));
    }
}

fn of_thread(summary: &ThreadSummary, length: i64) -> Option<Finding> {
    let is_long = summary.observed() as f64 >= LONG_ENOUGH * length as f64;
    let share = summary
        .utilisation()
        .filter(|share| summary.executions >= ENOUGH && is_long && *share >= HALF)?;
    let kind = FindingKind::BusyThread {
        thread: summary.thread,
        share,
        callbacks: summary.shares.len() as u64,
        largest: summary.busiest().and_then(|largest| {
            let runner = Runner {
                process: summary.process,
                ran: largest.ran,
            };
            let busy = largest.busy? as f64;
            Some((runner, busy / summary.time.callbacks.max(1) as f64))
        }),
    };
    Some(Finding::new(kind, share / ALWAYS_BUSY, None))
}

/// Whether a path of one message is as slow as its callback is late, since it is the same message.
fn is_reported(found: &[Finding], path: &FlowPath, finding: &Finding) -> bool {
    let FindingKind::SlowPath { worst: slowest, .. } = finding.kind else {
        return false;
    };
    let is_same = |kind: &FindingKind| matches!(kind, FindingKind::LateExecution { worst, .. } if *worst == slowest);
    path.hops.len() == 1 && found.iter().any(|other| is_same(&other.kind))
}

fn of_path(
    analysis: &Analysis<'_>,
    index: usize,
    path: &FlowPath,
    latency: &PathLatency,
) -> Option<Finding> {
    let latency = latency
        .latency
        .filter(|it| it.count >= ENOUGH && it.max >= NOTICEABLE)?;
    // Between clocks that may differ there is no latency.
    let is_left_out = path.hops.iter().any(|hop| built_in::topic(&hop.topic))
        || path.unsynchronised_hosts(analysis).is_some();
    let at: Nanos = latency.worst;
    (!is_left_out && latency.p50 > 0).then(|| {
        let kind = FindingKind::SlowPath {
            path: index,
            worst: latency.max,
            usual: latency.p50,
        };
        let severity = (latency.max as f64 / latency.p50 as f64).log2() / 2.0;
        // What took many times as long as usual, and still far less than the time to the next message, harms little.
        let against_period =
            period(analysis, path).map(|it| damped(latency.max as f64 / it as f64));
        let severity = severity.min(against_period.unwrap_or(f64::INFINITY));
        Finding::new(kind, severity, Some(at))
    })
}

/// From one message that went along a path to the next, if they keep a rhythm.
fn period(analysis: &Analysis<'_>, path: &FlowPath) -> Option<i64> {
    let first = path.flows.iter().filter_map(|flow| flow.deliveries.first());
    let mut begins: Vec<Nanos> = first
        .map(|id| {
            let publication = analysis.delivery(*id).publication;
            analysis.publication(publication).publish
        })
        .collect();
    begins.sort();
    begins.dedup();
    let periods = begins.windows(2);
    let mut periods: Vec<(i64, Nanos)> = periods
        .map(|pair| (pair[1].0 - pair[0].0, pair[1]))
        .collect();
    let period = Statistics::of(&mut periods).filter(is_regular)?;
    Some(period.p50)
}
