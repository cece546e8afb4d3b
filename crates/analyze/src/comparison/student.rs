//! Student's distribution: how much wider an interval has to be when few witnesses say how wide it is.

/// The probability of more than `t` with so many degrees of freedom.
pub(super) fn upper_tail(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - upper_tail(-t, freedom);
    }
    0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The t beyond which lies this much probability, at most a half.
pub(crate) fn quantile(tail: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0f64, 1e4f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if upper_tail(middle, freedom) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on one side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..300 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            result *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-12 {
            break;
        }
    }
    result
}

/// Stirling's series, after moving the argument to where it is exact.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = x;
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse / 1260.0)) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [(1.0, 12.706), (4.0, 2.776), (10.0, 2.228), (1000.0, 1.962)] {
            let found = quantile(0.025, freedom);
            assert!((found - expected).abs() < 2e-3, "{freedom}: {found}");
        }
        assert!((upper_tail(0.0, 5.0) - 0.5).abs() < 1e-12);
        assert!(upper_tail(40.0, 30.0) < 1e-20);
    }
}
