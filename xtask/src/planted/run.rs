//! One case: a program is recorded, and `why` is asked about what happened in it, without being told what that was.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::answer::Answer;
use super::claim::{How, Switches};
use super::judge::{Judgement, is_largest_called_closed, is_largest_closed, judge};
use super::truth::{AskedFor, Log, Truth};
use crate::step::command_line;
use crate::torture::process;
use crate::torture::random::Random;

pub(super) const NOBODY: u32 = 65_534;
/// Longer than any program lasts on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(180);

/// What all cases share.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) folder: PathBuf,
    pub(super) rostrace: PathBuf,
    pub(super) planted: PathBuf,
    /// Runs a command where perf_event_open is refused, if that is wanted.
    pub(super) without_perf: Option<PathBuf>,
    /// Root can become somebody without rights, and does.
    pub(super) is_root: bool,
}

#[derive(Debug)]
pub(super) struct Case {
    pub(super) truth: Truth,
    pub(super) answer: Answer,
    pub(super) how: How,
    pub(super) judgement: Judgement,
    /// The largest part is a box that nobody can open.
    pub(super) is_largest_closed: bool,
    /// It is called one.
    pub(super) is_largest_called_closed: bool,
}

#[derive(Debug)]
pub(super) enum Outcome {
    Judged(Box<Case>),
    /// The system does not allow what was to be planted.
    LeftOut(String),
}

impl Bench {
    /// In a folder that an ordinary user can reach and write to.
    pub(super) fn command(&self, folder: &Path, program: &Path) -> Command {
        let mut command = match &self.without_perf {
            Some(wrapper) => {
                let mut command = Command::new(wrapper);
                command.arg(program);
                command
            }
            None => Command::new(program),
        };
        command
            .current_dir(folder)
            .env("XDG_RUNTIME_DIR", folder.join("runtime"))
            .env("HOME", folder)
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null());
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    pub(super) fn kinds(&self) -> Result<Vec<String>> {
        let output = Command::new(&self.planted).arg("--list").output()?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// What is left of a case is in its folder; the caller removes that.
    pub(super) fn perform(&self, kind: &str, seed: u64, folder: &Path) -> Result<Outcome> {
        fs::create_dir_all(folder.join("runtime"))?;
        for it in [folder.to_owned(), folder.join("runtime")] {
            if self.is_root {
                chown(&it, Some(NOBODY), Some(NOBODY))?;
            }
            fs::set_permissions(&it, PermissionsExt::from_mode(0o700))?;
        }
        let mut record = self.command(folder, &self.rostrace);
        // Half of them with what is recorded only if it is asked for.
        let mut random = Random::new(seed);
        let [is_worst, has_locks, has_samples] = [(); 3].map(|()| random.below(2) == 0);
        record
            .args(["record", "--no-report", "-o", "trace"])
            .args(has_locks.then_some("--locks"))
            .args(has_samples.then_some("--sample"))
            .arg("--")
            .arg(&self.planted)
            .args([kind, &seed.to_string(), "log"]);
        let said = finished(&mut record, folder, "record", &[0, 3])?;
        let text = fs::read_to_string(folder.join("log"))
            .context("the program did not say what it planted")?;
        let truth = match Log::read(&text)? {
            Log::Truth(truth) => truth,
            Log::Impossible(reason) => return Ok(Outcome::LeftOut(reason)),
        };
        let switches =
            match said.contains(" context switches in ") || said.contains(" context switches, ") {
                true => Switches::Recorded,
                false => Switches::Refused,
            };
        if self.without_perf.is_some() && switches == Switches::Recorded {
            bail!("context switches were recorded although the system was to refuse that");
        }
        let how = How {
            switches,
            has_locks,
        };
        // People ask for the worst, or for what happened at a time.
        let mut answer = None;
        if is_worst && !matches!(truth.subject, AskedFor::Lost(..)) {
            let worst = self.ask(folder, &truth, None)?;
            // On a busy machine another one may have been worse.
            if worst.begin <= truth.at && truth.at <= worst.end {
                answer = Some(worst);
            }
        }
        let answer = match answer {
            Some(answer) => answer,
            None => self.ask(folder, &truth, Some(truth.at))?,
        };
        let judgement = judge(&truth, &answer, how);
        let is_largest_closed = is_largest_closed(&truth, &answer);
        let is_largest_called_closed = is_largest_called_closed(&answer);
        Ok(Outcome::Judged(Box::new(Case {
            truth,
            answer,
            how,
            judgement,
            is_largest_closed,
            is_largest_called_closed,
        })))
    }

    fn ask(&self, folder: &Path, truth: &Truth, at: Option<i64>) -> Result<Answer> {
        let mut why = self.command(folder, &self.rostrace);
        why.args(["why", "trace", "--format", "json"]);
        match &truth.subject {
            AskedFor::Callback(node) => why.args(["--callback", node]),
            AskedFor::Message(topic) | AskedFor::Lost(topic, _) => why.args(["--topic", topic]),
        };
        if let Some(at) = at {
            why.args(["--at", &at.to_string()]);
        }
        let codes: &[i32] = match truth.subject {
            AskedFor::Lost(..) => &[0, 1, 3],
            _ => &[0, 3],
        };
        let said = finished(&mut why, folder, "why", codes)?;
        fs::write(folder.join("why.json"), &said)?;
        if said.trim().is_empty() {
            // That nothing arrived may be said as an error.
            let said = fs::read_to_string(folder.join("why.err")).unwrap_or_default();
            return Ok(Answer {
                begin: 0,
                end: 0,
                total: 0,
                parts: Vec::new(),
                drop_cause: None,
                said: vec![said],
            });
        }
        Answer::read(&said)
    }
}

/// What a command printed; it must end in time, with one of these codes.
pub(super) fn finished(
    command: &mut Command,
    folder: &Path,
    name: &str,
    codes: &[i32],
) -> Result<String> {
    let line = command_line(command);
    let path = |end: &str| folder.join(format!("{name}.{end}"));
    let mut child = command
        .stdout(File::create(path("out"))?)
        .stderr(File::create(path("err"))?)
        .spawn()
        .with_context(|| format!("`{line}` could not be started"))?;
    let Some(status) = process::wait(&mut child, LIMIT) else {
        child.kill()?;
        child.wait()?;
        bail!("`{line}` did not end within {} s", LIMIT.as_secs());
    };
    if !status.code().is_some_and(|code| codes.contains(&code)) {
        let complaint = fs::read_to_string(path("err")).unwrap_or_default();
        bail!("`{line}` ended with {status}: {}", complaint.trim());
    }
    Ok(fs::read_to_string(path("out"))?)
}
