//! Callbacks of one mutually exclusive group never run at once: while one of them runs on another thread, a thread that has
//! nothing to do cannot run the next one either.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{
    CallbackGroupId, CallbackGroupType, ClientCallbackId, ClientId, ThreadId,
};

use crate::activity::{Activities, Activity};
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
        activities: &Activities,
        thread: ThreadId,
        group: CallbackGroupId,
    ) -> Option<GroupTimeline> {
        let mut runs: Vec<(i64, i64)> = runs_of(analysis, group)
            .filter(|run| run.thread != thread)
            .filter_map(|run| Some((run.start.0, run.end?.0)))
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
            sum += activities.idle(thread, Nanos(*start), Nanos(*end));
            idle.push(sum);
        }
        Some(GroupTimeline { runs, idle })
    }

    /// How much of a span the thread was idle while the group ran elsewhere.
    pub(crate) fn blocked(
        &self,
        activities: &Activities,
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
        let idle = |begin: i64, end: i64| activities.idle(thread, Nanos(begin), Nanos(end));
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

/// An execution of a member of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupRun {
    /// A callback or that of a client.
    pub(crate) activity: Activity,
    pub(crate) thread: ThreadId,
    pub(crate) start: Nanos,
    pub(crate) end: Option<Nanos>,
}

/// The executions of a mutually exclusive group that have an end, so that those of any span are found without looking at all.
#[derive(Debug)]
pub(crate) struct GroupRuns {
    /// By start and end.
    runs: Vec<GroupRun>,
    /// By run: the latest end up to it. In a damaged trace they may overlap.
    reached: Vec<Nanos>,
}

impl GroupRuns {
    pub(crate) fn of(analysis: &Analysis<'_>, group: CallbackGroupId) -> GroupRuns {
        let ended = runs_of(analysis, group).filter(|run| run.end.is_some());
        let mut runs: Vec<GroupRun> = ended.collect();
        runs.sort_by_key(|run| (run.start, run.end));
        let mut latest = Nanos(i64::MIN);
        let reached = runs.iter().map(|run| {
            latest = latest.max(run.end.unwrap_or(latest));
            latest
        });
        let reached = reached.collect();
        GroupRuns { runs, reached }
    }

    /// Those that have something in common with a span, in the order of time.
    pub(crate) fn between(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = &GroupRun> {
        let first = self.reached.partition_point(|end| *end <= from);
        let after = self.runs.partition_point(|run| run.start < to);
        let runs = self.runs.get(first..after).unwrap_or_default();
        runs.iter().filter(move |run| run.end > Some(from))
    }
}

/// The executions of a mutually exclusive group; none of another one.
fn runs_of<'a>(
    analysis: &'a Analysis<'_>,
    id: CallbackGroupId,
) -> impl Iterator<Item = GroupRun> + 'a {
    let model = analysis.model;
    let group = &model.callback_groups[id.index()];
    let exclusive = group.kind == CallbackGroupType::MutuallyExclusive;
    let callbacks = group.callbacks.iter().filter(move |_| exclusive);
    let callbacks = callbacks
        .flat_map(|callback| analysis.instances_of(*callback))
        .map(|instance| {
            let row = analysis.instance(*instance);
            GroupRun {
                activity: Activity::Callback(*instance),
                thread: row.thread,
                start: row.start,
                end: row.end,
            }
        });
    let clients = model.client_callbacks.iter().enumerate();
    let is_member = move |client: ClientId| model.clients[client.index()].group == Some(id);
    let clients = clients
        .filter(move |(_, row)| exclusive && row.client.is_some_and(is_member))
        .map(|(index, row)| GroupRun {
            activity: Activity::Client(ClientCallbackId::from_index(index)),
            thread: row.thread,
            start: row.start,
            end: row.end,
        });
    callbacks.chain(clients)
}
