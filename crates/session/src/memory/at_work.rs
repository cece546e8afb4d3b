//! Whether threads run code of the tracer, for whoever looks at the memory of a process that has died.
//!
//! No handler of signals and no debugger is needed for that: the mark is in shared memory, and stays. Two kinds of marks: the packet that a
//! thread writes to counts events that were begun beside those that are complete, which costs one store; everything else (remembering,
//! reading what the application passed, looking at libraries) is rarer, and marks the stream of its thread, or the header where it has none.
//!
//! Functions of the application that an interposed function calls on do not count: while they run, no code of the tracer does. A handler that
//! leaves the tracer with `siglongjmp` leaves the mark until the thread's next event.

use std::sync::atomic::Ordering;

use crate::memory::Memory;
use crate::memory::stream::Stream;

impl Memory {
    /// How many threads run code of the tracer, or did when the process died.
    pub fn at_work(&self) -> u32 {
        let header = self.header();
        let made = header.free.streams_made.load(Ordering::Acquire);
        let streams = (0..made).filter_map(|number| self.stream(number));
        let with_stream = streams.filter(|stream| self.is_at_work(stream)).count();
        let without = header.reports.at_work.load(Ordering::Relaxed);
        without.saturating_add(u32::try_from(with_stream).unwrap_or(u32::MAX))
    }

    fn is_at_work(&self, stream: &Stream) -> bool {
        let packet = stream.packet.load(Ordering::Acquire).checked_sub(1);
        let is_writing = packet
            .and_then(|packet| self.info(packet))
            .is_some_and(|info| {
                info.begun.load(Ordering::Relaxed) != info.events.load(Ordering::Acquire)
            });
        is_writing || stream.at_work.load(Ordering::Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::header::Introduction;
    use crate::memory::supply;
    use crate::memory::writer::Writer;

    #[test]
    fn who_dies_in_the_middle_of_an_event_was_at_work() {
        let memory = Memory::anonymous(&Introduction::OF_A_TEST).unwrap();
        let recording = &memory.header().recording;
        recording.deadline.store(u64::MAX, Ordering::Relaxed);
        recording.epoch.store(1, Ordering::Relaxed);
        supply::Supply::new(1 << 20).top_up(&memory, &|_, _| Ok(()));
        let mut writer = Writer::NONE;
        assert!(writer.attach(&memory, 1, 1 << 48 | 1, 0));
        writer.begin();
        assert_eq!(memory.at_work(), 0);
        let reserved = writer.reserve(&memory, 0, 1, &[0; 32], 8).unwrap();
        assert_eq!(memory.at_work(), 1);
        writer.commit(1, reserved);
        assert_eq!(memory.at_work(), 0);
        // A handler leaves an event for good; the next one notices.
        writer.begin();
        writer.reserve(&memory, 0, 2, &[0; 32], 8).unwrap();
        writer.abandon(&memory, 3);
        assert_eq!(memory.at_work(), 0);
    }
}
