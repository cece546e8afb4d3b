//! Values of metrics for people: with a unit and in few digits.

use rostrace_analyze::comparison::Unit;
use rostrace_base::units::{digits, short_duration};

/// `12.3 ms`, `9.98 Hz`, `3.1 %`
pub fn quantity(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => short_duration(value),
        Unit::Hertz => format!("{} Hz", digits(value)),
        Unit::Share => format!("{} %", digits(value * 100.0)),
    }
}

/// `+3.3 ms`, `−0.4 Hz`; the difference of two shares is in points: `+2.0 points`.
pub fn signed(value: f64, unit: Unit) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    match unit {
        Unit::Share => format!("{sign}{} points", digits(value.abs() * 100.0)),
        _ => format!("{sign}{}", quantity(value.abs(), unit)),
    }
}

/// `+27 %`, `3.1 times`
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match () {
        () if ratio >= 3.0 => format!("{} times", digits(ratio)),
        () if percent < 0.0 => format!("−{} %", digits(-percent)),
        () => format!("+{} %", digits(percent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits_and_a_unit() {
        assert_eq!(quantity(12_345_678.0, Unit::Nanoseconds), "12.3 ms");
        assert_eq!(quantity(999.6, Unit::Nanoseconds), "1.00 µs");
        assert_eq!(quantity(-1500.0, Unit::Nanoseconds), "−1.50 µs");
        assert_eq!(quantity(9.98, Unit::Hertz), "9.98 Hz");
        assert_eq!(quantity(0.031, Unit::Share), "3.10 %");
        assert_eq!(signed(-0.02, Unit::Share), "−2.00 points");
        assert_eq!(change(1.27), "+27.0 %");
        assert_eq!(change(4.0), "4.00 times");
        assert_eq!(change(0.5), "−50.0 %");
    }
}
