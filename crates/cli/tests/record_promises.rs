//! What `record` promises holds when the recorder is killed, too; and nothing is left behind by recordings that come and go.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::place::{Place, ticker, wait_for_ready};

/// Records a ticker in a place of its own, and kills the recorder once something was recorded. The ticker lives until the end of the test.
struct Orphan {
    place: Place,
    pid: i32,
}

impl Orphan {
    fn new(options: &[&str], variables: &[(&str, &str)]) -> Orphan {
        let place = Place::new();
        let mut arguments = vec!["record", "--no-report", "-o", "trace"];
        arguments.extend_from_slice(options);
        arguments.extend(["--", ticker(), "600000"]);
        let mut command = place.command(&arguments);
        let mut recorder = command.envs(variables.iter().copied()).spawn().unwrap();
        let _rest = wait_for_ready(&mut recorder);
        let pid = kill(&place, &mut recorder);
        Orphan { place, pid }
    }

    fn events(&self) -> u64 {
        self.place.sessions()[0]["processes"][0]["events"]
            .as_u64()
            .unwrap()
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        // SAFETY: a plain system call, on a process that this test has started and that nobody has waited for but init.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }
}

/// Kills the recorder, not the process that it records, whose pid is returned.
fn kill(place: &Place, recorder: &mut Child) -> i32 {
    let sessions = place
        .until(|all| all.len() == 1 && all[0]["processes"][0]["events"].as_u64().unwrap_or(0) > 20);
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    let pid = sessions[0]["processes"][0]["pid"].as_i64().unwrap();
    i32::try_from(pid).unwrap()
}

fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.file_type().unwrap().is_dir() {
            true => bytes(&entry.path()),
            false => entry.metadata().unwrap().len(),
        })
        .sum()
}

#[test]
fn a_duration_holds_when_the_recorder_is_killed() {
    let orphan = Orphan::new(&["--duration", "500ms"], &[]);
    let begin = Instant::now();
    let mut before = orphan.events();
    loop {
        // The ticker goes on: so many events would be some hundred more.
        std::thread::sleep(Duration::from_millis(500));
        let now = orphan.events();
        if now == before {
            break;
        }
        before = now;
        assert!(begin.elapsed() < Duration::from_secs(120), "{now} events");
    }
    orphan.place.run(&["stop"], 0);
    assert_eq!(orphan.place.nodes("trace"), ["/ticker"]);
}

#[test]
fn a_limit_holds_when_the_recorder_is_killed() {
    let orphan = Orphan::new(&["--limit", "1M"], &[("TICKER_FLOOD", "1")]);
    // Nobody empties the memory any more.
    orphan
        .place
        .until(|all| all[0]["processes"][0]["lost"].as_u64().unwrap() > 0);
    orphan.place.run(&["stop"], 0);
    let written = bytes(&orphan.place.path("trace"));
    assert!(written < 1 << 20, "{written} bytes");
    let (out, _) = orphan.place.run(&["info", "trace", "--format", "json"], 3);
    let info: Value = serde_json::from_str(&out).unwrap();
    assert!(info["discarded_events"].as_u64().unwrap() > 1000, "{info}");
}

/// What a process holds.
#[derive(Debug, PartialEq, Eq)]
struct Holdings {
    maps: usize,
    descriptors: usize,
    threads: usize,
    /// Files of its session in memory, and blocks of 512 bytes that they have.
    files: usize,
    blocks: u64,
}

impl Holdings {
    fn of(pid: i64, memory: &Path) -> Holdings {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let count = |name: &str| fs::read_dir(process.join(name)).unwrap().count();
        let files: Vec<u64> = fs::read_dir(memory)
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().blocks())
            .collect();
        Holdings {
            maps: fs::read_to_string(process.join("maps"))
                .unwrap()
                .lines()
                .count(),
            descriptors: count("fd"),
            threads: count("task"),
            files: files.len(),
            blocks: files.iter().sum(),
        }
    }
}

/// The folder in memory that has the file of this process.
fn memory_of(pid: i64) -> PathBuf {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let file = maps
        .lines()
        .filter_map(|line| line.split_ascii_whitespace().nth(5))
        .find(|path| path.starts_with("/dev/shm/rostrace-"));
    Path::new(file.unwrap()).parent().unwrap().to_owned()
}

#[test]
fn nothing_is_left_behind_by_recordings_that_come_and_go() {
    let place = Place::new();
    let (mut run, _rest) = place.idle_ticker();
    let sessions = place.until(|all| all.len() == 1 && all[0]["processes"][0]["pid"].is_i64());
    let pid = sessions[0]["processes"][0]["pid"].as_i64().unwrap();
    let memory = memory_of(pid);
    let record = |number: u32| {
        let name = format!("trace{number}");
        let arguments = format!("record --attach --no-report --duration 30ms -o {name}");
        place.run(&arguments, 0);
        fs::remove_dir_all(place.path(&name)).unwrap();
    };
    // The first ones find out how much is needed.
    (0..5).for_each(record);
    let before = Holdings::of(pid, &memory);
    (5..55).for_each(record);
    let after = Holdings::of(pid, &memory);
    // A slow moment of the recorder may have needed a few packets more, which stay for the next one; not some for each recording.
    assert!(
        after.blocks < before.blocks + 50 * 16,
        "{before:?} {after:?}"
    );
    let blocks = before.blocks;
    assert_eq!(Holdings { blocks, ..after }, before);
    crate::support::place::signal(&run, libc::SIGINT);
    run.wait().unwrap();
    assert!(!memory.exists(), "{memory:?} is left");
}

#[test]
fn only_their_user_can_open_what_is_recorded() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let (mut run, _rest) = place.idle_ticker();
    let sessions = place.until(|all| all.len() == 1 && all[0]["processes"][0]["pid"].is_i64());
    let pid = sessions[0]["processes"][0]["pid"].as_i64().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let memory = memory_of(pid);
    assert_eq!(mode(&memory), 0o700);
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let control = environment
        .split(|byte| *byte == 0)
        .find_map(|it| it.strip_prefix(b"ROSTRACE_CONTROL="));
    let control = PathBuf::from(String::from_utf8(control.unwrap().to_owned()).unwrap());
    assert_eq!(mode(&control), 0o600);
    let sessions = control.ancestors().find(|it| it.ends_with("rostrace"));
    assert_eq!(mode(sessions.unwrap()), 0o700);
    for entry in fs::read_dir(&memory).unwrap().flatten() {
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
    }
    crate::support::place::signal(&run, libc::SIGINT);
    run.wait().unwrap();
}
