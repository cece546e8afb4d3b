//! Independent pieces of work on all processors, in no order; the first error stops the rest.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does all pieces. `work` is told when another piece has failed, so that it can stop.
pub(crate) fn all<T: Sync, R: Send>(
    pieces: &[T],
    work: impl Fn(&T, &AtomicBool) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results = Mutex::new((Vec::new(), None));
    let thread = || {
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = work(piece, &failed);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            match done {
                Ok(result) => results.0.push(result),
                Err(error) => {
                    results.1.get_or_insert(error);
                    failed.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(pieces.len()) {
            scope.spawn(thread);
        }
    });
    match results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, Some(error)) => Err(error),
        (results, None) => Ok(results),
    }
}
