//! Answers become something to look at: one HTML file ([`page`]), a timeline for the tools that people already like ([`timeline`]), a timeline that is
//! served and shows any part of a trace ([`served`]), and the pages and files that comparisons and budgets end in ([`comparison`], [`budget`]).
//!
//! Nothing here computes a metric: all numbers come from `rostrace-analyze`.

pub mod budget;
pub mod comparison;
mod explained;
pub mod page;
mod process_name;
pub mod quantity;
pub mod served;
pub mod timeline;
