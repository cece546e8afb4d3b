//! How long things took, from the flows of a trace, and why.
//!
//! [`Analysis`] is a trace as the metrics see it: the model, the range of time that counts, and who belongs to whom. Metrics are in modules named
//! after the things that they describe ([`callback`], [`timer`], [`communication`], [`endpoint`], [`thread`], [`spin`] …); [`flow_path`] follows messages by
//! observed causality, [`flow_latency`] says how long that took and [`flow_end`] where they ended, and [`why`] explains one of them; [`standstill`] says when everything
//! stood still, and [`finding`] what is worst. [`table`] declares the tables that all of this is exported as. [`declared`] follows what an architecture file says instead, and [`message_link`] what
//! programs declare in the trace itself; [`node_latency`] has what all three say of inputs and outputs of nodes. [`selection`] says what a choice of nodes, topics and processes means.

#[macro_use]
mod named;

pub mod action;
pub mod activity;
pub mod analysis;
pub mod blind_spot;
pub mod budget;
pub mod callback;
pub mod census;
pub mod clocks;
pub mod communication;
pub mod comparison;
pub mod declared;
pub mod endpoint;
pub mod execution_time;
pub mod finding;
pub mod flow_end;
pub mod flow_latency;
pub mod flow_path;
pub mod groups;
pub mod hub_topic;
pub mod input_age;
pub mod list;
pub mod lost_message;
pub mod measured;
pub mod message_age;
pub mod message_link;
mod mutual_exclusion;
pub mod node_latency;
pub mod observed_executor;
pub mod profile;
pub mod rate;
pub mod selection;
pub mod service_hop;
pub mod sim_time;
pub mod spin;
pub mod standstill;
pub mod statistics;
pub mod stored_input;
pub mod table;
pub mod thread;
pub mod timer;
pub mod unknowable;
pub mod utilisation;
pub mod why;

pub use analysis::Analysis;

pub use selection::Selection;
pub use statistics::Statistics;
