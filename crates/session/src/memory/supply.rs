//! Who gives out packets and streams, and how many: allocated before anybody can take them, and as many as the pace needs.

use std::sync::atomic::Ordering;

use crate::memory::Memory;
use crate::memory::filter_table;
use crate::memory::header::Header;
use crate::memory::layout::{LARGE, Layout, SMALL};
use crate::memory::pool::{FREE, FreeList, PacketInfo};
use crate::memory::stream::Stream;
use crate::sync::AtomicU32;

/// Streams and bytes of the statedump that are allocated from the beginning.
pub(crate) const FIRST_STREAMS: u32 = 256;
pub(crate) const FIRST_DUMP_BYTES: u32 = 64 << 10;
/// Free packets and streams that are kept ready at least while something is recorded.
const READY_SMALL: u32 = 192;
const READY_LARGE: u32 = 8;
const READY_STREAMS: u32 = 512;
/// Threads for each of which a large packet is kept ready.
const MOST_THREADS: u32 = 128;
/// Bytes of the statedump that are kept ready.
const READY_DUMP: u32 = 64 << 10;
/// Twice so many packets as were ever used between two looks are kept ready.
const AHEAD: u32 = 2;
/// A thousandth of the pace is forgotten with each look.
const DECAY: u32 = 1024;

/// Parts of a new file that its process needs before anybody supplies it.
pub(crate) fn first_parts(layout: &Layout) -> [(usize, usize); 3] {
    [
        (
            0,
            layout.infos() + layout.packets() as usize * size_of::<PacketInfo>(),
        ),
        (
            layout.streams_at(),
            FIRST_STREAMS as usize * size_of::<Stream>(),
        ),
        (layout.dump_at(0), FIRST_DUMP_BYTES as usize),
    ]
}

/// Supplies one process.
#[derive(Debug)]
pub(crate) struct Supply {
    /// Bytes of large packets that may be allocated.
    limit: u64,
    /// Packets that are on their way to the disk or back, at the last look.
    full: u32,
    /// The most that were used between two looks, times [`DECAY`].
    pace: u32,
}

impl Supply {
    pub(crate) fn new(limit: u64) -> Supply {
        Supply {
            limit,
            full: 0,
            pace: 0,
        }
    }

    /// Makes sure that threads find what they need. Returns whether packets are used up quickly, and the error if no more could be
    /// allocated.
    pub(crate) fn top_up(
        &mut self,
        memory: &Memory,
        allocate: &dyn Fn(usize, usize) -> Result<(), i32>,
    ) -> (bool, Option<i32>) {
        let header = memory.header();
        let mut error = top_up_dump(memory, allocate).err();
        let free = &header.free;
        let made = free.streams_made.load(Ordering::Relaxed);
        let supplied = free.streams_supplied.load(Ordering::Relaxed);
        if made.saturating_add(READY_STREAMS) > supplied && supplied < memory.layout.streams {
            let more = READY_STREAMS.min(memory.layout.streams - supplied);
            let bytes = size_of::<Stream>();
            let at = memory.layout.streams_at() + supplied as usize * bytes;
            match allocate(at, more as usize * bytes) {
                Ok(()) => {
                    let all = supplied + more;
                    free.streams_supplied.fetch_max(all, Ordering::AcqRel);
                }
                Err(number) => error = Some(number),
            }
        }
        let full = free.full.load(Ordering::Relaxed);
        let used = full.saturating_sub(self.full);
        self.full = full;
        self.pace = (self.pace - self.pace / DECAY).max(used.min(1 << 16) * DECAY);
        // Threads that began together fill their small packets together: each needs a large one then, and who finds none has to clear
        // 64 KiB inside of an event.
        let threads = header
            .reports
            .threads
            .load(Ordering::Relaxed)
            .min(MOST_THREADS);
        let ready = READY_LARGE.max(threads).max(AHEAD * (self.pace / DECAY));
        let most = u32::try_from(self.limit / LARGE as u64).unwrap_or(u32::MAX);
        free.large_limit
            .store(memory.layout.large.min(most.max(1)), Ordering::Relaxed);
        let mut is_quick = used > 1;
        for (class, ready) in [
            (Class::small(memory), READY_SMALL),
            (Class::large(memory), ready),
        ] {
            match class.top_up(memory, ready, allocate) {
                Ok(more) => is_quick |= more > ready / 4,
                Err(number) => error = Some(number),
            }
        }
        (is_quick, error)
    }
}

/// Only what is needed while nothing is recorded.
pub(crate) fn top_up_dump(
    memory: &Memory,
    allocate: &dyn Fn(usize, usize) -> Result<(), i32>,
) -> Result<(), i32> {
    let state = &memory.header().dump;
    // The other space is needed when the process tidies up.
    let used =
        state.used[(state.space.load(Ordering::Relaxed) & 1) as usize].load(Ordering::Acquire);
    for space in 0..2_u32 {
        let allocated = state.allocated[space as usize].load(Ordering::Acquire);
        let wanted = (used.min(memory.layout.dump_bytes) + READY_DUMP)
            .next_multiple_of(READY_DUMP)
            .min(memory.layout.dump_bytes);
        if allocated < wanted {
            let at = memory.layout.dump_at(space) + allocated as usize;
            allocate(at, (wanted - allocated) as usize)?;
            state.allocated[space as usize].fetch_max(wanted, Ordering::AcqRel);
        }
    }
    filter_table::allocate(memory, allocate)
}

/// Packets of one size.
#[derive(Debug)]
pub(super) struct Class<'a> {
    /// The number of the first one.
    pub(super) first: u32,
    most: u32,
    pub(super) bytes: usize,
    /// How many were ever handed out to be used.
    pub(super) supplied: &'a AtomicU32,
    pub(super) list: &'a FreeList,
}

impl Class<'_> {
    pub(super) fn small(memory: &Memory) -> Class<'static> {
        let free = &memory.header().free;
        Class {
            first: 0,
            most: memory.layout.small,
            bytes: SMALL,
            supplied: &free.small_supplied,
            list: &free.small,
        }
    }

    pub(super) fn large(memory: &Memory) -> Class<'static> {
        let free = &memory.header().free;
        let limit = free.large_limit.load(Ordering::Relaxed);
        Class {
            first: memory.layout.small,
            most: memory.layout.large.min(limit),
            bytes: LARGE,
            supplied: &free.large_supplied,
            list: &free.large,
        }
    }

    /// The next packets that were never handed out, at most so many: for whoever asks, and for nobody else. They are allocated first, so that
    /// none is claimed that cannot be. Where they begin, and how many; 0 if there are no more.
    fn claim(
        &self,
        memory: &Memory,
        wanted: u32,
        allocate: &dyn Fn(usize, usize) -> Result<(), i32>,
    ) -> Result<(u32, u32), i32> {
        claim(self.supplied, self.most, wanted, |first, more| {
            let (at, _) = memory.layout.packet(self.first + first);
            allocate(at, more as usize * self.bytes)
        })
        .map(|(first, more)| (self.first + first, more))
    }

    fn top_up(
        &self,
        memory: &Memory,
        ready: u32,
        allocate: &dyn Fn(usize, usize) -> Result<(), i32>,
    ) -> Result<u32, i32> {
        let free = self.list.count(&memory.packets(), ready);
        if free >= ready {
            return Ok(0);
        }
        let (first, more) = self.claim(memory, ready - free, allocate)?;
        for packet in (first..first + more).rev() {
            if let Some(info) = memory.info(packet) {
                info.state.store(FREE, Ordering::Relaxed);
            }
            self.list.push(&memory.packets(), packet);
        }
        Ok(more)
    }

    /// A packet for a thread: a free one, or, where the supplier is late, one that it allocates itself.
    fn take(&self, memory: &Memory) -> Option<u32> {
        self.list.pop(&memory.packets()).or_else(|| {
            let populate = |at, bytes| memory.populate(at, bytes);
            let (packet, claimed) = self.claim(memory, 1, &populate).ok()?;
            (claimed > 0).then_some(packet)
        })
    }
}

/// A packet with room for so many bytes, which is begun with: a small one will do if the stream is new.
pub(crate) fn take_packet(memory: &Memory, bytes: usize, is_new: bool) -> Option<u32> {
    if bytes > LARGE {
        return None;
    }
    let small = (is_new && bytes <= SMALL)
        .then(|| Class::small(memory).take(memory))
        .flatten();
    small.or_else(|| Class::large(memory).take(memory))
}

/// A stream that nobody has.
pub(crate) fn take_stream(memory: &Memory) -> Option<u32> {
    let free = &memory.header().free;
    if let Some(stream) = free.streams.pop(&memory.streams()) {
        return Some(stream);
    }
    let claimed = claim(&free.streams_made, memory.layout.streams, 1, |new, _| {
        if new < free.streams_supplied.load(Ordering::Acquire) {
            return Ok(());
        }
        let bytes = size_of::<Stream>();
        let at = memory.layout.streams_at() + new as usize * bytes;
        memory.populate(at, bytes)
    });
    let (new, claimed) = claimed.ok()?;
    (claimed > 0).then_some(new)
}

/// Raises a count by as many as are wanted, up to the most that there can be, after `allocate` has done what they need: what is allocated
/// but was claimed by somebody else meanwhile does no harm. Returns the count before, and by how many it was raised.
fn claim(
    count: &AtomicU32,
    most: u32,
    wanted: u32,
    mut allocate: impl FnMut(u32, u32) -> Result<(), i32>,
) -> Result<(u32, u32), i32> {
    let mut before = count.load(Ordering::Acquire);
    loop {
        let more = wanted.min(most.saturating_sub(before));
        if more == 0 {
            return Ok((before, 0));
        }
        allocate(before, more)?;
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match count.compare_exchange_weak(before, before + more, success, failure) {
            Ok(_) => return Ok((before, more)),
            Err(now) => before = now,
        }
    }
}

/// Gives a packet out again whose content nobody needs.
pub(crate) fn recycle(memory: &Memory, header: &Header, packet: u32) {
    let Some(info) = memory.info(packet) else {
        return;
    };
    info.epoch.store(0, Ordering::Relaxed);
    info.state.store(FREE, Ordering::Release);
    let list = match packet < memory.layout.small {
        true => &header.free.small,
        false => &header.free.large,
    };
    list.push(&memory.packets(), packet);
    header.free.full.fetch_sub(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::locked::tests::memory;

    fn ready(memory: &Memory, threads: u32) -> u32 {
        let reports = &memory.header().reports;
        reports.threads.store(threads, Ordering::Relaxed);
        let populate = |at, bytes| memory.populate(at, bytes);
        let (_, error) = Supply::new(64 << 20).top_up(memory, &populate);
        assert_eq!(error, None);
        Class::large(memory).list.count(&memory.packets(), u32::MAX)
    }

    #[test]
    fn every_thread_finds_a_large_packet_when_its_small_one_is_full() {
        let memory = memory("supply-threads");
        assert_eq!(ready(&memory, 2), READY_LARGE);
        assert_eq!(ready(&memory, 64), 64);
        assert_eq!(ready(&memory, 5000), MOST_THREADS);
    }
}
