//! From a stream's cycles to nanoseconds, with the common case prepared.

use crate::schema::{Clock, Cycles, Nanos};

/// How cycles become nanoseconds when the clock does not run at 1 GHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conversion {
    /// In 128-bit integers.
    #[default]
    Exact,
    /// In double precision, as babeltrace2 does, to print what it prints.
    DoublePrecision,
}

/// The clock of one stream, ready to convert.
#[derive(Debug, Clone, Copy)]
pub struct TimeBase<'a> {
    clock: Option<&'a Clock>,
    /// For 1 GHz the sum of all offsets.
    offset: Option<i64>,
    conversion: Conversion,
}

impl<'a> TimeBase<'a> {
    pub(crate) fn new(clock: Option<&'a Clock>, conversion: Conversion) -> TimeBase<'a> {
        TimeBase {
            clock,
            offset: clock.and_then(Clock::nanos_offset),
            conversion,
        }
    }

    /// Whether the stream has times at all.
    pub fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// Zero for a stream without a clock.
    #[inline]
    pub fn nanos(&self, cycles: Cycles) -> Nanos {
        match (self.offset, i64::try_from(cycles.0)) {
            (Some(offset), Ok(cycles)) => Nanos(offset.saturating_add(cycles)),
            _ => self.convert(cycles),
        }
    }

    fn convert(&self, cycles: Cycles) -> Nanos {
        match (self.clock, self.conversion) {
            (None, _) => Nanos(0),
            (Some(clock), Conversion::Exact) => clock.nanos(cycles),
            (Some(clock), Conversion::DoublePrecision) => clock.nanos_in_double_precision(cycles),
        }
    }
}
