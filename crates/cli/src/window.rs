//! The range of time that counts: what `--since`, `--until`, `--skip-start` and `--skip-end` leave of a trace.

use std::ops::RangeInclusive;

use anyhow::bail;
use clap::Args;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;

use crate::filter;
use crate::render::time;
use crate::time_argument::{DurationArgument, TimeArgument};
use rostrace_base::units;

/// How much of both ends of a trace is left out; the same for all verbs.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct SkipArguments {
    /// Leave out this much time after the first event: 2s, 500ms
    #[arg(long, value_name = "D")]
    pub(crate) skip_start: Option<DurationArgument>,
    /// Leave out this much time before the last event
    #[arg(long, value_name = "D")]
    pub(crate) skip_end: Option<DurationArgument>,
}

/// The range of time that was asked for.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct TimeArguments {
    /// Only what happens from this time on
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) since: Option<TimeArgument>,
    /// Only what happens up to this time
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) until: Option<TimeArgument>,
    #[command(flatten)]
    pub(crate) skip: SkipArguments,
}

/// What to say of a range of time in which nothing is. `covered` is from the first event to the last.
pub(crate) fn nothing_in(time: &RangeInclusive<Nanos>, covered: (Nanos, Nanos)) -> String {
    let shown = time::date_and_time;
    let (from, to) = (*time.start(), *time.end());
    let place = match (from == Nanos(i64::MIN), to == Nanos(i64::MAX)) {
        (true, _) => format!("before {}", shown(to)),
        (false, true) => format!("after {}", shown(from)),
        (false, false) => format!("between {} and {}", shown(from), shown(to)),
    };
    format!(
        "nothing of the recording lies {place}; it covers {} to {}",
        shown(covered.0),
        shown(covered.1)
    )
}

impl TimeArguments {
    pub(crate) fn is_limited(&self) -> bool {
        let skip = &self.skip;
        let between = self.since.is_some() || self.until.is_some();
        between || skip.skip_start.is_some() || skip.skip_end.is_some()
    }

    pub(crate) fn window(
        self,
        set: &TraceSet,
        model: &Model,
    ) -> anyhow::Result<RangeInclusive<Nanos>> {
        let time = filter::time_range(set, self.since, self.until)?;
        let time = time.unwrap_or(Nanos(i64::MIN)..=Nanos(i64::MAX));
        self.without_ends(time, model)
    }

    fn without_ends(
        self,
        time: RangeInclusive<Nanos>,
        model: &Model,
    ) -> anyhow::Result<RangeInclusive<Nanos>> {
        let (start, end) = (self.skip.skip_start, self.skip.skip_end);
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
                "--since and --until ask for what --skip-start and --skip-end leave out, so that nothing is left"
            );
        }
        Ok(from..=to)
    }
}
