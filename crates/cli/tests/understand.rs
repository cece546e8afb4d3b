//! `rostrace latency` and `rostrace why` at their boundary.

use serde_json::Value;

use crate::support::{Says, array, json, recording, shared, stderr_of, stdout_of, text};
use crate::why_everywhere::adds_up;

/// The cells of a printed table: columns are parted by two spaces or more.
fn cells(line: &str) -> Vec<&str> {
    let cells = line.split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn the_way_of_a_message_is_found_without_a_word() {
    let shown = stdout_of(&["latency", &recording("pingpong")], 0);
    assert!(shown.starts_with("/pinger → /ping → /ponger → /pong → /pinger\n"));
    let first = shown
        .lines()
        .map(cells)
        .filter_map(|line| line.first().copied());
    let first: Vec<&str> = first.skip(2).take(4).collect();
    assert_eq!(first, ["/ping", "/ponger", "/pong", "end to end"]);
    shown.says("301 of 301 messages came through");
}

#[test]
fn the_means_of_the_stages_are_that_of_the_path() {
    let paths = json(&["latency", &recording("pingpong")], 0);
    let path = &paths[0];
    let mean = |value: &Value| value["mean"].as_f64().unwrap();
    let mut sum = 0.0;
    for hop in array(&path["hops"]) {
        let stages = hop["stages_ns"].as_object().unwrap().values().map(mean);
        let communication = mean(&hop["communication_ns"]);
        assert!((stages.sum::<f64>() - communication).abs() < 0.01);
        sum += communication + hop["node_ns"]["mean"].as_f64().unwrap_or(0.0);
    }
    assert!((sum - mean(&path["latency_ns"])).abs() < 0.01, "{path}");
    assert_eq!(path["flows"], 301);
    assert_eq!(path["latency_ns"]["count"], 301);
}

#[test]
fn ends_and_times_share_their_options() {
    let pingpong = recording("pingpong");
    let latency = |options: &str| json(&format!("latency {pingpong} {options}"), 0);
    assert_eq!(
        latency("--to /ping")[0]["path"],
        "/pinger → /ping → /ponger"
    );
    assert_eq!(
        latency("--from /pong*")[0]["path"],
        "/ponger → /pong → /pinger"
    );
    let limited = latency("--to /ping --since +3s --until +4s");
    let flows = limited[0]["flows"].as_u64().unwrap();
    assert!((90..=110).contains(&flows), "{flows}");
    let longer = latency("--include-first-callback --include-last-callback");
    let mean = |paths: &Value| paths[0]["latency_ns"]["mean"].as_f64().unwrap();
    assert!(mean(&longer) > mean(&latency("")));
}

#[test]
fn csv_has_a_line_for_each_stage_and_one_for_the_path() {
    let shown = stdout_of(&["latency", &recording("pingpong"), "--format", "csv"], 0);
    let lines = shown.lines().map(|line| line.split(',').collect());
    let lines: Vec<Vec<&str>> = lines.collect();
    assert!(lines.iter().all(|line| line.len() == 18));
    assert_eq!(lines[0][..4], ["path", "stage", "kind", "name"]);
    let kinds: Vec<&str> = lines[1..].iter().map(|line| line[2]).collect();
    assert_eq!(kinds, ["communication", "node", "communication", "path"]);
}

#[test]
fn lost_events_are_reported_and_end_with_3() {
    let lossy = recording("lossy");
    for verb in ["latency", "why"] {
        let shown = stdout_of(&[verb, &lossy], 3);
        assert!(shown.starts_with("43,809 events were lost"), "{shown}");
    }
    let note = stderr_of(&["latency", &lossy, "--format", "json"], 3);
    note.says("events were lost");
}

#[test]
fn what_is_explained_adds_up_whatever_it_is() {
    let pingpong = recording("pingpong");
    for (question, kind) in [
        ("", "callback"),
        ("--callback /pinger*timer*", "callback"),
        ("--topic /ping --node /ponger", "communication"),
        ("--topic /ping --at +3s", "communication"),
        ("--to /pinger", "path"),
        ("--rank 5", "callback"),
    ] {
        let explained = json(&format!("why {pingpong} {question}"), 0);
        assert_eq!(explained["kind"], kind, "{question}");
        adds_up(&explained, question);
    }
}

#[test]
fn the_worst_comes_first_and_the_others_by_rank() {
    let pingpong = recording("pingpong");
    let total = |rank: &str| {
        let arguments = ["why", &pingpong, "--topic", "/ping", "--rank", rank];
        json(&arguments, 0)["total_ns"].as_i64().unwrap()
    };
    let worst = total("1");
    assert!(worst >= total("2") && total("2") >= total("3"));
    let paths = json(&["latency", &pingpong, "--to", "/ping"], 0);
    assert_eq!(paths[0]["latency_ns"]["max"].as_i64(), Some(worst));
}

#[test]
fn parts_are_listed_in_the_order_of_time() {
    let pingpong = recording("pingpong");
    let shown = stdout_of(&["why", &pingpong, "--topic", "/ping", "--parts"], 0);
    let (table, parts) = shown.split_once("\n\n").unwrap();
    assert!(table.starts_with("/pinger → /ping → /ponger\n"), "{table}");
    table.says("total");
    assert_eq!(cells(parts.lines().next().unwrap()), ["after", "time"]);
    parts.says("publishing");
}

#[test]
fn nonsense_is_answered_with_a_sentence() {
    let pingpong = recording("pingpong");
    for (question, status, sentence) in [
        (
            "latency --to banana",
            2,
            "no topic of this trace is named `banana`",
        ),
        (
            "latency --from /pnig",
            2,
            "no node and no topic of this trace is named `/pnig`",
        ),
        ("latency --from /pnig", 2, "/ping"),
        ("latency --from /pong --to /ping", 0, "without a break"),
        (
            "latency --since +1s --since +2s",
            2,
            "cannot be used multiple times",
        ),
        ("latency --limit many", 2, "invalid value"),
        (
            "why --callback nonsense",
            2,
            "no callback and no node of this trace is named",
        ),
        (
            "why --topic /nonsense",
            2,
            "--topic: no topic of this trace is named `/nonsense`",
        ),
        ("why --rank 0", 2, "0 is not in 1"),
        (
            "why --rank 99999",
            1,
            "--rank 99999: there are only 301 executions to choose from",
        ),
        (
            "why --callback /pongr",
            2,
            "is named `/pongr`; similar: /ponger",
        ),
        (
            "why --node /nonsense",
            2,
            "--node: no node of this trace is named `/nonsense`",
        ),
        ("why --at +1s --rank 2", 2, "cannot be used with"),
        (
            "why --to /ping --callback /ponger",
            2,
            "cannot be used together",
        ),
        (
            "why --from /nowhere",
            2,
            "--from: no node and no topic of this trace is named `/nowhere`",
        ),
        (
            "why --from /pingr --to /ponger",
            2,
            "is named `/pingr`; similar: ",
        ),
    ] {
        stderr_of(&format!("{question} {pingpong}"), status).says(sentence);
    }
    stderr_of("why /no/such/trace", 1);
}

/// A recording, and an architecture file that names paths of it.
fn chain() -> Option<(String, String)> {
    let trace = shared("jazzy/chain_caret")?;
    let file = format!("{trace}/expected/edited_architecture.yaml");
    Some((trace, file))
}

#[test]
fn a_path_that_a_file_names_is_explained_like_an_observed_one() {
    let Some((trace, file)) = chain() else { return };
    let why = ["why", &trace, "--architecture", &file];
    let paths = json(&["paths", &trace, "--architecture", &file], 0);
    let paths = array(&paths);
    let latency = |path: &Value| path["latency_ns"]["max"].as_i64();
    let slowest = paths.iter().filter_map(latency).max().unwrap();
    let explained = json(&why, 0);
    adds_up(&explained, "the worst");
    assert_eq!(explained["kind"], "path");
    assert_eq!(explained["total_ns"], slowest);
    let mut stored = 0;
    for path in paths.iter().filter(|path| latency(path).is_some()) {
        let name = text(&path["name"]);
        let asked = [&why[..], &["--path", name]].concat();
        let explained = json(&asked, 0);
        adds_up(&explained, name);
        assert_eq!(explained["subject"], path["path"]);
        assert_eq!(explained["total_ns"].as_i64(), latency(path), "{name}");
        let parts = array(&explained["parts"]).iter();
        stored += parts.filter(|part| part["cause"] == "stored").count();
        let second = json(&[&asked[..], &["--rank", "2"]].concat(), 0);
        assert!(second["total_ns"].as_i64() <= latency(path));
    }
    // A timer of this recording publishes what it was sent.
    assert!(stored > 0);
}

#[test]
fn a_path_that_a_file_does_not_name_is_reported() {
    let Some((trace, file)) = chain() else { return };
    for (choice, sentence) in [
        (
            "--path nowhere",
            "no path of this file is named `nowhere`; it names",
        ),
        (
            "--from /nowhere",
            "no node and no topic of this trace or of the file is named `/nowhere`",
        ),
        (
            "--node /nowhere",
            "no node of this trace is named `/nowhere`",
        ),
    ] {
        let why = format!("why {trace} --architecture {file} {choice}");
        stderr_of(&why, 2).says(sentence);
    }
}

#[test]
fn ends_that_nothing_connects_are_not_called_a_broken_flow() {
    let lifecycle = recording("lifecycle_caret");
    let said = stderr_of(
        &format!("latency {lifecycle} --from /listener --to /talker"),
        0,
    );
    said.says("no topics were found that lead from what --from names");
}
