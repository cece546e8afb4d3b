//! From arguments to bytes: how an event is written, and its fields.

use std::ffi::{c_char, c_void};

use crate::control::gate;
use crate::ring::{clock, thread};
use crate::{events, hooks, statedump};

/// Longer texts are cut: an event has to fit into a packet.
const LONGEST_TEXT: usize = 1023;
/// Names of C++ templates are longer than any other text.
const LONGEST_SYMBOL: usize = LARGEST - 64;
/// More elements are not recorded.
const MOST_ELEMENTS: usize = 128;
/// Room for the payload of an event of initialisation.
const LARGEST: usize = 16 << 10;

/// Writes an event into the stream of this thread. `size` is what `fill` writes.
#[inline(always)]
pub(crate) fn event(event: u16, size: usize, fill: impl FnOnce(Payload)) {
    let Some(memory) = gate::memory() else {
        return;
    };
    let Some(mut inside) = thread::enter(memory) else {
        return;
    };
    let Some((writer, context)) = inside.writer() else {
        return;
    };
    let now = clock::monotonic();
    if let Some(reserved) = writer.reserve(memory, event, now, context, size) {
        fill(Payload { at: reserved.at });
        writer.commit(now, reserved);
    }
}

/// The same for an event that happened a little before, and after everything that this thread has written.
pub(crate) fn event_of(event: u16, time: u64, size: usize, fill: impl FnOnce(Payload)) {
    let Some(memory) = gate::memory() else {
        return;
    };
    let Some(mut inside) = thread::enter(memory) else {
        return;
    };
    let Some((writer, context)) = inside.writer() else {
        return;
    };
    // A signal handler may have written an event meanwhile: times never go back in a stream.
    let time = time.max(writer.last_time());
    if let Some(reserved) = writer.reserve(memory, event, time, context, size) {
        fill(Payload { at: reserved.at });
        writer.commit(time, reserved);
    }
}

/// Remembers an event; if something is recorded, the keeper finds it there.
pub(crate) fn initialisation(event: u16, size: usize, fill: impl FnOnce(Payload)) {
    let Some(memory) = gate::memory() else {
        return;
    };
    let Some(inside) = thread::enter(memory) else {
        return;
    };
    // In the middle of another event, which may hold the lock.
    if inside.is_nested() || size > LARGEST {
        inside.lose(1);
        return;
    }
    thread::undisturbed(|| {
        let context = inside.fresh_context();
        statedump::keep(memory, event, &context, size, |at| fill(Payload { at }));
    });
    drop(inside);
    if event == events::RCL_NODE_INIT {
        // The middleware was loaded by then.
        thread::undisturbed(hooks::survey);
    }
}

/// A place to which fields are written one after the other.
#[derive(Debug)]
pub(crate) struct Payload {
    at: *mut u8,
}

/// A text with its length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    bytes: *const u8,
    length: usize,
}

impl Text {
    /// What C calls null is recorded as LTTng does.
    ///
    /// # Safety
    /// The text is null, or ends with a zero and lives as long as the result.
    pub(crate) unsafe fn of(text: *const c_char) -> Text {
        // SAFETY: as the caller promises.
        unsafe { Text::up_to(text, LONGEST_TEXT) }
    }

    /// The symbol of a callback, which is the last field of its event: it is cut again where packets are small.
    ///
    /// # Safety
    /// As for [`of`](Self::of).
    pub(crate) unsafe fn of_symbol(text: *const c_char) -> Text {
        // SAFETY: as the caller promises.
        unsafe { Text::up_to(text, LONGEST_SYMBOL) }
    }

    /// # Safety
    /// As for [`of`](Self::of).
    unsafe fn up_to(text: *const c_char, longest: usize) -> Text {
        if text.is_null() {
            return Text::from_bytes(b"(null)");
        }
        // SAFETY: as the caller promises.
        let length = thread::at_work(|| unsafe { libc::strnlen(text, longest) });
        Text {
            bytes: text.cast(),
            length,
        }
    }

    /// Up to the first zero, which would end the text for readers.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Text {
        let longest = &bytes[..bytes.len().min(LONGEST_TEXT)];
        let length = longest.iter().position(|byte| *byte == 0);
        Text {
            bytes: bytes.as_ptr(),
            length: length.unwrap_or(longest.len()),
        }
    }

    /// With the zero at the end.
    pub(crate) fn size(self) -> usize {
        self.length + 1
    }
}

/// # Safety
/// Of all methods: there is room for what is written.
impl Payload {
    #[inline(always)]
    unsafe fn put<T>(mut self, value: T) -> Payload {
        // SAFETY: as the caller promises.
        unsafe {
            self.at.cast::<T>().write_unaligned(value);
            self.at = self.at.add(size_of::<T>());
        }
        self
    }

    unsafe fn put_bytes(mut self, bytes: *const u8, count: usize) -> Payload {
        // SAFETY: as the caller promises.
        unsafe {
            self.at.copy_from_nonoverlapping(bytes, count);
            self.at = self.at.add(count);
        }
        self
    }

    #[inline(always)]
    pub(crate) unsafe fn pointer(self, value: *const c_void) -> Payload {
        // SAFETY: as the caller promises.
        unsafe { self.put(value as u64) }
    }

    #[inline(always)]
    pub(crate) unsafe fn unsigned(self, value: u64) -> Payload {
        // SAFETY: as the caller promises.
        unsafe { self.put(value) }
    }

    #[inline(always)]
    pub(crate) unsafe fn signed(self, value: i64) -> Payload {
        // SAFETY: as the caller promises.
        unsafe { self.put(value) }
    }

    #[inline(always)]
    pub(crate) unsafe fn flag(self, value: bool) -> Payload {
        // SAFETY: as the caller promises.
        unsafe { self.put(i32::from(value)) }
    }

    pub(crate) unsafe fn real(self, value: f64) -> Payload {
        // SAFETY: as the caller promises.
        unsafe { self.put(value) }
    }

    pub(crate) unsafe fn text(self, text: Text) -> Payload {
        // SAFETY: as the caller promises.
        unsafe { self.put_bytes(text.bytes, text.length).put(0_u8) }
    }

    /// Null becomes zeroes.
    pub(crate) unsafe fn gid(mut self, gid: *const u8, bytes: usize) -> Payload {
        if gid.is_null() {
            // SAFETY: as the caller promises.
            unsafe {
                self.at.write_bytes(0, bytes);
                self.at = self.at.add(bytes);
            }
            return self;
        }
        // SAFETY: as the caller promises.
        unsafe { self.put_bytes(gid, bytes) }
    }

    /// How many elements of an array are recorded.
    pub(crate) fn count<T>(array: *const T, count: usize) -> usize {
        if array.is_null() {
            0
        } else {
            count.min(MOST_ELEMENTS)
        }
    }

    /// Length and elements; `count` comes from [`count`](Self::count).
    pub(crate) unsafe fn pointers(self, array: *const *const c_void, count: usize) -> Payload {
        // SAFETY: as the caller promises.
        unsafe {
            let payload = self.put(count as u64);
            if count == 0 {
                return payload;
            }
            payload.put_bytes(array.cast(), count * size_of::<u64>())
        }
    }

    /// Length of a sequence whose elements follow.
    pub(crate) unsafe fn length(self, count: usize) -> Payload {
        // SAFETY: as the caller promises.
        unsafe { self.put(count as u64) }
    }
}
