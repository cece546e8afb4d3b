//! How processes end that are not ours to wait for: by a signal, and was the tracer at work?
//!
//! Only a parent gets to know how its child ended, but the kernel lets others look: at a process that has ended and was not waited for yet,
//! and, from Linux 6.15 on, also later, through a descriptor that was opened while it lived. So each recorded process is watched
//! through such a descriptor, by a thread that looks at the very moment of its end. Where its parent was quicker, and the kernel is older, it is
//! not known how it ended; that it did not end in an orderly way is known from its memory.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rostrace_session::{Identity, ProcessView};

use crate::liveness;

/// Those that have begun since are watched after this.
const REFRESH: Duration = Duration::from_millis(50);

/// A recorded process that did not end in an orderly way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    pub identity: Identity,
    /// None if it is not known whether it was a signal: it may have left without saying so (`_exit`).
    pub signal: Option<i32>,
    /// Threads that ran code of the tracer at that moment.
    pub at_work: u32,
}

impl Death {
    /// None for an orderly end.
    pub(crate) fn of(view: &ProcessView, end: Option<End>) -> Option<Death> {
        let signal = match end {
            Some(End::Signal(signal)) => Some(signal),
            Some(End::Exit) => return None,
            None if view.is_ending => return None,
            None => None,
        };
        Some(Death {
            identity: view.identity,
            signal,
            at_work: view.at_work,
        })
    }

    /// First bytes of the program's name.
    pub fn name(&self) -> String {
        crate::recording::name(&self.identity)
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Signal(i32),
    Exit,
}

/// As `wait` has it.
fn end_of(status: i32) -> End {
    match status & 0x7f {
        0 => End::Exit,
        signal => End::Signal(signal),
    }
}

/// All processes whose end is watched.
#[derive(Debug, Default)]
pub(crate) struct Deathwatch {
    /// By their memory: a process that becomes another program is the same process with another one.
    watched: Mutex<BTreeMap<PathBuf, Arc<Watched>>>,
}

/// A process that lived when it was opened.
#[derive(Debug)]
struct Watched {
    descriptor: OwnedFd,
    /// As it is seen from here.
    pid: u32,
    /// As `wait` has it, or [`UNKNOWN`].
    status: AtomicI32,
}

const UNKNOWN: i32 = -1;

impl Deathwatch {
    /// Nothing is known of the end of a process that cannot be seen from here.
    pub(crate) fn watch(&self, memory: &Path, identity: &Identity) {
        if let Some(watched) = Watched::open(identity) {
            self.lock().insert(memory.to_owned(), Arc::new(watched));
        }
    }

    /// The process has become another program: that is no end.
    pub(crate) fn forget(&self, memory: &Path) {
        self.lock().remove(memory);
    }

    /// How a process ended that has ended. It is asked once.
    pub(crate) fn end(&self, memory: &Path) -> Option<End> {
        let watched = self.lock().remove(memory)?;
        watched.look();
        let status = watched.status.load(Ordering::Relaxed);
        (status != UNKNOWN).then(|| end_of(status))
    }

    /// Looks at each end as it happens.
    pub(crate) fn look_until(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Acquire) {
            let watched: Vec<Arc<Watched>> = self.lock().values().cloned().collect();
            let living = watched.iter().filter(|it| !it.is_known());
            let mut polled: Vec<libc::pollfd> = living
                .clone()
                .map(|it| libc::pollfd {
                    fd: it.descriptor.as_raw_fd(),
                    events: libc::POLLIN,
                    revents: 0,
                })
                .collect();
            let timeout = REFRESH.as_millis() as i32;
            // SAFETY: so many structures are there, and the descriptors are open.
            let ready =
                unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) };
            let mut found = false;
            for (watched, _) in living.zip(&polled).filter(|(_, it)| it.revents != 0) {
                found |= watched.look();
            }
            if ready > 0 && !found {
                // The kernel does not say how they ended, and keeps saying that they did.
                std::thread::sleep(REFRESH);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Arc<Watched>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn open(identity: &Identity) -> Option<Watched> {
        let pid = liveness::pid_here(identity)?;
        // SAFETY: the descriptor is new and ours. Kernels before 5.3 do not know the call.
        let descriptor = unsafe {
            let descriptor = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor as i32))?
        };
        // Only now is it certain that the descriptor is that of this very process.
        (liveness::pid_here(identity) == Some(pid)).then_some(Watched {
            descriptor,
            pid,
            status: AtomicI32::new(UNKNOWN),
        })
    }

    fn is_known(&self) -> bool {
        self.status.load(Ordering::Relaxed) != UNKNOWN
    }

    /// Looks how it ended, if it did; says whether that is known.
    fn look(&self) -> bool {
        // It may be waited for between the two.
        for _ in 0..2 {
            if self.is_known() {
                break;
            }
            let status = self.status_of_unwaited().or_else(|| self.status_kept());
            if let Some(status) = status {
                self.status.store(status, Ordering::Relaxed);
            }
        }
        self.is_known()
    }

    /// Of a process that nobody has waited for yet.
    fn status_of_unwaited(&self) -> Option<i32> {
        let status = liveness::status_of_zombie(self.pid)?;
        self.is_there().then_some(status)
    }

    /// Whether the pid is still that of this process: it is not given to another one as long as signals could be sent.
    fn is_there(&self) -> bool {
        // SAFETY: sends nothing.
        let sent = unsafe {
            let none = std::ptr::null::<libc::siginfo_t>();
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.descriptor.as_raw_fd(),
                0,
                none,
                0,
            )
        };
        sent == 0
    }

    /// What the kernel has kept of a process that is gone.
    fn status_kept(&self) -> Option<i32> {
        const EXIT: u64 = 1 << 3;
        /// The first version of `struct pidfd_info`.
        #[repr(C)]
        struct Info {
            mask: u64,
            cgroup: u64,
            ids: [u32; 11],
            exit_code: i32,
        }
        const _: () = assert!(size_of::<Info>() == 64);
        /// `PIDFD_GET_INFO`.
        const GET_INFO: libc::Ioctl = libc::_IOWR::<Info>(0xff, 11);
        let mut info = Info {
            mask: EXIT,
            cgroup: 0,
            ids: [0; 11],
            exit_code: 0,
        };
        // SAFETY: the structure is as long as the number of the call says.
        let asked = unsafe { libc::ioctl(self.descriptor.as_raw_fd(), GET_INFO, &mut info) };
        (asked == 0 && info.mask & EXIT != 0).then_some(info.exit_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_signal_of_a_process_that_nobody_waited_for_is_seen() {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let identity = liveness::identity(child.id()).unwrap();
        let watch = Deathwatch::default();
        let memory = Path::new("/memory");
        watch.watch(memory, &identity);
        child.kill().unwrap();
        while liveness::look(&identity) == liveness::Liveness::Alive {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(watch.end(memory), Some(End::Signal(libc::SIGKILL)));
        assert_eq!(watch.end(memory), None);
        child.wait().unwrap();
    }

    #[test]
    fn an_exit_code_is_no_signal() {
        assert_eq!(end_of(11), End::Signal(11));
        // With a core file.
        assert_eq!(end_of(11 | 0x80), End::Signal(11));
        assert_eq!(end_of(7 << 8), End::Exit);
    }
}
