//! Archives that were unpacked to be read. A file in one is named as people name it, `session.tar.gz/ust/ros2_0`, by all messages and results; only
//! whoever opens it asks here where it lies. Nothing else can have such a name, for no folder is below a file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Archives, and where their content is. It holds for the whole process, as a mounted file system does.
static UNPACKED: RwLock<Vec<(PathBuf, PathBuf)>> = RwLock::new(Vec::new());

/// From now on this folder is read in the place of the archive.
pub fn register(archive: &Path, folder: &Path) {
    let mut unpacked = UNPACKED.write().unwrap_or_else(PoisonError::into_inner);
    unpacked.retain(|(known, _)| known != archive);
    unpacked.push((archive.to_owned(), folder.to_owned()));
}

/// Where a file or folder lies: where its name says, unless it is in an archive.
pub fn place(path: &Path) -> Cow<'_, Path> {
    let unpacked = UNPACKED.read().unwrap_or_else(PoisonError::into_inner);
    for (archive, folder) in unpacked.iter() {
        if let Ok(inside) = path.strip_prefix(archive) {
            // Joined with nothing, a path gets a slash at its end.
            return Cow::Owned(match inside.as_os_str().is_empty() {
                true => folder.clone(),
                false => folder.join(inside),
            });
        }
    }
    Cow::Borrowed(path)
}

/// The archive that a path is, or is in.
pub fn archive_of(path: &Path) -> Option<PathBuf> {
    let unpacked = UNPACKED.read().unwrap_or_else(PoisonError::into_inner);
    let mut archives = unpacked.iter().map(|(archive, _)| archive);
    archives.find(|it| path.starts_with(it)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_an_archive_is_read_where_it_was_unpacked() {
        register(Path::new("a/unpacked.tar"), Path::new("/private/x"));
        let place = |path: &str| place(Path::new(path)).into_owned();
        assert_eq!(place("a/unpacked.tar/ust/0"), Path::new("/private/x/ust/0"));
        assert_eq!(place("a/unpacked.tar").as_os_str(), "/private/x");
        assert_eq!(
            place("a/unpacked.tar.gz/0"),
            Path::new("a/unpacked.tar.gz/0")
        );
        assert_eq!(archive_of(Path::new("a/unpacked.tar.gz/0")), None);
    }
}
