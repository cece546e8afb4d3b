//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod architecture;
mod archives;
mod browser;
mod check;
mod clocks;
mod compare;
mod cut;
mod dump;
mod dump_babeltrace;
mod export;
mod filters;
mod findings;
mod info;
mod input;
mod kernel_events;
mod lists;
mod locks;
mod look;
mod look_recordings;
mod origin;
mod record;
mod record_deaths;
mod record_places;
mod record_promises;
mod record_sessions;
mod record_snapshots;
mod record_trouble;
mod report;
mod samples;
mod services;
mod several_recordings;
mod support;
mod switches;
mod timeline;
mod timeline_open;
mod understand;
mod usage;
mod why_all;
mod why_everywhere;

use rostrace_testkit::made_up as trace_support;
