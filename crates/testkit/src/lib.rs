//! What the tests of several crates share: an oracle, made-up recordings, and the way to real ones.
//!
//! [`interpret`] reads packets slowly and plainly, and [`agreement`] compares the compiled decoder with it. [`lttng`], [`tsdl`] and
//! [`trace_writer`] write traces, of what [`schema`] has in one line; `made_up` has the words of ROS 2, of Linux and of programs for them. [`recordings`] finds traces of real
//! programs, `logged` what these programs logged themselves. `opened_page` reads a report as a browser does,
//! `arrow_cells` what was exported.

#![allow(clippy::unwrap_used, missing_debug_implementations)]

pub mod agreement;
#[cfg(feature = "arrow")]
pub mod arrow_cells;
pub mod interpret;
#[cfg(feature = "analyze")]
pub mod logged;
pub mod lttng;
#[cfg(feature = "model")]
pub mod made_up;
#[cfg(feature = "report")]
pub mod opened_page;
pub mod recordings;
pub mod schema;
pub mod trace_writer;
pub mod tsdl;
