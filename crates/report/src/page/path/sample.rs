//! Which of many messages are shown: some of every time, and always the worst.

use std::cmp::Reverse;

/// A message, as far as the choice needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) latency: Option<i64>,
    pub(super) lost: bool,
}

/// Messages on either side of the slowest that are kept with them.
const AROUND: usize = 20;

/// The places of at most `most` candidates, in their order: the slowest, then lost ones evenly, then all evenly.
pub(super) fn sample(candidates: &[Candidate], most: usize) -> Vec<usize> {
    if candidates.len() <= most {
        return (0..candidates.len()).collect();
    }
    let mut kept = vec![false; candidates.len()];
    let mut slowest: Vec<usize> = (0..candidates.len()).collect();
    slowest.sort_by_key(|place| Reverse(candidates[*place].latency));
    slowest
        .iter()
        .take(most.div_ceil(8))
        .for_each(|place| kept[*place] = true);
    // What came just before and after the very slowest explains it.
    if most >= 10 * AROUND {
        for place in slowest.iter().take(3) {
            let end = (place + AROUND).min(candidates.len());
            kept[place.saturating_sub(AROUND)..end].fill(true);
        }
    }
    let lost: Vec<usize> = (0..candidates.len())
        .filter(|place| candidates[*place].lost)
        .collect();
    evenly(&lost, most / 4, &mut kept);
    let rest = most.saturating_sub(kept.iter().filter(|kept| **kept).count());
    let all: Vec<usize> = (0..candidates.len()).collect();
    evenly(&all, rest, &mut kept);
    all.into_iter().filter(|place| kept[*place]).collect()
}

fn evenly(places: &[usize], most: usize, kept: &mut [bool]) {
    let number = most.min(places.len());
    for turn in 0..number {
        kept[places[turn * places.len() / number]] = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_slowest_is_never_left_out(latencies in prop::collection::vec(any::<Option<i32>>(), 1..1000), most in 1usize..400) {
            let candidates: Vec<Candidate> = latencies
                .iter()
                .map(|latency| Candidate { latency: latency.map(i64::from), lost: latency.is_none() })
                .collect();
            let places = sample(&candidates, most);
            prop_assert!(places.len() <= most);
            prop_assert!(places.is_sorted());
            let largest = |places: &mut dyn Iterator<Item = usize>| places.filter_map(|it| candidates[it].latency).max();
            prop_assert_eq!(largest(&mut places.iter().copied()), largest(&mut (0..candidates.len())));
        }
    }
}
