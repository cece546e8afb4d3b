//! How often a duration lies in which range.

/// Bins of equal width. Each contains its lower border; the last one also the upper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    pub from: i64,
    pub to: i64,
    /// How many values each bin has.
    pub counts: Vec<u64>,
}

/// More bins than this nobody can look at; then they are made wider.
const MOST_BINS: i64 = 1_000_000;

impl Histogram {
    /// Bins of a given width, from a multiple of it below the smallest value to one above the largest. Values that are all the same
    /// multiple have one bin.
    pub fn of_width(values: &[i64], width: i64) -> Option<Histogram> {
        let (smallest, largest) = (values.iter().min()?, values.iter().max()?);
        let width = width.max(1);
        let first = smallest.div_euclid(width);
        let last = largest.div_euclid(width) + i64::from(largest.rem_euclid(width) != 0);
        let bins = (last - first).max(1);
        let from = first.saturating_mul(width);
        let to = first.saturating_add(bins).saturating_mul(width);
        Some(Histogram::count(values, from, to, bins.min(MOST_BINS)))
    }

    /// So many bins from the smallest value to the largest. Equal values have one bin.
    pub fn of_bins(values: &[i64], bins: u32) -> Option<Histogram> {
        let (smallest, largest) = (*values.iter().min()?, *values.iter().max()?);
        let bins = if smallest == largest { 1 } else { bins.max(1) };
        Some(Histogram::count(values, smallest, largest, i64::from(bins)))
    }

    fn count(values: &[i64], from: i64, to: i64, bins: i64) -> Histogram {
        let mut counts = vec![0; bins as usize];
        let range = (i128::from(to) - i128::from(from)).max(1);
        for value in values {
            let place = (i128::from(*value) - i128::from(from)) * i128::from(bins) / range;
            let place = place.clamp(0, i128::from(bins) - 1) as usize;
            counts[place] += 1;
        }
        Histogram { from, to, counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bin_contains_both_its_borders() {
        let found = Histogram::of_bins(&[0, 5, 9, 10], 2).map(|it| it.counts);
        assert_eq!(found, Some(vec![1, 3]));
        let found = Histogram::of_width(&[21, 25, 30], 10);
        let expected = Histogram {
            from: 20,
            to: 30,
            counts: vec![3],
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn equal_values_have_one_bin() {
        let found = Histogram::of_width(&[20, 20], 10);
        let expected = Histogram {
            from: 20,
            to: 30,
            counts: vec![2],
        };
        assert_eq!(found, Some(expected));
        let found = Histogram::of_bins(&[7, 7, 7], 20).map(|it| it.counts);
        assert_eq!(found, Some(vec![3]));
    }

    #[test]
    fn nothing_has_no_histogram_and_extremes_do_not_overflow() {
        assert_eq!(Histogram::of_width(&[], 10), None);
        assert_eq!(Histogram::of_bins(&[], 10), None);
        let found = Histogram::of_bins(&[i64::MIN, 0, i64::MAX], 3).map(|it| it.counts);
        assert_eq!(found, Some(vec![1, 1, 1]));
    }

    #[test]
    fn bins_below_zero_are_rounded_down() {
        let found = Histogram::of_width(&[-1, 1], 10);
        let expected = Histogram {
            from: -10,
            to: 10,
            counts: vec![1, 1],
        };
        assert_eq!(found, Some(expected));
    }
}
