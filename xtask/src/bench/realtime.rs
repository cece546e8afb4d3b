//! Loops with real-time priority (`xtask/torture/realtime.c`) in one place under one tracer, and how long each of their tracepoints took.
//!
//! `worst` makes tables of it; torture judges a short one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::lttng::{Session, SessionDaemon};
use crate::torture::bench::Scene;
use crate::torture::build::RealTime;
use crate::torture::case::{Storage, User};
use crate::torture::disk::Mounted;
use crate::torture::process;

/// Tracepoints in each turn of a loop.
const IN_A_TURN: usize = 4;
/// Nanoseconds of work in the place of a tracepoint.
const WORK: u32 = 200;
/// How long a recording takes that comes while the loops run.
const WINDOW: Duration = Duration::from_millis(300);
const BETWEEN_WINDOWS: Duration = Duration::from_millis(200);
/// How much longer than the loops everything may take: what waits for a slow disk takes long.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tracer {
    /// A function that does nothing.
    None,
    /// No tracer, but as much work in the place of each tracepoint as a tracer does: interrupts and the hypervisor hit whoever takes longer more often.
    Work,
    Lttng,
    Rostrace,
}

impl Tracer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Tracer::None => "no tracer",
            Tracer::Work => "no tracer, 200 ns of work each",
            Tracer::Lttng => "LTTng-UST",
            Tracer::Rostrace => "rostrace",
        }
    }
}

/// What is run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) milliseconds: u64,
    pub(crate) threads: u32,
    /// Turns of each thread in a second.
    pub(crate) rate: u32,
    /// Recordings that begin while the loops run; with 0, one from the start to the end.
    pub(crate) windows: u32,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Ended,
    /// Something did not end and was killed; `hang.txt` says where it was.
    Hung,
}

/// The loops, their traces and the disk that they lie on.
#[derive(Debug)]
pub(crate) struct Loops {
    pub(crate) scene: Scene,
    place: Mounted,
    /// A bag is written only where it disturbs.
    has_bag: bool,
}

impl Loops {
    pub(crate) fn new(folder: PathBuf, place: Storage) -> Result<Loops> {
        let scene = Scene::new(folder, User::Root)?;
        Ok(Loops {
            place: Mounted::new(place, &scene.folder)?,
            scene,
            has_bag: place == Storage::Slow,
        })
    }

    /// The folder with the trace, or with all of them.
    pub(crate) fn traces(&self) -> PathBuf {
        self.place.folder.join("traces")
    }

    /// The words of the program, which in the place of tracepoints may work for so many nanoseconds.
    fn program(&self, mut command: Command, setting: &Setting, work: u32) -> Command {
        let bag = match self.has_bag {
            true => self.place.folder.join("bag"),
            false => PathBuf::from("-"),
        };
        command
            .arg(bag)
            .arg(setting.milliseconds.to_string())
            .arg(self.scene.folder.join("times"))
            .arg(setting.threads.to_string())
            .arg(setting.rate.to_string())
            .arg(work.to_string());
        command
    }

    /// Runs the loops. The programs have to exist for this tracer.
    pub(crate) fn run(
        &self,
        tracer: Tracer,
        rostrace: &Path,
        programs: &RealTime,
        setting: &Setting,
    ) -> Result<Ending> {
        std::fs::create_dir_all(self.traces())?;
        let session = format!("rostrace-loops-{}", std::process::id());
        let is_late = setting.windows > 0;
        let plain = self.scene.command(&programs.plain);
        let (command, daemon, running) = match tracer {
            Tracer::None => (self.program(plain, setting, 0), None, None),
            Tracer::Work => (self.program(plain, setting, WORK), None, None),
            Tracer::Lttng => {
                let program = programs
                    .lttng
                    .as_deref()
                    .context("LTTng's provider could not be compiled")?;
                let daemon = SessionDaemon::ensure()?;
                let running = match is_late {
                    true => None,
                    false => Some(Session::start(&session, &self.traces())?),
                };
                let program = self.scene.command(program);
                (self.program(program, setting, 0), Some(daemon), running)
            }
            Tracer::Rostrace => {
                let mut command = self.scene.command(rostrace);
                match is_late {
                    true => command.arg("run"),
                    false => command
                        .args(["record", "--no-report", "-o"])
                        .arg(self.traces().join("trace")),
                };
                command.arg("--").arg(&programs.plain);
                (self.program(command, setting, 0), None, None)
            }
        };
        let mut child = self.spawn(command)?;
        if is_late {
            self.windows(tracer, rostrace, &session, setting.windows)
                .inspect_err(|_| drop(self.scene.end(false)))?;
            self.scene.report.stop()?;
        }
        let ending = self.wait(&mut child, setting)?;
        if let Some(running) = running {
            running.finish()?;
        }
        drop(daemon);
        Ok(ending)
    }

    fn spawn(&self, mut command: Command) -> Result<Child> {
        let log = std::fs::File::create(self.scene.folder.join("log"))?;
        command
            .stdout(log.try_clone()?)
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .context("the loops could not be started")
    }

    fn wait(&self, child: &mut Child, setting: &Setting) -> Result<Ending> {
        let limit = Duration::from_millis(setting.milliseconds) + PATIENCE;
        let Some(status) = process::wait(child, limit) else {
            let text = self.scene.end(true);
            std::fs::write(self.scene.folder.join("hang.txt"), text)?;
            let _ = child.wait();
            return Ok(Ending::Hung);
        };
        // 3: events were lost, which is shown.
        if !matches!(status.code(), Some(0 | 3)) {
            bail!("the loops ended with {status} and said: {}", self.log());
        }
        Ok(Ending::Ended)
    }

    fn log(&self) -> String {
        let text = std::fs::read_to_string(self.scene.folder.join("log")).unwrap_or_default();
        text.trim().to_owned()
    }

    /// Recordings come and go while the loops run.
    fn windows(&self, tracer: Tracer, rostrace: &Path, session: &str, windows: u32) -> Result<()> {
        let begin = std::time::Instant::now();
        while !self.scene.report.is_ready() {
            if begin.elapsed() > PATIENCE {
                bail!("the loops do not begin, and say: {}", self.log());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        for window in 0..windows {
            std::thread::sleep(BETWEEN_WINDOWS);
            let output = self.traces().join(format!("trace-{window}"));
            match tracer {
                Tracer::None | Tracer::Work => std::thread::sleep(WINDOW),
                Tracer::Lttng => {
                    let running = Session::start(&format!("{session}-{window}"), &output)?;
                    std::thread::sleep(WINDOW);
                    running.finish()?;
                }
                Tracer::Rostrace => {
                    let duration = format!("{}ms", WINDOW.as_millis());
                    let mut command = self.scene.command(rostrace);
                    command
                        .args(["record", "--attach", "--no-report", "--duration", &duration])
                        .arg("-o")
                        .arg(&output);
                    let output = command
                        .output()
                        .context("`rostrace record --attach` could not be started")?;
                    if !matches!(output.status.code(), Some(0 | 3)) {
                        bail!(
                            "`rostrace record --attach` ended with {} and said: {}",
                            output.status,
                            String::from_utf8_lossy(&output.stderr).trim()
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// What every tracepoint took.
    pub(super) fn times(&self) -> Result<Times> {
        let bytes = std::fs::read(self.scene.folder.join("times"))
            .context("the loops did not write down how long tracepoints took")?;
        let log = self.log();
        let is_real_time = log.lines().any(|line| line == "real time");
        if !is_real_time {
            bail!("the loops got no real-time priority, so their times say nothing");
        }
        let mut times = Times::of(&bytes);
        times.slow = self.slow();
        Ok(times)
    }

    /// The longest tracepoints, with what the system did to their threads meanwhile.
    pub(crate) fn slow(&self) -> Vec<Slow> {
        self.log().lines().filter_map(Slow::of).collect()
    }
}

/// What tracepoints took, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Times {
    sorted: Vec<u32>,
    /// The most that the four tracepoints of one turn took together.
    pub(super) worst_turn: u64,
    /// Those of 50 µs and more, with what the system did to the thread meanwhile.
    pub(super) slow: Vec<Slow>,
}

/// One tracepoint of 50 µs or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slow {
    pub(crate) nanos: u64,
    pub(crate) faults: u64,
    /// How often the thread gave the processor away, and how often it was taken from it.
    pub(crate) waits: u64,
    pub(crate) preemptions: u64,
}

impl Slow {
    /// From a line of the loops.
    fn of(line: &str) -> Option<Slow> {
        let mut numbers = line
            .strip_prefix("slow ")?
            .split(' ')
            .map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        Some(Slow {
            nanos: next()?,
            faults: next()?,
            waits: next()?,
            preemptions: next()?,
        })
    }
}

impl Times {
    /// From numbers of 32 bits, in the order in which it happened on each thread.
    pub(super) fn of(bytes: &[u8]) -> Times {
        let words = bytes.chunks_exact(4);
        let mut all: Vec<u32> = words
            .filter_map(|word| Some(u32::from_ne_bytes(word.try_into().ok()?)))
            .collect();
        let turns = all.chunks(IN_A_TURN);
        let worst_turn = turns
            .map(|turn| turn.iter().map(|time| u64::from(*time)).sum())
            .max()
            .unwrap_or(0);
        all.sort_unstable();
        Times {
            sorted: all,
            worst_turn,
            slow: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, other: &Times) {
        self.sorted.extend(&other.sorted);
        self.sorted.sort_unstable();
        self.worst_turn = self.worst_turn.max(other.worst_turn);
        self.slow.extend(&other.slow);
    }

    pub(super) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The smallest that at least this part of all are not above.
    pub(super) fn quantile(&self, part: f64) -> u32 {
        let at = (self.sorted.len() as f64 * part).ceil() as usize;
        let last = self.sorted.len().saturating_sub(1);
        let time = self.sorted.get(at.saturating_sub(1).min(last));
        time.copied().unwrap_or(0)
    }

    /// The worst of those that faulted, waited or were preempted. The others were interrupted, by the kernel or the hypervisor.
    pub(super) fn worst_with_cause(&self) -> u64 {
        let with_cause = self
            .slow
            .iter()
            .filter(|it| (it.faults, it.waits, it.preemptions) != (0, 0, 0));
        with_cause.map(|it| it.nanos).max().unwrap_or(0)
    }

    pub(super) fn worst(&self) -> u32 {
        self.sorted.last().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: &[u32]) -> Times {
        let bytes: Vec<u8> = all.iter().flat_map(|time| time.to_ne_bytes()).collect();
        Times::of(&bytes)
    }

    #[test]
    fn the_worst_turn_is_a_sum_of_four() {
        let times = times(&[10, 10, 10, 10, 1, 1, 1, 30]);
        assert_eq!((times.worst(), times.worst_turn), (30, 40));
    }

    #[test]
    fn a_wait_of_seconds_is_read_too() {
        let slow = Slow::of("slow 8300000000 0 1 0").unwrap();
        assert_eq!((slow.nanos, slow.waits), (8_300_000_000, 1));
        assert_eq!(Slow::of("real time"), None);
    }

    #[test]
    fn quantiles_are_of_all_pieces_together() {
        let mut all = times(&(1..=999).collect::<Vec<_>>());
        all.add(&times(&[5000]));
        assert_eq!(all.count(), 1000);
        assert_eq!(all.quantile(0.5), 500);
        assert_eq!(all.quantile(0.999), 999);
        assert_eq!(all.quantile(1.0), 5000);
        assert_eq!(all.worst(), 5000);
        assert_eq!(Times::default().quantile(0.5), 0);
    }
}
