//! Snapshots: what was recorded last is copied on demand, by a command or by a signal to the recorder or to a recorded process.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Says;
use crate::support::place::{
    Place, finished, kill, pid_of, processes, signal, ticker, wait_for_ready,
};

#[test]
fn a_flight_recording_is_copied_and_stopped_while_it_runs() {
    let place = Place::new();
    let (mut child, _rest) = place.idle_ticker();
    place.until(|all| all.len() == 1 && processes(&all[0]) == 1);
    let recorder = place
        .command(&["record", "--attach", "--flight", "1M", "-o", "flight"])
        .spawn()
        .unwrap();
    place.until(|all| all[0]["processes"][0]["events"].as_u64().unwrap_or(0) > 50);
    let (_, err) = place.run(&["record", "--attach", "-o", "other"], 1);
    err.says("is being recorded already");
    let (_, err) = place.run(&["snapshot", "-o", "copy"], 0);
    err.says("1 process copied: copy");
    assert_eq!(place.nodes("copy"), ["/ticker"]);
    place.run(&["stop"], 0);
    let (out, err) = finished(recorder.wait_with_output().unwrap(), 0);
    err.says("`rostrace stop` ended the recording");
    out.says("lost: 0");
    let (_, err) = place.run(&["snapshot", "-o", "later"], 1);
    err.says("nothing is being recorded");
    signal(&child, libc::SIGINT);
    child.wait().unwrap();
}

#[test]
fn a_signal_takes_a_snapshot() {
    let place = Place::new();
    let mut child = place
        .command(&["record", "-o", "trace", "--", ticker(), "600000"])
        .spawn()
        .unwrap();
    let rest = wait_for_ready(&mut child);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, libc::SIGUSR1);
    let begin = Instant::now();
    while !place.path("trace-snapshot-1").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, libc::SIGINT);
    std::io::copy(&mut { rest }, &mut std::io::sink()).unwrap();
    child.wait().unwrap();
    assert_eq!(place.nodes("trace-snapshot-1"), ["/ticker"]);
}

/// Whoever is recorded may ask for a snapshot; a command follows.
const FLIGHT_WITH_SIGNAL: [&str; 8] = [
    "record",
    "-o",
    "trace",
    "--flight",
    "30s",
    "--flight-signal",
    "USR2",
    "--",
];

#[test]
fn a_signal_to_a_process_takes_a_snapshot() {
    let place = Place::new();
    let mut record = place.command(&FLIGHT_WITH_SIGNAL);
    let both = format!("{0} 600000 & TICKER_NODE=other {0} 600000; wait", ticker());
    record.args(["sh", "-c", &both]);
    let mut child = record.spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    let _rest = wait_for_ready(&mut child);
    let are_recording = |sessions: &[Value]| {
        let processes = sessions.iter().flat_map(|it| it["processes"].as_array());
        let mut states = processes.flatten().map(|it| &it["state"]);
        states.clone().count() == 2 && states.all(|state| state == "recording")
    };
    let pid = pid_of(&place.until(are_recording));
    kill(pid, libc::SIGUSR2);
    let note = errors.next().unwrap().unwrap();
    note.says(&format!("snapshot (process {pid} asked)"));
    assert_eq!(place.nodes("trace-snapshot-1"), ["/other", "/ticker"]);
    // Also that of a process which dies of what it noticed.
    kill(pid, libc::SIGUSR2);
    std::thread::sleep(Duration::from_millis(20));
    kill(pid, libc::SIGKILL);
    // The shell may say something, too.
    assert!(errors.any(|line| line.unwrap().contains("-snapshot-2")));
    signal(&child, libc::SIGINT);
    finished(child.wait_with_output().unwrap(), 0);
}

#[test]
fn a_signal_that_a_program_handles_itself_stays_its_own() {
    let place = Place::new();
    let mut record = place.command(&FLIGHT_WITH_SIGNAL);
    record.args([ticker(), "600000"]).env("TICKER_OWN", "1");
    let mut child = record.spawn().unwrap();
    let mut lines = wait_for_ready(&mut child);
    let is_recording = |sessions: &[Value]| {
        sessions.len() == 1 && sessions[0]["processes"][0]["state"] == "recording"
    };
    let pid = pid_of(&place.until(is_recording));
    kill(pid, libc::SIGUSR2);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, libc::SIGINT);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "own handler ran\n");
    let rest: Vec<String> = lines.lines().map(Result::unwrap).collect();
    finished(child.wait_with_output().unwrap(), 0);
    assert!(!place.path("trace-snapshot-1").exists(), "{rest:?}");
}
