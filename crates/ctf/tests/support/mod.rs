//! What several test files share. Each of them uses a part of it only.

#![allow(unreachable_pub, clippy::unwrap_used)]

pub mod babeltrace;
pub mod choices;
pub mod damaged;
pub mod pretty;
pub mod random_field;
pub mod random_schema;
pub mod random_trace;
pub mod random_value;
pub mod reading;
