//! Whether one statistic of one metric differs, and by how much at least.
//!
//! A difference counts if the whole interval lies beyond a margin, which is a share of the base value and at least a floor: then it is both
//! more than noise and large enough to matter. The test is against the margin, not against zero, so a difference that is certain but tiny is
//! no news, and of equal systems far fewer than the stated share is called different.

use serde::Serialize;

use super::Options;
use super::bootstrap::{Pool, Recordings};
use super::metric::{Metric, Statistic, Unit};
use super::random::Random;
use super::student;

/// With fewer blocks nobody can say how noisy something is.
const LEAST_BLOCKS: f64 = 5.0;

/// Below so many of the drawn samples, their number is too coarse for a probability and the tail of Student's distribution takes over.
const FEW: usize = 10;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        Worse = "worse",
        Better = "better",
        /// The interval lies within the margin: if there is a difference, it does not matter.
        Same = "same",
        /// Neither can be said: the values vary too much, or they are too few.
        Undecided = "undecided",
    }
}

/// One statistic on both sides. Values are in the unit of the metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    pub statistic: Statistic,
    pub base: f64,
    pub new: f64,
    /// New less base.
    pub difference: f64,
    /// Of the difference, at the level of the comparison; nothing if there are too few independent values.
    pub interval: Option<(f64, f64)>,
    /// New divided by base; nothing if the base is 0 or negative.
    pub ratio: Option<f64>,
    /// The difference has to be larger than this to matter.
    pub margin: f64,
    /// How probable such a difference, or a larger one, would be if the true one were the margin.
    pub p: f64,
    /// The same after counting how many comparisons were made.
    pub adjusted_p: f64,
    pub verdict: Verdict,
}

/// All statistics of a metric that there are enough values for. `verdict` is not final before `Difference::decide`.
pub(super) fn differences(
    metric: Metric,
    base: &Pool,
    new: &Pool,
    values: (usize, usize),
    options: &Options,
    name: &str,
) -> Vec<Difference> {
    let fewest = values.0.min(values.1);
    let statistics: Vec<Statistic> = metric
        .statistics()
        .iter()
        .copied()
        .filter(|statistic| fewest >= statistic.least_values())
        .collect();
    if statistics.is_empty() {
        return Vec::new();
    }
    let sides = [("base", base), ("new", new)].map(|(side, pool)| {
        let is_enough = pool.blocks() >= LEAST_BLOCKS;
        // What is drawn on one side must not be what is drawn on the other.
        is_enough.then(|| spreads(pool, &statistics, options, &format!("{name} {side}")))
    });
    let rows = statistics.iter().enumerate().map(|(number, statistic)| {
        let (of_base, of_new) = (base.measured(*statistic), new.measured(*statistic));
        let mut difference = Difference {
            statistic: *statistic,
            base: of_base,
            new: of_new,
            difference: of_new - of_base,
            interval: None,
            ratio: (of_base > 0.0).then(|| of_new / of_base),
            margin: margin(metric, of_base, options),
            p: 1.0,
            adjusted_p: 1.0,
            verdict: Verdict::Undecided,
        };
        if let [Some(of_base), Some(of_new)] = &sides {
            difference.judge(&of_base[number], &of_new[number], options);
        }
        difference
    });
    rows.collect()
}

/// How one statistic of one side could have been another one.
#[derive(Debug)]
struct Spread {
    /// What was drawn less what was measured, as wide as the variance.
    deviations: Vec<f64>,
    variance: f64,
    /// Parts of the variance with the number of witnesses for each: blocks for what varies within a recording, recordings for what
    /// varies from one to the next.
    parts: [(f64, f64); 2],
}

/// A group of g recordings tells of two kinds of noise. Drawn from the recordings as they are, a sample varies as W / g, the noise within;
/// with recordings drawn too, by (g − 1) / g of what they differ by on top of that. So the noise between them follows, and
/// what it is worth: g − 1 witnesses are few, but they matter only as much as their part of the variance.
fn spreads(pool: &Pool, statistics: &[Statistic], options: &Options, name: &str) -> Vec<Spread> {
    let within = drawn(pool, statistics, options, name, Recordings::Kept);
    let blocks = pool.blocks() - 1.0;
    let groups = pool.groups() as f64;
    if pool.groups() < 2 {
        return within
            .into_iter()
            .map(|deviations| {
                let variance = variance(&deviations);
                Spread {
                    deviations,
                    variance,
                    parts: [(variance, blocks), (0.0, 1.0)],
                }
            })
            .collect();
    }
    let both = drawn(pool, statistics, options, name, Recordings::Drawn);
    let rows = within.iter().zip(both).map(|(within, mut deviations)| {
        let (inner, outer) = (variance(within), variance(&deviations));
        let apart = (outer - inner).max(0.0) * groups / (groups - 1.0);
        let between = (apart - inner).max(0.0);
        let all = inner + between;
        let scale = if outer > 0.0 {
            (all / outer).sqrt()
        } else {
            1.0
        };
        for deviation in &mut deviations {
            *deviation *= scale;
        }
        Spread {
            deviations,
            variance: all,
            parts: [(inner, blocks), (between, groups - 1.0)],
        }
    });
    rows.collect()
}

/// By statistic: what was drawn less what was measured.
fn drawn(
    pool: &Pool,
    statistics: &[Statistic],
    options: &Options,
    name: &str,
    recordings: Recordings,
) -> Vec<Vec<f64>> {
    let mut random = Random::of(options.seed, &format!("{name} {recordings:?}"));
    let mut weights = pool.weights();
    let measured: Vec<f64> = statistics.iter().map(|it| pool.measured(*it)).collect();
    let mut drawn = vec![Vec::with_capacity(options.resamples); statistics.len()];
    for _ in 0..options.resamples {
        pool.draw(&mut random, &mut weights, recordings);
        for (number, statistic) in statistics.iter().enumerate() {
            drawn[number].push(pool.drawn(&weights, *statistic) - measured[number]);
        }
    }
    drawn
}

/// Around what was measured, not around the mean: a bias is uncertainty too.
fn variance(deviations: &[f64]) -> f64 {
    let squares: f64 = deviations.iter().map(|it| it * it).sum();
    squares / deviations.len().max(1) as f64
}

fn margin(metric: Metric, base: f64, options: &Options) -> f64 {
    let floor = match metric.unit() {
        Unit::Nanoseconds => options.floor as f64,
        // Drops and load are shares already: a hundredth of the whole is the least that matters.
        Unit::Share => options.share_floor,
        Unit::Hertz => 0.0,
    };
    (options.threshold * base.abs()).max(floor)
}

/// Welch and Satterthwaite: how many witnesses there are for the variance of a difference.
fn freedom(sides: [&Spread; 2]) -> f64 {
    let parts = sides.iter().flat_map(|side| side.parts);
    let doubt: f64 = parts.map(|(part, witnesses)| part * part / witnesses).sum();
    let all = sides[0].variance + sides[1].variance;
    if doubt > 0.0 {
        (all * all / doubt).max(1.0)
    } else {
        1e6
    }
}

impl Difference {
    fn judge(&mut self, base: &Spread, new: &Spread, options: &Options) {
        let freedom = freedom([base, new]);
        let deviation = (base.variance + new.variance).sqrt();
        let tail = options.level / 2.0;
        // Few witnesses: as much wider as Student's distribution is than the normal one.
        let wider = student::quantile(tail, freedom) / student::quantile(tail, 1e6);
        let pairs = base.deviations.iter().zip(&new.deviations);
        let mut drawn: Vec<f64> = pairs
            .map(|(base, new)| self.difference + wider * (new - base))
            .collect();
        let number = drawn.len() as f64;
        drawn.sort_by(f64::total_cmp);
        let rank = |share: f64| drawn[((share * number) as usize).min(drawn.len() - 1)];
        self.interval = Some((rank(tail), rank(1.0 - tail)));
        let not_above = drawn.partition_point(|it| *it <= self.margin);
        let not_below = drawn.len() - drawn.partition_point(|it| *it < -self.margin);
        let fewer = not_above.min(not_below);
        let counted = (2.0 * (fewer as f64 + 1.0) / (number + 1.0)).min(1.0);
        self.p = if fewer >= FEW {
            counted
        } else {
            let beyond = self.difference.abs() - self.margin;
            let t = match deviation > 0.0 {
                true => beyond / deviation,
                false if beyond > 0.0 => 1e3,
                false => 0.0,
            };
            let few = 2.0 * (FEW as f64 + 1.0) / (number + 1.0);
            (2.0 * student::upper_tail(t, freedom)).clamp(f64::MIN_POSITIVE, few)
        };
    }

    /// When all probabilities are known.
    pub(super) fn decide(&mut self, metric: Metric, adjusted_p: f64, options: &Options) {
        self.adjusted_p = adjusted_p;
        let Some((low, high)) = self.interval else {
            return;
        };
        let is_beyond = low > self.margin || high < -self.margin;
        self.verdict = if adjusted_p <= options.level && is_beyond {
            match (self.difference > 0.0) == metric.more_is_worse() {
                true => Verdict::Worse,
                false => Verdict::Better,
            }
        } else if low >= -self.margin && high <= self.margin {
            Verdict::Same
        } else {
            Verdict::Undecided
        };
    }
}
