//! A `/dev/shm` of our own, so that what is left there at the end is ours, whoever else records on this machine.

use std::ffi::CStr;

/// For this thread and whatever it starts from now on. Without the right to do so everything stays as it is, and the answer is `false`.
pub(super) fn with_own_shared_memory() -> bool {
    const SHARED_MEMORY: &CStr = c"/dev/shm";
    // SAFETY: all texts end with a zero.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                std::ptr::null(),
                c"/".as_ptr(),
                std::ptr::null(),
                libc::MS_REC | libc::MS_PRIVATE,
                std::ptr::null(),
            ) == 0
            && libc::mount(
                c"tmpfs".as_ptr(),
                SHARED_MEMORY.as_ptr(),
                c"tmpfs".as_ptr(),
                libc::MS_NOSUID | libc::MS_NODEV,
                c"mode=1777".as_ptr().cast(),
            ) == 0
    }
}
