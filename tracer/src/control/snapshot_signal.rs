//! The signal by which a recorded process asks for a snapshot of the flight recorder, if the recorder was told to allow one.
//!
//! An application that does anything with the signal keeps it: we take it only while its action is the default one, which would end the
//! process, and give it back when it comes while nothing is recorded any more. The handler adds one to a number; the recorder makes the copy.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use rostrace_session::Memory;

use crate::control::gate;

/// The signal that we handle, 0 for none.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

/// Takes the signal if nobody else has it. Allowed in a signal handler. Others than those that are for applications are not touched, whatever the command says.
pub(crate) fn catch(signal: u8) {
    let signal = c_int::from(signal);
    if CAUGHT.load(Ordering::Relaxed) == signal {
        return;
    }
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

/// Runs in the middle of anything. When nothing is recorded any more, it gives the signal back, and lets it do what it would have done.
extern "C" fn ask(signal: c_int) {
    let is_recording =
        |memory: &&Memory| memory.header().recording.epoch.load(Ordering::Acquire) != 0;
    if let Some(memory) = gate::memory().filter(is_recording) {
        let requests = &memory.header().reports.snapshot_requests;
        requests.fetch_add(1, Ordering::Release);
        return;
    }
    CAUGHT.store(0, Ordering::Relaxed);
    // SAFETY: a structure of zeroes is the default action; the calls are allowed in handlers. The signal is blocked here, and comes when
    // this returns.
    unsafe {
        let action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, &action, std::ptr::null_mut());
        libc::raise(signal);
    }
}
