//! Times for people: local time, with date and offset, to the nanosecond.

use jiff::{Timestamp, tz::TimeZone};
use rostrace_ctf::schema::Nanos;

/// `2026-08-01 14:03:07.250000000 +02:00`
pub(crate) fn date_and_time(nanos: Nanos) -> String {
    format(nanos, "%Y-%m-%d %H:%M:%S%.9f %:z")
}

/// `14:03:07.250000`
pub(crate) fn time_of_day(nanos: Nanos) -> String {
    format(nanos, "%H:%M:%S%.6f")
}

/// `+33.468340 s`: since the begin of the recording, as options and pages have it.
pub(crate) fn since(begin: Nanos, at: Nanos) -> String {
    let after = i128::from(at.0) - i128::from(begin.0);
    let sign = if after < 0 { '-' } else { '+' };
    let micros = after.unsigned_abs() / 1000;
    format!("{sign}{}.{:06} s", micros / 1_000_000, micros % 1_000_000)
}

fn format(nanos: Nanos, form: &str) -> String {
    match Timestamp::from_nanosecond(i128::from(nanos.0)) {
        Ok(timestamp) => timestamp
            .to_zoned(TimeZone::system())
            .strftime(form)
            .to_string(),
        Err(_) => format!("{} ns", nanos.0),
    }
}
