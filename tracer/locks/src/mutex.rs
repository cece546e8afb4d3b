//! Mutexes of all kinds. What cannot wait is done first, so that one which is free, or recursive and held by the caller, costs one call more. Anything but
//! success is left to the original to find out again: it alone knows what it returns for an error-checking, robust or
//! priority-inheriting mutex.

use std::ffi::{c_int, c_void};

use crate::caller::{Caller, interpose};
use crate::original::call;
use crate::{Kind, PASSED, is_held, is_valid, owner, waited};

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn lock(mutex: *mut c_void, caller: Caller) -> c_int {
    // SAFETY: the originals get what we got.
    unsafe {
        let tried = call!(MUTEX_TRYLOCK(mutex => *mut c_void));
        if is_held(tried) {
            return tried;
        }
        let owner = owner::of_mutex(mutex);
        waited(Kind::Mutex, mutex, owner, caller, || {
            call!(MUTEX_LOCK(mutex => *mut c_void))
        })
    }
}

/// Here the original itself is tried, with a limit that has passed: what it refuses depends on more than the mutex.
///
/// # Safety
/// As the original.
unsafe extern "C-unwind" fn timedlock(
    mutex: *mut c_void,
    limit: *const libc::timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the originals get what we got, or another limit.
    unsafe {
        let wait = |limit: *const libc::timespec| {
            call!(MUTEX_TIMEDLOCK(mutex => *mut c_void, limit => *const libc::timespec))
        };
        if !is_valid(limit) {
            return wait(limit);
        }
        let tried = wait(&PASSED);
        if tried != libc::ETIMEDOUT {
            return tried;
        }
        let owner = owner::of_mutex(mutex);
        waited(Kind::Mutex, mutex, owner, caller, || wait(limit))
    }
}

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn clocklock(
    mutex: *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: as in `timedlock`.
    unsafe {
        let wait = |limit: *const libc::timespec| {
            call!(MUTEX_CLOCKLOCK(
                mutex => *mut c_void, clock => c_int, limit => *const libc::timespec
            ))
        };
        if !is_valid(limit) {
            return wait(limit);
        }
        let tried = wait(&PASSED);
        if tried != libc::ETIMEDOUT {
            return tried;
        }
        let owner = owner::of_mutex(mutex);
        waited(Kind::Mutex, mutex, owner, caller, || wait(limit))
    }
}

interpose! {
    "pthread_mutex_lock" => lock;
    "pthread_mutex_timedlock" => timedlock;
    "pthread_mutex_clocklock" => clocklock;
}
