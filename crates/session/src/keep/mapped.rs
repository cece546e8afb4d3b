//! The memory of a process as its keeper has it: mapped, and open, so that more of it can be allocated.

use std::ffi::CString;
use std::fmt;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::VERSION;
use crate::memory::header::{Header, MAGIC};
use crate::memory::{Memory, allocate, errno, map};

#[derive(Debug)]
pub struct Mapped {
    memory: Memory,
    /// None for memory of this process.
    file: Option<OwnedFd>,
    path: Option<PathBuf>,
    /// Whether the mapping ends with this value.
    is_own_mapping: bool,
}

/// Why a file is not the memory of a process that can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenError {
    System(i32),
    /// It is being made.
    NotReady,
    /// It is something else, of somebody else, or of another version.
    Foreign,
}

impl Mapped {
    /// Opens the memory of another process. Only files of this user are taken: whoever can cut a file ends those that have mapped it.
    pub fn open(path: &Path) -> Result<Mapped, OpenError> {
        let file = open(path)?;
        // SAFETY: `stat` is filled in when the call succeeds; zeroes are a valid value.
        let stat = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            if libc::fstat(file.as_raw_fd(), &mut stat) != 0 {
                return Err(OpenError::System(errno()));
            }
            stat
        };
        // SAFETY: takes nothing and cannot fail.
        let is_ours = stat.st_uid == unsafe { libc::geteuid() };
        if stat.st_mode & libc::S_IFMT != libc::S_IFREG || !is_ours {
            return Err(OpenError::Foreign);
        }
        let bytes = usize::try_from(stat.st_size).unwrap_or(0);
        if bytes < size_of::<Header>() {
            return Err(OpenError::NotReady);
        }
        let base = map(file.as_raw_fd(), bytes, 0).map_err(OpenError::System)?;
        // SAFETY: so many bytes are mapped, and any bytes are a valid header.
        let header = unsafe { &*base.cast::<Header>() };
        let layout = header.layout();
        let result = if header.magic.load(Ordering::Acquire) != MAGIC {
            Err(OpenError::NotReady)
        } else if header.version.load(Ordering::Relaxed) != VERSION
            || !layout.is_sound()
            || layout.bytes() > bytes
            || header.vocabulary.load(Ordering::Relaxed) != crate::events::VOCABULARY
        {
            Err(OpenError::Foreign)
        } else {
            Ok(())
        };
        if let Err(error) = result {
            // SAFETY: the mapping was made above, and nobody knows it.
            unsafe { libc::munmap(base.cast(), bytes) };
            return Err(error);
        }
        Ok(Mapped {
            // SAFETY: the mapping lives as long as the result, which is larger than the layout.
            memory: unsafe { Memory::at(base, layout) },
            file: Some(file),
            path: Some(path.to_owned()),
            is_own_mapping: true,
        })
    }

    /// The memory of this very process.
    pub fn own(memory: Memory, path: Option<PathBuf>) -> Mapped {
        Mapped {
            memory,
            file: None,
            path,
            is_own_mapping: false,
        }
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Makes sure that a part can be written to. The error is an `errno`.
    pub fn allocate(&self, at: usize, bytes: usize) -> Result<(), i32> {
        match &self.file {
            Some(file) => allocate(file.as_raw_fd(), at, bytes),
            // Of this process: no file needs to be open for that. Kernels before 5.14 do not know how.
            None => match (self.memory.populate(at, bytes), &self.path) {
                (Err(libc::EINVAL), Some(path)) => match open(path) {
                    Ok(file) => allocate(file.as_raw_fd(), at, bytes),
                    Err(_) => Err(libc::EIO),
                },
                // Anonymous memory is there when it is needed.
                (Err(libc::EINVAL), None) => Ok(()),
                (populated, _) => populated,
            },
        }
    }

    /// Whether anybody else has the file mapped or open to write: a process that made it has, as long as it lives, and so have children
    /// that it forked. The kernel keeps count, whatever name spaces they are in and whatever descriptors they close. None if it does not say.
    ///
    /// It is asked for a lease, which it gives only to who is alone, and which is given back at once. Whoever opens the file in this moment is
    /// told to try again.
    pub fn is_used_by_others(&self) -> Option<bool> {
        const F_SETSIG: i32 = 10;
        let file = self.file.as_ref()?.as_raw_fd();
        // SAFETY: system calls on a descriptor that is open.
        unsafe {
            // Who opens it meanwhile causes a signal, which must be one that is ignored unless somebody wants it.
            if libc::fcntl(file, F_SETSIG, libc::SIGURG) != 0 {
                return None;
            }
            if libc::fcntl(file, libc::F_SETLEASE, libc::F_WRLCK) == 0 {
                libc::fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
                return Some(false);
            }
        }
        (errno() == libc::EAGAIN).then_some(true)
    }

    pub(crate) fn note_error(&self, error: i32) {
        let errno = &self.memory.header().reports.errno;
        errno.store(error.cast_unsigned(), Ordering::Relaxed);
    }

    /// Removes the file; those who have mapped it keep it.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.is_own_mapping {
            // SAFETY: the mapping was made by `open`; copies of `memory` are not used any more.
            unsafe { libc::munmap(self.memory.base().cast(), self.memory.layout().bytes()) };
        }
    }
}

fn open(path: &Path) -> Result<OwnedFd, OpenError> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| OpenError::Foreign)?;
    let flags = libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the path ends with a zero; the descriptor is new and ours.
    unsafe {
        match libc::open(path.as_ptr(), flags) {
            file if file >= 0 => Ok(OwnedFd::from_raw_fd(file)),
            _ => Err(OpenError::System(errno())),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::System(number) => {
                write!(f, "{}", std::io::Error::from_raw_os_error(*number))
            }
            OpenError::NotReady => f.write_str("its process has not finished making it"),
            OpenError::Foreign => {
                f.write_str("it is not the memory of a process of this user and version")
            }
        }
    }
}

impl std::error::Error for OpenError {}
