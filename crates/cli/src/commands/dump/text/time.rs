//! Times and time differences in front of each line.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::number::{padded, unsigned};

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ClockFormat {
    /// `hh:mm:ss.nnnnnnnnn`
    #[default]
    TimeOfDay,
    /// `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`
    Date,
    /// Seconds since the clock's origin.
    Seconds,
    /// The clock's own value.
    Cycles,
}

/// A time in both units that it can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instant {
    pub(super) nanos: i64,
    pub(super) cycles: u64,
}

/// Writes times; remembers the text of the last second, for most events fall into the same one.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    format: ClockFormat,
    zone: TimeZone,
    second: i64,
    second_text: Vec<u8>,
}

const BILLION: i64 = 1_000_000_000;

impl Clock {
    pub(super) fn new(format: ClockFormat, gmt: bool) -> Clock {
        let zone = if gmt {
            TimeZone::UTC
        } else {
            TimeZone::system()
        };
        Clock {
            format,
            zone,
            second: i64::MIN,
            second_text: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn write(&mut self, out: &mut Vec<u8>, instant: Instant) {
        match self.format {
            ClockFormat::Cycles => padded(out, instant.cycles, 20),
            ClockFormat::Seconds => {
                if instant.nanos < 0 {
                    out.push(b'-');
                }
                let nanos = instant.nanos.unsigned_abs();
                unsigned(out, nanos / BILLION as u64);
                out.push(b'.');
                padded(out, nanos % BILLION as u64, 9);
            }
            ClockFormat::TimeOfDay | ClockFormat::Date => {
                let second = instant.nanos.div_euclid(BILLION);
                if second != self.second {
                    self.render_second(second);
                }
                out.extend_from_slice(&self.second_text);
                out.push(b'.');
                padded(out, instant.nanos.rem_euclid(BILLION) as u64, 9);
            }
        }
    }

    fn render_second(&mut self, second: i64) {
        self.second = second;
        self.second_text.clear();
        let Ok(timestamp) = Timestamp::from_second(second) else {
            unsigned(&mut self.second_text, second.unsigned_abs());
            return;
        };
        let local = self.zone.to_datetime(timestamp);
        let out = &mut self.second_text;
        if self.format == ClockFormat::Date {
            padded(out, u64::from(local.year().unsigned_abs()), 4);
            out.push(b'-');
            padded(out, local.month().unsigned_abs().into(), 2);
            out.push(b'-');
            padded(out, local.day().unsigned_abs().into(), 2);
            out.push(b' ');
        }
        for (number, mark) in [
            (local.hour(), b':'),
            (local.minute(), b':'),
            (local.second(), 0),
        ] {
            padded(out, number.unsigned_abs().into(), 2);
            if mark != 0 {
                out.push(mark);
            }
        }
    }

    /// `(+s.nnnnnnnnn) `, or question marks for the first event.
    #[inline]
    pub(super) fn write_delta(&self, out: &mut Vec<u8>, before: Option<Instant>, now: Instant) {
        match (self.format, before) {
            (ClockFormat::Cycles, None) => out.extend_from_slice(b"(+????????????) "),
            (ClockFormat::Cycles, Some(before)) => {
                out.extend_from_slice(b"(+");
                padded(out, now.cycles.wrapping_sub(before.cycles), 12);
                out.extend_from_slice(b") ");
            }
            (_, None) => out.extend_from_slice(b"(+?.?????????) "),
            (_, Some(before)) => {
                let nanos = now.nanos.wrapping_sub(before.nanos) as u64;
                out.extend_from_slice(b"(+");
                unsigned(out, nanos / BILLION as u64);
                out.push(b'.');
                padded(out, nanos % BILLION as u64, 9);
                out.extend_from_slice(b") ");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: ClockFormat, nanos: i64) -> String {
        let mut out = Vec::new();
        Clock::new(format, true).write(&mut out, Instant { nanos, cycles: 7 });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_are_written_in_each_format() {
        assert_eq!(
            written(ClockFormat::Seconds, 1_794_711_869_868_455_731),
            "1794711869.868455731"
        );
        assert_eq!(
            written(ClockFormat::Seconds, -86_193_273_649_026),
            "-86193.273649026"
        );
        assert_eq!(written(ClockFormat::Seconds, 3600), "0.000003600");
        assert_eq!(written(ClockFormat::Cycles, 1), "00000000000000000007");
        assert_eq!(
            written(ClockFormat::TimeOfDay, 1_794_711_869_868_455_731),
            "03:04:29.868455731"
        );
        assert_eq!(
            written(ClockFormat::Date, 0),
            "1970-01-01 00:00:00.000000000"
        );
    }

    #[test]
    fn a_time_before_1970_is_a_time_of_day_as_well() {
        assert_eq!(
            written(ClockFormat::Date, -1),
            "1969-12-31 23:59:59.999999999"
        );
    }
}
