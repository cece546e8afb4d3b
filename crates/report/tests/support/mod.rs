//! What the tests of the report have in common.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod opened_page;
pub mod recordings;
