//! A `/dev/shm` of our own, so that what is left there at the end is ours, whoever else records on this machine.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::bench::{Bench, Scene};
use super::case::User;
use crate::step::succeed;

/// For this thread and whatever it starts from now on. Without the right to do so everything stays as it is, and the answer is `false`.
pub(super) fn with_own_shared_memory() -> bool {
    const SHARED_MEMORY: &CStr = c"/dev/shm";
    // SAFETY: all texts end with a zero.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                std::ptr::null(),
                c"/".as_ptr(),
                std::ptr::null(),
                libc::MS_REC | libc::MS_PRIVATE,
                std::ptr::null(),
            ) == 0
            && libc::mount(
                c"tmpfs".as_ptr(),
                SHARED_MEMORY.as_ptr(),
                c"tmpfs".as_ptr(),
                libc::MS_NOSUID | libc::MS_NODEV,
                c"mode=1777".as_ptr().cast(),
            ) == 0
    }
}

/// What is in shared memory after the next recorder has tidied up. Recorders that were killed leave something, and runs take their sessions away
/// from under it; what is younger than a minute is left alone, so it is made older.
pub(super) fn left_for_good(bench: &Bench) -> Result<Vec<PathBuf>> {
    let left = shared_memory();
    if left.is_empty() {
        return Ok(left);
    }
    succeed(
        Command::new("touch")
            .args(["--date", "10 minutes ago"])
            .args(&left),
    )?;
    // Each user's memory is removed by that user's next recorder.
    for user in [User::Root, User::Nobody] {
        let scene = Scene::new(bench.folder.join("next"), user)?;
        scene
            .command(&bench.rostrace)
            .args(["record", "--no-report", "--output"])
            .arg(scene.folder.join("trace"))
            .args(["--", "true"])
            .output()
            .context("the next recorder could not be started")?;
        let _ = std::fs::remove_dir_all(&scene.folder);
    }
    Ok(shared_memory())
}

/// Files of ours in the memory that processes share. The folder of processes that keep their memory themselves stays; what is in it does not.
fn shared_memory() -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let is_for_all = |name: &str| {
        let user = name.strip_prefix("rostrace-");
        user.is_some_and(|user| user.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut found = Vec::new();
    for path in entries(Path::new("/dev/shm")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match &*name {
            name if is_for_all(name) => found.extend(entries(&path)),
            name if name.contains("rostrace") => found.push(path.clone()),
            _ => {}
        }
    }
    found
}
