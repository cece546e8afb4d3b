//! Folders of this process for what is unpacked. They are removed when it ends, by itself or by a signal; what a killed one left is removed by
//! the next.
//!
//! Who owns a folder holds a lock (`flock`) on it, which the kernel takes back from the dead, whatever became of them and whoever got their pid.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::interrupt;

const PREFIX: &str = "rostrace-unpacked-";

/// All folders of this process, with their locks. Whoever makes something in one holds this, and so does whoever removes them.
static FOLDERS: Mutex<Folders> = Mutex::new(Vec::new());

type Folders = Vec<(PathBuf, File)>;

/// A folder that is there until the program ends.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    pub(super) path: PathBuf,
}

impl PrivateFolder {
    pub(super) fn create() -> io::Result<PrivateFolder> {
        interrupt::at_any_end(remove_all_for_good);
        loop {
            let mut folders = folders();
            let path = tempfile::Builder::new().prefix(PREFIX).tempdir()?.keep();
            // Until it is locked, another process may take it for one that a killed process left, and remove it.
            let lock = match open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            let is_taken = matches!(lock_now(&lock), Ok(false));
            if !is_taken && is_still(&path, &lock) {
                folders.push((path.clone(), lock));
                return Ok(PrivateFolder { path });
            }
        }
    }

    /// Keeps the folder from being removed.
    pub(super) fn hold(&self) -> MutexGuard<'static, Folders> {
        folders()
    }
}

fn folders() -> MutexGuard<'static, Folders> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes everything that was unpacked.
pub(crate) fn remove_all() {
    remove(&mut folders());
}

/// The same before a signal ends the program: nobody makes anything in them any more.
fn remove_all_for_good() {
    let mut folders = folders();
    remove(&mut folders);
    std::mem::forget(folders);
}

fn remove(folders: &mut Folders) {
    for (path, _lock) in folders.drain(..) {
        let _ = fs::remove_dir_all(path);
    }
}

/// Removes what processes of this user left that were killed.
pub(crate) fn remove_abandoned() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else {
        return;
    };
    let ours = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(PREFIX)
    });
    for entry in ours {
        let _ = remove_if_abandoned(&entry.path());
    }
}

fn remove_if_abandoned(path: &Path) -> io::Result<()> {
    let lock = open(path)?;
    // SAFETY: it only returns a number.
    let user = unsafe { libc::geteuid() };
    if lock.metadata()?.uid() == user && lock_now(&lock)? && is_still(path, &lock) {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// A folder, never what a link leads to.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    File::options().read(true).custom_flags(flags).open(path)
}

/// Locks a folder, unless somebody else has. An error where folders cannot be locked, as on some network file systems.
fn lock_now(folder: &File) -> io::Result<bool> {
    // SAFETY: the descriptor is open, and no memory is involved.
    if unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        error => Err(error),
    }
}

/// Whether this is what the path leads to, and not what once had its name.
fn is_still(path: &Path, folder: &File) -> bool {
    match (fs::symlink_metadata(path), folder.metadata()) {
        (Ok(at_path), Ok(open)) => (at_path.dev(), at_path.ino()) == (open.dev(), open.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_folder_is_made_while_others_remove_what_is_abandoned() {
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    remove_abandoned();
                }
            });
            let folders: Vec<_> = (0..300).map(|_| PrivateFolder::create()).collect();
            is_done.store(true, Ordering::Relaxed);
            for folder in folders {
                // Another test may have removed all of them since.
                let _ = fs::remove_dir_all(folder.unwrap().path);
            }
        });
    }
}
