//! The times that people write on the command line: absolute, of the day, or relative to the trace.

use std::str::FromStr;

use anyhow::{Context, bail};
use jiff::civil;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use rostrace_ctf::schema::Nanos;

/// From this number on, plain numbers are nanoseconds: as seconds it would be the year 3 million.
const NANOSECONDS_FROM: i128 = 100_000_000_000_000;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

const FORMS: &str =
    "write for example +1.5s, -200ms, 14:03:07.25, 2026-08-01T14:03:07Z or 1794715879.5";

/// A time as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeArgument {
    Absolute(Nanos),
    /// Local time of the day on which the trace begins.
    OfDay(civil::Time),
    /// Nanoseconds.
    AfterStart(i64),
    BeforeEnd(i64),
}

/// A length of time as it was written, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DurationArgument(pub(crate) i64);

impl FromStr for DurationArgument {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<DurationArgument> {
        Ok(DurationArgument(duration(text)?))
    }
}

/// First and last time of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) begin: Nanos,
    pub(crate) end: Nanos,
}

impl TimeArgument {
    /// What is meant in this trace; `span` is nothing if the trace has no clock.
    pub(crate) fn resolve(self, span: Option<Span>) -> anyhow::Result<Nanos> {
        if let TimeArgument::Absolute(nanos) = self {
            return Ok(nanos);
        }
        let Some(span) = span else {
            bail!(
                "the trace has no clock, so it has no start and no end that a time could count from"
            );
        };
        match self {
            TimeArgument::Absolute(nanos) => Ok(nanos),
            TimeArgument::AfterStart(nanos) => Ok(Nanos(span.begin.0.saturating_add(nanos))),
            TimeArgument::BeforeEnd(nanos) => Ok(Nanos(span.end.0.saturating_sub(nanos))),
            TimeArgument::OfDay(time) => {
                let first = Zoned::new(
                    Timestamp::from_nanosecond(i128::from(span.begin.0))?,
                    TimeZone::system(),
                );
                let then = first
                    .date()
                    .to_datetime(time)
                    .to_zoned(TimeZone::system())
                    .context("there is no such time on the day on which the trace begins")?;
                nanos_of(then.timestamp())
            }
        }
    }
}

impl FromStr for TimeArgument {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<TimeArgument> {
        if let Some(length) = text.strip_prefix('+') {
            return Ok(TimeArgument::AfterStart(duration(length)?));
        }
        if let Some(length) = text.strip_prefix('-') {
            return Ok(TimeArgument::BeforeEnd(duration(length)?));
        }
        if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            return since_1970(text);
        }
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return Ok(TimeArgument::Absolute(nanos_of(timestamp)?));
        }
        if let Some(time) = time_of_day(text) {
            return Ok(TimeArgument::OfDay(time));
        }
        if let Ok(local) = text.parse::<civil::DateTime>() {
            let local = local.to_zoned(TimeZone::system())?;
            return Ok(TimeArgument::Absolute(nanos_of(local.timestamp())?));
        }
        bail!("this is no time; {FORMS}")
    }
}

fn nanos_of(timestamp: Timestamp) -> anyhow::Result<Nanos> {
    let nanos = i64::try_from(timestamp.as_nanosecond())
        .context("64 bits of nanoseconds since 1970 do not reach so far")?;
    Ok(Nanos(nanos))
}

/// `hh:mm:ss` with any fraction; jiff alone would also take `140307`.
fn time_of_day(text: &str) -> Option<civil::Time> {
    let has_shape = text.bytes().enumerate().all(|(place, byte)| match place {
        2 | 5 => byte == b':',
        8 => byte == b'.',
        _ => byte.is_ascii_digit(),
    });
    (has_shape && text.len() >= 8).then(|| text.parse().ok())?
}

fn since_1970(text: &str) -> anyhow::Result<TimeArgument> {
    let (whole, nanos) = decimal(text, NANOS_PER_SECOND)?;
    let nanos = if whole >= NANOSECONDS_FROM {
        whole
    } else {
        whole * i128::from(NANOS_PER_SECOND) + nanos
    };
    let nanos = i64::try_from(nanos).context("this is more than 64 bits of nanoseconds")?;
    Ok(TimeArgument::Absolute(Nanos(nanos)))
}

/// `1.5s`, `200ms`, `3m`: in nanoseconds. A number alone is seconds.
fn duration(text: &str) -> anyhow::Result<i64> {
    let unit_at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    // Outputs have a space there, and are copied from.
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let scale = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" | "" => NANOS_PER_SECOND,
        "m" | "min" => 60 * NANOS_PER_SECOND,
        "h" => 3600 * NANOS_PER_SECOND,
        _ => bail!("`{unit}` is no unit of time; use ns, us, ms, s, m or h"),
    };
    let (whole, part) = decimal(number, scale)?;
    i64::try_from(whole.saturating_mul(i128::from(scale)) + part)
        .context("this is more than 64 bits of nanoseconds")
}

/// A decimal number as its whole part, and its fraction times `scale`, rounded down.
fn decimal(text: &str, scale: i64) -> anyhow::Result<(i128, i128)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| -> anyhow::Result<i128> {
        let known = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 24;
        match text {
            "" => Ok(0),
            _ if known => Ok(text.parse()?),
            _ => bail!("`{text}` is no number; {FORMS}"),
        }
    };
    if whole.is_empty() && fraction.is_empty() {
        bail!("a number is missing; {FORMS}");
    }
    // More digits than these are below any nanosecond.
    let fraction = &fraction[..fraction.len().min(15)];
    let part = digits(fraction)? * i128::from(scale) / 10i128.pow(fraction.len() as u32);
    Ok((digits(whole)?, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> TimeArgument {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn resolve(text: &str) -> i64 {
        let span = Span {
            begin: Nanos(1_000_000_000_000),
            end: Nanos(1_060_000_000_000),
        };
        parse(text).resolve(Some(span)).unwrap().0
    }

    #[test]
    fn seconds_since_1970_keep_every_nanosecond() {
        let nanos = |text| match parse(text) {
            TimeArgument::Absolute(Nanos(nanos)) => nanos,
            other => panic!("{other:?}"),
        };
        assert_eq!(nanos("1794715879.5"), 1_794_715_879_500_000_000);
        assert_eq!(nanos("1794715879.123456789"), 1_794_715_879_123_456_789);
        assert_eq!(nanos("1794715879123456789"), 1_794_715_879_123_456_789);
        assert_eq!(nanos("0"), 0);
        assert_eq!(nanos("2026-11-15T04:11:19.5Z"), 1_794_715_879_500_000_000);
        assert_eq!(
            nanos("2026-11-15T05:11:19.5+01:00"),
            1_794_715_879_500_000_000
        );
    }

    #[test]
    fn relative_times_count_from_the_start_or_the_end() {
        assert_eq!(resolve("+1.5s"), 1_001_500_000_000);
        assert_eq!(resolve("+200ms"), 1_000_200_000_000);
        assert_eq!(resolve("+3m"), 1_180_000_000_000);
        assert_eq!(resolve("+7ns"), 1_000_000_000_007);
        assert_eq!(resolve("-2s"), 1_058_000_000_000);
    }

    #[test]
    fn a_time_of_day_is_a_time_of_day() {
        assert_eq!(
            parse("14:03:07.25"),
            TimeArgument::OfDay(civil::time(14, 3, 7, 250_000_000))
        );
    }

    #[test]
    fn a_trace_without_a_clock_has_absolute_times_alone() {
        assert!(parse("+1s").resolve(None).is_err());
        assert_eq!(parse("1").resolve(None).unwrap(), Nanos(NANOS_PER_SECOND));
    }

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        let nanos = |text: &str| text.parse::<DurationArgument>().map(|it| it.0).ok();
        assert_eq!(nanos("2s"), Some(2_000_000_000));
        assert_eq!(nanos("500ms"), Some(500_000_000));
        assert_eq!(nanos("1.5m"), Some(90_000_000_000));
        assert_eq!(nanos("33.468340 s"), Some(33_468_340_000));
        for wrong in ["", "s", "-2s", "+2s", "2  s", "soon"] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "+",
            "-",
            ".",
            "+1.5.2s",
            "+3 parsecs",
            "yesterday",
            "25:00:00",
            "1.2.3",
            "99999999999999999999999999999",
            "+9999999999999h",
            "14:03:07é",
        ] {
            assert!(text.parse::<TimeArgument>().is_err(), "{text}");
        }
    }
}
