//! Waiting for a word to change, within this process.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while the word has this value, at most for the given time. May return early.
pub(crate) fn wait(word: &AtomicU32, value: u32, longest: Option<Duration>) {
    let timeout = longest.map(|longest| libc::timespec {
        tv_sec: longest.as_secs() as libc::time_t,
        tv_nsec: longest.subsec_nanos().into(),
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word lives during the call, and the timeout is null or valid.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            timeout,
        )
    };
}

/// Wakes one thread that waits for the word.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: the word lives during the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        )
    };
}
