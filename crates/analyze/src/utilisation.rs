//! How threads spent their time as it passed: what [`crate::thread`] sums up, stretch by stretch.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::ThreadId;

use crate::activity::Activities;
use crate::thread::TimeSpent;

/// A stretch of a thread's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub begin: Nanos,
    pub end: Nanos,
    /// Adds up to the stretch.
    pub time: TimeSpent,
}

/// A span cut into stretches of a width, the last of which may be shorter; less than a nanosecond counts as one.
pub fn over_time(
    activities: &Activities,
    thread: ThreadId,
    from: Nanos,
    to: Nanos,
    width: i64,
) -> impl Iterator<Item = Stretch> + '_ {
    let width = width.max(1);
    let mut at = from.0;
    std::iter::from_fn(move || {
        if at >= to.0 {
            return None;
        }
        let (begin, end) = (Nanos(at), Nanos(at.saturating_add(width).min(to.0)));
        at = end.0;
        let mut time = TimeSpent::default();
        for span in activities.spans(thread, begin, end) {
            time.add(&span);
        }
        Some(Stretch { begin, end, time })
    })
}
