//! Where the memories of a session's processes are: a folder of its own in memory, whose name nobody can guess, so that a process which
//! finds it has the same `/dev/shm` as the recorder.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rostrace_session::keep::Mapped;
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
    std::fs::write(folder.join(CONTROL), control.as_os_str().as_encoded_bytes())
        .map_err(Error::file("could not write into", &folder))?;
    Ok(folder)
}

/// Removes folders of sessions that were removed by somebody who did not know of them, after what is left in them was written down.
pub(crate) fn sweep() {
    // SAFETY: takes nothing and cannot fail.
    let prefix = format!("rostrace-{}-", unsafe { libc::geteuid() });
    let places = PLACES
        .iter()
        .flat_map(|place| std::fs::read_dir(place).into_iter().flatten());
    for entry in places.flatten() {
        let folder = entry.path();
        let is_ours = entry.file_name().to_string_lossy().starts_with(&prefix);
        let Some(control) = std::fs::read(folder.join(CONTROL)).ok().filter(|_| is_ours) else {
            continue;
        };
        // One that is just being made has no session yet.
        let age = entry.metadata().and_then(|meta| meta.modified());
        if !age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > YOUNG)) {
            continue;
        }
        let control = PathBuf::from(OsString::from_vec(control));
        let is_gone = control
            .symlink_metadata()
            .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        let mut memories = keeper::files(&folder)
            .into_iter()
            .filter_map(|path| Mapped::open(&path).ok());
        if is_gone && memories.all(|it| !is_alive(&it)) {
            for path in keeper::files(&folder) {
                if let Ok(mapped) = Mapped::open(&path) {
                    let directory = mapped.memory().header().directory();
                    orphan::complete(&Arc::new(mapped), Path::new(&OsString::from_vec(directory)));
                }
            }
            remove(&folder);
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
