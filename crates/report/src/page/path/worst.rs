//! The slowest messages of a path, and why they took so long.

use rostrace_analyze::why::{Cause, Explanation};
use rostrace_trace::entity::CallbackId;
use serde::Serialize;

use crate::page::Subject;

/// Messages that are explained.
pub(super) const WORST: usize = 5;

/// Parts of an explanation, beyond which those of one cause are put together.
const MOST_PARTS: usize = 200;

/// One of the slowest messages, explained.
#[derive(Debug, Serialize)]
pub(super) struct Worst {
    begin: i64,
    latency: i64,
    damaged: bool,
    /// In the order of time, without gaps; of too many, those of one cause are put together.
    parts: Vec<Part>,
    contiguous: bool,
}

#[derive(Debug, Serialize)]
struct Part {
    /// Which communication of the path it belongs to; the callback after one belongs to it.
    hop: usize,
    cause: &'static str,
    told: String,
    duration: i64,
    times: usize,
    callback: Option<usize>,
}

impl Worst {
    pub(super) fn of(subject: Subject<'_>, explanation: &Explanation) -> Worst {
        let analysis = subject.analysis;
        let contiguous = explanation.parts.len() <= MOST_PARTS;
        let part = |hop, cause: Cause, told, duration, times| Part {
            hop,
            cause: cause.name(),
            told,
            duration,
            times,
            callback: cause.callback(analysis).map(CallbackId::index),
        };
        let parts = if contiguous {
            let parts = explanation.parts.iter();
            parts
                .map(|it| part(it.hop, it.cause, it.told(analysis), it.duration(), 1))
                .collect()
        } else {
            let waits = explanation.waits(analysis).list.into_iter();
            waits
                .map(|it| part(it.hop, it.cause(), it.told, it.duration, it.times))
                .collect()
        };
        Worst {
            begin: subject.time(explanation.begin),
            latency: explanation.end.0 - explanation.begin.0,
            damaged: explanation.damaged,
            parts,
            contiguous,
        }
    }
}
