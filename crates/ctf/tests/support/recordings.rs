//! Where the recordings are: a few in the repository, many in a folder `shared` beside it.

use std::path::{Path, PathBuf};

/// The recordings of the repository itself.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The folder with more recordings, or a loud word that there is none. `ROSTRACE_SHARED` names another place.
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("ROSTRACE_SHARED").map(PathBuf::from);
    let found = match named {
        Some(folder) => Some(folder).filter(|folder| folder.is_dir()),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .map(|folder| folder.join("shared"))
            .find(|shared| shared.join("ctf-suite").is_dir()),
    };
    if found.is_none() {
        eprintln!(
            "SKIPPED: there is no folder `shared` with recordings above this crate; nothing was tested"
        );
    }
    found
}

/// The entries of a folder that are folders, sorted.
pub fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent)
        .unwrap_or_else(|error| panic!("{} cannot be listed: {error}", parent.display()));
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}
