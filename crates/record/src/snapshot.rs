//! A copy of what is recorded, while it is being recorded.

use std::fs;
use std::path::{Path, PathBuf};

use rostrace_session::keep::{SAMPLES_FOLDER, SCHED_FOLDER, snapshot};

use crate::error::Error;
use crate::recording::new_folder;
use crate::session::{Session, SessionState};

/// Copies the traces of all processes of the recording of a session into a new folder. Returns the folder and how many processes
/// are in it.
pub fn take(session: &Session, to: &Path) -> Result<(PathBuf, u64), Error> {
    let SessionState::Recording { output, .. } = session.state() else {
        return Err(Error::NothingRecorded(session.id.clone()));
    };
    session.flush(&output);
    copy(&output, to)
}

/// The same, by the folder that is recorded into.
pub fn copy(output: &Path, to: &Path) -> Result<(PathBuf, u64), Error> {
    let entries = fs::read_dir(output).map_err(Error::file("could not read", output))?;
    let to = new_folder(to)?;
    let mut processes = 0;
    for entry in entries.flatten() {
        let folder = entry.path();
        // One without metadata is just being made.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) || !folder.join("metadata").is_file()
        {
            continue;
        }
        snapshot::copy(&folder, &to.join(entry.file_name()))
            .map_err(Error::file("could not copy", folder))?;
        let is_of_recorder = [SCHED_FOLDER, SAMPLES_FOLDER]
            .iter()
            .any(|it| entry.file_name() == *it);
        processes += u64::from(!is_of_recorder);
    }
    Ok((to, processes))
}
