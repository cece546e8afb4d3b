//! YAML: text with positions in, text as PyYAML writes it out. Architecture files and budgets are read with it.

mod emit;
mod implicit;
mod parse;
mod scalar;
mod value;

pub use emit::emit;
pub use implicit::whole_number;
pub use parse::{Content, Fault, Marked, parse};
pub use value::{Position, Value};
