//! `rostrace why --all`, as scripts and people meet it: rows add up in every format, the commands that it tells do what they say, and a report has the same
//! changes.

use std::process::Command;

use rostrace_testkit::opened_page::OpenedPage;
use serde_json::Value;

use crate::support::{
    Folder, Says, array, integer, json_of_any, recording, rostrace, shared, stderr_of, stdout_of,
    text,
};

const RECORDINGS: [&str; 5] = [
    "jazzy/executors_caret",
    "humble/executors",
    "jazzy/timers",
    "public/caret-cyclic-intra-galactic",
    "public/tracecompass-ros2-humble",
];

fn recordings() -> Vec<String> {
    let mut all = vec![recording("pingpong"), recording("lossy")];
    all.extend(RECORDINGS.iter().filter_map(|name| shared(name)));
    all
}

fn sum(rows: &[Value], field: &str) -> i64 {
    rows.iter().map(|row| integer(&row[field])).sum()
}

#[test]
fn rows_add_up_to_all_that_is_explained() {
    for trace in recordings() {
        for of in [
            vec![],
            vec!["--topic", "*"],
            vec!["--from", "*", "--to", "*"],
        ] {
            let question = [vec!["why", &trace, "--all"], of].concat();
            let mut command = rostrace(&[question.clone(), vec!["--format", "json"]].concat());
            let output = command.output().unwrap();
            if !matches!(output.status.code(), Some(0 | 3)) {
                // A recording of two nodes may have no such path.
                assert!(
                    !question.contains(&"--all") || question.len() > 3,
                    "{question:?}"
                );
                continue;
            }
            let all: Value = serde_json::from_slice(&output.stdout).unwrap();
            let rows = array(&all["rows"]);
            assert_eq!(
                sum(rows, "duration_ns"),
                integer(&all["duration_ns"]),
                "{question:?}"
            );
            assert_eq!(
                sum(rows, "weighted_ns"),
                integer(&all["lateness_ns"]),
                "{question:?}"
            );
            for row in rows {
                assert!(integer(&row["count"]) <= integer(&row["of"]), "{row}");
                assert!(integer(&row["late"]) <= integer(&row["count"]), "{row}");
                assert!(
                    text(&row["sentence"]).contains(text(&row["victim"])),
                    "{row}"
                );
            }
            for change in array(&all["changes"]) {
                let (gain, lateness) = (&change["gain_ns"], &change["lateness_ns"]);
                assert!(integer(gain) >= 1_000_000, "{change}");
                assert!(integer(gain) <= integer(lateness), "{change}");
            }
            let mut csv = rostrace(&[question.clone(), vec!["--format", "csv"]].concat());
            let csv = csv.output().unwrap().stdout;
            let lines = csv::Reader::from_reader(csv.as_slice())
                .into_records()
                .count();
            assert_eq!(lines, rows.len(), "{question:?}");
        }
    }
}

/// The words of a command for a shell, without the program.
fn answer(command: &str) -> Value {
    let program = assert_cmd::cargo::cargo_bin("rostrace");
    let folder = program.parent().unwrap();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&paths));
    let output = Command::new("sh")
        .args(["-c", &format!("{command} --format json")])
        .env("PATH", std::env::join_paths(paths).unwrap())
        .output()
        .unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{command}: {output:?}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_command_of_a_change_shows_its_worst_case() {
    for trace in recordings() {
        let all = json_of_any(&["why", &trace, "--all"]);
        for change in array(&all["changes"]) {
            let command = text(&change["command"]);
            let why = answer(command);
            assert_eq!(why["subject"], change["victims"][0], "{command}");
            let Some(culprit) = text(&change["action"]).strip_prefix("move ") else {
                continue;
            };
            let named = array(&why["parts"]).iter().any(|part| {
                part["callback"]
                    .as_str()
                    .is_some_and(|name| culprit.starts_with(name))
            });
            assert!(named, "{command}: {why}");
        }
    }
}

#[test]
fn a_report_begins_with_the_same_changes() {
    for trace in recordings() {
        let folder = Folder::new();
        let mut command = rostrace(&["report", &trace, "-o", &folder.at("report.html")]);
        assert!(matches!(
            command.output().unwrap().status.code(),
            Some(0 | 3)
        ));
        let html = folder.read("report.html");
        let overview = OpenedPage { html }.part("overview").data;
        let all = json_of_any(&["why", &trace, "--all"]);
        let reported = |change: &Value, other: &str| {
            let words = [text(&change["action"]), text(&change[other])];
            words.map(str::to_owned)
        };
        let shown = array(&overview["changes"]["list"]).iter();
        let shown = shown.filter(|change| !change["share"].is_null());
        let shown: Vec<_> = shown.map(|change| reported(change, "evidence")).collect();
        let expected = array(&all["changes"]).iter();
        let expected: Vec<_> = expected
            .map(|change| reported(change, "evidence"))
            .collect();
        assert_eq!(shown, expected, "{trace}");
        assert_eq!(overview["changes"]["late"], all["late"], "{trace}");
    }
}

#[test]
fn a_long_timer_is_in_the_way_of_a_short_one() {
    let Some(trace) = shared("jazzy/timers") else {
        return;
    };
    let shown = stdout_of(&["why", &trace, "--all"], 0);
    shown.says("What to change, the largest gain first");
    shown.says("move /slow_timers · timer 10 ms off the thread of /slow_timers · timer 5 ms: 99 % of its lateness");
    shown.says("Where the time went");
    let narrow = json_of_any(&[
        "why",
        &trace,
        "--all",
        "--callback",
        "/slow_timers · timer 5 ms",
    ]);
    let rows = array(&narrow["rows"]);
    assert!(
        rows.iter()
            .all(|row| row["victim"] == "/slow_timers · timer 5 ms")
    );
    assert_eq!(rows[0]["cause"], "other_callback");
    assert_eq!(rows[0]["relation"], "same thread");
    assert_eq!(rows[0]["culprit"]["node"], "/slow_timers");
    assert!(integer(&rows[0]["culprit"]["tid"]) > 0);
    let limited = json_of_any(&["why", &trace, "--all", "--limit", "2"]);
    assert_eq!(array(&limited["rows"]).len(), 2);
    let pingpong = recording("pingpong");
    let path = ["--from", "/pinger", "--to", "/pinger"];
    let nothing = stdout_of(
        &[vec!["why", &pingpong, "--all"], path.to_vec()].concat(),
        0,
    );
    nothing.says("nothing stands out");
}

#[test]
fn what_only_all_can_do_needs_it() {
    let trace = recording("pingpong");
    stderr_of(&["why", &trace, "--format", "csv"], 2).says("--all");
    stderr_of(&["why", &trace, "--limit", "3"], 2).says("--all");
    stderr_of(&["why", &trace, "--all", "--rank", "2"], 2).says("--rank");
}
