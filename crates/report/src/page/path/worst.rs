//! The slowest messages of a path, and why they took so long.

use rostrace_analyze::why::Explanation;

use crate::explained::{Explained, nowhere};
use crate::page::Subject;

/// Messages that are explained.
pub(super) const WORST: usize = 5;

/// Beyond so many parts only the waits are shown, which put together those of one cause.
const MOST_PARTS: usize = 200;

pub(super) fn worst(subject: Subject<'_>, explanation: &Explanation) -> Explained {
    let explainer = subject.explainer();
    match explanation.parts.len() {
        0..=MOST_PARTS => explainer.with_parts(explanation, MOST_PARTS, nowhere),
        _ => explainer.longest(explanation, usize::MAX),
    }
}
