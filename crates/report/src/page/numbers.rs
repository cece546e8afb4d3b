//! A few numbers that describe many, as the page has them: the worst instant counts from the begin of the report.

use rostrace_analyze::Statistics;
use serde::Serialize;

use super::Subject;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Numbers {
    pub(crate) n: u64,
    pub(crate) min: i64,
    pub(crate) mean: f64,
    pub(crate) p50: i64,
    pub(crate) p90: i64,
    pub(crate) p95: i64,
    pub(crate) p99: i64,
    pub(crate) p99_9: i64,
    pub(crate) max: i64,
    pub(crate) deviation: f64,
    /// When the largest was.
    pub(crate) worst: i64,
}

impl Numbers {
    pub(crate) fn of(subject: Subject<'_>, statistics: Option<&Statistics>) -> Option<Numbers> {
        let it = statistics?;
        Some(Numbers {
            n: it.count,
            min: it.min,
            mean: it.mean,
            p50: it.p50,
            p90: it.p90,
            p95: it.p95,
            p99: it.p99,
            p99_9: it.p99_9,
            max: it.max,
            deviation: it.standard_deviation,
            worst: subject.time(it.worst),
        })
    }
}
