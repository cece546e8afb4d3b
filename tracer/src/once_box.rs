//! What is found out once, by whichever thread is first.
//!
//! No thread waits for another that is still looking: who looks into libraries may have to wait for the dynamic linker, and who holds that,
//! in the constructor of a library that is being loaded, may have an event. Several threads may look at the same time; all get what the
//! first of them found. A forked child never finds it half done.

use std::sync::atomic::{AtomicPtr, Ordering};

#[derive(Debug)]
pub(crate) struct OnceBox<T: 'static>(AtomicPtr<T>);

impl<T: Send + Sync> OnceBox<T> {
    pub(crate) const fn new() -> OnceBox<T> {
        OnceBox(AtomicPtr::new(std::ptr::null_mut()))
    }

    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or what was kept for ever below.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    pub(crate) fn get_or_init(&self, find: impl FnOnce() -> T) -> &'static T {
        if let Some(known) = self.get() {
            return known;
        }
        let mine = Box::into_raw(Box::new(find()));
        let none = std::ptr::null_mut();
        let first = self
            .0
            .compare_exchange(none, mine, Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: made by a box above: either kept for ever, or known to nobody else.
        unsafe {
            match first {
                Ok(_) => &*mine,
                Err(theirs) => {
                    drop(Box::from_raw(mine));
                    &*theirs
                }
            }
        }
    }
}
