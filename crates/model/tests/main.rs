//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod announcements;
mod arrivals;
mod context_switches;
mod deliveries;
mod deliveries_inside;
mod deliveries_transient_local;
mod entities;
mod executions;
mod kernel_recordings;
mod lifecycle_services;
mod locks;
mod losses;
mod memory;
mod other_events;
mod properties;
mod public_recordings;
mod publications;
mod requests;
mod restarts;
mod samples;
mod scheduling;
mod scheduling_properties;
mod unseen;
mod user_events;
