//! Where things lie in the memory of a process.
//!
//! ```text
//! header · descriptions of packets · streams · filter table · two spaces of the statedump · small packets · large packets
//! ```
//!
//! The file is as long as all of it from the beginning and has holes: a page is there only after somebody has allocated it. Whoever
//! writes to a page that cannot be allocated is killed by SIGBUS, so nothing is ever handed out that is not allocated.

use crate::memory::header::Header;
use crate::memory::pool::PacketInfo;
use crate::memory::stream::Stream;

/// Bytes of the packets that a thread begins with: most threads have little to say.
pub const SMALL: usize = if MODELLED { 256 } else { 4 << 10 };
/// Bytes of all further packets.
pub const LARGE: usize = if MODELLED { 512 } else { 64 << 10 };
/// In models every byte and every event is dear.
const MODELLED: bool = cfg!(all(test, feature = "models"));
/// Slots of the filter table.
pub const FILTER_SLOTS: usize = 8192;
/// Parts begin with a page, also where pages are large.
const PAGE: usize = 64 << 10;

/// How many there are of each thing. Decided by the process when it makes its memory, and part of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub streams: u32,
    pub small: u32,
    pub large: u32,
    /// Of one of the two spaces.
    pub dump_bytes: u32,
}

impl Layout {
    /// For an ordinary process: 80 MB of addresses, of which some hundred kilobytes are allocated while nothing is recorded.
    pub const ORDINARY: Layout = Layout {
        streams: 2048,
        small: 2048,
        large: 1024,
        dump_bytes: 4 << 20,
    };

    /// For a process that may not have so many addresses.
    pub const SMALLER: Layout = Layout {
        streams: 256,
        small: 256,
        large: 64,
        dump_bytes: 1 << 20,
    };

    pub(crate) fn packets(&self) -> u32 {
        self.small + self.large
    }

    pub(crate) fn infos(&self) -> usize {
        up(size_of::<Header>())
    }

    pub(crate) fn streams_at(&self) -> usize {
        up(self.infos() + self.packets() as usize * size_of::<PacketInfo>())
    }

    pub(crate) fn filter_at(&self) -> usize {
        up(self.streams_at() + self.streams as usize * size_of::<Stream>())
    }

    pub(crate) fn dump_at(&self, space: u32) -> usize {
        up(self.filter_at() + FILTER_SLOTS * 8) + (space & 1) as usize * self.dump_bytes as usize
    }

    pub(crate) fn small_at(&self) -> usize {
        up(self.dump_at(1) + self.dump_bytes as usize)
    }

    pub(crate) fn large_at(&self) -> usize {
        up(self.small_at() + self.small as usize * SMALL)
    }

    pub fn bytes(&self) -> usize {
        self.large_at() + self.large as usize * LARGE
    }

    /// Where a packet lies, and how many bytes it has.
    pub(crate) fn packet(&self, number: u32) -> (usize, usize) {
        match number.checked_sub(self.small) {
            None => (self.small_at() + number as usize * SMALL, SMALL),
            Some(large) => (self.large_at() + large as usize * LARGE, LARGE),
        }
    }

    /// Whether a header that somebody else wrote makes sense.
    pub(crate) fn is_sound(&self) -> bool {
        (1..=1 << 16).contains(&self.streams)
            && (1..=1 << 16).contains(&self.small)
            && (1..=1 << 16).contains(&self.large)
            && (PAGE as u32..=1 << 28).contains(&self.dump_bytes)
            && self.dump_bytes.is_multiple_of(PAGE as u32)
    }
}

const fn up(bytes: usize) -> usize {
    bytes.next_multiple_of(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_things_lie_at_the_same_place() {
        for layout in [Layout::ORDINARY, Layout::SMALLER] {
            assert!(layout.is_sound());
            let ends = [
                size_of::<Header>(),
                layout.streams_at(),
                layout.filter_at(),
                layout.dump_at(0),
                layout.dump_at(1),
                layout.small_at(),
                layout.large_at(),
                layout.bytes(),
            ];
            assert!(ends.is_sorted());
            let last = layout.packets() - 1;
            let (at, bytes) = layout.packet(last);
            assert_eq!(at + bytes, layout.bytes());
            assert_eq!(layout.packet(layout.small - 1).0 + SMALL, layout.large_at());
        }
    }
}
