//! Recordings that come and go while a program runs: each is judged by itself, and what the process holds is compared at the end.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::bench::LIMIT;
use super::judge::{self, Failure, FailureKind};
use super::process::{self, Holdings};
use super::run::Run;
use super::trace;
use super::way::{Extent, Way};

/// Maps that a process may have more of after any number of recordings than before the first, and kilobytes of address space.
const MORE_MAPS: usize = 12;
const MORE_KILOBYTES: u64 = 1024;
/// Recordings after which what a process holds is compared: the first few may prepare something for all others.
const PREPARATION: u32 = 5;
/// After fewer recordings than these nothing is said of memory: what is used again may grow to what it needs.
const MANY: u32 = 20;
/// Fewer events than these between two moments are no reason to expect one in a recording between them.
const FEW: u64 = 500;
const SHORT: &str = "50ms";
const LONG: &str = "3s";

impl Run<'_> {
    /// What the way of that name does.
    pub(super) fn attach_again_and_again(&mut self, program: u32) -> Result<()> {
        let (fewest, most) = self.case.surroundings.windows;
        let windows = self.random.between(u64::from(fewest), u64::from(most)) as u32;
        let mut before = None;
        for window in 0..windows {
            if window == PREPARATION.min(windows - 1) {
                before = Holdings::of(program);
            }
            let is_killed = self.way == Way::AttachKilled && window % 2 == 0;
            if !self.attach(window, SHORT, is_killed)? || Holdings::of(program).is_none() {
                return Ok(());
            }
        }
        if let (Some(before), false) = (before, self.case.surroundings.grows) {
            let with_memory = windows >= MANY;
            // A helper that ends with the recording may need a moment.
            let begin = Instant::now();
            let mut after = Holdings::of(program);
            while after.is_some_and(|after| grown(before, after, with_memory).is_some())
                && begin.elapsed() < Duration::from_secs(30)
            {
                std::thread::sleep(Duration::from_millis(20));
                after = Holdings::of(program);
            }
            if let Some(sentence) = after.and_then(|after| grown(before, after, with_memory)) {
                self.fail(
                    FailureKind::Leftover,
                    format!(
                        "after {windows} recordings the process has {sentence} after the first few"
                    ),
                );
            }
        }
        Ok(())
    }

    /// One recording; false if there is no reason to go on.
    fn attach(&mut self, window: u32, duration: &str, is_killed: bool) -> Result<bool> {
        let trace = self.place.folder.join(format!("trace-{window}-{duration}"));
        let log_path = self.scene.folder.join("attach.log");
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&log_path)?;
        let before = self.scene.report.emitted();
        let switches = self.random.of(&["off", "auto", "clocks"]);
        let mut child = self
            .scene
            .command(&self.bench.rostrace)
            .args(["record", "--attach", "--no-report", "-o"])
            .arg(&trace)
            .args(["--duration", duration])
            .args(["--switches", switches.copied().unwrap_or("auto")])
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("`rostrace record --attach` could not be started")?;
        if is_killed {
            self.sleep(5, 45);
            let _ = child.kill();
        }
        let Some(status) = process::wait(&mut child, LIMIT) else {
            let text = self.scene.end(true);
            std::fs::write(self.scene.folder.join("hang.txt"), text)?;
            let _ = child.wait();
            self.fail(
                FailureKind::Hang,
                format!(
                    "recording {window} did not end within {} s; hang.txt says where everybody was",
                    LIMIT.as_secs()
                ),
            );
            return Ok(false);
        };
        if is_killed {
            // What goes on by itself must be ended before it is read.
            let _ = self
                .scene
                .command(&self.bench.rostrace)
                .arg("stop")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        } else if !matches!(status.code(), Some(0 | 3)) && self.is_alive() {
            let few = self.scene.report.emitted().begun() - before.begun() < FEW;
            if !few && !self.case.surroundings.may_fail {
                let log = std::fs::read_to_string(&log_path).unwrap_or_default();
                let last = log.lines().last().unwrap_or("nothing").to_owned();
                self.fail(
                    FailureKind::Recorder,
                    format!("recording {window} ended with {status} and said: {last}"),
                );
            }
        }
        let after = self.scene.report.emitted();
        let recorded = match trace::read(&self.bench.rostrace, &trace) {
            Ok(recorded) => recorded,
            Err(error) => {
                self.fail(
                    FailureKind::Accounting,
                    format!("recording {window}: {error:#}"),
                );
                None
            }
        };
        let Some(recorded) = recorded else {
            return Ok(true);
        };
        let emitted = after.begun().saturating_sub(before.returned());
        let mut found = if self.case.surroundings.may_fail && status.code() != Some(0) {
            judge::invented(&after, &recorded)
        } else {
            judge::account(&after, &recorded, Extent::Windows)
        };
        if recorded.numbered() > emitted {
            found.push(Failure::new(
                FailureKind::Accounting,
                format!(
                    "{} events were recorded, {emitted} were emitted meanwhile",
                    recorded.numbered()
                ),
            ));
        }
        if !is_killed
            && recorded.numbered() + recorded.info.discarded == 0
            && emitted > 4 * FEW
            && !self.case.surroundings.may_fail
        {
            // On a busy machine the program may not have had the processor while it was recorded.
            if duration == SHORT {
                return self.attach(window, LONG, is_killed);
            }
            found.push(Failure::new(
                FailureKind::Accounting,
                format!("none of {emitted} events was recorded or counted"),
            ));
        }
        if found.is_empty() {
            let _ = std::fs::remove_dir_all(&trace);
        }
        for failure in found {
            self.fail(
                failure.kind,
                format!("recording {window}: {}", failure.sentence),
            );
        }
        Ok(true)
    }

    /// Whether the program has not ended yet.
    fn is_alive(&self) -> bool {
        let testimony = self.scene.testimony();
        testimony.pid.is_some() && testimony.status.is_none()
    }
}

/// What a process has more of than a recording may leave.
fn grown(before: Holdings, after: Holdings, with_memory: bool) -> Option<String> {
    if with_memory && after.maps > before.maps + MORE_MAPS {
        return Some(format!("{} maps instead of {}", after.maps, before.maps));
    }
    if after.descriptors > before.descriptors {
        return Some(format!(
            "{} descriptors instead of {}",
            after.descriptors, before.descriptors
        ));
    }
    if after.threads > before.threads {
        return Some(format!(
            "{} threads instead of {}",
            after.threads, before.threads
        ));
    }
    (with_memory && after.address_space > before.address_space + MORE_KILOBYTES).then(|| {
        format!(
            "{} KB of address space more",
            after.address_space - before.address_space
        )
    })
}
