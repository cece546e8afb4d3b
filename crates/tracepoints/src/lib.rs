//! The vocabulary of ROS 2 traces: what events exist, what they mean, and what their fields are called.
//!
//! One declared table ([`TRACEPOINTS`], written in `table/`) holds every tracepoint that rostrace understands, of ROS 2 from
//! Foxy on, CARET, Agnocast, TILDE, r2r, LTTng's helpers and the kernel. It knows nothing of files and time. A reader finds
//! the meaning of an event by its name, and binds the fields that it wants, by name, to places in the layout of the trace at
//! hand; a field that the trace does not have stays unbound.
//!
//! ```
//! use rostrace_tracepoints::{Kind, field, find};
//!
//! // What a trace declares: an event's name, and its fields in the order of the recording.
//! let (event, payload) = ("ros2:rmw_publish", ["message"]);
//!
//! let tracepoint = find(event).expect("an event that we know");
//! assert_eq!(tracepoint.kind, Kind::RmwPublish);
//!
//! // Per field of the kind, its place in this trace.
//! let places: Vec<Option<usize>> = tracepoint
//!     .kind
//!     .fields()
//!     .iter()
//!     .map(|field| payload.iter().position(|name| field.is_named(name)))
//!     .collect();
//! assert_eq!(places[field::rmw_publish::MESSAGE], Some(0));
//! assert_eq!(places[field::rmw_publish::TIMESTAMP], None); // recorded on Humble
//! ```

mod declare;
mod distribution;
mod markdown;
mod recorded;
mod table;
mod tracepoint;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use distribution::{Distribution, UnknownDistribution, distribution};
pub use markdown::markdown;
pub use recorded::{recorded, vocabulary};
pub use table::{Kind, PROVIDERS, TRACEPOINTS, field};
pub use tracepoint::{
    Attribute, Family, Field, FieldKind, Layer, Phase, Presence, Provider, Tracepoint,
};

/// The tracepoint of this name, as traces spell it: `ros2:rcl_init`, `sched_switch`, `syscall_entry_futex`.
pub fn find(full_name: &str) -> Option<&'static Tracepoint> {
    static INDEX: LazyLock<HashMap<&str, &Tracepoint>> = LazyLock::new(|| {
        TRACEPOINTS
            .iter()
            .map(|tracepoint| (tracepoint.full_name, tracepoint))
            .collect()
    });
    INDEX.get(full_name).copied().or_else(|| {
        TRACEPOINTS
            .iter()
            .find(|tracepoint| tracepoint.member(full_name).is_some())
    })
}

impl Kind {
    /// The number of kinds: for arrays that have a place for each.
    pub const COUNT: usize = Kind::ALL.len();

    /// Its place in [`Kind::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// All tracepoints that mean this.
    pub fn tracepoints(self) -> impl Iterator<Item = &'static Tracepoint> {
        TRACEPOINTS
            .iter()
            .filter(move |tracepoint| tracepoint.kind == self)
    }
}
