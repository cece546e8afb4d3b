//! The samples of a recording: from the kernel's rings to the folder `samples`. [`Keeper`](crate::Keeper) calls this from its threads.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rostrace_session::Command;
use rostrace_session::keep::{SchedBuffer, SchedTrace};

use crate::perf::{Refusal, StackSamples};

/// Between two looks: rings have room for so many samples that nothing is lost if one look is late.
pub(crate) const BETWEEN_READS: Duration = Duration::from_millis(10);

/// Whoever locks several locks them in this order.
#[derive(Debug)]
pub(crate) struct Sampling {
    stacks: Mutex<StackSamples>,
    buffer: Mutex<SchedBuffer>,
    trace: Mutex<SchedTrace>,
}

/// How it was.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) events: u64,
    pub(crate) discarded: u64,
    pub(crate) bytes: u64,
    pub(crate) samples: u64,
    pub(crate) refused: Option<(u32, Refusal)>,
}

impl Sampling {
    pub(crate) fn new(command: &Command, stacks: StackSamples) -> Sampling {
        // Nothing in it is older than it is.
        let trace = SchedTrace::of_samples(command);
        let mut buffer = SchedBuffer::new(command.settings.memory_bytes);
        stacks.describe(&mut buffer);
        Sampling {
            stacks: Mutex::new(stacks),
            buffer: Mutex::new(buffer),
            trace: Mutex::new(trace),
        }
    }

    /// Samples what this thread of ours starts.
    pub(crate) fn follow_children_of(&self, starter: u32) -> Option<Refusal> {
        lock(&self.stacks).follow_children_of(starter)
    }

    /// A process is recorded from now on.
    pub(crate) fn follow(&self, pid: u32) {
        let mut stacks = lock(&self.stacks);
        let mut buffer = lock(&self.buffer);
        // Who was started by whom is known up to now.
        stacks.read(&mut buffer);
        stacks.follow(pid, &mut buffer);
    }

    /// Takes what the kernel has written.
    pub(crate) fn read(&self) {
        let mut stacks = lock(&self.stacks);
        stacks.read(&mut lock(&self.buffer));
        stacks.complete();
    }

    /// Makes the folder.
    pub(crate) fn prepare(&self) {
        lock(&self.trace).prepare();
    }

    /// Writes what waits.
    pub(crate) fn drain(&self, all: bool) -> bool {
        lock(&self.trace).drain(&self.buffer, all)
    }

    /// The recording has ended.
    pub(crate) fn finish(&self) -> Sampled {
        let mut trace = lock(&self.trace);
        trace.finish(&self.buffer);
        let stacks = lock(&self.stacks);
        Sampled {
            events: trace.events(),
            discarded: trace.unwritten() + lock(&self.buffer).lost(),
            bytes: trace.bytes(),
            samples: stacks.taken(),
            refused: stacks.refused(),
        }
    }
}

/// A thread that panicked left nothing half done that matters more than the rest.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
