//! How much of the disk a trace may take: its limit, what is to stay free, and what a flight recorder deletes again.

use std::collections::VecDeque;

use crate::clock;
use crate::command::{Flight, Settings};
use crate::keep::disk_stream::CompleteFile;
use crate::keep::folder::Folder;

/// The disk is asked for its room at most so often.
const BETWEEN_LOOKS: u64 = 50_000_000;

/// What one trace has taken of the disk, and what it may.
#[derive(Debug)]
pub(super) struct DiskSpace {
    limit: u64,
    keep_free: u64,
    flight: Option<Flight>,
    pub(super) bytes: u64,
    /// Of `bytes`, those of the streams of which a flight recorder keeps as many as was asked for, whatever describes them.
    stream_bytes: u64,
    complete: VecDeque<CompleteFile>,
    looked: u64,
    is_short: bool,
    /// What is not written now never will be.
    pub(super) is_final: bool,
}

impl DiskSpace {
    pub(super) fn new(settings: &Settings) -> DiskSpace {
        DiskSpace {
            limit: settings.process_bytes,
            keep_free: settings.keep_free,
            flight: settings.flight,
            bytes: 0,
            stream_bytes: 0,
            complete: VecDeque::new(),
            looked: 0,
            is_short: false,
            is_final: false,
        }
    }

    pub(super) fn is_flight(&self) -> bool {
        self.flight.is_some()
    }

    /// Whether packets are to wait in memory: perhaps there is room again, or somebody ends the recording.
    pub(super) fn must_wait(&self) -> bool {
        self.is_short && !self.is_final
    }

    /// Files of streams have grown by so much, and one of them may be complete.
    pub(super) fn note_written(&mut self, grown: u64, complete: Option<CompleteFile>) {
        self.bytes += grown;
        self.stream_bytes += grown;
        self.complete.extend(complete);
    }

    /// Whether so many bytes may be written.
    pub(super) fn room_for(&self, bytes: usize, folder: Option<&Folder>) -> Result<(), i32> {
        if self.limit > 0 && self.bytes + bytes as u64 > self.limit {
            return Err(libc::ENOSPC);
        }
        if self.is_final
            && let Some(folder) = folder.filter(|_| self.keep_free > 0)
        {
            // What is left at the end may take half of what was to stay free, and no more: it can be as much as all memory.
            let free = folder.free_bytes().unwrap_or(u64::MAX);
            if free < self.keep_free / 2 + bytes as u64 {
                return Err(libc::ENOSPC);
            }
        }
        Ok(())
    }

    pub(super) fn look_at_disk(&mut self, folder: Option<&Folder>) {
        let now = clock::monotonic();
        if self.keep_free == 0 || now < self.looked + BETWEEN_LOOKS {
            return;
        }
        self.looked = now;
        if let Some(folder) = folder {
            let free = folder.free_bytes();
            self.is_short = free.is_some_and(|free| free < self.keep_free);
        }
    }

    /// Deletes what a flight recorder need not keep: what is older, or more, than was asked for. What describes it stays.
    pub(super) fn forget_old(&mut self, folder: Option<&Folder>) {
        let (oldest, most) = match self.flight {
            None => return,
            Some(Flight::Nanos(nanos)) => (clock::monotonic().saturating_sub(nanos), u64::MAX),
            Some(Flight::Bytes(0)) => (0, u64::MAX),
            Some(Flight::Bytes(bytes)) => (0, bytes),
        };
        let Some(folder) = folder else {
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
