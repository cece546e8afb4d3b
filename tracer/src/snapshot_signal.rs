//! The signal by which a recorded process asks for a snapshot of the flight recorder, if the recorder was told to allow one.
//!
//! An application that does anything with the signal keeps it: we take it only while its action is the default one, which would end the
//! process, and give it back when the recording ends. The handler adds one to a number; the recorder makes the copy.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::process;

/// The signal that we handle, 0 for none.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

/// Takes the signal if nobody else has it. Others than those that are for applications are not touched, whatever the order says.
pub(crate) fn catch(signal: u8) {
    let signal = c_int::from(signal);
    if !matches!(signal, libc::SIGUSR1 | libc::SIGUSR2) || action_of(signal) != libc::SIG_DFL {
        return;
    }
    // SAFETY: the structure is initialised, and the handler lives as long as the process: the library cannot be unloaded.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ask as extern "C" fn(c_int) as libc::sighandler_t;
        // System calls of the application go on as if nothing had happened.
        action.sa_flags = libc::SA_RESTART;
        if libc::sigaction(signal, &action, std::ptr::null_mut()) == 0 {
            CAUGHT.store(signal, Ordering::Relaxed);
        }
    }
}

/// Gives the signal back, unless the application has taken it meanwhile.
pub(crate) fn let_go() {
    let signal = CAUGHT.swap(0, Ordering::Relaxed);
    if signal != 0 && action_of(signal) == ask as extern "C" fn(c_int) as libc::sighandler_t {
        // SAFETY: a structure of zeroes is the default action.
        unsafe {
            let action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

fn action_of(signal: c_int) -> libc::sighandler_t {
    // SAFETY: the structure is filled in when the call succeeds; zeroes are a valid value.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        match libc::sigaction(signal, std::ptr::null(), &mut action) {
            0 => action.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

/// Runs in the middle of anything.
extern "C" fn ask(_: c_int) {
    process::ask_for_snapshot();
}
