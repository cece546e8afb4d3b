//! A place to record in, and a program that is recorded.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Question, array, text};

/// A folder for the files of one test, with a runtime folder of its own.
pub struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let runtime = folder.path().join("runtime");
        std::fs::create_dir(&runtime).unwrap();
        std::fs::set_permissions(&runtime, std::fs::Permissions::from_mode(0o700)).unwrap();
        Place { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A ticker under `rostrace run` that is ready, and its output, which must stay open.
    pub fn idle_ticker(&self) -> (Child, BufReader<std::process::ChildStdout>) {
        let mut child = self
            .command(&["run", "--", ticker(), "600000"])
            .spawn()
            .unwrap();
        let rest = wait_for_ready(&mut child);
        (child, rest)
    }

    pub fn command(&self, question: &(impl Question + ?Sized)) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rostrace"));
        command
            .args(question.words())
            .current_dir(self.folder.path())
            .env("XDG_RUNTIME_DIR", self.path("runtime"))
            .env_remove("ROSTRACE_TRACER")
            .env_remove("LD_PRELOAD")
            .env_remove("ROS_DISTRO")
            .env_remove("AMENT_PREFIX_PATH")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for variable in [
            "SELECT_NODES",
            "IGNORE_NODES",
            "SELECT_TOPICS",
            "IGNORE_TOPICS",
            "IGNORE_PROCESSES",
        ] {
            command.env_remove(format!("CARET_{variable}"));
        }
        command
    }

    /// The recorded program where every user can run it, and a command that loads the tracer from there too: what was built may lie below somebody's
    /// home.
    pub fn open_to_all(&self, question: &(impl Question + ?Sized)) -> (Command, PathBuf) {
        let beside = Path::new(env!("CARGO_BIN_EXE_rostrace")).parent();
        let built = option_env!("ROSTRACE_BUILT_LIBRARIES").map(Path::new);
        let libraries = [built, beside].into_iter().flatten();
        let mut libraries = libraries.map(|folder| folder.join("librostrace_tracer.so"));
        let library = libraries.find(|library| library.is_file()).unwrap();
        let program = Path::new(ticker());
        for file in [
            &library,
            program,
            &program.with_file_name("libtracetools.so"),
        ] {
            let copy = self.path(file.file_name().unwrap().to_str().unwrap());
            std::fs::copy(file, &copy).unwrap();
            std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = self.command(question);
        command.env("ROSTRACE_TRACER", self.path("librostrace_tracer.so"));
        (command, self.path("ticker"))
    }

    /// Runs rostrace to its end, which must have this status.
    #[track_caller]
    pub fn run(&self, question: &(impl Question + ?Sized), status: i32) -> (String, String) {
        finished(self.command(question).output().unwrap(), status)
    }

    /// The answer with `--format json`.
    #[track_caller]
    pub fn json(&self, question: &(impl Question + ?Sized), status: i32) -> Value {
        let asked = [&question.words()[..], &["--format", "json"]].concat();
        serde_json::from_str(&self.run(&asked, status).0).unwrap()
    }

    pub fn sessions(&self) -> Vec<Value> {
        array(&self.json("status", 0)).clone()
    }

    /// Waits until sessions are as they should be.
    pub fn until(&self, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let begin = Instant::now();
        loop {
            let sessions = self.sessions();
            if is_so(&sessions) {
                return sessions;
            }
            assert!(begin.elapsed() < Duration::from_secs(120), "{sessions:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Callbacks of a trace that must be complete.
    pub fn callbacks(&self, trace: &str) -> Vec<Value> {
        array(&self.json(&["callbacks", trace], 0)).clone()
    }

    pub fn nodes(&self, trace: &str) -> Vec<String> {
        let callbacks = self.callbacks(trace);
        let nodes = callbacks.iter().map(|row| text(&row["node"]).to_owned());
        let mut nodes: Vec<String> = nodes.collect();
        nodes.sort();
        nodes
    }
}

#[track_caller]
pub fn finished(output: Output, status: i32) -> (String, String) {
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{out}\n{err}");
    (out, err)
}

/// The program that is recorded, compiled once.
pub fn ticker() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ticker");
        std::fs::create_dir_all(&folder).unwrap();
        let library = folder.join("libtracetools.so");
        let program = folder.join("ticker");
        compile(
            &["-shared", "-fPIC", "-Wl,-soname,libtracetools.so", "-o"],
            &library,
            &[&sources.join("tracetools.c")],
        );
        compile(
            &["-pthread", "-Wl,-rpath,$ORIGIN", "-o"],
            &program,
            &[&sources.join("ticker.c"), &library],
        );
        program.to_str().unwrap().to_owned()
    })
}

/// Under another name first: other tests may do the same at this moment, or run the result.
pub fn compile(options: &[&str], result: &Path, sources: &[&Path]) {
    let unique = tempfile::tempdir_in(result.parent().unwrap()).unwrap();
    let made = unique.path().join("made");
    let output = Command::new("cc")
        .args(options)
        .arg(&made)
        .args(sources)
        .output()
        .expect("these tests need a C compiler");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::rename(made, result).unwrap();
}

/// Waits until the recorded program says that it is ready.
pub fn wait_for_ready(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    lines
}

pub fn signal(child: &Child, signal: i32) {
    let pid = i32::try_from(child.id()).unwrap();
    // SAFETY: a plain system call with the pid of a child that was not waited for.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

/// As [`signal`], to a process of this test that is not its child.
pub fn kill(pid: u64, signal: i32) {
    // SAFETY: a plain system call with the pid of a process of this test.
    let result = unsafe { libc::kill(i32::try_from(pid).unwrap(), signal) };
    assert_eq!(result, 0);
}

/// How many processes are in a session.
pub fn processes(session: &Value) -> usize {
    session["processes"].as_array().map_or(0, Vec::len)
}

/// The first process of the first session.
pub fn pid_of(sessions: &[Value]) -> u64 {
    sessions[0]["processes"][0]["pid"].as_u64().unwrap()
}
