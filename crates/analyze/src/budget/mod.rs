//! What a recording must keep: budgets that people write, or that a good run is the measure of.
//!
//! [`key`] declares what a file may say, [`mod@file`] reads it, [`check()`] holds it against a recording (`subject` finds whom it is about), [`init`] writes one (`noise` says how far limits have to be). docs/guides/check.md tells people
//! the same.

mod check;
pub mod file;
pub mod init;
pub mod key;
mod limit;
mod noise;
mod quantity;
mod run;
mod subject;

pub use check::{Judgement, Recording, Verdict, check};
pub use file::{Problem, read};
pub use limit::{Allowed, Budget, Limit, Target};
pub use quantity::Quantity;
