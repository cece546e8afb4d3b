//! How much a median, a percentile or a rate could have been another one by chance: the block bootstrap.
//!
//! Samples are drawn again from what was measured, in blocks of neighbouring values that are long enough to be nearly independent of each other
//! (moving blocks, closed to a circle so that no value counts less). Of a group of recordings first the recordings are drawn, then blocks in them.
//!
//! The work is bounded whatever the size of a recording: a sample is cut into at most `MOST_UNITS` stretches, of which blocks consist, and
//! its values into at most `MOST_EDGES` classes, finer at the top. For each class the values up to it are counted by stretch, once. A drawn
//! sample is then just a number per stretch, and a percentile of it a binary search over the classes. Longer stretches make blocks longer than they
//! need to be, which is honest, and a hundred of them are enough to know a variance.

use super::autocorrelation::{block_length, block_length_of_mean};
use super::metric::Statistic;
use super::random::Random;

/// Stretches of all recordings of a sample together.
const MOST_UNITS: usize = 128;
const MOST_EDGES: usize = 512;

/// The values of one metric, by recording and in the order of time.
#[derive(Debug, Clone)]
pub(super) enum Sample {
    Values(Vec<Vec<i64>>),
    /// Parts of two sums, of which one is divided by the other.
    Ratios(Vec<Vec<(f64, f64)>>),
}

impl Sample {
    /// How many values it has.
    pub(super) fn len(&self) -> usize {
        match self {
            Sample::Values(recordings) => recordings.iter().map(Vec::len).sum(),
            Sample::Ratios(recordings) => recordings.iter().map(Vec::len).sum(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recordings {
    Drawn,
    Kept,
}

/// A sample, prepared to be drawn from.
#[derive(Debug)]
pub(super) struct Pool {
    recordings: Vec<Stretches>,
    content: Content,
    units: usize,
}

/// The stretches of one recording, and how many make a block.
#[derive(Debug)]
struct Stretches {
    first: usize,
    number: usize,
    per_block: usize,
}

#[derive(Debug)]
enum Content {
    Values {
        /// All values, sorted.
        sorted: Vec<i64>,
        /// The largest value of each class.
        edges: Vec<i64>,
        /// By class and stretch: values up to the edge.
        cumulative: Vec<u32>,
        /// By stretch.
        sizes: Vec<u32>,
    },
    Ratios {
        above: Vec<f64>,
        below: Vec<f64>,
    },
}

impl Pool {
    pub(super) fn new(sample: &Sample) -> Pool {
        match sample {
            Sample::Values(recordings) => of_values(recordings),
            Sample::Ratios(recordings) => of_ratios(recordings),
        }
    }

    /// Recordings that have values.
    pub(super) fn groups(&self) -> usize {
        self.recordings.len()
    }

    /// How many nearly independent blocks there are.
    pub(super) fn blocks(&self) -> f64 {
        let blocks = self.recordings.iter();
        blocks
            .map(|it| it.number as f64 / it.per_block as f64)
            .sum()
    }

    pub(super) fn sorted(&self) -> Option<&[i64]> {
        match &self.content {
            Content::Values { sorted, .. } => Some(sorted),
            Content::Ratios { .. } => None,
        }
    }

    /// What was measured.
    pub(super) fn measured(&self, statistic: Statistic) -> f64 {
        match &self.content {
            Content::Values { sorted, .. } => {
                let rank = (sorted.len() * statistic.per_mille()).div_ceil(1000);
                sorted.get(rank.max(1) - 1).map_or(0.0, |it| *it as f64)
            }
            Content::Ratios { .. } => self.drawn(&vec![1; self.units], statistic),
        }
    }

    pub(super) fn weights(&self) -> Vec<u32> {
        vec![0; self.units]
    }

    /// How often each stretch is in a new sample: of recordings that are drawn too, or of all as they are.
    pub(super) fn draw(&self, random: &mut Random, weights: &mut [u32], recordings: Recordings) {
        weights.fill(0);
        for number in 0..self.recordings.len() {
            let chosen = match recordings {
                Recordings::Drawn => random.below(self.recordings.len()),
                Recordings::Kept => number,
            };
            let stretches = &self.recordings[chosen];
            let weights = &mut weights[stretches.first..stretches.first + stretches.number];
            let mut left = stretches.number;
            while left > 0 {
                let block = stretches.per_block.min(left);
                let start = random.below(stretches.number);
                let straight = block.min(stretches.number - start);
                for weight in &mut weights[start..start + straight] {
                    *weight += 1;
                }
                for weight in &mut weights[..block - straight] {
                    *weight += 1;
                }
                left -= block;
            }
        }
    }

    /// The statistic of a sample that was drawn.
    pub(super) fn drawn(&self, weights: &[u32], statistic: Statistic) -> f64 {
        match &self.content {
            Content::Values {
                edges,
                cumulative,
                sizes,
                ..
            } => {
                let number = weighted(weights, sizes);
                let rank = (number * statistic.per_mille() as u64)
                    .div_ceil(1000)
                    .max(1);
                let (mut low, mut high) = (0, edges.len() - 1);
                while low < high {
                    let middle = (low + high) / 2;
                    let row = &cumulative[middle * self.units..(middle + 1) * self.units];
                    if weighted(weights, row) >= rank {
                        high = middle;
                    } else {
                        low = middle + 1;
                    }
                }
                edges[low] as f64
            }
            Content::Ratios { above, below } => {
                let sum = |parts: &[f64]| -> f64 {
                    let parts = parts.iter().zip(weights);
                    parts.map(|(part, weight)| part * f64::from(*weight)).sum()
                };
                let whole = sum(below);
                if whole > 0.0 { sum(above) / whole } else { 0.0 }
            }
        }
    }
}

fn weighted(weights: &[u32], counts: &[u32]) -> u64 {
    let products = weights.iter().zip(counts);
    products
        .map(|(weight, count)| u64::from(*weight) * u64::from(*count))
        .sum()
}

/// Where each stretch of a recording ends.
fn stretches(lengths: &[usize], block: impl Fn(usize) -> usize) -> (Vec<Stretches>, Vec<usize>) {
    let per_recording = (MOST_UNITS / lengths.len().max(1)).max(16);
    let mut recordings = Vec::new();
    let mut sizes = Vec::new();
    for (number, length) in lengths.iter().enumerate() {
        let units = (*length).min(per_recording);
        let first = sizes.len();
        let mut done = 0;
        for unit in 1..=units {
            let end = length * unit / units;
            sizes.push(end - done);
            done = end;
        }
        let unit = length.div_ceil(units);
        let per_block = block(number).div_ceil(unit).clamp(1, units);
        recordings.push(Stretches {
            first,
            number: units,
            per_block,
        });
    }
    (recordings, sizes)
}

fn of_values(values: &[Vec<i64>]) -> Pool {
    let values: Vec<&Vec<i64>> = values.iter().filter(|values| !values.is_empty()).collect();
    let lengths: Vec<usize> = values.iter().map(|values| values.len()).collect();
    let (recordings, sizes) = stretches(&lengths, |number| block_length(values[number]));
    let units = sizes.len();
    let mut sorted: Vec<i64> = values
        .iter()
        .flat_map(|values| values.iter().copied())
        .collect();
    sorted.sort_unstable();
    let edges = edges(&sorted);
    let mut cumulative = vec![0u32; edges.len() * units];
    let mut unit = 0;
    let mut left = sizes.first().copied().unwrap_or(0);
    for value in values.iter().flat_map(|values| values.iter()) {
        while left == 0 {
            unit += 1;
            left = sizes[unit];
        }
        left -= 1;
        let class = edges.partition_point(|edge| edge < value);
        cumulative[class * units + unit] += 1;
    }
    for place in units..cumulative.len() {
        cumulative[place] += cumulative[place - units];
    }
    Pool {
        recordings,
        content: Content::Values {
            sorted,
            edges,
            cumulative,
            sizes: sizes.iter().map(|size| *size as u32).collect(),
        },
        units,
    }
}

/// The last value of each class, without repetition: half of the classes are for the largest tenth.
fn edges(sorted: &[i64]) -> Vec<i64> {
    let number = sorted.len();
    if number <= MOST_EDGES {
        let mut edges = sorted.to_vec();
        edges.dedup();
        return edges;
    }
    let tenth = number / 10;
    let half = MOST_EDGES / 2;
    let low = (1..=half).map(|place| (number - tenth) * place / half);
    let high = (1..=half).map(|place| number - tenth + tenth * place / half);
    let mut edges: Vec<i64> = low
        .chain(high)
        .map(|rank| sorted[rank.max(1) - 1])
        .collect();
    edges.dedup();
    edges
}

fn of_ratios(parts: &[Vec<(f64, f64)>]) -> Pool {
    let parts: Vec<&Vec<(f64, f64)>> = parts.iter().filter(|parts| !parts.is_empty()).collect();
    let lengths: Vec<usize> = parts.iter().map(|parts| parts.len()).collect();
    let (recordings, sizes) = stretches(&lengths, |number| {
        let parts = parts[number];
        let above: f64 = parts.iter().map(|(above, _)| above).sum();
        let below: f64 = parts.iter().map(|(_, below)| below).sum();
        let ratio = if below > 0.0 { above / below } else { 0.0 };
        // What the quotient varies with, to first order.
        let residuals = parts.iter().map(|(above, below)| above - ratio * below);
        block_length_of_mean(&residuals.collect::<Vec<f64>>())
    });
    let mut all = parts.iter().flat_map(|parts| parts.iter());
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for size in &sizes {
        let (mut sum_above, mut sum_below) = (0.0, 0.0);
        for (one, other) in all.by_ref().take(*size) {
            sum_above += one;
            sum_below += other;
        }
        above.push(sum_above);
        below.push(sum_below);
    }
    Pool {
        recordings,
        units: sizes.len(),
        content: Content::Ratios { above, below },
    }
}
