//! Ctrl-C: the first one asks long work to stop at the next event, the second one ends the program at once.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::outcome::INTERRUPTED;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on Ctrl-C does not kill the program. If that cannot be arranged, it does, which is no reason to stop.
pub(crate) fn catch() {
    let requested = REQUESTED.get_or_init(Arc::default);
    // In this order: the shutdown looks at the flag before the same signal sets it.
    let _ = flag::register_conditional_shutdown(SIGINT, i32::from(INTERRUPTED), requested.clone());
    let _ = flag::register(SIGINT, requested.clone());
}

/// Whether Ctrl-C was pressed.
#[inline]
pub(crate) fn requested() -> bool {
    REQUESTED
        .get()
        .is_some_and(|requested| requested.load(Ordering::Relaxed))
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
