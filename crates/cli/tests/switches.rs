//! Context switches, recorded without root: what `why` and the tables tell of them is what the programs know of themselves.
//!
//! Where the system refuses `perf_event_open`, most of these tests have nothing to say, and say so; that it is reported is always tested.

use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, kill, pid_of, processes, signal, wait_for_ready};
use crate::support::programs::{
    check, dumped_by_both, is_allowed, program, recorded_by_somebody, refused,
};

pub fn on_cpu() -> &'static str {
    program("on_cpu")
}

/// Records the program while it does this, and returns what it printed.
fn recorded(place: &Place, options: &[&str], what: &str) -> String {
    // As an ordinary user has it, also where this runs as root.
    let mut arguments = vec!["record", "--no-report", "-o", "trace"];
    let is_recorded = !options.contains(&"--no-switches");
    arguments.extend(is_recorded.then_some("--kernel=own"));
    arguments.extend(options);
    arguments.extend(["--", on_cpu(), "1000", what]);
    place.run(&arguments, 0).0
}

/// One execution: on a CPU, waiting for one, blocked, unknown, and preemptions.
#[derive(Debug)]
pub struct Execution {
    pub running: i64,
    waiting: i64,
    blocked: i64,
    pub unknown: i64,
}

pub fn executions(place: &Place) -> Vec<Execution> {
    let tables = "callback_scheduling";
    let arguments = ["export", "trace", "--tables", tables, "-o", "tables"];
    place.run(&arguments, 0);
    let file = place.path("tables").join("callback_scheduling.csv");
    let mut table = csv::Reader::from_path(file).unwrap();
    let header = table.headers().unwrap().clone();
    let rows = table.records().map(Result::unwrap);
    let rows = rows.map(|row| {
        let number = |name: &str| {
            let column = header.iter().position(|it| it == name).unwrap();
            row[column].parse::<i64>().unwrap()
        };
        Execution {
            running: number("running_ns"),
            waiting: number("waiting_ns"),
            blocked: number("blocked_ns"),
            unknown: number("unknown_ns"),
        }
    });
    rows.collect()
}

/// What the program says of its executions: nanoseconds on a CPU, and in all.
pub fn ran(said: &str) -> Vec<(i64, i64)> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("ran "));
    lines
        .map(|line| {
            let (cpu, wall) = line.split_once(" of ").unwrap();
            (cpu.parse().unwrap(), wall.parse().unwrap())
        })
        .collect()
}

/// Within a hundredth, or 0.2 ms.
fn is_near(found: i64, known: i64) -> bool {
    (found - known).abs() <= (known / 100).max(200_000)
}

/// The clock of the thread and ours are not read in the same instant, and where this machine itself is not given a CPU, the one may
/// count it and the other not: of ten executions one may differ.
pub fn assert_agree(executions: &[Execution], ran: &[(i64, i64)]) {
    assert_eq!(executions.len(), ran.len());
    let found: i64 = executions.iter().map(|it| it.running).sum();
    let known: i64 = ran.iter().map(|(cpu, _)| cpu).sum();
    eprintln!(
        "{} executions: {found} ns on a CPU, {known} ns by the clock of their thread, {:+.2} %",
        ran.len(),
        100.0 * (found - known) as f64 / known.max(1) as f64
    );
    let differing: Vec<_> = (executions.iter().zip(ran))
        .filter(|(found, (cpu, _))| !is_near(found.running, *cpu))
        .collect();
    assert!(
        differing.len() * 10 <= ran.len(),
        "{} of {} differ: {:?}",
        differing.len(),
        ran.len(),
        differing.iter().take(5).collect::<Vec<_>>()
    );
}

#[test]
fn time_on_a_cpu_is_what_the_thread_s_own_clock_says() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let said = recorded(&place, &[], "compute");
    assert!(said.contains(" context switches in "), "{said}");
    let executions = executions(&place);
    assert_agree(&executions, &ran(&said));
    let unknown: i64 = executions.iter().map(|it| it.unknown).sum();
    assert_eq!(unknown, 0, "all of it is reported");
}

#[test]
fn sleep_inside_a_callback_is_told_apart_from_computing() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let said = recorded(&place, &[], "sleep");
    let executions = executions(&place);
    assert_agree(&executions, &ran(&said));
    // It asked for 5 ms; how much later it woke is the machine's business.
    assert!(executions.iter().all(|it| it.blocked >= 5_000_000));
    let (why, _) = place.run(&["why", "trace", "--callback", "/on_cpu*"], 0);
    assert!(why.contains("was blocked until it ran again"), "{why}");
    let arguments = ["why", "trace", "--callback", "/on_cpu*", "--format", "json"];
    let why: Value = serde_json::from_str(&place.run(&arguments, 0).0).unwrap();
    let parts = why["parts"].as_array().unwrap();
    let sum = |cause: &str| -> i64 {
        let such = parts.iter().filter(|part| part["cause"] == cause);
        such.map(|part| part["duration_ns"].as_i64().unwrap()).sum()
    };
    assert!(sum("blocked") >= 5_000_000);
    let all: i64 = parts
        .iter()
        .map(|it| it["duration_ns"].as_i64().unwrap())
        .sum();
    assert_eq!(all, why["total_ns"].as_i64().unwrap());
}

#[test]
fn a_thread_that_took_the_cpu_away_is_named() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let said = recorded(&place, &[], "hog");
    let executions = executions(&place);
    assert_agree(&executions, &ran(&said));
    let waiting: i64 = executions.iter().map(|it| it.waiting).sum();
    let running: i64 = executions.iter().map(|it| it.running).sum();
    // The two share a CPU, so that each has to wait for the other about as long as it runs.
    assert!(waiting * 4 > running, "{executions:?}");
    // On a busy machine one execution may have had to wait for other programs only.
    let by_hog = (1..=executions.len().min(10)).any(|rank| {
        let rank = rank.to_string();
        let arguments = ["why", "trace", "--callback", "/on_cpu*", "--rank", &rank];
        let (json, _) = place.run(&[&arguments[..], &["--format", "json"]].concat(), 0);
        let why: Value = serde_json::from_str(&json).unwrap();
        let mut parts = why["parts"].as_array().unwrap().iter();
        let is_by_hog = parts.any(|part| {
            part["cause"] == "preempted"
                && part["preempted_by"] == "hog"
                && part["preempted_by_tid"].as_i64().is_some_and(|tid| tid > 0)
        });
        let (reported, _) = place.run(&arguments, 0);
        assert!(
            !is_by_hog || reported.contains("was preempted by hog "),
            "{reported}"
        );
        is_by_hog
    });
    assert!(by_hog);
}

/// The hog is another program that nobody records, on the same CPU.
#[test]
fn what_is_not_recorded_is_said_to_be_that() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let mut hog = Command::new("taskset")
        .args(["-c", "0", "sh", "-c", "while :; do :; done"])
        .spawn()
        .unwrap();
    let arguments = [
        "record",
        "--no-report",
        "--kernel=own",
        "-o",
        "trace",
        "--",
        "taskset",
        "-c",
        "0",
    ];
    let arguments = [&arguments[..], &[on_cpu(), "1000", "compute"]].concat();
    let (said, _) = place.run(&arguments, 0);
    hog.kill().unwrap();
    hog.wait().unwrap();
    assert_agree(&executions(&place), &ran(&said));
    let (why, _) = place.run(&["why", "trace", "--callback", "/on_cpu*"], 0);
    let sentence = "was preempted by something that is not recorded";
    assert!(why.contains(sentence), "{why}");
}

#[test]
fn threads_that_run_already_are_followed_and_those_that_they_start() {
    for what in ["compute", "threads"] {
        let place = Place::new();
        if !is_allowed(&place) {
            return;
        }
        let arguments = ["run", "--", on_cpu(), "600000", what];
        let mut running = place.command(&arguments).spawn().unwrap();
        let mut rest = wait_for_ready(&mut running);
        let sessions = place.until(|all| all.len() == 1 && processes(&all[0]) == 1);
        // Longer where other programs want the CPUs, too.
        let mut found = Vec::new();
        for duration in ["1s", "5s", "20s"] {
            let _ = std::fs::remove_dir_all(place.path("trace"));
            let arguments = ["record", "--attach", "--no-report", "--duration", duration];
            let (said, _) = place.run(&[&arguments[..], &["-o", "trace"]].concat(), 0);
            assert!(said.contains(" context switches in "), "{said}");
            found = executions(&place);
            found.retain(|it| it.unknown == 0);
            if found.len() > 3 {
                break;
            }
        }
        kill(pid_of(&sessions), libc::SIGINT);
        let mut printed = String::new();
        rest.read_to_string(&mut printed).unwrap();
        running.wait().unwrap();
        // Which of the executions were recorded is not known; each takes 5 ms of a CPU.
        assert!(found.len() > 3, "{what}: {found:?}");
        let near = found.iter().filter(|it| is_near(it.running, 5_000_000));
        assert!(near.count() * 10 >= found.len() * 9, "{what}: {found:?}");
    }
}

#[test]
fn without_switches_there_are_none() {
    let place = Place::new();
    let said = recorded(&place, &["--no-switches"], "compute");
    assert!(!said.contains("context switch"), "{said}");
    assert!(!place.path("trace").join("sched").exists());
    assert!(executions(&place).is_empty());
}

#[test]
fn where_the_system_refuses_that_is_said_and_everything_else_is_recorded() {
    let place = Place::new();
    let arguments = ["record", "--no-report", "-o", "trace", "--"];
    let arguments = [&arguments[..], &[on_cpu(), "200", "compute"]].concat();
    let (said, notes) = refused(&place, &arguments);
    assert!(
        notes.contains("context switches were not recorded"),
        "{notes}"
    );
    assert!(notes.contains("seccomp"), "{notes}");
    assert!(!said.contains("context switches in"), "{said}");
    assert_eq!(place.callbacks("trace").len(), 1);
    let (doctor, _) = refused(&place, &["doctor", "--format", "json"]);
    let check = check(&doctor);
    assert_eq!(check["verdict"], "missing");
    assert!(check["fix"].as_str().unwrap().contains("PERFMON"));
}

/// As an ordinary user, whatever this test runs as; without the right to become one that is said.
#[test]
fn an_ordinary_user_has_them_too() {
    let place = Place::new();
    let words = |ticker: &Path| {
        ["--", ticker.to_str().unwrap(), "300"]
            .map(str::to_owned)
            .to_vec()
    };
    let Some((said, notes)) = recorded_by_somebody(&place, words) else {
        return;
    };
    assert!(said.contains(" context switches in "), "{said}\n{notes}");
}

#[test]
fn babeltrace2_reads_the_same() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    recorded(&place, &[], "compute");
    let folder = place.path("trace").join("sched");
    let Some(theirs) = dumped_by_both(&place, &folder) else {
        return;
    };
    for event in ["switch_in", "switch_out", "thread_name", "thread_exit"] {
        let name = format!("rostrace_sched:{event}: ");
        assert!(theirs.contains(&name), "no {name}");
    }
}

/// What a flight recorder and a limit keep of it can be read, and what is missing for a limit is counted.
#[test]
fn limits_are_for_context_switches_too() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let arguments = ["record", "--no-report", "-o", "trace", "--limit", "20K"];
    let arguments = [&arguments[..], &["--", on_cpu(), "1500", "compute"]].concat();
    let output = place.command(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let sched = place.path("trace").join("sched");
    let bytes: u64 = (std::fs::read_dir(&sched).unwrap().flatten())
        .filter(|it| it.file_name() != "metadata")
        .map(|it| it.metadata().unwrap().len())
        .sum();
    assert!(bytes <= 20 << 10, "{bytes} bytes\n{said}");
    let (out, _) = place.run(
        &[
            "record",
            "--no-report",
            "--flight",
            "1s",
            "-o",
            "flight",
            "--",
            on_cpu(),
            "500",
        ],
        0,
    );
    assert!(out.contains(" context switches in "), "{out}");
}

#[test]
fn a_snapshot_has_them_too() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let arguments = [
        "record",
        "--no-report",
        "--kernel=own",
        "-o",
        "trace",
        "--",
        on_cpu(),
        "600000",
    ];
    let mut recorder = place.command(&arguments).spawn().unwrap();
    let _rest = wait_for_ready(&mut recorder);
    place.until(|all| all[0]["processes"][0]["events"].as_u64().unwrap_or(0) > 20);
    place.run(&["snapshot", "-o", "copy"], 0);
    signal(&recorder, libc::SIGINT);
    recorder.wait().unwrap();
    let (out, _) = place.run(
        &["dump", place.path("copy").join("sched").to_str().unwrap()],
        0,
    );
    assert!(out.contains("rostrace_sched:switch_out"), "{out}");
}
