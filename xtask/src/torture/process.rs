//! Processes from outside: waiting with a limit, who belongs to whom, what they hold, and where they hang.

use std::fmt::Write as _;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// What a process holds that a recording must give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Holdings {
    pub(super) maps: usize,
    pub(super) descriptors: usize,
    pub(super) threads: usize,
    /// Kilobytes of address space.
    pub(super) address_space: u64,
}

impl Holdings {
    /// None if there is no such process.
    pub(super) fn of(pid: u32) -> Option<Holdings> {
        let folder = Path::new("/proc").join(pid.to_string());
        let entries = |name: &str| Some(fs::read_dir(folder.join(name)).ok()?.count());
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
        Some(Holdings {
            maps: fs::read_to_string(folder.join("maps"))
                .ok()?
                .lines()
                .count(),
            descriptors: entries("fd")?,
            threads: entries("task")?,
            address_space: size?.trim().trim_end_matches(" kB").parse().ok()?,
        })
    }
}

/// None: it did not end in time.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if begin.elapsed() > limit {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// By this variable, with the path of a run's report, all processes of that run are known: nobody else has it.
pub(super) const MARK: &str = "TORTURE_REPORT";

/// Processes of the run that has this report, oldest first. Only these are ever killed, one by one: who does not carry the mark is somebody else's, whatever
/// its parent is.
pub(super) fn of_run(report: &Path) -> Vec<u32> {
    let wanted = format!("{MARK}={}", report.display());
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            carries(&environment, &wanted) && *pid > 1 && *pid != std::process::id()
        })
        .collect();
    pids.sort_unstable();
    pids
}

/// Sends a signal to one process, if it is of the run that has this report. A number that was read a while ago may be another process's by now, so the process is
/// taken hold of first, then looked at, then signalled.
pub(super) fn signal(pid: u32, report: &Path, signal: i32) {
    // SAFETY: takes two numbers and returns a descriptor of our own, or an error.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(descriptor) = i32::try_from(descriptor) else {
        return;
    };
    if descriptor < 0 {
        return;
    }
    // SAFETY: the descriptor was just made, and nobody else has it.
    let held = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let wanted = format!("{MARK}={}", report.display());
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    if pid > 1 && pid != std::process::id() && carries(&environment, &wanted) {
        // SAFETY: the descriptor is open; without further information the pointer may be null.
        unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                held.as_raw_fd(),
                signal,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
    }
}

/// Whether an environment has exactly this variable. A report is named by an absolute path, so nothing shorter counts: an empty word is in every
/// environment.
fn carries(environment: &[u8], wanted: &str) -> bool {
    let is_of_a_report = wanted
        .strip_prefix(MARK)
        .is_some_and(|value| value.starts_with("=/") && value.len() > 2);
    is_of_a_report
        && environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
}

/// Where every thread of some processes is: what the kernel knows, and the stacks if there is a debugger.
pub(super) fn whereabouts(pids: &[u32]) -> String {
    let mut text = String::new();
    for pid in pids {
        let folder = Path::new("/proc").join(pid.to_string());
        let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
        let _ = writeln!(text, "process {pid} {}", name.trim());
        for task in fs::read_dir(folder.join("task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            let stat = read("stat");
            let state = stat
                .rsplit_once(')')
                .and_then(|(_, after)| after.split_whitespace().next());
            let _ = writeln!(
                text,
                "  thread {} state {} waits in {} at {}\n{}",
                task.file_name().to_string_lossy(),
                state.unwrap_or("?"),
                read("wchan"),
                read("syscall").trim(),
                read("stack"),
            );
        }
        let stacks = Command::new("timeout")
            .args([
                "20",
                "gdb",
                "--batch",
                "-nx",
                "-ex",
                "thread apply all backtrace 25",
                "-p",
            ])
            .arg(pid.to_string())
            .output();
        if let Ok(stacks) = stacks {
            text.push_str(&String::from_utf8_lossy(&stacks.stdout));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_takes_too_long_is_noticed() {
        let mut child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(1)), None);
        assert!(Holdings::of(child.id()).unwrap().maps > 0);
        child.kill().unwrap();
        assert!(wait(&mut child, Duration::from_secs(60)).is_some());
    }

    #[test]
    fn a_signal_reaches_a_process_of_the_run_and_no_other() {
        let report = Path::new("/no/such/run/for/signals/report");
        let mut ours = Command::new("/bin/sleep")
            .arg("600")
            .env(MARK, report)
            .spawn()
            .unwrap();
        let mut other = Command::new("/bin/sleep").arg("600").spawn().unwrap();
        // A process that has just been started has no environment yet.
        let begin = Instant::now();
        while wait(&mut ours, Duration::from_millis(1)).is_none() {
            signal(other.id(), report, libc::SIGKILL);
            signal(ours.id(), report, libc::SIGKILL);
            assert!(begin.elapsed() < Duration::from_secs(30));
        }
        assert_eq!(wait(&mut other, Duration::from_millis(1)), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn only_who_carries_the_mark_of_a_run_belongs_to_it() {
        let environment = b"HOME=/root\0TORTURE_REPORT=/runs/1/report\0LANG=C\0";
        assert!(carries(environment, "TORTURE_REPORT=/runs/1/report"));
        assert!(!carries(environment, "TORTURE_REPORT=/runs/1"));
        assert!(!carries(environment, "TORTURE_REPORT=/runs/2/report"));
        for nobody in [
            "",
            "HOME=/root",
            "TORTURE_REPORT",
            "TORTURE_REPORT=",
            "TORTURE_REPORT=/",
        ] {
            assert!(!carries(environment, nobody), "{nobody}");
        }
    }

    #[test]
    fn a_run_that_does_not_exist_has_no_processes() {
        assert!(of_run(Path::new("")).is_empty());
        assert!(of_run(Path::new("/")).is_empty());
        assert!(of_run(Path::new("/no/such/run/report")).is_empty());
    }
}
