//! Reads Common Trace Format 1.8 and 2, writes CTF 1.8.

pub mod clock_update;
pub mod interpret;
pub mod schema;
pub mod text;
pub mod value;
pub mod writer;
