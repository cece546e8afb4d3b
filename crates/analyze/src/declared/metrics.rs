//! Latency, period and frequency of a table of instants.

use std::collections::BTreeMap;

use crate::declared::records::Records;

const SECOND: i64 = 1_000_000_000;

/// More bins than this, and than a hundred for each instant, are not listed one by one if they are empty: a single wrong instant would
/// make billions of them.
const MOST_BINS: i64 = 10_000;
const MOST_BINS_OF_INSTANT: i64 = 100;

/// Last column minus first, for rows that have both and do not go back in time.
pub fn latency(records: &Records) -> Vec<(i64, i64)> {
    let both = records
        .rows
        .iter()
        .filter_map(|row| Some(((*row.first()?)?, (*row.last()?)?)));
    both.filter(|(start, end)| end >= start)
        .map(|(start, end)| (start, end - start))
        .collect()
}

/// From each instant of the first column to the next.
pub fn period(records: &Records) -> Vec<(i64, i64)> {
    let instants: Vec<i64> = records.column(0).flatten().collect();
    instants
        .windows(2)
        .map(|pair| (pair[0], pair[1] - pair[0]))
        .collect()
}

/// How many instants of the first column fall into each second. The first second begins half a period after the first
/// instant, so that no bin depends on which side of its border an instant happens to fall.
pub fn frequency(records: &Records) -> Vec<(i64, i64)> {
    let instants: Vec<i64> = records.column(0).flatten().collect();
    let (Some(first), Some(last)) = (instants.iter().min(), instants.iter().max()) else {
        return Vec::new();
    };
    let offset = match instants.as_slice() {
        [a, b, ..] => (b - a) / 2,
        _ => 0,
    };
    let base = first + offset;
    let seconds = (last - base).div_euclid(SECOND);
    let bins = Bins {
        width: SECOND,
        base: Some(base),
        until: Some(base + seconds * SECOND - 1),
    };
    frequency_in(records, bins)
}

/// The stretches of time in which instants are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bins {
    /// In nanoseconds; less than one counts as one.
    pub width: i64,
    /// Where the first one begins: at the first instant, if nothing is said.
    pub base: Option<i64>,
    /// Later instants do not count; the last instant, if nothing is said.
    pub until: Option<i64>,
}

impl Default for Bins {
    /// Seconds from the first instant to the last; the last bin is mostly not full.
    fn default() -> Bins {
        Bins {
            width: SECOND,
            base: None,
            until: None,
        }
    }
}

/// How many instants of the first column fall into each bin.
pub fn frequency_in(records: &Records, bins: Bins) -> Vec<(i64, i64)> {
    let instants: Vec<i64> = records.column(0).flatten().collect();
    let (Some(first), Some(last)) = (instants.first(), instants.last()) else {
        return Vec::new();
    };
    let width = bins.width.max(1);
    let (base, until) = (bins.base.unwrap_or(*first), bins.until.unwrap_or(*last));
    let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
    for instant in &instants {
        if (base..=until).contains(instant) {
            *counts.entry((instant - base) / width).or_default() += 1;
        }
    }
    let Some((last_counted, _)) = counts.last_key_value() else {
        return vec![(base, 0)];
    };
    let length = until - base;
    let full = length / width + i64::from(length % width != 0);
    let number = full.max(last_counted + 1);
    let most = MOST_BINS.max(instants.len() as i64 * MOST_BINS_OF_INSTANT);
    if number <= most {
        for bin in 0..number {
            counts.entry(bin).or_insert(0);
        }
    }
    counts
        .into_iter()
        .map(|(bin, count)| (base + bin * width, count))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(instants: &[i64]) -> Records {
        let mut records = Records::new(["instant"]);
        for instant in instants {
            records.rows.push(vec![Some(*instant)]);
        }
        records
    }

    #[test]
    fn empty_seconds_are_listed_as_long_as_they_are_not_too_many_for_the_instants() {
        let hour = 3_600 * SECOND;
        assert_eq!(frequency(&at(&[0, 2, hour])).len(), 3_599);
        assert_eq!(frequency(&at(&[0, 2, 100 * hour])).len(), 1);
        let many: Vec<i64> = (0..5_000).map(|it| it * 50 * SECOND).collect();
        assert!(frequency(&at(&many)).len() > 200_000);
    }
}
