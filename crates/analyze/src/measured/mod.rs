//! What was measured of each thing, value by value and under names that another recording of the same system has too.
//!
//! Comparisons and budgets both begin here. A thing is known by what people call it, not by its process or address: several lives of a node, or
//! several processes of one name, are one. [`Series`] keep values in the order of time, since neighbours resemble each other and whoever judges
//! noise has to know that.

mod callback;
mod communication;
mod path;
mod series;
mod shape;
mod topic;

use crate::analysis::Analysis;

pub use callback::{CallbackKind, MeasuredCallback};
pub use communication::MeasuredCommunication;
pub use path::{MeasuredPath, measured_paths};
pub use series::Series;
pub use shape::{NodeShape, ProcessShape};
pub use topic::MeasuredTopic;
pub(crate) use topic::rate_of;

/// Which part of a recording is wanted; nothing where all of it is.
#[derive(Clone, Copy, Default)]
pub struct Selection<'s> {
    pub node: Option<&'s dyn Fn(&str) -> bool>,
    pub topic: Option<&'s dyn Fn(&str) -> bool>,
    pub pid: Option<&'s dyn Fn(i64) -> bool>,
    /// Also what ROS 2 and recorders make for themselves.
    pub built_in: bool,
}

impl std::fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selection")
            .field("node", &self.node.is_some())
            .field("topic", &self.topic.is_some())
            .field("pid", &self.pid.is_some())
            .field("built_in", &self.built_in)
            .finish()
    }
}

impl Selection<'_> {
    fn has_node(&self, name: &str) -> bool {
        self.node.is_none_or(|fits| fits(name))
    }

    /// What has no topic fits no choice of topics.
    fn has_topic(&self, name: Option<&str>) -> bool {
        self.topic.is_none_or(|fits| name.is_some_and(fits))
    }

    fn has_pid(&self, pid: i64) -> bool {
        self.pid.is_none_or(|fits| fits(pid))
    }
}

/// Everything that was measured in one recording. Each list is in the order of its names.
#[derive(Debug, Default)]
pub struct Measured {
    pub nodes: Vec<NodeShape>,
    pub processes: Vec<ProcessShape>,
    pub callbacks: Vec<MeasuredCallback>,
    pub topics: Vec<MeasuredTopic>,
    pub communications: Vec<MeasuredCommunication>,
    pub paths: Vec<MeasuredPath>,
}

impl Measured {
    pub fn of(analysis: &Analysis<'_>, selection: &Selection<'_>) -> Measured {
        Measured {
            nodes: shape::nodes(analysis, selection),
            processes: shape::processes(analysis, selection),
            callbacks: callback::measured(analysis, selection),
            topics: topic::measured(analysis, selection),
            communications: communication::measured(analysis, selection),
            paths: path::measured(analysis, selection),
        }
    }
}
