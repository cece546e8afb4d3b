//! Ctrl-C: the first one asks long work to stop at the next event, the second one ends the program at once. And what has to be done before any signal
//! ends the program.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::outcome::INTERRUPTED;

/// How often Ctrl-C was pressed.
static PRESSED: AtomicU32 = AtomicU32::new(0);

/// Whether a thread ends the program when it has tidied up.
static TIDIES_UP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C does not kill the program. If that cannot be arranged, it does, which is no reason to stop.
pub(crate) fn catch() {
    // SAFETY: what is called may be called in the handler of a signal.
    let _ = unsafe {
        low_level::register(SIGINT, || {
            let before = PRESSED.fetch_add(1, Ordering::Relaxed);
            if before > 0 && !TIDIES_UP.load(Ordering::Relaxed) {
                low_level::exit(i32::from(INTERRUPTED));
            }
        })
    };
}

/// Whether Ctrl-C was pressed.
#[inline]
pub(crate) fn requested() -> bool {
    PRESSED.load(Ordering::Relaxed) > 0
}

/// Has this done before a signal ends the program that can be caught. If that cannot be arranged, it is not done.
pub(crate) fn at_any_end(tidy_up: fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let heeded = [SIGINT, SIGTERM, SIGHUP];
        let heeded = heeded.into_iter().filter(|signal| !is_ignored(*signal));
        let Ok(mut signals) = Signals::new(heeded) else {
            return;
        };
        let thread = std::thread::Builder::new().spawn(move || {
            for signal in signals.forever() {
                match signal {
                    SIGINT if PRESSED.load(Ordering::Relaxed) == 1 => {}
                    SIGINT => {
                        tidy_up();
                        low_level::exit(i32::from(INTERRUPTED));
                    }
                    signal => {
                        tidy_up();
                        let _ = low_level::emulate_default_handler(signal);
                    }
                }
            }
        });
        TIDIES_UP.store(thread.is_ok(), Ordering::Relaxed);
    });
}

/// Whether whoever started the program wants it to outlive a signal, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid value of this type, and the call only fills it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Ctrl-C ends what is written through this.
#[derive(Debug)]
pub(crate) struct Interruptible<W>(pub(crate) W);

impl<W: Write> Write for Interruptible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match requested() {
            true => Err(io::Error::other("stopped")),
            false => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
