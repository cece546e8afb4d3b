//! Work on many items at the same time, with the results taken in order.
//!
//! A worker hands its result over piece by piece. Pieces of the item whose turn it is are taken at once; workers on later items
//! go on until their share of the waiting pieces is used up. So memory is bounded whatever the size of an
//! item, and the pieces' buffers are used again.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard};

/// Pieces that may wait for their turn, all threads together.
const WAITING: usize = 48;

struct Shared<P> {
    next_item: usize,
    /// The item whose pieces are taken now.
    turn: usize,
    pieces: BTreeMap<usize, VecDeque<P>>,
    /// Items whose last piece was handed over.
    finished: BTreeMap<usize, ()>,
    spare: Vec<P>,
    stopped: bool,
}

/// Where a worker hands over the pieces of one item.
pub(crate) struct Outlet<'s, P> {
    shared: &'s Mutex<Shared<P>>,
    changed: &'s Condvar,
    item: usize,
    /// Pieces of this item that may wait.
    share: usize,
}

impl<P: Default> Outlet<'_, P> {
    /// Hands over a piece, when there is room, and returns an empty or used one; nothing if nobody wants more.
    pub(crate) fn send(&self, piece: P) -> Option<P> {
        let mut guard = lock(self.shared);
        while !guard.stopped
            && guard
                .pieces
                .get(&self.item)
                .is_some_and(|pieces| pieces.len() >= self.share)
        {
            guard = wait(self.changed, guard);
        }
        if guard.stopped {
            return None;
        }
        guard.pieces.entry(self.item).or_default().push_back(piece);
        self.changed.notify_all();
        Some(guard.spare.pop().unwrap_or_default())
    }
}

/// Runs `work` on every item on so many threads (0: as many as there are processors) and hands the pieces to `take`
/// on this thread, in the order of the items, until it breaks or fails.
pub(crate) fn ordered<I: Clone + Sync, S, P: Default + Send>(
    items: Vec<I>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I, &Outlet<'_, P>) + Sync,
    mut take: impl FnMut(&P) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let threads = if threads == 0 {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        threads
    };
    let threads = threads.min(items.len()).max(1);
    let share = (WAITING / threads).max(2);
    let shared = Mutex::new(Shared {
        next_item: 0,
        turn: 0,
        pieces: BTreeMap::new(),
        finished: BTreeMap::new(),
        spare: Vec::new(),
        stopped: false,
    });
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        let worker = || {
            let mut state = state();
            while let Some(item) = claim(&shared, &changed, items.len(), threads * 2) {
                let outlet = Outlet {
                    shared: &shared,
                    changed: &changed,
                    item,
                    share,
                };
                // Also a worker that panics has finished its item: nobody shall wait for it forever.
                let finish = Finish { outlet: &outlet };
                work(&mut state, items[item].clone(), finish.outlet);
            }
        };
        for number in 0..threads {
            // Fewer than wanted will do, where a user or a container may have no more; without any nothing would come.
            match std::thread::Builder::new().spawn_scoped(scope, worker) {
                Err(error) if number == 0 => {
                    return Err(io::Error::other(format!(
                        "no thread can be started: {error}"
                    )));
                }
                Err(_) => break,
                Ok(_) => {}
            }
        }
        let mut result = Ok(());
        while let Some(piece) = next_piece(&shared, &changed, items.len()) {
            let flow = take(&piece);
            lock(&shared).spare.push(piece);
            match flow {
                Ok(ControlFlow::Continue(())) => continue,
                Ok(ControlFlow::Break(())) => {}
                Err(error) => result = Err(error),
            }
            break;
        }
        lock(&shared).stopped = true;
        changed.notify_all();
        result
    })
}

struct Finish<'o, 's, P> {
    outlet: &'o Outlet<'s, P>,
}

impl<P> Drop for Finish<'_, '_, P> {
    fn drop(&mut self) {
        lock(self.outlet.shared)
            .finished
            .insert(self.outlet.item, ());
        self.outlet.changed.notify_all();
    }
}

/// The next item to work on, when it is near enough to its turn.
fn claim<P>(
    shared: &Mutex<Shared<P>>,
    changed: &Condvar,
    items: usize,
    ahead: usize,
) -> Option<usize> {
    let mut guard = lock(shared);
    loop {
        if guard.stopped || guard.next_item >= items {
            return None;
        }
        if guard.next_item < guard.turn + ahead {
            guard.next_item += 1;
            return Some(guard.next_item - 1);
        }
        guard = wait(changed, guard);
    }
}

/// The next piece in the order of the items; nothing behind the last one.
fn next_piece<P>(shared: &Mutex<Shared<P>>, changed: &Condvar, items: usize) -> Option<P> {
    let mut guard = lock(shared);
    while guard.turn < items {
        let turn = guard.turn;
        if let Some(piece) = guard.pieces.get_mut(&turn).and_then(VecDeque::pop_front) {
            changed.notify_all();
            return Some(piece);
        }
        if guard.finished.remove(&turn).is_some() {
            guard.pieces.remove(&turn);
            guard.turn += 1;
            changed.notify_all();
        } else {
            guard = wait(changed, guard);
        }
    }
    None
}

fn wait<'g, P>(changed: &Condvar, guard: MutexGuard<'g, Shared<P>>) -> MutexGuard<'g, Shared<P>> {
    changed
        .wait(guard)
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A thread that panicked has left the lists as they were: the others can go on.
fn lock<P>(shared: &Mutex<Shared<P>>) -> MutexGuard<'_, Shared<P>> {
    shared
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items of very different sizes, handed over number by number.
    fn run(threads: usize, most: usize) -> Vec<(usize, usize)> {
        let mut taken = Vec::new();
        let items: Vec<usize> = (0..40).collect();
        let size = |item: usize| if item % 7 == 3 { 300 } else { item % 4 };
        let result = ordered(
            items,
            threads,
            || (),
            |(), item, outlet: &Outlet<'_, (usize, usize)>| {
                for number in 0..size(item) {
                    if outlet.send((item, number)).is_none() {
                        break;
                    }
                }
            },
            |piece| {
                taken.push(*piece);
                Ok(if taken.len() < most {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            },
        );
        assert!(result.is_ok());
        taken
    }

    #[test]
    fn pieces_come_in_the_order_of_their_items_whatever_the_threads() {
        let alone = run(1, usize::MAX);
        assert!(alone.is_sorted());
        assert!(alone.len() > 1500);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads, usize::MAX), alone);
        }
    }

    #[test]
    fn who_stops_early_waits_for_nobody() {
        assert_eq!(run(4, 5).len(), 5);
    }

    #[test]
    fn an_error_ends_the_work() {
        let result = ordered(
            vec![1, 2, 3],
            2,
            || (),
            |(), item, outlet: &Outlet<'_, i32>| {
                outlet.send(item);
            },
            |_| Err(io::Error::other("no room")),
        );
        assert_eq!(result.unwrap_err().to_string(), "no room");
    }
}
