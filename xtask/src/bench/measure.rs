//! Runs programs in turn and measures each: wall time, CPU time, peak memory.
//!
//! The kernel's own account of one child is used (`wait4`), not a sampling of it. Runs are interleaved (A B C A B C)
//! so that a slow minute of the machine hurts everybody, and the best of the runs counts, since noise only adds.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::contest::Answer;

#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) answer: Answer,
    /// A folder that it makes; removed before each run, since replacing files costs more than making them.
    pub(super) output: Option<PathBuf>,
}

impl Program {
    /// One that writes nothing, and whose answer is not looked at.
    pub(super) fn new(
        name: &'static str,
        path: impl Into<PathBuf>,
        arguments: Vec<OsString>,
    ) -> Program {
        Program {
            name,
            path: path.into(),
            arguments,
            answer: Answer::Any,
            output: None,
        }
    }

    /// The command, with the surroundings that are the same for all programs.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measurement {
    pub(super) wall: Duration,
    /// User and system time of all threads.
    pub(super) cpu: Duration,
    /// Peak resident memory in bytes.
    pub(super) peak: u64,
}

/// What is known of a program after its runs: the best figures, or the sentence that says why there are none.
pub(super) type Outcome = Result<Measurement, String>;

impl Measurement {
    fn best(self, other: Self) -> Self {
        Measurement {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
            peak: self.peak.min(other.peak),
        }
    }
}

/// Runs all programs `runs` times in turn. A program that fails, or whose answer is known to be `wrong`, is not run again. What a program writes to
/// stderr goes to `log`, from where a failure takes its reason.
pub(super) fn interleaved(
    programs: &[Program],
    wrong: Vec<Option<String>>,
    runs: u32,
    log: &Path,
) -> Result<Vec<Outcome>> {
    let mut outcomes: Vec<Option<Outcome>> = wrong.into_iter().map(|why| why.map(Err)).collect();
    for _ in 0..runs {
        for (program, outcome) in programs.iter().zip(&mut outcomes) {
            let before = match outcome {
                Some(Err(_)) => continue,
                Some(Ok(measurement)) => Some(*measurement),
                None => None,
            };
            let now = once(program, log)?;
            *outcome = Some(now.map(|now| before.map_or(now, |before| before.best(now))));
        }
    }
    Ok(outcomes.into_iter().flatten().collect())
}

fn once(program: &Program, log: &Path) -> Result<Outcome> {
    let stderr =
        File::create(log).with_context(|| format!("{} could not be made", log.display()))?;
    if let Some(output) = program.output.as_ref().filter(|output| output.exists()) {
        let removed = if output.is_dir() {
            fs::remove_dir_all(output)
        } else {
            fs::remove_file(output)
        };
        removed.with_context(|| format!("{} could not be removed", output.display()))?;
    }
    let start = Instant::now();
    let child = program
        .command()
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn();
    let child = match child {
        Ok(child) => child,
        Err(error) => return Ok(Err(format!("could not be started: {error}"))),
    };
    let (status, usage) =
        wait(child.id()).with_context(|| format!("waiting for {}", program.name))?;
    let wall = start.elapsed();
    // 3 is what rostrace returns when the trace itself has lost data.
    if !matches!(status.code(), Some(0 | 3)) {
        let text = fs::read_to_string(log).unwrap_or_default();
        let reason = text.lines().next().unwrap_or("nothing on stderr");
        return Ok(Err(format!("{status}: {reason}")));
    }
    Ok(Ok(Measurement {
        wall,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        // Linux counts in KiB.
        peak: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
    }))
}

/// Waits for one child and returns what it used. The standard library's `wait` does not tell.
pub(super) fn wait(pid: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut status = 0;
    loop {
        // SAFETY: rusage is plain integers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to locals that outlive the call. `pid` is a child that nobody else waits for:
        // its `Child` was moved out of `once` only as this number, and dropping a `Child` does not wait.
        let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if waited == pid {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

pub(super) fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(microseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("sh", "/bin/sh", vec!["-c".into(), script.into()])
    }

    fn log(test: &str) -> PathBuf {
        std::env::temp_dir().join(format!(
            "rostrace-measure-{test}-{}.txt",
            std::process::id()
        ))
    }

    #[test]
    fn a_busy_program_uses_cpu_and_a_sleeping_one_does_not() {
        let log = log("busy");
        let programs = [
            shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"),
            shell("sleep 0.05"),
        ];
        let outcomes = interleaved(&programs, vec![None; 2], 2, &log).unwrap();
        fs::remove_file(log).unwrap();
        let busy = outcomes[0].as_ref().unwrap();
        let sleeping = outcomes[1].as_ref().unwrap();
        assert!(busy.cpu > sleeping.cpu, "{busy:?} {sleeping:?}");
        assert!(sleeping.wall >= Duration::from_millis(50), "{sleeping:?}");
        assert!(busy.peak > 100 * 1024, "{busy:?}");
    }

    #[test]
    fn a_program_that_fails_says_why() {
        let log = log("fails");
        let programs = [
            shell("echo 'no such trace' >&2; exit 1"),
            shell("exit 3"),
            Program::new("none", "/no/such/program", vec![]),
        ];
        let outcomes = interleaved(&programs, vec![None; 3], 1, &log).unwrap();
        fs::remove_file(log).unwrap();
        assert_eq!(
            outcomes[0].as_ref().unwrap_err(),
            "exit status: 1: no such trace"
        );
        assert!(outcomes[1].is_ok(), "3 means that the trace has lost data");
        assert!(
            outcomes[2]
                .as_ref()
                .unwrap_err()
                .starts_with("could not be started")
        );
    }

    #[test]
    fn every_run_begins_without_what_the_one_before_wrote() {
        let log = log("output");
        let output = log.with_extension("folder");
        let mut program = shell(&format!("mkdir {}", output.display()));
        program.output = Some(output.clone());
        let outcomes = interleaved(&[program], vec![None], 3, &log).unwrap();
        fs::remove_file(log).unwrap();
        assert!(outcomes[0].is_ok(), "{outcomes:?}");
        fs::remove_dir(output).unwrap();
    }

    #[test]
    fn the_best_of_two_runs_is_the_smaller_of_each_figure() {
        let of = |wall, cpu, peak| Measurement {
            wall: Duration::from_millis(wall),
            cpu: Duration::from_millis(cpu),
            peak,
        };
        assert_eq!(of(10, 9, 100).best(of(8, 12, 90)), of(8, 9, 90));
    }
}
