//! What CARET computes, number by number; one module for each of its recordings, and one for its rules.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod golden_end_to_end;
mod golden_talker_listener;
mod vectors;
