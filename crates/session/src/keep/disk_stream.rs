//! A stream on the disk: packets of one stream, one after the other, in one file, or, for a flight recorder, in several of which the oldest
//! are deleted.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::keep::folder::{Folder, cut, write};
use crate::memory::packet::{HEAD, Head, place};

/// A file of a flight recorder is complete with so many bytes.
const FLIGHT_FILE: u64 = 256 << 10;

#[derive(Debug)]
pub(crate) struct DiskStream {
    /// `thread_7`
    name: String,
    uuid: [u64; 2],
    stream: u64,
    /// Number of the file that is written to, its bytes, and where its last packet begins.
    file: u32,
    bytes: u64,
    last: u64,
    /// Number in memory of the packet that is expected next; None if any may come.
    expected: Option<u64>,
    /// Number on the disk of the last packet: without gaps, because what could not be written is counted otherwise.
    number: u64,
    /// The last packet was written before it was full: when it began, and how much of it there is.
    partial: Option<(u64, usize)>,
    /// What the last packet says was dropped.
    discarded: u64,
    /// Events of packets that could not be written.
    unwritten: u64,
    end: u64,
}

/// A file that is no longer written to.
#[derive(Debug)]
pub(crate) struct CompleteFile {
    pub(crate) name: CString,
    pub(crate) bytes: u64,
    /// When its last event happened.
    pub(crate) end: u64,
}

impl DiskStream {
    pub(crate) fn new(name: String, uuid: [u64; 2], stream: u64) -> DiskStream {
        DiskStream {
            name,
            uuid,
            stream,
            file: 0,
            bytes: 0,
            last: 0,
            expected: Some(1),
            number: 0,
            partial: None,
            discarded: 0,
            unwritten: 0,
            end: 0,
        }
    }

    /// Goes on where another keeper ended: `path` is the last file of the stream, which has this number. So many events could not be written.
    pub(crate) fn resume(
        path: &Path,
        unwritten: u64,
        name: String,
        uuid: [u64; 2],
        stream: u64,
        file: u32,
    ) -> io::Result<DiskStream> {
        let mut resumed = DiskStream {
            file,
            unwritten,
            ..DiskStream::new(name, uuid, stream)
        };
        let heads = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)?;
        let length = heads.metadata()?.len();
        let mut at = 0;
        while at + HEAD as u64 <= length {
            let mut head = [0; HEAD];
            heads.read_exact_at(&mut head, at)?;
            let head = Head::read(&head);
            let bytes = head.packet_bytes as u64;
            if bytes < HEAD as u64 || at + bytes > length {
                break;
            }
            resumed.last = at;
            resumed.discarded = head.discarded;
            resumed.end = head.end;
            // It may not have been full: then the same packet comes again, otherwise the next one.
            resumed.expected = None;
            resumed.number = head.number;
            resumed.partial = Some((head.begin, 0));
            at += bytes;
        }
        resumed.bytes = at;
        Ok(resumed)
    }

    /// A file of a stream of which nothing else is known. None if it has no packet.
    pub(crate) fn found(path: &Path, name: String, file: u32) -> Option<DiskStream> {
        let mut first = [0; HEAD];
        let begin = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
            .ok()?;
        begin.read_exact_at(&mut first, 0).ok()?;
        let first = Head::read(&first);
        let found = DiskStream::resume(path, 0, name, first.uuid, first.stream, file).ok()?;
        (found.bytes > 0).then_some(found)
    }

    /// Everything that is there is complete: what comes next comes behind it.
    pub(crate) fn append(&mut self) {
        self.partial = None;
        self.expected = Some(0);
    }

    /// Whether the packet of this number in memory comes next.
    pub(crate) fn accepts(&self, number: u64) -> bool {
        self.expected.is_none_or(|expected| expected == number)
    }

    /// Whether it was written before.
    pub(crate) fn is_past(&self, number: u64) -> bool {
        self.expected.is_some_and(|expected| number < expected)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// When the last packet ends.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn file_number(&self) -> u32 {
        self.file
    }

    /// What its last packet says was dropped.
    pub(crate) fn discarded(&self) -> u64 {
        self.discarded
    }

    fn file_name(&self) -> CString {
        CString::new(format!("{}_{}", self.name, self.file)).unwrap_or_default()
    }

    /// Whether so much of the packet that began then is on the disk.
    pub(crate) fn has(&self, begin: u64, content_bytes: usize) -> bool {
        self.partial == Some((begin, content_bytes))
    }

    /// Writes a packet; a partial one is written again when there is more of it. Returns how many bytes the files grew by, and a file that became
    /// complete.
    pub(crate) fn write(
        &mut self,
        folder: &Folder,
        head: &Head,
        content: &[u8],
        is_full: bool,
        is_flight: bool,
    ) -> Result<(u64, Option<CompleteFile>), i32> {
        let name = self.file_name();
        let file = folder.file(&name)?;
        let written = self.write_to(&file, name, head, content, is_full, is_flight);
        if written.is_err() {
            // What was written of it is no packet.
            cut(&file, self.bytes);
        }
        written
    }

    /// Makes the file before there is anything to write. Returns its bytes.
    pub(crate) fn open(&mut self, folder: &Folder, begin: u64) -> Result<u64, i32> {
        let file = folder.file(&self.file_name())?;
        self.open_in(&file, begin)
            .inspect_err(|_| cut(&file, self.bytes))?;
        Ok(self.bytes)
    }

    /// Losses are differences between packets: a file begins with an empty one that says what was lost before.
    fn open_in(&mut self, file: &OwnedFd, begin: u64) -> Result<(), i32> {
        let opening = Head {
            uuid: self.uuid,
            stream: self.stream,
            begin,
            end: begin,
            content_bytes: HEAD,
            packet_bytes: HEAD,
            number: self.number,
            discarded: self.discarded,
        };
        write(file, 0, &opening.bytes())?;
        self.bytes = HEAD as u64;
        self.last = 0;
        self.end = begin;
        Ok(())
    }

    fn write_to(
        &mut self,
        file: &OwnedFd,
        name: CString,
        head: &Head,
        content: &[u8],
        is_full: bool,
        is_flight: bool,
    ) -> Result<(u64, Option<CompleteFile>), i32> {
        let before = self.bytes;
        if self.bytes == 0 {
            // A little earlier: readers put packets in the order of their begin.
            self.open_in(file, head.begin.saturating_sub(1).max(self.end))?;
        }
        // After a partial packet the same one comes again; only who goes on with the work of somebody else cannot be sure that it was partial.
        let continues = |(begin, _)| self.expected.is_some() || begin == head.begin;
        let (at, number) = match self.partial.is_some_and(continues) {
            true => (self.last, self.number),
            false => (self.bytes, self.number + 1),
        };
        let discarded = head.discarded.saturating_add(self.unwritten);
        let shown = Head {
            packet_bytes: content.len(),
            discarded,
            content_bytes: content.len(),
            number,
            ..*head
        };
        // Who reads meanwhile finds the content that the head speaks of.
        write(file, at + HEAD as u64, &content[HEAD..])?;
        write(file, at, &shown.bytes())?;
        self.last = at;
        self.number = number;
        self.bytes = at + content.len() as u64;
        self.discarded = discarded;
        self.end = head.end;
        let grown = self.bytes - before;
        let mut complete = None;
        if is_full {
            self.partial = None;
            self.expected = Some(head.number.wrapping_add(1));
            if is_flight && self.bytes >= FLIGHT_FILE {
                complete = Some(CompleteFile {
                    name,
                    bytes: self.bytes,
                    end: head.end,
                });
                self.file += 1;
                self.bytes = 0;
                // The next file has an empty packet, too.
                self.number += 1;
            }
        } else {
            self.partial = Some((head.begin, content.len()));
        }
        Ok((grown, complete))
    }

    /// A packet could not be written. What a partial one of the same number had is on the disk.
    pub(crate) fn miss(&mut self, number: u64, events: u64) {
        self.partial = None;
        self.expected = Some(number.wrapping_add(1));
        self.unwritten += events;
    }

    /// Events of packets that could not be written.
    pub(crate) fn unwritten(&self) -> u64 {
        self.unwritten
    }

    /// What could not be written is counted elsewhere.
    pub(crate) fn forgive(&mut self, events: u64) {
        self.unwritten -= events;
    }

    /// Says in the last packet what could not be written after it: that needs no room on the disk. Behind the empty packet with which a file
    /// begins comes another one, for which there mostly is. Returns what cannot be said because there is no packet.
    pub(crate) fn account(
        &mut self,
        folder: &Folder,
        now: u64,
        discarded: u64,
    ) -> Result<u64, i32> {
        let total = discarded.saturating_add(self.unwritten);
        if self.bytes == 0 {
            return Ok(total.saturating_sub(self.discarded));
        }
        if total <= self.discarded {
            return Ok(0);
        }
        let file = folder.file(&self.file_name())?;
        if self.last == 0 {
            return match self.write_empty(&file, now.max(self.end), total) {
                Ok(()) => Ok(0),
                Err(_) => Ok(total - self.discarded),
            };
        }
        write(
            &file,
            self.last + place::END as u64,
            &now.max(self.end).to_le_bytes(),
        )?;
        write(
            &file,
            self.last + place::DISCARDED as u64,
            &total.to_le_bytes(),
        )?;
        self.discarded = total;
        Ok(0)
    }

    /// Says behind the last packet that something is missing until then.
    pub(crate) fn miss_until(&mut self, folder: &Folder, until: u64) -> Result<(), i32> {
        if until <= self.end {
            return Ok(());
        }
        let file = folder.file(&self.file_name())?;
        self.write_empty(&file, until, self.discarded.saturating_add(1))
    }

    /// An empty packet, from the end of the last one on.
    fn write_empty(&mut self, file: &OwnedFd, end: u64, discarded: u64) -> Result<(), i32> {
        let head = Head {
            uuid: self.uuid,
            stream: self.stream,
            begin: self.end,
            end,
            content_bytes: HEAD,
            packet_bytes: HEAD,
            number: self.number + 1,
            discarded,
        };
        write(file, self.bytes, &head.bytes()).inspect_err(|_| cut(file, self.bytes))?;
        self.last = self.bytes;
        self.bytes += HEAD as u64;
        self.number += 1;
        self.discarded = discarded;
        self.end = end;
        Ok(())
    }
}
