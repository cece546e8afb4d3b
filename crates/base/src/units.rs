//! Numbers for people, with units and in few digits.

/// `9,644`
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 event`, `9,644 events`
pub fn counted(number: u64, noun: &str) -> String {
    // Nothing else that is counted here has an irregular plural.
    let hisses = noun.ends_with("ss") || noun.ends_with("ch");
    match (number, hisses) {
        (1, _) => format!("1 {noun}"),
        (_, true) => format!("{} {noun}es", count(number)),
        (_, false) => format!("{} {noun}s", count(number)),
    }
}

/// `653.2 KiB`
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// To the microsecond, or what a unit has: `250.312 ms`, `3.214 s`, `2 h 05 min`.
pub fn duration(nanos: u64) -> String {
    // What would be rounded to 1000 of a unit is 1 of the next.
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.3} µs", nanos as f64 / 1e3),
        1_000_000..999_999_500 => format!("{:.3} ms", nanos as f64 / 1e6),
        999_999_500..59_999_500_000 => format!("{:.3} s", nanos as f64 / 1e9),
        _ => long_duration(nanos),
    }
}

/// In three digits, as pages have it: `250 ms`, `3.21 s`, `2 h 05 min`. `assets/base/duration.js` does the same.
pub fn short_duration(nanos: f64) -> String {
    let size = nanos.abs().round() as u64;
    let sign = if nanos < 0.0 && size > 0 { "−" } else { "" };
    if size < 1_000 {
        return format!("{sign}{size} ns");
    }
    if size >= 59_950_000_000 {
        return format!("{sign}{}", long_duration(size));
    }
    for (unit, nanos) in [("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)] {
        for decimals in [2, 1, 0] {
            let power = 10u64.pow(decimals);
            let step = nanos / power;
            let steps = (size + step / 2) / step;
            let width = decimals as usize;
            match (steps, decimals) {
                (1000.., _) => {}
                (_, 0) => return format!("{sign}{steps} {unit}"),
                _ => return format!("{sign}{}.{:0width$} {unit}", steps / power, steps % power),
            }
        }
    }
    format!("{sign}{}", long_duration(size))
}

fn long_duration(nanos: u64) -> String {
    let seconds = nanos.saturating_add(500_000_000) / 1_000_000_000;
    match seconds {
        0..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Of something that is set to it, without needless zeros: `10 ms`, `33.333 ms`, `2.5 s`.
pub fn period(nanos: u64) -> String {
    const UNITS: [&str; 4] = ["ns", "µs", "ms", "s"];
    let mut value = nanos as f64;
    let mut unit = 0;
    // What would be rounded to 1000 is 1 of the next unit.
    while value >= 999.999_5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", without_zeros(&format!("{value:.3}")), UNITS[unit])
}

/// Three digits: `12.3`, `0.031`.
pub fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn without_zeros(decimal: &str) -> &str {
    decimal.trim_end_matches('0').trim_end_matches('.')
}

/// `-1.500 µs`
pub fn signed_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", duration(nanos.unsigned_abs()))
}

/// `100.0 Hz`, `0.200 Hz`
pub fn hertz(hertz: f64) -> String {
    match hertz {
        _ if hertz >= 10_000.0 => format!("{} Hz", count(hertz.round() as u64)),
        _ if hertz >= 10.0 || hertz == 0.0 => format!("{hertz:.1} Hz"),
        _ => format!("{hertz:.3} Hz"),
    }
}

/// `0.7 %`, `143 %`
pub fn share(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 99.95 => format!("{percent:.0} %"),
        percent if percent >= 0.1 || percent == 0.0 => format!("{percent:.1} %"),
        percent if percent >= 0.001 => format!("{percent:.3} %"),
        _ => "< 0.001 %".to_owned(),
    }
}

/// `320.4/s`
pub fn rate(hertz: f64) -> String {
    match hertz {
        _ if hertz >= 100_000.0 => format!("{}/s", count(hertz.round() as u64)),
        _ if hertz >= 1.0 => format!("{hertz:.1}/s"),
        _ => format!("{hertz:.3}/s"),
    }
}

/// `1 GHz`, `2.419 GHz`
pub fn frequency(hertz: u64) -> String {
    let (value, unit) = match hertz {
        0..1_000 => return format!("{hertz} Hz"),
        1_000..1_000_000 => (hertz as f64 / 1e3, "kHz"),
        1_000_000..1_000_000_000 => (hertz as f64 / 1e6, "MHz"),
        _ => (hertz as f64 / 1e9, "GHz"),
    };
    format!("{} {unit}", without_zeros(&format!("{value:.3}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "process"), "1 process");
        assert_eq!(counted(2, "process"), "2 processes");
    }

    #[test]
    fn units_fit_the_size() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(duration(1_500), "1.500 µs");
        assert_eq!(duration(3_214_000_000), "3.214 s");
        assert_eq!(duration(7_500_000_000_000), "2 h 05 min");
        assert_eq!(frequency(1_000_000_000), "1 GHz");
        assert_eq!(frequency(100_000_000), "100 MHz");
        assert_eq!(rate(0.25), "0.250/s");
        assert_eq!(hertz(100.04), "100.0 Hz");
        assert_eq!(hertz(0.2), "0.200 Hz");
        assert_eq!(hertz(0.0), "0.0 Hz");
        assert_eq!(share(0.0312), "3.1 %");
        assert_eq!(share(1.434), "143 %");
        assert_eq!(share(0.0), "0.0 %");
        assert_eq!(share(0.000_002), "< 0.001 %");
    }

    #[test]
    fn the_period_of_a_timer_has_no_needless_zeros() {
        for (nanos, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.5 µs"),
            (10_000_000, "10 ms"),
            (33_333_333, "33.333 ms"),
            (100_000_000, "100 ms"),
            (999_999_999, "1 s"),
            (1_000_000_000, "1 s"),
            (2_500_000_000, "2.5 s"),
            (90_000_000_000, "90 s"),
        ] {
            assert_eq!(period(nanos), expected, "{nanos}");
        }
    }

    #[test]
    fn nothing_is_rounded_to_a_thousand_of_a_unit() {
        for size in (0..12).map(|power| 10u64.pow(power)) {
            for nanos in size.saturating_sub(600_000)..size {
                if (size - nanos) % 997 < 3 {
                    let (exact, short) = (duration(nanos), short_duration(nanos as f64));
                    assert!(!exact.starts_with("1000"), "{nanos}: {exact}");
                    assert!(!short.starts_with("1000"), "{nanos}: {short}");
                }
            }
        }
        assert_eq!(duration(999_999_999), "1.000 s");
        assert_eq!(duration(59_999_999_999), "1 min 00 s");
    }

    /// The scripts of the pages are checked with the same file.
    #[test]
    fn pages_and_sentences_write_the_same() {
        let vectors = include_str!("../vectors.json");
        let vectors: serde_json::Value = serde_json::from_str(vectors).unwrap();
        let check = |name: &str, write: fn(f64) -> String| {
            let pairs = vectors[name].as_array().unwrap();
            assert!(pairs.len() > 5, "{name}");
            for pair in pairs {
                let value = pair[0].as_f64().unwrap();
                assert_eq!(write(value), pair[1].as_str().unwrap(), "{name} {value}");
            }
        };
        check("duration", short_duration);
        check("digits", digits);
        check("bytes", |value| bytes(value as u64));
    }
}
