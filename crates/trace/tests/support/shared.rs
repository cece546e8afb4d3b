//! Recordings of real programs, which are not part of the repository.
//!
//! They lie in a folder `shared/traces` beside the repository or further up; `ROSTRACE_SHARED` names another place. Where
//! they are absent the tests that need them say so and pass.

use std::path::{Path, PathBuf};
use std::process::Command;

use rostrace_ctf::TraceSet;
use rostrace_trace::Model;

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

/// A file or folder below `shared/traces`, if there is one.
pub fn find(path: &str) -> Option<PathBuf> {
    let beside = |folder: &Path| folder.join("shared");
    let from_environment = std::env::var_os("ROSTRACE_SHARED").map(PathBuf::from);
    let shared = from_environment.or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .map(beside)
            .find(|folder| folder.join("traces").is_dir())
    });
    let found = shared
        .map(|shared| shared.join("traces").join(path))
        .filter(|path| path.exists());
    if found.is_none() {
        eprintln!(
            "NOT TESTED: there is no shared/traces/{path}; set ROSTRACE_SHARED to its folder"
        );
    }
    found
}

/// The model of a recording below `shared/traces`.
pub fn load(path: &str) -> Option<Model> {
    let found = find(path)?;
    Some(super::model_of(&TraceSet::open(&[found]).unwrap()))
}

/// The model of a recording that is packed with tar and zstd.
pub fn load_packed(path: &str) -> Option<Model> {
    let (_folder, set) = unpack(path)?;
    Some(super::model_of(&set))
}

/// A recording that is packed with tar and zstd, and the folder that it was unpacked to.
pub fn unpack(path: &str) -> Option<(tempfile::TempDir, TraceSet)> {
    let found = find(path)?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let unpacked = Command::new("tar")
        .args(["--use-compress-program", "zstd -d", "-xf"])
        .arg(&found)
        .arg("-C")
        .arg(folder.path())
        .status();
    if !unpacked.is_ok_and(|status| status.success()) {
        eprintln!(
            "NOT TESTED: tar with zstd could not unpack {}",
            found.display()
        );
        return None;
    }
    let set = TraceSet::open(&[folder.path()]).unwrap();
    Some((folder, set))
}
