//! Which locks a thread had to wait for. A library of its own: only with `--locks` does a program call its locks through functions of ours.
//!
//! Each function first tries what cannot wait, which is all that an uncontended lock costs more. Only where that fails, it tells the tracer that a
//! wait begins and for whom (`owner`), calls the original (`original`), tells that the wait is over, and returns what the original
//! returned. The tracer is another library; where it is not loaded, nothing is reported (`tracer`).
//!
//! Nothing here takes a lock, allocates, or panics, and no frame has anything to clean up: threads are cancelled inside of waits.

#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

mod caller;
mod condition;
mod mutex;
mod original;
mod owner;
mod rwlock;
mod tracer;

use std::ffi::{c_int, c_void};

/// Before the program begins.
#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = load;

/// Asks the dynamic linker for everything before threads exist: later it may be held by one that waits for one of ours.
extern "C" fn load() {
    original::find_all();
    owner::probe();
}

/// What is waited for, as the events have it.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
enum LockKind {
    Mutex = 0,
    ReadLock = 1,
    WriteLock = 2,
    Condition = 3,
}

/// Waits by calling the original, and tells the tracer of it.
///
/// # Safety
/// As the original.
#[inline]
unsafe fn waited(
    kind: LockKind,
    lock: *const c_void,
    owner: i32,
    caller: caller::Caller,
    wait: impl FnOnce() -> c_int,
) -> c_int {
    tracer::wait_begin(lock, kind as c_int, owner, caller.address());
    let result = wait();
    tracer::wait_end(lock, result);
    result
}

/// A time that has passed, whatever the clock; before it are none that the kernel takes.
const PASSED: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// Whether a time limit is none that some functions refuse before they look at the lock, and others after.
///
/// # Safety
/// The limit is null, or can be read.
unsafe fn is_valid(limit: *const libc::timespec) -> bool {
    // SAFETY: as the caller promises.
    !limit.is_null() && (0..1_000_000_000).contains(&unsafe { (*limit).tv_nsec })
}
