//! The folder of one process in one recording: `NAME-PID-STARTED`.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::identity;

/// Makes a new folder below the directory of the recording. The error is an `errno`.
pub(crate) fn make(directory: &[u8], process: u32) -> Result<CString, i32> {
    let directory = PathBuf::from(std::ffi::OsString::from_vec(directory.to_vec()));
    // The recorder has made it; a process that records by itself has not.
    if !directory.is_dir() {
        DirBuilder::new()
            .recursive(true)
            .create(&directory)
            .map_err(number)?;
    }
    let directory = absolute(&directory);
    let name = format!(
        "{}-{process}-{}",
        identity::file_name(),
        identity::start_time()
    );
    for attempt in 0..10_000 {
        let path = match attempt {
            0 => directory.join(&name),
            more => directory.join(format!("{name}-{more}")),
        };
        match fs::create_dir(&path) {
            Ok(()) => return CString::new(path.as_os_str().as_bytes()).map_err(|_| libc::EINVAL),
            // The process has recorded here before.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(number(error)),
        }
    }
    Err(libc::EEXIST)
}

/// Removes a folder in which no recording could begin.
pub(crate) fn remove(folder: &CStr) {
    let folder = Path::new(OsStr::from_bytes(folder.to_bytes()));
    for file in [".metadata", "metadata"] {
        let _ = fs::remove_file(folder.join(file));
    }
    let _ = fs::remove_dir(folder);
}

/// Processes may change their working directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn number(error: std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
