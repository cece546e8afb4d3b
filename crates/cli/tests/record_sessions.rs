//! Sessions: programs that are recorded while they run, again and again, several at once, from anywhere, and without their recorder.

use std::path::Path;

use crate::support::Says;
use crate::support::place::{
    Place, finished, kill, pid_of, processes, signal, ticker, wait_for_ready,
};

#[test]
fn attaching_again_and_again_knows_all_names_each_time() {
    let place = Place::new();
    let mut child = place
        .command(&["run", "--", ticker(), "600000", "9"])
        .env("TICKER_CHILD", "1")
        .spawn()
        .unwrap();
    let _rest = wait_for_ready(&mut child);
    let sessions = place.until(|all| all.len() == 1 && processes(&all[0]) == 2);
    assert_eq!(sessions[0]["state"], "idle");
    for name in ["first", "second"] {
        let (out, _) = place.run(
            &["record", "--attach", "--duration", "300ms", "-o", name],
            0,
        );
        out.says_all(&["2 processes, ", "lost: 0"]);
        assert_eq!(place.nodes(name), ["/child", "/ticker"]);
    }
    // One process of them.
    let pid = pid_of(&sessions);
    let pid = pid.to_string();
    let arguments = format!("record --attach --pid {pid} --duration 300ms -o third");
    let (out, _) = place.run(&arguments, 0);
    out.says("1 process, ");
    assert_eq!(place.nodes("third").len(), 1);
    let (_, err) = place.run(&["record", "--attach", "--pid", "1", "-o", "fourth"], 1);
    err.says("has the pid 1");
    let (_, err) = place.run(&["stop"], 1);
    err.says("nothing is being recorded");
    signal(&child, libc::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(9), "that of the command");
    assert!(place.sessions().is_empty());
}

#[test]
fn a_recording_of_attached_processes_ends_with_the_last_of_them() {
    let place = Place::new();
    let (mut child, _rest) = place.idle_ticker();
    place.until(|all| all.len() == 1 && processes(&all[0]) == 1);
    let recorder = place
        .command(&["record", "--attach", "-o", "trace"])
        .spawn()
        .unwrap();
    place.until(|all| all[0]["processes"][0]["events"].as_u64().unwrap_or(0) > 50);
    signal(&child, libc::SIGINT);
    child.wait().unwrap();
    let (out, err) = finished(recorder.wait_with_output().unwrap(), 0);
    err.says("all processes have ended");
    out.says_all(&["1 process, ", "lost: 0"]);
    assert_eq!(place.nodes("trace"), ["/ticker"]);
    assert!(place.sessions().is_empty());
}

#[test]
fn two_recordings_at_once_do_not_mix() {
    let place = Place::new();
    let start = |name: &str| {
        let mut command = place.command(&["record", "-o", name, "--", ticker(), "400"]);
        command.env("TICKER_NODE", name).spawn().unwrap()
    };
    let (one, two) = (start("one"), start("two"));
    for child in [one, two] {
        finished(child.wait_with_output().unwrap(), 0);
    }
    assert_eq!(place.nodes("one"), ["/one"]);
    assert_eq!(place.nodes("two"), ["/two"]);
}

#[test]
fn a_killed_recorder_leaves_a_readable_trace_and_a_session_that_can_be_stopped() {
    let place = Place::new();
    let mut child = place
        .command(&["record", "-o", "trace", "--", ticker(), "600000"])
        .spawn()
        .unwrap();
    let _rest = wait_for_ready(&mut child);
    let sessions = place
        .until(|all| all.len() == 1 && all[0]["processes"][0]["events"].as_u64().unwrap_or(0) > 20);
    let pid = pid_of(&sessions);
    child.kill().unwrap();
    child.wait().unwrap();
    let sessions = place.sessions();
    assert_eq!(sessions[0]["has_owner"], false);
    assert_eq!(sessions[0]["has_recorder"], false);
    assert_eq!(sessions[0]["state"], "recording");
    assert_eq!(
        place.nodes("trace"),
        ["/ticker"],
        "readable while it is written"
    );
    place.run(&["stop"], 0);
    assert_eq!(place.nodes("trace"), ["/ticker"]);
    let (out, _) = place.run(
        &["record", "--attach", "--duration", "200ms", "-o", "again"],
        0,
    );
    out.says("lost: 0");
    kill(pid, libc::SIGKILL);
    place.until(|all| all.is_empty());
    let left = std::fs::read_dir(place.path("runtime/rostrace"))
        .unwrap()
        .count();
    assert_eq!(left, 0, "nothing is left in the runtime folder");
}

#[test]
fn a_control_file_can_be_anywhere() {
    let place = Place::new();
    let control = place.path("control");
    let control = control.to_str().unwrap();
    let mut child = place
        .command(&["run", "--control", control, "--", ticker(), "600000"])
        .spawn()
        .unwrap();
    let _rest = wait_for_ready(&mut child);
    assert!(
        place.sessions().is_empty(),
        "it is not in the runtime folder"
    );
    let (out, _) = place.run(&["status", "--control", control], 0);
    out.says("ticker");
    let chosen = ["status", "--control", control, "--columns", "process,state"];
    let (out, _) = place.run(&chosen, 0);
    let head: Vec<&str> = out.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(head, ["process", "state"], "{out}");
    let (out, _) = place.run(&[&chosen[..], &["--format", "json"]].concat(), 0);
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(rows[0]["state"], "idle", "{out}");
    assert_eq!(rows[0].as_object().unwrap().len(), 2, "{out}");
    let (out, error) = place.run(&[&chosen[..], &["--limit", "0"]].concat(), 0);
    out.lacks("idle\n");
    error.says("1 more process not shown");
    let arguments = format!("record --attach --control {control} --duration 200ms -o trace");
    place.run(&arguments, 0);
    assert_eq!(place.nodes("trace"), ["/ticker"]);
    signal(&child, libc::SIGINT);
    child.wait().unwrap();
    assert!(!Path::new(control).exists());
}
