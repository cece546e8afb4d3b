//! Mutexes of all kinds. What cannot wait is done first, so that one which is free, or recursive and held by the caller, costs one call more. Anything but
//! success is left to the original to find out again: it alone knows what it returns for an error-checking or
//! priority-inheriting mutex. Robust ones are not tried (`owner::approach`).

use std::ffi::{c_int, c_void};

use crate::caller::{Caller, interpose};
use crate::original::call;
use crate::owner::{self, Approach};
use crate::{LockKind, PASSED, is_valid, waited};

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn lock(mutex: *mut c_void, caller: Caller) -> c_int {
    // SAFETY: the originals get what we got.
    unsafe {
        let wait = || call!(MUTEX_LOCK(mutex => *mut c_void));
        let owner = match owner::approach(mutex) {
            Approach::Try => {
                if call!(MUTEX_TRYLOCK(mutex => *mut c_void)) == 0 {
                    return 0;
                }
                owner::of_mutex(mutex)
            }
            Approach::Wait(owner) => owner,
            Approach::Leave => return wait(),
        };
        waited(LockKind::Mutex, mutex, owner, caller, wait)
    }
}

/// A wait with a limit. Here the original itself is tried, with a limit that has passed: what it refuses depends on more than the mutex.
///
/// # Safety
/// As the original, which `wait` calls.
#[inline(always)]
unsafe fn limited(
    mutex: *mut c_void,
    limit: *const libc::timespec,
    caller: Caller,
    wait: impl Fn(*const libc::timespec) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        if !is_valid(limit) {
            return wait(limit);
        }
        let owner = match owner::approach(mutex) {
            Approach::Try => {
                let tried = wait(&PASSED);
                if tried != libc::ETIMEDOUT {
                    return tried;
                }
                owner::of_mutex(mutex)
            }
            Approach::Wait(owner) => owner,
            Approach::Leave => return wait(limit),
        };
        waited(LockKind::Mutex, mutex, owner, caller, || wait(limit))
    }
}

/// # Safety
/// As the original.
unsafe extern "C-unwind" fn timedlock(
    mutex: *mut c_void,
    limit: *const libc::timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the originals get what we got, or another limit.
    unsafe {
        limited(
            mutex,
            limit,
            caller,
            |limit| call!(MUTEX_TIMEDLOCK(mutex => *mut c_void, limit => *const libc::timespec)),
        )
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
    // SAFETY: the originals get what we got, or another limit.
    unsafe {
        limited(mutex, limit, caller, |limit| {
            call!(MUTEX_CLOCKLOCK(
                mutex => *mut c_void, clock => c_int, limit => *const libc::timespec
            ))
        })
    }
}

interpose! {
    "pthread_mutex_lock" => lock;
    "pthread_mutex_timedlock" => timedlock;
    "pthread_mutex_clocklock" => clocklock;
}
