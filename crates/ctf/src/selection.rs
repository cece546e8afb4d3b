//! Which events are wanted: by name, time, process, thread and CPU.

use std::ops::RangeInclusive;

use crate::schema::Nanos;

/// A filter. Empty lists and absent bounds select everything.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Names or patterns with `*`, `?` and `[…]`; one must match.
    pub events: Vec<String>,
    pub time: Option<RangeInclusive<Nanos>>,
    /// Context `vpid`, or the environment of a per-process trace.
    pub vpids: Vec<i64>,
    pub vtids: Vec<i64>,
    /// `cpu_id` of the packet context.
    pub cpus: Vec<u64>,
}

impl Selection {
    pub fn is_everything(&self) -> bool {
        self.events.is_empty()
            && self.time.is_none()
            && self.vpids.is_empty()
            && self.vtids.is_empty()
            && self.cpus.is_empty()
    }
}
