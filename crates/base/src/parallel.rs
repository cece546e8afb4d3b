//! Sharing work among threads. They take tasks from one list until it is empty; each keeps a state of its own, and the states are handed
//! back at the end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// How many threads are worth having for so many tasks; `wanted` 0 means one for each processor.
pub fn threads(wanted: usize, tasks: usize) -> usize {
    let wanted = if wanted == 0 {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        wanted
    };
    wanted.min(tasks).max(1)
}

/// Runs `work` on every task; `state` makes the state of a thread. Stops early when `work` returns false.
pub fn run<T: Sync, S: Send>(
    tasks: &[T],
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> bool + Sync,
) -> Vec<S> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let done = Mutex::new(Vec::new());
    let one = || {
        let mut state = state();
        while !stop.load(Ordering::Relaxed) {
            let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            if !work(&mut state, task) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        if let Ok(mut done) = done.lock() {
            done.push(state);
        }
    };
    with_help(threads, &one);
    done.into_inner().unwrap_or_default()
}

/// What `work` makes of each piece, in the order of the pieces; all processors share them.
pub fn on_all_processors<T: Sync, R: Send>(pieces: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(pieces.len()));
    let one = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(place) else {
                break;
            };
            let result = work(piece);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((place, result));
        }
    };
    with_help(threads(0, pieces.len()), &one);
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Does the same on this thread and on others, `threads` in all. Where the system grants no more threads, as users and
/// containers have limits, the work is done by fewer. If one panics, so does the caller: part of a result is none.
fn with_help(threads: usize, one: &(impl Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if Builder::new().spawn_scoped(scope, one).is_err() {
                break;
            }
        }
        one();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces() {
        let pieces: Vec<u64> = (0..1000).collect();
        let squares = on_all_processors(&pieces, |piece| piece * piece);
        assert_eq!(squares, pieces.iter().map(|it| it * it).collect::<Vec<_>>());
        assert!(on_all_processors(&[], |piece: &u64| *piece).is_empty());
    }

    #[test]
    fn a_panic_does_not_become_a_result_without_its_piece() {
        let pieces: Vec<u64> = (0..100).collect();
        let work = |piece: &u64| assert_ne!(*piece, 57);
        let result = std::panic::catch_unwind(|| on_all_processors(&pieces, work));
        assert!(result.is_err());
    }
}
