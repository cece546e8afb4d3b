//! What rostrace's library for locks adds (`record --locks`): when a thread has to wait for a lock, and for whom.

macro_rules! lock {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// A thread begins to wait: for a lock that another thread holds, or for a condition variable.
LockWaitBegin = lock_wait_begin: Run, Libc, Locks {
    "rostrace:lock_wait_begin" since "rostrace 0.1";

    LOCK: Pointer = "The mutex, read-write lock or condition variable.";
    KIND: Unsigned = "0: a mutex; 1: a read-write lock, to read; 2: a read-write lock, to write; 3: a condition variable.";
    OWNER: Signed = "The thread that held the lock then; 0 if that is not known, and for condition variables.";
    CALLER: Pointer = "The code that waits.";
}

/// The wait that this thread began last is over.
LockWaitEnd = lock_wait_end: Run, Libc, Locks {
    "rostrace:lock_wait_end" since "rostrace 0.1";

    LOCK: Pointer = "The mutex, read-write lock or condition variable.";
    STATUS: Signed = "0, or an error number: 110 if there was a time limit, and it passed.";
}

/// A thread notifies those that wait for a condition variable; recorded only if a thread may be waiting.
ConditionNotify = condition_notify: Run, Libc, Locks {
    "rostrace:condition_notify" since "rostrace 0.1";

    CONDITION: Pointer = "The condition variable.";
    ALL: Flag = "1 when all that wait are notified, 0 when one of them is.";
    CALLER: Pointer = "The code that notifies.";
}

    } $($later)* } };
}

pub(super) use lock;
