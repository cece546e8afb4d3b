//! What hurts most: of everything that was measured, the few things that a person should look at first.
//!
//! Each finding has a severity, so that a late callback can be weighed against a lost message: 1 is where the system no longer does what it was set to
//! do (an execution as long as its period, one message of ten lost, a thread without a pause, four times the usual latency), and from a half on it is worth a
//! look.

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::{CallbackId, CallbackOwner, PublisherId, SubscriptionId, ThreadId};

use crate::analysis::Analysis;
use crate::built_in;
use crate::callback::CallbackSummary;
use crate::communication::{DropCause, Pair};
use crate::endpoint::EndpointSummary;
use crate::flow_latency::PathLatency;
use crate::flow_path::FlowPath;
use crate::statistics::Statistics;
use crate::thread::ThreadSummary;

/// What findings are found in.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'e> {
    /// By callback.
    pub callbacks: &'e [CallbackSummary],
    pub pairs: &'e [Pair],
    /// By publisher.
    pub publishers: &'e [EndpointSummary],
    pub threads: &'e [ThreadSummary],
    pub paths: &'e [(FlowPath, PathLatency)],
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: f64,
    /// When it was worst; nothing for what has no instant.
    pub at: Option<Nanos>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FindingKind {
    /// A callback ran long against its period.
    LongExecution {
        callback: CallbackId,
        worst: i64,
        usual: i64,
        period: i64,
    },
    /// A callback began late against its period.
    LateExecution {
        callback: CallbackId,
        worst: i64,
        usual: i64,
        period: i64,
    },
    /// A timer left out firings.
    SkippedFirings {
        callback: CallbackId,
        skipped: u64,
        fired: u64,
    },
    /// Messages were lost.
    LostMessages {
        publisher: PublisherId,
        subscription: SubscriptionId,
        lost: u64,
        sent: u64,
        cause: DropCause,
    },
    /// A topic paused.
    Pause {
        publisher: PublisherId,
        longest: i64,
        usual: i64,
    },
    /// A thread had hardly time left.
    BusyThread { thread: ThreadId, share: f64 },
    /// A path took much longer than usual.
    SlowPath {
        /// Its place in the evidence.
        path: usize,
        worst: i64,
        usual: i64,
    },
}

impl FindingKind {
    fn callback(&self) -> Option<CallbackId> {
        match *self {
            FindingKind::LongExecution { callback, .. }
            | FindingKind::LateExecution { callback, .. }
            | FindingKind::SkippedFirings { callback, .. } => Some(callback),
            _ => None,
        }
    }
}

/// What is shorter hurts nobody, in nanoseconds.
const NOTICEABLE: i64 = 1_000_000;

/// With fewer, nothing is usual.
const ENOUGH: u64 = 5;

/// Everything that could be said, the worst first. What belongs to rclcpp itself is left out.
pub fn findings(analysis: &Analysis<'_>, evidence: Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for summary in evidence.callbacks {
        if !built_in::callback(analysis.model, summary.callback) {
            of_callback(analysis, summary, &mut found);
        }
    }
    found.extend(
        evidence
            .pairs
            .iter()
            .filter_map(|pair| of_pair(analysis, pair)),
    );
    for (index, summary) in evidence.publishers.iter().enumerate() {
        found.extend(of_publisher(
            analysis,
            PublisherId::from_index(index),
            summary,
        ));
    }
    found.extend(evidence.threads.iter().filter_map(of_thread));
    for (index, (path, latency)) in evidence.paths.iter().enumerate() {
        let finding = of_path(index, path, latency);
        found.extend(finding.filter(|finding| !is_told(&found, path, finding)));
    }
    found.sort_by(|a, b| b.severity.total_cmp(&a.severity));
    found
}

/// The first ones, with at most `alike` of a kind and one for each callback, so that one broken thing does not hide all others.
pub fn foremost(findings: &[Finding], number: usize, alike: usize) -> Vec<&Finding> {
    let mut chosen: Vec<&Finding> = Vec::with_capacity(number);
    for finding in findings {
        let kind = std::mem::discriminant(&finding.kind);
        let same = chosen
            .iter()
            .filter(|it| std::mem::discriminant(&it.kind) == kind);
        let callback = finding.kind.callback();
        let told = callback.is_some() && chosen.iter().any(|it| it.kind.callback() == callback);
        if chosen.len() < number && !told && same.count() < alike {
            chosen.push(finding);
        }
    }
    chosen
}

/// Ten times too much is worse than twice, but not so much that nothing else is worth a word.
fn damped(times: f64) -> f64 {
    if times <= 1.0 {
        times
    } else {
        1.0 + times.log2()
    }
}

/// Whether something keeps to a rhythm most of the time. What comes as it likes has no period, and no pauses.
fn is_regular(period: &Statistics) -> bool {
    period.count >= ENOUGH && period.p50 > 0 && period.p90 <= 2 * period.p50
}

fn of_callback(analysis: &Analysis<'_>, summary: &CallbackSummary, found: &mut Vec<Finding>) {
    let callback = summary.callback;
    let timer = match analysis.model.callbacks[callback.index()].owner {
        CallbackOwner::Timer(id) => analysis.model.timers[id.index()].system_period(),
        _ => None,
    };
    let timer = timer.map(|period| period.0);
    let observed = summary.period.filter(is_regular);
    if let Some(period) = timer
        .or(observed.map(|period| period.p50))
        .filter(|period| *period > 0)
    {
        let share = |worst: i64| damped(worst as f64 / period as f64);
        if let Some(duration) = summary.duration.filter(|it| it.max >= NOTICEABLE) {
            let (worst, usual) = (duration.max, duration.p50);
            found.push(Finding {
                severity: share(worst),
                at: Some(duration.worst),
                kind: FindingKind::LongExecution {
                    callback,
                    worst,
                    usual,
                    period,
                },
            });
        }
        if let Some(lateness) = summary.lateness.filter(|it| it.max >= NOTICEABLE) {
            let (worst, usual) = (lateness.max, lateness.p50);
            found.push(Finding {
                severity: share(worst),
                at: Some(lateness.worst),
                kind: FindingKind::LateExecution {
                    callback,
                    worst,
                    usual,
                    period,
                },
            });
        }
    }
    if summary.skipped > 0 {
        let (skipped, fired) = (summary.skipped, summary.count);
        found.push(Finding {
            severity: damped(10.0 * skipped as f64 / (skipped + fired) as f64),
            at: None,
            kind: FindingKind::SkippedFirings {
                callback,
                skipped,
                fired,
            },
        });
    }
}

fn of_pair(analysis: &Analysis<'_>, pair: &Pair) -> Option<Finding> {
    let topic = &analysis.model.subscriptions[pair.subscription.index()].topic;
    if built_in::topic(topic) {
        return None;
    }
    // What was still under way when the recording ended, or what the trace does not tell, is not lost.
    let lost = |cause: &DropCause| match cause {
        DropCause::RecordingEnd | DropCause::Unknown => 0,
        _ => {
            pair.dropped[DropCause::EVERY
                .iter()
                .position(|it| it == cause)
                .unwrap_or(0)]
        }
    };
    let total: u64 = DropCause::EVERY.iter().map(lost).sum();
    let cause = *DropCause::EVERY.iter().max_by_key(|cause| lost(cause))?;
    (total > 0).then(|| Finding {
        severity: damped(10.0 * total as f64 / pair.messages.max(1) as f64),
        at: None,
        kind: FindingKind::LostMessages {
            publisher: pair.publisher,
            subscription: pair.subscription,
            lost: total,
            sent: pair.messages,
            cause,
        },
    })
}

fn of_publisher(
    analysis: &Analysis<'_>,
    publisher: PublisherId,
    summary: &EndpointSummary,
) -> Option<Finding> {
    let period = summary.period.filter(is_regular)?;
    let is_own = built_in::topic(&analysis.model.publishers[publisher.index()].topic);
    (!is_own && period.max >= 2 * period.p50.max(NOTICEABLE)).then(|| Finding {
        severity: (period.max as f64 / period.p50 as f64).log2() / 2.0,
        at: Some(period.worst),
        kind: FindingKind::Pause {
            publisher,
            longest: period.max,
            usual: period.p50,
        },
    })
}

fn of_thread(summary: &ThreadSummary) -> Option<Finding> {
    let share = summary
        .utilisation()
        .filter(|_| summary.executions >= ENOUGH)?;
    Some(Finding {
        severity: share,
        at: None,
        kind: FindingKind::BusyThread {
            thread: summary.thread,
            share,
        },
    })
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
    (!own && latency.p50 > 0).then(|| Finding {
        severity: (latency.max as f64 / latency.p50 as f64).log2() / 2.0,
        at: Some(latency.worst),
        kind: FindingKind::SlowPath {
            path: index,
            worst: latency.max,
            usual: latency.p50,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(share: f64) -> Finding {
        let thread = ThreadId::from_index(0);
        Finding {
            severity: share,
            at: None,
            kind: FindingKind::BusyThread { thread, share },
        }
    }

    fn path(severity: f64) -> Finding {
        let kind = FindingKind::SlowPath {
            path: 0,
            worst: 2,
            usual: 1,
        };
        Finding {
            severity,
            at: None,
            kind,
        }
    }

    #[test]
    fn one_kind_does_not_hide_the_others() {
        let all = [thread(0.9), thread(0.8), thread(0.7), path(0.2)];
        let chosen = foremost(&all, 5, 2);
        let severities: Vec<f64> = chosen.iter().map(|it| it.severity).collect();
        assert_eq!(severities, [0.9, 0.8, 0.2]);
    }
}
