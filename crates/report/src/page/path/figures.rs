//! Statistics as the page has them: the instant of the worst counts from the begin of the report.

use rostrace_analyze::Statistics;
use serde::Serialize;

use crate::page::Subject;

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Figures {
    pub(super) count: u64,
    pub(super) min: i64,
    pub(super) mean: f64,
    pub(super) p50: i64,
    pub(super) p90: i64,
    pub(super) p95: i64,
    pub(super) p99: i64,
    pub(super) max: i64,
    pub(super) standard_deviation: f64,
    pub(super) worst_at: i64,
}

impl Figures {
    pub(super) fn of(subject: Subject<'_>, statistics: Option<&Statistics>) -> Option<Figures> {
        statistics.map(|it| Figures {
            count: it.count,
            min: it.min,
            mean: it.mean,
            p50: it.p50,
            p90: it.p90,
            p95: it.p95,
            p99: it.p99,
            max: it.max,
            standard_deviation: it.standard_deviation,
            worst_at: subject.time(it.worst),
        })
    }
}
