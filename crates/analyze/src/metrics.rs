//! Latency, period and frequency of a table of instants.

use crate::records::Records;

const SECOND: i64 = 1_000_000_000;

/// Last column minus first, for rows that have both and do not go back in time.
pub fn latency(records: &Records) -> Vec<(i64, i64)> {
    let last = records.columns.len().saturating_sub(1);
    let both = records
        .rows
        .iter()
        .filter_map(|row| Some((row[0]?, row[last]?)));
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
    let begin = first + offset;
    let seconds = (last - begin).div_euclid(SECOND);
    let until = begin + seconds * SECOND - 1;
    let mut counts = vec![0i64; seconds.max(0) as usize];
    for instant in instants
        .iter()
        .filter(|instant| (begin..=until).contains(instant))
    {
        if let Some(count) = counts.get_mut(((instant - begin) / SECOND) as usize) {
            *count += 1;
        }
    }
    if counts.iter().all(|count| *count == 0) {
        return vec![(begin, 0)];
    }
    counts
        .into_iter()
        .enumerate()
        .map(|(bin, count)| (begin + bin as i64 * SECOND, count))
        .collect()
}
