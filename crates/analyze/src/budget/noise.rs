//! How far a limit has to be from what was measured so that noise alone does not break it.
//!
//! Statistics of runs differ by factors rather than by amounts, so times and rates are looked at as logarithms, times from a floor on that no
//! system keeps. Three runs say little of how much one statistic varies; all statistics of the same kind say more, so what was seen of one is
//! taken together with what was seen of all. Student's distribution then says what the next run will be below.

use std::collections::BTreeMap;

use crate::comparison::student;

/// How probable it is that a run of the same system breaks a limit.
const CHANCE: f64 = 1.0 / 5000.0;
/// What all statistics of a kind say counts as much as so many runs more.
const OF_ALL: f64 = 3.0;
/// A limit farther away than this many times what was measured says nothing.
const FARTHEST: f64 = 5.0;
/// Nanoseconds by which everything varies: timers have a slack of 50 µs, and a processor that wakes up takes as long.
const TIME_FLOOR: f64 = 100e3;
/// Messages that may be lost by chance.
const SHARE_FLOOR: f64 = 0.01;
/// As a logarithm: where some runs happen to agree, the next one does not. Less for what a clock sets.
const LEAST_SPREAD: f64 = 0.1;
const LEAST_OF_CLOCKS: f64 = 0.02;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Nanoseconds.
    Time,
    /// Nanoseconds that a clock sets: they vary less.
    Period,
    Rate,
    /// Of 1.
    Share,
}

impl Scale {
    fn floor(self) -> f64 {
        match self {
            Scale::Time | Scale::Period => TIME_FLOOR,
            Scale::Rate => f64::MIN_POSITIVE,
            Scale::Share => SHARE_FLOOR,
        }
    }

    fn least_spread(self) -> f64 {
        match self {
            Scale::Time | Scale::Share => LEAST_SPREAD,
            Scale::Period | Scale::Rate => LEAST_OF_CLOCKS,
        }
    }

    fn logarithm(self, value: f64) -> f64 {
        (value + self.floor()).ln()
    }

    fn value(self, logarithm: f64) -> f64 {
        logarithm.exp() - self.floor()
    }
}

/// How much each kind of statistic varies from run to run, as a variance of logarithms.
#[derive(Debug)]
pub(super) struct Noise<K> {
    variances: BTreeMap<K, f64>,
}

impl<K: Ord + Copy> Noise<K> {
    /// From every statistic of every kind, in all runs.
    pub(super) fn of<'v>(all: impl Iterator<Item = (K, Scale, &'v [f64])>) -> Noise<K> {
        let mut of_kind: BTreeMap<K, (Scale, Vec<f64>)> = BTreeMap::new();
        for (kind, scale, values) in all {
            let (_, squares, freedom) = spread(scale, values);
            let (_, variances) = of_kind.entry(kind).or_insert((scale, Vec::new()));
            variances.push(squares / freedom.max(1.0));
        }
        let variances = of_kind
            .into_iter()
            .map(|(kind, (scale, variances))| (kind, typical(scale, variances)))
            .collect();
        Noise { variances }
    }

    /// What the next run keeps; nothing if that is too far from what was measured.
    pub(super) fn limit(
        &self,
        kind: K,
        scale: Scale,
        runs: &[f64],
        parts: &[f64],
        is_least: bool,
        margin: f64,
    ) -> Option<f64> {
        let of_all = self.variances.get(&kind).copied().unwrap_or(0.0);
        let (_, squares, freedom) = spread(scale, parts);
        let (mean, ..) = spread(scale, runs);
        let freedom = freedom + OF_ALL;
        let variance = (squares + OF_ALL * of_all) / freedom;
        let spread = variance.sqrt().max(scale.least_spread());
        let number = runs.len().max(1) as f64;
        let away = student::quantile(CHANCE, freedom) * spread * (1.0 + 1.0 / number).sqrt();
        if away > FARTHEST.ln() {
            return None;
        }
        let worst = match is_least {
            true => runs.iter().copied().reduce(f64::min)?,
            false => runs.iter().copied().reduce(f64::max)?,
        };
        Some(match is_least {
            true => {
                let limit = worst * (1.0 - margin).max(0.0);
                scale.value(mean - away).min(limit).max(0.0)
            }
            false => {
                let limit = (worst * (1.0 + margin)).max(worst + scale.floor());
                scale.value(mean + away).max(limit)
            }
        })
    }
}

/// Some statistics hardly vary at all, and say nothing of the others: what counts is the half that varies more. Losses come in bursts that may hit
/// anything, so of them it is the one that varies most.
fn typical(scale: Scale, mut variances: Vec<f64>) -> f64 {
    variances.sort_by(f64::total_cmp);
    let upper = match scale {
        Scale::Share => variances.len().saturating_sub(1),
        Scale::Time | Scale::Period | Scale::Rate => variances.len() / 2,
    };
    let upper = &variances[upper..];
    upper.iter().sum::<f64>() / upper.len().max(1) as f64
}

/// The mean, the sum of squared differences from it, and how many of them are free.
fn spread(scale: Scale, values: &[f64]) -> (f64, f64, f64) {
    let logarithms: Vec<f64> = values.iter().map(|it| scale.logarithm(*it)).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64;
    let squares = logarithms.iter().map(|it| (it - mean).powi(2)).sum();
    (mean, squares, logarithms.len().saturating_sub(1) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Times of several runs whose logarithms vary by so much, from numbers that look like chance.
    fn runs(number: usize, spread: f64, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut uniform = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        (0..number)
            .map(|_| 5e6 * (spread * normal()).exp())
            .collect()
    }

    #[test]
    fn the_next_runs_keep_the_limits() {
        let (mut limits, mut broken, mut checked) = (0, 0, 0);
        for seed in 0..200 {
            // Twelve statistics, half of which hardly vary.
            let all: Vec<Vec<f64>> = (0..12)
                .map(|it| runs(25, [0.01, 0.15][it % 2], seed * 100 + it as u64))
                .collect();
            let seen = all.iter().map(|it| ((), Scale::Time, &it[..5]));
            let noise = Noise::of(seen);
            for it in &all {
                let (base, next) = it.split_at(5);
                let limit = noise.limit((), Scale::Time, base, base, false, 0.2);
                let Some(limit) = limit else { continue };
                limits += 1;
                checked += next.len();
                broken += next.iter().filter(|value| **value > limit).count();
            }
        }
        assert!(limits > 2000, "{limits}");
        assert!(broken * 1000 <= checked, "{broken} of {checked}");
    }

    #[test]
    fn what_varies_by_orders_of_magnitude_has_no_limit() {
        let values = [1e6, 40e6, 3e6];
        let noise = Noise::of([((), Scale::Time, &values[..])].into_iter());
        assert_eq!(
            noise.limit((), Scale::Time, &values, &values, false, 0.2),
            None
        );
    }

    #[test]
    fn what_was_never_lost_may_be_lost_once() {
        let none = [0.0; 3];
        let noise = Noise::of([((), Scale::Share, &none[..])].into_iter());
        let limit = noise.limit((), Scale::Share, &none, &none, false, 0.2);
        assert!(
            limit.is_some_and(|it| (0.01..0.02).contains(&it)),
            "{limit:?}"
        );
    }

    proptest! {
        /// The runs that it comes from keep it, with the margin.
        #[test]
        fn a_limit_is_beyond_what_was_measured(
            values in prop::collection::vec(1.0_f64..1e9, 1..8),
            margin in 0.0_f64..1.0,
            is_least: bool,
        ) {
            for scale in [Scale::Time, Scale::Rate] {
                let noise = Noise::of([((), scale, &values[..])].into_iter());
                let Some(limit) = noise.limit((), scale, &values, &values, is_least, margin) else {
                    continue;
                };
                for value in &values {
                    match is_least {
                        true => prop_assert!(limit <= value * (1.0 - margin)),
                        false => prop_assert!(limit >= value * (1.0 + margin) * 0.999_999),
                    }
                }
            }
        }
    }
}
