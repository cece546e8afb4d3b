//! An architecture as a picture: nodes and topics, and who publishes and subscribes to what.

mod dot;
mod escape;
mod folded;
mod layout;
mod mermaid;
mod picture;
mod svg;

pub use dot::dot;
pub use folded::{Folding, LeftOut};
pub use mermaid::mermaid;
pub use picture::Picture;
pub use svg::svg;
