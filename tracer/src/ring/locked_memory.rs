//! Programs that lock all their memory (`mlockall`), as those do that must never wait for a page: our memory, of which most is never used, would be
//! allocated, and count against their limit. So packets that were not handed out are closed before and opened after it, and taken out where
//! they are more than the process may lock.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use rostrace_session::Memory;
use rostrace_session::memory::locked::Spare;

use crate::control::gate;
use crate::ring::thread;
use crate::statedump;

/// The memory whose statedump has given up what it does not need: once, because that may be the program's own by now.
static TRIMMED: AtomicU64 = AtomicU64::new(0);
/// The memory that is without its spare packets, for now, or for good where somebody else has their place.
static TAKEN_OUT: AtomicU64 = AtomicU64::new(0);

/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    let spare = thread::undisturbed(shut);
    // SAFETY: as the caller promises.
    let mut result = unsafe { original(flags) };
    if let Some((memory, mut spare)) = spare {
        // SAFETY: only reads a number of this thread.
        if result != 0 && unsafe { *libc::__errno_location() } == libc::ENOMEM {
            thread::undisturbed(|| spare.take_out(memory));
            // SAFETY: as the caller promises; it has done nothing yet.
            result = unsafe { original(flags) };
        }
        thread::undisturbed(|| {
            if spare.put_back(memory) {
                TAKEN_OUT.store(0, Ordering::Release);
            }
        });
    }
    result
}

fn shut() -> Option<(&'static Memory, Spare)> {
    let memory = gate::memory()?;
    let incarnation = gate::incarnation();
    if TAKEN_OUT.swap(incarnation, Ordering::AcqRel) == incarnation {
        return None;
    }
    if TRIMMED.swap(incarnation, Ordering::AcqRel) != incarnation {
        statedump::give_up_spare(Some(memory));
    }
    Some((memory, Spare::shut(memory)))
}

/// # Safety
/// As the C library says.
unsafe fn original(flags: c_int) -> c_int {
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
