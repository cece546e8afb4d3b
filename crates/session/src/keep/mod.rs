//! Keepers: who gives packets to a process and writes what it recorded to the disk.
//!
//! There is one keeper for a process at a time: the recorder, or a thread of the process itself where no recorder can reach its memory.
//! Two threads of it share the work, so that a disk that hangs delays nobody but itself: a [`Supplier`] sees to it that packets
//! are free, a [`Kept`] writes full ones. Both look again and again; nobody is woken, because that would cost an event a system call.
//!
//! Context switches come from the kernel, not from a process: [`SchedBuffer`] and [`SchedTrace`] are to the recorder what memory and
//! [`Kept`] are to a process.
//!
//! [`start_recording`] and [`stop_recording`] begin and end a recording in the memory of a process; they are all that a process ever notices of it.

pub mod collect;
mod disk_space;
mod disk_stream;
pub mod folder;
mod init_stream;
mod kept;
mod loss_stream;
mod mapped;
mod metadata;
mod process_folder;
mod resume;
mod sample_events;
mod sched_buffer;
mod sched_end;
mod sched_trace;
pub mod snapshot;
mod start_stop;

pub use crate::events::sched;
pub use kept::{Kept, MEMORY_LINK};
pub use mapped::{Mapped, OpenError};
pub use sample_events::CodeMapping;
pub use sched_buffer::{SchedBuffer, SchedValue};
pub use sched_end::end_sched_traces;
pub use sched_trace::{SAMPLES_FOLDER, SCHED_FOLDER, SchedTrace};
pub use start_stop::{also_record, is_meant, standing_command, start_recording, stop_recording};

use std::sync::Arc;
use std::time::Duration;

use crate::memory::supply::{Supply, top_up_dump};

/// Gives packets to one process while it is recorded.
#[derive(Debug)]
pub struct Supplier {
    mapped: Arc<Mapped>,
    supply: Supply,
}

impl Supplier {
    /// At most so many bytes wait for the disk.
    pub fn new(mapped: Arc<Mapped>, memory_bytes: u64) -> Supplier {
        Supplier {
            mapped,
            supply: Supply::new(memory_bytes),
        }
    }

    /// Returns whether packets are used up quickly.
    pub fn top_up(&mut self) -> bool {
        let memory = self.mapped.memory();
        let allocate = |at, bytes| self.mapped.allocate(at, bytes);
        let (is_quick, error) = self.supply.top_up(memory, &allocate);
        if let Some(error) = error {
            self.mapped.note_error(error);
        }
        is_quick
    }
}

/// What a process that is not recorded needs.
pub fn top_up_idle(mapped: &Mapped) {
    let _ = top_up_dump(mapped.memory(), &|at, bytes| mapped.allocate(at, bytes));
}

/// How long keepers sleep between two looks: hardly at all while there is much to do.
#[derive(Debug, Default)]
pub struct Pace {
    quiet: u32,
}

impl Pace {
    const QUICK: Duration = Duration::from_micros(500);
    const USUAL: Duration = Duration::from_millis(2);
    const QUIET: Duration = Duration::from_millis(5);
    const QUIET_LOOKS: u32 = 50;

    pub fn next(&mut self, is_quick: bool) -> Duration {
        self.quiet = if is_quick { 0 } else { self.quiet + 1 };
        match self.quiet {
            0 => Pace::QUICK,
            1..Pace::QUIET_LOOKS => Pace::USUAL,
            _ => Pace::QUIET,
        }
    }
}
