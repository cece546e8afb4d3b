//! Reads Common Trace Format 1.8 and 2, writes CTF 1.8.

pub mod metadata;
pub mod schema;
