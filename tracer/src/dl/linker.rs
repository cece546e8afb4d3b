//! Who forks while another thread asks the dynamic linker makes a child in which the linker is held for ever: glibc does not free all its
//! locks there. So a fork waits until nobody of us asks, and nobody begins to ask while somebody forks.
//!
//! Neither waits for long: who asks may itself wait for the thread that forks, if that is loading a library.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static LOOKING: AtomicU32 = AtomicU32::new(0);
static FORKING: AtomicU32 = AtomicU32::new(0);

const PAUSE: Duration = Duration::from_micros(100);
/// A tenth of a second; looking takes some hundred microseconds.
const PAUSES: u32 = 1000;

/// While it lives, a thread asks the linker.
#[derive(Debug)]
pub(crate) struct Looking;

impl Looking {
    pub(crate) fn begin() -> Looking {
        for _ in 0..PAUSES {
            // Either this thread sees that somebody forks, or who forks sees this thread.
            LOOKING.fetch_add(1, Ordering::SeqCst);
            if FORKING.load(Ordering::SeqCst) == 0 {
                return Looking;
            }
            LOOKING.fetch_sub(1, Ordering::SeqCst);
            std::thread::sleep(PAUSE);
        }
        LOOKING.fetch_add(1, Ordering::SeqCst);
        Looking
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) fn before_fork() {
    FORKING.fetch_add(1, Ordering::SeqCst);
    for _ in 0..PAUSES {
        if LOOKING.load(Ordering::SeqCst) == 0 {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

pub(crate) fn in_parent() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

/// The other threads are not there any more.
pub(crate) fn in_child() {
    FORKING.store(0, Ordering::SeqCst);
    LOOKING.store(0, Ordering::SeqCst);
}
