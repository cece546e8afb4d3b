//! Fuzz targets of rostrace, shared by two drivers.
//!
//! A target ([`targets`]) is a function of bytes that must return: no panic, no endless loop, no memory out of
//! proportion, and whatever it asserts must hold. `bin/smoke.rs` feeds it blindly mutated recordings for a bounded time
//! with nothing but stable Rust; `bin/guided.rs` is libFuzzer. CONTRIBUTING.md says how to run both.

pub mod mutate;
pub mod targets;
