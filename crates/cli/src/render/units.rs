//! Numbers for people, with units and in few digits.

/// `9,644`
pub(crate) fn count(number: u64) -> String {
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
pub(crate) fn counted(number: u64, noun: &str) -> String {
    // Nothing that is counted here has an irregular plural but this one.
    match (number, noun.strip_suffix("ss")) {
        (1, _) => format!("1 {noun}"),
        (_, Some(_)) => format!("{} {noun}es", count(number)),
        _ => format!("{} {noun}s", count(number)),
    }
}

/// `653.2 KiB`
pub(crate) fn bytes(number: u64) -> String {
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

/// `250.3 ms`, `3.214 s`, `2 h 05 min`
pub(crate) fn duration(nanos: u64) -> String {
    let seconds = nanos / 1_000_000_000;
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.3} µs", nanos as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", nanos as f64 / 1e6),
        _ if seconds < 60 => format!("{:.3} s", nanos as f64 / 1e9),
        _ if seconds < 3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

fn without_zeros(decimal: &str) -> &str {
    decimal.trim_end_matches('0').trim_end_matches('.')
}

/// `-1.500 µs`
pub(crate) fn signed_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", duration(nanos.unsigned_abs()))
}

/// `100.0 Hz`, `0.200 Hz`
pub(crate) fn hertz(hertz: f64) -> String {
    match hertz {
        _ if hertz >= 10_000.0 => format!("{} Hz", count(hertz.round() as u64)),
        _ if hertz >= 10.0 || hertz == 0.0 => format!("{hertz:.1} Hz"),
        _ => format!("{hertz:.3} Hz"),
    }
}

/// `0.7 %`, `143 %`
pub(crate) fn share(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 99.95 => format!("{percent:.0} %"),
        percent if percent >= 0.1 || percent == 0.0 => format!("{percent:.1} %"),
        percent if percent >= 0.001 => format!("{percent:.3} %"),
        _ => "< 0.001 %".to_owned(),
    }
}

/// `320.4/s`
pub(crate) fn rate(hertz: f64) -> String {
    match hertz {
        _ if hertz >= 100_000.0 => format!("{}/s", count(hertz.round() as u64)),
        _ if hertz >= 1.0 => format!("{hertz:.1}/s"),
        _ => format!("{hertz:.3}/s"),
    }
}

/// `1 GHz`, `2.419 GHz`
pub(crate) fn frequency(hertz: u64) -> String {
    let (value, unit) = match hertz {
        0..1_000 => return format!("{hertz} Hz"),
        1_000..1_000_000 => (hertz as f64 / 1e3, "kHz"),
        1_000_000..1_000_000_000 => (hertz as f64 / 1e6, "MHz"),
        _ => (hertz as f64 / 1e9, "GHz"),
    };
    format!("{} {unit}", without_zeros(&format!("{value:.3}")))
}

#[cfg(test)]
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
}
