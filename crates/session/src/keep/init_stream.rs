//! The stream of initialisation: what the statedump remembers, and everything new, with the times at which it happened.

use crate::keep::disk_stream::DiskStream;
use crate::keep::folder::Folder;
use crate::memory::packet::{HEAD, Head};
use crate::memory::writer::CONTEXT;
use crate::statedump::entry::Entry;

/// A packet with so many bytes is complete.
const ENOUGH: usize = 56 << 10;

#[derive(Debug)]
pub(crate) struct InitStream {
    stream: DiskStream,
    uuid: [u64; 2],
    process: u32,
    content: Vec<u8>,
    begin: u64,
    end: u64,
    is_changed: bool,
    /// The last entry that is in it.
    pub(crate) last: u64,
    pub(crate) events: u64,
}

impl InitStream {
    pub(crate) fn new(uuid: [u64; 2], process: u32) -> InitStream {
        InitStream {
            stream: DiskStream::new("init".to_owned(), uuid, 0),
            uuid,
            process,
            content: vec![0; HEAD],
            begin: 0,
            end: 0,
            is_changed: false,
            last: 0,
            events: 0,
        }
    }

    /// Makes the file, which says that nothing is missing when nothing is in it.
    pub(crate) fn open(&mut self, folder: &Folder, begin: u64) -> Result<u64, i32> {
        self.stream.open(folder, begin)
    }

    /// Goes on behind what another keeper wrote.
    pub(crate) fn resume(&mut self, stream: DiskStream) {
        self.stream = stream;
        self.stream.append();
    }

    /// Adds an event. Its time is not before that of the one before.
    pub(crate) fn add(&mut self, entry: &Entry<'_>) {
        if self.content.len() == HEAD {
            self.begin = entry.time;
        }
        let content = &mut self.content;
        content.extend(u16::MAX.to_ne_bytes());
        content.extend(u32::from(entry.event).to_ne_bytes());
        content.extend(entry.time.to_ne_bytes());
        content.extend(self.process.to_ne_bytes());
        content.extend(&entry.context[4..CONTEXT]);
        content.extend(entry.payload);
        self.end = self.end.max(entry.time);
        self.last = entry.number;
        self.events += 1;
        self.is_changed = true;
    }

    /// Whether the next event should begin another packet.
    pub(crate) fn is_full(&self) -> bool {
        self.content.len() >= ENOUGH
    }

    /// Says in the last packet how many events of other streams are missing.
    pub(crate) fn account(&mut self, folder: &Folder, now: u64, lost: u64) -> Result<u64, i32> {
        self.stream.account(folder, now, lost)
    }

    /// Writes what was added. Returns how many bytes the file grew by.
    pub(crate) fn write(&mut self, folder: &Folder) -> Result<u64, i32> {
        if !self.is_changed {
            return Ok(0);
        }
        let is_full = self.is_full();
        let head = Head {
            uuid: self.uuid,
            stream: 0,
            begin: self.begin,
            end: self.end,
            content_bytes: self.content.len(),
            packet_bytes: self.content.len(),
            number: 0,
            discarded: 0,
        };
        let (grown, _) = self
            .stream
            .write(folder, &head, &self.content, is_full, false)?;
        self.is_changed = false;
        if is_full {
            self.content.truncate(HEAD);
        }
        Ok(grown)
    }
}
