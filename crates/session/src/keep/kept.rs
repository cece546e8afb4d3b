//! One process in one recording, as its keeper writes it to the disk.
//!
//! The folder of the process is made when there is something to write. Streams become files; what the statedump remembers comes first.
//! Whatever cannot be written is counted, in the next packet of its stream or in the last one that is there.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::clock;
use crate::keep::disk_stream::{CompleteFile, DiskStream};
use crate::keep::folder::Folder;
use crate::keep::init_stream::InitStream;
use crate::keep::mapped::Mapped;
use crate::keep::metadata;
use crate::keep::orders;
use crate::memory::dump::entries;
use crate::memory::packet::{HEAD, Head};
use crate::memory::pool::{FULL, HELD};
use crate::memory::supply::recycle;
use crate::order::{Order, State};

/// In the folder of a process that is being recorded: names the file of its memory, where the newest events are.
pub const MEMORY_LINK: &str = ".memory";
/// Losses that no stream tells of are written at most so often.
const BETWEEN_LOSSES: u64 = 100_000_000;
/// The disk is asked for its room at most so often.
const BETWEEN_LOOKS: u64 = 50_000_000;

#[derive(Debug)]
pub struct Kept {
    mapped: Arc<Mapped>,
    generation: u64,
    order: Order,
    uuid: [u64; 2],
    init: InitStream,
    streams: BTreeMap<u32, DiskStream>,
    folder: Option<(Folder, PathBuf)>,
    /// The folder above it was made for it, too.
    made_directory: bool,
    /// Of a folder that could not be made.
    error: i32,
    /// Losses that no stream tells of: what there was when the recording began, what is on the disk, and when that was.
    lost_before: u64,
    lost: Option<(DiskStream, u64)>,
    lost_told: u64,
    lost_at: u64,
    /// In packets that are complete on the disk, and in those that are not.
    events: u64,
    partial: BTreeMap<u32, u64>,
    bytes: u64,
    unwritten: u64,
    complete: VecDeque<CompleteFile>,
    disk_looked: u64,
    disk_is_short: bool,
    /// What is not written now never will be.
    is_final: bool,
}

impl Kept {
    /// The recording has begun in the process's memory.
    pub fn new(mapped: Arc<Mapped>, generation: u64, order: &Order) -> Kept {
        let header = mapped.memory().header();
        let uuid = std::array::from_fn(|half| header.orders.uuid[half].load(Ordering::Relaxed));
        let process = header.identity().pid;
        let now = clock::monotonic();
        Kept {
            generation,
            order: order.clone(),
            uuid,
            init: InitStream::new(uuid, process),
            streams: BTreeMap::new(),
            folder: None,
            made_directory: false,
            error: 0,
            lost_before: header.reports.lost_before.load(Ordering::Relaxed),
            lost: None,
            lost_told: 0,
            lost_at: now,
            events: 0,
            partial: BTreeMap::new(),
            bytes: 0,
            unwritten: 0,
            complete: VecDeque::new(),
            disk_looked: 0,
            disk_is_short: false,
            is_final: false,
            mapped,
        }
    }

    /// Goes on with what another keeper, who is gone, wrote into this folder. None if that is not a recording of this memory.
    pub fn resume(mapped: Arc<Mapped>, path: &Path) -> Option<Kept> {
        let header = mapped.memory().header();
        let generation = header.orders.last_epoch.load(Ordering::Acquire);
        let directory = path.parent()?.as_os_str().as_bytes();
        let named = std::fs::read(path.join(MEMORY_LINK)).ok()?;
        if generation == 0 || mapped.path()?.as_os_str().as_bytes() != named {
            return None;
        }
        let folder = Folder::open(path).ok()?;
        if !folder.is_ours() {
            return None;
        }
        let written = header.dump.written.load(Ordering::Acquire);
        let order = orders::standing(mapped.memory(), directory);
        let bytes = header.reports.bytes.load(Ordering::Relaxed);
        let mut kept = Kept::new(mapped, generation, &order);
        kept.bytes = bytes;
        for entry in std::fs::read_dir(path).ok()?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some((stream, file)) = name.rsplit_once('_') else {
                continue;
            };
            let Ok(file) = file.parse::<u32>() else {
                continue;
            };
            kept.resume_file(&entry.path(), stream, file);
        }
        kept.init.last = written;
        kept.folder = Some((folder, path.to_owned()));
        Some(kept)
    }

    fn resume_file(&mut self, path: &Path, name: &str, file: u32) {
        let uuid = self.uuid;
        let memory = *self.mapped.memory();
        let resume = |stream: u64| {
            let number = u32::try_from(stream).ok().and_then(|it| it.checked_sub(1));
            let unwritten = number
                .and_then(|number| memory.stream(number))
                .filter(|it| it.epoch.load(Ordering::Acquire) == self.generation)
                .map_or(0, |it| it.unwritten.load(Ordering::Relaxed));
            DiskStream::resume(path, unwritten, name.to_owned(), uuid, stream, file)
        };
        match name.strip_prefix("thread_").map(str::parse::<u32>) {
            Some(Ok(number @ 1..)) => {
                let Ok(stream) = resume(number.into()) else {
                    return;
                };
                let before = self.streams.get(&(number - 1));
                if before.is_none_or(|before| before.file_number() <= file) {
                    self.streams.insert(number - 1, stream);
                }
            }
            _ if name == "init" => {
                if let Ok(stream) = resume(0) {
                    self.init.resume(stream);
                }
            }
            _ if name == "lost" => {
                if let Ok(stream) = resume(u64::from(u32::MAX)) {
                    self.lost_told = stream.discarded();
                    self.lost = Some((stream, 0));
                }
            }
            _ => {}
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
        &self.order.directory
    }

    /// Events that are on the disk.
    pub fn events(&self) -> u64 {
        self.events + self.init.events + self.partial.values().sum::<u64>()
    }

    /// Events that are known to be missing.
    pub fn discarded(&self) -> u64 {
        let header = self.mapped.memory().header();
        let lost = header
            .reports
            .lost
            .load(Ordering::Relaxed)
            .saturating_sub(self.lost_before);
        let made = header.free.streams_made.load(Ordering::Acquire);
        let memory = self.mapped.memory();
        let of_streams: u64 = (0..made)
            .filter_map(|number| memory.stream(number))
            .filter(|stream| stream.epoch.load(Ordering::Acquire) == self.generation)
            .map(|stream| stream.discarded.load(Ordering::Relaxed))
            .fold(0, u64::saturating_add);
        of_streams
            .saturating_add(lost)
            .saturating_add(self.unwritten)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Makes the folder before there is anything to write, so that it names the memory whatever happens next. The error is an `errno`.
    pub fn prepare(&mut self) -> Result<(), i32> {
        self.make_folder()
    }

    /// Removes a folder in which nothing was written.
    pub fn remove_if_empty(&mut self) {
        if self.events() + self.discarded() > 0 {
            return;
        }
        if let Some((folder, path)) = self.folder.take() {
            for name in [c"metadata", c"init_0", c".memory"] {
                folder.remove(name);
            }
            let _ = std::fs::remove_dir(&path);
            if let Some(directory) = path.parent().filter(|_| self.made_directory) {
                let _ = std::fs::remove_dir(directory);
            }
        }
    }

    /// Writes what is full, and, with `all`, also what is not. Returns whether there was anything.
    pub fn drain(&mut self, all: bool) -> bool {
        self.look_at_disk();
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
        if self.order.state == State::Flight {
            self.forget_old();
        }
        let reports = &self.mapped.memory().header().reports;
        reports.bytes.store(self.bytes, Ordering::Relaxed);
        reports.unwritten.store(self.unwritten, Ordering::Relaxed);
        is_busy
    }

    /// The recording has ended, and so has the process perhaps: writes everything that is left.
    pub fn finish(&mut self) {
        self.is_final = true;
        self.drain(true);
        let now = clock::monotonic();
        let memory = self.mapped.memory();
        if let Some((folder, _)) = &self.folder {
            // What no file of its own tells, because there was no room for one, is told by the stream of initialisation.
            let lost = memory.header().reports.lost.load(Ordering::Relaxed);
            let mut homeless = lost
                .saturating_sub(self.lost_before)
                .saturating_sub(self.lost_told);
            for (number, stream) in &mut self.streams {
                let discarded = memory
                    .stream(*number)
                    .filter(|it| it.epoch.load(Ordering::Acquire) == self.generation)
                    .map_or(0, |it| it.discarded.load(Ordering::Relaxed));
                match stream.account(folder, now, discarded) {
                    Ok(left) => homeless = homeless.saturating_add(left),
                    Err(error) => self.mapped.note_error(error),
                }
            }
            if let Err(error) = self.init.account(folder, now, homeless) {
                self.mapped.note_error(error);
            }
            let link = CString::new(MEMORY_LINK).unwrap_or_default();
            folder.remove(&link);
            memory
                .header()
                .orders
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

    /// Writes one packet. One that comes too early, because the one before was seen before it was full, waits for the next time.
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
            if can_be_recycled && stream.is_past(head.number) {
                recycle(&memory, memory.header(), packet);
            }
            return false;
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
        if !is_full && (head.content_bytes == HEAD || stream.has(head.begin, head.content_bytes)) {
            return false;
        }
        if self.disk_is_short && !self.is_final {
            // It waits in memory: perhaps there is room again, or somebody ends the recording.
            return false;
        }
        let events = u64::from(info.events.load(Ordering::Relaxed));
        // SAFETY: complete up to there, and only its writer adds behind it.
        let content = unsafe { std::slice::from_raw_parts(place.0, head.content_bytes) };
        let is_flight = self.order.state == State::Flight;
        let written = match self.room_for(head.content_bytes) {
            Ok(()) => self.write_packet(number, &head, content, is_full, is_flight),
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
                if is_full || self.is_final {
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
        let told = match &self.folder {
            Some((folder, _)) => stream.account(folder, head.end, head.discarded),
            None => Ok(events),
        };
        match told {
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
        is_flight: bool,
    ) -> Result<(), i32> {
        self.make_folder()?;
        let (Some((folder, _)), Some(stream)) = (&self.folder, self.streams.get_mut(&number))
        else {
            return Err(libc::EIO);
        };
        let (grown, complete) = stream.write(folder, head, content, is_full, is_flight)?;
        self.bytes += grown;
        self.complete.extend(complete);
        Ok(())
    }

    /// Whether so many bytes may be written.
    fn room_for(&self, bytes: usize) -> Result<(), i32> {
        let limit = self.order.room.process_bytes;
        if limit > 0 && self.bytes + bytes as u64 > limit {
            return Err(libc::ENOSPC);
        }
        let keep_free = self.order.room.keep_free;
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

    fn look_at_disk(&mut self) {
        let keep_free = self.order.room.keep_free;
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

    /// Writes what the statedump has that is not written yet.
    fn drain_initialisation(&mut self) -> bool {
        let memory = *self.mapped.memory();
        let header = memory.header();
        let last = self.init.last;
        let began = header.dump.began.load(Ordering::Relaxed);
        let mut full = Vec::new();
        let init = &mut self.init;
        let mask = self.order.mask;
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
            Ok(grown) => self.bytes += grown,
            Err(error) => self.mapped.note_error(error),
        }
        if header.orders.epoch.load(Ordering::Acquire) == self.generation {
            header.dump.written.store(self.init.last, Ordering::Release);
        }
        // A packet was full: there is more.
        if !full.is_empty() {
            self.drain_initialisation();
        }
        true
    }

    /// Writes how many events were lost that no stream tells of: an empty packet for each stretch of time.
    fn drain_losses(&mut self, all: bool) {
        let header = self.mapped.memory().header();
        let lost = header
            .reports
            .lost
            .load(Ordering::Relaxed)
            .saturating_sub(self.lost_before);
        let now = clock::monotonic();
        if lost <= self.lost_told || !all && now < self.lost_at + BETWEEN_LOSSES {
            return;
        }
        if self.make_folder().is_err() {
            return;
        }
        let uuid = self.uuid;
        let number = u64::from(u32::MAX);
        let (stream, count) = self
            .lost
            .get_or_insert_with(|| (DiskStream::new("lost".to_owned(), uuid, number), 0));
        *count += 1;
        let head = Head {
            uuid,
            stream: number,
            begin: self.lost_at,
            end: now,
            content_bytes: HEAD,
            packet_bytes: HEAD,
            number: *count,
            discarded: lost,
        };
        let Some((folder, _)) = &self.folder else {
            return;
        };
        match stream.write(folder, &head, &[0; HEAD], true, false) {
            Ok((grown, _)) => {
                self.bytes += grown;
                self.lost_told = lost;
                self.lost_at = now;
            }
            Err(error) => {
                *count -= 1;
                self.mapped.note_error(error);
            }
        }
    }

    /// Deletes what a flight recorder need not keep: what is older, or more, than was asked for. Initialisation stays.
    fn forget_old(&mut self) {
        let room = &self.order.room;
        let oldest = match room.flight_nanos {
            0 => 0,
            nanos => clock::monotonic().saturating_sub(nanos),
        };
        let Some((folder, _)) = &self.folder else {
            return;
        };
        while let Some(file) = self.complete.front() {
            let is_old = file.end < oldest;
            let is_more =
                room.flight_bytes > 0 && self.bytes.saturating_sub(file.bytes) >= room.flight_bytes;
            if !is_old && !is_more {
                break;
            }
            folder.remove(&file.name);
            self.bytes -= file.bytes;
            self.complete.pop_front();
        }
    }

    /// Makes the folder of the process, `NAME-PID-STARTED`, with its metadata, if that was not done yet.
    fn make_folder(&mut self) -> Result<(), i32> {
        if self.folder.is_some() {
            return Ok(());
        }
        if self.error != 0 {
            return Err(self.error);
        }
        let made = self.new_folder();
        match made {
            Ok((folder, path)) => {
                // Initialisation may have happened in a parent, before there was this memory.
                let memory = self.mapped.memory();
                let first = entries(memory, |all| all.next().map(|entry| entry.time));
                let made = memory.header().made.load(Ordering::Relaxed);
                let begin = first.flatten().unwrap_or(made).min(made);
                match self.init.open(&folder, begin) {
                    Ok(bytes) => self.bytes += bytes,
                    Err(error) => self.mapped.note_error(error),
                }
                self.folder = Some((folder, path));
                Ok(())
            }
            Err(error) => {
                self.error = error;
                Err(error)
            }
        }
    }

    fn new_folder(&mut self) -> Result<(Folder, PathBuf), i32> {
        let directory = PathBuf::from(OsStr::from_bytes(&self.order.directory));
        // The recorder has made it; a process that records by itself has not.
        if !directory.is_dir() {
            std::fs::create_dir_all(&directory)
                .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
            self.made_directory = true;
        }
        let parent = Folder::open(&directory)?;
        let header = self.mapped.memory().header();
        let identity = header.identity();
        let name = format!(
            "{}-{}-{}",
            file_name(&identity.name),
            identity.pid,
            identity.start_time
        );
        // Under a hidden name first, which is the same for whoever has to do it again: readers find all of it or nothing.
        let hidden = CString::new(format!(".{name}")).map_err(|_| libc::EINVAL)?;
        let folder = parent.make(&hidden)?;
        if let Err(error) = self.describe(&folder) {
            parent.remove_folder(&hidden);
            return Err(error);
        }
        for attempt in 0..10_000 {
            let name = match attempt {
                0 => name.clone(),
                more => format!("{name}-{more}"),
            };
            let text = CString::new(name.as_str()).map_err(|_| libc::EINVAL)?;
            match parent.rename(&hidden, &text) {
                Ok(()) => return Ok((folder, directory.join(name))),
                // The process has recorded here before.
                Err(libc::EEXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Err(libc::EEXIST)
    }

    /// Writes what readers need before the first stream exists.
    fn describe(&self, folder: &Folder) -> Result<(), i32> {
        let header = self.mapped.memory().header();
        let text = metadata::text(header, self.uuid, clock::offset());
        folder.write_at_once(c"metadata", c".metadata", text.as_bytes())?;
        // Empty where there is no file: it still says that the trace is not complete.
        let path = self.mapped.path().map(|path| path.as_os_str().as_bytes());
        let link = CString::new(MEMORY_LINK).unwrap_or_default();
        folder.write_at_once(&link, c".memory-new", path.unwrap_or_default())
    }
}

/// The name of a program, fit for the name of a folder.
fn file_name(name: &[u8; 16]) -> String {
    let name: String = name
        .iter()
        .take_while(|byte| **byte != 0)
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'+' => *byte as char,
            _ => '_',
        })
        .collect();
    match name.trim_start_matches('.') {
        "" => "process".to_owned(),
        name => name.to_owned(),
    }
}
