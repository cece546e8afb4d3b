//! A timeline in a page that a local server fills with what is in view.
//!
//! A trace of an hour has ten million executions, a screen two thousand columns. [`ServedTimeline`] keeps rows of spans with levels of
//! detail ([`row`]) and answers a window with at most a few spans for each column ([`window`]); [`Server`] speaks with the browser that was
//! opened, and with nobody else.

mod answer;
mod asset;
mod http;
mod lane;
pub mod row;
mod subject;
mod timeline;
pub mod track;
pub mod window;

pub use answer::Answer;
pub use http::{Query, Server};
pub use lane::{Group, Lane, Lanes};
pub use subject::{Subject, Subjects};
pub use timeline::{Options, ServedTimeline};
