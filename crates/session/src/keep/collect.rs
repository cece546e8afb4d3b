//! What is left when keeper and process are gone: the trace on the disk names the memory in which its newest events are, and whoever comes
//! next writes them down.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::keep::{Kept, MEMORY_LINK, Mapped, standing_command, stop_recording};
use crate::memory::header::read_text;

/// Completes the recordings below a folder whose processes are gone, and were not followed by anybody who would do it: `is_alive` says whether
/// a process is still there. Returns how many there were.
pub fn collect_below(trace: &Path, is_alive: &dyn Fn(&Mapped) -> bool) -> u64 {
    let mut count = u64::from(collect(trace, is_alive));
    for entry in std::fs::read_dir(trace).into_iter().flatten().flatten() {
        count += u64::from(collect(&entry.path(), is_alive));
    }
    // Processes that ended before they could make a folder.
    let Ok(trace) = std::fs::canonicalize(trace) else {
        return count;
    };
    let memories =
        memory_folders().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    for entry in memories.flatten() {
        let Ok(mapped) = Mapped::open(&entry.path()) else {
            continue;
        };
        let header = mapped.memory().header();
        let directory = PathBuf::from(OsStr::from_bytes(&read_text(&header.directory)));
        let generation = header.recording.epoch.load(Ordering::Acquire);
        let is_of_it = std::fs::canonicalize(directory).is_ok_and(|it| it == trace);
        if generation == 0 || !is_of_it || is_alive(&mapped) {
            continue;
        }
        let mapped = Arc::new(mapped);
        let command = standing_command(mapped.memory(), trace.as_os_str().as_bytes());
        let mut kept = Kept::new(Arc::clone(&mapped), generation, &command);
        stop_recording(mapped.memory(), generation);
        kept.finish();
        mapped.remove();
        count += 1;
    }
    count
}

/// Folders of this user with memories in them, of sessions and of processes that keep their own.
fn memory_folders() -> impl Iterator<Item = PathBuf> {
    let own = own_folder();
    let name = own.file_name().map(OsStr::to_owned).unwrap_or_default();
    let entries = std::fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten();
    entries.map(|entry| entry.path()).filter(move |path| {
        let rest = path
            .file_name()
            .and_then(|it| it.as_bytes().strip_prefix(name.as_bytes()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"-"))
    })
}

/// Where processes of this user make their memory that keep it themselves.
pub fn own_folder() -> PathBuf {
    // SAFETY: takes nothing and cannot fail.
    PathBuf::from(format!("/dev/shm/rostrace-{}", unsafe { libc::geteuid() }))
}

/// Completes the recording of one process, in whose folder memory is named.
fn collect(folder: &Path, is_alive: &dyn Fn(&Mapped) -> bool) -> bool {
    let Ok(named) = std::fs::read(folder.join(MEMORY_LINK)) else {
        return false;
    };
    let path = Path::new(OsStr::from_bytes(&named));
    let Ok(mapped) = Mapped::open(path) else {
        return false;
    };
    if is_alive(&mapped) {
        return false;
    }
    let mapped = Arc::new(mapped);
    let is_done = finish(&mapped, folder);
    if is_done {
        mapped.remove();
    }
    is_done
}

/// Ends what is recorded in a memory that nobody keeps, and writes it into the folder that was begun.
pub fn finish(mapped: &Arc<Mapped>, folder: &Path) -> bool {
    let Some(mut kept) = Kept::resume(Arc::clone(mapped), folder) else {
        return false;
    };
    let memory = mapped.memory();
    let generation = memory.header().recording.generation.load(Ordering::Relaxed);
    stop_recording(memory, generation);
    kept.finish();
    true
}
