//! The statedump: events of initialisation are kept, so that a recording that begins later knows all names.
//!
//! They lie one after the other in a space of the shared memory. What was destroyed is marked as dead, and an entity at an address that is
//! used again replaces the one before; when half of the space is dead, what lives moves to the other space. The process has the same
//! bytes a second time in memory of its own, because a forked child gets a copy of that, and of shared memory it does not.
//!
//! [`Statedump`] is the process's side: one thread at a time, no allocation. The reader's is [`entries`](entry::entries).

pub mod entry;
mod index;
mod mirror;

use std::sync::atomic::Ordering;

use crate::events::{EVENTS, Identified};
use crate::memory::Memory;
use crate::memory::layout::Layout;
use crate::sync::AtomicU32;
use entry::{DEAD, Entry, EntryHead, HEAD, LIVE, walk};
use index::{EMPTY, GONE, INDEX_BYTES, PLACES};

/// Bytes of the process's own memory: two spaces as large as those of the largest layout, and the index behind them.
pub const OWN_BYTES: usize = 2 * Layout::ORDINARY.dump_bytes as usize + INDEX_BYTES;
/// Room for further entries where memory is locked.
const LITTLE: u32 = 32 << 10;
/// Less is not worth the move.
const MUCH_DEAD: u32 = 64 << 10;

/// What the process remembers. Used by one thread at a time.
#[derive(Debug)]
pub struct Statedump {
    /// [`OWN_BYTES`] of zeroes at first.
    own: *mut u8,
    space: u32,
    used: u32,
    dead: u32,
    count: u32,
    next_number: u64,
    /// Bytes of a space that may be used, and places of the index: more than there can be entries.
    room: u32,
    places: usize,
    /// What was not needed was given up: that is done once.
    is_trimmed: bool,
    /// Of an entry that did not fit.
    pub lost: u64,
}

// SAFETY: the memory is used through this value only.
unsafe impl Send for Statedump {}

impl Statedump {
    /// # Safety
    /// There are [`OWN_BYTES`] of zeroes, aligned to a page, for this value alone and for ever.
    pub const unsafe fn new(own: *mut u8) -> Statedump {
        Statedump {
            own,
            space: 0,
            used: 0,
            dead: 0,
            count: 0,
            next_number: 1,
            room: Layout::ORDINARY.dump_bytes,
            places: PLACES,
            is_trimmed: false,
            lost: 0,
        }
    }

    fn own_space(&self, space: u32) -> *mut u8 {
        // SAFETY: within the memory.
        unsafe {
            self.own
                .add(space as usize * Layout::ORDINARY.dump_bytes as usize)
        }
    }

    fn head(&self, at: u32) -> &EntryHead {
        // SAFETY: `at` is the place of an entry in the current space.
        unsafe {
            &*self
                .own_space(self.space)
                .add(at as usize)
                .cast::<EntryHead>()
        }
    }

    /// The entries that are remembered.
    pub fn live(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        // SAFETY: the memory is ours, and complete up to `used`.
        unsafe { walk(self.own_space(self.space), self.used) }
            .map(|(_, entry)| entry)
            .filter(|entry| entry.is_live)
    }

    /// The entry at a place that [`keep`](Self::keep) returned.
    pub fn entry(&self, at: u32) -> Option<Entry<'_>> {
        let rest = self.used.checked_sub(at)?;
        // SAFETY: the memory is ours, and complete up to `used`; the place is that of an entry.
        let mut from = unsafe { walk(self.own_space(self.space).add(at as usize), rest) };
        from.next().map(|(_, entry)| entry)
    }

    /// The live entry of this kind whose first field is this address; only for kinds of which an address has one.
    pub fn find(&self, event: u16, address: u64) -> Option<Entry<'_>> {
        let (_, at) = self.look_up(event, &address.to_ne_bytes())?;
        self.entry(at)
    }

    /// Keeps an event whose payload of this size `fill` writes. Returns its place, until anything else is kept or forgotten; None if there
    /// is no room for it.
    pub fn keep(
        &mut self,
        shared: Option<&Memory>,
        event: u16,
        time: u64,
        context: &[u8; 32],
        payload_bytes: usize,
        fill: impl FnOnce(*mut u8),
    ) -> Option<u32> {
        let bytes = (HEAD + payload_bytes).next_multiple_of(8) as u32;
        let room = self
            .room
            .min(shared.map_or(u32::MAX, |it| it.layout().dump_bytes));
        if self.used + bytes > room {
            self.tidy(shared);
        }
        if self.used + bytes > room || usize::from(event) >= EVENTS.len() {
            self.lost += 1;
            return None;
        }
        let at = self.used;
        // SAFETY: there is room for the entry in the current space.
        unsafe {
            let entry = self.own_space(self.space).add(at as usize);
            fill(entry.add(HEAD));
            entry.cast::<EntryHead>().write(EntryHead {
                bytes,
                payload_bytes: payload_bytes as u32,
                state: AtomicU32::new(LIVE),
                event: event.into(),
                number: self.next_number,
                time,
                context: *context,
            });
        }
        self.next_number += 1;
        self.used += bytes;
        let before = self.look_up(event, self.key(at));
        if let Some((place, before)) = before {
            self.index()[place].store(at + 1, Ordering::Relaxed);
            self.bury(shared, before);
        } else {
            self.enter(at);
        }
        self.count += 1;
        self.mirror(shared);
        Some(at)
    }

    /// Entities of this event whose first field is this address no longer exist.
    pub fn forget(&mut self, shared: Option<&Memory>, event: u16, address: u64) {
        match EVENTS[usize::from(event)].identified {
            Identified::ByFirstField => {
                if let Some((place, at)) = self.look_up(event, &address.to_ne_bytes()) {
                    self.index()[place].store(GONE, Ordering::Relaxed);
                    self.bury(shared, at);
                }
            }
            Identified::ByAll => self.forget_with(shared, event, 0, address),
        }
        self.tidy_now_and_then(shared);
    }

    /// Entities of this event, which is identified by all of its fields, that have this address at this byte of their payload no longer exist.
    pub fn forget_with(&mut self, shared: Option<&Memory>, event: u16, byte: usize, address: u64) {
        let mut at = 0;
        while at < self.used {
            let head = self.head(at);
            let (next, number) = (at + head.bytes, head.event);
            if number == u32::from(event)
                && head.state.load(Ordering::Relaxed) == LIVE
                && self.key(at).get(byte..byte + 8) == Some(&address.to_ne_bytes())
                && let Some((place, _)) = self.look_up(event, self.key(at))
            {
                self.index()[place].store(GONE, Ordering::Relaxed);
                self.bury(shared, at);
            }
            at = next;
        }
    }

    fn bury(&mut self, shared: Option<&Memory>, at: u32) {
        self.head(at).state.store(DEAD, Ordering::Relaxed);
        self.dead += self.head(at).bytes;
        self.count -= 1;
        if let Some(shared) = shared {
            let state = &shared.header().dump;
            let space = state.space.load(Ordering::Relaxed) & 1;
            if at < state.used[space as usize].load(Ordering::Relaxed) {
                // SAFETY: the same entry is at the same place of the shared space.
                let head = unsafe {
                    &*shared
                        .dump_space(space)
                        .add(at as usize)
                        .cast::<EntryHead>()
                };
                head.state.store(DEAD, Ordering::Relaxed);
            }
        }
    }

    fn tidy_now_and_then(&mut self, shared: Option<&Memory>) {
        if self.dead > MUCH_DEAD && self.dead > self.used / 2 {
            self.tidy(shared);
        }
    }

    /// Moves what lives to the other space, and with it what the recording that runs has not got yet.
    fn tidy(&mut self, shared: Option<&Memory>) {
        let written = shared.map_or(u64::MAX, |it| {
            it.header().dump.written.load(Ordering::Acquire)
        });
        let other = self.space ^ 1;
        let (from, to) = (self.own_space(self.space), self.own_space(other));
        let mut used = 0;
        let mut dead = 0;
        // SAFETY: both spaces are ours; what is kept of one has room in the other.
        unsafe {
            for (at, entry) in walk(from, self.used) {
                if entry.is_live || entry.number > written {
                    let bytes = self.head(at).bytes;
                    to.add(used as usize)
                        .copy_from_nonoverlapping(from.add(at as usize), bytes as usize);
                    used += bytes;
                    dead += if entry.is_live { 0 } else { bytes };
                }
            }
        }
        if used == self.used {
            return;
        }
        if let Some(shared) = shared
            && !self.move_shared(shared, to, used)
        {
            // No room for it there: the other space of our own was only tried.
            return;
        }
        (self.space, self.used, self.dead) = (other, used, dead);
        self.make_index();
    }

    /// Unmaps what is not needed for a while, of its own memory and of the shared one: no more than so much is remembered from now on.
    pub fn give_up_spare(&mut self, shared: Option<&Memory>) {
        const PAGE: u32 = 64 << 10;
        let most = Layout::ORDINARY.dump_bytes;
        if self.is_trimmed {
            // The program may have something else there by now.
            return self.give_up_shared(shared);
        }
        self.is_trimmed = true;
        let room = (self.used * 2 + LITTLE).next_multiple_of(PAGE).min(most);
        for space in 0..2 {
            // SAFETY: of its own memory, behind everything that is used from now on.
            unsafe {
                let spare = self.own_space(space).add(room as usize);
                libc::munmap(spare.cast(), (most - room) as usize);
            }
        }
        self.room = room;
        // SAFETY: of its own memory, behind the places that are used from now on.
        unsafe {
            let index = self.own.add(2 * most as usize);
            let places = (room as usize / HEAD * 2).next_multiple_of(PAGE as usize / 4);
            self.places = places.min(self.places);
            let bytes = self.places * 4;
            libc::munmap(index.add(bytes).cast(), INDEX_BYTES - bytes);
        }
        self.make_index();
        self.give_up_shared(shared);
    }

    /// Forgets everything, after a fork in the middle of a change.
    pub fn clear(&mut self) {
        for place in self.index() {
            place.store(EMPTY, Ordering::Relaxed);
        }
        (self.used, self.dead, self.count) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(at: *mut u8, bytes: usize, flags: i32) -> *mut u8 {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
        // SAFETY: a new mapping, at a place where nothing is.
        unsafe { libc::mmap(at.cast(), bytes, rights, flags, -1, 0).cast() }
    }

    #[test]
    fn what_a_program_maps_where_memory_was_given_up_stays_its_own() {
        let own = map(std::ptr::null_mut(), OWN_BYTES, 0);
        // SAFETY: new zeroes, which are never unmapped as a whole.
        let mut store = unsafe { Statedump::new(own) };
        let context = [0; 32];
        // SAFETY: there is room for as many bytes as are said.
        let fill = |at: *mut u8| unsafe { at.write_bytes(7, 16) };
        assert!(store.keep(None, 0, 1, &context, 16, fill).is_some());
        store.give_up_spare(None);
        // SAFETY: within what was given up.
        let theirs = unsafe { own.add(1 << 20) };
        assert_eq!(map(theirs, 4096, libc::MAP_FIXED_NOREPLACE), theirs);
        store.give_up_spare(None);
        // SAFETY: mapped above, and not by the store.
        unsafe {
            theirs.write(1);
            assert_eq!(theirs.read(), 1);
        }
        assert_eq!(store.live().count(), 1);
    }
}
