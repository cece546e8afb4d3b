//! Values with units, as people write them in a budget file.

use super::key::ValueKind;
use crate::comparison::Unit;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    Nanoseconds(i64),
    Hertz(f64),
    Share(f64),
    Count(u64),
}

impl Quantity {
    /// What is wrong is said in a few words that fit behind "must be …".
    pub(super) fn parse(text: &str, kind: ValueKind) -> Result<Quantity, String> {
        let text = text.trim();
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim_start());
        let expected = || format!("must be {}", kind.expected());
        let value: f64 = number.parse().map_err(|_| expected())?;
        let nanoseconds = |scale: f64| {
            let nanos = value * scale;
            match nanos < 9e18 {
                true => Ok(Quantity::Nanoseconds(nanos.round() as i64)),
                false => Err("is longer than 292 years".to_owned()),
            }
        };
        match (kind, unit) {
            (ValueKind::Duration, "ns") => nanoseconds(1.0),
            (ValueKind::Duration, "us" | "µs" | "μs") => nanoseconds(1e3),
            (ValueKind::Duration, "ms") => nanoseconds(1e6),
            (ValueKind::Duration, "s") => nanoseconds(1e9),
            (ValueKind::Duration, "min") => nanoseconds(60e9),
            (ValueKind::Duration, "") if value == 0.0 => Ok(Quantity::Nanoseconds(0)),
            (ValueKind::Rate, "Hz") => Ok(Quantity::Hertz(value)),
            (ValueKind::Rate, "kHz") => Ok(Quantity::Hertz(value * 1e3)),
            (ValueKind::Rate, "") if value == 0.0 => Ok(Quantity::Hertz(0.0)),
            (ValueKind::Share | ValueKind::CountOrShare, "%") => Ok(Quantity::Share(value / 100.0)),
            (ValueKind::CountOrShare, "") if value.fract() == 0.0 && value < 1e15 => {
                Ok(Quantity::Count(value as u64))
            }
            (ValueKind::Duration | ValueKind::Rate, "") => {
                Err(format!("has no unit; it {}", expected()))
            }
            _ => Err(expected()),
        }
    }

    /// As a number to compare with what was measured.
    pub(super) fn number(self) -> f64 {
        match self {
            Quantity::Nanoseconds(nanos) => nanos as f64,
            Quantity::Hertz(value) | Quantity::Share(value) => value,
            Quantity::Count(count) => count as f64,
        }
    }

    /// Nothing for a number of things.
    pub fn unit(self) -> Option<Unit> {
        match self {
            Quantity::Nanoseconds(_) => Some(Unit::Nanoseconds),
            Quantity::Hertz(_) => Some(Unit::Hertz),
            Quantity::Share(_) => Some(Unit::Share),
            Quantity::Count(_) => None,
        }
    }

    /// As it is written in a file: `12.4ms`. Reading it back gives the same.
    pub fn written(self) -> String {
        match self {
            Quantity::Nanoseconds(nanos) => {
                let scales = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
                let fits = |scale: i64| nanos >= scale && (nanos % scale) * 1000 % scale == 0;
                match scales.iter().find(|(scale, _)| fits(*scale)) {
                    Some((scale, unit)) => {
                        let text = format!("{}.{:03}", nanos / scale, nanos % scale * 1000 / scale);
                        let text = text.trim_end_matches('0').trim_end_matches('.');
                        format!("{text}{unit}")
                    }
                    None if nanos == 0 => "0".to_owned(),
                    None => format!("{nanos}ns"),
                }
            }
            Quantity::Hertz(value) => format!("{value}Hz"),
            Quantity::Share(value) => {
                // As many digits as were meant, not those of 100 × 0.07.
                let text = format!("{:.6}", value * 100.0);
                format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
            }
            Quantity::Count(count) => count.to_string(),
        }
    }
}

/// Three significant digits, upwards or downwards.
pub(super) fn rounded(value: f64, up: bool) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(2 - value.log10().floor() as i32);
    let scaled = value * scale;
    // What is a whole number but for the last bit is not moved.
    let near = scaled.round();
    let digits = match (scaled - near).abs() < 1e-9 * scaled {
        true => near,
        false if up => scaled.ceil(),
        false => scaled.floor(),
    };
    digits / scale
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_are_asked_for_and_understood() {
        let time = |text| Quantity::parse(text, ValueKind::Duration);
        assert_eq!(time("20ms"), Ok(Quantity::Nanoseconds(20_000_000)));
        assert_eq!(time("1.5 s"), Ok(Quantity::Nanoseconds(1_500_000_000)));
        assert_eq!(time("0"), Ok(Quantity::Nanoseconds(0)));
        assert!(time("20").unwrap_err().starts_with("has no unit"));
        for wrong in [
            "",
            "ms",
            "-5ms",
            "5 parsecs",
            "1.2.3ms",
            "5Hz",
            "nan",
            "1e3ms",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        let drops = |text| Quantity::parse(text, ValueKind::CountOrShare);
        assert_eq!(drops("3"), Ok(Quantity::Count(3)));
        assert_eq!(drops("1%"), Ok(Quantity::Share(0.01)));
        assert!(drops("1.5").is_err());
        let rate = Quantity::parse("9.5 Hz", ValueKind::Rate);
        assert_eq!(rate, Ok(Quantity::Hertz(9.5)));
    }

    #[test]
    fn three_digits_upwards_or_downwards() {
        assert_eq!(rounded(12_341.0, true), 12_400.0);
        assert_eq!(rounded(12_349.0, false), 12_300.0);
        assert_eq!(rounded(12_300.0, true), 12_300.0);
        assert_eq!(rounded(0.0, true), 0.0);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(nanos in 0i64..9_000_000_000_000, hertz in 0.001f64..1e6, percent in 0u32..10_000) {
            let time = Quantity::Nanoseconds(nanos);
            prop_assert_eq!(Quantity::parse(&time.written(), ValueKind::Duration), Ok(time));
            let rate = Quantity::Hertz(hertz);
            prop_assert_eq!(Quantity::parse(&rate.written(), ValueKind::Rate), Ok(rate));
            let share = Quantity::Share(f64::from(percent) / 100.0 / 100.0);
            prop_assert_eq!(Quantity::parse(&share.written(), ValueKind::Share), Ok(share));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,12}") {
            for kind in [ValueKind::Duration, ValueKind::Rate, ValueKind::Share, ValueKind::CountOrShare] {
                let _ = Quantity::parse(&text, kind);
            }
        }
    }
}
