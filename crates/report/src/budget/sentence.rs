//! A judgement in words.

use rostrace_analyze::budget::key::Bound;
use rostrace_analyze::budget::{Judgement, Limit, Quantity, Verdict};
use rostrace_ctf::schema::Nanos;

use crate::quantity::quantity;

/// `duration p99 ≤ 20ms`
pub fn limit_text(limit: &Limit) -> String {
    let (bound, sign) = match limit.bound {
        Bound::Min => (String::new(), "≥"),
        Bound::Max => (String::new(), "≤"),
        other => (format!(" {}", other.name()), "≤"),
    };
    format!(
        "{}{bound} {sign} {}",
        limit.measure.name(),
        limit.value.written()
    )
}

/// `23.4 ms`, `3 lost`; nothing if there was nothing to measure.
pub fn measured_text(judgement: &Judgement) -> Option<String> {
    let measured = judgement.measured?;
    Some(match (measured, measured.unit()) {
        (Quantity::Count(count), _) => count.to_string(),
        (value, Some(unit)) => {
            let number = match value {
                Quantity::Nanoseconds(nanos) => nanos as f64,
                Quantity::Hertz(number) | Quantity::Share(number) => number,
                Quantity::Count(count) => count as f64,
            };
            quantity(number, unit)
        }
        (_, None) => String::new(),
    })
}

/// Seconds since 1970 with all their digits, for machines.
pub fn instant(at: Nanos) -> String {
    format!(
        "{}.{:09}",
        at.0.div_euclid(1_000_000_000),
        at.0.rem_euclid(1_000_000_000)
    )
}

/// `/fusion ← /points: duration p99 is 23.4 ms, budget duration p99 ≤ 20ms`
pub fn sentence(judgement: &Judgement) -> String {
    let mut text = match (&judgement.limit, measured_text(judgement)) {
        (Some(limit), Some(measured)) => {
            let kept = match judgement.verdict {
                Verdict::Kept => "kept",
                _ => "broken",
            };
            format!(
                "{}: {} is {kept} with {measured}",
                judgement.subject,
                limit_text(limit)
            )
        }
        (Some(limit), None) => {
            format!(
                "{}: {} cannot be judged",
                judgement.subject,
                limit_text(limit)
            )
        }
        (None, _) => judgement.subject.clone(),
    };
    for note in &judgement.notes {
        text += if judgement.limit.is_some() {
            "; "
        } else {
            ": "
        };
        text += note;
    }
    if judgement.damaged > 0 {
        text += &format!("; {} touched by lost events", judgement.damaged);
    }
    text
}
