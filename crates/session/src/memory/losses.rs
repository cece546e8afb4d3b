//! How many events of a recording are missing: those that a stream had no room for, and those that never had a stream.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::memory::Memory;

/// What was dropped in one recording, at one moment.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// Of each stream of the recording, also where that is nothing.
    pub(crate) by_stream: BTreeMap<u32, u64>,
    /// Of which no stream tells.
    pub(crate) elsewhere: u64,
}

impl Losses {
    pub(crate) fn sum(&self) -> u64 {
        let of_streams = self.by_stream.values();
        of_streams.fold(self.elsewhere, |sum, it| sum.saturating_add(*it))
    }
}

impl Memory {
    /// What was dropped in this recording, which must be the last one that was begun.
    pub(crate) fn losses(&self, epoch: u64) -> Losses {
        let made = self.header().free.streams_made.load(Ordering::Acquire);
        let streams = (0..made).filter_map(|number| Some((number, self.stream(number)?)));
        let of_it = streams
            .filter(|(_, stream)| epoch != 0 && stream.epoch.load(Ordering::Acquire) == epoch);
        Losses {
            by_stream: of_it
                .map(|(number, stream)| (number, stream.discarded.load(Ordering::Relaxed)))
                .collect(),
            elsewhere: self.lost(),
        }
    }

    /// Events that no stream tells of, since the last recording was begun.
    pub(crate) fn lost(&self) -> u64 {
        let reports = &self.header().reports;
        let before = reports.lost_before.load(Ordering::Relaxed);
        reports.lost.load(Ordering::Relaxed).saturating_sub(before)
    }

    /// Events of the recording that runs that were dropped.
    pub fn discarded(&self) -> u64 {
        let epoch = self.header().recording.epoch.load(Ordering::Acquire);
        self.losses(epoch).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::Command;
    use crate::keep::{start_recording, stop_recording};
    use crate::memory::Memory;
    use crate::memory::header::Introduction;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_was_lost_in_one_recording_is_not_counted_in_the_next() {
        let memory = Memory::anonymous(&Introduction::OF_A_TEST).expect("there is memory");
        let command = Command::record(b"/nowhere");
        for (generation, lost) in [(2, 5), (6, 0), (10, 3)] {
            let begun = start_recording(&memory, generation, &command, &|_, _| Ok(()));
            assert_eq!(begun, Ok(()));
            let count = &memory.header().reports.lost;
            count.fetch_add(lost, Ordering::Relaxed);
            assert_eq!(memory.discarded(), lost);
            stop_recording(&memory, generation + 2);
        }
    }
}
