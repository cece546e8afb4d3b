//! YAML: text with positions in, text as PyYAML writes it out. Nothing here knows an architecture.

mod emit;
mod implicit;
mod parse;
mod scalar;
mod value;

pub(crate) use emit::emit;
pub(crate) use implicit::whole_number;
pub(crate) use parse::{Content, Marked, parse};
pub use value::{Position, Value};
