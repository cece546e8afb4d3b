//! Where the memories of a session's processes are: a folder of its own in memory, whose name nobody can guess, so that a process which
//! finds it has the same `/dev/shm` as the recorder.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rostrace_session::keep::collect::own_folder;
use rostrace_session::keep::{Mapped, OpenError};
use rostrace_session::memory::spare;

use crate::error::Error;
use crate::liveness::is_alive;
use crate::{keeper, orphan};

/// Not on a disk: whatever is written there must never wait for one.
const PLACES: &[&str] = &["/dev/shm", "/run/shm"];

/// In the folder: names the control file of its session.
const CONTROL: &str = "control";

/// A folder that was changed since is not looked at by those who tidy up.
const YOUNG: Duration = Duration::from_secs(60);

/// Makes the folder. Where there is no such place, it is one for temporary files, and events may wait for its disk.
pub(crate) fn make(control: &Path) -> Result<PathBuf, Error> {
    let place = PLACES.iter().map(PathBuf::from).find(|it| is_usable(it));
    let place = place.unwrap_or_else(std::env::temp_dir);
    // SAFETY: takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let folder = place.join(format!("rostrace-{user}-{}", random()));
    DirBuilder::new()
        .mode(0o700)
        .create(&folder)
        .map_err(Error::file("could not make", &folder))?;
    let mut options = std::fs::File::options();
    options.write(true).create_new(true).mode(0o600);
    let file = options.open(folder.join(CONTROL));
    file.and_then(|mut file| file.write_all(control.as_os_str().as_encoded_bytes()))
        .map_err(Error::file("could not write into", &folder))?;
    Ok(folder)
}

/// Removes folders of sessions that were removed by somebody who did not know of them, after what is left in them was written down.
pub(crate) fn sweep() {
    sweep_own(&own_folder());
    // SAFETY: takes nothing and cannot fail.
    let prefix = format!("rostrace-{}-", unsafe { libc::geteuid() });
    let places = PLACES
        .iter()
        .flat_map(|place| std::fs::read_dir(place).into_iter().flatten());
    let ours = places
        .flatten()
        .filter(|it| it.file_name().to_string_lossy().starts_with(&prefix));
    for entry in ours {
        sweep_one(&entry.path());
    }
}

fn sweep_one(folder: &Path) {
    // One that is just being made has no session yet.
    let changed = folder.symlink_metadata().and_then(|meta| meta.modified());
    if !changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > YOUNG)) {
        return;
    }
    let session = std::fs::read(folder.join(CONTROL))
        .and_then(|control| PathBuf::from(OsString::from_vec(control)).symlink_metadata());
    // Without the name of its session it was being removed by somebody who was killed.
    let is_gone = session.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let memories = || {
        let files = keeper::files(folder).into_iter();
        files.filter_map(|path| Mapped::open(&path).ok())
    };
    if is_gone && memories().all(|it| !is_alive(&it)) {
        for mapped in memories() {
            let directory = mapped.memory().header().directory();
            orphan::complete(&Arc::new(mapped), Path::new(&OsString::from_vec(directory)));
        }
        remove(folder);
    }
}

/// The same for processes that kept their memory themselves and were killed: whoever reads their trace writes it down, but where that was
/// deleted, or nothing was recorded, nobody comes.
fn sweep_own(folder: &Path) {
    for path in keeper::files(folder) {
        let meta = path.symlink_metadata().and_then(|meta| meta.modified());
        let is_young = !meta.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > YOUNG));
        if is_young {
            continue;
        }
        let mapped = match Mapped::open(&path) {
            Ok(mapped) => mapped,
            Err(OpenError::NotReady) => {
                // Killed while it was making it, which takes no time; should it go on, it has what it mapped.
                let _ = std::fs::remove_file(&path);
                continue;
            }
            Err(_) => continue,
        };
        if is_alive(&mapped) {
            continue;
        }
        let directory = PathBuf::from(OsString::from_vec(mapped.memory().header().directory()));
        orphan::complete_below(&directory);
        // Its trace is gone, or there never was one.
        let is_wanted = mapped
            .memory()
            .header()
            .recording
            .epoch
            .load(Ordering::Acquire)
            != 0;
        if !is_wanted || !directory.is_dir() {
            mapped.remove();
        }
    }
}

/// Removes the folder with what processes and recorders made in it. Anything else stays, and the folder with it.
pub(crate) fn remove(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let starts_with_a_pid = name
            .as_encoded_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit);
        if starts_with_a_pid || spare::is_one(&name) || name == CONTROL {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(folder);
}

/// Whether everybody may make something in it, and it is a folder.
fn is_usable(place: &Path) -> bool {
    std::fs::metadata(place).is_ok_and(|meta| meta.is_dir() && meta.mode() & 0o1000 != 0)
}

fn random() -> String {
    let mut bytes = [0_u8; 8];
    // SAFETY: writes at most as many bytes as there is room for.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::time::SystemTime;

    use rostrace_session::{Identity, Introduction, Memory};

    use super::*;
    use crate::liveness::identity;

    /// The memory of a process, made ten minutes ago.
    fn memory(folder: &Path, name: &str, of: Identity, is_ready: bool) -> PathBuf {
        let path = folder.join(name);
        let made = CString::new(path.as_os_str().as_bytes()).unwrap();
        let who = Introduction {
            identity: of,
            tracetools_version: b"8.2.0",
            program: b"test",
            host: b"host",
            is_kept_by_itself: true,
        };
        let memory = Memory::create(&made, &who).unwrap();
        if is_ready {
            memory.publish();
        }
        let old = SystemTime::now() - 10 * YOUNG;
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(old).unwrap();
        path
    }

    #[test]
    fn a_folder_whose_removal_was_interrupted_is_removed() {
        let folder = std::env::temp_dir().join(format!("rostrace-half-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let alive = identity(std::process::id()).unwrap();
        let dead = Identity {
            start_time: alive.start_time + 1,
            ..alive
        };
        memory(&folder, "1-1", dead, true);
        sweep_one(&folder);
        let young = folder.exists();
        let old = SystemTime::now() - 10 * YOUNG;
        let opened = std::fs::File::open(&folder).unwrap();
        opened.set_modified(old).unwrap();
        let living = memory(&folder, "1-2", alive, true);
        opened.set_modified(old).unwrap();
        sweep_one(&folder);
        let in_use = folder.exists();
        std::fs::remove_file(living).unwrap();
        opened.set_modified(old).unwrap();
        sweep_one(&folder);
        let abandoned = folder.exists();
        let _ = std::fs::remove_dir_all(&folder);
        assert_eq!([young, in_use, abandoned], [true, true, false]);
    }

    #[test]
    fn the_memory_of_a_killed_process_without_a_trace_is_removed() {
        let name = format!("rostrace-sweep-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let alive = identity(std::process::id()).unwrap();
        let dead = Identity {
            start_time: alive.start_time + 1,
            ..alive
        };
        let all = [
            memory(&folder, "1-1", dead, true),
            memory(&folder, "1-2", dead, false),
            memory(&folder, "1-3", alive, true),
        ];
        sweep_own(&folder);
        let is_there = all.map(|path| path.exists());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(is_there, [false, false, true]);
    }
}
