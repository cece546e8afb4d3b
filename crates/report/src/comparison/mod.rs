//! Two recordings side by side: sentences, and one HTML file that needs nothing else.

mod page;
mod sentence;

pub use page::{Recorded, page};
pub use sentence::{change_sentence, sentence};
