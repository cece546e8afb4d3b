//! What a check of budgets leaves behind: sentences for people, JUnit XML and annotations for machines.

mod annotation;
mod junit;
mod sentence;

pub use annotation::annotation;
pub use junit::junit;
pub use sentence::{instant, limit_text, measured_text, sentence};
