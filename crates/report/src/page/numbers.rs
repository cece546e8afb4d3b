//! A few numbers that describe many, as the page has them: the worst instant counts from the begin of the recording.

use rostrace_analyze::Statistics;
use rostrace_ctf::schema::Nanos;

use super::Subject;

pub(crate) fn numbers(subject: Subject<'_>, statistics: Option<&Statistics>) -> Option<Statistics> {
    statistics.map(|it| Statistics {
        worst: Nanos(subject.time(it.worst)),
        ..*it
    })
}
