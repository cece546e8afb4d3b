//! The structure of a ROS 2 application as a file that people keep in git.

pub mod binding;
mod check;
pub mod communication;
mod diff;
pub mod draw;
mod edit;
mod error;
pub mod model;
pub mod naming;
pub mod node_path;
mod place;
pub mod read;
pub mod search;
mod similar;
mod verify;
mod write;
mod yaml;

pub use check::{Finding, check};
pub use diff::{Change, Difference, FieldChange, Subject, diff};
pub use edit::EndpointQuery;
pub use error::{Error, Item};
pub use model::*;
pub use place::Place;
pub use read::{Problem, Reading, Refused, Severity, read};
pub use verify::{PathFault, PathFaultKind, verify};
pub use write::write;
pub use yaml::{Position, Value};
