//! A file of a trace that becomes shorter while it is read. Files are read through memory maps, so the kernel says it with a signal
//! in the middle of any computation, where nothing can go on: a sentence is all that is left to do, in place of "Bus error".

use signal_hook::consts::SIGBUS;
use signal_hook::low_level;

use crate::outcome::FAILED;

const SAID: &str = "rostrace: a file became shorter while it was read, or its disk failed; what was printed is not complete\n";

/// If it cannot be arranged the signal kills the program, as it would have anyway.
pub(crate) fn explain() {
    // SAFETY: writing and leaving are allowed in the handler of a signal.
    let _ = unsafe {
        low_level::register(SIGBUS, || {
            libc::write(libc::STDERR_FILENO, SAID.as_ptr().cast(), SAID.len());
            low_level::exit(i32::from(FAILED));
        })
    };
}
