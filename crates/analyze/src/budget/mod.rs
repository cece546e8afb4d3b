//! What a recording must keep: budgets that people write, or that a good run is the measure of.
//!
//! [`key`] declares what a file may say, [`mod@file`] reads it, [`check()`] holds it against a recording, [`init`] writes one. docs/guides/check.md tells people
//! the same.

mod check;
pub mod file;
pub mod init;
pub mod key;
mod quantity;
mod run;

pub use check::{Judgement, Recording, Verdict, check};
pub use file::{Allowed, Budget, Limit, Problem, Target, read};
pub use quantity::Quantity;
