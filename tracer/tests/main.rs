//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod abi;
mod commands;
mod faults;
mod first_event;
mod header;
mod hooks;
mod locks;
mod lttng;
mod originals;
mod python;
mod support;
mod user_events;
mod visibility;
