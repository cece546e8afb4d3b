//! The range of time that counts: what `--from`, `--to`, `--skip-start` and `--skip-end` leave of a trace.

use std::ops::RangeInclusive;

use anyhow::bail;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;

use crate::filter;
use crate::render::units;
use crate::time_argument::{DurationArgument, TimeArgument};

/// What was asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) from: Option<TimeArgument>,
    pub(crate) to: Option<TimeArgument>,
    /// After the first event.
    pub(crate) skip_start: Option<DurationArgument>,
    /// Before the last event.
    pub(crate) skip_end: Option<DurationArgument>,
}

impl Limits {
    pub(crate) fn window(
        self,
        set: &TraceSet,
        model: &Model,
    ) -> anyhow::Result<RangeInclusive<Nanos>> {
        let time = filter::time_range(set, self.from, self.to)?;
        let time = time.unwrap_or(Nanos(i64::MIN)..=Nanos(i64::MAX));
        if time.start() > time.end() {
            bail!("--from is a later time than --to, so that nothing can be between them");
        }
        self.without_ends(time, model)
    }

    fn without_ends(
        self,
        time: RangeInclusive<Nanos>,
        model: &Model,
    ) -> anyhow::Result<RangeInclusive<Nanos>> {
        let (start, end) = (self.skip_start, self.skip_end);
        let (Some(first), Some(last)) = (model.begin, model.end) else {
            // Without events there is nothing to skip.
            return Ok(time);
        };
        let start = start.map(|DurationArgument(skipped)| first.0.saturating_add(skipped));
        let end = end.map(|DurationArgument(skipped)| last.0.saturating_sub(skipped));
        let (from, to) = (start.unwrap_or(first.0), end.unwrap_or(last.0));
        if from > to {
            let options = match (start, end) {
                (Some(_), Some(_)) => "--skip-start and --skip-end leave",
                (Some(_), None) => "--skip-start leaves",
                _ => "--skip-end leaves",
            };
            let length = units::duration(last.0.saturating_sub(first.0).unsigned_abs());
            bail!(
                "{options} nothing of the trace: from its first to its last event it is {length}"
            );
        }
        let from = start.map_or(*time.start(), |start| Nanos(start).max(*time.start()));
        let to = end.map_or(*time.end(), |end| Nanos(end).min(*time.end()));
        if from > to {
            bail!(
                "--from and --to ask for what --skip-start and --skip-end leave out, so that nothing is left"
            );
        }
        Ok(from..=to)
    }
}
