//! What a trace says of itself: how many events it has, and how many it counts as lost.

use std::path::Path;

use anyhow::Result;

use crate::torture::trace;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) events: u64,
    pub(super) lost: u64,
}

/// Read by `rostrace info`, whoever recorded it.
pub(super) fn counted(rostrace: &Path, trace: &Path) -> Result<Counted> {
    let info = trace::info(rostrace, &[trace.to_owned()])?;
    Ok(Counted {
        events: info.events,
        lost: info.discarded,
    })
}
