//! The structure of a ROS 2 application as a file that people keep in git.

pub mod communication;
mod error;
pub mod model;
pub mod node_path;
mod place;
pub mod read;
mod similar;
mod write;
mod yaml;

pub use error::{Error, Item};
pub use model::*;
pub use place::Place;
pub use read::{Problem, Reading, Refused, Severity, read};
pub use write::write;
pub use yaml::{Position, Value};
