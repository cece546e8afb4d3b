//! How much of the disk the trace of a process may take: its limit, what is to stay free, and what a flight recorder deletes again.

use crate::clock;
use crate::command::Flight;
use crate::keep::kept::Kept;

/// The disk is asked for its room at most so often.
const BETWEEN_LOOKS: u64 = 50_000_000;

impl Kept {
    /// Whether so many bytes may be written.
    pub(super) fn room_for(&self, bytes: usize) -> Result<(), i32> {
        let limit = self.command.settings.process_bytes;
        if limit > 0 && self.bytes + bytes as u64 > limit {
            return Err(libc::ENOSPC);
        }
        let keep_free = self.command.settings.keep_free;
        if self.is_final
            && let Some((folder, _)) = self.folder.as_ref().filter(|_| keep_free > 0)
        {
            // What is left at the end may take half of what was to stay free, and no more: it can be as much as all memory.
            let free = folder.free_bytes().unwrap_or(u64::MAX);
            if free < keep_free / 2 + bytes as u64 {
                return Err(libc::ENOSPC);
            }
        }
        Ok(())
    }

    pub(super) fn look_at_disk(&mut self) {
        let keep_free = self.command.settings.keep_free;
        let now = clock::monotonic();
        if keep_free == 0 || now < self.disk_looked + BETWEEN_LOOKS {
            return;
        }
        self.disk_looked = now;
        if let Some((folder, _)) = &self.folder {
            let free = folder.free_bytes();
            self.disk_is_short = free.is_some_and(|free| free < keep_free);
        }
    }

    /// Deletes what a flight recorder need not keep: what is older, or more, than was asked for. Initialisation stays.
    pub(super) fn forget_old(&mut self, flight: Flight) {
        let (oldest, most) = match flight {
            Flight::Nanos(nanos) => (clock::monotonic().saturating_sub(nanos), u64::MAX),
            Flight::Bytes(0) => (0, u64::MAX),
            Flight::Bytes(bytes) => (0, bytes),
        };
        let Some((folder, _)) = &self.folder else {
            return;
        };
        while let Some(file) = self.complete.front() {
            let is_old = file.end < oldest;
            let left = self.stream_bytes.saturating_sub(file.bytes);
            let is_more = left >= most;
            if !is_old && !is_more {
                break;
            }
            folder.remove(&file.name);
            self.bytes -= file.bytes;
            self.stream_bytes = left;
            self.complete.pop_front();
        }
    }
}
