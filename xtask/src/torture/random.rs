//! Numbers that look random and come again with the same seed: a run that failed must be run again as it was.

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `end - 1`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// None of nothing.
    pub(crate) fn of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        let at = self.below(things.len() as u64);
        things.get(usize::try_from(at).unwrap_or(0))
    }

    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            let other = self.below(at as u64 + 1);
            things.swap(at, usize::try_from(other).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| one.next() == two.next()));
        assert_ne!(Random::new(7).next(), Random::new(8).next());
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut things: Vec<u32> = (0..50).collect();
        Random::new(1).shuffle(&mut things);
        assert_ne!(things, (0..50).collect::<Vec<_>>());
        things.sort_unstable();
        assert_eq!(things, (0..50).collect::<Vec<_>>());
    }
}
