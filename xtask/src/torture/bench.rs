//! What all runs share: the programs under test, the compiled torture programs, and what these do when nobody records them.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result};

use super::build::Built;
use super::case::{Case, User};
use super::process;
use super::report::Report;

/// No program takes longer, also on a busy machine.
pub(super) const LIMIT: Duration = Duration::from_secs(180);
/// The user without rights.
pub(super) const NOBODY: u32 = 65_534;

#[derive(Debug)]
pub(super) struct Bench {
    pub(super) root: PathBuf,
    pub(super) rostrace: PathBuf,
    pub(super) library: PathBuf,
    pub(super) built: Built,
    /// `target/torture`.
    pub(super) folder: PathBuf,
    pub(super) baselines: Mutex<HashMap<String, Baseline>>,
    /// Nobody else uses the folder.
    pub(super) _lock: File,
}

/// What a program prints and how it ends without a tracer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Baseline {
    pub(super) output: String,
    /// As `wait` has it; None if it did not end.
    pub(super) status: Option<i32>,
    pub(super) worst: u64,
}

/// What the witness wrote down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Testimony {
    pub(super) pid: Option<u32>,
    pub(super) status: Option<i32>,
    pub(super) all_gone: bool,
}

/// The files of one run.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) folder: PathBuf,
    pub(crate) report: Report,
    pub(super) user: User,
}

impl Scene {
    pub(crate) fn new(folder: PathBuf, user: User) -> Result<Scene> {
        let _ = std::fs::remove_dir_all(&folder);
        let runtime = folder.join("runtime");
        std::fs::create_dir_all(&runtime)
            .with_context(|| format!("{} could not be made", runtime.display()))?;
        // Programs that change their user still write here.
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777))?;
        std::fs::set_permissions(&runtime, PermissionsExt::from_mode(0o700))?;
        if user == User::Nobody {
            std::os::unix::fs::chown(&runtime, Some(NOBODY), Some(NOBODY))?;
        }
        let report = Report::create(&folder.join("report"))?;
        Ok(Scene {
            folder,
            report,
            user,
        })
    }

    fn report_path(&self) -> PathBuf {
        self.folder.join("report")
    }

    /// A command in the surroundings of this run, without anything that was set outside.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let is_ours = ["ROSTRACE", "CARET_", "TORTURE_"]
                .iter()
                .any(|prefix| text.starts_with(prefix));
            if is_ours || matches!(&*text, "LD_PRELOAD" | "ROS_DISTRO" | "AMENT_PREFIX_PATH") {
                command.env_remove(&name);
            }
        }
        command
            .env("XDG_RUNTIME_DIR", self.folder.join("runtime"))
            .env(process::MARK, self.report_path())
            // A sanitizer complains of leaks of programs that end while they run.
            .env("ASAN_OPTIONS", "detect_leaks=0")
            // The tracer is not compiled for it: its atomics look like races.
            .env("TSAN_OPTIONS", "ignore_noninstrumented_modules=1")
            .stdin(Stdio::null())
            .current_dir(&self.folder);
        if self.user == User::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    pub(super) fn testimony(&self) -> Testimony {
        let text = std::fs::read_to_string(self.folder.join("status")).unwrap_or_default();
        let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        Testimony {
            pid: number("pid ").and_then(|pid| pid.parse().ok()),
            status: number("status ").and_then(|status| status.parse().ok()),
            all_gone: text.contains("all gone"),
        }
    }

    pub(super) fn output(&self) -> String {
        let bytes = std::fs::read(self.folder.join("output")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Ends what still runs of this run, and returns where it was if that is asked for.
    pub(crate) fn end(&self, with_whereabouts: bool) -> String {
        let pids = process::of_run(&self.report_path());
        let text = if with_whereabouts {
            process::whereabouts(&pids)
        } else {
            String::new()
        };
        for pid in pids {
            self.signal(pid, libc::SIGKILL);
        }
        text
    }

    /// Sends a signal to a process of this run.
    pub(super) fn signal(&self, pid: u32, signal: i32) {
        process::signal(pid, &self.report_path(), signal);
    }
}

impl Bench {
    /// The witness and the program that it looks after.
    pub(super) fn witnessed(&self, scene: &Scene, case: &Case, words: &[String]) -> Vec<String> {
        let text = |path: PathBuf| path.display().to_string();
        let mut line = vec![
            text(self.built.program("witness")),
            text(scene.folder.join("status")),
            text(scene.folder.join("output")),
        ];
        for limit in case.surroundings.limits {
            line.extend(["-l".to_owned(), (*limit).to_owned()]);
        }
        line.push("--".to_owned());
        line.push(text(self.built.program(case.program)));
        line.extend(words.iter().cloned());
        line
    }

    /// What the program does without a tracer; measured once for all runs with the same arguments.
    pub(super) fn baseline(&self, case: &Case, words: &[String]) -> Result<Baseline> {
        let key = format!("{} {}", case.name, words.join(" "));
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        let name = format!("{}-{:?}", case.name, std::thread::current().id());
        let scene = Scene::new(
            self.folder.join("baseline").join(name),
            case.surroundings.user,
        )?;
        let line = self.witnessed(&scene, case, words);
        let mut child = scene
            .command(Path::new(&line[0]))
            .args(&line[1..])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("a torture program could not be started")?;
        if process::wait(&mut child, LIMIT).is_none() {
            scene.end(false);
            let _ = child.wait();
        }
        let baseline = Baseline {
            output: scene.output(),
            status: scene.testimony().status,
            worst: scene.report.worst(),
        };
        let _ = std::fs::remove_dir_all(&scene.folder);
        if let Ok(mut known) = self.baselines.lock() {
            known.insert(key, baseline.clone());
        }
        Ok(baseline)
    }

    fn known(&self, key: &str) -> Option<Baseline> {
        self.baselines.lock().ok()?.get(key).cloned()
    }
}

impl Baseline {
    /// Why nothing can be said of a program that does not even work without a tracer.
    pub(super) fn reason_against(&self) -> Option<String> {
        let last = self.output.lines().last().unwrap_or("nothing");
        match self.status {
            None => Some("does not end without a tracer either".to_owned()),
            Some(status) if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) >= 90 => {
                Some(format!(
                    "fails with {} without a tracer too, and says: {last}",
                    libc::WEXITSTATUS(status)
                ))
            }
            Some(status)
                if libc::WIFEXITED(status) && matches!(libc::WEXITSTATUS(status), 1..=6 | 66) =>
            {
                Some(format!(
                    "does not work here, with or without a tracer, and says: {last}"
                ))
            }
            Some(_) => None,
        }
    }
}
