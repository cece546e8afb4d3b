//! `rostrace check` at its boundary.

use crate::support::{
    Folder, Says, array, assert_expected, finished, json, recording, rostrace, spawn, stderr_of,
    stdout_of, text,
};

/// A budget file, beside which there is room for others.
struct File {
    folder: Folder,
    path: String,
}

impl File {
    fn new(text: &str) -> File {
        let folder = Folder::new();
        let path = folder.write("budgets.yaml", text);
        File { folder, path }
    }
}

const BUDGETS: &str = "\
budgets:
  - callback: /ponger
    trigger: /ping
    duration: { p99: 1ms, max: 50ms }
  - topic: /ping
    rate: { min: 95Hz, max: 105Hz }
    drops: { max: 0 }
    latency: { p99.9: 1ms }
  - path: { from: /pinger, to: /pong }
    latency: { max: 300ms }
  - callback: /pinger *
    trigger: timer*
    duration: { max: 1ms }
    allowed: { ratio: 20%, run: 5 }
  - topic: /pingg
    rate: { min: 1Hz }
  - topic: /later
    rate: { min: 1Hz }
    optional: true
";

#[test]
fn broken_budgets_come_first_with_what_was_measured() {
    let file = File::new(BUDGETS);
    let shown = stdout_of(&["check", &file.path, &recording("pingpong")], 4);
    assert_expected("check/pingpong.txt", &shown);
}

#[test]
fn json_and_csv_say_the_same() {
    let file = File::new(BUDGETS);
    let pingpong = recording("pingpong");
    let rows = json(&["check", &file.path, &pingpong], 4);
    let rows = array(&rows);
    let verdicts: Vec<&str> = rows.iter().map(|row| text(&row["verdict"])).collect();
    assert_eq!(verdicts[..3], ["broken", "broken", "nothing"]);
    assert_eq!(verdicts.iter().filter(|it| **it == "skipped").count(), 1);
    assert_eq!(rows[0]["limit"], 1_000_000);
    assert_eq!(rows[0]["unit"], "nanoseconds");
    assert_eq!(rows[0]["line"], 4);
    assert!(rows[0]["measured"].as_i64().unwrap() > 1_000_000);
    let csv = stdout_of(&["check", &file.path, &pingpong, "--format", "csv"], 4);
    assert_eq!(csv.lines().count(), rows.len() + 1);
}

#[test]
fn junit_and_annotations_name_the_line() {
    let file = File::new(BUDGETS);
    let xml = file.folder.at("check.xml");
    let pingpong = recording("pingpong");
    let mut command = rostrace(&["check", &file.path, &pingpong, "--junit", &xml]);
    let (_, reported) = finished(command.env("GITHUB_ACTIONS", "true"), 4);
    let first = reported.lines().next().unwrap();
    assert!(first.starts_with("::error file="), "{reported}");
    assert!(first.contains(",line=4,col=17,"), "{reported}");
    let xml = file.folder.read("check.xml");
    xml.says("tests=\"10\" failures=\"3\" errors=\"0\" skipped=\"1\"");
    // Elsewhere nobody asked for annotations.
    let mut command = rostrace(&["check", &file.path, &pingpong]);
    let (_, reported) = finished(command.env_remove("GITHUB_ACTIONS"), 4);
    assert_eq!(reported, "");
}

#[test]
fn a_good_run_keeps_the_budgets_that_are_made_from_it() {
    let file = File::new("");
    let made = &file.folder.at("made.yaml");
    let pingpong = recording("pingpong");
    stdout_of(&["check", "--init", &pingpong, "-o", made], 0);
    assert_expected("check/init.yaml", &file.folder.read("made.yaml"));
    let shown = stdout_of(&["check", made, &pingpong], 0);
    assert_eq!(shown, "18 limits checked: 0 broken, 18 kept\n");
    let all = stdout_of(&["check", made, &pingpong, "--all"], 0);
    assert_eq!(all.lines().count(), 20);
    // What somebody may have edited is not overwritten.
    let reported = stderr_of(&["check", "--init", &pingpong, "-o", made], 1);
    reported.says("exists already");
}

#[test]
fn lost_data_is_reported_and_is_no_broken_budget() {
    let file = File::new(
        "budgets:\n  - callback: /w0/n0\n    trigger: timer*\n    duration: { max: 10s }\n    lateness: { max: 10s }\n",
    );
    let shown = stdout_of(&["check", &file.path, &recording("lossy")], 3);
    assert!(shown.starts_with("43,809 events were lost"), "{shown}");
    shown.says("touched by lost events");
}

#[test]
fn mistakes_in_the_file_are_reported_with_line_and_column() {
    let file =
        File::new("budgets:\n  - topic: /ping\n    rates: { min: 1Hz }\n    drops: { max: 1ms }\n");
    let reported = stderr_of(&["check", &file.path, &recording("pingpong")], 1);
    let reported = reported.replace(&file.path, "FILE");
    assert_eq!(
        reported,
        "rostrace: FILE: line 3, column 5: a budget of a topic has no key `rates`; do you mean `rate`?\n\
         rostrace: FILE: line 4, column 19: `1ms` must be a number or a share, such as 0 or 1%\n\
         rostrace: FILE: not a budget file; 2 problems to mend, and nothing was checked\n"
    );
}

#[test]
fn wrong_usage_is_reported() {
    let pingpong = recording("pingpong");
    stderr_of(&["check", &pingpong], 2).says("--init makes a budget file");
    stderr_of(&["check", &pingpong, &pingpong], 2).says("the budget file comes first");
    stderr_of("check", 2);
    stderr_of(&["check", "--init", &pingpong, "--junit", "x.xml"], 2);
}

#[test]
fn a_path_of_an_architecture_file_needs_that_file() {
    let file = File::new("budgets:\n  - path: round_trip\n    response_time: { max: 1s }\n");
    let shown = stdout_of(&["check", &file.path, &recording("pingpong")], 4);
    shown.says("--architecture says which");
}

#[test]
fn a_path_of_an_architecture_file_is_judged_by_what_paths_shows() {
    let file = File::new(
        "budgets:\n  - path: round_trip\n    latency: { p99: 1ms }\n    response_time: { max: 1s }\n  - path: round_trp\n    latency: { max: 1s }\n",
    );
    let pingpong = recording("pingpong");
    let architecture = file.folder.at("architecture.yaml");
    stdout_of(
        &format!("architecture create {pingpong} -o {architecture}"),
        0,
    );
    let add = format!("architecture add-path {architecture} round_trip");
    stdout_of(&format!("{add} /pinger /ponger /pinger"), 0);
    let with_file = ["--architecture", &architecture];
    let judged = json(
        &[&["check", &file.path, &pingpong], &with_file[..]].concat(),
        4,
    );
    let shown = json(&[&["paths", &pingpong], &with_file[..]].concat(), 0);
    assert_eq!(judged[0]["verdict"], "broken");
    assert_eq!(judged[0]["measured"], shown[0]["latency_ns"]["p99"]);
    assert_eq!(judged[1]["verdict"], "nothing");
    let note = text(&judged[1]["notes"][0]);
    assert!(note.ends_with("do you mean `round_trip`?"), "{note}");
    assert_eq!(judged[2]["verdict"], "kept");
}

#[test]
fn a_reader_that_goes_away_does_not_make_a_broken_budget_a_kept_one() {
    let file = File::new(BUDGETS);
    for format in ["table", "json", "csv"] {
        let pingpong = recording("pingpong");
        let arguments = ["check", &file.path, &pingpong, "--format", format];
        let mut check = spawn(&arguments);
        drop(check.stdout.take());
        assert_eq!(check.wait().unwrap().code(), Some(4), "{format}");
    }
}
