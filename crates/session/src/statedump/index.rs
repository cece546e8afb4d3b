//! Where entries are, by what identifies them: a table of hashes in the process's own memory, behind the entries.

use std::sync::atomic::Ordering;

use super::Statedump;
use crate::events::{EVENTS, Identified};
use crate::memory::layout::Layout;
use crate::statedump::entry::{HEAD, LIVE};
use crate::sync::AtomicU32;

/// Places of the index: more than there can be entries in a space.
pub(super) const PLACES: usize = 1 << 17;
pub(super) const INDEX_BYTES: usize = PLACES * 4;
/// In the index: nothing was ever here, something was.
pub(super) const EMPTY: u32 = 0;
pub(super) const GONE: u32 = u32::MAX;

impl Statedump {
    pub(super) fn index(&self) -> &[AtomicU32] {
        // SAFETY: behind the two spaces, aligned, and any bytes are valid.
        unsafe {
            let index = self.own.add(2 * Layout::ORDINARY.dump_bytes as usize);
            std::slice::from_raw_parts(index.cast::<AtomicU32>(), self.places)
        }
    }

    /// Where a kind of event with this key is in the index, and in the space.
    pub(super) fn look_up(&self, event: u16, key: &[u8]) -> Option<(usize, u32)> {
        let index = self.index();
        let mut place = hash(event, key);
        for _ in 0..index.len() {
            place %= index.len();
            match index[place].load(Ordering::Relaxed) {
                EMPTY => return None,
                GONE => {}
                at => {
                    let head = self.head(at - 1);
                    if head.event == u32::from(event) && self.key(at - 1) == key {
                        return Some((place, at - 1));
                    }
                }
            }
            place += 1;
        }
        None
    }

    /// What identifies the entity of an entry: its address, or all that is said of it.
    pub(super) fn key(&self, at: u32) -> &[u8] {
        let head = self.head(at);
        let bytes = match EVENTS[head.event as usize].identified {
            Identified::ByFirstField => head.payload_bytes.min(8),
            Identified::ByAll => head.payload_bytes,
        };
        // SAFETY: the payload follows the head.
        unsafe {
            let space = self.own_space(self.space);
            std::slice::from_raw_parts(space.add(at as usize + HEAD), bytes as usize)
        }
    }

    pub(super) fn enter(&self, at: u32) {
        let index = self.index();
        let head = self.head(at);
        let mut place = hash(head.event as u16, self.key(at));
        loop {
            place %= index.len();
            if matches!(index[place].load(Ordering::Relaxed), EMPTY | GONE) {
                index[place].store(at + 1, Ordering::Relaxed);
                return;
            }
            place += 1;
        }
    }

    /// Makes the index anew.
    pub(super) fn make_index(&mut self) {
        for place in self.index() {
            place.store(EMPTY, Ordering::Relaxed);
        }
        let mut at = 0;
        while at < self.used {
            if self.head(at).state.load(Ordering::Relaxed) == LIVE {
                self.enter(at);
            }
            at += self.head(at).bytes;
        }
    }
}

fn hash(event: u16, key: &[u8]) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ u64::from(event);
    for byte in key {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    (hash ^ hash >> 29) as usize
}
