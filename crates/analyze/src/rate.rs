//! How often something happened in each second.
//!
//! The first second begins half a period after the first instant, as in [`crate::declared::metrics::frequency`]: what happens regularly
//! then falls into the middle between the borders, and no count depends on which side of one it happens to fall.

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;

use crate::analysis::Analysis;
use crate::statistics::Statistics;

const SECOND: i64 = 1_000_000_000;

/// More empty seconds in a row than this are a pause.
const MOST_EMPTY_SECONDS: i64 = 100;

/// The seconds of pauses are bins of their own up to so many in all; then a pause is one bin. What pauses longer was stopped, or its clock
/// jumped: each of the seconds tells nothing, and those of centuries would fill all memory.
const MOST_SECONDS_OF_PAUSES: i64 = 1_000;

/// One second, and how often something happened in it; or a pause of many in which nothing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    pub begin: Nanos,
    pub seconds: i64,
    pub count: u64,
}

impl Bin {
    pub fn end(&self) -> Nanos {
        Nanos(self.begin.0.saturating_add(self.seconds * SECOND))
    }
}

/// So many per second, of which the first and the last were then: (n − 1) / (last − first). Nothing where no time passed.
pub fn per_second(number: u64, first: Nanos, last: Nanos) -> Option<f64> {
    let nanoseconds = last.0.saturating_sub(first.0);
    (nanoseconds > 0).then(|| number.saturating_sub(1) as f64 * 1e9 / nanoseconds as f64)
}

/// The same, of the time that was recorded.
pub fn recorded_per_second(model: &Model, number: u64, first: Nanos, last: Nanos) -> Option<f64> {
    let paused = model.losses.paused(first, last);
    per_second(number, first, Nanos(last.0.saturating_sub(paused)))
}

/// Those of the [`bins`] in which all was recorded.
pub fn recorded_bins<'i>(
    analysis: &'i Analysis<'_>,
    instants: &'i [Nanos],
) -> impl Iterator<Item = Bin> + 'i {
    let losses = &analysis.model.losses;
    bins(instants).filter(|bin| losses.paused(bin.begin, bin.end()) == 0)
}

/// The whole seconds between the first and the last of some instants, which have to be in order. What lies before the first
/// border and after the last one is in none. There are at most a hundred for each instant and a thousand more, whatever times they have.
pub fn bins(instants: &[Nanos]) -> impl Iterator<Item = Bin> + '_ {
    let begin = match instants {
        [first, second, ..] => first.0 + second.0.saturating_sub(first.0) / 2,
        [only] => only.0,
        [] => 0,
    };
    let last = instants.last().map_or(begin, |last| last.0);
    let seconds = last.saturating_sub(begin).max(0) / SECOND;
    let mut next = instants.partition_point(|instant| instant.0 < begin);
    let mut second = 0;
    let mut spare = MOST_SECONDS_OF_PAUSES;
    let mut listed_until = 0;
    std::iter::from_fn(move || {
        if second >= seconds {
            return None;
        }
        let border = begin + second * SECOND;
        let rest = &instants[next..];
        let until_next = rest
            .first()
            .map_or(0, |instant| (instant.0 - border) / SECOND);
        let empty = until_next.min(seconds - second);
        let is_pause = empty > MOST_EMPTY_SECONDS && second >= listed_until;
        if is_pause && empty <= spare {
            spare -= empty;
            listed_until = second + empty;
        }
        let bin = if is_pause && second >= listed_until {
            Bin {
                begin: Nanos(border),
                seconds: empty,
                count: 0,
            }
        } else {
            let count = rest.partition_point(|instant| instant.0 < border + SECOND);
            next += count;
            Bin {
                begin: Nanos(border),
                seconds: 1,
                count: count as u64,
            }
        };
        second += bin.seconds;
        Some(bin)
    })
}

/// How often something happens in a second, summarised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frequency {
    /// Of the numbers in each second.
    pub counts: Statistics,
    /// The first second with the smallest number.
    pub lowest: Nanos,
}

impl Frequency {
    /// Nothing where no whole second passed.
    pub fn of(bins: impl Iterator<Item = Bin>) -> Option<Frequency> {
        let mut counts: Vec<(i64, Nanos)> = bins.map(|bin| (bin.count as i64, bin.begin)).collect();
        let lowest = counts.iter().min_by_key(|(count, _)| *count)?.1;
        Some(Frequency {
            counts: Statistics::of(&mut counts)?,
            lowest,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::declared::metrics::frequency;
    use crate::declared::records::Records;

    fn every(period: i64, number: i64) -> Vec<Nanos> {
        (0..number).map(|it| Nanos(7 + it * period)).collect()
    }

    #[test]
    fn regular_instants_give_the_same_count_each_second() {
        let bins: Vec<Bin> = bins(&every(SECOND / 10, 36)).collect();
        assert_eq!(bins.len(), 3);
        assert_eq!(bins[0].begin, Nanos(7 + SECOND / 20));
        assert!(bins.iter().all(|bin| bin.count == 10));
    }

    #[test]
    fn what_lasts_less_than_a_second_has_no_bin() {
        assert_eq!(bins(&[]).count(), 0);
        assert_eq!(bins(&[Nanos(5)]).count(), 0);
        assert_eq!(bins(&every(SECOND / 10, 10)).count(), 0);
    }

    #[test]
    fn a_second_without_any_counts_nothing() {
        let instants = [0, 2, 3 * SECOND + 1].map(Nanos);
        let counts: Vec<u64> = bins(&instants).map(|bin| bin.count).collect();
        assert_eq!(counts, [1, 0, 0]);
    }

    #[test]
    fn the_worst_second_is_the_one_with_the_fewest() {
        assert_eq!(Frequency::of(bins(&every(SECOND / 10, 10))), None);
        let mut instants = every(SECOND / 10, 36);
        instants.retain(|instant| !(SECOND..SECOND + SECOND / 2).contains(&instant.0));
        let frequency = Frequency::of(bins(&instants)).unwrap();
        assert_eq!((frequency.counts.min, frequency.counts.max), (6, 10));
        assert_eq!(frequency.lowest, Nanos(7 + SECOND / 20 + SECOND));
    }

    #[test]
    fn a_clock_that_jumps_by_centuries_does_not_fill_the_memory() {
        let instants = [0, 2, i64::MAX].map(Nanos);
        let found: Vec<Bin> = bins(&instants).collect();
        let begin = Nanos(1);
        let last = Bin {
            begin: found[0].end(),
            seconds: (i64::MAX - 1) / SECOND - 1,
            count: 0,
        };
        let first = Bin {
            begin,
            seconds: 1,
            count: 1,
        };
        assert_eq!(found, [first, last]);
        // However often it jumps.
        let jumps: Vec<Nanos> = (0..1_000)
            .map(|jump| Nanos(jump * 9_000_000 * SECOND))
            .collect();
        assert!(bins(&jumps).count() <= 2 * jumps.len());
    }

    #[test]
    fn a_pause_is_listed_second_by_second_unless_it_is_long() {
        let pause = |seconds: i64| {
            let instants = [0, 2, seconds * SECOND + 2, seconds * SECOND + 3];
            bins(&instants.map(Nanos)).collect::<Vec<Bin>>()
        };
        for short in [90, 101, 102, 1_000, 1_001] {
            assert_eq!(pause(short).len() as i64, short);
            assert!(pause(short).iter().all(|bin| bin.seconds == 1));
        }
        let long = pause(1_002);
        let shape: Vec<(i64, u64)> = long.iter().map(|bin| (bin.seconds, bin.count)).collect();
        assert_eq!(shape, [(1, 1), (1_001, 0)]);
        // What comes behind it falls into the same seconds as without.
        let instants = [0, 2, 5_000 * SECOND + 2, 5_002 * SECOND].map(Nanos);
        let behind = bins(&instants).last().unwrap();
        assert_eq!((behind.begin.0 - 1) % SECOND, 0);
    }

    #[test]
    fn many_pauses_are_bounded_together() {
        let instants: Vec<Nanos> = (0..1_000).map(|it| Nanos(it * 500 * SECOND)).collect();
        let most = 2 * instants.len() + MOST_SECONDS_OF_PAUSES as usize;
        assert!(bins(&instants).count() <= most);
    }

    #[test]
    fn a_rate_counts_the_periods_and_not_the_instants() {
        assert_eq!(per_second(11, Nanos(0), Nanos(SECOND)), Some(10.0));
        assert_eq!(per_second(1, Nanos(5), Nanos(5)), None);
    }

    proptest! {
        #[test]
        fn each_instant_between_the_borders_is_in_one_bin(
            mut instants in prop::collection::vec(0..20 * SECOND, 0..200)
        ) {
            instants.sort_unstable();
            let instants: Vec<Nanos> = instants.into_iter().map(Nanos).collect();
            let bins: Vec<Bin> = bins(&instants).collect();
            let counted: u64 = bins.iter().map(|bin| bin.count).sum();
            let expected = bins.first().zip(bins.last()).map_or(0, |(first, last)| {
                let whole = first.begin.0..last.begin.0 + SECOND;
                instants.iter().filter(|instant| whole.contains(&instant.0)).count() as u64
            });
            prop_assert_eq!(counted, expected);
            prop_assert!(bins.windows(2).all(|pair| pair[1].begin.0 - pair[0].begin.0 == SECOND));

            // The same as CARET's, except that it has a bin where nothing was counted.
            let mut records = Records::new(["instant"]);
            for instant in &instants {
                records.rows.push(vec![Some(instant.0)]);
            }
            let theirs = frequency(&records);
            if counted > 0 {
                let ours: Vec<(i64, i64)> =
                    bins.iter().map(|bin| (bin.begin.0, bin.count as i64)).collect();
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
