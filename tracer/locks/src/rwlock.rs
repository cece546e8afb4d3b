//! Locks that several threads may hold to read. As mutexes: what cannot wait is done first, and the original decides about everything else.

use std::ffi::{c_int, c_void};

use crate::caller::{Caller, interpose};
use crate::original::call;
use crate::{LockKind, PASSED, is_valid, owner, waited};

/// The three functions that wait for the same.
macro_rules! lock {
    (
        $kind:expr;
        $lock:ident = $try_original:ident, $original:ident;
        $timed:ident = $timed_original:ident;
        $clock:ident = $clock_original:ident;
    ) => {
        /// # Safety
        /// As the original.
        unsafe extern "C-unwind" fn $lock(lock: *mut c_void, caller: Caller) -> c_int {
            // SAFETY: the originals get what we got.
            unsafe {
                if call!($try_original(lock => *mut c_void)) == 0 {
                    return 0;
                }
                let owner = owner::of_rwlock(lock);
                waited($kind, lock, owner, caller, || call!($original(lock => *mut c_void)))
            }
        }

        /// # Safety
        /// As the original.
        unsafe extern "C-unwind" fn $timed(
            lock: *mut c_void,
            limit: *const libc::timespec,
            caller: Caller,
        ) -> c_int {
            // SAFETY: the originals get what we got, or another limit.
            unsafe {
                let wait = |limit: *const libc::timespec| {
                    call!($timed_original(lock => *mut c_void, limit => *const libc::timespec))
                };
                if !is_valid(limit) {
                    return wait(limit);
                }
                let tried = wait(&PASSED);
                if tried != libc::ETIMEDOUT {
                    return tried;
                }
                let owner = owner::of_rwlock(lock);
                waited($kind, lock, owner, caller, || wait(limit))
            }
        }

        /// # Safety
        /// As the original.
        unsafe extern "C-unwind" fn $clock(
            lock: *mut c_void,
            clock: c_int,
            limit: *const libc::timespec,
            caller: Caller,
        ) -> c_int {
            // SAFETY: the originals get what we got, or another limit.
            unsafe {
                let wait = |limit: *const libc::timespec| {
                    call!($clock_original(
                        lock => *mut c_void, clock => c_int, limit => *const libc::timespec
                    ))
                };
                if !is_valid(limit) {
                    return wait(limit);
                }
                let tried = wait(&PASSED);
                if tried != libc::ETIMEDOUT {
                    return tried;
                }
                let owner = owner::of_rwlock(lock);
                waited($kind, lock, owner, caller, || wait(limit))
            }
        }
    };
}

lock! {
    LockKind::ReadLock;
    rdlock = RWLOCK_TRYRDLOCK, RWLOCK_RDLOCK;
    timedrdlock = RWLOCK_TIMEDRDLOCK;
    clockrdlock = RWLOCK_CLOCKRDLOCK;
}

lock! {
    LockKind::WriteLock;
    wrlock = RWLOCK_TRYWRLOCK, RWLOCK_WRLOCK;
    timedwrlock = RWLOCK_TIMEDWRLOCK;
    clockwrlock = RWLOCK_CLOCKWRLOCK;
}

interpose! {
    "pthread_rwlock_rdlock" => rdlock;
    "pthread_rwlock_timedrdlock" => timedrdlock;
    "pthread_rwlock_clockrdlock" => clockrdlock;
    "pthread_rwlock_wrlock" => wrlock;
    "pthread_rwlock_timedwrlock" => timedwrlock;
    "pthread_rwlock_clockwrlock" => clockwrlock;
}
