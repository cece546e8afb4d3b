//! Locks, recorded with `--locks`: what `why` says of waits for them is what a program knows of itself.

use std::path::Path;
use std::sync::OnceLock;

use rostrace_analyze::analysis::Analysis;
use rostrace_analyze::why::{Cause, Why};
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::flow::LockKind;

use crate::support::Says;
use crate::support::place::{Place, compile, finished, ticker, wait_for_ready};

/// A program of `tests/programs` that calls the tracer's functions, compiled once.
fn locks() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let library = Path::new(ticker()).with_file_name("libtracetools.so");
        let program = library.with_file_name("locks");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/locks.c");
        let options = ["-O1", "-pthread", "-Wl,-rpath,$ORIGIN", "-o"];
        compile(&options, &program, &[&source, &library]);
        program.to_str().unwrap().to_owned()
    })
}

/// A line of the program: when its thread held the lock of a round, notified, or waited.
#[derive(Debug, Clone)]
struct Line {
    what: String,
    round: usize,
    /// Of waits.
    kind: String,
    tid: i64,
    begin: i64,
    end: i64,
}

fn lines(said: &str) -> Vec<Line> {
    let of = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let (what, rest) = words.split_first()?;
        if !["held", "notified", "waited"].contains(what) {
            return None;
        }
        let (kind, rest) = match *what {
            "waited" => (rest[1], [&rest[..1], &rest[2..]].concat()),
            _ => ("", rest.to_vec()),
        };
        let number = |at: usize| rest[at].parse::<i64>().unwrap();
        Some(Line {
            what: (*what).to_owned(),
            round: number(0) as usize,
            kind: kind.to_owned(),
            tid: number(1),
            begin: number(2),
            end: number(3),
        })
    };
    said.lines().filter_map(of).collect()
}

/// Within a twentieth, or 0.2 ms.
fn is_near(found: i64, known: i64) -> bool {
    (found - known).abs() <= (known / 20).max(200_000)
}

fn model(place: &Place) -> Model {
    let set = TraceSet::open(&[place.path("trace")]).unwrap();
    Model::load(&set, &mut |_| true)
}

/// Who let each execution of the waiter wait, by its rounds: threads and nanoseconds, in the order of time.
struct Found {
    kind: Option<LockKind>,
    timed_out: bool,
    by: Vec<(Option<i64>, Option<String>, i64)>,
}

fn explained(model: &Model) -> Vec<Found> {
    let (begin, end) = (Nanos(i64::MIN), Nanos(i64::MAX));
    let analysis = Analysis::new(model, begin..=end);
    let mut why = Why::new(&analysis);
    let symbol = |callback: rostrace_model::entity::CallbackId| {
        model.callbacks[callback.index()].symbol.clone()
    };
    let mut found = Vec::new();
    for (index, row) in model.instances.iter().enumerate() {
        let of = row.callback.and_then(symbol).unwrap_or_default();
        if of != "Locks::waiter()" {
            continue;
        }
        let id = rostrace_model::entity::InstanceId::from_index(index);
        let explanation = why.instance(id, None);
        let sum: i64 = explanation.parts.iter().map(|part| part.duration()).sum();
        assert_eq!(sum, explanation.end.0 - explanation.begin.0);
        let mut kind = None;
        let mut timed_out = false;
        let mut by = Vec::new();
        for part in &explanation.parts {
            if let Cause::Lock(lock, instance) = part.cause {
                assert_eq!(instance, Some(id));
                kind = Some(lock.kind);
                timed_out = lock.timed_out;
                let ran = lock
                    .ran
                    .and_then(|ran| model.instances[ran.index()].callback);
                by.push((
                    lock.by.map(|by| by.tid),
                    ran.and_then(symbol),
                    part.duration(),
                ));
            }
        }
        found.push(Found {
            kind,
            timed_out,
            by,
        });
    }
    found
}

/// What is wrong with an explanation, by what the program knows of that round.
fn judged(found: &Found, waited: &Line, lines: &[Line]) -> Option<String> {
    let wrong = |what: String| Some(format!("{waited:?}: {what}"));
    let kind = match &*waited.kind {
        "read" => LockKind::Read,
        "write" => LockKind::Write,
        "condition" | "timed_condition" => LockKind::Condition,
        _ => LockKind::Mutex,
    };
    let is_limited = ["timed", "clock", "timed_condition"].contains(&&*waited.kind);
    if (found.kind, found.timed_out) != (Some(kind), is_limited) {
        return wrong(format!("{:?}, {}", found.kind, found.timed_out));
    }
    let total: i64 = found.by.iter().map(|(_, _, time)| time).sum();
    if !is_near(total, waited.end - waited.begin) {
        return wrong(format!("{total} ns"));
    }
    let of_round = lines.iter().filter(|line| line.round == waited.round);
    // One after the other held the lock while this one waited, each until the next one had it; the rival only if it was before us.
    let mut known: Vec<(i64, i64)> = match kind {
        LockKind::Condition => (of_round.filter(|line| line.what == "notified"))
            .map(|line| (line.tid, waited.begin))
            .collect(),
        _ => (of_round.filter(|line| line.what == "held"))
            .filter(|line| line.begin < waited.end && line.end > waited.begin)
            .map(|line| (line.tid, line.begin.max(waited.begin)))
            .collect(),
    };
    known.sort_by_key(|(_, begin)| *begin);
    let by: Vec<i64> = found.by.iter().filter_map(|(tid, _, _)| *tid).collect();
    if by != known.iter().map(|(tid, _)| *tid).collect::<Vec<i64>>() {
        return wrong(format!("by {by:?}, not {known:?}"));
    }
    for (at, (_, ran, time)) in found.by.iter().enumerate().take(known.len()) {
        let expected = ["Locks::holder()", "Locks::rival()"][at];
        let until = known.get(at + 1).map_or(waited.end, |(_, begin)| *begin);
        if ran.as_deref() != Some(expected) || !is_near(*time, until - known[at].1) {
            return wrong(format!("{time} ns by {ran:?}, known {known:?}"));
        }
    }
    None
}

/// The machine may take a CPU away between the program's clock and its call, and so decide who waits: of ten waits one may be another than the
/// program meant.
#[test]
fn a_wait_for_a_lock_is_that_of_its_holder() {
    let place = Place::new();
    let arguments = [
        "record",
        "--locks",
        "--no-report",
        "-o",
        "trace",
        "--",
        locks(),
        "60",
        "7",
    ];
    let said = place.run(&arguments, 0).0;
    let lines = lines(&said);
    let waited: Vec<&Line> = lines.iter().filter(|line| line.what == "waited").collect();
    let model = model(&place);
    let found = explained(&model);
    assert_eq!((waited.len(), found.len()), (60, 60));
    let pairs = found.iter().zip(&waited);
    let wrong: Vec<String> = pairs
        .filter_map(|(found, waited)| judged(found, waited, &lines))
        .collect();
    assert!(wrong.len() <= 6, "{wrong:#?}");
    // The part that is told, and the same as JSON.
    let question = ["why", "trace", "--callback", "/locks · timer 20 ms"];
    place
        .run(&question, 0)
        .0
        .says_all(&["blocked: /locks", "which ran /locks"]);
    let answer = place.json(&question, 0);
    let parts = answer["parts"].as_array().unwrap();
    // Which of the waits is the worst one, for a lock or for a condition, is up to the machine.
    let waits = parts.iter().filter(|part| {
        part["cause"] == "waiting_for_lock" || part["cause"] == "waiting_for_condition"
    });
    let mut callbacks = waits.filter_map(|part| part["lock"]["by_callback"].as_str());
    assert!(callbacks.any(|it| it.contains("/locks")), "{answer:#}");
}

#[test]
fn without_the_option_there_is_nothing_of_locks() {
    let place = Place::new();
    place.run(
        &[
            "record",
            "--no-report",
            "-o",
            "trace",
            "--",
            locks(),
            "12",
            "7",
        ],
        0,
    );
    let model = model(&place);
    assert!(model.lock_waits.is_empty() && model.condition_notifications.is_empty());
    assert!(explained(&model).iter().all(|found| found.by.is_empty()));
    let output = place.command(&[
        "record",
        "--no-report",
        "-o",
        "maps",
        "--",
        "cat",
        "/proc/self/maps",
    ]);
    let output = { output }.output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("librostrace_locks"));
}

#[test]
fn locks_of_a_process_that_runs_already_are_recorded_if_it_was_started_for_that() {
    for (is_ready, option) in [(true, "--locks"), (false, "--locks"), (true, "")] {
        let place = Place::new();
        let mut words = vec!["run"];
        words.extend(is_ready.then_some("--locks"));
        words.extend(["--", locks(), "240", "3"]);
        let mut child = place.command(&words).spawn().unwrap();
        let _rest = wait_for_ready(&mut child);
        let mut words = vec![
            "record",
            "--attach",
            "--no-report",
            "-o",
            "trace",
            "--duration",
            "1s",
        ];
        words.extend((!option.is_empty()).then_some(option));
        let (_, err) = finished(place.command(&words).output().unwrap(), 0);
        let waits = model(&place).lock_waits.len();
        match (is_ready, option) {
            (true, "--locks") => assert!(waits > 0),
            (false, _) => err.says("`rostrace run --locks`"),
            _ => assert_eq!(waits, 0),
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
