//! The layout of the control page, and how a command is written and read without a lock.
//!
//! The generation is even while the command stands and odd while the recorder changes it. A reader copies the command and
//! looks at the generation again; if that moved, it asks later.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

use crate::command::{Command, DIRECTORY_BYTES, FILTER_BYTES, Filters, Flight, Settings, State};
use crate::memory::header::{read_text, write_text};

/// First eight bytes of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"rostrace");
/// Changes whenever the layout does.
pub const VERSION: u32 = 6;
/// Where [`Control::incompatible_tracers`] are, in every version.
pub(crate) const INCOMPATIBLE_AT: usize = 96;
/// What the page says is done.
const IDLE: u32 = 0;
const RECORDING: u32 = 1;
const FLIGHT: u32 = 2;
/// Words of 64 events.
pub const MASK_WORDS: usize = 4;

/// What the file holds. All of it is atomic: several processes read it while one writes. Only the recorder's user may write.
#[repr(C)]
#[derive(Debug)]
pub struct Control {
    pub magic: AtomicU64,
    pub version: AtomicU32,
    state: AtomicU32,
    /// Of the whole file.
    pub bytes: AtomicU64,
    /// Pid of the recorder, for people.
    pub recorder: AtomicU64,
    _reserved: [AtomicU64; 4],
    /// Even while the command stands.
    pub generation: AtomicU64,
    /// How often somebody asked for everything that was recorded to be on the disk, and how often it was.
    pub flushes_wanted: AtomicU64,
    pub flushes_done: AtomicU64,
    _reserved_too: AtomicU64,
    /// Tracers of other versions that wanted to attach. Every version, from layout 4 on, has these at the same place.
    pub incompatible_tracers: IncompatibleTracers,
    _reserved_three: [AtomicU64; 2],
    vocabulary: AtomicU64,
    mask: [AtomicU64; MASK_WORDS],
    chosen_only: AtomicU32,
    flight_signal: AtomicU32,
    memory_bytes: AtomicU64,
    process_bytes: AtomicU64,
    flight_bytes: AtomicU64,
    flight_nanos: AtomicU64,
    keep_free: AtomicU64,
    deadline: AtomicU64,
    directory: [AtomicU8; DIRECTORY_BYTES],
    /// Where processes make their memory; said once, before the first command.
    memory_folder: [AtomicU8; DIRECTORY_BYTES],
    select_nodes: [AtomicU8; FILTER_BYTES],
    ignore_nodes: [AtomicU8; FILTER_BYTES],
    select_topics: [AtomicU8; FILTER_BYTES],
    ignore_topics: [AtomicU8; FILTER_BYTES],
    ignore_processes: [AtomicU8; FILTER_BYTES],
}

/// What tracers say that know another layout than that of this page.
#[repr(C)]
#[derive(Debug)]
pub struct IncompatibleTracers {
    count: AtomicU64,
    /// Of the last one: its pid, and the layout that it knows in the lower half.
    last: AtomicU64,
}

/// A process that cannot be recorded because its tracer knows another layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncompatibleTracer {
    /// How many there were.
    pub count: u64,
    /// Of the last one, in its own name space.
    pub pid: u32,
    /// The layout that its tracer knows.
    pub layout: u32,
}

impl IncompatibleTracers {
    pub(crate) fn note(&self, pid: u32, layout: u32) {
        let last = u64::from(pid) << 32 | u64::from(layout);
        self.last.store(last, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Release);
    }

    /// None if there were none.
    pub fn view(&self) -> Option<IncompatibleTracer> {
        let count = self.count.load(Ordering::Acquire);
        let last = self.last.load(Ordering::Relaxed);
        (count > 0).then_some(IncompatibleTracer {
            count,
            pid: (last >> 32) as u32,
            layout: last as u32,
        })
    }
}

// What all versions agree on.
const _: () = assert!(std::mem::offset_of!(Control, version) == 8);
const _: () = assert!(std::mem::offset_of!(Control, incompatible_tracers) == INCOMPATIBLE_AT);

impl Control {
    /// Issues a command; returns the generation that tracers will see. Only one recorder may do so at a time.
    ///
    /// A text that does not fit is refused before anything is changed.
    pub fn issue(&self, command: &Command) -> Option<u64> {
        let settings = &command.settings;
        let filters = &settings.filters;
        let texts = [
            (&self.directory[..], &command.directory),
            (&self.select_nodes[..], &filters.select_nodes),
            (&self.ignore_nodes[..], &filters.ignore_nodes),
            (&self.select_topics[..], &filters.select_topics),
            (&self.ignore_topics[..], &filters.ignore_topics),
            (&self.ignore_processes[..], &filters.ignore_processes),
        ];
        if texts.iter().any(|(place, text)| text.len() >= place.len()) {
            return None;
        }
        let before = self.generation.load(Ordering::Relaxed);
        // A recorder that died in the middle of a command left an odd number.
        let changing = before | 1;
        self.generation.store(changing, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let (state, flight_nanos, flight_bytes) = match (command.state, settings.flight) {
            (State::Idle, _) => (IDLE, 0, 0),
            (State::Recording, None) => (RECORDING, 0, 0),
            (State::Recording, Some(Flight::Nanos(nanos))) => (FLIGHT, nanos, 0),
            (State::Recording, Some(Flight::Bytes(bytes))) => (FLIGHT, 0, bytes),
        };
        self.state.store(state, Ordering::Relaxed);
        self.vocabulary.store(command.vocabulary, Ordering::Relaxed);
        for (place, word) in self.mask.iter().zip(command.mask) {
            place.store(word, Ordering::Relaxed);
        }
        self.chosen_only
            .store(command.chosen_only.into(), Ordering::Relaxed);
        self.flight_signal
            .store(settings.flight_signal.into(), Ordering::Relaxed);
        for (place, number) in [
            (&self.memory_bytes, settings.memory_bytes),
            (&self.process_bytes, settings.process_bytes),
            (&self.flight_bytes, flight_bytes),
            (&self.flight_nanos, flight_nanos),
            (&self.keep_free, settings.keep_free),
            (&self.deadline, command.deadline),
        ] {
            place.store(number, Ordering::Relaxed);
        }
        for (place, text) in texts {
            write_text(place, text);
        }
        let generation = changing.wrapping_add(1);
        self.generation.store(generation, Ordering::Release);
        Some(generation)
    }

    /// The recording may go on until then. It stays the same command.
    pub fn postpone(&self, deadline: u64) {
        self.deadline.store(deadline, Ordering::Relaxed);
    }

    /// When the recording ends by itself; 0 for never.
    pub fn deadline(&self) -> u64 {
        self.deadline.load(Ordering::Relaxed)
    }

    /// The command that stands, with its generation. None while it is being changed.
    pub fn read_command(&self) -> Option<(u64, Command)> {
        let generation = self.generation.load(Ordering::Acquire);
        if generation % 2 == 1 {
            return None;
        }
        let state = self.state.load(Ordering::Relaxed);
        let flight = match self.flight_nanos.load(Ordering::Relaxed) {
            0 => Flight::Bytes(self.flight_bytes.load(Ordering::Relaxed)),
            nanos => Flight::Nanos(nanos),
        };
        let command = Command {
            // A number that nobody wrote means idle: nothing is done that was not asked for.
            state: match state {
                RECORDING | FLIGHT => State::Recording,
                _ => State::Idle,
            },
            directory: read_text(&self.directory),
            mask: std::array::from_fn(|word| self.mask[word].load(Ordering::Relaxed)),
            vocabulary: self.vocabulary.load(Ordering::Relaxed),
            chosen_only: self.chosen_only.load(Ordering::Relaxed) != 0,
            deadline: self.deadline.load(Ordering::Relaxed),
            clock_offset: None,
            settings: Settings {
                memory_bytes: self.memory_bytes.load(Ordering::Relaxed),
                process_bytes: self.process_bytes.load(Ordering::Relaxed),
                keep_free: self.keep_free.load(Ordering::Relaxed),
                flight: (state == FLIGHT).then_some(flight),
                flight_signal: self.flight_signal.load(Ordering::Relaxed) as u8,
                filters: Filters {
                    select_nodes: read_text(&self.select_nodes),
                    ignore_nodes: read_text(&self.ignore_nodes),
                    select_topics: read_text(&self.select_topics),
                    ignore_topics: read_text(&self.ignore_topics),
                    ignore_processes: read_text(&self.ignore_processes),
                },
            },
        };
        fence(Ordering::Acquire);
        (self.generation.load(Ordering::Relaxed) == generation).then_some((generation, command))
    }

    /// Where processes make their memory; empty if they keep it themselves.
    pub fn memory_folder(&self) -> Vec<u8> {
        read_text(&self.memory_folder)
    }

    /// The same without allocation.
    pub fn read_memory_folder<'b>(&self, bytes: &'b mut [u8; DIRECTORY_BYTES]) -> &'b [u8] {
        let mut used = 0;
        for (place, byte) in bytes.iter_mut().zip(&self.memory_folder) {
            match byte.load(Ordering::Relaxed) {
                0 => break,
                byte => *place = byte,
            }
            used += 1;
        }
        &bytes[..used]
    }

    pub(crate) fn initialise(&self, memory_folder: &[u8]) {
        write_text(&self.memory_folder, memory_folder);
        self.version.store(VERSION, Ordering::Relaxed);
        self.bytes
            .store(size_of::<Control>() as u64, Ordering::Relaxed);
        self.recorder
            .store(std::process::id().into(), Ordering::Relaxed);
        // Never 0, which is what a tracer has before it read anything.
        self.generation.store(2, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A page without a file, so that Miri can look as well: zeroes, and these bytes from a place on.
    fn page(at: usize, bytes: &[u8]) -> Box<Control> {
        let layout = std::alloc::Layout::new::<Control>();
        let at = at % layout.size();
        let count = bytes.len().min(layout.size() - at);
        // SAFETY: any bytes are a valid `Control`; the memory is large enough and is freed with the same layout.
        unsafe {
            let memory = std::alloc::alloc_zeroed(layout);
            assert!(!memory.is_null());
            memory
                .add(at)
                .copy_from_nonoverlapping(bytes.as_ptr(), count);
            Box::from_raw(memory.cast())
        }
    }

    fn cases() -> ProptestConfig {
        ProptestConfig {
            cases: if cfg!(miri) { 2 } else { 256 },
            failure_persistence: None,
            ..ProptestConfig::default()
        }
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let most = if cfg!(miri) { 64 } else { 4096 };
        proptest::collection::vec(any::<u8>(), 0..most)
    }

    fn place() -> impl Strategy<Value = usize> {
        0..size_of::<Control>()
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn whatever_is_in_the_page_can_be_read(at in place(), bytes in bytes()) {
            let page = page(at, &bytes);
            if let Some((generation, command)) = page.read_command() {
                prop_assert!(generation % 2 == 0);
                prop_assert!(command.directory.len() <= DIRECTORY_BYTES && !command.directory.contains(&0));
            }
            prop_assert!(page.memory_folder().len() <= DIRECTORY_BYTES);
        }

        #[test]
        fn a_command_stands_whatever_was_there_before(at in place(), bytes in bytes()) {
            let page = page(at, &bytes);
            // The last number of all has no successor; nobody counts that far.
            prop_assume!(page.generation.load(Ordering::Relaxed) < u64::MAX - 2);
            let command = Command::record("/a/folder");
            let generation = page.issue(&command);
            prop_assert!(generation.is_some());
            prop_assert_eq!(page.read_command(), generation.map(|generation| (generation, command)));
            prop_assert!(page.issue(&Command::idle()).is_some());
        }
    }
}
