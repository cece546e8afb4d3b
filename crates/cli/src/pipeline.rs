//! Work on many items at the same time, with results taken in order.
//!
//! Threads work ahead of whoever takes the results, but not far: memory is bounded by a few results per thread, and their
//! buffers are used again.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard};

/// Results that may wait for their turn, per thread.
const AHEAD: usize = 3;

struct Shared<B> {
    next_item: usize,
    next_result: usize,
    finished: BTreeMap<usize, B>,
    spare: Vec<B>,
    stopped: bool,
}

/// Runs `work` on every item on so many threads (0: as many as there are processors) and hands the results to `take`
/// on this thread, in the order of the items, until it breaks or fails.
pub(crate) fn ordered<I: Clone + Sync, S, B: Default + Send>(
    items: Vec<I>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I, &mut B) + Sync,
    mut take: impl FnMut(&B) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let threads = if threads == 0 {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        threads
    };
    let threads = threads.min(items.len()).max(1);
    let window = threads * AHEAD;
    let shared = Mutex::new(Shared {
        next_item: 0,
        next_result: 0,
        finished: BTreeMap::new(),
        spare: Vec::new(),
        stopped: false,
    });
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut state = state();
                while let Some((number, mut buffer)) = claim(&shared, &changed, items.len(), window)
                {
                    work(&mut state, items[number].clone(), &mut buffer);
                    lock(&shared).finished.insert(number, buffer);
                    changed.notify_all();
                }
            });
        }
        let result = (0..items.len()).try_for_each(|number| {
            let buffer = result_of(&shared, &changed, number);
            let flow = take(&buffer);
            let mut guard = lock(&shared);
            guard.spare.push(buffer);
            guard.next_result = number + 1;
            drop(guard);
            changed.notify_all();
            match flow {
                Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
                Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        });
        lock(&shared).stopped = true;
        changed.notify_all();
        result.break_value().unwrap_or(Ok(()))
    })
}

/// The next item to work on, when it is near enough to its turn.
fn claim<B: Default>(
    shared: &Mutex<Shared<B>>,
    changed: &Condvar,
    items: usize,
    window: usize,
) -> Option<(usize, B)> {
    let mut guard = lock(shared);
    loop {
        if guard.stopped || guard.next_item >= items {
            return None;
        }
        if guard.next_item < guard.next_result + window {
            let number = guard.next_item;
            guard.next_item += 1;
            return Some((number, guard.spare.pop().unwrap_or_default()));
        }
        guard = changed
            .wait(guard)
            .unwrap_or_else(|poisoned| poisoned.into_inner());
    }
}

fn result_of<B>(shared: &Mutex<Shared<B>>, changed: &Condvar, number: usize) -> B {
    let mut guard = lock(shared);
    loop {
        if let Some(buffer) = guard.finished.remove(&number) {
            return buffer;
        }
        guard = changed
            .wait(guard)
            .unwrap_or_else(|poisoned| poisoned.into_inner());
    }
}

/// A thread that panicked has left the list of results as it was: the others can go on.
fn lock<B>(shared: &Mutex<Shared<B>>) -> MutexGuard<'_, Shared<B>> {
    shared
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
