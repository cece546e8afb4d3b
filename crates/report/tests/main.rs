//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod extreme_times;
mod graph;
mod hostile_names;
mod large_system;
mod page_numbers;
mod paths;
mod schedule;
mod served_hour;
mod served_levels;
mod served_recordings;
mod served_server;
mod served_system;
mod stretches;
mod support;
mod timeline;
mod timeline_chrome;
mod timeline_firefox;
mod timeline_kernel;
mod timeline_perfetto;

use rostrace_testkit::{logged as recordings, made_up as trace_support};
