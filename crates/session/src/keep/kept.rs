//! One process in one recording, as its keeper writes it to the disk.
//!
//! The folder of the process is made when there is something to write. Streams become files; what the statedump remembers comes first.
//! Whatever cannot be written is counted, in the next packet of its stream or in the last one that is there.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::clock;
use crate::command::Command;
use crate::keep::disk_space::DiskSpace;
use crate::keep::disk_stream::DiskStream;
use crate::keep::folder::Folder;
use crate::keep::init_stream::InitStream;
use crate::keep::loss_stream::LossStream;
use crate::keep::mapped::Mapped;
use crate::memory::packet::{HEAD, Head};
use crate::memory::pool::{FULL, HELD};
use crate::memory::supply::recycle;
use crate::statedump::entry::entries;
use crate::sync::{self, fence};

/// In the folder of a process that is being recorded: names the file of its memory, where the newest events are.
pub const MEMORY_LINK: &str = ".memory";

#[derive(Debug)]
pub struct Kept {
    pub(super) mapped: Arc<Mapped>,
    pub(super) generation: u64,
    pub(super) command: Command,
    pub(super) uuid: [u64; 2],
    pub(super) init: InitStream,
    pub(super) streams: BTreeMap<u32, DiskStream>,
    pub(super) folder: Option<(Folder, PathBuf)>,
    /// The folder above it was made for it, too.
    pub(super) made_directory: bool,
    /// Of a folder that could not be made.
    pub(super) error: i32,
    /// Losses that no stream of a thread tells of.
    pub(super) lost: LossStream,
    /// What was dropped in memory, as the trace says, when everything was written.
    dropped: Option<u64>,
    /// In packets that are complete on the disk, and in those that are not.
    events: u64,
    partial: BTreeMap<u32, u64>,
    pub(super) space: DiskSpace,
    unwritten: u64,
    /// Nothing comes any more that would close a gap between packets: a keeper that was killed had counted it, and its stream has no file that
    /// would say so.
    takes_gaps: bool,
}

impl Kept {
    /// The recording has begun in the process's memory.
    pub fn new(mapped: Arc<Mapped>, generation: u64, command: &Command) -> Kept {
        let header = mapped.memory().header();
        let uuid = std::array::from_fn(|half| header.recording.uuid[half].load(Ordering::Relaxed));
        let process = header.identity().pid;
        Kept {
            generation,
            command: command.clone(),
            uuid,
            init: InitStream::new(uuid, process),
            streams: BTreeMap::new(),
            folder: None,
            made_directory: false,
            error: 0,
            lost: LossStream::new(uuid, clock::monotonic()),
            dropped: None,
            events: 0,
            partial: BTreeMap::new(),
            space: DiskSpace::new(&command.settings),
            unwritten: 0,
            takes_gaps: false,
            mapped,
        }
    }

    pub fn mapped(&self) -> &Arc<Mapped> {
        &self.mapped
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The folder, once there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(|(_, path)| path.as_path())
    }

    /// Where the folder is, or would be.
    pub fn directory(&self) -> &[u8] {
        &self.command.directory
    }

    /// Events that are on the disk.
    pub fn events(&self) -> u64 {
        self.events + self.init.events + self.partial.values().sum::<u64>()
    }

    /// Events that are known to be missing.
    pub fn discarded(&self) -> u64 {
        let memory = self.mapped.memory();
        let dropped = self
            .dropped
            .unwrap_or_else(|| memory.losses(self.generation).sum());
        dropped.saturating_add(self.unwritten)
    }

    pub fn bytes(&self) -> u64 {
        self.space.bytes
    }

    /// The folder, open, once there is one.
    fn open_folder(&self) -> Option<&Folder> {
        self.folder.as_ref().map(|(folder, _)| folder)
    }

    /// Makes the folder before there is anything to write, so that it names the memory whatever happens next. The error is an `errno`.
    pub fn prepare(&mut self) -> Result<(), i32> {
        self.make_folder()
    }

    /// Writes what is full, and, with `all`, also what is not. Returns whether there was anything.
    pub fn drain(&mut self, all: bool) -> bool {
        let folder = self.folder.as_ref().map(|(folder, _)| folder);
        self.space.look_at_disk(folder);
        let has_initialisation = self.drain_initialisation();
        let mut is_busy = has_initialisation;
        let waiting = self.waiting(all);
        for (at, (packet, head)) in waiting.iter().enumerate() {
            // The stream has gone on: the packet is complete, whether that was said already or not.
            let next = waiting.get(at + 1).map(|(_, next)| next.stream);
            let is_complete = next == Some(head.stream);
            is_busy |= self.drain_packet(*packet, head, is_complete);
        }
        self.drain_losses(all);
        let folder = self.folder.as_ref().map(|(folder, _)| folder);
        self.space.forget_old(folder);
        let reports = &self.mapped.memory().header().reports;
        reports.bytes.store(self.space.bytes, Ordering::Relaxed);
        reports.unwritten.store(self.unwritten, Ordering::Relaxed);
        is_busy
    }

    /// The recording has ended, and so has the process perhaps: writes everything that is left.
    pub fn finish(&mut self) {
        self.space.is_final = true;
        self.drain(true);
        // A packet that was seen before the one that comes before it is in order the second time.
        self.takes_gaps = true;
        self.drain(true);
        self.tell_losses();
        let memory = self.mapped.memory();
        if let Some((folder, _)) = &self.folder {
            let link = CString::new(MEMORY_LINK).unwrap_or_default();
            folder.remove(&link);
            memory
                .header()
                .recording
                .last_epoch
                .store(0, Ordering::Release);
        }
        // Packets that are full are of use to the next recording.
        for packet in 0..memory.layout().packets() {
            if let Some(info) = memory.info(packet)
                && info.state.load(Ordering::Acquire) == FULL
                && info.epoch.load(Ordering::Acquire) == self.generation
            {
                recycle(memory, memory.header(), packet);
            }
        }
    }

    /// Says of every stream what was dropped, now that nothing more is written: what this says is what [`discarded`](Self::discarded) says from
    /// here on, also if a thread that is late drops something.
    fn tell_losses(&mut self) {
        let losses = self.mapped.memory().losses(self.generation);
        self.dropped = Some(losses.sum());
        let Some((folder, _)) = &self.folder else {
            return;
        };
        let now = clock::monotonic();
        // What no file of its own tells, because there was no room for one, is reported by the stream of initialisation.
        let mut homeless = self.lost.unreported(losses.elsewhere);
        for (number, stream) in &mut self.streams {
            let dropped = losses.by_stream.get(number).copied().unwrap_or(0);
            match stream.account(folder, now, dropped) {
                Ok(left) => homeless = homeless.saturating_add(left),
                Err(error) => self.mapped.note_error(error),
            }
        }
        let silent = losses.by_stream.iter();
        for (_, dropped) in silent.filter(|(number, _)| !self.streams.contains_key(number)) {
            homeless = homeless.saturating_add(*dropped);
        }
        if let Err(error) = self.init.account(folder, now, homeless) {
            self.mapped.note_error(error);
        }
    }

    /// Writes how many events were lost that no stream of a thread tells of.
    fn drain_losses(&mut self, all: bool) {
        let lost = self.mapped.memory().lost();
        let now = clock::monotonic();
        let is_due = all || self.lost.is_due(now);
        if self.lost.unreported(lost) == 0 || !is_due || self.make_folder().is_err() {
            return;
        }
        let Some((folder, _)) = &self.folder else {
            return;
        };
        match self.lost.write(folder, now, lost) {
            Ok(grown) => self.space.bytes += grown,
            Err(error) => self.mapped.note_error(error),
        }
    }

    /// Packets of this recording that are full, or all, in the order of their streams.
    fn waiting(&self, all: bool) -> Vec<(u32, Head)> {
        let memory = self.mapped.memory();
        let free = &memory.header().free;
        if !all && free.full.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let layout = memory.layout();
        let small = free
            .small_supplied
            .load(Ordering::Acquire)
            .min(layout.small);
        let large = free
            .large_supplied
            .load(Ordering::Acquire)
            .min(layout.large);
        let first_large = layout.small;
        let packets = (0..small).chain(first_large..first_large + large);
        let mut waiting = Vec::new();
        for packet in packets {
            let Some(info) = memory.info(packet) else {
                break;
            };
            let state = info.state.load(Ordering::Acquire);
            let is_wanted = state == FULL || all && state == HELD;
            if !is_wanted {
                continue;
            }
            let epoch = info.epoch.load(Ordering::Acquire);
            if epoch == self.generation {
                // SAFETY: a packet with an epoch was begun, and only its writer or we can end that.
                let head = unsafe { memory.packet(packet).0.head() };
                waiting.push((packet, head));
            } else if state == FULL {
                // Of a recording that has ended.
                recycle(memory, memory.header(), packet);
            }
        }
        waiting.sort_by_key(|(_, head)| (head.stream, head.number));
        waiting
    }

    /// Writes one packet. One that comes too early, because the one before was seen before it was full, waits for the next time, as long as
    /// there is one.
    fn drain_packet(&mut self, packet: u32, head: &Head, is_complete: bool) -> bool {
        let memory = *self.mapped.memory();
        let Some(info) = memory.info(packet) else {
            return false;
        };
        let number = info.stream.load(Ordering::Relaxed);
        let uuid = self.uuid;
        let stream = self.streams.entry(number).or_insert_with(|| {
            DiskStream::new(
                format!("thread_{}", u64::from(number) + 1),
                uuid,
                u64::from(number) + 1,
            )
        });
        let can_be_recycled = info.state.load(Ordering::Acquire) == FULL;
        if !stream.accepts(head.number) {
            let is_past = stream.is_past(head.number);
            if can_be_recycled && is_past {
                recycle(&memory, memory.header(), packet);
            }
            if is_past || !self.takes_gaps {
                return false;
            }
        }
        let is_full = can_be_recycled || is_complete;
        // The size may have grown since; what is full does not change any more.
        fence(Ordering::Acquire);
        let (place, bytes) = memory.packet(packet);
        // SAFETY: the packet was begun, and stays as long as it is not recycled.
        let head = unsafe { place.head() };
        if head.content_bytes < HEAD || head.content_bytes > bytes {
            return false;
        }
        let events = u64::from(info.events.load(Ordering::Acquire));
        if !is_full && head.content_bytes == HEAD {
            return false;
        }
        if !is_full && stream.has(head.begin, head.content_bytes) {
            // An event is there a moment before it is counted.
            self.partial.insert(number, events);
            return false;
        }
        if self.space.must_wait() {
            return false;
        }
        // SAFETY: complete up to there, and only its writer adds behind it.
        let content = unsafe {
            sync::will_read(place.0.add(HEAD), head.content_bytes - HEAD);
            std::slice::from_raw_parts(place.0, head.content_bytes)
        };
        let room = self.space.room_for(head.content_bytes, self.open_folder());
        let written = match room {
            Ok(()) => self.write_packet(number, &head, content, is_full),
            Err(error) => Err(error),
        };
        match written {
            Ok(()) if is_full => {
                self.events += events;
                self.partial.remove(&number);
            }
            Ok(()) => {
                self.partial.insert(number, events);
            }
            Err(error) => {
                self.mapped.note_error(error);
                if is_full || self.space.is_final {
                    // What was written before it was full is there.
                    let events = events.saturating_sub(self.partial.remove(&number).unwrap_or(0));
                    self.count_unwritten(number, &head, events);
                }
            }
        }
        if can_be_recycled {
            recycle(&memory, memory.header(), packet);
        }
        true
    }

    /// Says on the disk at once that a packet is missing, since whoever knows it may be killed; where the stream has no file, in memory.
    fn count_unwritten(&mut self, number: u32, head: &Head, events: u64) {
        let Some(stream) = self.streams.get_mut(&number) else {
            return;
        };
        stream.miss(head.number, events);
        let reported = match &self.folder {
            Some((folder, _)) => stream.account(folder, head.end, head.discarded),
            None => Ok(events),
        };
        match reported {
            Ok(0) => {
                self.unwritten += events;
                // For whoever goes on with this work.
                if let Some(it) = self.mapped.memory().stream(number) {
                    it.unwritten.store(stream.unwritten(), Ordering::Relaxed);
                }
            }
            _ => {
                stream.forgive(events);
                let lost = &self.mapped.memory().header().reports.lost;
                lost.fetch_add(events, Ordering::Relaxed);
            }
        }
    }

    fn write_packet(
        &mut self,
        number: u32,
        head: &Head,
        content: &[u8],
        is_full: bool,
    ) -> Result<(), i32> {
        self.make_folder()?;
        let (Some((folder, _)), Some(stream)) = (&self.folder, self.streams.get_mut(&number))
        else {
            return Err(libc::EIO);
        };
        let is_flight = self.space.is_flight();
        let (grown, complete) = stream.write(folder, head, content, is_full, is_flight)?;
        self.space.note_written(grown, complete);
        Ok(())
    }

    /// Writes what the statedump has that is not written yet.
    pub fn drain_initialisation(&mut self) -> bool {
        let memory = *self.mapped.memory();
        let header = memory.header();
        let last = self.init.last;
        let began = header.dump.began.load(Ordering::Relaxed);
        let mut full = Vec::new();
        let init = &mut self.init;
        let mask = self.command.mask;
        let is_recorded = |event: u16| mask[usize::from(event) / 64] >> (event % 64) & 1 == 1;
        let found = entries(&memory, |all| {
            for entry in all.filter(|entry| entry.number > last) {
                // What was gone before the recording began is not part of it.
                if (entry.is_live || entry.number > began) && is_recorded(entry.event) {
                    init.add(&entry);
                    if init.is_full() {
                        full.push(());
                        break;
                    }
                } else {
                    init.last = entry.number;
                }
            }
        });
        if found.is_none() || self.init.last == last {
            return false;
        }
        let written = match self.make_folder() {
            Ok(()) => match &self.folder {
                Some((folder, _)) => self.init.write(folder),
                None => Err(libc::EIO),
            },
            Err(error) => Err(error),
        };
        match written {
            Ok(grown) => self.space.bytes += grown,
            Err(error) => self.mapped.note_error(error),
        }
        if header.recording.epoch.load(Ordering::Acquire) == self.generation {
            header.dump.written.store(self.init.last, Ordering::Release);
        }
        // A packet was full: there is more.
        if !full.is_empty() {
            self.drain_initialisation();
        }
        true
    }
}
