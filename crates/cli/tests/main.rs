//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod architecture;
mod archives;
mod browser;
mod check;
mod compare;
mod cut;
mod dump;
mod dump_babeltrace;
mod export;
mod filters;
mod findings;
mod info;
mod input;
mod lists;
mod look;
mod look_recordings;
#[path = "../../report/tests/support/opened_page.rs"]
#[allow(dead_code)]
mod opened_page;
mod origin;
mod record;
mod record_deaths;
mod record_places;
mod record_promises;
mod record_sessions;
mod record_snapshots;
mod record_trouble;
mod report;
mod several_recordings;
#[path = "../../report/tests/support/statistics.rs"]
mod statistics;
mod support;
mod timeline;
mod timeline_open;
#[path = "../../trace/tests/support/mod.rs"]
mod trace_support;
mod understand;
mod usage;
mod why_everywhere;
