//! The files of a session: where they are, who holds them locked, and how they are read and written without falling for what others put there.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Where the files of a session are.
#[derive(Debug, Clone)]
pub(crate) struct SessionFiles {
    pub(crate) control: PathBuf,
    pub(crate) description: PathBuf,
    pub(crate) owner: PathBuf,
    pub(crate) recorder: PathBuf,
    /// None for a control file that was named by hand.
    pub(crate) folder: Option<PathBuf>,
}

impl SessionFiles {
    pub(crate) fn in_folder(folder: &Path) -> SessionFiles {
        SessionFiles {
            control: folder.join("control"),
            description: folder.join("session.json"),
            owner: folder.join("owner"),
            recorder: folder.join("recorder"),
            folder: Some(folder.to_owned()),
        }
    }

    pub(crate) fn around(control: &Path) -> SessionFiles {
        let beside = |ending: &str| {
            let mut name = control.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        SessionFiles {
            control: control.to_owned(),
            description: beside(".session.json"),
            owner: beside(".owner"),
            recorder: beside(".recorder"),
            folder: None,
        }
    }

    pub(crate) fn remove(&self) {
        match &self.folder {
            Some(folder) => drop(fs::remove_dir_all(folder)),
            None => {
                for file in [
                    &self.control,
                    &self.description,
                    &self.owner,
                    &self.recorder,
                ] {
                    let _ = fs::remove_file(file);
                }
            }
        }
    }
}

/// Locks a file that is made if it does not exist; None if somebody else has it locked. The kernel frees the lock when its
/// holder dies.
pub(crate) fn lock(path: &Path) -> Result<Option<File>, Error> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .map_err(Error::file("could not make", path))?;
    // SAFETY: a system call on a descriptor that is open.
    let locked = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
    Ok(locked.then_some(file))
}

pub(crate) fn is_locked(path: &Path) -> bool {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let Ok(file) = OpenOptions::new()
        .write(true)
        .custom_flags(flags)
        .open(path)
    else {
        return false;
    };
    // SAFETY: a system call on a descriptor that is open; closing it unlocks.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) != 0 }
}

/// Reads a small file of this user; never through a link, and never waiting for the other end of a pipe.
pub(crate) fn read_own(path: &Path) -> Option<Vec<u8>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let meta = file.metadata().ok()?;
    // SAFETY: takes nothing and cannot fail.
    let is_ours = meta.is_file() && meta.uid() == unsafe { libc::geteuid() };
    let mut text = Vec::new();
    is_ours.then(|| file.take(1 << 20).read_to_end(&mut text).ok())??;
    Some(text)
}

/// Makes a file that must not exist, be it as a link.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}
