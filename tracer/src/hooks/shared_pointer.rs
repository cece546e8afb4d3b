//! `std::shared_ptr` of libstdc++, as far as hooks need it. Its layout is part of that library's stable ABI.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::ring::thread;

/// Where the counter of owners is, behind the pointer to the virtual functions.
const OWNERS: usize = 8;

/// A `std::shared_ptr<T>`: passed to functions by address, because it has a destructor.
#[derive(Debug)]
#[repr(C)]
pub(super) struct SharedPointer {
    pub(super) object: *mut c_void,
    control: *mut c_void,
}

impl SharedPointer {
    /// Gives up the share that a function returned.
    ///
    /// # Safety
    /// Another owner exists for the time being: what is owned is never destroyed here.
    pub(super) unsafe fn let_go(self) {
        if !self.control.is_null() {
            thread::at_work(|| {
                // SAFETY: the counter is at this place in every control block of libstdc++.
                let owners = unsafe { &*self.control.byte_add(OWNERS).cast::<AtomicI32>() };
                owners.fetch_sub(1, Ordering::AcqRel);
            });
        }
    }
}
