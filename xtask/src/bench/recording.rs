//! Which recording is measured, and where its trace is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// The packed recording that is used where ../shared exists.
const PACKED: &str = "traces/jazzy/load_1m.tar.zst";

/// The largest recording at hand, unpacked into `scratch` if need be.
pub(super) fn largest(workspace: &Workspace, scratch: &Path) -> Result<PathBuf> {
    match workspace.shared().map(|shared| shared.join(PACKED)) {
        Some(archive) if archive.is_file() => unpacked(&archive, scratch),
        _ => {
            let small = workspace.root.join("testdata/pingpong");
            println!(
                "There is no ../shared/{PACKED}: {} is used, which is small and has few kinds of events.",
                small.display()
            );
            Ok(small)
        }
    }
}

/// The recording of CARET that is analysed, where ../shared exists.
const ANALYSED: &str = "traces/jazzy/load_1m_caret.tar.zst";

/// The recording whose analysis is measured.
pub(super) fn analysed(workspace: &Workspace, scratch: &Path) -> Result<PathBuf> {
    match workspace.shared().map(|shared| shared.join(ANALYSED)) {
        Some(archive) if archive.is_file() => unpacked(&archive, scratch),
        _ => largest(workspace, scratch),
    }
}

/// Unpacks `NAME.tar.zst` to `scratch/NAME`, once.
pub(super) fn unpacked(archive: &Path, scratch: &Path) -> Result<PathBuf> {
    let file_name = archive.file_name().unwrap_or_default().to_string_lossy();
    let name = file_name.strip_suffix(".tar.zst").unwrap_or(&file_name);
    let folder = scratch.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    let partial = scratch.join(format!("{name}.partial"));
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial)?;
    println!("Unpacking {} …", archive.display());
    let mut zstd = Command::new("zstd")
        .args(["-d", "-q", "-c"])
        .arg(archive)
        .stdout(Stdio::piped())
        .spawn()
        .context("zstd could not be started; `cargo xtask test` installs it")?;
    let packed = zstd.stdout.take().context("zstd has no output")?;
    let tar = Command::new("tar")
        .arg("-x")
        .arg("-C")
        .arg(&partial)
        .stdin(packed)
        .status();
    let zstd = zstd.wait();
    if !tar.context("tar could not be started")?.success() || !zstd?.success() {
        bail!(
            "{} could not be unpacked into {}.",
            archive.display(),
            partial.display()
        );
    }
    fs::rename(&partial, &folder)?;
    Ok(folder)
}

/// The one trace folder (a folder with `metadata`) at or below `recording`.
pub(super) fn trace_folder(recording: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    collect_trace_folders(recording, &mut found)
        .with_context(|| format!("{} could not be searched for traces", recording.display()))?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => bail!(
            "there is no trace (no file named `metadata`) below {}.",
            recording.display()
        ),
        [first, second, ..] => bail!(
            "there are several traces below {}, for instance {} and {}. Name one of them.",
            recording.display(),
            first.display(),
            second.display()
        ),
    }
}

fn collect_trace_folders(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("metadata").is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_type()?.is_dir() {
            collect_trace_folders(&entry.path(), found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn testdata() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
    }

    #[test]
    fn the_trace_of_a_recording_is_found_below_it() {
        let folder = trace_folder(&testdata().join("pingpong")).unwrap();
        assert!(folder.ends_with("pingpong/ust/uid/0/64-bit"));
        assert_eq!(trace_folder(&folder).unwrap(), folder);
    }

    #[test]
    fn none_and_several_are_refused_with_a_sentence() {
        let none = trace_folder(&testdata().join("pingpong/ground_truth")).unwrap_err();
        assert!(none.to_string().starts_with("there is no trace"));
        let several = trace_folder(&testdata()).unwrap_err();
        assert!(several.to_string().starts_with("there are several traces"));
    }
}
