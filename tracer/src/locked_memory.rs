//! Programs that lock all their memory (`mlockall`), as those do that must never wait for a page: our memory, of which most is never used, would be
//! allocated and count against their limit. So what was not handed out is given up before, and the process is recorded with what is left.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use rostrace_session::memory::supply;

use crate::{gate, statedump, thread};

/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    thread::undisturbed(|| {
        // Once for each memory: what was given up may be the program's own by now.
        static DONE: AtomicU64 = AtomicU64::new(0);
        let incarnation = gate::incarnation();
        if let Some(memory) = gate::memory()
            && DONE.swap(incarnation, Ordering::AcqRel) != incarnation
        {
            supply::give_up_spare(memory);
            statedump::give_up_spare(Some(memory));
        }
    });
    // SAFETY: the name ends with a zero; the next function of that name takes the same argument, and without one there is the system call, which is
    // all that the C library does.
    unsafe {
        let original = libc::dlsym(libc::RTLD_NEXT, c"mlockall".as_ptr());
        match original.is_null() {
            true => libc::syscall(libc::SYS_mlockall, flags) as c_int,
            false => {
                std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(original)(flags)
            }
        }
    }
}
