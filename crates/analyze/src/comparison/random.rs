//! Numbers that look random and are the same in every run: a comparison that changes its mind is worth nothing.

/// Steele, Lea and Flood's SplitMix64: one addition and a few mixing steps per number, any seed is a good one.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    #[cfg(test)]
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A generator of its own for each thing, so that no result depends on what else is compared.
    pub(super) fn of(seed: u64, name: &str) -> Random {
        // FNV-1a.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Random(hash ^ seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below a limit that is not 0; the bias of the multiplication is far below what anybody could notice.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_all_below_the_limit() {
        let draw = |seed| {
            let mut random = Random::of(seed, "/fusion ← /points");
            (0..1000).map(|_| random.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let mut counts = [0; 7];
        for number in draw(1) {
            counts[number] += 1;
        }
        assert!(
            counts.iter().all(|count| (90..200).contains(count)),
            "{counts:?}"
        );
    }
}
