//! How long things took, from the flows of a trace.
//!
//! [`tables::Indexed`] makes one table of instants per object of an architecture file, [`paths`] joins them along paths, [`metrics`] and
//! [`response_time`] turn instants into durations. Tables and columns are named as CARET names them.

pub mod chain;
mod communication;
pub mod histogram;
pub mod message_link;
pub mod metrics;
mod node_path;
pub mod objects;
mod order;
pub mod paths;
pub mod records;
pub mod response_time;
pub mod sim_time;
pub mod stacked_bar;
mod style;
pub mod tables;

pub use style::Style;
