//! The kernel's own tracepoints, as root: who ran instead on the whole machine, who woke whom, and what threads were blocked in.
//!
//! Without root, or where tracefs cannot be mounted, these tests have nothing to say, and say so.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::place::{Place, finished};
use crate::switches::{Execution, assert_agree, executions, on_cpu, ran};

/// Runs a script in which tracefs is mounted, for it alone; nothing where that is not possible.
fn with_tracefs(place: &Place, script: &str, words: &[&str]) -> Option<Output> {
    let mount = "mount -t tracefs nodev /sys/kernel/tracing";
    let is_possible = Command::new("unshare")
        .args(["-m", "sh", "-c", mount])
        .output()
        .is_ok_and(|it| it.status.success());
    let is_first = std::fs::read_link("/proc/self/ns/pid")
        .is_ok_and(|it| it.as_os_str() == "pid:[4026531836]");
    if !is_possible || !is_first {
        eprintln!("SKIPPED: this needs root outside of containers, to mount tracefs");
        return None;
    }
    let inner = place.command(&[""]);
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", &format!("{mount} && {script}"), "sh"])
        .arg(inner.get_program())
        .args(words)
        .current_dir(place.folder.path());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(command.output().unwrap())
}

/// Records the program while it does this, and returns what was printed: to standard output, and else.
fn recorded(place: &Place, options: &[&str], command: &[&str]) -> Option<(String, String)> {
    let words = ["record", "--no-report", "-o", "trace"];
    let words = [&words[..], options, &["--"], command].concat();
    let output = with_tracefs(place, "exec \"$@\"", &words)?;
    Some(finished(output, 0))
}

/// So many of the worst executions, part by part, and how many they are.
fn parts(place: &Place, executions: &[Execution], most: usize) -> (Vec<Value>, usize) {
    let mut parts = Vec::new();
    let worst = executions.len().min(most);
    for rank in 1..=worst {
        let rank = rank.to_string();
        let arguments = ["why", "trace", "--callback", "/on_cpu*", "--rank", &rank];
        let (json, _) = place.run(&[&arguments[..], &["--format", "json"]].concat(), 0);
        let why: Value = serde_json::from_str(&json).unwrap();
        let list = why["parts"].as_array().unwrap();
        let sum: i64 = list
            .iter()
            .map(|it| it["duration_ns"].as_i64().unwrap())
            .sum();
        assert_eq!(sum, why["total_ns"].as_i64().unwrap());
        parts.extend(list.iter().cloned());
    }
    (parts, worst)
}

/// The hog is another program that nobody records, on the same CPU.
#[test]
fn a_program_that_is_not_recorded_is_named_too() {
    let place = Place::new();
    let mut hog = Command::new("taskset")
        .args(["-c", "0", "sh", "-c", "while :; do :; done"])
        .spawn()
        .unwrap();
    let command = ["taskset", "-c", "0", on_cpu(), "1000", "compute"];
    let said = recorded(&place, &[], &command);
    hog.kill().unwrap();
    hog.wait().unwrap();
    let Some((said, _)) = said else { return };
    assert!(said.contains("of all threads of the machine"), "{said}");
    let executions = executions(&place);
    assert_agree(&executions, &ran(&said));
    let hog = i64::from(hog.id());
    let (parts, _) = parts(&place, &executions, 5);
    assert!(
        parts.iter().any(|it| it["ran_instead_tid"] == hog),
        "{parts:?}"
    );
}

#[test]
fn what_a_thread_was_blocked_in_is_reported_and_who_woke_it() {
    let place = Place::new();
    let command = [on_cpu(), "600", "read"];
    let Some((said, _)) = recorded(&place, &["--kernel", "syscalls,irq"], &command) else {
        return;
    };
    let executions = executions(&place);
    assert_agree(&executions, &ran(&said));
    let (parts, all) = parts(&place, &executions, usize::MAX);
    let blocked = parts.iter().filter(|it| it["cause"] == "blocked");
    let blocked: Vec<&Value> = blocked
        .filter(|it| it["duration_ns"].as_i64().unwrap() > 4_000_000)
        .collect();
    // An execution that loses its CPU before it reads finds what it wants there, and does not wait for it. On a busy machine these are
    // the worst ones, but not all.
    assert!(!blocked.is_empty(), "none of {all}: {executions:?}");
    for part in blocked {
        assert_eq!(part["inside"], "read()");
        assert_eq!(part["woken_by"], "feeder");
    }
    let trace = place.path("trace").join("sched");
    let (dumped, _) = place.run(&["dump", trace.to_str().unwrap()], 0);
    for event in ["irq_softirq_entry", "irq_softirq_exit", "sched_wakeup"] {
        assert!(dumped.contains(&format!(" {event}: ")), "no {event}");
    }
    let Ok(output) = Command::new("babeltrace2").arg(&trace).output() else {
        eprintln!("SKIPPED: there is no babeltrace2; nothing was compared");
        return;
    };
    let (theirs, notes) = finished(output, 0);
    assert_eq!(notes, "");
    assert_eq!(theirs.lines().count(), dumped.lines().count());
}

#[test]
fn memory_that_a_callback_touches_is_reported() {
    let place = Place::new();
    let command = [on_cpu(), "500", "touch"];
    let Some((_, notes)) = recorded(&place, &["--kernel", "faults"], &command) else {
        return;
    };
    if notes.contains("not everything of --kernel") {
        eprintln!("SKIPPED: {notes}");
        return;
    }
    let (parts, worst) = parts(&place, &executions(&place), 5);
    let faults = parts
        .iter()
        .filter(|it| it["cause"] == "page_fault")
        .count();
    // Each execution touches 4096 pages, and little else for the first time.
    assert!(
        worst > 0 && (worst * 4000..worst * 4400).contains(&faults),
        "{faults}"
    );
}

/// Without tracefs nothing is missing that an ordinary user has, and what was asked for is said to be.
#[test]
fn what_was_asked_for_and_is_not_there_is_said() {
    let place = Place::new();
    let arguments = [
        "record",
        "--no-report",
        "-o",
        "trace",
        "--kernel",
        "own,syscalls",
    ];
    let arguments = [&arguments[..], &["--", on_cpu(), "100", "compute"]].concat();
    let (said, _) = place.run(&arguments, 0);
    assert!(!said.contains("of all threads"), "{said}");
    let (refused, _) = {
        let output = place
            .command(&["record", "--kernel", "irq", "--no-switches", "--", "true"])
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stderr).into_owned(), ())
    };
    assert!(refused.contains("--no-switches"), "{refused}");
}

/// When a thread got a CPU and left it, in microseconds.
type Switches = BTreeMap<i64, Vec<(i64, bool)>>;

/// What ftrace says: `hog-12 [000] d..2. 54.000123: sched_switch: … prev_pid=12 … ==> … next_pid=7 …`
fn of_ftrace(text: &str) -> Switches {
    let mut switches = Switches::new();
    for line in text.lines() {
        let Some((head, fields)) = line.split_once(": sched_switch: ") else {
            continue;
        };
        let time: f64 = head.rsplit(' ').next().unwrap().parse().unwrap();
        let time = (time * 1e6).round() as i64;
        let number = |key: &str| {
            let at = fields.rfind(key).unwrap() + key.len();
            let word = fields[at..].split(' ').next().unwrap();
            word.parse::<i64>().unwrap()
        };
        switches
            .entry(number(" prev_pid="))
            .or_default()
            .push((time, false));
        switches
            .entry(number(" next_pid="))
            .or_default()
            .push((time, true));
    }
    switches
}

/// What our trace says of the threads of a process: `[54000123456] host sched_switch: { … }, { …, prev_tid = 12, …, next_tid = 7, … }`
fn of_trace(place: &Place, pid: i64) -> Switches {
    let mut switches = Switches::new();
    let mut threads = BTreeSet::new();
    let folder = place.path("trace").join("sched");
    let words = [
        "dump",
        "--clock-cycles",
        "--no-delta",
        folder.to_str().unwrap(),
    ];
    let (text, _) = place.run(&words, 0);
    for line in text.lines() {
        let (time, rest) = line[1..].split_once(']').unwrap();
        let time = time.parse::<i64>().unwrap() / 1000;
        let number = |key: &str| {
            let at = rest.rfind(key).unwrap() + key.len();
            let end = rest[at..].find([',', ' ']).unwrap();
            rest[at..at + end].parse::<i64>().unwrap()
        };
        let mut add = |tid: i64, is_in: bool| {
            switches.entry(tid).or_default().push((time, is_in));
        };
        if rest.contains(" sched_switch: ") {
            add(number(" prev_tid = "), false);
            add(number(" next_tid = "), true);
        } else if rest.contains(":switch_in: ") {
            add(number(" tid = "), true);
        } else if rest.contains(":switch_out: ") {
            add(number(" tid = "), false);
        } else if rest.contains(":thread_name: ") && number(" pid = ") == pid {
            threads.insert(number(" tid = "));
        }
    }
    switches.retain(|tid, _| threads.contains(tid));
    switches
}

/// How far our switches happened from those of ftrace, in microseconds, and how many ftrace does not have. None that it has is missing.
fn compare(ours: &[(i64, bool)], theirs: &[(i64, bool)]) -> (Vec<i64>, usize) {
    let (mut all, mut more) = (Vec::new(), 0);
    let last = ours[ours.len() - 1].0;
    let mut ours = ours.iter();
    for their in theirs.iter().take_while(|their| their.0 <= last - 50) {
        loop {
            let our = ours.next();
            let our = our.unwrap_or_else(|| panic!("{their:?} is missing"));
            let apart = (our.0 - their.0).abs();
            if our.1 == their.1 && apart < 50_000 {
                all.push(apart);
                break;
            }
            more += 1;
        }
    }
    all.sort_unstable();
    (all, more)
}

/// All switches of the recorded threads, which happen when ftrace says so. The two read the clock one after the other, and where this machine
/// itself is not given a CPU in between, they differ: of ten one may. The kernel leaves out its own event where it goes
/// on from some threads, up to one in twenty; the recorder knows of those from the software event.
#[test]
fn switches_are_those_of_ftrace() {
    let script = "{ i=/sys/kernel/tracing/instances/rostrace_$$; mkdir $i && echo mono > $i/trace_clock \
        && echo 32768 > $i/buffer_size_kb && echo 1 > $i/events/sched/sched_switch/enable && \"$@\"; \
        code=$?; echo 0 > $i/tracing_on; cat $i/trace > ftrace; rmdir $i; exit $code; }";
    for option in ["--kernel=own", "--kernel=irq"] {
        let place = Place::new();
        let words = ["record", "--no-report", "-o", "trace", option, "--"];
        let words = [&words[..], &[on_cpu(), "1000", "read"]].concat();
        let Some(output) = with_tracefs(&place, script, &words) else {
            return;
        };
        let (said, _) = finished(output, 0);
        let ftrace = std::fs::read_to_string(place.path("ftrace")).unwrap();
        let counts = ftrace
            .lines()
            .find_map(|it| it.split_once("entries-written: "));
        let counts = counts.unwrap().1.split_whitespace().next().unwrap();
        let (kept, written) = counts.split_once('/').unwrap();
        assert_eq!(kept, written, "ftrace has lost something itself");
        let pid = said.lines().find_map(|line| line.strip_prefix("pid "));
        let pid: i64 = pid.unwrap().parse().unwrap();
        let (ours, theirs) = (of_trace(&place, pid), of_ftrace(&ftrace));
        assert_eq!(ours.len(), 2, "the program has two threads");
        let mut compared = 0;
        for (tid, ours) in &ours {
            // A command is on a CPU when it becomes the program; that is no switch. Then both begin with the first that both have.
            let ours = &ours[usize::from(ours[0].1)..];
            let theirs = &theirs[tid];
            let outs = theirs.iter().enumerate().filter(|(_, it)| !it.1);
            let begin = outs.min_by_key(|(_, it)| (it.0 - ours[0].0).abs());
            let theirs = &theirs[begin.unwrap().0..];
            let (apart, more) = compare(ours, theirs);
            let far = apart.iter().filter(|apart| **apart > 50).count();
            assert!(far * 10 <= ours.len(), "{option}: {far} of {}", ours.len());
            assert!(more * 5 <= ours.len(), "{option}: {more} of {}", ours.len());
            compared += ours.len();
            let part = |of: usize| apart.get(apart.len() * of / 100);
            eprintln!(
                "{option}: {} switches of a thread, none missing; {:?} µs apart in the median, {:?} in 95 of 100",
                ours.len(),
                part(50),
                part(95)
            );
        }
        assert!(compared > 300, "{option}: {compared}");
    }
}
