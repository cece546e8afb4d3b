//! The structure of a ROS 2 application as a file that people keep in git: its nodes, callbacks, executors, and the
//! paths worth measuring. The format is CARET's; a file that CARET wrote comes back byte for byte.
//!
//! ```
//! use rostrace_architecture::search::{EdgeFilter, Search, SearchGraph, SearchOptions};
//! use rostrace_architecture::{ContextType, check, read, write};
//!
//! let text = include_str!("../tests/files/rover.yaml");
//! let mut architecture = read(text)?.architecture;
//!
//! let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
//! let mut paths = Search::new(&graph, &["/scanner", "/motors"], SearchOptions::default())?;
//! let path = paths.next().map(|path| path.named("scan_to_motors")).ok_or("no path")?;
//! assert_eq!(path.node_names().collect::<Vec<_>>(), ["/scanner", "/mapper", "/driver", "/motors"]);
//!
//! architecture.add_path(path)?;
//! architecture.update_message_context("/mapper", Some(ContextType::UseLatestMessage), "/scan", "/map")?;
//! for finding in check(&architecture) {
//!     println!("{}", finding.message);
//! }
//! println!("{}", write(&architecture));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`model`] is plain data in which references are names. Everything else is computed from it when asked for:
//! [`communication`], [`node_path`] (ways through nodes and their message contexts), [`verify()`] (can messages be
//! followed along a path), [`check()`] (is everything there), [`diff()`], [`search`], [`draw`]. [`naming`] has the
//! rules by which callbacks, groups and executors get names when an architecture is made from a trace.

pub mod binding;
mod check;
pub mod communication;
mod diff;
pub mod draw;
mod edit;
mod element;
mod error;
mod from_trace;
pub mod model;
pub mod naming;
pub mod node_path;
pub mod read;
pub mod search;
mod verify;
mod write;

pub use check::{Finding, check};
pub use diff::{Change, Difference, FieldChange, Subject, diff};
pub use edit::EndpointQuery;
pub use element::Element;
pub use error::{Error, Item};
pub use from_trace::{from_trace, from_trace_with_flows};
pub use model::*;
pub use read::{Problem, Reading, Refused, Severity, read};
pub use rostrace_base::yaml::{Position, Value};
pub use verify::{PathFault, PathFaultKind, verify};
pub use write::write;
