//! Recordings, read: packed ones are unpacked first.

use std::io::Write;
use std::process::Command;

use rostrace_ctf::TraceSet;
use rostrace_model::Model;

use super::find;
use crate::made_up::model_of;

/// A recording below `shared/traces` that is packed with tar and zstd, and the folder that it was unpacked to.
pub fn unpack(name: &str) -> Option<(tempfile::TempDir, TraceSet)> {
    let found = find(name)?;
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar")
        .args(["--use-compress-program", "zstd -d", "-xf"])
        .arg(&found)
        .arg("-C")
        .arg(folder.path())
        .status();
    if !unpacked.is_ok_and(|status| status.success()) {
        let file = found.display();
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: tar with zstd could not unpack {file}."
        );
        return None;
    }
    let set = TraceSet::open(&[folder.path()]).unwrap();
    Some((folder, set))
}

/// The model of a recording.
pub fn load(name: &str) -> Option<Model> {
    let set = TraceSet::open(&[find(name)?]).unwrap();
    Some(model_of(&set))
}

/// The model of a recording that is packed with tar and zstd.
pub fn load_packed(name: &str) -> Option<Model> {
    let (_folder, set) = unpack(name)?;
    Some(model_of(&set))
}
