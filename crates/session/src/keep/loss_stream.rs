//! The stream that tells of losses of which no other does: an empty packet for each stretch of time.

use crate::keep::disk_stream::DiskStream;
use crate::keep::folder::Folder;
use crate::memory::packet::{HEAD, Head};

/// They are written at most so often.
const BETWEEN: u64 = 100_000_000;
/// No other stream has it.
pub(crate) const NUMBER: u64 = u32::MAX as u64;
pub(crate) const NAME: &str = "lost";

#[derive(Debug)]
pub(crate) struct LossStream {
    stream: DiskStream,
    uuid: [u64; 2],
    packets: u64,
    /// What it says, and since when.
    reported: u64,
    at: u64,
}

impl LossStream {
    pub(crate) fn new(uuid: [u64; 2], now: u64) -> LossStream {
        LossStream {
            stream: DiskStream::new(NAME.to_owned(), uuid, NUMBER),
            uuid,
            packets: 0,
            reported: 0,
            at: now,
        }
    }

    /// Goes on behind what another keeper wrote.
    pub(crate) fn resume(&mut self, stream: DiskStream) {
        self.reported = stream.discarded();
        self.stream = stream;
    }

    /// How many of so many losses it does not report yet.
    pub(crate) fn unreported(&self, lost: u64) -> u64 {
        lost.saturating_sub(self.reported)
    }

    /// Whether it was reported long ago.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        now >= self.at + BETWEEN
    }

    /// Says that so many events were lost until now. Returns how many bytes the file grew by.
    pub(crate) fn write(&mut self, folder: &Folder, now: u64, lost: u64) -> Result<u64, i32> {
        let head = Head {
            uuid: self.uuid,
            stream: NUMBER,
            begin: self.at,
            end: now,
            content_bytes: HEAD,
            packet_bytes: HEAD,
            number: self.packets + 1,
            discarded: lost,
        };
        let content = [0; HEAD];
        let (grown, _) = self.stream.write(folder, &head, &content, true, false)?;
        self.packets += 1;
        self.reported = lost;
        self.at = now;
        Ok(grown)
    }
}
