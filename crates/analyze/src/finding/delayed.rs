//! Which executions began late because of one other: what a finding counts over all executions of a callback, asked of one of them.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackId, InstanceId};

use super::cause::Causes;
use super::tally::main;
use super::{Evidence, Root, Runner};
use crate::analysis::Analysis;
use crate::callback::CallbackSummary;

/// An execution that began late because of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delayed {
    pub instance: InstanceId,
    /// By how much it was late in all.
    pub lateness: i64,
    /// How much of that passed with the other one.
    pub waited: i64,
}

/// In the order of time. Findings count the same ones: those whose lateness is mostly due to the callback of this execution, and partly to this execution.
pub fn delayed_by(
    analysis: &Analysis<'_>,
    callbacks: &[CallbackSummary],
    instance: InstanceId,
) -> Vec<Delayed> {
    let row = analysis.instance(instance);
    let Some(end) = row.end else {
        return Vec::new();
    };
    let root = Root::Runner(Runner::of(analysis.model, row));
    let evidence = Evidence {
        callbacks,
        pairs: &[],
        publishers: &[],
        threads: &[],
        paths: &[],
    };
    let mut causes = Causes::new(analysis, evidence);
    let mut delayed = Vec::new();
    for callback in (0..callbacks.len()).map(CallbackId::from_index) {
        // What belongs to rclcpp itself is no finding.
        if rostrace_model::describe::built_in::callback(analysis.model, callback) {
            continue;
        }
        for (timing, lateness) in causes.late_instances(callback) {
            let start = analysis.instance(timing.instance).start;
            let due = Nanos(start.0.saturating_sub(lateness));
            if start < row.start || due >= end || timing.instance == instance {
                continue;
            }
            let occasion = causes.occasion(&timing, lateness);
            let own = occasion.obstacles.iter();
            let own = own.filter(|it| it.instance == Some(instance));
            let waited: i64 = own.map(|it| it.time).sum();
            if waited > 0 && main(lateness, &occasion.obstacles) == Some(root) {
                delayed.push(Delayed {
                    instance: timing.instance,
                    lateness,
                    waited,
                });
            }
        }
    }
    delayed.sort_by_key(|it| (analysis.instance(it.instance).start, it.instance));
    delayed
}
