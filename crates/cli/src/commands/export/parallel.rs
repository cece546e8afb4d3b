//! Independent pieces of work on all processors, in no order; the first error stops the rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does all pieces. `work` is told when another piece has failed, so that it can stop.
pub(crate) fn all<T: Sync, R: Send>(
    pieces: &[T],
    work: impl Fn(&T, &AtomicBool) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let failed = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let results = rostrace_base::parallel::on_all_processors(pieces, |piece| {
        let keep = |error| {
            let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(error);
            failed.store(true, Ordering::Relaxed);
        };
        work(piece, &failed).map_err(keep).ok()
    });
    match first_error
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        Some(error) => Err(error),
        None => Ok(results.into_iter().flatten().collect()),
    }
}
