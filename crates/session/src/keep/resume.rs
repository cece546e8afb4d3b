//! A keeper that goes on with the work of one that is gone.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::keep::disk_stream::DiskStream;
use crate::keep::folder::Folder;
use crate::keep::kept::{Kept, MEMORY_LINK};
use crate::keep::loss_stream;
use crate::keep::mapped::Mapped;
use crate::keep::start_stop;

impl Kept {
    /// Goes on with what another keeper, who is gone, wrote into this folder. None if that is not a recording of this memory.
    pub fn resume(mapped: Arc<Mapped>, path: &Path) -> Option<Kept> {
        let header = mapped.memory().header();
        let generation = header.recording.last_epoch.load(Ordering::Acquire);
        let directory = path.parent()?.as_os_str().as_bytes();
        let named = std::fs::read(path.join(MEMORY_LINK)).ok()?;
        let is_of_memory = mapped.path()?.as_os_str().as_bytes() == named;
        if generation == 0 || !is_of_memory || !is_recorded_in(&header.directory(), path) {
            return None;
        }
        let folder = Folder::open(path).ok()?;
        if !folder.is_ours() {
            return None;
        }
        let written = header.dump.written.load(Ordering::Acquire);
        let command = start_stop::standing_command(mapped.memory(), directory);
        let reported = header.reports.bytes.load(Ordering::Relaxed);
        let mut kept = Kept::new(mapped, generation, &command);
        for entry in std::fs::read_dir(path).ok()?.flatten() {
            // It may have been killed after it wrote, and before it said so: a limit is of what is there.
            kept.space.bytes += entry.metadata().map_or(0, |it| it.len());
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some((stream, file)) = name.rsplit_once('_') else {
                continue;
            };
            let Ok(file) = file.parse::<u32>() else {
                continue;
            };
            kept.resume_file(&entry.path(), stream, file);
        }
        kept.space.bytes = kept.space.bytes.max(reported);
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
            _ if name == loss_stream::NAME => {
                if let Ok(stream) = resume(loss_stream::NUMBER) {
                    self.lost.resume(stream);
                }
            }
            _ => {}
        }
    }
}

/// Whether a memory is recorded into this folder of a process. A copy of the folder, or what somebody else made, may name the memory too, but
/// its events belong to the trace that the memory names; where that is gone, it was moved, and may be this one.
fn is_recorded_in(directory: &[u8], folder: &Path) -> bool {
    let Ok(folder) = std::fs::canonicalize(folder) else {
        return false;
    };
    match std::fs::canonicalize(OsStr::from_bytes(directory)) {
        Ok(directory) => folder.parent() == Some(&directory),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

#[cfg(all(test, not(feature = "models")))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::ffi::CString;
    use std::path::PathBuf;

    use super::*;
    use crate::command::Command;
    use crate::keep::{collect, start_recording};
    use crate::memory::Memory;
    use crate::memory::header::Introduction;
    use crate::memory::writer::Writer;

    const GENERATION: u64 = 2;

    /// A thread that writes so many events.
    fn write(memory: &Memory, writer: &mut Writer, times: std::ops::Range<u64>) {
        for time in times {
            let reserved = writer.reserve(memory, 7, time, &[3; 32], 8);
            let reserved = reserved.expect("there is room");
            // SAFETY: there is room for so many bytes.
            unsafe { reserved.at.cast::<u64>().write_unaligned(time) };
            writer.commit(time, reserved);
        }
    }

    /// What all packets of a trace say is missing.
    fn reported(folder: &Path) -> u64 {
        let files = std::fs::read_dir(folder).unwrap().flatten();
        let streams = files.filter(|it| it.file_name().to_string_lossy().ends_with("_0"));
        let discarded = |path: PathBuf| {
            let stream = DiskStream::resume(&path, 0, String::new(), [0; 2], 0, 0);
            stream.unwrap().discarded()
        };
        streams.map(|it| discarded(it.path())).sum()
    }

    /// The first packet of the thread found no room on the disk, and so had no file that would say that it is missing; then the keeper was killed.
    #[test]
    fn a_stream_without_a_file_is_accounted_for_by_who_comes_next_in_this_trace_alone() {
        const EVENTS: u64 = 300;
        let name = format!("rostrace-test-resume-{}", std::process::id());
        let trace = std::env::temp_dir().join(&name);
        let file = Path::new("/dev/shm").join(&name);
        let path = CString::new(file.as_os_str().as_bytes()).unwrap();
        let memory = Memory::create(&path, &Introduction::OF_A_TEST).unwrap();
        memory.publish();
        let mapped = Arc::new(Mapped::open(&file).unwrap());
        let mut command = Command::record(trace.as_os_str().as_bytes());
        command.settings.process_bytes = 1;
        let allocate = |at, bytes| mapped.allocate(at, bytes);
        start_recording(mapped.memory(), GENERATION, &command, &allocate).unwrap();
        let mut kept = Kept::new(Arc::clone(&mapped), GENERATION, &command);
        kept.prepare().unwrap();

        let mut writer = Writer::NONE;
        assert!(writer.attach(mapped.memory(), GENERATION, GENERATION, 1));
        write(mapped.memory(), &mut writer, 1..EVENTS);
        kept.drain(false);
        let folder = kept.folder().unwrap().to_owned();
        assert!(
            (1..EVENTS).contains(&kept.discarded()),
            "one packet was full"
        );
        drop(kept);
        write(mapped.memory(), &mut writer, EVENTS..2 * EVENTS);

        // A copy names the memory as well, and gets nothing of it while the trace is there.
        let copy = trace.with_extension("copy").join("process");
        std::fs::create_dir_all(&copy).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
        assert!(!collect::finish(&mapped, &copy));
        // A trace that was moved is still the one.
        let moved = trace.with_extension("moved");
        std::fs::rename(&trace, &moved).unwrap();
        let folder = moved.join(folder.file_name().unwrap());
        assert!(collect::finish(&mapped, &folder));
        let reported = reported(&folder);
        for trace in [&moved, copy.parent().unwrap()] {
            std::fs::remove_dir_all(trace).unwrap();
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(reported, 2 * EVENTS - 1);
    }
}
