//! Programs of `tests/programs` that call the tracer's functions, and where they are recorded: with or without `perf_event_open`, as somebody else.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

use super::place::{Place, compile, finished, ticker};

pub fn source(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    folder.join(name)
}

/// A program that calls the tracer's functions, compiled once.
pub fn program(name: &'static str) -> &'static str {
    static PROGRAMS: Mutex<Option<HashMap<&str, &str>>> = Mutex::new(None);
    let mut programs = PROGRAMS.lock().unwrap_or_else(|it| it.into_inner());
    let programs = programs.get_or_insert_default();
    programs.entry(name).or_insert_with(|| {
        let library = Path::new(ticker()).with_file_name("libtracetools.so");
        let program = library.with_file_name(name);
        let options = ["-O1", "-pthread", "-Wl,-rpath,$ORIGIN", "-o"];
        compile(
            &options,
            &program,
            &[&source(&format!("{name}.c")), &library],
        );
        program.into_os_string().into_string().unwrap().leak()
    })
}

/// Runs rostrace where `perf_event_open` is refused, as Docker's seccomp profile does.
pub fn refused(place: &Place, arguments: &[&str]) -> (String, String) {
    let program = place.path("without_perf");
    compile(&["-o"], &program, &[&source("without_perf.c")]);
    let command = place.command(arguments);
    let mut wrapped = Command::new(program);
    wrapped.arg(command.get_program()).args(command.get_args());
    wrapped.current_dir(place.folder.path());
    wrapped.env("XDG_RUNTIME_DIR", place.path("runtime"));
    finished(wrapped.output().unwrap(), 0)
}

/// What `doctor --format json` says of context switches.
pub fn check(doctor: &str) -> Value {
    let answer: Value = serde_json::from_str(doctor).unwrap();
    let checks = answer["checks"].as_array().unwrap();
    let found = checks.iter().find(|it| it["name"] == "context switches");
    found.unwrap().clone()
}

/// Whether context switches and samples can be recorded here; says so loudly if not.
pub fn is_allowed(place: &Place) -> bool {
    let (doctor, _) = place.run(&["doctor", "--format", "json"], 0);
    let check = check(&doctor);
    let is_allowed = check["verdict"] == "ok";
    if !is_allowed {
        eprintln!("SKIPPED: {}", check["found"]);
    }
    is_allowed
}

/// Records into `theirs-trace` as an ordinary user, whatever this test runs as; the words are options, `--` and a command, made for the place and
/// the ticker in it. Nothing, and said so, where this cannot become an ordinary user, or such a user may not follow his processes.
pub fn recorded_by_somebody(
    place: &Place,
    words: impl FnOnce(&Path) -> Vec<String>,
) -> Option<(String, String)> {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let level: Option<i32> = level.ok().and_then(|it| it.trim().parse().ok());
    // SAFETY: a plain question.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root || level.is_none_or(|level| level > 2) || !is_allowed(place) {
        eprintln!(
            "SKIPPED: this needs root, and a system that allows ordinary users to follow their processes"
        );
        return None;
    }
    let (command, ticker) = place.open_to_all(&["record"]);
    open_to_all(place.folder.path(), 0o777);
    let rostrace = place.path("rostrace");
    std::fs::copy(command.get_program(), &rostrace).unwrap();
    open_to_all(&rostrace, 0o755);
    let runtime = place.path("theirs");
    std::fs::create_dir(&runtime).unwrap();
    open_to_all(&runtime, 0o700);
    std::os::unix::fs::chown(&runtime, Some(65534), None).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups", "--bounding-set=-all"])
        .args(["--inh-caps=-all", "--"])
        .arg(&rostrace)
        .args(["record", "--no-report", "-o", "theirs-trace"])
        .args(words(&ticker))
        .current_dir(place.folder.path())
        .env("XDG_RUNTIME_DIR", &runtime)
        .env("ROSTRACE_TRACER", place.path("librostrace_tracer.so"))
        .env_remove("LD_PRELOAD")
        .output()
        .unwrap();
    Some(finished(output, 0))
}

pub fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// What babeltrace2 and our `dump` say of a folder, if there is babeltrace2: both have the same events.
pub fn dumped_by_both(place: &Place, folder: &Path) -> Option<String> {
    let Ok(output) = Command::new("babeltrace2").arg(folder).output() else {
        eprintln!("SKIPPED: there is no babeltrace2; nothing was compared");
        return None;
    };
    let (theirs, notes) = finished(output, 0);
    assert_eq!(notes, "");
    let (ours, _) = place.run(&["dump", folder.to_str().unwrap()], 0);
    assert_eq!(theirs.lines().count(), ours.lines().count());
    Some(theirs)
}
