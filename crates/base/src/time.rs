//! Times of a trace, as types: what a clock counted, and what that means.

/// A raw value of a trace's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cycles(pub u64);

/// Nanoseconds since the clock's origin: 1970 for all clocks that know the wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub i64);
