//! What this process remembers of its entities, for recordings that begin later: see [`rostrace_session::statedump`].

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use rostrace_session::Memory;
use rostrace_session::events;
use rostrace_session::statedump::{OWN_BYTES, Statedump};

use crate::control::gate::gate;
use crate::ring::clock;

struct Guarded(UnsafeCell<Option<Statedump>>);
// SAFETY: used only with the gate's lock held.
unsafe impl Sync for Guarded {}
static STORE: Guarded = Guarded(UnsafeCell::new(None));
/// The store is being changed: a child that was forked now, behind the back of the handlers, cannot use its copy.
static IS_CHANGING: AtomicBool = AtomicBool::new(false);

/// Runs with the lock held, if there is memory. The caller is marked as inside the tracer.
fn with<R>(work: impl FnOnce(&mut Statedump) -> R) -> Option<R> {
    gate().statedump.with(|| {
        // SAFETY: the lock is held.
        let place = unsafe { &mut *STORE.0.get() };
        if place.is_none() {
            *place = new();
        }
        let store = place.as_mut()?;
        let is_torn = IS_CHANGING.swap(true, Ordering::Relaxed);
        // The copy that a child gets is made by the kernel at any moment: in it no change may come before the flag, nor the end of the flag
        // before a change. Compilers and processors would be free to do so.
        fence(Ordering::Release);
        if is_torn {
            store.clear();
        }
        let result = work(store);
        IS_CHANGING.store(false, Ordering::Release);
        Some(result)
    })
}

fn new() -> Option<Statedump> {
    // SAFETY: new pages of zeroes, which are never unmapped. They take room only when they are used.
    unsafe {
        let memory = libc::mmap(
            std::ptr::null_mut(),
            OWN_BYTES,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        if memory == libc::MAP_FAILED {
            return None;
        }
        // A program that locks all its memory would have all of it allocated otherwise.
        libc::munlock(memory, OWN_BYTES);
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        (libc::mprotect(memory, OWN_BYTES, rights) == 0).then(|| Statedump::new(memory.cast()))
    }
}

/// Keeps an event whose payload `fill` writes.
pub(crate) fn keep(
    memory: &Memory,
    event: u16,
    context: &[u8; 32],
    size: usize,
    fill: impl FnOnce(*mut u8),
) {
    let is_kept = with(|store| {
        let time = clock::monotonic();
        let place = store.keep(Some(memory), event, time, context, size, fill)?;
        let is_filtered = memory
            .header()
            .recording
            .is_filtered
            .load(Ordering::Relaxed)
            != 0;
        if is_filtered && let Some(entry) = store.entry(place) {
            let node = |handle| store.find(events::RCL_NODE_INIT, handle);
            memory.filter_new(&entry, &node, store.live());
        }
        Some(())
    });
    if is_kept.flatten().is_none() {
        let lost = &memory.header().reports.lost;
        lost.fetch_add(1, Ordering::Relaxed);
    }
}

/// Entities of these events whose first field is this address no longer exist.
pub(crate) fn forget(memory: &Memory, events: &[u16], address: u64) {
    with(|store| {
        for event in events {
            store.forget(Some(memory), *event, address);
        }
    });
}

/// Entities of this event, which is identified by all of its fields, whose second field is this address no longer exist.
pub(crate) fn forget_owned(memory: &Memory, event: u16, owner: u64) {
    with(|store| store.forget_with(Some(memory), event, 8, owner));
}

/// Tells a new memory what is remembered: a forked child knows what its parent knew.
pub(crate) fn share(memory: &Memory, process: u32) {
    // SAFETY: nobody else is here yet: whoever makes memory holds the lock for that.
    if unsafe { (*STORE.0.get()).is_some() } {
        with(|store| store.share(memory, process));
    }
}

/// Gives back what it does not need for a while.
pub(crate) fn give_up_spare(memory: Option<&Memory>) {
    with(|store| store.give_up_spare(memory));
}
