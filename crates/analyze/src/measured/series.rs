//! The values of one metric in the order of time.

use rostrace_ctf::schema::Nanos;

use crate::statistics::Statistics;

/// Each value with its instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Series {
    pub values: Vec<(i64, Nanos)>,
    /// Values that touch a time in which events were lost.
    pub damaged: u64,
}

impl Series {
    pub fn push(&mut self, value: i64, at: Nanos) {
        self.values.push((value, at));
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn numbers(&self) -> impl Iterator<Item = i64> + '_ {
        self.values.iter().map(|(value, _)| *value)
    }

    pub fn statistics(&self) -> Option<Statistics> {
        Statistics::of(&mut self.values.clone())
    }

    /// Several lives of one thing come one after the other, or at the same time.
    pub(super) fn sort(&mut self) {
        self.values.sort_by_key(|(_, at)| *at);
    }
}
