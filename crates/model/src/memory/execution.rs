//! Which callbacks are being executed while memory is allocated.

use rostrace_ctf::schema::Nanos;
use rustc_hash::FxHashMap;

use super::heap::Effect;
use crate::Model;
use crate::entity::{InstanceId, ThreadId};

/// What was allocated and freed on the thread of a callback while it was executed, callbacks inside it included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceMemory {
    pub instance: InstanceId,
    pub allocations: u64,
    pub frees: u64,
    pub allocated_bytes: u64,
    pub freed_bytes: u64,
    /// Events were lost during the execution.
    pub uncertain: bool,
}

/// All executions, by thread. Those without an end are left out: nobody knows what was part of them.
#[derive(Debug)]
pub(super) struct Executions {
    of_thread: FxHashMap<ThreadId, OfThread>,
    pub(super) rows: FxHashMap<InstanceId, InstanceMemory>,
}

#[derive(Debug, Default)]
struct OfThread {
    /// In the order of their starts.
    all: Vec<(Nanos, Nanos, InstanceId)>,
    next: usize,
    open: Vec<(Nanos, InstanceId)>,
}

impl Executions {
    pub(super) fn new(model: &Model) -> Executions {
        let mut of_thread: FxHashMap<ThreadId, OfThread> = FxHashMap::default();
        for (number, row) in model.instances.iter().enumerate() {
            if let Some(end) = row.end {
                let list = of_thread.entry(row.thread).or_default();
                list.all.push((row.start, end, InstanceId::of(number)));
            }
        }
        for thread in of_thread.values_mut() {
            thread.all.sort_unstable();
        }
        Executions {
            of_thread,
            rows: FxHashMap::default(),
        }
    }

    /// Something happened on a thread; calls are in the order of time.
    pub(super) fn note(&mut self, thread: ThreadId, at: Nanos, effect: Effect) {
        let Some(of_thread) = self.of_thread.get_mut(&thread) else {
            return;
        };
        of_thread.open.retain(|(end, _)| *end >= at);
        while let Some((start, end, instance)) = of_thread.all.get(of_thread.next)
            && *start <= at
        {
            if *end >= at {
                of_thread.open.push((*end, *instance));
            }
            of_thread.next += 1;
        }
        for (_, instance) in &of_thread.open {
            let row = self.rows.entry(*instance).or_insert(InstanceMemory {
                instance: *instance,
                allocations: 0,
                frees: 0,
                allocated_bytes: 0,
                freed_bytes: 0,
                uncertain: false,
            });
            if let Some(bytes) = effect.allocated {
                row.allocations += 1;
                row.allocated_bytes = row.allocated_bytes.saturating_add(bytes);
            }
            if let Some(bytes) = effect.freed {
                row.frees += 1;
                row.freed_bytes = row.freed_bytes.saturating_add(bytes);
            }
        }
    }
}
