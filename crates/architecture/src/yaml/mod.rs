//! YAML: text with positions in, text as PyYAML writes it out. Nothing here knows an architecture; other files that people write are read with it too.

mod emit;
mod implicit;
mod parse;
mod scalar;
mod value;

pub(crate) use emit::emit;
pub(crate) use implicit::whole_number;
pub use parse::{Content, Fault, Marked, parse};
pub use value::{Position, Value};
