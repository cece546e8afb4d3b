//! A few numbers that describe many.

use rostrace_ctf::schema::Nanos;
use serde::{Serialize, Serializer};

/// Durations in nanoseconds. Percentiles are nearest ranks: each is a value that occurred.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Statistics {
    pub count: u64,
    pub min: i64,
    pub mean: f64,
    pub p50: i64,
    pub p90: i64,
    pub p95: i64,
    pub p99: i64,
    pub p99_9: i64,
    pub max: i64,
    /// Of the sample: divided by n − 1; 0 for a single value.
    pub standard_deviation: f64,
    /// The instant of the largest value, the first if there are several.
    #[serde(rename = "worst_at_ns", serialize_with = "nanoseconds")]
    pub worst: Nanos,
}

fn nanoseconds<S: Serializer>(time: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(time.0)
}

impl Statistics {
    /// Of values with their instants; nothing for none. The values come back sorted.
    pub fn of(values: &mut [(i64, Nanos)]) -> Option<Statistics> {
        values.sort_unstable();
        let (min, max) = (values.first()?.0, values.last()?.0);
        let first_worst = values.partition_point(|(value, _)| *value < max);
        let number = values.len();
        let sum: i128 = values.iter().map(|(value, _)| i128::from(*value)).sum();
        let mean = sum as f64 / number as f64;
        let squares: f64 = values
            .iter()
            .map(|(value, _)| (*value as f64 - mean).powi(2))
            .sum();
        let rank = |per_mille: usize| values[(number * per_mille).div_ceil(1000).max(1) - 1].0;
        Some(Statistics {
            count: number as u64,
            min,
            mean,
            p50: rank(500),
            p90: rank(900),
            p95: rank(950),
            p99: rank(990),
            p99_9: rank(999),
            max,
            standard_deviation: (squares / (number.max(2) - 1) as f64).sqrt(),
            worst: values[first_worst].1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i64]) -> Option<Statistics> {
        let mut values: Vec<_> = values.iter().map(|it| (*it, Nanos(it * 10))).collect();
        Statistics::of(&mut values)
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        assert_eq!(of(&[]), None);
        let hundred = of(&(1..=100).rev().collect::<Vec<_>>()).unwrap();
        let ranks = [
            hundred.min,
            hundred.p50,
            hundred.p90,
            hundred.p95,
            hundred.p99,
            hundred.p99_9,
            hundred.max,
        ];
        assert_eq!(ranks, [1, 50, 90, 95, 99, 100, 100]);
        assert_eq!(hundred.mean, 50.5);
        assert_eq!(hundred.worst, Nanos(1000));
    }

    #[test]
    fn a_single_value_has_no_spread() {
        let one = of(&[7]).unwrap();
        assert_eq!((one.min, one.p50, one.max, one.count), (7, 7, 7, 1));
        assert_eq!(one.standard_deviation, 0.0);
    }

    #[test]
    fn the_spread_is_that_of_a_sample() {
        let it = of(&[2, 4, 4, 4, 5, 5, 7, 9]).unwrap();
        assert!((it.standard_deviation - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_first_of_equally_bad_ones_is_the_worst() {
        let mut values = [(9, Nanos(5)), (9, Nanos(3)), (1, Nanos(1))];
        assert_eq!(Statistics::of(&mut values).unwrap().worst, Nanos(3));
    }
}
