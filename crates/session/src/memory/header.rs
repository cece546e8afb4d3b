//! The first pages of a process's memory: who it is, what it is to record, and what is free.
//!
//! All of it is atomic: the process, its threads and the keeper read and write it at once. What is read at every event is together in
//! the first lines of the cache of [`RecordingState`], which the keeper writes only when a recording begins or ends.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::MASK_WORDS;
use crate::command::{DIRECTORY_BYTES, FILTER_BYTES};
use crate::memory::layout::Layout;
use crate::memory::pool::FreeList;
use crate::process::Identity;
use crate::sync::{AtomicU32, AtomicU64};

/// First eight bytes of the file.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"rostrmem");
/// Bytes of the version of tracetools, with the zero at its end.
const VERSION_BYTES: usize = 32;
/// Bytes of the names of program and host.
const NAME_BYTES: usize = 64;

#[derive(Debug)]
#[repr(C, align(64))]
pub struct Header {
    /// Written last, when everything else is there.
    pub(crate) magic: AtomicU64,
    pub(crate) version: AtomicU32,
    pid: AtomicU32,
    start_time: AtomicU64,
    pid_namespace: AtomicU64,
    pub vocabulary: AtomicU64,
    /// When the memory was made.
    pub(crate) made: AtomicU64,
    name: [AtomicU8; 16],
    tracetools_version: [AtomicU8; VERSION_BYTES],
    /// The name of the program without its folder, as it was called.
    program: [AtomicU8; NAME_BYTES],
    host: [AtomicU8; NAME_BYTES],
    layout: [AtomicU32; 4],
    /// Not 0: a thread of the process itself is the keeper.
    pub is_kept_by_itself: AtomicU32,
    /// The process has reached its end in an orderly way; threads of it may still have something to say.
    pub is_ending: AtomicU32,
    pub recording: RecordingState,
    pub reports: Reports,
    pub free: Free,
    pub(crate) dump: DumpState,
    pub(crate) filters: FilterTexts,
    /// Where is recorded to.
    pub(crate) directory: [AtomicU8; DIRECTORY_BYTES],
}

/// How a process introduces itself.
#[derive(Debug, Clone, Copy)]
pub struct Introduction<'a> {
    pub identity: Identity,
    /// Of the package, `8.2.4`.
    pub tracetools_version: &'a [u8],
    /// The name of the program without its folder, as it was called.
    pub program: &'a [u8],
    pub host: &'a [u8],
    /// A thread of the process is the keeper.
    pub is_kept_by_itself: bool,
}

#[cfg(test)]
impl Introduction<'static> {
    /// Of a process that only tests know.
    pub(crate) const OF_A_TEST: Introduction<'static> = Introduction {
        identity: Identity {
            pid: 1,
            start_time: 1,
            pid_namespace: 1,
            name: [0; 16],
        },
        tracetools_version: b"",
        program: b"",
        host: b"",
        is_kept_by_itself: true,
    };
}

/// One bit for each event.
pub type Masks = [AtomicU64; MASK_WORDS];

/// What the keeper says.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct RecordingState {
    /// Events that are recorded or remembered.
    pub enabled: Masks,
    /// 0 while no event but those of initialisation has anything to do.
    pub active: AtomicU64,
    /// The command by which is recorded, 0 while nothing is. Set after everything else was.
    pub epoch: AtomicU64,
    /// The last recording that was begun, also when it has ended.
    pub last_epoch: AtomicU64,
    /// Not 0: what happens to some entities is left out.
    pub is_filtered: AtomicU32,
    /// Only recordings of chosen processes: this is one.
    pub is_chosen: AtomicU32,
    /// Nothing is recorded after this, also when there is no keeper any more.
    pub deadline: AtomicU64,
    /// What may be written, and what must stay free, for whoever goes on with the work of a keeper.
    pub(crate) process_bytes: AtomicU64,
    pub(crate) keep_free: AtomicU64,
    /// Events that are recorded.
    pub recorded: Masks,
    /// A signal by which the process asks for a snapshot; 0 for none.
    pub flight_signal: AtomicU32,
    /// Of the trace.
    pub uuid: [AtomicU64; 2],
    /// The command that the process has seen, or that was carried out for it.
    pub generation: AtomicU64,
}

impl RecordingState {
    /// The recording that runs, 0 for none, and the key by which writers know it. The number of the memory is in the upper 16 bits.
    #[inline(always)]
    pub fn running(&self, incarnation: u64) -> (u64, u64) {
        let epoch = self.epoch.load(Ordering::Acquire);
        (epoch, incarnation | (epoch & ((1 << 48) - 1)))
    }
}

/// Whether the bit of an event is set.
#[inline(always)]
pub fn is_set(masks: &Masks, event: u16) -> bool {
    masks[usize::from(event) / 64].load(Ordering::Relaxed) >> (event % 64) & 1 == 1
}

/// What the process says.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Reports {
    /// Events that no packet of their stream tells of, since this memory was made.
    pub lost: AtomicU64,
    /// Those of them that were before the recording that runs.
    pub(crate) lost_before: AtomicU64,
    /// Snapshots that the process requested.
    pub snapshot_requests: AtomicU64,
    /// Threads that have a stream.
    pub threads: AtomicU32,
    /// Events of initialisation that are kept.
    pub remembered: AtomicU32,
    /// One byte per hook: 0 unused, 1 on, otherwise why it is off.
    pub hooks: [AtomicU8; 64],
    /// Of the keeper: what it wrote of this process, and the last system error.
    pub bytes: AtomicU64,
    pub unwritten: AtomicU64,
    pub errno: AtomicU32,
    /// Threads without a stream that run code of the tracer.
    pub at_work: AtomicU32,
}

/// What can be taken by threads. Everything in it is allocated.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Free {
    pub(crate) small: FreeList,
    pub(crate) large: FreeList,
    pub(crate) streams: FreeList,
    /// Streams that were ever taken, and those that are allocated.
    pub(crate) streams_made: AtomicU32,
    pub(crate) streams_supplied: AtomicU32,
    /// Packets that were ever handed out, from the first on.
    pub(crate) small_supplied: AtomicU32,
    pub(crate) large_supplied: AtomicU32,
    /// How many large ones there may be.
    pub(crate) large_limit: AtomicU32,
    /// Packets that wait to be written to the disk.
    pub(crate) full: AtomicU32,
}

/// The statedump: see [`crate::statedump`].
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct DumpState {
    /// Odd while the process goes from one space to the other.
    pub(crate) version: AtomicU32,
    pub(crate) space: AtomicU32,
    /// Bytes of complete entries in each space.
    pub(crate) used: [AtomicU32; 2],
    /// Bytes of each space that are allocated.
    pub(crate) allocated: [AtomicU32; 2],
    /// The last entry that the keeper has written to the recording that runs; `u64::MAX` while none does.
    pub(crate) written: AtomicU64,
    /// The last entry of all when the recording began.
    pub(crate) began: AtomicU64,
}

/// The patterns by which the process itself judges new entities.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct FilterTexts {
    pub(crate) select_nodes: [AtomicU8; FILTER_BYTES],
    pub(crate) ignore_nodes: [AtomicU8; FILTER_BYTES],
    pub(crate) select_topics: [AtomicU8; FILTER_BYTES],
    pub(crate) ignore_topics: [AtomicU8; FILTER_BYTES],
}

impl Header {
    /// Of a process that has just made its memory.
    pub(crate) fn introduce(&self, who: &Introduction<'_>, layout: Layout, version: u32) {
        let identity = &who.identity;
        self.version.store(version, Ordering::Relaxed);
        self.pid.store(identity.pid, Ordering::Relaxed);
        self.start_time
            .store(identity.start_time, Ordering::Relaxed);
        self.pid_namespace
            .store(identity.pid_namespace, Ordering::Relaxed);
        for (place, byte) in self.name.iter().zip(identity.name) {
            place.store(byte, Ordering::Relaxed);
        }
        write_text(&self.tracetools_version, who.tracetools_version);
        write_text(&self.program, who.program);
        write_text(&self.host, who.host);
        self.is_kept_by_itself
            .store(who.is_kept_by_itself.into(), Ordering::Relaxed);
        let numbers = [
            layout.streams,
            layout.small,
            layout.large,
            layout.dump_bytes,
        ];
        for (place, number) in self.layout.iter().zip(numbers) {
            place.store(number, Ordering::Relaxed);
        }
        self.vocabulary
            .store(crate::events::VOCABULARY, Ordering::Relaxed);
        self.made
            .store(crate::clock::monotonic(), Ordering::Relaxed);
        self.dump.written.store(u64::MAX, Ordering::Relaxed);
    }

    pub(crate) fn layout(&self) -> Layout {
        let [streams, small, large, dump_bytes] =
            std::array::from_fn(|at| self.layout[at].load(Ordering::Relaxed));
        Layout {
            streams,
            small,
            large,
            dump_bytes,
        }
    }

    pub fn identity(&self) -> Identity {
        Identity {
            pid: self.pid.load(Ordering::Relaxed),
            start_time: self.start_time.load(Ordering::Relaxed),
            pid_namespace: self.pid_namespace.load(Ordering::Relaxed),
            name: std::array::from_fn(|at| self.name[at].load(Ordering::Relaxed)),
        }
    }

    /// Version of the package tracetools, `8.2.4`.
    pub fn tracetools_version(&self) -> Vec<u8> {
        read_text(&self.tracetools_version)
    }

    pub fn program(&self) -> Vec<u8> {
        read_text(&self.program)
    }

    /// Where is recorded to, or was.
    pub fn directory(&self) -> Vec<u8> {
        read_text(&self.directory)
    }

    pub fn host(&self) -> Vec<u8> {
        read_text(&self.host)
    }
}

/// Cut where it does not fit.
pub(crate) fn write_text(place: &[AtomicU8], text: &[u8]) {
    let longest = text.len().min(place.len() - 1);
    for (at, byte) in text[..longest].iter().chain([&0]).zip(place) {
        byte.store(*at, Ordering::Relaxed);
    }
}

/// Up to the first zero.
pub(crate) fn read_text(place: &[AtomicU8]) -> Vec<u8> {
    place
        .iter()
        .map(|byte| byte.load(Ordering::Relaxed))
        .take_while(|byte| *byte != 0)
        .collect()
}
