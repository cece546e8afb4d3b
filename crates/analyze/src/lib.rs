//! How long things took, from the flows of a trace, and why.
//!
//! [`Analysis`] is a trace as the metrics see it. The metrics of single things are in modules named after them, and
//! [`table`] declares the tables that they are exported as. [`tables::Indexed`] makes one table of instants per object of an
//! architecture file, [`paths`] joins them along paths, [`metrics`] and [`response_time`] turn instants into durations; those
//! tables and columns are named as CARET names them.

pub mod activity;
pub mod analysis;
pub mod built_in;
pub mod callback;
pub mod communication;
pub mod endpoint;
pub mod flow_latency;
pub mod flow_path;
pub mod groups;
pub mod message_age;
pub mod metrics;
mod mutual_exclusion;
pub mod names;
pub mod objects;
mod order;
pub mod paths;
pub mod rate;
pub mod records;
pub mod response_time;
pub mod spin;
pub mod statistics;
pub mod table;
pub mod tables;
pub mod thread;
pub mod timer;
pub mod why;

pub use analysis::Analysis;
pub use statistics::Statistics;
