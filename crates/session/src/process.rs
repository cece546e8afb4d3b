//! A recorded process as it describes itself.

use std::sync::atomic::Ordering;

use crate::memory::Memory;

/// What tells a process apart from all others, also from one that had the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
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

/// What is done with a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    Idle,
    Recording,
    /// Something of it could not be written; see [`ProcessView::errno`].
    Failed,
}

/// A copy of what a process and its keeper say, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessView {
    pub identity: Identity,
    pub state: ProcessState,
    pub errno: u32,
    /// The command that was carried out for it.
    pub generation: u64,
    pub events: u64,
    pub discarded: u64,
    /// On the disk.
    pub bytes: u64,
    pub threads: u64,
    /// Initialisation events that are kept.
    pub remembered: u64,
    pub hooks: [u8; 64],
    pub is_ending: bool,
    /// Threads that ran code of the tracer when this was looked at, which tells something of a process that is gone.
    pub at_work: u32,
}

impl Memory {
    pub fn view(&self) -> ProcessView {
        let header = self.header();
        let (recording, reports) = (&header.recording, &header.reports);
        let errno = reports.errno.load(Ordering::Relaxed);
        let is_recording = recording.epoch.load(Ordering::Acquire) != 0;
        ProcessView {
            identity: header.identity(),
            state: match (is_recording, errno) {
                (_, 1..) => ProcessState::Failed,
                (true, 0) => ProcessState::Recording,
                (false, 0) => ProcessState::Idle,
            },
            errno,
            generation: recording.generation.load(Ordering::Acquire),
            events: self.events(),
            discarded: self
                .discarded()
                .saturating_add(reports.unwritten.load(Ordering::Relaxed)),
            bytes: reports.bytes.load(Ordering::Relaxed),
            threads: reports.threads.load(Ordering::Relaxed).into(),
            remembered: reports.remembered.load(Ordering::Relaxed).into(),
            hooks: std::array::from_fn(|at| reports.hooks[at].load(Ordering::Relaxed)),
            is_ending: header.is_ending.load(Ordering::Relaxed) != 0,
            at_work: self.at_work(),
        }
    }
}
