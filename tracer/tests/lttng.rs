//! The tracer and the real LTTng, which record the same process, each from when to when it likes.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::driven_program::DrivenProgram;
use crate::support::{Recorder, folder, survey, traced};

/// A session that ends with the test, also if that fails.
struct Session(String);

impl Drop for Session {
    fn drop(&mut self) {
        lttng(&["destroy", &self.0]);
    }
}

/// LTTng's daemon: the one that runs, or one that ends with the test.
struct Daemon(Option<Child>);

impl Daemon {
    /// None if LTTng is not installed or does not answer; says so.
    fn ensure() -> Option<Daemon> {
        have_own_sockets();
        if lttng(&["list"]) {
            return Some(Daemon(None));
        }
        let child = Command::new("lttng-sessiond")
            .arg("--no-kernel")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let daemon = child.ok().map(|child| Daemon(Some(child)));
        let answers = daemon.is_some() && eventually(|| lttng(&["list"]));
        if !answers {
            let _ = std::io::stderr().write_all(b"SKIPPED: there is no LTTng that answers.\n");
        }
        daemon.filter(|_| answers)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sockets of root's daemon have one place for the whole machine; the calling thread, and what it starts, gets one of its own. So nobody else's
/// daemon is used, none of ours is in the way of others. Whoever is not root, or may not do this, has what is there.
fn have_own_sockets() {
    let places = [c"/run/lttng", c"/dev/shm"];
    let _ = std::fs::create_dir_all("/run/lttng");
    // SAFETY: all texts end with a zero.
    unsafe {
        let is_apart = libc::geteuid() == 0
            && libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                std::ptr::null(),
                c"/".as_ptr(),
                std::ptr::null(),
                libc::MS_REC | libc::MS_PRIVATE,
                std::ptr::null(),
            ) == 0;
        for place in places.into_iter().filter(|_| is_apart) {
            libc::mount(
                c"tmpfs".as_ptr(),
                place.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                c"mode=1777".as_ptr().cast(),
            );
        }
    }
}

fn lttng(words: &[&str]) -> bool {
    lttng_says(words).is_some()
}

/// None if it failed.
fn lttng_says(words: &[&str]) -> Option<String> {
    let output = Command::new("lttng")
        .arg("--no-sessiond")
        .args(words)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    (output.status.success()).then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(120) {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// `lines.c` on a libtracetools with LTTng in it; None if its headers are not installed.
fn program(place: &Path) -> Option<std::path::PathBuf> {
    if Command::new("lttng-gen-tp").arg("--help").output().is_err() {
        let _ = std::io::stderr().write_all(b"SKIPPED: liblttng-ust-dev is not installed.\n");
        return None;
    }
    let benches = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/benches");
    let library = place.join("libtracetools.so");
    crate::support::compile(
        &crate::support::source("lttng_tracetools.c"),
        &library,
        &["-shared", "-fPIC", benches],
        &["-llttng-ust", "-ldl"],
    );
    let program = place.join("lines");
    crate::support::linked(place, "lines.c", &program, &[], &["-ltracetools"]);
    Some(program)
}

#[test]
fn both_get_what_happens_while_they_record() {
    let place = folder("lttng");
    let (Some(program), Some(_daemon)) = (program(&place), Daemon::ensure()) else {
        return;
    };
    let mut recorder = Recorder::new(&place);
    let mut reported =
        DrivenProgram::start(traced(&program).env("ROSTRACE_CONTROL", &recorder.control));
    let pid = format!("PID: {} ", reported.pid());
    let is_registered =
        || lttng_says(&["list", "--userspace"]).is_some_and(|list| list.contains(&pid));
    if !eventually(is_registered) {
        let _ = std::io::stderr().write_all(b"SKIPPED: LTTng sees no process on this machine.\n");
        return;
    }
    let name = format!("rostrace-test-{}", std::process::id());
    let session = format!("--session={name}");
    let theirs = place.join("theirs");
    assert!(lttng(&[
        "create",
        &name,
        &format!("--output={}", theirs.display())
    ]));
    let named = Session(name.clone());
    assert!(lttng(&["enable-channel", "--userspace", &session, "ros2"]));

    let ours = place.join("ours");
    let mut tell = |line: &str| {
        reported
            .tell(line, |line| usize::from_str_radix(line, 16).ok())
            .0
    };
    tell("start");
    tell("emit 1000");
    assert_eq!(tell("enabled"), 0);

    let event = [
        "enable-event",
        "--userspace",
        &session,
        "--channel=ros2",
        "ros2:*",
    ];
    assert!(lttng(&event));
    assert!(lttng(&["start", &name]));
    assert!(eventually(|| tell("enabled") == 1), "LTTng records");
    tell("emit 50");
    recorder.issue(&rostrace_session::Command::record(ours.to_str().unwrap()));
    tell("emit 100");
    drop(named);
    tell("emit 30");
    recorder.issue(&rostrace_session::Command::idle());
    assert!(eventually(|| tell("enabled") == 0), "nobody records");
    tell("emit 1000");
    reported.end();

    // LTTng may need a moment after `destroy` until the process knows, but by then the recording is complete.
    assert_eq!(survey(&theirs), (150, 0));
    assert_eq!(survey(&ours), (1 + 2 * 130, 0));
}
