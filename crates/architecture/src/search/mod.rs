//! Paths between nodes along communications: shortest first, then by name, found as they are asked for.
//!
//! A path may pass a node again but never uses the same ordered pair of nodes twice, as in CARET. There can be more
//! of them than anybody can list, so a search never looks where the goal cannot be reached in the steps that are
//! left, and can say how many paths it has not listed.

mod along;
mod count;
mod graph;
mod segment;
mod walk;

pub use along::path_along;
pub use count::Total;
pub use graph::{Edge, EdgeFilter, SearchGraph};
pub use walk::{Ending, FoundPath, Search, SearchOptions};
