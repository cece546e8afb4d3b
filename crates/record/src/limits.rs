//! Limits that processes inherit.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// Current and highest value; `u64::MAX` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub current: u64,
    pub highest: u64,
}

/// `libc::RLIMIT_NOFILE` and others. None if the system does not say.
pub fn limit(resource: u32) -> Option<Limit> {
    // SAFETY: the structure is filled in when the call succeeds.
    unsafe {
        let mut found: libc::rlimit = std::mem::zeroed();
        (libc::getrlimit(resource, &mut found) == 0).then_some(Limit {
            current: found.rlim_cur,
            highest: found.rlim_max,
        })
    }
}

/// The limit of open files that this process was started with, if it has another one by now.
static FILES_BEFORE: OnceLock<libc::rlimit> = OnceLock::new();

/// Tries this again with as many open files as there may be, where it fails because there are too many.
pub(crate) fn with_enough_files<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match open() {
        Err(error) if error.raw_os_error() == Some(libc::EMFILE) && raise_files() => open(),
        done => done,
    }
}

/// Lets this process open as many files as it may. Says whether that is more than before.
fn raise_files() -> bool {
    let Some(found) = limit(libc::RLIMIT_NOFILE).filter(|it| it.current < it.highest) else {
        return false;
    };
    let limit = |current| libc::rlimit {
        rlim_cur: current,
        rlim_max: found.highest,
    };
    FILES_BEFORE.get_or_init(|| limit(found.current));
    // SAFETY: a plain system call; the structure lives during it.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit(found.highest)) == 0 }
}

/// Has the program that this command starts begin with the limits that it would have without us.
pub(crate) fn restore_in(command: &mut Command) {
    if let Some(before) = FILES_BEFORE.get().copied() {
        // SAFETY: one system call, which may be made between fork and exec.
        unsafe {
            command.pre_exec(
                move || match libc::setrlimit(libc::RLIMIT_NOFILE, &before) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                },
            );
        }
    }
}
