//! Sharing the packets of a trace among threads.
//!
//! A [`Task`] is a run of packets of one stream that can be decoded without the others. Threads take tasks from one list
//! until it is empty; each keeps a state of its own, and the states are handed back at the end.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::trace::{StreamId, TraceSet};

/// Some packets of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) stream: StreamId,
    pub(crate) packets: Range<usize>,
    pub(crate) bytes: u64,
}

/// Large enough that taking a task costs nothing, small enough that no thread waits long for the last one.
const TASK_BYTES: u64 = 2 << 20;

/// The packets of all streams in tasks. A stream whose packets depend on each other is one task.
pub(crate) fn tasks(set: &TraceSet) -> Vec<Task> {
    let mut tasks = Vec::new();
    for id in set.streams() {
        let stream = set.stream(id);
        let mut task = Task {
            stream: id,
            packets: 0..0,
            bytes: 0,
        };
        for (number, packet) in stream.packets.iter().enumerate() {
            task.bytes += packet.size;
            task.packets.end = number + 1;
            if task.bytes >= TASK_BYTES && !stream.sequential {
                let next = Task {
                    stream: id,
                    packets: number + 1..number + 1,
                    bytes: 0,
                };
                tasks.push(std::mem::replace(&mut task, next));
            }
        }
        if !task.packets.is_empty() {
            tasks.push(task);
        }
    }
    // The longest first, so that one long stream does not begin when all others are done.
    tasks.sort_by_key(|task| std::cmp::Reverse(task.bytes > TASK_BYTES * 2));
    tasks
}

/// How many threads are worth having.
pub(crate) fn threads(wanted: usize, tasks: usize) -> usize {
    let wanted = if wanted == 0 {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        wanted
    };
    wanted.min(tasks).max(1)
}

/// Runs `work` on every task; `state` makes the state of a thread. Stops early when `work` returns false.
pub(crate) fn run<S: Send>(
    tasks: &[Task],
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &Task) -> bool + Sync,
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
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(one);
        }
        one();
    });
    done.into_inner().unwrap_or_default()
}
