//! Where the recordings are: a few in the repository, many in a folder `shared` beside it or further up; `ROSTRACE_SHARED` names another
//! place. Where they are absent the tests that need them say so and pass.

use std::io::Write;
use std::path::{Path, PathBuf};

#[cfg(feature = "model")]
mod model;
#[cfg(feature = "model")]
pub use model::{load, load_packed, unpack};

/// Published recordings of ROS systems that others made, in `public`.
pub const OF_OTHERS: [&str; 8] = [
    "caret-cyclic-intra-galactic",
    "caret-demos-end-to-end-galactic",
    "caret-demos-end-to-end-humble",
    "caret-end-to-end-fastdds-galactic",
    "caret-multi-talker-galactic",
    "caret-talker-listener-galactic",
    "ros-world-2021",
    "tracecompass-ros2-humble",
];

/// The recordings of the repository itself.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The folder with more recordings, if it has this file or folder in it, or a loud word that there is none.
pub fn shared(with: &str) -> Option<PathBuf> {
    let named = std::env::var_os("ROSTRACE_SHARED").map(PathBuf::from);
    let has_it = |shared: &PathBuf| shared.join(with).exists();
    let found = match named {
        Some(folder) => Some(folder).filter(has_it),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .map(|folder| folder.join("shared"))
            .find(has_it),
    };
    if found.is_none() {
        // Not `eprintln!`, which a passing test swallows.
        let sentence = format!(
            "SKIPPED: there is no `shared/{with}` above this crate; set ROSTRACE_SHARED. Not all was tested.\n"
        );
        let _ = std::io::stderr().write_all(sentence.as_bytes());
    }
    found
}

/// A file or folder below it.
pub fn shared_folder(name: &str) -> Option<PathBuf> {
    Some(shared(name)?.join(name))
}

/// A recording, such as `jazzy/chain` below `shared/traces`, or one of the repository, such as `testdata/lossy`.
pub fn find(name: &str) -> Option<PathBuf> {
    match name.strip_prefix("testdata/") {
        Some(name) => Some(testdata().join(name)),
        None => shared_folder(&format!("traces/{name}")),
    }
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

/// All files named `metadata` below a folder, sorted.
pub fn metadata_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name == "metadata") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
