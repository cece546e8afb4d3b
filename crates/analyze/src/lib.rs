//! How long things took, from the flows of a trace, and why.
//!
//! [`Analysis`] is a trace as the metrics see it. The metrics of single things are in modules named after them, and
//! [`table`] declares the tables that they are exported as.
//!
//! What an architecture file declares has tables of instants: [`tables::Indexed`] makes one per object, [`paths`] joins them along
//! paths, [`metrics`], [`response_time`], [`stacked_bar`], [`chain`] and [`histogram`] turn instants into durations and count them.
//! Those tables and columns are named as CARET names them; [`Style`] says whether CARET's defects are in them too.
//! [`message_link`] follows what programs declare in the trace itself, [`sim_time`] converts instants to the simulated clock.

pub mod activity;
pub mod analysis;
pub mod built_in;
pub mod callback;
pub mod chain;
pub mod communication;
pub mod declared_path;
pub mod endpoint;
pub mod flow_latency;
pub mod flow_path;
pub mod groups;
pub mod histogram;
mod link;
pub mod message_age;
pub mod message_link;
pub mod metrics;
mod mutual_exclusion;
pub mod names;
mod node_path;
pub mod objects;
mod order;
pub mod paths;
pub mod rate;
pub mod records;
pub mod response_time;
pub mod sim_time;
pub mod spin;
pub mod stacked_bar;
pub mod statistics;
mod style;
pub mod table;
pub mod tables;
pub mod thread;
pub mod timer;
pub mod why;

pub use analysis::Analysis;
pub use statistics::Statistics;
pub use style::Style;
