//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod page;
mod recordings;
mod table;
