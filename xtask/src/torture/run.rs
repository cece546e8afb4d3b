//! One run: a program, a way of recording it, and what came of both.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::bench::{Baseline, Bench, LIMIT, Scene};
use super::case::{Case, Storage};
use super::disk::Mounted;
use super::judge::{self, Failure, FailureKind};
use super::process;
use super::random::Random;
use super::trace;
use super::way::{Extent, Way};

/// How long programs last that are told when to end: longer than anything that is done to them.
const LASTING: &str = "900000";
/// The size of what a flight recorder keeps, and of what a process may write.
const FLIGHT: &str = "1M";
const MOST: &str = "256K";
/// Traces of failures are kept up to this size.
const MOST_KEPT: u64 = 32 << 20;
/// More than this, in bytes, is beyond any limit of that size: packets of a few threads may be open.
const FAR_BEYOND_MOST: u64 = 4 << 20;
/// How long a recording is that ends by itself, and how long the program then goes on.
const DURATION: &str = "2s";
const AFTER_DURATION: u64 = 10_000;
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) failures: Vec<Failure>,
    /// Nanoseconds of the longest tracepoint, with the tracer and without.
    pub(super) worst: u64,
    pub(super) worst_without: u64,
    /// Why nothing was run.
    pub(super) left_out: Option<String>,
    /// For people.
    pub(super) line: String,
}

/// A run on its way; how recordings come and go in it is in `attach`.
pub(super) struct Run<'a> {
    pub(super) bench: &'a Bench,
    pub(super) case: &'a Case,
    pub(super) way: Way,
    pub(super) random: Random,
    pub(super) scene: Scene,
    /// Below which traces are written.
    pub(super) place: Mounted,
    pub(super) failures: Vec<Failure>,
    /// The recorder ended with this, if it was left to end.
    recorder: Option<ExitStatus>,
}

pub(super) fn perform(bench: &Bench, case: &Case, way: Way, seed: u64) -> Result<Outcome> {
    let mut random = Random::new(seed);
    let chosen: Vec<String> = case
        .arguments
        .iter()
        .filter_map(|words| random.of(words))
        .map(|word| resolved(bench, word))
        .collect();
    let baseline = bench.baseline(case, &chosen)?;
    if let Some(reason) = baseline.reason_against() {
        return Ok(Outcome {
            left_out: Some(reason),
            ..Outcome::default()
        });
    }
    let mut words = chosen;
    if way.interferes()
        && let Some(last) = words.last_mut()
    {
        *last = LASTING.to_owned();
    }
    let folder = bench
        .folder
        .join("runs")
        .join(format!("{}-{way}-{seed}", case.name));
    let scene = Scene::new(folder, case.surroundings.user)?;
    let place = Mounted::new(case.surroundings.place, &scene.folder)?;
    if case.surroundings.place == Storage::Plain {
        // Also for programs of other users.
        std::fs::set_permissions(
            &place.folder,
            std::os::unix::fs::PermissionsExt::from_mode(0o777),
        )?;
    }
    let mut run = Run {
        bench,
        case,
        way,
        random,
        scene,
        place,
        failures: Vec::new(),
        recorder: None,
    };
    let is_over = run.go(&words)?;
    if is_over {
        run.judge_program(&baseline);
        run.judge_recorder();
        run.judge_trace()?;
        run.judge_leftovers();
    }
    // Who is stopped in a tracepoint stays there.
    let worst = match way {
        Way::ProgramStopped => 0,
        _ => run.scene.report.worst(),
    };
    let Run {
        failures,
        scene,
        place,
        ..
    } = run;
    drop(place);
    let outcome = Outcome {
        worst,
        worst_without: baseline.worst,
        left_out: None,
        line: format!("{} {}", case.program, words.join(" ")),
        failures,
    };
    keep_or_remove(&scene.folder, &outcome)?;
    Ok(outcome)
}

/// Libraries are named without the folder that they were compiled into.
fn resolved(bench: &Bench, word: &str) -> String {
    if word.starts_with("lib") && word.ends_with(".so") {
        return bench.built.libraries().join(word).display().to_string();
    }
    word.to_owned()
}

/// Artefacts of failures stay, with the sentences that say why.
fn keep_or_remove(folder: &Path, outcome: &Outcome) -> Result<()> {
    if outcome.failures.is_empty() {
        let _ = std::fs::remove_dir_all(folder);
        return Ok(());
    }
    let mut text = format!("{}\n", outcome.line);
    for failure in &outcome.failures {
        text.push_str(&format!("{}: {}\n", failure.kind, failure.sentence));
    }
    std::fs::write(folder.join("failures.txt"), text)?;
    let mut files = Vec::new();
    files_below(&folder.join("place"), &mut files);
    let sizes = files
        .iter()
        .filter_map(|file| Some(std::fs::metadata(file).ok()?.len()));
    if sizes.sum::<u64>() > MOST_KEPT {
        let _ = std::fs::remove_dir_all(folder.join("place"));
    }
    Ok(())
}

impl Run<'_> {
    fn trace(&self) -> PathBuf {
        self.place.folder.join("trace")
    }

    pub(super) fn fail(&mut self, kind: FailureKind, sentence: impl Into<String>) {
        self.failures.push(Failure::new(kind, sentence));
    }

    /// Runs it; false if it hung, which has then been reported.
    fn go(&mut self, words: &[String]) -> Result<bool> {
        let witness = self.bench.witnessed(&self.scene, self.case, words);
        let mut child = self.start(&witness)?;
        let begin = Instant::now();
        let hurried = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)));
        while !self.scene.report.is_ready() && !hurried(&mut child) && begin.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.case.surroundings.place == Storage::Deleted {
            self.sleep(20, 150);
            let _ = std::fs::remove_dir_all(self.trace());
        }
        self.interfere(&mut child)?;
        if self.way.interferes() {
            let stopped = self.scene.report.stop();
            stopped.context("the report of a program cannot be written")?;
        }
        let status = process::wait(&mut child, LIMIT);
        let begin = Instant::now();
        // Without its recorder the program goes on by itself.
        while status.is_some()
            && self.scene.testimony().pid.is_some()
            && !self.scene.testimony().all_gone
            && begin.elapsed() < LIMIT
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        let testimony = self.scene.testimony();
        let is_over = status.is_some() && (testimony.all_gone || testimony.pid.is_none());
        if !is_over {
            let text = self.scene.end(true);
            std::fs::write(self.scene.folder.join("hang.txt"), text)?;
            let _ = child.wait();
            let who = match status {
                Some(_) => "the program",
                None => "the recorder or the program",
            };
            self.fail(
                FailureKind::Hang,
                format!(
                    "{who} did not end within {} s; hang.txt says where it was",
                    LIMIT.as_secs()
                ),
            );
            return Ok(false);
        }
        if self.way.has_recorder_to_the_end() || self.way == Way::Idle {
            self.recorder = status;
        }
        Ok(true)
    }

    fn start(&self, witness: &[String]) -> Result<Child> {
        let log = std::fs::File::create(self.scene.folder.join("recorder.log"))?;
        let recorder = &self.bench.rostrace;
        let mut command = match self.way {
            Way::Off | Way::Output | Way::OutputKilled => {
                let mut command = self.scene.command(Path::new(&witness[0]));
                command
                    .args(&witness[1..])
                    .env("LD_PRELOAD", &self.bench.library)
                    .env("ROSTRACE_OUTPUT", self.trace());
                if self.way == Way::Off {
                    command.env("ROSTRACE", "off");
                }
                command
            }
            Way::Idle | Way::Attach | Way::AttachKilled => {
                let mut command = self.scene.command(recorder);
                command.args(["run", "--"]).args(witness);
                command
            }
            _ => {
                let mut command = self.scene.command(recorder);
                command
                    .args(["record", "--no-report", "-o"])
                    .arg(self.trace())
                    .args(self.way.observations());
                match self.way {
                    Way::Flight => command.args(["--flight", FLIGHT]),
                    Way::FlightTime => command.args(["--flight", "1s"]),
                    Way::Limit | Way::LimitKilled => command.args(["--limit", MOST]),
                    Way::DurationKilled => command.args(["--duration", DURATION]),
                    _ => &mut command,
                };
                if self.case.surroundings.place == Storage::Full {
                    command.args(["--keep-free", "0"]);
                }
                command.arg("--").args(witness);
                command
            }
        };
        command
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("the recorder could not be started")
    }

    pub(super) fn sleep(&mut self, from: u64, to: u64) {
        std::thread::sleep(Duration::from_millis(self.random.between(from, to)));
    }

    /// Kills, stops, attaches: whatever the way says.
    fn interfere(&mut self, recorder: &mut Child) -> Result<()> {
        // The program may be ready before its witness has said who it is.
        let begin = Instant::now();
        while self.scene.testimony().pid.is_none() && begin.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(5));
        }
        let program = self.scene.testimony().pid.unwrap_or(0);
        let kill_recorder = |recorder: &mut Child| {
            let _ = recorder.kill();
        };
        if self.way.interferes() {
            self.sleep(10, 150);
        }
        match self.way {
            Way::RecorderKilled | Way::LimitKilled => {
                kill_recorder(recorder);
                self.sleep(20, 150);
            }
            Way::DurationKilled => {
                kill_recorder(recorder);
                self.sleep(AFTER_DURATION, AFTER_DURATION);
            }
            Way::ProgramKilled | Way::OutputKilled => self.scene.signal(program, libc::SIGKILL),
            Way::BothKilled => {
                kill_recorder(recorder);
                self.sleep(0, 50);
                self.scene.signal(program, libc::SIGKILL);
            }
            Way::BothKilledReversed => {
                self.scene.signal(program, libc::SIGKILL);
                self.sleep(0, 3);
                kill_recorder(recorder);
            }
            Way::ProgramStopped | Way::RecorderStopped => {
                let whom = if self.way == Way::ProgramStopped {
                    program
                } else {
                    recorder.id()
                };
                self.scene.signal(whom, libc::SIGSTOP);
                self.sleep(200, 1000);
                self.scene.signal(whom, libc::SIGCONT);
                self.sleep(20, 100);
            }
            Way::Attach | Way::AttachKilled => self.attach_again_and_again(program)?,
            _ => {}
        }
        Ok(())
    }

    /// The same output and the same end as without a tracer.
    fn judge_program(&mut self, baseline: &Baseline) {
        let testimony = self.scene.testimony();
        let expected = if self.way.kills_program() {
            Some(libc::SIGKILL)
        } else {
            baseline.status
        };
        if testimony.status != expected {
            let is_signal = testimony
                .status
                .is_some_and(|status| libc::WIFSIGNALED(status));
            let kind = if is_signal || testimony.status.is_none() {
                FailureKind::Crash
            } else {
                FailureKind::Output
            };
            self.fail(
                kind,
                format!(
                    "the program ended with {}, without the tracer with {}",
                    ended(testimony.status),
                    ended(expected)
                ),
            );
        }
        let output = without_complaints(&self.scene.output());
        let is_same = output == baseline.output
            || self.way.kills_program() && baseline.output.starts_with(&output);
        if !is_same {
            self.fail(
                FailureKind::Output,
                format!(
                    "the program said {:?}, without the tracer {:?}",
                    shortened(&output),
                    shortened(&baseline.output)
                ),
            );
        }
    }

    fn judge_recorder(&mut self) {
        let Some(status) = self.recorder else {
            return;
        };
        let log =
            std::fs::read_to_string(self.scene.folder.join("recorder.log")).unwrap_or_default();
        if let Some(signal) = status.signal() {
            self.fail(
                FailureKind::Crash,
                format!("the recorder was ended by signal {signal}"),
            );
        } else if log.contains("panicked at") {
            self.fail(
                FailureKind::Recorder,
                "the recorder panicked; recorder.log says where",
            );
        } else if self.way != Way::Idle
            && !matches!(status.code(), Some(0 | 3))
            && !self.case.surroundings.may_fail
            && self.scene.report.emitted().begun() > 0
        {
            let last = log.lines().last().unwrap_or("nothing").to_owned();
            self.fail(
                FailureKind::Recorder,
                format!("the recorder ended with {status} and said: {last}"),
            );
        }
    }

    fn judge_trace(&mut self) -> Result<()> {
        let emitted = self.scene.report.emitted();
        let extent = self.way.extent();
        let trace = self.trace();
        let recorded = match trace::read(&self.bench.rostrace, &trace) {
            Ok(recorded) => recorded,
            Err(error) => {
                if self.case.surroundings.place != Storage::Deleted {
                    self.fail(FailureKind::Accounting, format!("{error:#}"));
                }
                return Ok(());
            }
        };
        let may_fail = self.case.surroundings.may_fail;
        let is_shown = self.recorder.is_none_or(|status| status.code() != Some(0));
        match (extent, recorded) {
            (Extent::Windows | Extent::Nothing, None) => {}
            (Extent::Windows | Extent::Nothing, Some(_)) => {
                self.fail(
                    FailureKind::Leftover,
                    "there is a trace, although nobody recorded",
                );
            }
            (_, None) => {
                let is_something = emitted.returned() + emitted.others_returned > 0;
                if is_something && !(may_fail && is_shown) {
                    self.fail(
                        FailureKind::Accounting,
                        format!(
                            "{} events were emitted, and there is no trace",
                            emitted.begun()
                        ),
                    );
                }
            }
            (extent, Some(recorded)) => {
                if may_fail && is_shown {
                    self.failures.extend(judge::invented(&emitted, &recorded));
                } else {
                    self.failures
                        .extend(judge::account(&emitted, &recorded, extent));
                }
                let (is_held, promise) = match self.way {
                    Way::DurationKilled => (
                        recorded.numbered() < emitted.returned() / 2 || emitted.returned() < 100,
                        "--duration",
                    ),
                    Way::LimitKilled => (recorded.info.bytes < FAR_BEYOND_MOST, "--limit"),
                    _ => (true, ""),
                };
                if !is_held {
                    self.fail(
                        FailureKind::Recorder,
                        format!(
                            "{promise} does not hold when the recorder was killed: {} of {} events, {} bytes",
                            recorded.numbered(),
                            emitted.returned(),
                            recorded.info.bytes
                        ),
                    );
                }
                self.ask_babeltrace(&trace, recorded.total());
            }
        }
        Ok(())
    }

    fn ask_babeltrace(&mut self, trace: &Path, events: u64) {
        // It takes its time: every fourth trace is enough, and none that is large.
        if self.random.below(4) != 0 || events > 500_000 {
            return;
        }
        match trace::second_opinion(&trace::of_processes(trace)) {
            Ok(Some(count)) if count != events => self.fail(
                FailureKind::Accounting,
                format!("babeltrace2 finds {count} events, rostrace {events}"),
            ),
            Ok(_) => {}
            Err(error) => self.fail(FailureKind::Accounting, format!("{error:#}")),
        }
    }

    fn judge_leftovers(&mut self) {
        if self.way.kills_recorder() {
            // What a killed recorder leaves is found by the next one.
            return;
        }
        let mut left = Vec::new();
        files_below(&self.scene.folder.join("runtime"), &mut left);
        if let Some(first) = left.first() {
            let text = format!(
                "{} files are left in the runtime folder, {} for one",
                left.len(),
                first.display()
            );
            self.fail(FailureKind::Leftover, text);
        }
    }
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The tracer may say on standard error that it cannot record.
fn without_complaints(output: &str) -> String {
    let lines = output.split_inclusive('\n');
    lines
        .filter(|line| !line.starts_with("rostrace: "))
        .collect()
}

fn ended(status: Option<i32>) -> String {
    match status {
        None => "nobody knows what".to_owned(),
        Some(status) => ExitStatus::from_raw(status).to_string(),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Starts a program and returns what it said and how it ended; for the cases that are not in the table.
pub(super) fn output_of(
    command: &mut Command,
    limit: Duration,
) -> Result<Option<(ExitStatus, String)>> {
    let line = crate::step::command_line(command);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("`{line}` could not be started"))?;
    let Some(status) = process::wait(&mut child, limit) else {
        let _ = child.kill();
        let _ = child.wait();
        return Ok(None);
    };
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        std::io::Read::read_to_string(&mut stdout, &mut text)?;
    }
    Ok(Some((status, text)))
}
