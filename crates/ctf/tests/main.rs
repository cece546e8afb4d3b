//! Everything that this crate does, seen from outside; one module for each concept.

#![allow(clippy::unwrap_used, unreachable_pub)]
mod babeltrace_reads_what_we_write;
mod compiled_against_interpreter;
mod cursor;
mod damage;
mod metadata_robustness;
mod metadata_suite;
mod recordings;
mod support;
mod trim;
mod tsdl_round_trip;
mod writer_interpreter_round_trip;
