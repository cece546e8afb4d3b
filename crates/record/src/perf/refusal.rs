//! Why context switches cannot be recorded, as a sentence, and what would help.

use std::fs;
use std::io;

/// What the system says to `perf_event_open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What stands in the way: `kernel.perf_event_paranoid is 4 …`
    pub reason: String,
    /// What to type or to set.
    pub fix: Option<String>,
}

/// Ordinary users may look at their own processes up to this level; Debian and Ubuntu have higher ones.
const HIGHEST_LEVEL: i32 = 2;

impl Refusal {
    pub(super) fn of(error: &io::Error) -> Refusal {
        Refusal::because(error, level(), has_filter())
    }

    /// Why the whole machine cannot be heard of.
    pub(super) fn of_machine(error: &io::Error) -> Refusal {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => Refusal {
                reason: "that takes root, CAP_PERFMON, or a kernel.perf_event_paranoid of -1"
                    .to_owned(),
                fix: Some("sudo setcap cap_perfmon+ep \"$(which rostrace)\"".to_owned()),
            },
            _ => Refusal::of(error),
        }
    }

    pub(super) fn in_namespace() -> Refusal {
        Refusal {
            reason:
                "the kernel tells of threads by numbers that they do not have in this container"
                    .to_owned(),
            fix: Some("start the container with --pid=host".to_owned()),
        }
    }

    pub(super) fn without_tracefs() -> Refusal {
        // SAFETY: a plain question.
        let is_root = unsafe { libc::geteuid() } == 0;
        let (reason, fix) = match is_root {
            true => (
                "tracefs is not mounted",
                "mount -t tracefs nodev /sys/kernel/tracing",
            ),
            false => (
                "tracefs, where the kernel says what its tracepoints look like, is not mounted or may be read by root only",
                "sudo mount -o remount,mode=755 /sys/kernel/tracing, and sudo setcap cap_perfmon+ep \"$(which rostrace)\"",
            ),
        };
        Refusal {
            reason: reason.to_owned(),
            fix: Some(fix.to_owned()),
        }
    }

    /// A tracepoint that this kernel does not have, or not as it is known.
    pub(super) fn of_format(reason: String) -> Refusal {
        Refusal { reason, fix: None }
    }

    fn because(error: &io::Error, level: Option<i32>, has_filter: bool) -> Refusal {
        let refusal = |reason: String, fix: &str| Refusal {
            reason,
            fix: Some(fix.to_owned()),
        };
        match (error.raw_os_error(), level) {
            (Some(libc::EACCES | libc::EPERM), Some(level)) if level > HIGHEST_LEVEL => refusal(
                format!(
                    "kernel.perf_event_paranoid is {level}, so that ordinary users may not use perf_event_open"
                ),
                "sudo sysctl kernel.perf_event_paranoid=2",
            ),
            (Some(libc::EACCES | libc::EPERM | libc::ENOSYS), _) if has_filter => refusal(
                "a seccomp filter refuses perf_event_open, as that of containers usually does"
                    .to_owned(),
                "start the container with --cap-add PERFMON, or with a seccomp profile that allows perf_event_open",
            ),
            (Some(libc::EMFILE | libc::ENFILE), _) => refusal(
                "there are too few file descriptors: one is needed for each thread and CPU"
                    .to_owned(),
                "ulimit -n 65536",
            ),
            (Some(libc::ENOSYS), _) => Refusal {
                reason: "the kernel was built without perf_event_open".to_owned(),
                fix: None,
            },
            (Some(libc::EINVAL), _) => Refusal {
                reason: "the kernel is too old to tell context switches: Linux 4.3 or later is needed"
                    .to_owned(),
                fix: None,
            },
            (Some(libc::EPERM), _) => refusal(
                "perf_event_open was refused, or the memory that it needs for each CPU may not be locked"
                    .to_owned(),
                "ulimit -l unlimited, or sudo sysctl kernel.perf_event_mlock_kb=2048",
            ),
            (Some(libc::EACCES), _) => Refusal {
                reason: "the process belongs to another user, or its program may not be looked into"
                    .to_owned(),
                fix: None,
            },
            _ => Refusal {
                reason: format!("perf_event_open failed: {error}"),
                fix: None,
            },
        }
    }
}

fn level() -> Option<i32> {
    let text = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    text.trim().parse().ok()
}

/// Whether system calls of this process are filtered.
fn has_filter() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mode = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_named() {
        for (errno, level, has_filter, word, has_fix) in [
            (
                libc::EACCES,
                Some(4),
                true,
                "perf_event_paranoid is 4",
                true,
            ),
            (
                libc::EACCES,
                Some(3),
                false,
                "perf_event_paranoid is 3",
                true,
            ),
            (libc::EPERM, Some(2), true, "seccomp", true),
            (libc::ENOSYS, None, true, "seccomp", true),
            (
                libc::ENOSYS,
                Some(2),
                false,
                "without perf_event_open",
                false,
            ),
            (libc::EPERM, Some(2), false, "locked", true),
            (libc::EACCES, Some(2), false, "another user", false),
            (libc::EMFILE, Some(2), false, "file descriptors", true),
            (libc::EINVAL, Some(-1), false, "too old", false),
            (libc::EIO, Some(1), false, "failed", false),
        ] {
            let error = io::Error::from_raw_os_error(errno);
            let refusal = Refusal::because(&error, level, has_filter);
            assert!(refusal.reason.contains(word), "{refusal:?}");
            assert_eq!(refusal.fix.is_some(), has_fix, "{refusal:?}");
        }
    }
}
