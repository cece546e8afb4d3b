//! A few numbers that describe many.

use serde::Serialize;

/// Durations in nanoseconds. Percentiles are nearest ranks: each is a value that occurred.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Statistics {
    pub(crate) min: i64,
    pub(crate) mean: f64,
    pub(crate) p50: i64,
    pub(crate) p90: i64,
    pub(crate) p99: i64,
    pub(crate) max: i64,
}

impl Statistics {
    /// Nothing for no values.
    pub(crate) fn of(mut values: Vec<i64>) -> Option<Statistics> {
        values.sort_unstable();
        let (min, max) = (*values.first()?, *values.last()?);
        let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
        let rank = |percent: usize| values[(values.len() * percent).div_ceil(100).max(1) - 1];
        let mean = sum as f64 / values.len() as f64;
        Some(Statistics {
            min,
            mean,
            p50: rank(50),
            p90: rank(90),
            p99: rank(99),
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Statistics;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let of = |values: &[i64]| Statistics::of(values.to_vec());
        assert_eq!(of(&[]), None);
        let one = Statistics {
            min: 7,
            mean: 7.0,
            p50: 7,
            p90: 7,
            p99: 7,
            max: 7,
        };
        assert_eq!(of(&[7]), Some(one));
        let hundred = Statistics::of((1..=100).rev().collect()).unwrap();
        assert_eq!(
            (hundred.p50, hundred.p90, hundred.p99, hundred.max),
            (50, 90, 99, 100)
        );
        assert_eq!(hundred.mean, 50.5);
    }
}
