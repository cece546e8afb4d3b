//! Spans that follow each other, with sums and longest ones of 8, 64, 512 … of them, so that any range is summed up in a few dozen steps.
//!
//! Spans of a row never overlap: what runs at the same time is in another row of the same track.

use std::ops::Range;

/// How many entries of a level make one of the next.
const FACTOR: usize = 8;
/// States that a span can be in; callbacks have one.
pub const CLASSES: usize = 4;

/// Spans in the order of time.
#[derive(Debug, Default)]
pub struct SpanRow {
    pub(super) starts: Vec<i64>,
    pub(super) lengths: Vec<i64>,
    /// What each span is: see [`super::track::Content`].
    pub(super) items: Vec<u32>,
    /// What else is drawn of each span: looked up here, they are beside each other; empty where nobody asks.
    pub(super) marks: Vec<u32>,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    sums: Vec<[i64; CLASSES]>,
    /// Lengths and places in the row.
    longest: Vec<(i64, u32)>,
}

/// A range of spans in few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Time in each class.
    pub sums: [i64; CLASSES],
    /// The place of the longest span, of the first one if several are.
    pub longest: usize,
}

impl SpanRow {
    /// A row of executions: starts, durations and what they are, in the order of time and without overlap.
    pub fn of(spans: impl IntoIterator<Item = (i64, i64, u32)>) -> SpanRow {
        let mut row = SpanRow::default();
        for (start, length, item) in spans {
            row.push(start, length, item);
        }
        row.build(|_| 0);
        row
    }

    pub(super) fn push(&mut self, start: i64, length: i64, item: u32) {
        self.starts.push(start);
        self.lengths.push(length);
        self.items.push(item);
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// When the last span ends.
    pub(super) fn end(&self) -> Option<i64> {
        let last = self.len().checked_sub(1)?;
        Some(self.end_of(last))
    }

    pub(super) fn end_of(&self, place: usize) -> i64 {
        self.starts[place].saturating_add(self.lengths[place])
    }

    /// Computes the levels, when all spans are there.
    pub(super) fn build(&mut self, class_of: impl Fn(u32) -> usize) {
        let mut sums: Vec<[i64; CLASSES]> = Vec::with_capacity(self.len() / FACTOR + 1);
        let mut longest: Vec<(i64, u32)> = Vec::with_capacity(self.len() / FACTOR + 1);
        for begin in (0..self.len()).step_by(FACTOR) {
            let mut sum = [0; CLASSES];
            let mut most = begin;
            for place in begin..(begin + FACTOR).min(self.len()) {
                let class = class_of(self.items[place]);
                add(&mut sum[class], self.lengths[place]);
                if self.lengths[place] > self.lengths[most] {
                    most = place;
                }
            }
            sums.push(sum);
            longest.push((self.lengths[most], most as u32));
        }
        loop {
            let (next_sums, next_longest) = level_above(&sums, &longest);
            let is_last = sums.len() <= FACTOR;
            self.levels.push(Level { sums, longest });
            if is_last {
                break;
            }
            (sums, longest) = (next_sums, next_longest);
        }
    }

    /// Sums up a range that is not empty.
    pub(super) fn summary(&self, range: Range<usize>, class_of: impl Fn(u32) -> usize) -> Summary {
        let mut sums = [0; CLASSES];
        let mut longest = (self.lengths[range.start], range.start);
        let mut longer = |length: i64, place: usize| {
            if length > longest.0 || length == longest.0 && place < longest.1 {
                longest = (length, place);
            }
        };
        let single = |place: usize, sums: &mut [i64; CLASSES]| {
            add(&mut sums[class_of(self.items[place])], self.lengths[place]);
        };
        let (mut from, mut to) = (range.start, range.end);
        while from < to && !from.is_multiple_of(FACTOR) {
            single(from, &mut sums);
            longer(self.lengths[from], from);
            from += 1;
        }
        while from < to && !to.is_multiple_of(FACTOR) {
            to -= 1;
            single(to, &mut sums);
            longer(self.lengths[to], to);
        }
        // Now both are at the edges of entries of the first level, and so on upwards.
        for (number, level) in self.levels.iter().enumerate() {
            if from >= to {
                break;
            }
            (from, to) = (from / FACTOR, to / FACTOR);
            let is_last = number + 1 == self.levels.len();
            let mut take = |entry: usize| {
                add_all(&mut sums, &level.sums[entry]);
                let (length, place) = level.longest[entry];
                longer(length, place as usize);
            };
            while from < to && (is_last || !from.is_multiple_of(FACTOR)) {
                take(from);
                from += 1;
            }
            while from < to && !to.is_multiple_of(FACTOR) {
                to -= 1;
                take(to);
            }
        }
        Summary {
            sums,
            longest: longest.1,
        }
    }

    /// The first place from `from` on whose span starts at or after a time, found fast if it is about `guess` places on.
    pub(super) fn first_start(&self, from: usize, at_or_after: i64, guess: usize) -> usize {
        let mut low = from;
        let mut step = (guess / 8).max(1);
        // Most columns of a lane hold about as many spans as the one before.
        let near = from + guess.saturating_sub(step);
        if near < self.len() && near > from && self.starts[near] < at_or_after {
            low = near;
        }
        while low + step < self.len() && self.starts[low + step] < at_or_after {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(self.len());
        low + self.starts[low..high].partition_point(|start| *start < at_or_after)
    }

    /// The places of spans that touch a range: that run when it begins, or begin in it.
    pub(super) fn touching(&self, from: i64, to: i64) -> Range<usize> {
        let mut first = self.first_ending(from);
        // What ends in the instant in which the range begins is not in it.
        while first < self.len() && self.end_of(first) <= from && self.starts[first] < from {
            first += 1;
        }
        let last = self.starts.partition_point(|start| *start <= to);
        first..last.max(first)
    }

    /// The first place whose span has not ended before a time.
    pub(super) fn first_ending(&self, at_or_after: i64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.end_of(middle) < at_or_after {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

type LevelColumns = (Vec<[i64; CLASSES]>, Vec<(i64, u32)>);

fn level_above(sums: &[[i64; CLASSES]], longest: &[(i64, u32)]) -> LevelColumns {
    let sums = sums.chunks(FACTOR).map(|chunk| {
        let mut total = [0; CLASSES];
        for sum in chunk {
            add_all(&mut total, sum);
        }
        total
    });
    let longest = longest.chunks(FACTOR).map(|chunk| {
        let mut most = chunk[0];
        for next in &chunk[1..] {
            if next.0 > most.0 {
                most = *next;
            }
        }
        most
    });
    (sums.collect(), longest.collect())
}

/// Lengths of a damaged trace may be anything.
fn add(sum: &mut i64, length: i64) {
    *sum = sum.saturating_add(length);
}

fn add_all(sums: &mut [i64; CLASSES], others: &[i64; CLASSES]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        add(sum, *other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(lengths: &[i64]) -> SpanRow {
        let mut row = SpanRow::default();
        let mut at = 0;
        for (number, length) in lengths.iter().enumerate() {
            row.push(at, *length, number as u32 % 4);
            at += length + 1;
        }
        row.build(|item| item as usize);
        row
    }

    proptest! {
        #[test]
        fn a_summary_is_what_counting_one_by_one_gives(
            lengths in proptest::collection::vec(0i64..50, 1..700),
            a in any::<proptest::sample::Index>(),
            b in any::<proptest::sample::Index>(),
        ) {
            let row = row(&lengths);
            let (a, b) = (a.index(lengths.len()), b.index(lengths.len()));
            let range = a.min(b)..a.max(b) + 1;
            let mut sums = [0; CLASSES];
            for place in range.clone() {
                sums[place % 4] += lengths[place];
            }
            let most = lengths[range.clone()].iter().max().copied();
            let summary = row.summary(range.clone(), |item| item as usize);
            prop_assert_eq!(summary.sums, sums);
            prop_assert!(range.contains(&summary.longest));
            prop_assert_eq!(Some(lengths[summary.longest]), most);
        }

        #[test]
        fn places_are_found_by_time(
            lengths in proptest::collection::vec(0i64..50, 1..300),
            at in -10i64..20_000,
            guess in 0usize..400,
        ) {
            let row = row(&lengths);
            let expected = row.starts.iter().filter(|start| **start < at).count();
            prop_assert_eq!(row.first_start(0, at, guess), expected);
            let ended = (0..row.len()).filter(|place| row.end_of(*place) < at).count();
            prop_assert_eq!(row.first_ending(at), ended);
        }

        #[test]
        fn what_touches_a_range_is_found_however_long_ago_it_began(
            lengths in proptest::collection::vec(0i64..5000, 1..100),
            from in -10i64..20_000,
            length in 0i64..2000,
        ) {
            let row = row(&lengths);
            let to = from + length;
            let expected: Vec<usize> = (0..row.len())
                .filter(|place| {
                    let (start, end) = (row.starts[*place], row.end_of(*place));
                    start <= to && (end > from || start >= from)
                })
                .collect();
            prop_assert_eq!(row.touching(from, to).collect::<Vec<_>>(), expected);
        }
    }
}
