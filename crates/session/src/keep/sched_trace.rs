//! The trace of context switches in a recording: the folder `sched` beside those of the processes, with a stream for each CPU. That of
//! samples, in the folder `samples`, is of the same make.
//!
//! The recorder hears of them from the kernel, so there is no memory of a process behind it: a [`SchedBuffer`] has what is not on the disk
//! yet. What is true of the traces of processes is true of this one: its limit, what stays free on the disk, what a flight recorder keeps,
//! and that whatever could not be written is counted.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock;
use crate::command::Command;
use crate::events::{Event, SAMPLE_EVENTS, SCHED_EVENTS};
use crate::keep::disk_space::DiskSpace;
use crate::keep::disk_stream::DiskStream;
use crate::keep::folder::Folder;
use crate::keep::metadata;
use crate::keep::sched_buffer::{SchedBuffer, SchedPacket, THREADS};
use crate::keep::start_stop::random_uuid;
use crate::memory::packet::Head;

/// The name of the folder.
pub const SCHED_FOLDER: &str = "sched";
/// That of the samples of call stacks.
pub const SAMPLES_FOLDER: &str = "samples";

/// What sets the traces apart that the recorder itself writes.
#[derive(Debug)]
struct Content {
    folder: &'static str,
    events: &'static [Event],
    /// The stream of what is true from then on, which a flight recorder keeps.
    lasting: &'static str,
}

#[derive(Debug)]
pub struct SchedTrace {
    content: Content,
    directory: Vec<u8>,
    uuid: [u64; 2],
    /// Those that can be in it, by number.
    declared: Vec<u16>,
    /// Nothing in it is older.
    begin: u64,
    clock_offset: i64,
    streams: BTreeMap<u64, DiskStream>,
    folder: Option<Folder>,
    /// Why the folder could not be made; it is not tried again.
    unmade: Option<i32>,
    /// Of something that could not be written.
    error: i32,
    space: DiskSpace,
    events: u64,
    /// Of packets on the disk that are not full, by stream.
    partial: BTreeMap<u64, u64>,
    unwritten: u64,
    /// Of `unwritten`, what no stream of a CPU could tell, because it has no file.
    homeless: u64,
}

impl SchedTrace {
    /// With these events, by number.
    pub fn new(command: &Command, declared: Vec<u16>) -> SchedTrace {
        SchedTrace::with(
            command,
            Content {
                folder: SCHED_FOLDER,
                events: &SCHED_EVENTS,
                lasting: "threads",
            },
            declared,
        )
    }

    /// The trace of samples.
    pub fn of_samples(command: &Command) -> SchedTrace {
        SchedTrace::with(
            command,
            Content {
                folder: SAMPLES_FOLDER,
                events: &SAMPLE_EVENTS,
                lasting: "mappings",
            },
            (0..)
                .zip(&SAMPLE_EVENTS)
                .map(|(number, _)| number)
                .collect(),
        )
    }

    fn with(command: &Command, content: Content, declared: Vec<u16>) -> SchedTrace {
        SchedTrace {
            content,
            directory: command.directory.clone(),
            uuid: random_uuid(),
            declared,
            begin: clock::monotonic(),
            clock_offset: command.clock_offset.unwrap_or_else(clock::offset),
            streams: BTreeMap::new(),
            folder: None,
            unmade: None,
            error: 0,
            space: DiskSpace::new(&command.settings),
            events: 0,
            partial: BTreeMap::new(),
            unwritten: 0,
            homeless: 0,
        }
    }

    /// Events that are on the disk.
    pub fn events(&self) -> u64 {
        self.events + self.partial.values().sum::<u64>()
    }

    /// Events that could not be written; what was lost before that, the buffer knows.
    pub fn unwritten(&self) -> u64 {
        self.unwritten
    }

    pub fn bytes(&self) -> u64 {
        self.space.bytes
    }

    /// Why something could not be written, as an `errno`; 0 if nothing is amiss.
    pub fn error(&self) -> i32 {
        self.error
    }

    /// Makes the folder, before there is anything to write.
    pub fn prepare(&mut self) {
        if let Err(error) = self.make_folder() {
            self.error = error;
        }
    }

    /// Writes what is full, and, with `all`, also what is not. Returns whether there was anything.
    pub fn drain(&mut self, buffer: &Mutex<SchedBuffer>, all: bool) -> bool {
        self.prepare();
        self.space.look_at_disk(self.folder.as_ref());
        if self.space.must_wait() {
            return false;
        }
        let (full, open) = {
            let mut buffer = lock(buffer);
            let open = if all { buffer.copy_open() } else { Vec::new() };
            (buffer.take_full(), open)
        };
        let is_busy = !full.is_empty();
        for (stream, packet) in &full {
            self.write(*stream, packet, true);
        }
        for (stream, packet) in &open {
            self.write(*stream, packet, false);
        }
        self.space.forget_old(self.folder.as_ref());
        is_busy
    }

    /// The recording has ended: writes everything that is left, and what was lost.
    pub fn finish(&mut self, buffer: &Mutex<SchedBuffer>) {
        self.space.is_final = true;
        self.drain(buffer, true);
        let Some(folder) = &self.folder else {
            return;
        };
        let now = clock::monotonic();
        let mut homeless = self.homeless;
        for (number, discarded) in lock(buffer).discarded() {
            let reported = match self.streams.get_mut(&number) {
                Some(stream) => stream.account(folder, now, discarded),
                None => Ok(discarded),
            };
            match reported {
                Ok(left) => homeless = homeless.saturating_add(left),
                Err(error) => self.error = error,
            }
        }
        let threads = self.streams.get_mut(&THREADS);
        if let Some(Err(error)) = threads.map(|it| it.account(folder, now, homeless)) {
            self.error = error;
        }
    }

    fn write(&mut self, number: u64, packet: &SchedPacket, is_full: bool) {
        let written = match self.make_folder() {
            Ok(()) => self.write_packet(number, packet, is_full),
            Err(error) => Err(error),
        };
        match written {
            Ok(()) if is_full => {
                self.events += packet.events;
                self.partial.remove(&number);
            }
            Ok(()) => {
                self.partial.insert(number, packet.events);
            }
            Err(error) => {
                self.error = error;
                if is_full || self.space.is_final {
                    // What was written before it was full is there.
                    let written = self.partial.remove(&number).unwrap_or(0);
                    self.events += written;
                    self.count_unwritten(number, packet, packet.events.saturating_sub(written));
                }
            }
        }
    }

    fn write_packet(
        &mut self,
        number: u64,
        packet: &SchedPacket,
        is_full: bool,
    ) -> Result<(), i32> {
        let bytes = packet.content.len();
        let stream = self.streams.entry(number).or_insert_with(|| {
            let name = match number {
                THREADS => self.content.lasting.to_owned(),
                cpu => format!("cpu_{cpu}"),
            };
            DiskStream::new(name, self.uuid, number)
        });
        if !is_full && stream.has(packet.begin, bytes) {
            return Ok(());
        }
        let folder = self.folder.as_ref().ok_or(libc::EIO)?;
        self.space.room_for(bytes, Some(folder))?;
        let head = Head {
            uuid: self.uuid,
            stream: number,
            begin: packet.begin,
            end: packet.end,
            content_bytes: bytes,
            packet_bytes: bytes,
            number: packet.number,
            discarded: packet.discarded,
        };
        // What threads are called is needed also for what a flight recorder keeps.
        let is_flight = self.space.is_flight() && number != THREADS;
        let (grown, complete) = stream.write(folder, &head, &packet.content, is_full, is_flight)?;
        match number {
            THREADS => self.space.bytes += grown,
            _ => self.space.note_written(grown, complete),
        }
        Ok(())
    }

    fn count_unwritten(&mut self, number: u64, packet: &SchedPacket, events: u64) {
        self.unwritten = self.unwritten.saturating_add(events);
        let stream = self.streams.get_mut(&number);
        let Some((stream, folder)) = stream.zip(self.folder.as_ref()) else {
            self.homeless = self.homeless.saturating_add(events);
            return;
        };
        stream.miss(packet.number, events);
        match stream.account(folder, packet.end, packet.discarded) {
            Ok(0) => {}
            _ => {
                stream.forgive(events);
                self.homeless = self.homeless.saturating_add(events);
            }
        }
    }

    fn make_folder(&mut self) -> Result<(), i32> {
        match self.unmade {
            _ if self.folder.is_some() => Ok(()),
            Some(error) => Err(error),
            None => self
                .new_folder()
                .inspect_err(|error| self.unmade = Some(*error)),
        }
    }

    /// With its metadata, and under a hidden name first: readers find all of it or nothing.
    fn new_folder(&mut self) -> Result<(), i32> {
        let parent = Folder::open(Path::new(OsStr::from_bytes(&self.directory)))?;
        let name = self.content.folder;
        let hidden = CString::new(format!(".{name}")).map_err(|_| libc::EINVAL)?;
        let folder = parent.make(&hidden)?;
        let (host, release) = machine();
        let text = metadata::recorder_text(
            (self.content.events, &self.declared),
            &host,
            &release,
            self.uuid,
            self.clock_offset,
        );
        let written = folder.write_at_once(c"metadata", c".metadata", text.as_bytes());
        let name = CString::new(name).map_err(|_| libc::EINVAL)?;
        let made = written.and_then(|()| parent.rename(&hidden, &name));
        if let Err(error) = made {
            folder.remove(c"metadata");
            parent.remove_folder(&hidden);
            return Err(error);
        }
        // It is there from the beginning, for what no other stream can tell.
        let mut threads = DiskStream::new(self.content.lasting.to_owned(), self.uuid, THREADS);
        match threads.open(&folder, self.begin) {
            Ok(bytes) => self.space.bytes += bytes,
            Err(error) => self.error = error,
        }
        self.streams.insert(THREADS, threads);
        self.folder = Some(folder);
        Ok(())
    }
}

/// Names of the host and of the kernel's release.
fn machine() -> (String, String) {
    // SAFETY: the structure is filled in when the call succeeds; zeroes are a valid value.
    let names = unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        libc::uname(&mut names);
        names
    };
    let text = |field: &[libc::c_char]| {
        let bytes = field.iter().map(|byte| *byte as u8);
        let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    (text(&names.nodename), text(&names.release))
}

fn lock(buffer: &Mutex<SchedBuffer>) -> MutexGuard<'_, SchedBuffer> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(feature = "models")))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::command::Flight;
    use crate::events::sched;

    /// A folder of its own, removed at the end.
    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new(name: &str) -> TestFolder {
            let name = format!("rostrace-test-sched-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir(&path).unwrap();
            TestFolder(path)
        }

        fn command(&self) -> Command {
            Command::record(self.0.as_os_str().as_bytes())
        }

        /// What the last packet of a file says was lost.
        fn discarded(&self, file: &str) -> u64 {
            let path = self.0.join("sched").join(file);
            let stream = DiskStream::resume(&path, 0, String::new(), [0; 2], 0, 0);
            stream.unwrap().discarded()
        }

        fn files(&self, prefix: &str) -> Vec<String> {
            let entries = std::fs::read_dir(self.0.join("sched")).unwrap().flatten();
            let names = entries.map(|it| it.file_name().into_string().unwrap());
            let mut names: Vec<String> = names.filter(|it| it.starts_with(prefix)).collect();
            names.sort();
            names
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn new_trace(command: &Command) -> SchedTrace {
        let declared = [sched::SWITCH_IN, sched::SWITCH_OUT, sched::THREAD_NAME];
        SchedTrace::new(command, declared.to_vec())
    }

    fn buffer() -> Mutex<SchedBuffer> {
        Mutex::new(SchedBuffer::new(64 << 20))
    }

    fn switch(buffer: &Mutex<SchedBuffer>, cpu: u32, times: std::ops::Range<u64>) {
        let mut buffer = lock(buffer);
        for time in times {
            buffer.switch_in(cpu, 2 * time, 7);
            buffer.switch_out(cpu, 2 * time + 1, 7, true);
        }
    }

    #[test]
    fn what_the_kernel_lost_is_reported_where_it_is_missing() {
        let place = TestFolder::new("lost");
        let (mut trace, buffer) = (new_trace(&place.command()), buffer());
        switch(&buffer, 3, 100..110);
        lock(&buffer).lose(3, 300, 5);
        assert!(trace.drain(&buffer, false));
        assert_eq!(place.discarded("cpu_3_0"), 5);
        switch(&buffer, 3, 200..210);
        switch(&buffer, 1, 200..210);
        trace.drain(&buffer, true);
        switch(&buffer, 1, 300..310);
        trace.finish(&buffer);
        assert_eq!((trace.events(), trace.unwritten()), (80, 0));
        assert_eq!(lock(&buffer).switches(), 40);
        assert_eq!(
            (place.discarded("cpu_3_0"), place.discarded("cpu_1_0")),
            (5, 0)
        );
    }

    #[test]
    fn what_a_limit_leaves_out_is_counted() {
        let place = TestFolder::new("limit");
        let mut command = place.command();
        command.settings.process_bytes = 1;
        let (mut trace, buffer) = (new_trace(&command), buffer());
        switch(&buffer, 0, 100..150);
        trace.drain(&buffer, true);
        trace.finish(&buffer);
        assert_eq!((trace.events(), trace.unwritten()), (0, 100));
        // It has no file of its own.
        assert_eq!(place.discarded("threads_0"), 100);
        assert_eq!(trace.error(), libc::ENOSPC);
    }

    #[test]
    fn what_does_not_fit_into_memory_is_counted_and_later_events_are_there() {
        let place = TestFolder::new("memory");
        let mut trace = new_trace(&place.command());
        let buffer = Mutex::new(SchedBuffer::new(100 << 10));
        switch(&buffer, 0, 0..100_000);
        let lost = lock(&buffer).lost();
        assert!((1..200_000).contains(&lost));
        trace.drain(&buffer, false);
        switch(&buffer, 0, 200_000..200_010);
        trace.finish(&buffer);
        assert_eq!(lock(&buffer).lost(), lost);
        assert_eq!(trace.events() + lost, 200_020);
        assert_eq!(place.discarded("cpu_0_0"), lost);
    }

    #[test]
    fn a_flight_recorder_keeps_the_newest_and_all_names() {
        let place = TestFolder::new("flight");
        let mut command = place.command();
        command.settings.flight = Some(Flight::Bytes(1 << 20));
        let (mut trace, buffer) = (new_trace(&command), buffer());
        lock(&buffer).thread_name(1, 7, 7, b"worker");
        for round in 0..20 {
            switch(&buffer, 0, round * 10_000..(round + 1) * 10_000);
            trace.drain(&buffer, true);
        }
        trace.finish(&buffer);
        let files = place.files("cpu_0_");
        assert!(!files.contains(&"cpu_0_0".to_owned()), "{files:?}");
        let bytes = |name: &String| {
            std::fs::metadata(place.0.join("sched").join(name))
                .unwrap()
                .len()
        };
        let kept: u64 = files.iter().map(bytes).sum();
        assert!((1 << 20..3 << 19).contains(&kept), "{kept}");
        assert_eq!(place.files("threads_"), ["threads_0"]);
    }
}
