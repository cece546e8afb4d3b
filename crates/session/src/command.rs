//! What a recorder asks for: record or not, where, which events, with what buffers.

use crate::MASK_WORDS;
use crate::events;

/// Longest path of the folder to record into, with the zero at its end.
pub const DIRECTORY_BYTES: usize = 1024;
/// Longest list of patterns of one filter, with the zero at its end.
pub const FILTER_BYTES: usize = 2048;

/// What the processes should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Remember initialisation, write nothing.
    Idle,
    /// Write everything until told otherwise.
    Recording,
}

/// A command as the recorder issues it and tracers read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    pub state: State,
    /// Where processes make their folders; absolute.
    pub directory: Vec<u8>,
    /// One bit per event of the vocabulary.
    pub mask: [u64; MASK_WORDS],
    /// A number that tells vocabularies apart; a tracer with another one records all events.
    pub vocabulary: u64,
    /// Only processes that were chosen record.
    pub chosen_only: bool,
    /// In nanoseconds of the monotonic clock: nothing is recorded after it, 0 for no such time.
    pub deadline: u64,
    /// Wall clock minus monotonic clock, for all traces of the recording: somebody may set the wall clock meanwhile. None where there is only one
    /// trace, or nobody has said it.
    pub clock_offset: Option<i64>,
    pub settings: Settings,
}

/// How is recorded, from the options of `rostrace record` to the processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Memory of a process for events that are not on the disk yet; what does not fit is dropped and counted.
    pub memory_bytes: u64,
    /// A process that has written so much drops events; 0 for no limit.
    pub process_bytes: u64,
    /// Nothing is written while less than this is free on the disk.
    pub keep_free: u64,
    /// Keep only the newest.
    pub flight: Option<Flight>,
    /// A signal by which processes request a snapshot, if they do nothing else with it; 0 for none.
    pub flight_signal: u8,
    pub filters: Filters,
}

/// What a flight recorder keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flight {
    Nanos(u64),
    /// Of each process, at least.
    Bytes(u64),
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            memory_bytes: 64 << 20,
            process_bytes: 0,
            keep_free: 0,
            flight: None,
            flight_signal: 0,
            filters: Filters::default(),
        }
    }
}

/// Patterns with `*` and `?`, separated by `:`. An empty text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    pub select_nodes: Vec<u8>,
    pub ignore_nodes: Vec<u8>,
    pub select_topics: Vec<u8>,
    pub ignore_topics: Vec<u8>,
    /// Names of programs, without their folders.
    pub ignore_processes: Vec<u8>,
}

impl Command {
    /// Everything is recorded into this folder.
    pub fn record(directory: impl Into<Vec<u8>>) -> Command {
        Command {
            state: State::Recording,
            directory: directory.into(),
            ..Command::idle()
        }
    }

    /// Whether the CPU clocks of threads are read at both ends of callbacks, where a callback is recorded.
    pub fn read_clocks(&mut self, reads: bool) {
        let event = events::ROSTRACE_THREAD_CLOCK;
        let (word, bit) = (usize::from(event) / 64, 1 << (event % 64));
        match reads {
            true => self.mask[word] |= bit,
            false => self.mask[word] &= !bit,
        }
    }

    /// Nothing is recorded.
    pub fn idle() -> Command {
        Command {
            state: State::Idle,
            directory: Vec::new(),
            mask: everything(),
            vocabulary: 0,
            chosen_only: false,
            deadline: 0,
            clock_offset: None,
            settings: Settings::default(),
        }
    }
}

/// All events but those that cost system calls: these have to be asked for.
const fn everything() -> [u64; MASK_WORDS] {
    let mut mask = [u64::MAX; MASK_WORDS];
    let event = events::ROSTRACE_THREAD_CLOCK;
    mask[event as usize / 64] &= !(1 << (event % 64));
    mask
}
