//! The blocks of one process.

use rostrace_ctf::schema::Nanos;
use rustc_hash::FxHashMap;

/// The memory that a process uses at one time, as far as its allocations were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub time: Nanos,
    pub bytes: u64,
    pub blocks: u64,
}

/// What a process allocated and freed in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub allocations: u64,
    /// Frees of blocks that were allocated during the recording.
    pub frees: u64,
    pub allocated_bytes: u64,
    pub freed_bytes: u64,
    /// Frees of blocks that were not: they are older than the recording, or their allocation was lost.
    pub unknown_frees: u64,
    /// Blocks that were given out again without having been freed: the free was lost. They no longer count as in use.
    pub lost_frees: u64,
    /// Allocations that got no memory.
    pub failures: u64,
}

/// What one event did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Effect {
    pub(super) allocated: Option<u64>,
    pub(super) freed: Option<u64>,
}

/// Of a series at most one change in this time is kept, in nanoseconds.
const RESOLUTION: i64 = 1_000_000;

/// A process on the way through its events.
#[derive(Debug, Default)]
pub(super) struct Heap {
    blocks: FxHashMap<u64, u64>,
    bytes: u64,
    pub(super) totals: Totals,
    pub(super) peak: Option<Usage>,
    series: Vec<Usage>,
}

impl Heap {
    pub(super) fn allocate(&mut self, at: Nanos, pointer: u64, size: u64) -> Effect {
        if pointer == 0 {
            self.totals.failures += 1;
            return Effect::default();
        }
        if let Some(lost) = self.blocks.insert(pointer, size) {
            self.bytes = self.bytes.saturating_sub(lost);
            self.totals.lost_frees += 1;
        }
        self.bytes = self.bytes.saturating_add(size);
        self.totals.allocations += 1;
        self.totals.allocated_bytes = self.totals.allocated_bytes.saturating_add(size);
        self.note(at);
        Effect {
            allocated: Some(size),
            freed: None,
        }
    }

    pub(super) fn free(&mut self, at: Nanos, pointer: u64) -> Effect {
        if pointer == 0 {
            return Effect::default();
        }
        let Some(size) = self.blocks.remove(&pointer) else {
            self.totals.unknown_frees += 1;
            return Effect::default();
        };
        self.bytes = self.bytes.saturating_sub(size);
        self.totals.frees += 1;
        self.totals.freed_bytes = self.totals.freed_bytes.saturating_add(size);
        self.note(at);
        Effect {
            allocated: None,
            freed: Some(size),
        }
    }

    /// One free and one allocation, unless it fails: then the block stays as it was.
    pub(super) fn reallocate(&mut self, at: Nanos, before: u64, pointer: u64, size: u64) -> Effect {
        match (pointer, size) {
            // To size 0: the block is freed.
            (0, 0) => self.free(at, before),
            (0, _) => self.allocate(at, 0, size),
            _ => Effect {
                freed: self.free(at, before).freed,
                allocated: self.allocate(at, pointer, size).allocated,
            },
        }
    }

    fn note(&mut self, at: Nanos) {
        let now = Usage {
            time: at,
            bytes: self.bytes,
            blocks: self.blocks.len() as u64,
        };
        if self.peak.is_none_or(|peak| peak.bytes < now.bytes) {
            self.peak = Some(now);
        }
        let stretch = |time: Nanos| time.0.div_euclid(RESOLUTION);
        match self.series.last_mut() {
            Some(last) if stretch(last.time) >= stretch(at) => {
                *last = Usage {
                    time: last.time.max(at),
                    ..now
                };
            }
            _ => self.series.push(now),
        }
    }

    /// The changes, thinned out, with the peak.
    pub(super) fn into_series(self) -> Vec<Usage> {
        let mut series = self.series;
        if let Some(peak) = self.peak {
            let place = series.partition_point(|usage| usage.time < peak.time);
            if series
                .get(place)
                .is_none_or(|usage| usage.bytes != peak.bytes)
            {
                series.insert(place, peak);
            }
        }
        series.shrink_to_fit();
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_keeps_one_change_a_millisecond_and_the_peak() {
        let mut heap = Heap::default();
        for number in 0..1_000 {
            heap.allocate(Nanos(number * 10_000), number as u64 + 1, 1);
        }
        for number in 0..1_000 {
            heap.free(Nanos(9_995_000 + number), number as u64 + 1);
        }
        assert_eq!(
            heap.peak.map(|peak| (peak.bytes, peak.time)),
            Some((1_000, Nanos(9_990_000)))
        );
        let series = heap.into_series();
        assert_eq!(series.len(), 11);
        assert!(series.is_sorted_by_key(|usage| usage.time));
        assert_eq!(series[9].bytes, 1_000);
        assert_eq!((series[10].bytes, series[10].blocks), (0, 0));
    }

    #[test]
    fn a_reallocation_that_fails_leaves_the_block() {
        let mut heap = Heap::default();
        heap.allocate(Nanos(0), 1, 10);
        heap.reallocate(Nanos(1), 1, 0, 20);
        assert_eq!((heap.bytes, heap.totals.failures), (10, 1));
        heap.reallocate(Nanos(2), 1, 2, 20);
        assert_eq!((heap.bytes, heap.totals.frees), (20, 1));
        heap.reallocate(Nanos(3), 2, 0, 0);
        assert_eq!((heap.bytes, heap.totals.frees), (0, 2));
    }

    #[test]
    fn a_block_that_is_given_out_twice_counts_once() {
        let mut heap = Heap::default();
        heap.allocate(Nanos(0), 1, 10);
        heap.allocate(Nanos(1), 1, 30);
        assert_eq!((heap.bytes, heap.totals.lost_frees), (30, 1));
    }
}
