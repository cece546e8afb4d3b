//! Initialisation events are kept, so that a recording that begins later knows all names.
//!
//! What was destroyed is dropped, and an entity at an address that is used again replaces the one before. When a recording
//! runs, the events go into a stream of their own, with the time at which they happened; it is never short of packets.

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use crate::buffer::Buffer;
use crate::clock;
use crate::events::{EVENTS, Identified};
use crate::filter;
use crate::gate::gate;
use crate::recording::Recording;

/// An event that happened.
#[derive(Debug)]
struct Remembered {
    event: u16,
    time: u64,
    /// Thread id and name; the process is always the one that records.
    context: [u8; 32],
    payload: Box<[u8]>,
}

/// In the order of time, with gaps where something was dropped.
#[derive(Debug, Default)]
struct Store {
    events: Vec<Option<Remembered>>,
    places: HashMap<(u16, Box<[u8]>), usize>,
    gaps: usize,
}

struct Guarded(UnsafeCell<Option<Store>>);
// SAFETY: used only with the gate's memory lock held.
unsafe impl Sync for Guarded {}
static STORE: Guarded = Guarded(UnsafeCell::new(None));
/// The store is being changed: a child that was forked now, behind the back of the handlers, cannot use its copy.
static IS_CHANGING: AtomicBool = AtomicBool::new(false);

/// Runs with the lock held. The caller is marked as inside the tracer.
fn with_store<R>(work: impl FnOnce(&mut Store) -> R) -> R {
    gate().memory.with(|| {
        // SAFETY: the lock is held.
        let store = unsafe { &mut *STORE.0.get() };
        let is_torn = IS_CHANGING.swap(true, Ordering::Relaxed);
        // The copy that a child gets is made by the kernel at any moment: in it no change may come before the flag, nor the end of the flag
        // before a change. Compilers and processors would be free to do so.
        fence(Ordering::Release);
        if is_torn {
            // Its memory may be in any state: it is not even freed.
            std::mem::forget(store.take());
        }
        let result = work(store.get_or_insert_default());
        IS_CHANGING.store(false, Ordering::Release);
        result
    })
}

/// Keeps an event, and records it if a recording runs.
pub(crate) fn remember(event: u16, context: [u8; 32], payload: &[u8]) {
    with_store(|store| {
        let time = clock::monotonic();
        store.keep(Remembered {
            event,
            time,
            context,
            payload: payload.into(),
        });
        // SAFETY: recordings are never freed.
        let recording = unsafe { gate().recording.load(Ordering::Acquire).as_ref() };
        if let Some(recording) = recording.filter(|_| gate().is_recorded(event)) {
            record(recording, event, time, &context, payload);
        }
        if let Some(recording) = recording.filter(|recording| filter::is_any(&recording.filters)) {
            store.filter(recording);
        }
    });
}

/// Entities of these events whose first field is this address no longer exist.
pub(crate) fn forget(events: &[u16], address: u64) {
    let address = address.to_ne_bytes();
    with_store(|store| {
        for event in events {
            match EVENTS[usize::from(*event)].identified {
                Identified::ByFirstField => {
                    let key: Box<[u8]> = Box::new(address);
                    if let Some(place) = store.places.remove(&(*event, key)) {
                        store.events[place] = None;
                        store.gaps += 1;
                    }
                }
                Identified::ByAll => store.forget_all(*event, 0, &address),
            }
        }
        store.close_gaps();
    });
}

/// Entities of this event, which is identified by all of its fields, whose second field is this address no longer exist.
pub(crate) fn forget_owned(event: u16, owner: u64) {
    with_store(|store| {
        store.forget_all(event, 8, &owner.to_ne_bytes());
        store.close_gaps();
    });
}

/// How many events are kept.
pub(crate) fn count() -> u64 {
    with_store(|store| (store.events.len() - store.gaps) as u64)
}

/// Begins a recording with everything that is remembered. `begin` gets the time of the oldest event, and makes the recording
/// under the same lock, so that no event is written twice or not at all.
pub(crate) fn replay_into(
    begin: impl FnOnce(u64) -> Result<&'static Recording, i32>,
    publish: impl FnOnce(&'static Recording),
) -> Result<&'static Recording, i32> {
    with_store(|store| {
        let first = store.events.iter().flatten().next();
        let recording = begin(first.map_or_else(clock::monotonic, |event| event.time))?;
        if filter::is_any(&recording.filters) {
            store.filter(recording);
        } else {
            filter::open();
        }
        publish(recording);
        for event in store.events.iter_mut().flatten() {
            // The thread may have been one of a parent process.
            event.context[0..4].copy_from_slice(&(recording.process as i32).to_ne_bytes());
            if gate().is_recorded(event.event) {
                record(
                    recording,
                    event.event,
                    event.time,
                    &event.context,
                    &event.payload,
                );
            }
        }
        Ok(recording)
    })
}

/// Events that found no buffer are counted in this stream, which always exists.
pub(crate) fn account_for_lost(recording: &Recording) {
    let lost = recording.lost.load(Ordering::Relaxed);
    if lost > 0 {
        gate().memory.with(|| {
            recording.lost.fetch_sub(lost, Ordering::Relaxed);
            let buffer = recording.initialisation.load(Ordering::Acquire);
            // SAFETY: the lock is held, and the buffer exists until the recording is closed.
            if let Some(buffer) = unsafe { buffer.as_mut() } {
                buffer.account(clock::monotonic(), lost);
            }
        });
    }
}

/// Ends the stream of initialisation.
pub(crate) fn close(recording: &Recording) {
    gate().memory.with(|| {
        let buffer = recording.initialisation.load(Ordering::Acquire);
        if !buffer.is_null() {
            // SAFETY: the lock is held; the file is cut behind what was used, and the buffer stays for those who count.
            unsafe { Buffer::close(buffer, recording) };
        }
    });
}

/// Writes an event into the stream of initialisation. The lock is held.
fn record(recording: &Recording, event: u16, time: u64, context: &[u8; 32], payload: &[u8]) {
    // SAFETY: the lock is held, and the buffer exists until the recording is closed.
    let Some(buffer) = (unsafe { recording.initialisation.load(Ordering::Acquire).as_mut() })
    else {
        return;
    };
    // This stream makes its own files when it needs them: initialisation is rare and must not be lost.
    // SAFETY: the lock is held, so nobody else supplies this buffer.
    unsafe { Buffer::supply(buffer, recording) };
    // Long texts come last: where packets are small they lose their end, which is better than the whole event.
    let size = payload.len().min(buffer.largest_payload());
    if let Some(reserved) = buffer.reserve(event, time, context, size) {
        // SAFETY: there is room for so much of the payload.
        unsafe {
            reserved.at.copy_from_nonoverlapping(payload.as_ptr(), size);
            if size < payload.len() {
                reserved.at.add(size - 1).write(0);
            }
        };
        buffer.commit(time, reserved);
    }
}

impl Store {
    /// Finds out which entities the recording does not want.
    fn filter(&self, recording: &Recording) {
        let remembered = self.events.iter().flatten();
        let remembered = remembered.map(|event| (event.event, &*event.payload));
        filter::apply(&recording.filters, remembered);
    }

    fn keep(&mut self, event: Remembered) {
        // What identifies the entity: its address, or all that is said of it.
        let identity: &[u8] = match EVENTS[usize::from(event.event)].identified {
            Identified::ByFirstField => &event.payload[..event.payload.len().min(8)],
            Identified::ByAll => &event.payload,
        };
        let key = (event.event, identity.into());
        let place = self.events.len();
        if let Some(before) = self.places.insert(key, place) {
            self.events[before] = None;
            self.gaps += 1;
        }
        self.events.push(Some(event));
        self.close_gaps();
    }

    /// Drops all events of this kind that have these bytes at this place.
    fn forget_all(&mut self, event: u16, at: usize, bytes: &[u8]) {
        self.places.retain(|(kept, payload), place| {
            let is_gone = *kept == event
                && (payload.get(at..)).is_some_and(|payload| payload.starts_with(bytes));
            if is_gone {
                self.events[*place] = None;
                self.gaps += 1;
            }
            !is_gone
        });
    }

    /// Now and then, so that the store is not longer than twice what it holds.
    fn close_gaps(&mut self) {
        if self.gaps < 64 || self.gaps * 2 < self.events.len() {
            return;
        }
        let mut new_places = Vec::with_capacity(self.events.len());
        let mut next = 0;
        for event in &self.events {
            new_places.push(next);
            next += usize::from(event.is_some());
        }
        self.events.retain(Option::is_some);
        for place in self.places.values_mut() {
            *place = new_places[*place];
        }
        self.gaps = 0;
    }
}
