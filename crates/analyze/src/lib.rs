//! How long things took, from the flows of a trace.
//!
//! [`tables::Indexed`] makes one table of instants per object of an architecture file, [`paths`] joins them along paths, [`metrics`] and
//! [`response_time`] turn instants into durations. Tables and columns are named as CARET names them.

pub mod metrics;
pub mod objects;
mod order;
pub mod paths;
pub mod records;
pub mod response_time;
pub mod tables;
