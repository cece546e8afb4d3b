//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod actions;
mod application_log;
mod asked_services;
mod budget_page;
mod comparison_noise;
mod comparison_structure;
mod declared_why;
mod endpoints;
mod executors;
mod findings;
mod lost_messages;
mod named_paths;
mod node_latencies;
mod observed;
mod observed_communications;
mod observed_paths;
mod observed_properties;
mod observed_timers;
mod observed_why;
mod own_style;
mod rates;
mod recorded_time;
mod services;
mod standstills;
mod thread_clocks;
mod unnamed;
mod verdicts_of_recordings;
mod why_inside;
mod why_on_cpu;
mod why_total;

use rostrace_testkit::{logged as recordings, made_up as support};
