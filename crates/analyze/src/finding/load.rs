//! Threads without a pause, and paths that were slow.

use rostrace_ctf::schema::Nanos;

use super::{ENOUGH, Evidence, Finding, FindingKind, NOTICEABLE, recorded};
use crate::analysis::Analysis;
use crate::built_in;
use crate::flow_latency::PathLatency;
use crate::flow_path::FlowPath;
use crate::thread::ThreadSummary;

/// A thread that was observed for a smaller part of the recording is not always busy, whatever it did.
const LONG_ENOUGH: f64 = 0.1;
/// From here on a thread has no time for anything else.
const ALWAYS_BUSY: f64 = 0.9;

pub(super) fn find(analysis: &Analysis<'_>, evidence: Evidence<'_>, found: &mut Vec<Finding>) {
    let (_, _, length) = recorded(analysis);
    let threads = evidence.threads.iter();
    found.extend(threads.filter_map(|thread| of_thread(thread, length)));
    for (index, (path, latency)) in evidence.paths.iter().enumerate() {
        let finding = of_path(index, path, latency);
        found.extend(finding.filter(|finding| !is_told(found, path, finding)));
    }
}

fn of_thread(summary: &ThreadSummary, length: i64) -> Option<Finding> {
    let is_long = summary.observed() as f64 >= LONG_ENOUGH * length as f64;
    let share = summary
        .utilisation()
        .filter(|_| summary.executions >= ENOUGH && is_long)?;
    let kind = FindingKind::BusyThread {
        thread: summary.thread,
        share,
    };
    Some(Finding::new(kind, share / ALWAYS_BUSY, None))
}

/// Whether a path of one message is as slow as its callback is late, since it is the same message.
fn is_told(found: &[Finding], path: &FlowPath, finding: &Finding) -> bool {
    let FindingKind::SlowPath { worst: slowest, .. } = finding.kind else {
        return false;
    };
    let is_same = |kind: &FindingKind| matches!(kind, FindingKind::LateExecution { worst, .. } if *worst == slowest);
    path.hops.len() == 1 && found.iter().any(|other| is_same(&other.kind))
}

fn of_path(index: usize, path: &FlowPath, latency: &PathLatency) -> Option<Finding> {
    let latency = latency
        .latency
        .filter(|it| it.count >= ENOUGH && it.max >= NOTICEABLE)?;
    let own = path.hops.iter().any(|hop| built_in::topic(&hop.topic));
    let at: Nanos = latency.worst;
    (!own && latency.p50 > 0).then(|| {
        let kind = FindingKind::SlowPath {
            path: index,
            worst: latency.max,
            usual: latency.p50,
        };
        let severity = (latency.max as f64 / latency.p50 as f64).log2() / 2.0;
        Finding::new(kind, severity, Some(at))
    })
}
