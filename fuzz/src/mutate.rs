//! Blind mutation: one or a few changes of the kinds that break readers of binary formats.
//!
//! An input follows from the seeds, a number that names the run and the number of the iteration alone, so that any
//! failure can be made again from these.

/// Mutated inputs are not longer than this.
const LONGEST: usize = 64 * 1024;

/// Sizes and counts that readers get wrong.
const BOUNDARIES: &[u64] = &[
    0,
    1,
    7,
    8,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0xFFFF_FFFF_FFFF_FFF8,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// SplitMix64: small, and good enough to choose changes with.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `limit`; 0 if that is 0.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % (limit as u64).max(1)) as usize
    }

    fn choose<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

/// The input of one iteration: the inputs to begin with as they are, then one of them with changes.
pub fn input(beginnings: &[Vec<u8>], dictionary: &[&str], run: u64, iteration: u64) -> Vec<u8> {
    if let Some(unchanged) = beginnings.get(usize::try_from(iteration).unwrap_or(usize::MAX)) {
        return unchanged.clone();
    }
    let mut random = Random(run.rotate_left(32) ^ iteration);
    let mut bytes = random.choose(beginnings).cloned().unwrap_or_default();
    for _ in 0..=random.below(4) {
        change(&mut bytes, beginnings, dictionary, &mut random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, beginnings: &[Vec<u8>], dictionary: &[&str], random: &mut Random) {
    // Headers come first and decide most: half of all changes are made near the start.
    let near = if random.below(2) == 0 {
        bytes.len().min(128)
    } else {
        bytes.len()
    };
    let at = random.below(near);
    match random.below(9) {
        0 => flip_bit(bytes, at, random),
        1 => overwrite(bytes, at, &[random.next() as u8]),
        2 | 3 => {
            let value = random.choose(BOUNDARIES).copied().unwrap_or(0);
            let width = 1 << random.below(4);
            overwrite(bytes, at, &value.to_le_bytes()[..width]);
        }
        4 => bytes.truncate(at),
        5 => {
            let end = (at + 1 + random.below(64)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        6 => {
            let end = (at + 1 + random.below(64)).min(bytes.len());
            let copy = bytes[at.min(end)..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        7 => match random.choose(dictionary) {
            Some(word) => drop(bytes.splice(at..at, word.bytes())),
            None => flip_bit(bytes, at, random),
        },
        _ => {
            // The start of this one, the end of another.
            let other = random.choose(beginnings).map_or(&[][..], Vec::as_slice);
            let from = random.below(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(other.get(from..).unwrap_or_default());
        }
    }
}

fn flip_bit(bytes: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    for (byte, new) in bytes.iter_mut().skip(at).zip(with) {
        *byte = *new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_can_be_made_again_from_its_numbers() {
        let beginnings = [b"event { id = 0; };".to_vec(), vec![0; 100_000]];
        let mut different = 0;
        for iteration in 0..2000 {
            let first = input(&beginnings, &["struct"], 1, iteration);
            assert_eq!(first, input(&beginnings, &["struct"], 1, iteration));
            different += usize::from(first != input(&beginnings, &["struct"], 2, iteration));
            assert!(iteration < 2 || first.len() <= LONGEST);
        }
        assert!(different > 1500, "{different}");
    }

    #[test]
    fn nothing_to_begin_with_is_no_reason_to_fail() {
        for iteration in 0..1000 {
            input(&[], &[], 0, iteration);
            input(&[vec![]], &["x"], 0, iteration);
        }
    }
}
