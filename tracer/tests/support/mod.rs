//! Builds small C programs, runs them under the tracer, and asks babeltrace2 and our own reader what was recorded.

#![allow(unreachable_pub, clippy::unwrap_used)]

pub mod driven_program;
pub mod recorder;
pub mod stand_ins;

pub use recorder::Recorder;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The library under test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    [folder, folder.parent().unwrap()]
        .iter()
        .map(|folder| folder.join("librostrace_tracer.so"))
        .find(|path| path.exists())
        .expect("cargo builds the library before its tests")
}

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A ROS installation as far as the tracer looks at it: a libtracetools without function, and its package. Each
/// file of tests has its own, since it puts libraries of its own beside it.
#[track_caller]
pub fn installation(version: &str) -> PathBuf {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock().unwrap();
    let caller = Path::new(std::panic::Location::caller().file());
    let file = caller.file_stem().unwrap().to_string_lossy();
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("ros-{version}-{}-{file}", std::process::id()));
    let library = prefix.join("lib/libtracetools.so");
    if library.exists() {
        return prefix;
    }
    let package = prefix.join("share/tracetools");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::create_dir_all(prefix.join("lib")).unwrap();
    let text = format!(
        "<?xml version=\"1.0\"?>\n<package format=\"3\">\n  <name>tracetools</name>\n  <version>{version}</version>\n</package>\n"
    );
    std::fs::write(package.join("package.xml"), text).unwrap();
    let mut source = String::from(
        "#include <stdbool.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         bool ros_trace_compile_status(void) { return getenv(\"HAS_LTTNG\") != 0; }\n",
    );
    for event in rostrace_tracepoints::recorded().filter(|event| event.provider == "ros2") {
        let name = event.name;
        source.push_str(&format!(
            "void ros_trace_{name}(void) {{ if (getenv(\"HAS_LTTNG\")) puts(\"{name}\"); }}\n\
             void ros_trace_do_{name}(void) {{ if (getenv(\"HAS_LTTNG\")) puts(\"do {name}\"); }}\n\
             bool ros_trace_enabled_{name}(void) {{ return false; }}\n"
        ));
    }
    let file = prefix.join("tracetools.c");
    std::fs::write(&file, source).unwrap();
    compile(&file, &library, &["-shared", "-fPIC"], &[]);
    prefix
}

/// A file of `tests/programs`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}

/// A shared library of an installation.
pub fn library_of(prefix: &Path, from: &str, name: &str, options: &[&str]) {
    let mut all = vec!["-shared", "-fPIC"];
    all.extend(options);
    compile(&source(from), &prefix.join("lib").join(name), &all, &[]);
}

/// Options of the language stand before the source, libraries behind it.
pub fn compile(source: &Path, result: &Path, options: &[&str], libraries: &[&str]) {
    // Tests run at the same time and share programs: the file appears at once or not at all.
    let temporary = result.with_extension(format!("{:?}", std::thread::current().id()));
    let output = Command::new("cc")
        .args(["-O1", "-Wall", "-o"])
        .arg(&temporary)
        .args(options)
        .arg(source)
        .args(libraries)
        .output()
        .expect("these tests need a C compiler");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::rename(temporary, result).unwrap();
}

/// Compiles a program of `tests/programs` with the libraries of a folder, which it finds there at run time too.
pub fn linked(folder: &Path, file: &str, program: &Path, options: &[&str], libraries: &[&str]) {
    let folder = folder.display();
    let (from, search) = (format!("-L{folder}"), format!("-Wl,-rpath,{folder}"));
    let places = [&*from, &search, "-Wl,--no-as-needed"];
    let libraries = [&places[..], libraries].concat();
    compile(&source(file), program, options, &libraries);
}

/// A program of `tests/programs`, linked to the libtracetools of an installation.
#[track_caller]
pub fn program(name: &str, version: &str, options: &[&str]) -> PathBuf {
    let prefix = installation(version);
    let source = source(&format!("{name}.c"));
    let result = prefix.join(name);
    let libraries = format!("-L{}", prefix.join("lib").display());
    let search = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    let mut all = vec![libraries.as_str(), &search];
    all.extend(["-ltracetools", "-lpthread", "-Wl,--no-as-needed"]);
    compile(&source, &result, options, &all);
    result
}

/// The command that runs a program under the tracer.
pub fn traced(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LD_PRELOAD", library())
        .env_remove("ROS_DISTRO")
        .env_remove("AMENT_PREFIX_PATH")
        .env_remove("ROSTRACE")
        .env_remove("ROSTRACE_OUTPUT")
        .env_remove("ROSTRACE_CONTROL");
    command
}

/// What a program recorded by itself into a folder.
pub fn record(program: &Path, output: &Path, arguments: &[&str]) -> Output {
    traced(program)
        .args(arguments)
        .env("ROSTRACE_OUTPUT", output)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The interpreter of Python; None if there is none.
pub fn python() -> Option<&'static Path> {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        let _ = std::io::stderr().write_all(b"SKIPPED: python3 is not installed.\n");
    }
    found.then_some(Path::new("python3"))
}

/// What babeltrace2 says.
#[derive(Debug)]
pub struct Shown {
    /// Events without their time.
    pub events: Vec<String>,
    pub warnings: String,
}

impl Shown {
    /// Names of events, without their provider, and what stands behind their contexts.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.events.iter().map(|event| {
            let (head, values) = event.split_once(" }, {").unwrap();
            let name = head.split(": {").next().unwrap().rsplit(':').next();
            (name.unwrap(), values.trim_end_matches(" }"))
        })
    }

    pub fn count(&self, text: &str) -> u64 {
        self.events
            .iter()
            .filter(|event| event.contains(text))
            .count() as u64
    }

    /// Sum of "Tracer discarded N events".
    pub fn discarded(&self) -> u64 {
        self.warnings
            .split("Tracer discarded ")
            .skip(1)
            .map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap())
            .sum()
    }
}

/// Reads a trace with babeltrace2, which must not fail. None if it is not installed.
pub fn babeltrace(folder: &Path) -> Option<Shown> {
    static IS_MISSED: OnceLock<()> = OnceLock::new();
    let output = Command::new("babeltrace2")
        .args(["--no-delta", "--clock-seconds"])
        .arg(folder)
        .output();
    let Ok(output) = output else {
        IS_MISSED.get_or_init(|| {
            let _ = std::io::stderr().write_all(b"SKIPPED: babeltrace2 is not installed.\n");
        });
        return None;
    };
    let warnings = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "babeltrace2 cannot read {}: {warnings}",
        folder.display()
    );
    Some(Shown {
        events: String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| {
                line.split_once("] ")
                    .map_or(line, |(_, rest)| rest)
                    .to_owned()
            })
            .collect(),
        warnings,
    })
}

/// Reads a trace with babeltrace2, which must not say anything beside the events.
pub fn quietly(folder: &Path) -> Option<Shown> {
    let shown = babeltrace(folder)?;
    assert_eq!(shown.warnings, "");
    Some(shown)
}

/// Writes down what processes that were killed left in their memory, as every reader does.
pub fn collect(folder: &Path) {
    rostrace_session::keep::collect::collect_below(folder, &rostrace_record::is_alive);
}

/// Events and known losses as our own reader counts them; any other damage fails.
pub fn survey(folder: &Path) -> (u64, u64) {
    use rostrace_ctf::{DamageKind, Survey, TraceSet};
    collect(folder);
    let set = TraceSet::open(&[folder]).unwrap();
    let survey = Survey::take(&set, 1, &|_| true);
    let mut discarded = 0;
    for damage in set.damage.iter().chain(&survey.damage) {
        assert_eq!(damage.kind, DamageKind::DiscardedEvents, "{damage:?}");
        discarded += damage.count.expect("losses that can be counted");
    }
    let (begin, end) = (survey.begin.unwrap(), survey.end.unwrap());
    assert!(end.0 - begin.0 < 3_600_000_000_000, "{begin:?} {end:?}");
    (survey.events, discarded)
}
