//! An entry of the statedump: an event of initialisation, as it lies in memory and as readers get it.

use std::sync::atomic::Ordering;

use crate::events::EVENTS;
use crate::memory::Memory;
use crate::sync::{AtomicU32, fence};

pub(crate) const LIVE: u32 = 1;
pub(crate) const DEAD: u32 = 2;

/// Before the payload of each entry.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct EntryHead {
    /// With this head, and up to a multiple of eight.
    pub(crate) bytes: u32,
    pub(crate) payload_bytes: u32,
    pub(crate) state: AtomicU32,
    pub(crate) event: u32,
    /// Counts all entries that ever were.
    pub(crate) number: u64,
    pub(crate) time: u64,
    pub(crate) context: [u8; 32],
}

pub(crate) const HEAD: usize = size_of::<EntryHead>();
const _: () = assert!(HEAD == 64);

/// An event that happened.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub event: u16,
    pub number: u64,
    pub time: u64,
    pub is_live: bool,
    /// Thread id and name of who recorded it; the process may have been a parent.
    pub context: &'a [u8; 32],
    pub payload: &'a [u8],
}

/// All complete entries of a space, up to so many bytes; ends where they make no sense.
///
/// # Safety
/// So many bytes are mapped there, and complete entries do not change but for their state.
pub(crate) unsafe fn walk<'a>(
    space: *const u8,
    used: u32,
) -> impl Iterator<Item = (u32, Entry<'a>)> + Clone {
    let mut at = 0_u32;
    std::iter::from_fn(move || {
        if at as usize + HEAD > used as usize {
            return None;
        }
        // SAFETY: as the caller promises; entries are aligned to eight bytes.
        let head = unsafe { &*space.add(at as usize).cast::<EntryHead>() };
        let fits = head.bytes as usize >= HEAD
            && head.bytes.is_multiple_of(8)
            && at.checked_add(head.bytes).is_some_and(|end| end <= used)
            && HEAD + head.payload_bytes as usize <= head.bytes as usize;
        if !fits || head.event as usize >= EVENTS.len() {
            return None;
        }
        // SAFETY: as above.
        let payload = unsafe {
            std::slice::from_raw_parts(space.add(at as usize + HEAD), head.payload_bytes as usize)
        };
        let entry = Entry {
            event: head.event as u16,
            number: head.number,
            time: head.time,
            is_live: head.state.load(Ordering::Relaxed) == LIVE,
            context: &head.context,
            payload,
        };
        let place = at;
        at += head.bytes;
        Some((place, entry))
    })
}

/// What a reader finds in shared memory: `read` gets all entries in the order of their numbers. None if the process was moving them; then it is to be tried again.
pub fn entries<R>(
    memory: &Memory,
    read: impl FnOnce(&mut dyn Iterator<Item = Entry<'_>>) -> R,
) -> Option<R> {
    let state = &memory.header().dump;
    let version = state.version.load(Ordering::Acquire);
    if version % 2 == 1 {
        return None;
    }
    let space = state.space.load(Ordering::Acquire) & 1;
    let used = state.used[space as usize].load(Ordering::Acquire);
    let used = used.min(memory.layout().dump_bytes);
    // SAFETY: the space is mapped. While entries are moved, those of this space stay as they are until the next move.
    let mut all = unsafe { walk(memory.dump_space(space), used) }.map(|(_, entry)| entry);
    let result = read(&mut all);
    fence(Ordering::Acquire);
    // Two moves later the space would be used again.
    let now = state.version.load(Ordering::Relaxed);
    (now.wrapping_sub(version) < 2).then_some(result)
}
