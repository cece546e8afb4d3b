//! Looking after a recording while it runs: signals, time, disk, the command, and whether somebody else stopped it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::Context;
use rostrace_record::{Failure, IncompatibleTracer, Recording, Running, Summary, snapshot};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use super::failure;
use super::live_line::LiveLine;
use crate::render::diagnostic;

/// Between two looks at the command and at signals.
const PAUSE: Duration = Duration::from_millis(20);
/// Between two looks at processes, and at the disk, which a busy application fills at hundreds of megabytes per second.
const COUNTING: Duration = Duration::from_millis(200);

/// So long may a command take to shut down.
const GRACE: Duration = Duration::from_secs(10);

/// What a recording was ended by, and with what.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) summary: Summary,
    /// Of the command; none without one.
    pub(crate) pid: Option<u32>,
    pub(crate) status: Option<ExitStatus>,
    pub(crate) was_interrupted: bool,
    pub(crate) duration: Duration,
}

#[derive(Debug)]
pub(crate) struct Watch<'s> {
    recording: Option<Recording<'s>>,
    running: Option<Running>,
    /// Others started the processes: without them there is nothing to wait for. Who records before anybody is there waits.
    ends_with_others: bool,
    signals: Signals,
    began: Instant,
    limit: Option<Duration>,
    /// When the command was asked to end because the time was over.
    asked: Option<Instant>,
    line: LiveLine,
    output: PathBuf,
    interrupts: u32,
    snapshots: u32,
    /// Failures that were shown.
    reported: BTreeSet<Failure>,
    incompatible_tracers: Option<IncompatibleTracer>,
    finished: Option<(Summary, Duration)>,
}

/// Must be made before the command is started, so that no signal is missed.
pub(crate) fn signals() -> anyhow::Result<Signals> {
    Signals::new([SIGINT, SIGTERM, SIGHUP, SIGUSR1]).context("signals cannot be caught")
}

impl<'s> Watch<'s> {
    pub(crate) fn new(
        recording: Recording<'s>,
        running: Option<Running>,
        signals: Signals,
        limit: Option<Duration>,
    ) -> Watch<'s> {
        Watch {
            output: recording.output().to_owned(),
            ends_with_others: running.is_none() && !recording.is_abandoned(),
            recording: Some(recording),
            running,
            signals,
            began: Instant::now(),
            limit,
            asked: None,
            line: LiveLine::new(),
            interrupts: 0,
            snapshots: 0,
            reported: BTreeSet::new(),
            incompatible_tracers: None,
            finished: None,
        }
    }

    /// Returns when the recording is complete and the command, if there is one, has ended.
    pub(crate) fn until_the_end(mut self) -> anyhow::Result<Ending> {
        let mut counted = Instant::now();
        loop {
            self.heed_signals();
            if let Some(running) = &mut self.running
                && running.ended()?.is_some()
            {
                break;
            }
            if self.running.is_none() && (self.interrupts > 0 || self.finished.is_some()) {
                break;
            }
            if self.is_over() && !self.end_command()? {
                break;
            }
            if let Some(recording) = &mut self.recording {
                recording.go_on();
            }
            if counted.elapsed() >= COUNTING {
                counted = Instant::now();
                self.count();
                self.look_at_disk();
            }
            std::thread::sleep(PAUSE);
        }
        self.finish(None);
        let status = match &mut self.running {
            Some(running) => running.ended()?,
            None => None,
        };
        let pid = self.running.as_ref().map(Running::pid);
        let (summary, duration) = self.finished.context("the recording did not end")?;
        Ok(Ending {
            summary,
            pid,
            status,
            was_interrupted: self.interrupts > 0,
            duration,
        })
    }

    /// Whether it was recorded for as long as was asked for.
    fn is_over(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.began.elapsed() >= limit)
    }

    /// Asks the command to end, as Ctrl-C would: how it shuts down belongs to the recording. False if there is nothing to wait for.
    fn end_command(&mut self) -> anyhow::Result<bool> {
        let Some(running) = &mut self.running else {
            return Ok(false);
        };
        match self.asked {
            None => {
                self.asked = Some(Instant::now());
                if self.interrupts == 0 {
                    self.interrupts = 1;
                    running.signal(SIGINT);
                }
                Ok(true)
            }
            Some(asked) if asked.elapsed() < GRACE => Ok(true),
            Some(_) => {
                self.finish(Some(
                    "the command has not ended 10 s after it was asked to: the recording was ended without it",
                ));
                if let Some(running) = &mut self.running {
                    running.end_now()?;
                }
                Ok(false)
            }
        }
    }

    /// Ctrl-C goes to the command; the second one kills it. SIGUSR1 copies what there is.
    fn heed_signals(&mut self) {
        let pending: Vec<i32> = self.signals.pending().collect();
        for signal in pending {
            if signal == SIGUSR1 {
                self.snapshot(None);
                continue;
            }
            self.interrupts += 1;
            if let Some(running) = &self.running {
                running.signal(match self.interrupts {
                    1 => signal,
                    _ => libc::SIGKILL,
                });
            }
        }
    }

    /// Asked for by a process, or by a signal to us.
    fn snapshot(&mut self, asked_by: Option<u32>) {
        self.snapshots += 1;
        let mut name = self.output.as_os_str().to_owned();
        name.push(format!("-snapshot-{}", self.snapshots));
        self.line.clear();
        let to = PathBuf::from(name);
        let copied = match &self.recording {
            Some(recording) => recording.snapshot(&to),
            None => snapshot::copy(&self.output, &to),
        };
        match copied {
            Ok((folder, _)) => {
                let why = asked_by.map_or(String::new(), |pid| format!(" (process {pid} asked)"));
                diagnostic::note(&format!("snapshot{why}: {}", folder.display()));
            }
            Err(error) => diagnostic::note(&format!("no snapshot was taken: {error}")),
        }
    }

    fn count(&mut self) {
        let Some(recording) = &mut self.recording else {
            return;
        };
        let progress = recording.progress();
        let failures = recording.failures();
        let mut news: Vec<String> = failures
            .difference(&self.reported)
            .map(failure::as_it_happens)
            .collect();
        self.reported.clone_from(failures);
        let incompatible_tracers = recording.incompatible_tracers();
        if self.incompatible_tracers != incompatible_tracers {
            news.extend(incompatible_tracers.as_ref().map(failure::of_stranger));
            self.incompatible_tracers = incompatible_tracers;
        }
        if !news.is_empty() {
            self.line.clear();
        }
        for sentence in news {
            diagnostic::note(&sentence);
        }
        self.line.show(&progress);
        if let Some(pid) = recording.snapshot_request() {
            self.snapshot(Some(pid));
        }
        let Some(recording) = &self.recording else {
            return;
        };
        if !recording.is_standing() {
            self.finish(Some("`rostrace stop` ended the recording"));
        } else if self.ends_with_others && recording.is_abandoned() {
            self.finish(Some("all processes have ended, and so has the recording"));
        }
    }

    fn look_at_disk(&mut self) {
        let space = self.recording.as_ref().and_then(Recording::space);
        if let Some((space, true)) = space {
            self.finish(Some(&format!(
                "only {} are left on the disk: the recording was ended",
                rostrace_base::units::bytes(space.free)
            )));
        }
    }

    fn finish(&mut self, why: Option<&str>) {
        if let Some(recording) = self.recording.take() {
            let duration = self.began.elapsed();
            self.finished = Some((recording.finish(), duration));
            self.line.clear();
            if let Some(why) = why {
                diagnostic::note(why);
            }
        }
    }
}
