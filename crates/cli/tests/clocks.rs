//! Where context switches are refused, the CPU clocks of threads tell what executions did: compared with what the programs know of
//! themselves.

use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, finished, kill, pid_of, processes, ticker, wait_for_ready};
use crate::support::programs::{program, refused};

/// Suffers planted causes.
fn clocked() -> &'static str {
    program("clocked")
}

const RECORD: [&str; 5] = ["record", "--no-report", "-o", "trace", "--"];

/// One execution, as the program knows it.
#[derive(Debug, Clone)]
struct Known {
    cause: String,
    /// With the tracepoints.
    cpu: i64,
    /// Without them.
    off: i64,
    voluntary: u64,
    involuntary: u64,
}

fn known(said: &str) -> Vec<Known> {
    let lines = said.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [cause, whole_cpu, _, cpu, wall, voluntary, involuntary] = words[..] else {
            return None;
        };
        Some(Known {
            cause: cause.to_owned(),
            cpu: whole_cpu.parse().ok()?,
            off: wall.parse::<i64>().ok()? - cpu.parse::<i64>().ok()?,
            voluntary: voluntary.parse().ok()?,
            involuntary: involuntary.parse().ok()?,
        })
    });
    lines.collect()
}

/// The same, as the exported table has it.
#[derive(Debug)]
struct Told {
    duration: i64,
    running: i64,
    waiting: i64,
    blocked: i64,
    unknown: i64,
    source: String,
}

fn reported(place: &Place) -> Vec<Told> {
    let tables = "callback_instances,callback_scheduling";
    let arguments = ["export", "trace", "--tables", tables, "-o", "tables"];
    place.run(&arguments, 0);
    let read = |table: &str, columns: &[&str]| -> Vec<Vec<String>> {
        let file = place.path("tables").join(format!("{table}.csv"));
        let mut table = csv::Reader::from_path(file).unwrap();
        let header = table.headers().unwrap().clone();
        let place = |name: &&str| header.iter().position(|it| it == *name).unwrap();
        let places: Vec<usize> = columns.iter().map(place).collect();
        let rows = table.records().map(Result::unwrap);
        rows.map(|row| places.iter().map(|it| row[*it].to_owned()).collect())
            .collect()
    };
    let durations = read("callback_instances", &["instance", "duration_ns"]);
    let columns = [
        "instance",
        "running_ns",
        "waiting_ns",
        "blocked_ns",
        "unknown_ns",
        "source",
    ];
    let rows = read("callback_scheduling", &columns)
        .into_iter()
        .map(|row| {
            let number = |place: usize| row[place].parse::<i64>().unwrap();
            let duration = durations.iter().find(|it| it[0] == row[0]).unwrap();
            Told {
                duration: duration[1].parse().unwrap(),
                running: number(1),
                waiting: number(2),
                blocked: number(3),
                unknown: number(4),
                source: row[5].clone(),
            }
        });
    rows.collect()
}

/// 5 %, or 0.2 ms.
fn tolerance(known: i64) -> i64 {
    (known / 20).max(200_000)
}

fn is_near(found: i64, known: i64) -> bool {
    (found - known).abs() <= tolerance(known)
}

/// Where the machine itself was not given a CPU, or a thread lost it between two readings, one may differ: of ten executions one.
fn assert_agree(known: &[Known], reported: &[Told]) {
    assert!(known.len() > 10, "{known:?}");
    assert_eq!(known.len(), reported.len());
    let (mut differing, mut right, mut of) = (Vec::new(), 0, 0);
    for (known, reported) in known.iter().zip(reported) {
        assert_eq!(reported.source, "thread clock");
        let sum = reported.running + reported.waiting + reported.blocked + reported.unknown;
        assert_eq!(sum, reported.duration, "{reported:?}");
        // What of it was not on a CPU is where the counts of the program's own system calls say. It may have waited for a CPU in the
        // tracepoints as well.
        let is_right = match (known.voluntary, known.involuntary) {
            (0, _) => reported.waiting >= known.off - tolerance(known.off),
            (_, 0) => is_near(reported.blocked, known.off),
            _ => is_near(reported.unknown, known.off),
        };
        let is_long = known.off > 200_000;
        if !is_near(reported.running, known.cpu) || is_long && !is_right {
            differing.push((known, reported));
        }
        // Whether the planted cause is reported.
        let found = match &*known.cause {
            "spin" => reported.running > reported.duration / 2,
            "hog" => reported.waiting > reported.blocked + reported.unknown,
            _ => reported.blocked > reported.waiting + reported.unknown,
        };
        right += usize::from(found);
        of += 1;
    }
    eprintln!(
        "{right} of {of} planted causes are reported, {} differ",
        differing.len()
    );
    assert!(
        differing.len() * 10 <= known.len(),
        "{} of {} differ: {:#?}",
        differing.len(),
        known.len(),
        differing.iter().take(5).collect::<Vec<_>>()
    );
}

#[test]
fn where_context_switches_are_refused_clocks_tell_what_executions_did() {
    let place = Place::new();
    let (said, notes) = refused(&place, &[&RECORD[..], &[clocked(), "1500"]].concat());
    let sentence = "instead, the CPU clocks of threads were read when callbacks began and ended";
    assert!(notes.contains(sentence), "{notes}");
    assert!(said.contains(" and the CPU time of "), "{said}");
    let known = known(&said);
    assert_agree(&known, &reported(&place));
    // The parts of an explanation add up, and say that they are sums.
    for node in ["/spin*", "/sleep*", "/hog*"] {
        let asked = ["why", "trace", "--callback", node, "--format", "json"];
        let why: Value = serde_json::from_str(&place.run(&asked, 0).0).unwrap();
        let parts = why["parts"].as_array().unwrap();
        let all = parts.iter().map(|it| it["duration_ns"].as_i64().unwrap());
        assert_eq!(all.sum::<i64>(), why["total_ns"].as_i64().unwrap());
        let of = |cause: &str| parts.iter().find(|part| part["cause"] == cause);
        let computing = of("computing").unwrap();
        if parts.iter().any(|part| part["position"] == "unknown") {
            assert_eq!(computing["position"], "unknown", "{why}");
        }
        assert!(of("execution").is_none(), "{why}");
    }
    let (why, _) = place.run(&["why", "trace", "--callback", "/sleep*"], 0);
    assert!(why.contains("computing, when is not known"), "{why}");
    assert!(why.contains("not on a CPU: /sleep"), "{why}");
}

/// How many events of the clock a trace has.
fn readings(place: &Place) -> usize {
    let (dump, _) = place.run(&["dump", "trace"], 0);
    dump.matches("rostrace:thread_clock: ").count()
}

#[test]
fn clocks_can_be_asked_for_and_babeltrace2_reads_them() {
    let place = Place::new();
    let arguments = [
        "record",
        "--no-report",
        "-o",
        "trace",
        "--switches",
        "clocks",
    ];
    let arguments = [&arguments[..], &["--", clocked(), "300"]].concat();
    let (said, notes) = place.run(&arguments, 0);
    assert!(!notes.contains("context switches"), "{notes}");
    let known = known(&said);
    assert_agree(&known, &reported(&place));
    assert_eq!(readings(&place), 2 * known.len());
    assert!(!place.path("trace").join("sched").exists());
    let babeltrace = Command::new("babeltrace2")
        .arg(place.path("trace"))
        .output();
    let Ok(output) = babeltrace else {
        eprintln!("SKIPPED: there is no babeltrace2; nothing was compared");
        return;
    };
    let (theirs, _) = finished(output, 0);
    let theirs = theirs.matches("rostrace:thread_clock: ").count();
    assert_eq!(theirs, 2 * known.len());
}

#[test]
fn who_does_not_want_clocks_has_none() {
    for options in [&["--no-switches"][..], &["--switches", "perf"]] {
        let place = Place::new();
        let arguments = [&RECORD[..4], options, &["--", clocked(), "100"]].concat();
        let (said, notes) = refused(&place, &arguments);
        assert!(!said.contains("CPU time"), "{said}");
        assert!(!notes.contains("instead"), "{notes}");
        assert_eq!(readings(&place), 0);
    }
    // Nor has who has context switches.
    let place = Place::new();
    let (said, _) = place.run(&[&RECORD[..], &[clocked(), "100"]].concat(), 0);
    if said.contains("context switches in") {
        assert_eq!(readings(&place), 0);
    } else {
        eprintln!("SKIPPED: the system refuses context switches");
    }
}

#[test]
fn processes_that_run_already_are_asked_too() {
    let place = Place::new();
    let mut running = place
        .command(&["run", "--", ticker(), "600000"])
        .spawn()
        .unwrap();
    let rest = wait_for_ready(&mut running);
    let sessions = place.until(|all| all.len() == 1 && processes(&all[0]) == 1);
    for (folder, has_readings) in [("first", true), ("second", false), ("third", true)] {
        let arguments = [
            "record",
            "--attach",
            "--no-report",
            "--duration",
            "300ms",
            "-o",
            folder,
        ];
        match has_readings {
            true => refused(&place, &arguments),
            false => place.run(&[&arguments[..], &["--no-switches"]].concat(), 0),
        };
        let (dump, _) = place.run(&["dump", folder], 0);
        assert!(dump.contains("ros2:callback_end: "), "{dump}");
        let found = dump.contains("rostrace:thread_clock: ");
        assert_eq!(found, has_readings, "{folder}");
    }
    kill(pid_of(&sessions), libc::SIGINT);
    drop(rest);
    running.wait().unwrap();
}

#[test]
fn doctor_says_what_is_done_instead_and_what_it_costs() {
    let place = Place::new();
    let (doctor, _) = refused(&place, &["doctor", "--format", "json"]);
    let doctor: Value = serde_json::from_str(&doctor).unwrap();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|it| it["name"] == "context switches")
        .unwrap();
    let found = check["found"].as_str().unwrap();
    assert!(
        found.contains("`record` reads the CPU clocks of threads instead"),
        "{found}"
    );
    assert!(found.contains(" µs each"), "{found}");
}
