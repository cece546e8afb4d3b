//! The end of the traces that a recorder writes itself, if it was killed: what the kernel would have told of the processes since is missing, and nobody knows how
//! much that is. The processes went on, so readers would take its silence for rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::keep::disk_stream::DiskStream;
use crate::keep::folder::Folder;
use crate::keep::sched_trace::{SAMPLES_FOLDER, SCHED_FOLDER};

/// Says so in the streams of all CPUs, up to the last event of a process. To be called when what the processes had in memory is written.
pub fn end_sched_traces(trace: &Path) {
    let entries = fs::read_dir(trace).into_iter().flatten().flatten();
    let (own, processes): (Vec<_>, Vec<_>) = entries.map(|entry| entry.path()).partition(|path| {
        [SCHED_FOLDER, SAMPLES_FOLDER]
            .iter()
            .any(|it| path.ends_with(it))
    });
    let ends = processes.iter().flat_map(|folder| streams(folder));
    let Some(until) = ends.map(|stream| stream.end()).max() else {
        return;
    };
    for path in own {
        let Ok(folder) = Folder::open(&path) else {
            continue;
        };
        let of_cpus = streams(&path).filter(|it| folder.is_ours() && it.name().starts_with("cpu_"));
        let mut last: BTreeMap<String, DiskStream> = BTreeMap::new();
        for stream in of_cpus {
            let known = last.get(stream.name()).map(DiskStream::file_number);
            if known.is_none_or(|known| known <= stream.file_number()) {
                last.insert(stream.name().to_owned(), stream);
            }
        }
        for stream in last.values_mut() {
            // Where there is no room for it, nothing else can be said either.
            let _ = stream.miss_until(&folder, until);
        }
    }
}

/// The files of streams in a folder.
fn streams(folder: &Path) -> impl Iterator<Item = DiskStream> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (stream, file) = name.rsplit_once('_')?;
        DiskStream::found(&entry.path(), stream.to_owned(), file.parse().ok()?)
    })
}

#[cfg(all(test, not(feature = "models")))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::command::Command;
    use crate::events::sched;
    use crate::keep::{SchedBuffer, SchedTrace};

    #[test]
    fn what_a_killed_recorder_did_not_hear_is_missing_up_to_the_last_event_of_a_process() {
        let name = format!("rostrace-test-sched-end-{}", std::process::id());
        let place = std::env::temp_dir().join(name);
        fs::create_dir(&place).unwrap();
        let command = Command::record(place.as_os_str().as_encoded_bytes());
        let mut trace = SchedTrace::new(&command, vec![sched::SWITCH_IN, sched::SWITCH_OUT]);
        let mut buffer = SchedBuffer::new(1 << 20);
        buffer.switch_in(1, 1_000, 7);
        trace.drain(&Mutex::new(buffer), true);
        drop(trace);
        let process = place.join("process");
        fs::create_dir(&process).unwrap();
        let mut thread = DiskStream::new("thread_1".to_owned(), [1; 2], 1);
        thread
            .open(&Folder::open(&process).unwrap(), 5_000)
            .unwrap();
        let cpu = || {
            let path = place.join("sched/cpu_1_0");
            DiskStream::found(&path, "cpu_1".to_owned(), 0).unwrap()
        };
        assert_eq!((cpu().end(), cpu().discarded()), (1_000, 0));
        end_sched_traces(&place);
        assert_eq!((cpu().end(), cpu().discarded()), (5_000, 1));
        // Whoever says it again says nothing new.
        end_sched_traces(&place);
        assert_eq!((cpu().end(), cpu().discarded()), (5_000, 1));
        fs::remove_dir_all(&place).unwrap();
    }
}
