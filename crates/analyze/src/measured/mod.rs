//! What was measured of each thing, value by value and under names that another recording of the same system has too.
//!
//! Comparisons and budgets both begin here. A thing is known by what people call it, not by its process or address: several lives of a node, or
//! several processes of one name, are one. [`Series`] keep values in the order of time, since neighbours resemble each other and whoever judges
//! noise has to know that.

mod callback;
mod communication;
mod fingerprint;
mod path;
mod series;
mod topic;

use crate::analysis::Analysis;
use crate::selection::Selection;

pub use callback::MeasuredCallback;
pub use communication::MeasuredCommunication;
pub use fingerprint::{NodeFingerprint, ProcessFingerprint};
pub use path::{MeasuredPath, measured_paths};
pub use series::Series;
pub use topic::MeasuredTopic;
pub(crate) use topic::rate_of;

/// Everything that was measured in one recording. Each list is in the order of its names.
#[derive(Debug, Default)]
pub struct Measured {
    pub nodes: Vec<NodeFingerprint>,
    pub processes: Vec<ProcessFingerprint>,
    pub callbacks: Vec<MeasuredCallback>,
    pub topics: Vec<MeasuredTopic>,
    pub communications: Vec<MeasuredCommunication>,
    pub paths: Vec<MeasuredPath>,
}

impl Measured {
    /// `with_built_in` counts also what ROS 2 and recorders make for themselves.
    pub fn of(analysis: &Analysis<'_>, selection: &Selection, with_built_in: bool) -> Measured {
        Measured {
            nodes: fingerprint::nodes(analysis, selection, with_built_in),
            processes: fingerprint::processes(analysis, selection, with_built_in),
            callbacks: callback::measured(analysis, selection, with_built_in),
            topics: topic::measured(analysis, selection, with_built_in),
            communications: communication::measured(analysis, selection, with_built_in),
            paths: path::measured(analysis, selection, with_built_in),
        }
    }
}
