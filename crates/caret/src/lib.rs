//! What people bring with them from CARET: tables with its columns and in its order ([`Part::tables`]), and its filters of what is
//! recorded ([`filter`], [`filter_file`]). How a latency is computed in CARET's style is `rostrace_analyze::declared`, whose results the
//! tests of this crate compare with CARET's own, number by number.

mod error;
pub mod filter;
pub mod filter_file;
mod tables;

pub use error::Error;
pub use tables::{Part, Wanted};
