//! Amounts of bytes as people write them, and what a flight recorder keeps: bytes or a time.

use std::str::FromStr;

use anyhow::{Context, bail};
use rostrace_record::Flight;

use crate::time_argument::DurationArgument;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SizeArgument(pub(crate) u64);

/// `30s` or `100M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlightArgument(pub(crate) Flight);

impl FromStr for SizeArgument {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<SizeArgument> {
        let unit_at = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let shift = match unit.trim_end_matches("iB") {
            "" | "B" => 0,
            "K" | "k" => 10,
            "M" => 20,
            "G" => 30,
            "T" => 40,
            _ => bail!("`{unit}` is no unit of size; use K, M, G or T"),
        };
        let number: u64 = number
            .parse()
            .with_context(|| format!("`{text}` is no size; write for example 512K, 100M or 2G"))?;
        let bytes = number.checked_mul(1 << shift);
        Ok(SizeArgument(
            bytes.context("this is more than 64 bits of bytes")?,
        ))
    }
}

impl FromStr for FlightArgument {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<FlightArgument> {
        if let Ok(DurationArgument(nanos)) = text.parse() {
            if nanos <= 0 {
                bail!("a flight recorder that keeps nothing records nothing");
            }
            return Ok(FlightArgument(Flight::Nanos(nanos.unsigned_abs())));
        }
        match text.parse() {
            Ok(SizeArgument(0)) => bail!("a flight recorder that keeps nothing records nothing"),
            Ok(SizeArgument(bytes)) => Ok(FlightArgument(Flight::Bytes(bytes))),
            Err(_) => bail!("this is neither a time such as 30s nor a size such as 100M"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| text.parse::<SizeArgument>().map(|it| it.0).ok();
        assert_eq!(bytes("100"), Some(100));
        assert_eq!(bytes("4K"), Some(4096));
        assert_eq!(bytes("2MiB"), Some(2 << 20));
        assert_eq!(bytes("1G"), Some(1 << 30));
        for wrong in [
            "",
            "M",
            "1.5M",
            "1X",
            "-1",
            "99999999999999999999",
            "99999999T",
        ] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_flight_recorder_keeps_a_time_or_a_size() {
        let flight = |text: &str| text.parse::<FlightArgument>().map(|it| it.0).ok();
        assert_eq!(flight("30s"), Some(Flight::Nanos(30_000_000_000)));
        assert_eq!(flight("2m"), Some(Flight::Nanos(120_000_000_000)));
        assert_eq!(flight("100M"), Some(Flight::Bytes(100 << 20)));
        for wrong in ["0s", "0M", "soon", ""] {
            assert_eq!(flight(wrong), None, "{wrong}");
        }
    }
}
