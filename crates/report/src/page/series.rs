//! Values over time as the page draws them. All series of a part share an allowance of points, so that a report of many things does not grow without
//! end; short series leave theirs to long ones, and downsampling never hides the worst.

use serde::Serialize;

use super::columns::{ColumnReference, Columns};
use super::downsample::downsampled;

/// More points than this no screen shows.
const MOST_POINTS: usize = 4000;
/// With fewer than this nothing can be seen, however many series there are.
const FEWEST_POINTS: usize = 16;

#[derive(Debug, Serialize)]
pub(crate) struct Series {
    t: ColumnReference,
    pub(crate) v: ColumnReference,
    /// How many values there were before the downsampling.
    of: usize,
}

/// How many points each series may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    points: usize,
}

impl Allowance {
    /// Shares `total` points among series of these lengths: each gets what it needs or what is left for it.
    pub(crate) fn shared(mut lengths: Vec<usize>, total: usize) -> Allowance {
        lengths.sort_unstable();
        let mut left = total;
        for (number, length) in lengths.iter().enumerate() {
            let share = left / (lengths.len() - number);
            if *length > share {
                return Allowance {
                    points: share.clamp(FEWEST_POINTS, MOST_POINTS),
                };
            }
            left -= length;
        }
        Allowance {
            points: MOST_POINTS,
        }
    }

    /// Points are in the order of time.
    pub(crate) fn series(self, columns: &mut Columns, points: &[(i64, i64)]) -> Option<Series> {
        if points.is_empty() {
            return None;
        }
        let kept = downsampled(points, self.points / 4);
        Some(Series {
            t: columns.add(kept.iter().map(|point| point.0)),
            v: columns.add(kept.iter().map(|point| point.1)),
            of: points.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_series_leave_their_share_to_long_ones() {
        assert_eq!(Allowance::shared(vec![10, 1000, 1000], 110).points, 50);
        assert_eq!(Allowance::shared(vec![10, 20], 110).points, MOST_POINTS);
        assert_eq!(
            Allowance::shared(vec![9000; 9000], 10).points,
            FEWEST_POINTS
        );
        assert_eq!(Allowance::shared(Vec::new(), 10).points, MOST_POINTS);
    }
}
