//! Processes whose recorder is gone: what they recorded is in their memory, and is written where the recorder had begun to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rostrace_session::keep::collect::{collect_below, finish};
use rostrace_session::keep::{
    Kept, MEMORY_LINK, Mapped, end_sched_traces, standing_command, stop_recording,
};

use crate::liveness::is_alive;

/// Completes the traces below a folder whose processes and recorder were killed. Whoever reads them calls this first. Returns how many
/// there were.
pub fn complete_below(trace: &Path) -> u64 {
    let count = collect_below(trace, &is_alive);
    if count > 0 {
        end_sched_traces(trace);
    }
    count
}

/// Ends the recording of a process, and writes everything that is left of it.
pub fn complete(mapped: &Arc<Mapped>, output: &Path) {
    match folder_of(mapped, output) {
        Some(folder) => {
            if finish(mapped, &folder) {
                end_sched_traces(output);
            }
        }
        None => {
            let Some(mut kept) = begun(mapped, output) else {
                return;
            };
            stop_recording(mapped.memory(), kept.generation());
            kept.finish();
            end_sched_traces(output);
        }
    }
}

/// Writes everything that was recorded until now.
pub fn flush(mapped: &Arc<Mapped>, output: &Path) {
    let kept = match folder_of(mapped, output) {
        Some(folder) => Kept::resume(Arc::clone(mapped), &folder),
        None => begun(mapped, output),
    };
    if let Some(mut kept) = kept {
        kept.drain(true);
    }
}

/// A recording that has begun, but of which nothing was written.
fn begun(mapped: &Arc<Mapped>, output: &Path) -> Option<Kept> {
    let recording = &mapped.memory().header().recording;
    let generation = recording.epoch.load(Ordering::Acquire);
    let output = std::os::unix::ffi::OsStrExt::as_bytes(output.as_os_str());
    let command = standing_command(mapped.memory(), output);
    (generation != 0).then(|| Kept::new(Arc::clone(mapped), generation, &command))
}

/// The folder that names this memory.
fn folder_of(mapped: &Mapped, output: &Path) -> Option<PathBuf> {
    let path = mapped.path()?.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir(output).ok()?.flatten();
    entries
        .map(|entry| entry.path())
        .find(|folder| std::fs::read(folder.join(MEMORY_LINK)).is_ok_and(|named| named == path))
}
