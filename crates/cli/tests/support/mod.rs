//! What the tests of the program share: how it is started, the recordings, and a trace made by hand.

#![allow(unreachable_pub)]

pub mod http;
pub mod place;
pub mod programs;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// What the program is asked: words, or a line of them if none has a space in it.
pub trait Question {
    fn words(&self) -> Vec<&str>;
}

impl Question for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Question for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Question for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Question for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Question for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// The program, with a fixed time zone and without what the tester's terminal wants.
pub fn rostrace(question: &(impl Question + ?Sized)) -> Command {
    let mut command = Command::cargo_bin("rostrace").unwrap();
    command
        .args(question.words())
        .env("TZ", "UTC")
        .env_remove("NO_COLOR");
    command
}

/// Starts a pipe-friendly process, for tests that talk to it while it runs.
pub fn spawn(question: &(impl Question + ?Sized)) -> std::process::Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin("rostrace"))
        .args(question.words())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

/// Standard output and standard error of a command that must end with this status.
#[track_caller]
pub fn finished(command: &mut Command, status: i32) -> (String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(status), "{command:?}: {err}");
    (out, err)
}

/// Standard output, after the exit status was checked.
#[track_caller]
pub fn stdout_of(question: &(impl Question + ?Sized), status: i32) -> String {
    finished(&mut rostrace(question), status).0
}

/// Standard error of a command that must end with this status.
#[track_caller]
pub fn stderr_of(question: &(impl Question + ?Sized), status: i32) -> String {
    finished(&mut rostrace(question), status).1
}

/// The answer with `--format json`.
#[track_caller]
pub fn json(question: &(impl Question + ?Sized), status: i32) -> Value {
    let asked = [&question.words()[..], &["--format", "json"]].concat();
    serde_json::from_str(&stdout_of(&asked, status)).unwrap()
}

/// As [`json`], of a trace that may have lost events.
#[track_caller]
pub fn json_of_any(question: &(impl Question + ?Sized)) -> Value {
    let asked = [&question.words()[..], &["--format", "json"]].concat();
    let output = rostrace(&asked).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code();
    assert!(matches!(status, Some(0 | 3)), "{asked:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Rows of an answer.
#[track_caller]
pub fn rows(question: &(impl Question + ?Sized), status: i32) -> Vec<Value> {
    array(&json(question, status)).clone()
}

#[track_caller]
pub fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value}"))
}

#[track_caller]
pub fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value}"))
}

#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value}"))
}

pub fn json_lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines.map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Every event of a trace, or those that the options choose.
#[track_caller]
pub fn dump(trace: &str, options: &[&str], status: i32) -> Vec<Value> {
    let asked = [&["dump", trace, "--format", "json"], options].concat();
    json_lines(&stdout_of(&asked, status))
}

/// What a text must say, or must not; all of it is shown where that is not so.
pub trait Says {
    fn says(&self, part: &str);
    fn says_all(&self, parts: &[&str]);
    fn lacks(&self, part: &str);
}

impl Says for str {
    #[track_caller]
    fn says(&self, part: &str) {
        assert!(self.contains(part), "`{part}` is not in:\n{self}");
    }

    #[track_caller]
    fn says_all(&self, parts: &[&str]) {
        parts.iter().for_each(|part| self.says(part));
    }

    #[track_caller]
    fn lacks(&self, part: &str) {
        assert!(!self.contains(part), "`{part}` is in:\n{self}");
    }
}

pub fn recording(name: &str) -> String {
    format!("{}/../../testdata/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A folder for the files of one test.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// With a copy of a recording in it.
    pub fn with(recording_name: &str) -> Folder {
        let folder = Folder::new();
        copy(Path::new(&recording(recording_name)), folder.path());
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The folder itself, as an argument.
    pub fn here(&self) -> &str {
        self.path().to_str().unwrap()
    }

    /// What is called so in it, as an argument.
    pub fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.here())
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.join(name)).unwrap()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.join(name), content).unwrap();
        self.at(name)
    }

    /// The names of what is in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}

/// A desktop whose browser writes down what it is told.
#[derive(Debug)]
pub struct Opener {
    /// For `PATH`.
    pub path: String,
    reported: PathBuf,
}

impl Opener {
    /// `told` are the commands of the shell whose output is written down.
    pub fn new(folder: &Folder, reported: &str) -> Opener {
        use std::os::unix::fs::PermissionsExt;
        let programs = folder.at("programs");
        std::fs::create_dir(&programs).unwrap();
        let file = folder.at("reported");
        let script = format!("#!/bin/sh\n{{ {reported}; }} > {file}.part\nmv {file}.part {file}\n");
        let opener = folder.write("programs/xdg-open", script);
        std::fs::set_permissions(opener, std::fs::Permissions::from_mode(0o755)).unwrap();
        Opener {
            path: format!("{programs}:{}", std::env::var("PATH").unwrap()),
            reported: file.into(),
        }
    }

    /// Waits until it was told something.
    pub fn reported(&self) -> String {
        while !self.reported.exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        std::fs::read_to_string(&self.reported).unwrap()
    }
}

/// A made recording in a folder of its own.
pub fn saved(recording: &rostrace_testkit::made_up::Recording) -> Folder {
    let folder = Folder::new();
    recording.save(folder.path());
    folder
}

pub fn copy(from: &Path, to: &Path) {
    copy_changed(from, to, &|content| content);
}

/// Every file goes through `change`.
pub fn copy_changed(from: &Path, to: &Path, change: &dyn Fn(Vec<u8>) -> Vec<u8>) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy_changed(&entry.path(), &target, change),
            false => std::fs::write(target, change(std::fs::read(entry.path()).unwrap())).unwrap(),
        }
    }
}

/// The folder of larger recordings, `shared/traces`. Says so loudly if there is none.
pub fn shared_recordings() -> Option<PathBuf> {
    rostrace_testkit::recordings::shared_folder("traces")
}

/// Compares with a file in `tests/expected` that was reviewed by eye. `ROSTRACE_BLESS=1` writes it anew: look at the difference.
pub fn assert_expected(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(name);
    if std::env::var_os("ROSTRACE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(
        expected == found,
        "{name} differs (ROSTRACE_BLESS=1 writes it anew)\n--- expected\n{expected}\n--- found\n{found}"
    );
}

/// One of the larger recordings, as [`shared_recordings`].
pub fn shared(name: &str) -> Option<String> {
    Some(shared_recordings()?.join(name).to_str()?.to_owned())
}

/// A folder with a trace of two events, made by hand for what no recording shows.
#[derive(Debug)]
pub struct HandMade {
    folder: tempfile::TempDir,
}

/// `NAME` stands for the event's name.
const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 8; align = 8; signed = true; } := int8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
    major = 1; minor = 8; byte_order = le;
    packet.header := struct { uint32_t magic; };
};
env { hostname = "robot"; tracer_name = "by hand"; };
clock { name = "clock"; freq = 1000000000; offset_s = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.clock.value; } := time_t;
stream {
    packet.context := struct { time_t timestamp_begin; time_t timestamp_end; uint32_t cpu_id; };
    event.header := struct { time_t timestamp; };
    event.context := struct { uint32_t vpid; string procname; };
};
event {
    name = "NAME";
    fields := struct {
        uint64_t big;
        int8_t small;
        floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; } number;
        enum kind : uint8_t { one = 1, few = 1 ... 3 } kind;
        string text;
        struct { uint8_t x; uint8_t list[2]; } inner;
    };
};
"#;

impl HandMade {
    pub const BEGIN: i64 = 1_000_000_000_000_000_000;

    /// The strings go into the trace as they are.
    pub fn new(event_name: &str, process_name: &[u8], text: &[u8]) -> HandMade {
        let folder = tempfile::tempdir().unwrap();
        let metadata = METADATA.replace("NAME", event_name);
        std::fs::write(folder.path().join("metadata"), metadata).unwrap();
        let mut bytes = Vec::new();
        bytes.extend(0xC1FC_1FC1u32.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(3_000_000_000u64.to_le_bytes());
        bytes.extend(5u32.to_le_bytes());
        for (time, vpid, number) in [
            (1_000_000_000u64, 41u32, f64::NAN),
            (2_000_000_000, 42, 0.5),
        ] {
            bytes.extend(time.to_le_bytes());
            bytes.extend(vpid.to_le_bytes());
            bytes.extend(process_name);
            bytes.push(0);
            bytes.extend(u64::MAX.to_le_bytes());
            bytes.push(0xFF);
            bytes.extend(number.to_le_bytes());
            bytes.push(1);
            bytes.extend(text);
            bytes.push(0);
            bytes.extend([7, 8, 9]);
        }
        std::fs::write(folder.path().join("stream"), bytes).unwrap();
        HandMade { folder }
    }

    pub fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
