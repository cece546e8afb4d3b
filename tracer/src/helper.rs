//! The helper thread: makes files ready before they are needed. It exists only while something is recorded.

use std::ptr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::recording::Recording;
use crate::{futex, gate, memory, process};

/// While packets are used up quickly.
const AT_ONCE: Duration = Duration::from_micros(250);
/// While packets are used.
const SOON: Duration = Duration::from_millis(2);
/// While nothing much happens.
const LATER: Duration = Duration::from_millis(20);
/// So many rounds without a used packet are nothing much.
const QUIET_ROUNDS: u32 = 50;

/// Starts the thread with all signals blocked, so that no handler of the application ever runs on it.
pub(crate) fn start(recording: &'static Recording) -> Result<(), i32> {
    // SAFETY: attributes and signal sets are initialised before use and live during the calls; the argument lives for ever.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_attr_setstacksize(&mut attributes, 256 << 10);
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let mut thread: libc::pthread_t = std::mem::zeroed();
        let result = libc::pthread_create(
            &mut thread,
            &attributes,
            run,
            ptr::from_ref(recording).cast_mut().cast(),
        );
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        libc::pthread_attr_destroy(&mut attributes);
        match result {
            0 => Ok(()),
            error => Err(error),
        }
    }
}

extern "C" fn run(recording: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `start` passed a recording, which is never freed; the name ends with a zero.
    let recording = unsafe {
        libc::prctl(libc::PR_SET_NAME, c"rostrace".as_ptr());
        &*recording.cast::<Recording>()
    };
    let mut quiet = 0;
    while !recording.is_stopping.load(Ordering::Acquire) {
        let kick = recording.kick.load(Ordering::Acquire);
        let used = recording.supply();
        quiet = if used == 0 { quiet + 1 } else { 0 };
        memory::account_for_lost(recording);
        process::report(recording);
        if gate::ordered() != gate::gate().generation.load(Ordering::Acquire) {
            // A process without events would not notice the end of the recording.
            process::catch_up();
            continue;
        }
        let pause = match used {
            2.. => AT_ONCE,
            _ if quiet > QUIET_ROUNDS => LATER,
            _ => SOON,
        };
        futex::wait(&recording.kick, kick, Some(pause));
        if recording.kick.load(Ordering::Relaxed) != kick {
            quiet = 0;
        }
    }
    memory::account_for_lost(recording);
    memory::close(recording);
    process::report(recording);
    recording.close(true);
    process::note_writing(-1);
    ptr::null_mut()
}
