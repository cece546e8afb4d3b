//! The memory that processes allocate, where `liblttng-ust-libc-wrapper.so` was preloaded.
//!
//! [`Memory::load`] is a pass of its own over the calls of `malloc`, `free` and the like. A *heap* knows the blocks of one process, an
//! *execution* which callback allocated them. Sizes are those that were asked for; what libc adds is not known.

mod execution;
mod heap;

pub use execution::InstanceMemory;
pub use heap::{Totals, Usage};

use std::borrow::Cow;

use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Family, Kind, field};
use rustc_hash::FxHashMap;

use crate::Model;
use crate::binding::{Fields, declarations};
use crate::entity::{HostId, ProcessId, ThreadId};
use crate::event_pass::for_each_event;
use crate::flow::Losses;
use execution::Executions;
use heap::{Effect, Heap};

/// What processes and callbacks did with memory.
#[derive(Debug)]
pub struct Memory {
    /// In the order of their first event.
    pub processes: Vec<ProcessMemory>,
    /// Callbacks that allocated or freed something, in the order of their ids.
    pub instances: Vec<InstanceMemory>,
}

/// The memory of one process.
#[derive(Debug)]
pub struct ProcessMemory {
    pub host: HostId,
    /// Absent if the trace tells no process ids. Then every thread counts as a process, and what another thread frees is unknown.
    pub process: Option<ProcessId>,
    /// The thread, in place of a process.
    pub tid: Option<i64>,
    /// Empty if the trace does not say it.
    pub name: String,
    pub totals: Totals,
    /// When most bytes were in use; absent if nothing was allocated.
    pub peak: Option<Usage>,
    /// What was in use, about once a millisecond where it changed, and at the peak. Blocks from before the recording do not count.
    pub series: Vec<Usage>,
    /// Events were lost: what is in use may be too much or too little.
    pub uncertain: bool,
}

impl Memory {
    /// Reads the allocations of a set; nothing if it does not have any. `model` is the model of the same set. `progress` hears of
    /// the bytes done and says whether to go on.
    pub fn load(
        set: &TraceSet,
        model: &Model,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Memory> {
        let declared = declarations(set, |kind| kind.family() == Some(Family::Memory));
        if declared.is_empty() {
            return None;
        }
        let mut pass = AllocationPass::new(model);
        let is_damaged = for_each_event(set, model, &declared, progress, |host, time, fields| {
            pass.event(host, time, fields);
        });
        Some(pass.finish(&Losses::of(set), is_damaged))
    }

    pub fn of_process(&self, process: ProcessId) -> Option<&ProcessMemory> {
        (self.processes.iter()).find(|row| row.process == Some(process))
    }
}

/// Whose memory it is: without a process id a thread's, without a thread id the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Process(ProcessId),
    Thread(Option<i64>),
}

#[derive(Debug)]
struct OwnedHeap {
    host: HostId,
    owner: Owner,
    name: String,
    heap: Heap,
}

/// The way through the events.
struct AllocationPass<'m> {
    model: &'m Model,
    /// The processes that had this number, one after the other.
    lives: FxHashMap<(HostId, i64), Vec<ProcessId>>,
    threads: FxHashMap<(ProcessId, i64), ThreadId>,
    heaps: Vec<OwnedHeap>,
    heap_of: FxHashMap<(HostId, Owner), usize>,
    executions: Executions,
}

impl<'m> AllocationPass<'m> {
    fn new(model: &'m Model) -> AllocationPass<'m> {
        let mut lives: FxHashMap<(HostId, i64), Vec<ProcessId>> = FxHashMap::default();
        for (number, process) in model.processes.iter().enumerate() {
            let list = lives.entry((process.host, process.pid)).or_default();
            list.push(ProcessId::of(number));
        }
        for list in lives.values_mut() {
            list.sort_by_key(|process| model.processes[process.index()].first);
        }
        let threads = model.threads.iter().enumerate();
        let threads = threads
            .map(|(number, thread)| ((thread.process, thread.tid), ThreadId::of(number)))
            .collect();
        AllocationPass {
            model,
            lives,
            threads,
            heaps: Vec::new(),
            heap_of: FxHashMap::default(),
            executions: Executions::new(model),
        }
    }

    fn event(&mut self, host: HostId, at: Nanos, fields: &Fields<'_>) {
        let (pid, tid) = fields.binding.ids(&fields.event);
        let process = pid.and_then(|pid| self.process(host, pid, at));
        let owner = process.map_or(Owner::Thread(tid), Owner::Process);
        let (heaps, model) = (&mut self.heaps, self.model);
        let heap = *self.heap_of.entry((host, owner)).or_insert_with(|| {
            let name = match owner {
                Owner::Process(process) => model.processes[process.index()].name.clone(),
                Owner::Thread(_) => {
                    let name = fields.binding.procname(&fields.event);
                    name.map(Cow::into_owned).unwrap_or_default()
                }
            };
            heaps.push(OwnedHeap {
                host,
                owner,
                name,
                heap: Heap::default(),
            });
            heaps.len() - 1
        });
        let effect = apply(&mut self.heaps[heap].heap, at, fields);
        if effect != Effect::default()
            && let (Some(process), Some(tid)) = (process, tid)
            && let Some(thread) = self.threads.get(&(process, tid))
        {
            self.executions.note(*thread, at, effect);
        }
    }

    fn process(&self, host: HostId, pid: i64, at: Nanos) -> Option<ProcessId> {
        let lives = self.lives.get(&(host, pid))?;
        let born = |process: &ProcessId| self.model.processes[process.index()].first <= at;
        let begun = lives.partition_point(born);
        lives.get(begun.saturating_sub(1)).copied()
    }

    fn finish(self, losses: &Losses, is_broken: bool) -> Memory {
        let uncertain = losses.any() || is_broken;
        let heaps = self.heaps.into_iter();
        let processes = heaps.map(|row| {
            let (process, tid) = match row.owner {
                Owner::Process(process) => (Some(process), None),
                Owner::Thread(tid) => (None, tid),
            };
            ProcessMemory {
                host: row.host,
                process,
                tid,
                name: row.name,
                totals: row.heap.totals,
                peak: row.heap.peak,
                series: row.heap.into_series(),
                uncertain,
            }
        });
        let mut instances: Vec<InstanceMemory> = self.executions.rows.into_values().collect();
        instances.sort_unstable_by_key(|row| row.instance);
        for row in &mut instances {
            let instance = &self.model.instances[row.instance.index()];
            let end = instance.end.unwrap_or(instance.start);
            row.uncertain = losses.between(instance.start, end);
        }
        Memory {
            processes: processes.collect(),
            instances,
        }
    }
}

/// What an event does to the heap of its process.
fn apply(heap: &mut Heap, at: Nanos, fields: &Fields<'_>) -> Effect {
    let number = |field: usize| fields.number(field).unwrap_or(0);
    match fields.binding.kind {
        Some(Kind::LibcMalloc) => {
            use field::libc_malloc::*;
            heap.allocate(at, number(PTR), number(SIZE))
        }
        Some(Kind::LibcCalloc) => {
            use field::libc_calloc::*;
            let size = number(NMEMB).saturating_mul(number(SIZE));
            heap.allocate(at, number(PTR), size)
        }
        Some(Kind::LibcRealloc) => {
            use field::libc_realloc::*;
            heap.reallocate(at, number(IN_PTR), number(PTR), number(SIZE))
        }
        Some(Kind::LibcMemalign) => {
            use field::libc_memalign::*;
            heap.allocate(at, number(PTR), number(SIZE))
        }
        Some(Kind::LibcPosixMemalign) => {
            use field::libc_posix_memalign::*;
            let pointer = match number(RESULT) {
                0 => number(OUT_PTR),
                // What it points to was not set.
                _ => 0,
            };
            heap.allocate(at, pointer, number(SIZE))
        }
        Some(Kind::LibcFree) => heap.free(at, number(field::libc_free::PTR)),
        _ => Effect::default(),
    }
}
