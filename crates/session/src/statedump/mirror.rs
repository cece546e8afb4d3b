//! The copy of the entries in shared memory, from which recorders read.

use std::sync::atomic::Ordering;

use super::Statedump;
use crate::memory::{Memory, page_size};
use crate::statedump::entry::EntryHead;
use crate::sync::fence;

impl Statedump {
    /// Copies what shared memory does not have yet, as far as that is allocated.
    pub(super) fn mirror(&mut self, shared: Option<&Memory>) {
        let Some(shared) = shared else {
            return;
        };
        let header = shared.header();
        let state = &header.dump;
        let space = state.space.load(Ordering::Relaxed) & 1;
        let mirrored = state.used[space as usize].load(Ordering::Relaxed);
        if mirrored < self.used && self.is_allocated(shared, space, self.used) {
            // SAFETY: both spaces have so many bytes, and the shared one's are allocated.
            unsafe {
                let from = self.own_space(self.space).add(mirrored as usize);
                let to = shared.dump_space(space).add(mirrored as usize);
                to.copy_from_nonoverlapping(from, (self.used - mirrored) as usize);
            }
            state.used[space as usize].store(self.used, Ordering::Release);
        }
        header
            .reports
            .remembered
            .store(self.count, Ordering::Relaxed);
    }

    /// Makes sure that so much of a shared space can be written to.
    pub(super) fn is_allocated(&self, shared: &Memory, space: u32, bytes: u32) -> bool {
        const MADV_POPULATE_WRITE: i32 = 23;
        const STEP: u32 = 64 << 10;
        let allocated = &shared.header().dump.allocated[space as usize];
        let have = allocated.load(Ordering::Acquire);
        if bytes <= have {
            return true;
        }
        // Nobody supplied it: rare, and only in events of initialisation.
        let wanted = bytes.next_multiple_of(STEP).min(shared.layout().dump_bytes);
        // SAFETY: within the mapping. The call says if there is no room, where a store would end the process.
        let populated = unsafe {
            let first = shared.dump_space(space).add(have as usize);
            libc::madvise(first.cast(), (wanted - have) as usize, MADV_POPULATE_WRITE)
        };
        if populated == 0 {
            allocated.fetch_max(wanted, Ordering::AcqRel);
        }
        populated == 0 && bytes <= wanted
    }

    pub(super) fn move_shared(&self, shared: &Memory, from: *const u8, used: u32) -> bool {
        let state = &shared.header().dump;
        let other = state.space.load(Ordering::Relaxed) & 1 ^ 1;
        if !self.is_allocated(shared, other, used) {
            return false;
        }
        let version = state.version.load(Ordering::Relaxed) | 1;
        state.version.store(version, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // SAFETY: both have so many bytes, and the shared ones are allocated.
        unsafe {
            shared
                .dump_space(other)
                .copy_from_nonoverlapping(from, used as usize);
        }
        state.used[other as usize].store(used, Ordering::Release);
        state.space.store(other, Ordering::Release);
        state
            .version
            .store(version.wrapping_add(1), Ordering::Release);
        true
    }

    /// Tells a new shared memory everything, as a forked child has to.
    pub fn share(&mut self, shared: &Memory, process: u32) {
        // Threads of the parent reported it.
        let mut at = 0;
        while at < self.used {
            let next = at + self.head(at).bytes;
            // SAFETY: an entry of ours.
            unsafe {
                let head = self
                    .own_space(self.space)
                    .add(at as usize)
                    .cast::<EntryHead>();
                (&raw mut (*head).context)
                    .cast::<[u8; 4]>()
                    .write(process.to_ne_bytes());
            }
            at = next;
        }
        if self.used > shared.layout().dump_bytes {
            self.tidy(None);
        }
        self.mirror(Some(shared));
    }

    /// The same of shared memory, of which it was not done before.
    pub(super) fn give_up_shared(&self, shared: Option<&Memory>) {
        let Some(shared) = shared else {
            return;
        };
        for space in 0..2 {
            let at = shared.layout().dump_at(space) + self.room as usize;
            let spare = shared.layout().dump_bytes.saturating_sub(self.room) as usize;
            // Packets come next, and are put back behind a page that is mapped.
            shared.unmap(at, spare.saturating_sub(space as usize * page_size()));
        }
    }
}
