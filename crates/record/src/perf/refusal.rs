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
