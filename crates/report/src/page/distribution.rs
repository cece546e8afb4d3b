//! How values are spread: a histogram and a cumulative distribution.

use rostrace_analyze::declared::histogram::Histogram;
use serde::Serialize;

use super::columns::{ColumnReference, Columns};

const BINS: u32 = 40;

/// The cumulative distribution is shown at these shares of the values, in per mille.
pub(crate) const RANKS: &[usize] = &[
    0, 10, 20, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850,
    900, 930, 950, 970, 980, 990, 995, 999, 1000,
];

#[derive(Debug, Serialize)]
pub(crate) struct Distribution {
    /// The borders of the histogram.
    from: i64,
    to: i64,
    counts: ColumnReference,
    /// The values at [`RANKS`]; each is one that occurred.
    quantiles: ColumnReference,
}

impl Distribution {
    /// Nothing for fewer than two values.
    pub(crate) fn of(columns: &mut Columns, mut values: Vec<i64>) -> Option<Distribution> {
        if values.len() < 2 {
            return None;
        }
        let histogram = Histogram::of_bins(&values, BINS)?;
        values.sort_unstable();
        let number = values.len();
        let rank = |per_mille: &usize| values[(number * per_mille).div_ceil(1000).max(1) - 1];
        Some(Distribution {
            from: histogram.from,
            to: histogram.to,
            counts: columns.add(histogram.counts.iter().map(|count| *count as i64)),
            quantiles: columns.add(RANKS.iter().map(rank)),
        })
    }

    /// Counts per second have a bin for each, as long as that can be seen.
    pub(crate) fn of_counts(columns: &mut Columns, values: Vec<i64>) -> Option<Distribution> {
        let (least, largest) = (*values.iter().min()?, *values.iter().max()?);
        if largest - least >= i64::from(BINS) || values.len() < 2 {
            return Distribution::of(columns, values);
        }
        let mut counts = vec![0; (largest - least + 1) as usize];
        for value in &values {
            counts[(value - least) as usize] += 1;
        }
        let whole = Distribution::of(columns, values)?;
        Some(Distribution {
            from: least,
            to: largest + 1,
            counts: columns.add(counts),
            ..whole
        })
    }
}
