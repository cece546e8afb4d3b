//! A lock for the rare paths. It lies in memory that is zero after a fork, or is held by who forks, so a child never inherits it taken.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::futex;

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const WANTED: u32 = 2;

/// All zeroes is a free lock.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Lock(AtomicU32);

impl Lock {
    pub(crate) const fn new() -> Lock {
        Lock(AtomicU32::new(FREE))
    }

    /// Waits for the lock. Whoever holds it is marked busy (see `thread`), so a signal handler on the same thread never
    /// gets here.
    pub(crate) fn take(&self) {
        let mut state =
            match self
                .0
                .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(state) => state,
            };
        loop {
            if state != WANTED {
                state = self.0.swap(WANTED, Ordering::Acquire);
                if state == FREE {
                    return;
                }
            }
            futex::wait(&self.0, WANTED, None);
            state = self.0.swap(WANTED, Ordering::Acquire);
            if state == FREE {
                return;
            }
        }
    }

    pub(crate) fn release(&self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            futex::wake(&self.0);
        }
    }

    pub(crate) fn with<R>(&self, work: impl FnOnce() -> R) -> R {
        self.take();
        let result = work();
        self.release();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_thread_holds_the_lock() {
        static LOCK: Lock = Lock::new();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        LOCK.with(|| {
                            let seen = COUNT.load(Ordering::Relaxed);
                            COUNT.store(seen + 1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(COUNT.load(Ordering::Relaxed), 40_000);
    }
}
