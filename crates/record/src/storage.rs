//! How much room there is where a trace is written.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::Error;

/// Of the file system that a path lies in, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// What this user may still write.
    pub free: u64,
    pub total: u64,
}

impl Space {
    /// Whether recording should end: less is free than asked for, or less than a hundredth of the disk unless that is much.
    pub fn is_short(&self, keep_free: u64) -> bool {
        self.free < keep_free.max((self.total / 100).min(keep_free.saturating_mul(4)))
    }
}

pub fn space(path: &Path) -> Result<Space, Error> {
    let text = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::PathTooLong(path.to_owned()))?;
    // SAFETY: the path ends with a zero; the structure is filled in when the call succeeds.
    let found = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        match libc::statvfs(text.as_ptr(), &mut found) {
            0 => found,
            _ => {
                return Err(Error::file("could not look at the disk of", path)(
                    std::io::Error::last_os_error(),
                ));
            }
        }
    };
    let block = found.f_frsize as u64;
    Ok(Space {
        free: (found.f_bavail as u64).saturating_mul(block),
        total: (found.f_blocks as u64).saturating_mul(block),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_of_the_disk_stays_free_unless_that_is_much() {
        let space = |free, total| Space { free, total };
        assert!(space(63, 100).is_short(64));
        assert!(!space(64, 100).is_short(64));
        assert!(space(99, 10_000).is_short(64));
        assert!(!space(257, 10_000_000).is_short(64));
        assert!(!space(0, 10_000_000).is_short(0));
    }

    #[test]
    fn the_disk_of_a_folder_has_room() {
        assert!(super::space(Path::new("/tmp")).unwrap().total > 0);
        assert!(super::space(Path::new("/nowhere/at/all")).is_err());
    }
}
