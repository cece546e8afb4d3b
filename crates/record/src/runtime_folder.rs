//! Where the sessions of a user live while they exist: never in the home folder, which may not be there, and never in the
//! trace.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// `$XDG_RUNTIME_DIR/rostrace`, or `/tmp/rostrace-UID`; nobody else can look into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeFolder(PathBuf);

impl RuntimeFolder {
    pub fn of_user() -> Result<RuntimeFolder, Error> {
        let user = user();
        // A variable that was inherited through `sudo` names the folder of somebody else.
        let given = std::env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute() && is_usable(folder, user));
        let folder = match given {
            Some(folder) => folder.join("rostrace"),
            None => std::env::temp_dir().join(format!("rostrace-{user}")),
        };
        RuntimeFolder::at(folder)
    }

    /// Makes the folder if it does not exist.
    pub fn at(folder: PathBuf) -> Result<RuntimeFolder, Error> {
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::file("could not make", folder)(error)),
        }
        // In /tmp somebody else may have been first, also with a symbolic link.
        let meta = fs::symlink_metadata(&folder).map_err(Error::file("could not read", &folder))?;
        if !meta.is_dir() || meta.uid() != user() || meta.mode() & 0o022 != 0 {
            return Err(Error::ForeignFolder { path: folder });
        }
        Ok(RuntimeFolder(folder))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

fn is_usable(folder: &Path, user: u32) -> bool {
    fs::metadata(folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == user)
}

fn user() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let folder = std::env::temp_dir().join(format!("rostrace-open-{}", std::process::id()));
        let runtime = RuntimeFolder::at(folder.clone()).unwrap();
        let mode = fs::metadata(runtime.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            RuntimeFolder::at(folder.clone()),
            Err(Error::ForeignFolder { .. })
        ));
        fs::remove_dir(folder).unwrap();
    }
}
