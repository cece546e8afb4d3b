//! Two users on one machine: what somebody without rights tries against a recorder that is run by root. Needs root, to be both.
//!
//! The attacker is a shell that is run as nobody. What she may do: everything in folders that everybody can write to. What she must not get
//! by it: files that are not hers changed or removed, a process of somebody else ended or directed, a command of somebody else that never ends.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::bench::{Bench, LIMIT, NOBODY, Scene};
use super::case::User;
use super::judge::{Failure, FailureKind};
use super::process;
use super::run::{Outcome, output_of};

/// What is tried, in a folder of its own.
type Attempt = fn(&Bench, PathBuf) -> Result<Outcome>;

/// Attacks by the name of their case.
pub(super) const ATTACKS: &[(&str, Attempt)] = &[
    ("user-setuid", setuid),
    ("user-control", control),
    ("user-link", link),
    ("user-folder", folder_replaced),
    ("user-fifo", fifo),
];

/// Runs what follows as the attacker.
const BECOME_NOBODY: &[&str] = &[
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
];
/// What is not the attacker's.
const PRECIOUS: &str = "precious\n";
/// No command of these takes longer.
const SOON: Duration = Duration::from_secs(120);

pub(super) fn is_root() -> bool {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// A recorder's side of an attack: a folder that everybody may write to, and a program that lasts.
struct Attack<'a> {
    bench: &'a Bench,
    scene: Scene,
    shared: PathBuf,
    victims: PathBuf,
    failures: Vec<Failure>,
    /// The program is the attacker's own, and she killed it.
    is_killed: bool,
}

impl<'a> Attack<'a> {
    fn new(bench: &'a Bench, folder: PathBuf) -> Result<Attack<'a>> {
        let scene = Scene::new(folder, User::Root)?;
        let shared = scene.folder.join("shared");
        let victims = scene.folder.join("victims");
        for folder in [&shared, &victims] {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o777))?;
        for number in 0..10 {
            std::fs::write(victims.join(format!("file-{number}")), PRECIOUS)?;
        }
        Ok(Attack {
            bench,
            scene,
            shared,
            victims,
            failures: Vec::new(),
            is_killed: false,
        })
    }

    fn control(&self) -> PathBuf {
        self.shared.join("control")
    }

    fn rostrace(&self, arguments: &[&str]) -> Command {
        let mut command = self.scene.command(&self.bench.rostrace);
        command.args(arguments);
        command
    }

    /// A program under `rostrace VERB`, with its session in the shared folder; run by root, or by whom `become_user` makes of root.
    fn start(&self, verb: &[&str], become_user: &[&str], rate: &str) -> Result<Child> {
        let text = |path: PathBuf| path.display().to_string();
        let log = std::fs::File::create(self.scene.folder.join("recorder.log"))?;
        let mut child = self
            .rostrace(verb)
            .arg("--control")
            .arg(self.control())
            .arg("--")
            .args(become_user)
            .args([
                text(self.bench.built.program("witness")),
                text(self.scene.folder.join("status")),
                text(self.scene.folder.join("output")),
                "--".to_owned(),
                text(self.bench.built.program("steady")),
            ])
            .args(["2", rate, "60000"])
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("the recorder could not be started")?;
        let begin = Instant::now();
        while !self.scene.report.is_ready() && begin.elapsed() < SOON {
            if child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(child)
    }

    /// What the attacker types; whether it worked for her.
    fn attacker(&self, script: &str) -> Result<bool> {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", script])
            .uid(NOBODY)
            .gid(NOBODY)
            .current_dir(&self.shared)
            .stdin(Stdio::null());
        let ended = output_of(&mut shell, SOON)?;
        Ok(ended.is_some_and(|(status, _)| status.success()))
    }

    fn fail(&mut self, kind: FailureKind, sentence: impl Into<String>) {
        self.failures.push(Failure::new(kind, sentence));
    }

    /// Ends the program, and looks at how it fared.
    fn end(mut self, mut recorder: Option<Child>) -> Result<Outcome> {
        if let Some(recorder) = &mut recorder {
            self.scene.report.stop()?;
            if process::wait(recorder, LIMIT).is_none() {
                let text = self.scene.end(true);
                std::fs::write(self.scene.folder.join("hang.txt"), text)?;
                let _ = recorder.wait();
                self.fail(
                    FailureKind::Hang,
                    "the recorder did not end; hang.txt says where it was",
                );
            } else if let Some(status) = self.scene.testimony().status
                && status != 0
                && !self.is_killed
            {
                self.fail(
                    FailureKind::Intrusion,
                    format!("the program of another user ended with status {status}"),
                );
            }
        }
        for number in 0..10 {
            let path = self.victims.join(format!("file-{number}"));
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if text != PRECIOUS {
                self.fail(
                    FailureKind::Intrusion,
                    format!("{} of root was changed or removed", path.display()),
                );
                break;
            }
        }
        let outcome = Outcome {
            failures: self.failures,
            ..Outcome::default()
        };
        if outcome.failures.is_empty() {
            let _ = std::fs::remove_dir_all(&self.scene.folder);
        }
        Ok(outcome)
    }
}

/// A setuid program with our library in it: whoever starts it sets the environment, and must not say where root writes.
fn setuid(bench: &Bench, folder: PathBuf) -> Result<Outcome> {
    let mut attack = Attack::new(bench, folder)?;
    let folder = attack.scene.folder.clone();
    let libraries = folder.join("lib");
    std::fs::create_dir_all(&libraries)?;
    std::fs::copy(&bench.library, libraries.join("libtracetools.so"))?;
    let program = folder.join("setuid");
    let compiled = Command::new("cc")
        .args(["-O1", "-D_GNU_SOURCE", "-pthread", "-o"])
        .arg(&program)
        .arg(bench.root.join("xtask/torture/setuid.c"))
        .arg(libraries.join("libtracetools.so"))
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .output()
        .context("`cc` could not be started")?;
    if !compiled.status.success() {
        bail!(
            "setuid.c: {}",
            String::from_utf8_lossy(&compiled.stderr).trim()
        );
    }
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o4755))?;
    let secret = folder.join("secret");
    std::fs::create_dir_all(&secret)?;
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o700))?;
    let mut command = attack.scene.command(&program);
    command
        .uid(NOBODY)
        .gid(NOBODY)
        .env("ROSTRACE_OUTPUT", secret.join("trace"));
    let Some((status, text)) = output_of(&mut command, SOON)? else {
        attack.fail(FailureKind::Hang, "the setuid program did not end");
        return attack.end(None);
    };
    if text.starts_with("without rights") {
        return Ok(Outcome {
            left_out: Some("setuid programs have no rights on this file system".to_owned()),
            ..Outcome::default()
        });
    }
    if !status.success() {
        attack.fail(
            FailureKind::Crash,
            format!("the setuid program ended with {status}"),
        );
    }
    if std::fs::read_dir(&secret)?.next().is_some() {
        attack.fail(
            FailureKind::Intrusion,
            "whoever starts a setuid program says where it writes as root (ROSTRACE_OUTPUT is heeded)",
        );
    }
    attack.end(None)
}

/// The control file is written to and cut by somebody else, while a process has it mapped.
fn control(bench: &Bench, folder: PathBuf) -> Result<Outcome> {
    let mut attack = Attack::new(bench, folder)?;
    let recorder = attack.start(&["run"], &[], "2000")?;
    let path = attack.control().display().to_string();
    let record = |attack: &Attack<'_>, number: u32| {
        let trace = attack.shared.join(format!("trace-{number}"));
        let mut command = attack.rostrace(&[
            "record",
            "--attach",
            "--no-report",
            "--duration",
            "50ms",
            "--control",
            &path,
            "-o",
        ]);
        output_of(command.arg(trace), SOON)
    };
    let is_first_over = record(&attack, 1)?.is_some();
    let is_written = attack.attacker(
        "test -f control && dd if=/dev/urandom of=control bs=512 count=8 conv=notrunc 2>/dev/null",
    )?;
    let is_second_over = record(&attack, 2)?.is_some();
    let is_cut = attack.attacker("test -f control && : > control")?;
    std::thread::sleep(Duration::from_millis(300));
    if is_written || is_cut {
        attack.fail(
            FailureKind::Intrusion,
            "another user can write to the control file",
        );
    }
    if !is_first_over || !is_second_over {
        attack.fail(FailureKind::Hang, "`rostrace record --attach` did not end");
    }
    attack.end(Some(recorder))
}

/// A link is planted where the recorder will write.
fn link(bench: &Bench, folder: PathBuf) -> Result<Outcome> {
    let attack = Attack::new(bench, folder)?;
    let victim = attack.victims.join("file-0").display().to_string();
    let names = ["control.session.json", "control.lock", "control.json"];
    for name in names {
        attack.attacker(&format!("ln -s {victim} {name}"))?;
    }
    let recorder = attack.start(&["run"], &[], "1000")?;
    attack.end(Some(recorder))
}

/// The attacker's own process is recorded, and she replaces the folder of its trace by a link to a folder of root's before she kills it: what
/// the recorder tidies up afterwards is not hers.
fn folder_replaced(bench: &Bench, folder: PathBuf) -> Result<Outcome> {
    let mut attack = Attack::new(bench, folder)?;
    let trace = attack.shared.join("trace").display().to_string();
    let recorder = attack.start(
        &["record", "--no-report", "-o", &trace],
        BECOME_NOBODY,
        "2000",
    )?;
    std::thread::sleep(Duration::from_millis(200));
    let victims = attack.victims.display().to_string();
    let script = format!(
        "cd trace || exit 1; for d in */; do d=${{d%/}}; mv \"$d\" ../moved && ln -s {victims} \"$d\"; done"
    );
    attack.attacker(&script)?;
    attack.is_killed = true;
    if let Some(pid) = attack.scene.testimony().pid {
        attack.scene.signal(pid, libc::SIGKILL);
    }
    attack.end(Some(recorder))
}

/// Something that is not a file lies in a trace that everybody may write to.
fn fifo(bench: &Bench, folder: PathBuf) -> Result<Outcome> {
    let mut attack = Attack::new(bench, folder)?;
    let trace = attack.shared.join("trace");
    let recorder = attack.start(
        &[
            "record",
            "--no-report",
            "--flight",
            "1M",
            "-o",
            &trace.display().to_string(),
        ],
        &[],
        "2000",
    )?;
    std::thread::sleep(Duration::from_millis(200));
    attack.attacker(
        "cd trace || exit 1; mkfifo fifo; mkdir mine-1-1 && cp */metadata mine-1-1/ && cd mine-1-1 && mkfifo stream_0 && mkdir index && mkfifo index/stream_0.idx",
    )?;
    let path = attack.control().display().to_string();
    let copy = attack.scene.folder.join("copy").display().to_string();
    let info = trace.display().to_string();
    for arguments in [
        vec!["snapshot", "--control", &path, "-o", &copy],
        vec!["info", &info],
    ] {
        if output_of(&mut attack.rostrace(&arguments), SOON)?.is_none() {
            attack.fail(
                FailureKind::Hang,
                format!(
                    "`rostrace {}` waits for a FIFO that another user put into the trace",
                    arguments[0]
                ),
            );
        }
    }
    attack.end(Some(recorder))
}

/// Why attacks cannot be tried here; None if they can.
pub(super) fn reason_without(bench: &Bench) -> Option<String> {
    if !is_root() {
        return Some("two users need root, who is both".to_owned());
    }
    let reachable = Command::new(&bench.rostrace)
        .arg("--version")
        .uid(NOBODY)
        .gid(NOBODY)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match reachable {
        Ok(status) if status.success() => None,
        _ => Some(format!(
            "nobody cannot reach {}",
            display_folder(&bench.rostrace)
        )),
    }
}

fn display_folder(path: &Path) -> String {
    path.parent().unwrap_or(path).display().to_string()
}
