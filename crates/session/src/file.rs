//! The file behind the control page. Recorders make it, tracers only open it.

use std::ffi::{CStr, CString};
use std::fmt;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::control::{Control, INCOMPATIBLE_AT, IncompatibleTracers, MAGIC, VERSION};

/// A mapped control page, unmapped when dropped.
#[derive(Debug)]
pub struct ControlFile {
    control: *const Control,
}

/// Why a control file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlError {
    /// An operation of the system failed with this number.
    System(i32),
    /// The file is not a control file.
    Foreign,
    /// The file was made by another version of rostrace.
    Version(u32),
}

// SAFETY: the page consists of atomics only, and the mapping lives as long as the value.
unsafe impl Send for ControlFile {}
// SAFETY: as above.
unsafe impl Sync for ControlFile {}

impl ControlFile {
    /// Makes a new control file; it must not exist. Only its own user may write to it; others may read it if they are to be recorded, too.
    pub fn create(
        path: &Path,
        memory_folder: &[u8],
        is_for_all_users: bool,
    ) -> Result<ControlFile, ControlError> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let file = Descriptor::open(path, flags)?;
        let mode = if is_for_all_users { 0o644 } else { 0o600 };
        // SAFETY: plain system calls on a descriptor that is open. The mode is set after the fact because of the umask.
        let sized = unsafe {
            libc::fchmod(file.0, mode);
            libc::posix_fallocate(file.0, 0, size_of::<Control>() as libc::off_t)
        };
        if sized != 0 {
            return Err(ControlError::System(sized));
        }
        let mapped = file.map(true)?;
        mapped.initialise(memory_folder);
        Ok(mapped)
    }

    /// Maps a control file of this user, to issue commands.
    pub fn open(path: &Path) -> Result<ControlFile, ControlError> {
        let file = Descriptor::open(path, libc::O_RDWR)?;
        file.check()?;
        file.map(true)
    }

    /// Maps a control file, of whatever user, to read commands. Does not allocate.
    ///
    /// Whoever made the file may cut it, which ends a process that reads it: it is for files of the same user, or of root.
    pub fn open_to_read(path: &CStr) -> Result<ControlFile, ControlError> {
        let file = Descriptor::open_path(path, libc::O_RDONLY)?;
        file.check()?;
        file.map(false)
    }

    /// Whether the file is of the user that this process runs as.
    pub fn is_of_this_user(path: &CStr) -> bool {
        // SAFETY: the path ends with a zero; `stat` is filled in when the call succeeds.
        unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            libc::lstat(path.as_ptr(), &mut stat) == 0 && stat.st_uid == libc::geteuid()
        }
    }

    /// A copy of a control file of another user, who cannot harm whoever reads the copy.
    pub fn copy(path: &CStr) -> Result<Box<Control>, ControlError> {
        let file = Descriptor::open_path(path, libc::O_RDONLY)?;
        let layout = std::alloc::Layout::new::<Control>();
        // SAFETY: zeroes, and any other bytes, are a valid `Control`, in memory of its own layout.
        let mut control = unsafe {
            let memory = std::alloc::alloc_zeroed(layout);
            if memory.is_null() {
                return Err(ControlError::System(libc::ENOMEM));
            }
            Box::from_raw(memory.cast::<Control>())
        };
        // SAFETY: the place is as large as is said.
        let read = unsafe {
            libc::pread(
                file.0,
                std::ptr::from_mut(&mut *control).cast(),
                layout.size(),
                0,
            )
        };
        if read < 0 {
            return Err(last_error());
        }
        if (read as usize) < HEAD_BYTES || control.magic.load(Ordering::Relaxed) != MAGIC {
            return Err(ControlError::Foreign);
        }
        match control.version.load(Ordering::Relaxed) {
            VERSION if read as usize == layout.size() => Ok(control),
            VERSION => Err(ControlError::Foreign),
            other => Err(ControlError::Version(other)),
        }
    }

    /// Leaves a note in the control file of another version that this process cannot attach to it. Does nothing if that cannot be done.
    pub fn note_incompatible_tracer(path: &CStr, pid: u32) {
        let Ok(file) = Descriptor::open_path(path, libc::O_RDWR) else {
            return;
        };
        if let Ok(head) = file.size().and_then(|size| file.head(size, true))
            && head.version() >= FIRST_WITH_INCOMPATIBLE
        {
            head.incompatible_tracers().note(pid, VERSION);
        }
    }
}

impl Deref for ControlFile {
    type Target = Control;

    fn deref(&self) -> &Control {
        // SAFETY: mapped with the size of `Control` until dropped, and any bytes are a valid `Control`.
        unsafe { &*self.control }
    }
}

impl Drop for ControlFile {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nobody borrows from it any more.
        unsafe { libc::munmap(self.control.cast_mut().cast(), size_of::<Control>()) };
    }
}

/// An open file that is closed at the end of its scope.
struct Descriptor(libc::c_int);

impl Descriptor {
    fn open(path: &Path, flags: libc::c_int) -> Result<Descriptor, ControlError> {
        let path = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| ControlError::System(libc::EINVAL))?;
        Descriptor::open_path(&path, flags)
    }

    /// Never through a link, and never waiting for the other end of a pipe.
    fn open_path(path: &CStr, flags: libc::c_int) -> Result<Descriptor, ControlError> {
        let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        // SAFETY: the path ends with a zero.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags, 0o600 as libc::c_uint) };
        if descriptor < 0 {
            return Err(last_error());
        }
        let descriptor = Descriptor(descriptor);
        match descriptor.status()?.st_mode & libc::S_IFMT {
            libc::S_IFREG => Ok(descriptor),
            _ => Err(ControlError::Foreign),
        }
    }

    /// Refuses what is not a control file of this version.
    fn check(&self) -> Result<(), ControlError> {
        let size = self.size()?;
        // The version first: a file of another one may be shorter.
        match self.head(size, false)?.version() {
            VERSION => {}
            other => return Err(ControlError::Version(other)),
        }
        // A shorter file would end in SIGBUS at the first access behind its end.
        match size < size_of::<Control>() as u64 {
            true => Err(ControlError::Foreign),
            false => Ok(()),
        }
    }

    fn status(&self) -> Result<libc::stat, ControlError> {
        // SAFETY: `stat` is filled by the call before it is read; zeroes are a valid value.
        unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            match libc::fstat(self.0, &mut stat) {
                0 => Ok(stat),
                _ => Err(last_error()),
            }
        }
    }

    fn size(&self) -> Result<u64, ControlError> {
        Ok(self.status()?.st_size as u64)
    }

    /// Maps what control files of all versions have in common; only files of ours.
    fn head(&self, size: u64, to_write: bool) -> Result<ControlHead, ControlError> {
        if size < HEAD_BYTES as u64 {
            return Err(ControlError::Foreign);
        }
        let head = ControlHead(self.map_bytes(HEAD_BYTES, to_write)?);
        match head.magic() {
            MAGIC => Ok(head),
            _ => Err(ControlError::Foreign),
        }
    }

    fn map(&self, to_write: bool) -> Result<ControlFile, ControlError> {
        Ok(ControlFile {
            control: self.map_bytes(size_of::<Control>(), to_write)?.cast(),
        })
    }

    fn map_bytes(&self, bytes: usize, to_write: bool) -> Result<*mut u8, ControlError> {
        let rights = match to_write {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        // SAFETY: a new shared mapping at an address that the system chooses.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                rights,
                libc::MAP_SHARED,
                self.0,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(last_error());
        }
        Ok(address.cast())
    }
}

/// Bytes of a control file whose meaning is the same in all versions, but for those between.
const HEAD_BYTES: usize = 128;
/// Earlier layouts have nothing there.
const FIRST_WITH_INCOMPATIBLE: u32 = 4;

/// The beginning of a control file of whatever version, mapped.
struct ControlHead(*mut u8);

impl ControlHead {
    fn magic(&self) -> u64 {
        // SAFETY: within the mapping and aligned, as are the two below; everything there is atomic.
        unsafe { &*self.0.cast::<AtomicU64>() }.load(Ordering::Acquire)
    }

    fn version(&self) -> u32 {
        // SAFETY: as above.
        unsafe { &*self.0.add(8).cast::<AtomicU32>() }.load(Ordering::Relaxed)
    }

    fn incompatible_tracers(&self) -> &IncompatibleTracers {
        // SAFETY: as above.
        unsafe { &*self.0.add(INCOMPATIBLE_AT).cast::<IncompatibleTracers>() }
    }
}

impl Drop for ControlHead {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `head` made, and nobody borrows from it any more.
        unsafe { libc::munmap(self.0.cast(), HEAD_BYTES) };
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and is not used again.
        unsafe { libc::close(self.0) };
    }
}

fn last_error() -> ControlError {
    ControlError::System(
        std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO),
    )
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::System(number) => {
                let reason = std::io::Error::from_raw_os_error(*number);
                write!(f, "The control file cannot be used: {reason}.")
            }
            ControlError::Foreign => f.write_str("This is not a control file of rostrace."),
            ControlError::Version(version) => write!(
                f,
                "This is a control file of another version of rostrace (layout {version}; this one knows layout {VERSION}). The tracer \
                 library and rostrace must be of the same version."
            ),
        }
    }
}

impl std::error::Error for ControlError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;

    fn path(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("rostrace-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn an_order_arrives_through_another_mapping() {
        let path = path("command");
        let recorder = ControlFile::create(&path, b"/dev/shm", false).unwrap();
        let tracer = ControlFile::open(&path).unwrap();
        let command = Command::record("/tmp/somewhere");
        let generation = recorder.issue(&command).unwrap();
        assert_eq!(tracer.read_command(), Some((generation, command)));
        assert!(generation > 2 && generation.is_multiple_of(2));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_text_that_does_not_fit_changes_nothing() {
        let path = path("long");
        let recorder = ControlFile::create(&path, b"/dev/shm", false).unwrap();
        assert_eq!(recorder.issue(&Command::record(vec![b'x'; 5000])), None);
        assert_eq!(recorder.generation.load(Ordering::Relaxed), 2);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_foreign_or_short_file_is_refused() {
        let path = path("foreign");
        std::fs::write(&path, b"too short").unwrap();
        assert_eq!(ControlFile::open(&path).err(), Some(ControlError::Foreign));
        std::fs::write(&path, vec![0; size_of::<Control>()]).unwrap();
        assert_eq!(ControlFile::open(&path).err(), Some(ControlError::Foreign));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_of_another_version_is_told_apart_and_gets_a_note() {
        let path = path("version");
        let recorder = ControlFile::create(&path, b"/dev/shm", false).unwrap();
        assert_eq!(recorder.incompatible_tracers.view(), None);
        let c_path = CString::new(path.as_os_str().as_bytes()).unwrap();
        for version in [VERSION + 1, VERSION - 1] {
            recorder.version.store(version, Ordering::Relaxed);
            let error = ControlFile::open(&path).err();
            assert_eq!(error, Some(ControlError::Version(version)));
            ControlFile::note_incompatible_tracer(&c_path, 7);
        }
        let incompatible = recorder.incompatible_tracers.view().unwrap();
        assert_eq!(
            (incompatible.count, incompatible.pid, incompatible.layout),
            (2, 7, VERSION)
        );
        // A shorter file of another version is not taken for a file of somebody else.
        recorder.version.store(VERSION + 1, Ordering::Relaxed);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..4096]).unwrap();
        let error = ControlFile::open(&path).err();
        assert_eq!(error, Some(ControlError::Version(VERSION + 1)));
        std::fs::remove_file(path).unwrap();
    }
}
