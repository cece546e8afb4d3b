//! What the library for locks tells (`tracer/locks`): waits of a thread, and notifications of condition variables.
//!
//! Locks are no reason to attach: processes that have nothing to do with ROS have locks too. All of this may happen anywhere, in the
//! middle of an allocation or of the end of a thread; the way of an event allows that.

use std::ffi::{c_int, c_void};

use crate::control::gate;
use crate::events;
use crate::ring::emit;

/// Whether an event is recorded now, in a process that has attached.
fn records(event: u16) -> bool {
    !gate::is_unknown() && gate::may_want(event)
}

/// This thread begins to wait.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn rostrace_lock_wait_begin(
    lock: *const c_void,
    kind: c_int,
    owner: i32,
    caller: *const c_void,
) {
    let event = events::ROSTRACE_LOCK_WAIT_BEGIN;
    if records(event) {
        // SAFETY: the payload has the size that is said.
        emit::event(event, 32, |payload| unsafe {
            payload
                .pointer(lock)
                .unsigned(kind as u64)
                .signed(owner.into())
                .pointer(caller);
        });
    }
}

/// This thread waits no more.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn rostrace_lock_wait_end(lock: *const c_void, status: c_int) {
    let event = events::ROSTRACE_LOCK_WAIT_END;
    if records(event) {
        // SAFETY: the payload has the size that is said.
        emit::event(event, 16, |payload| unsafe {
            payload.pointer(lock).signed(status.into());
        });
    }
}

/// This thread notifies one or all that wait for a condition variable.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn rostrace_condition_notify(
    condition: *const c_void,
    all: bool,
    caller: *const c_void,
) {
    let event = events::ROSTRACE_CONDITION_NOTIFY;
    if records(event) {
        // SAFETY: the payload has the size that is said.
        emit::event(event, 20, |payload| unsafe {
            payload.pointer(condition).flag(all).pointer(caller);
        });
    }
}
