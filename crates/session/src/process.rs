//! A traced process as it describes itself in the control page.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

const FREE: u32 = 0;
const CLAIMED: u32 = 1;
const LIVE: u32 = 2;

/// What tells a process apart from all others, also from one that had the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// In its own name space.
    pub pid: u32,
    /// Ticks since boot, from `/proc/PID/stat`.
    pub start_time: u64,
    /// Inode of its pid name space.
    pub pid_namespace: u64,
    /// First bytes of the program's name.
    pub name: [u8; 16],
}

/// What the tracer of a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    Idle,
    Recording,
    /// It should record, but could not begin; see [`ProcessView::errno`].
    Failed,
}

/// One slot of the control page. Claimed by a tracer, freed by it or, when the process is gone, by the recorder.
#[repr(C)]
#[derive(Debug)]
pub struct Process {
    claim: AtomicU32,
    pid: AtomicU32,
    start_time: AtomicU64,
    pid_namespace: AtomicU64,
    name: [AtomicU8; 16],
    state: AtomicU32,
    /// Of the last failure, 0 for none.
    pub errno: AtomicU32,
    /// The order that the process has carried out.
    pub generation: AtomicU64,
    pub events: AtomicU64,
    pub discarded: AtomicU64,
    pub bytes: AtomicU64,
    pub threads: AtomicU64,
    /// Initialisation events that are kept.
    pub remembered: AtomicU64,
    /// One byte per hook: 0 unused, 1 on, otherwise why it is off.
    pub hooks: [AtomicU8; 64],
    /// The order whose recording the counters speak of.
    pub recorded: AtomicU64,
    /// Recordings whose files are not complete yet.
    pub writing: AtomicU32,
    chosen: AtomicU32,
    _reserved: [AtomicU64; 6],
}

/// A copy of a slot, as a recorder shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessView {
    pub identity: Identity,
    pub state: ProcessState,
    pub errno: u32,
    pub generation: u64,
    pub events: u64,
    pub discarded: u64,
    pub bytes: u64,
    pub threads: u64,
    pub remembered: u64,
    pub hooks: [u8; 64],
    pub recorded: u64,
    pub writing: u32,
    pub is_chosen: bool,
}

impl Process {
    /// Takes the slot if nobody has it.
    pub fn claim(&self, identity: &Identity) -> bool {
        if self
            .claim
            .compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return false;
        }
        self.pid.store(identity.pid, Ordering::Relaxed);
        self.start_time
            .store(identity.start_time, Ordering::Relaxed);
        self.pid_namespace
            .store(identity.pid_namespace, Ordering::Relaxed);
        for (place, byte) in self.name.iter().zip(identity.name) {
            place.store(byte, Ordering::Relaxed);
        }
        self.state.store(0, Ordering::Relaxed);
        self.errno.store(0, Ordering::Relaxed);
        for counter in [
            &self.generation,
            &self.events,
            &self.discarded,
            &self.bytes,
            &self.threads,
            &self.remembered,
            &self.recorded,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
        self.writing.store(0, Ordering::Relaxed);
        self.chosen.store(0, Ordering::Relaxed);
        for hook in &self.hooks {
            hook.store(0, Ordering::Relaxed);
        }
        self.claim.store(LIVE, Ordering::Release);
        true
    }

    /// Gives the slot back. The recorder does so for a process that no longer exists.
    pub fn free(&self) {
        self.claim.store(FREE, Ordering::Release);
    }

    /// Says whether an order for chosen processes means this one. To be said before the order is given.
    pub fn choose(&self, is_chosen: bool) {
        self.chosen.store(is_chosen.into(), Ordering::Release);
    }

    pub fn is_chosen(&self) -> bool {
        self.chosen.load(Ordering::Acquire) != 0
    }

    pub fn set_state(&self, state: ProcessState) {
        let number = match state {
            ProcessState::Idle => 0,
            ProcessState::Recording => 1,
            ProcessState::Failed => 2,
        };
        self.state.store(number, Ordering::Release);
    }

    pub fn is_failed(&self) -> bool {
        self.state.load(Ordering::Acquire) == 2
    }

    /// None if no process has this slot.
    pub fn view(&self) -> Option<ProcessView> {
        if self.claim.load(Ordering::Acquire) != LIVE {
            return None;
        }
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Some(ProcessView {
            identity: Identity {
                pid: self.pid.load(Ordering::Relaxed),
                start_time: load(&self.start_time),
                pid_namespace: load(&self.pid_namespace),
                name: std::array::from_fn(|at| self.name[at].load(Ordering::Relaxed)),
            },
            state: match self.state.load(Ordering::Acquire) {
                1 => ProcessState::Recording,
                2 => ProcessState::Failed,
                _ => ProcessState::Idle,
            },
            errno: self.errno.load(Ordering::Relaxed),
            generation: load(&self.generation),
            events: load(&self.events),
            discarded: load(&self.discarded),
            bytes: load(&self.bytes),
            threads: load(&self.threads),
            remembered: load(&self.remembered),
            hooks: std::array::from_fn(|at| self.hooks[at].load(Ordering::Relaxed)),
            recorded: load(&self.recorded),
            writing: self.writing.load(Ordering::Acquire),
            is_chosen: self.is_chosen(),
        })
    }
}
