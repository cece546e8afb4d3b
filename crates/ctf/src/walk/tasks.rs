//! A [`Task`] is a run of packets of one stream that can be decoded without the others, so that threads can share them.

use std::ops::Range;

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
