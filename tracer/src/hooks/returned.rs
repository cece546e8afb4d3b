//! Objects of C++ that a function returns in memory because they have a destructor, however small they are.
//!
//! Where the caller says which memory differs: on x86-64 in an argument before all others, on AArch64 in a register that holds no
//! argument. C does the same for structures that are too large for registers, so that is what such a function is declared to return:
//! the compiler then knows the rule. It serves only to call; whoever is called must not write more than the object's own bytes.

use std::ffi::c_void;
use std::mem::MaybeUninit;

/// Room for an object of at most three words. Two words would be returned in registers on both platforms.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Returned(MaybeUninit<[*mut c_void; 3]>);

impl Returned {
    /// The object.
    ///
    /// # Safety
    /// The function returns a `T`, or a class whose members are those of `T`.
    pub(super) unsafe fn read<T>(self) -> T {
        const { assert!(size_of::<T>() <= size_of::<Returned>()) };
        const { assert!(align_of::<T>() <= align_of::<Returned>()) };
        // SAFETY: as the caller promises, the function has written one here.
        unsafe { (&raw const self.0).cast::<T>().read() }
    }
}
