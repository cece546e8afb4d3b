//! Ctrl-C: the first one asks long work to stop at the next event, the second one ends the program at once.

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
