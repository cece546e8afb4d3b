//! How long things took, from the flows of a trace.
//!
//! [`tables::Indexed`] makes one table of instants per object of an architecture file, [`paths`] joins them along paths, [`metrics`],
//! [`response_time`], [`stacked_bar`], [`chain`] and [`histogram`] turn instants into durations and count them. Tables and columns are named as
//! CARET names them; [`Style`] says whether CARET's defects are in them too. [`message_link`] follows what programs declare in the trace itself,
//! [`sim_time`] converts instants to the simulated clock.

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
