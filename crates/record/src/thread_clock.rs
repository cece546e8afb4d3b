//! What it costs a thread to read its CPU clock as the tracer does where context switches are refused: twice for each execution of a
//! callback.

use std::time::{Duration, Instant};

/// So often it is tried: some ten thousandths of a second.
const TRIES: u32 = 200;

/// Of one reading; None if the system refuses it.
pub(crate) fn cost() -> Option<Duration> {
    let begin = Instant::now();
    for _ in 0..TRIES {
        // SAFETY: zeroes are a valid value of both, and the kernel writes no more than they hold.
        let is_read = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let mut time: libc::timespec = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage) == 0
                && libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) == 0
        };
        if !is_read {
            return None;
        }
    }
    Some(begin.elapsed() / TRIES)
}
