//! Folders by descriptor: what is made, written and removed in them is what we made, wherever somebody else moves or links things
//! meanwhile.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::memory::errno;

/// An open folder.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// The error is an `errno`, here and below.
    pub fn open(path: &Path) -> Result<Folder, i32> {
        let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| libc::EINVAL)?;
        Folder::open_at(libc::AT_FDCWD, &path)
    }

    fn open_at(folder: i32, name: &CStr) -> Result<Folder, i32> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: the name ends with a zero; the descriptor is new and ours.
        unsafe {
            match libc::openat(folder, name.as_ptr(), flags) {
                file if file >= 0 => Ok(Folder(OwnedFd::from_raw_fd(file))),
                _ => Err(errno()),
            }
        }
    }

    /// A folder in this one, which is made if it does not exist.
    pub fn make(&self, name: &CStr) -> Result<Folder, i32> {
        // SAFETY: the name ends with a zero.
        let made = unsafe { libc::mkdirat(self.0.as_raw_fd(), name.as_ptr(), 0o755) };
        if made != 0 && errno() != libc::EEXIST {
            return Err(errno());
        }
        let made = Folder::open_at(self.0.as_raw_fd(), name)?;
        // In a folder that others may write to, somebody could have been quick.
        match made.is_ours() {
            true => Ok(made),
            false => Err(libc::EPERM),
        }
    }

    /// Gives a folder in this one another name, which nothing may have.
    pub fn rename(&self, name: &CStr, new: &CStr) -> Result<(), i32> {
        let folder = self.0.as_raw_fd();
        // SAFETY: both names end with a zero.
        unsafe {
            let flags = libc::RENAME_NOREPLACE;
            if libc::renameat2(folder, name.as_ptr(), folder, new.as_ptr(), flags) == 0 {
                return Ok(());
            }
            // Not every file system knows the flag; a folder that is not empty is not replaced anyway.
            if matches!(errno(), libc::EINVAL | libc::ENOSYS)
                && libc::renameat(folder, name.as_ptr(), folder, new.as_ptr()) == 0
            {
                return Ok(());
            }
        }
        match errno() {
            libc::ENOTEMPTY => Err(libc::EEXIST),
            error => Err(error),
        }
    }

    /// Whether it belongs to this user.
    pub fn is_ours(&self) -> bool {
        // SAFETY: `stat` is filled in when the call succeeds; zeroes are a valid value.
        unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            libc::fstat(self.0.as_raw_fd(), &mut stat) == 0 && stat.st_uid == libc::geteuid()
        }
    }

    /// Opens a file in it for writing, and makes it if it does not exist.
    pub fn file(&self, name: &CStr) -> Result<OwnedFd, i32> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: the name ends with a zero; the descriptor is new and ours.
        unsafe {
            let mode = 0o644 as libc::c_uint;
            match libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags, mode) {
                file if file >= 0 => Ok(OwnedFd::from_raw_fd(file)),
                _ => Err(errno()),
            }
        }
    }

    /// Writes a file under another name first: readers find all of it or nothing.
    pub fn write_at_once(&self, name: &CStr, hidden: &CStr, bytes: &[u8]) -> Result<(), i32> {
        let written = self.file(hidden).and_then(|file| write(&file, 0, bytes));
        // SAFETY: both names end with a zero.
        let renamed = written.and_then(|()| unsafe {
            let folder = self.0.as_raw_fd();
            match libc::renameat(folder, hidden.as_ptr(), folder, name.as_ptr()) {
                0 => Ok(()),
                _ => Err(errno()),
            }
        });
        renamed.inspect_err(|_| self.remove(hidden))
    }

    /// Removes a file of ours; one that is not there does not matter.
    pub fn remove(&self, name: &CStr) {
        // SAFETY: the name ends with a zero.
        unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) };
    }

    /// Removes an empty folder in it.
    pub fn remove_folder(&self, name: &CStr) {
        // SAFETY: the name ends with a zero.
        unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), libc::AT_REMOVEDIR) };
    }

    /// Bytes that this user may still write to its disk; None if the system does not say.
    pub fn free_bytes(&self) -> Option<u64> {
        // SAFETY: the structure is filled in when the call succeeds.
        unsafe {
            let mut found: libc::statvfs = std::mem::zeroed();
            (libc::fstatvfs(self.0.as_raw_fd(), &mut found) == 0)
                .then(|| (found.f_bavail as u64).saturating_mul(found.f_frsize as u64))
        }
    }
}

/// Writes all of it at this byte of a file.
pub(crate) fn write(file: &OwnedFd, at: u64, bytes: &[u8]) -> Result<(), i32> {
    let mut done = 0;
    while done < bytes.len() {
        let rest = &bytes[done..];
        // SAFETY: the bytes live during the call.
        let written = unsafe {
            libc::pwrite(
                file.as_raw_fd(),
                rest.as_ptr().cast(),
                rest.len(),
                (at + done as u64) as libc::off_t,
            )
        };
        match written {
            0 => return Err(libc::EIO),
            1.. => done += written as usize,
            _ => match errno() {
                libc::EINTR => {}
                error => return Err(error),
            },
        }
    }
    Ok(())
}

/// Cuts a file of ours; nothing happens if that cannot be done.
pub(crate) fn cut(file: &OwnedFd, bytes: u64) {
    // SAFETY: a system call on a descriptor that is open.
    unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) };
}
