//! The file behind the control page. Recorders make it, tracers only open it.

use std::ffi::CString;
use std::fmt;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::control::{Control, MAGIC, STRANGERS_AT, Strangers, VERSION};

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
    /// Makes a new control file that every user of this machine may open; it must not exist.
    pub fn create(path: &Path) -> Result<ControlFile, ControlError> {
        let file = Descriptor::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)?;
        // SAFETY: plain system calls on a descriptor that is open. The mode is set after the fact because of the
        // umask; processes of other users are recorded too.
        let sized = unsafe {
            libc::fchmod(file.0, 0o666);
            libc::posix_fallocate(file.0, 0, size_of::<Control>() as libc::off_t)
        };
        if sized != 0 {
            return Err(ControlError::System(sized));
        }
        let mapped = file.map()?;
        mapped.initialise();
        Ok(mapped)
    }

    /// Maps a control file that a recorder made.
    pub fn open(path: &Path) -> Result<ControlFile, ControlError> {
        let file = Descriptor::open(path, libc::O_RDWR)?;
        let size = file.size()?;
        // The version first: a file of another one may be shorter.
        let head = file.head(size)?;
        match head.version() {
            VERSION => {}
            other => return Err(ControlError::Version(other)),
        }
        // A shorter file would end in SIGBUS at the first access behind its end.
        if size < size_of::<Control>() as u64 {
            return Err(ControlError::Foreign);
        }
        file.map()
    }

    /// Leaves a note in the control file of another version that this process cannot attach to it. Does nothing if that cannot be done.
    pub fn note_stranger(path: &Path, pid: u32) {
        let Ok(file) = Descriptor::open(path, libc::O_RDWR) else {
            return;
        };
        if let Ok(head) = file.size().and_then(|size| file.head(size))
            && head.version() >= FIRST_WITH_STRANGERS
        {
            head.strangers().note(pid, VERSION);
        }
    }

    /// Keeps the mapping for the rest of the process.
    pub fn leak(self) -> &'static Control {
        let control = self.control;
        std::mem::forget(self);
        // SAFETY: the mapping is never removed from here on.
        unsafe { &*control }
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
        // SAFETY: the path ends with a zero.
        let descriptor = unsafe {
            libc::open(
                path.as_ptr(),
                flags | libc::O_CLOEXEC,
                0o666 as libc::c_uint,
            )
        };
        if descriptor < 0 {
            return Err(last_error());
        }
        Ok(Descriptor(descriptor))
    }

    fn size(&self) -> Result<u64, ControlError> {
        // SAFETY: `stat` is filled by the call before it is read; zeroes are a valid value.
        unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            if libc::fstat(self.0, &mut stat) != 0 {
                return Err(last_error());
            }
            Ok(stat.st_size as u64)
        }
    }

    /// Maps what control files of all versions have in common; only files of ours.
    fn head(&self, size: u64) -> Result<Head, ControlError> {
        if size < HEAD_BYTES as u64 {
            return Err(ControlError::Foreign);
        }
        let head = Head(self.map_bytes(HEAD_BYTES)?);
        match head.magic() {
            MAGIC => Ok(head),
            _ => Err(ControlError::Foreign),
        }
    }

    fn map(&self) -> Result<ControlFile, ControlError> {
        Ok(ControlFile {
            control: self.map_bytes(size_of::<Control>())?.cast(),
        })
    }

    fn map_bytes(&self, bytes: usize) -> Result<*mut u8, ControlError> {
        // SAFETY: a new shared mapping at an address that the system chooses.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
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
const FIRST_WITH_STRANGERS: u32 = 4;

/// The beginning of a control file of whatever version, mapped.
struct Head(*mut u8);

impl Head {
    fn magic(&self) -> u64 {
        // SAFETY: within the mapping and aligned, as are the two below; everything there is atomic.
        unsafe { &*self.0.cast::<AtomicU64>() }.load(Ordering::Acquire)
    }

    fn version(&self) -> u32 {
        // SAFETY: as above.
        unsafe { &*self.0.add(8).cast::<AtomicU32>() }.load(Ordering::Relaxed)
    }

    fn strangers(&self) -> &Strangers {
        // SAFETY: as above.
        unsafe { &*self.0.add(STRANGERS_AT).cast::<Strangers>() }
    }
}

impl Drop for Head {
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
    use crate::{Identity, Order, ProcessState};

    fn path(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("rostrace-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn an_order_arrives_through_another_mapping() {
        let path = path("order");
        let recorder = ControlFile::create(&path).unwrap();
        let tracer = ControlFile::open(&path).unwrap();
        let order = Order::record("/tmp/somewhere");
        let generation = recorder.order(&order).unwrap();
        assert_eq!(tracer.read_order(), Some((generation, order)));
        assert!(generation > 2 && generation.is_multiple_of(2));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_text_that_does_not_fit_changes_nothing() {
        let path = path("long");
        let recorder = ControlFile::create(&path).unwrap();
        assert_eq!(recorder.order(&Order::record(vec![b'x'; 5000])), None);
        assert_eq!(recorder.generation.load(Ordering::Relaxed), 2);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_slot_belongs_to_one_process() {
        let path = path("slot");
        let file = ControlFile::create(&path).unwrap();
        let identity = Identity {
            pid: 7,
            ..Identity::default()
        };
        let slot = &file.processes[0];
        assert!(slot.view().is_none());
        assert!(slot.claim(&identity));
        assert!(!slot.claim(&identity));
        let view = slot.view().unwrap();
        assert_eq!((view.identity, view.state), (identity, ProcessState::Idle));
        slot.free();
        assert!(slot.claim(&identity));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_new_process_in_a_slot_is_not_chosen() {
        let path = path("chosen");
        let file = ControlFile::create(&path).unwrap();
        let slot = &file.processes[7];
        assert!(slot.claim(&Identity::default()));
        slot.choose(true);
        assert!(slot.view().unwrap().is_chosen);
        slot.free();
        assert!(slot.claim(&Identity::default()));
        assert!(!slot.view().unwrap().is_chosen);
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
        let recorder = ControlFile::create(&path).unwrap();
        assert_eq!(recorder.strangers.view(), None);
        for version in [VERSION + 1, VERSION - 1] {
            recorder.version.store(version, Ordering::Relaxed);
            let error = ControlFile::open(&path).err();
            assert_eq!(error, Some(ControlError::Version(version)));
            ControlFile::note_stranger(&path, 7);
        }
        // The older layout had something else at that place.
        let stranger = recorder.strangers.view().unwrap();
        assert_eq!(
            (stranger.count, stranger.pid, stranger.layout),
            (1, 7, VERSION)
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
