//! The order in which CARET's tables have their rows.
//!
//! CARET sorts with an unstable sort, so rows with equal keys come in an order that depends on the algorithm: an introspective
//! sort with the median of three as pivot and insertion sort for short runs. Which of several equal rows counts in a response
//! time, and whether two exports are equal line by line, depends on that order; so it is the same here.

use crate::declared::records::{Cell, Instant};

/// Runs of at most this many are left to the insertion sort at the end.
const SHORT: usize = 16;

/// Sorts by the first column; rows without it come last.
pub(crate) fn sort_by_first<T: Instant>(rows: &mut [Vec<Cell<T>>]) {
    sort_by_key(rows, |row| {
        row.first().copied().flatten().map_or(i64::MAX, T::time)
    });
}

/// Sorts rows by their keys.
pub(crate) fn sort_by_key<T, K: Ord + Copy>(rows: &mut [T], key: impl Fn(&T) -> K) {
    if rows.len() < 2 {
        return;
    }
    let less = |a: &T, b: &T| key(a) < key(b);
    introspect(rows, 2 * rows.len().ilog2(), &less);
    let sorted = rows.len().min(SHORT);
    for at in 1..rows.len() {
        // The smallest is among the first ones: behind them no row can go to the very front.
        let first = at < sorted && less(&rows[at], &rows[0]);
        let mut to = at;
        while to > 0 && (first || less(&rows[at], &rows[to - 1])) {
            to -= 1;
        }
        rows[to..=at].rotate_right(1);
    }
}

fn introspect<T>(mut rows: &mut [T], mut depth: u32, less: &impl Fn(&T, &T) -> bool) {
    while rows.len() > SHORT {
        if depth == 0 {
            heap_sort(rows, less);
            return;
        }
        depth -= 1;
        let cut = partition(rows, less);
        let (left, right) = rows.split_at_mut(cut);
        introspect(right, depth, less);
        rows = left;
    }
}

/// Brings the median of the second, the middle and the last row to the front and divides the others by it.
fn partition<T>(rows: &mut [T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, rows.len() / 2, rows.len() - 1);
    let median = if less(&rows[a], &rows[b]) {
        if less(&rows[b], &rows[c]) {
            b
        } else if less(&rows[a], &rows[c]) {
            c
        } else {
            a
        }
    } else if less(&rows[a], &rows[c]) {
        a
    } else if less(&rows[b], &rows[c]) {
        c
    } else {
        b
    };
    rows.swap(0, median);
    let (mut first, mut last) = (1, rows.len());
    loop {
        while less(&rows[first], &rows[0]) {
            first += 1;
        }
        last -= 1;
        while less(&rows[0], &rows[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        rows.swap(first, last);
        first += 1;
    }
}

fn heap_sort<T>(rows: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    let length = rows.len();
    for start in (0..length / 2).rev() {
        sift(rows, start, length, less);
    }
    for end in (1..length).rev() {
        rows.swap(0, end);
        sift(rows, 0, end, less);
    }
}

/// Lets the row at `hole` sink to the bottom along the larger children, and rise again to its place.
fn sift<T>(rows: &mut [T], hole: usize, length: usize, less: &impl Fn(&T, &T) -> bool) {
    let top = hole;
    let mut hole = hole;
    let mut child = 2 * hole + 2;
    while child < length {
        if less(&rows[child], &rows[child - 1]) {
            child -= 1;
        }
        rows.swap(hole, child);
        hole = child;
        child = 2 * hole + 2;
    }
    if child == length {
        rows.swap(hole, child - 1);
        hole = child - 1;
    }
    while hole > top {
        let parent = (hole - 1) / 2;
        if !less(&rows[parent], &rows[hole]) {
            break;
        }
        rows.swap(parent, hole);
        hole = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_list_is_sorted_and_nothing_is_lost(
            mut rows in proptest::collection::vec((0u8..20, any::<u16>()), 0..200)
        ) {
            let mut expected = rows.clone();
            expected.sort();
            sort_by_key(&mut rows, |row| row.0);
            prop_assert!(rows.is_sorted_by_key(|row| row.0));
            rows.sort();
            prop_assert_eq!(rows, expected);
        }
    }
}
