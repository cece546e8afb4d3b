//! Condition variables: every wait for one is reported, and who notifies while somebody waits.
//!
//! Whether somebody waits is counted by address, because most notifications find nobody. Variables whose addresses differ by a multiple of the table's size share a count, and a thread that is
//! cancelled, or a parent process, leaves its count behind: all that this can do is to tell of notifications that woke nobody.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::caller::{Caller, interpose};
use crate::original::call;
use crate::{LockKind, tracer, waited};

static WAITING: [AtomicU32; 1024] = [const { AtomicU32::new(0) }; 1024];

fn waiting(condition: *const c_void) -> &'static AtomicU32 {
    // They are 48 bytes long, and aligned to eight.
    &WAITING[condition as usize / 8 % WAITING.len()]
}

/// Waits for a condition variable, which the caller's mutex guards.
///
/// # Safety
/// As the original.
unsafe fn wait(
    condition: *const c_void,
    caller: Caller,
    original: impl FnOnce() -> c_int,
) -> c_int {
    let waiting = waiting(condition);
    // Who notifies holds the same mutex, or did between now and the change that is waited for.
    waiting.fetch_add(1, Ordering::Relaxed);
    // SAFETY: as the caller promises.
    let result = unsafe { waited(LockKind::Condition, condition, 0, caller, original) };
    waiting.fetch_sub(1, Ordering::Relaxed);
    result
}

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn cond_wait(
    condition: *mut c_void,
    mutex: *mut c_void,
    caller: Caller,
) -> c_int {
    // SAFETY: the original gets what we got.
    unsafe {
        wait(
            condition,
            caller,
            || call!(COND_WAIT(condition => *mut c_void, mutex => *mut c_void)),
        )
    }
}

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn timedwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    limit: *const libc::timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the original gets what we got.
    unsafe {
        wait(condition, caller, || {
            call!(COND_TIMEDWAIT(
                condition => *mut c_void, mutex => *mut c_void, limit => *const libc::timespec
            ))
        })
    }
}

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn clockwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the original gets what we got.
    unsafe {
        wait(condition, caller, || {
            call!(COND_CLOCKWAIT(
                condition => *mut c_void,
                mutex => *mut c_void,
                clock => c_int,
                limit => *const libc::timespec
            ))
        })
    }
}

/// Told before it is done: whoever is woken may run at once.
fn notify(condition: *const c_void, all: bool, caller: Caller) {
    if waiting(condition).load(Ordering::Relaxed) != 0 {
        tracer::notify(condition, all, caller.address());
    }
}

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn signal(condition: *mut c_void, caller: Caller) -> c_int {
    notify(condition, false, caller);
    // SAFETY: the original gets what we got.
    unsafe { call!(COND_SIGNAL(condition => *mut c_void)) }
}

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn broadcast(condition: *mut c_void, caller: Caller) -> c_int {
    notify(condition, true, caller);
    // SAFETY: the original gets what we got.
    unsafe { call!(COND_BROADCAST(condition => *mut c_void)) }
}

interpose! {
    "pthread_cond_wait" => cond_wait;
    "pthread_cond_timedwait" => timedwait;
    "pthread_cond_clockwait" => clockwait;
    "pthread_cond_signal" => signal;
    "pthread_cond_broadcast" => broadcast;
}
