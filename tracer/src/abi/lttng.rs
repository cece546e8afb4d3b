//! Whether LTTng records an event: the number that its own tracepoints look at before they do anything.
//!
//! Calls are passed on to a libtracetools with LTTng in it for the case that somebody records with that, too. Mostly nobody does, and then
//! this number saves the call.

use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::AtomicI32;

use crate::dl::loaded::{self, Library};

/// `struct lttng_ust_tracepoint` of LTTng-UST 2.13 and later, as far as all its versions have it.
#[derive(Debug)]
#[repr(C)]
struct Tracepoint {
    size: u32,
    provider: *const c_char,
    event: *const c_char,
    state: AtomicI32,
}

/// Not 0 while an event of this library is recorded. None if it is not known where that is said: then every call is passed on.
pub(crate) fn state(library: &Library, event: &str) -> Option<&'static AtomicI32> {
    let symbol = CString::new(format!("lttng_ust_tracepoint_ros2___{event}")).ok()?;
    let address = library.symbol(&symbol)?;
    // With two of this name it is not clear which one the functions look at.
    if loaded::first(&symbol).is_some_and(|first| first != address) {
        return None;
    }
    // SAFETY: a variable of that name is such a structure, or at least a number; nothing else is read until the size fits. Libraries
    // whose symbols were asked for stay loaded.
    let tracepoint = unsafe {
        if (*address.cast::<u32>() as usize) < size_of::<Tracepoint>() {
            return None;
        }
        &*address.cast::<Tracepoint>()
    };
    let is_text = |text: *const c_char, wanted: &str| {
        // SAFETY: LTTng has texts there that end with a zero.
        !text.is_null() && unsafe { CStr::from_ptr(text) }.to_bytes() == wanted.as_bytes()
    };
    (is_text(tracepoint.provider, "ros2") && is_text(tracepoint.event, event))
        .then_some(&tracepoint.state)
}
