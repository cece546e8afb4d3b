//! Spin cycles: an executor waits for work, looks what is ready, runs it, and waits again.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::ThreadId;
use rostrace_model::flow::PhaseKind;

use crate::activity::{Activities, ActivitySpan};
use crate::analysis::Analysis;
use crate::thread::TimeSpent;

/// From one `rclcpp_executor_wait_for_work` of a thread to its next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spin {
    pub thread: ThreadId,
    pub begin: Nanos,
    pub end: Nanos,
    /// Adds up to the cycle.
    pub time: TimeSpent,
    /// Executions in it, without those inside another.
    pub callbacks: u64,
    /// Events may have been lost in it: it may be several.
    pub damaged: bool,
}

/// The whole cycles of a thread that begin in the range that counts, in the order of time. Those of an executor that is spun
/// inside a callback are part of that callback.
pub fn spins<'a>(
    analysis: &'a Analysis<'_>,
    activities: &'a Activities,
    thread: ThreadId,
) -> impl Iterator<Item = Spin> + 'a {
    let phases = analysis.phases_on(thread).iter();
    let waits = phases
        .map(|id| &analysis.model.phases[id.index()])
        .filter(|phase| phase.kind == PhaseKind::WaitForWork)
        .map(|phase| phase.time)
        .filter(move |at| !is_in_callback(activities, thread, *at));
    let ends = waits.clone().skip(1);
    waits
        .zip(ends)
        .filter(|(begin, _)| analysis.counts(*begin))
        .map(move |(begin, end)| {
            let mut time = TimeSpent::default();
            let mut callbacks = 0;
            for span in activities.spans(thread, begin, end) {
                time.add(&span);
                callbacks += u64::from(span.activity.is_callback());
            }
            Spin {
                thread,
                begin,
                end,
                time,
                callbacks,
                damaged: analysis.is_damaged(begin, end),
            }
        })
}

fn is_in_callback(activities: &Activities, thread: ThreadId, at: Nanos) -> bool {
    let mut here = activities.spans(thread, at, Nanos(at.0.saturating_add(1)));
    let is_callback = |span: ActivitySpan| span.activity.is_callback();
    here.next().is_some_and(is_callback)
}
