//! A tape of random numbers, from which everything random in a test is decided.
//!
//! When the tape ends, every decision is the simplest one (0). So proptest, which shortens the tape and makes its
//! numbers smaller, shrinks a failing trace to a small one without knowing anything about traces.

#[derive(Debug, Clone)]
pub struct Choices {
    tape: Vec<u32>,
    position: usize,
}

impl Choices {
    pub fn new(tape: Vec<u32>) -> Choices {
        Choices { tape, position: 0 }
    }

    pub fn number(&mut self) -> u32 {
        let number = self.tape.get(self.position).copied().unwrap_or(0);
        self.position += 1;
        number
    }

    pub fn wide_number(&mut self) -> u64 {
        u64::from(self.number()) | u64::from(self.number()) << 32
    }

    /// 0 to `count` - 1.
    pub fn below(&mut self, count: usize) -> usize {
        self.number() as usize % count.max(1)
    }

    /// True once in `times`, never at the end of the tape.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}
