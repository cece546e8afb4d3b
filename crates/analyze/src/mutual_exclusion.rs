//! Callbacks of one mutually exclusive group never run at once: while one of them runs on another thread, a thread that has
//! nothing to do cannot run the next one either.

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::{CallbackGroupId, CallbackGroupType, InstanceId, ThreadId};

use crate::activity::Activity;
use crate::analysis::Analysis;

/// When callbacks of a group ran on other threads than one, and how much of that time this one was idle.
#[derive(Debug)]
pub(crate) struct GroupTimeline {
    /// Start and end of the executions, in the order of time; they do not overlap.
    runs: Vec<(i64, i64)>,
    /// Idle time of the thread during the runs before each one; one more than there are runs.
    idle: Vec<i64>,
}

impl GroupTimeline {
    /// Nothing for a group that is not mutually exclusive, or that ran on this thread alone.
    pub(crate) fn beside(
        analysis: &Analysis<'_>,
        activity: &Activity,
        thread: ThreadId,
        group: CallbackGroupId,
    ) -> Option<GroupTimeline> {
        let mut runs: Vec<(i64, i64)> = runs_of(analysis, group)
            .filter(|id| analysis.instance(*id).thread != thread)
            .filter_map(|id| {
                let instance = analysis.instance(id);
                Some((instance.start.0, instance.end?.0))
            })
            .collect();
        if runs.is_empty() {
            return None;
        }
        runs.sort_unstable();
        // What a damaged trace has to overlap would count twice.
        let mut reached = i64::MIN;
        for (start, end) in &mut runs {
            *start = (*start).max(reached);
            *end = (*end).max(*start);
            reached = *end;
        }
        let mut idle = vec![0];
        let mut sum = 0;
        for (start, end) in &runs {
            sum += activity.idle(thread, Nanos(*start), Nanos(*end));
            idle.push(sum);
        }
        Some(GroupTimeline { runs, idle })
    }

    /// How much of a span the thread was idle while the group ran elsewhere.
    pub(crate) fn blocked(
        &self,
        activity: &Activity,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> i64 {
        // All runs that touch the span, less what the first and the last have outside of it.
        let first = self.runs.partition_point(|(_, end)| *end <= from.0);
        let after = self.runs.partition_point(|(start, _)| *start < to.0);
        if first >= after {
            return 0;
        }
        let idle = |begin: i64, end: i64| activity.idle(thread, Nanos(begin), Nanos(end));
        let mut total = self.idle[after] - self.idle[first];
        let (start, _) = self.runs[first];
        if start < from.0 {
            total -= idle(start, from.0);
        }
        let (_, end) = self.runs[after - 1];
        if end > to.0 {
            total -= idle(to.0, end);
        }
        total
    }
}

/// The executions of a mutually exclusive group; none of another one.
pub(crate) fn runs_of<'a>(
    analysis: &'a Analysis<'_>,
    group: CallbackGroupId,
) -> impl Iterator<Item = InstanceId> + 'a {
    let group = &analysis.model.callback_groups[group.index()];
    let exclusive = group.kind == CallbackGroupType::MutuallyExclusive;
    let callbacks = group.callbacks.iter().filter(move |_| exclusive);
    callbacks.flat_map(|callback| analysis.instances_of(*callback).iter().copied())
}
