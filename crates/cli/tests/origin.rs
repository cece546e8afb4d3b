//! One origin of time: `+1.5s` is the same instant in every verb, page and file, whatever is skipped.

use std::collections::HashSet;

use rostrace_analyze::Analysis;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_report::served::{Options, Query, ServedTimeline};
use serde_json::Value;

use crate::support::{Folder, array, dump, integer, json, recording, shared, stdout_of, text};
use rostrace_testkit::opened_page::OpenedPage;

/// What is left out must not move the origin.
const SKIPPED: &[&[&str]] = &[&[], &["--skip-start", "700ms"]];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

/// `… (+33.468340 s) …`, in nanoseconds.
fn printed(text: &str) -> i64 {
    let (_, after) = text.split_once("(+").unwrap_or_else(|| panic!("{text}"));
    let (seconds, _) = after.split_once(" s)").unwrap();
    let (whole, micros) = seconds.split_once('.').unwrap();
    assert_eq!(micros.len(), 6, "{seconds}");
    (whole.parse::<i64>().unwrap() * 1_000_000 + micros.parse::<i64>().unwrap()) * 1000
}

fn recordings() -> Vec<String> {
    let names = ["jazzy/chain_caret", "humble/executors", "jazzy/late"];
    let shared = names.into_iter().filter_map(shared);
    std::iter::once(recording("pingpong"))
        .chain(shared)
        .collect()
}

/// When the recording began, as `info` says it.
fn begin_of(trace: &str) -> i64 {
    integer(&json(&["info", trace], 0)["begin_ns"])
}

#[test]
fn dump_and_cut_count_from_where_info_says_that_it_begins() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        let times = |trace: &str, options: &[&str]| -> Vec<i64> {
            let events = dump(trace, options, 0);
            events
                .iter()
                .map(|event| integer(&event["time_ns"]))
                .collect()
        };
        let all = times(&trace, &[]);
        let between = |from: i64, to: i64| -> Vec<i64> {
            let range = begin + from..=begin + to;
            all.iter()
                .copied()
                .filter(|time| range.contains(time))
                .collect()
        };
        let range = ["--since", "+4s", "--until", "+4.3s"];
        let expected = between(4_000_000_000, 4_300_000_000);
        assert!(!expected.is_empty(), "{trace}");
        assert_eq!(times(&trace, &range), expected, "{trace}");
        let folder = Folder::new();
        let part = folder.at("part");
        stdout_of(&with(&["cut", &trace, "-o", &part], &range), 0);
        // What was kept of before does not count: times in a cut are those since its own begin.
        assert_eq!(begin_of(&part), begin + 4_000_000_000, "{trace}");
        let found = times(&part, &["--since", "+0.1s", "--until", "+0.2s"]);
        assert_eq!(found, between(4_100_000_000, 4_200_000_000), "{trace}");
    }
}

#[test]
fn what_latency_and_why_print_is_what_why_understands() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        for skipped in SKIPPED {
            let paths = json(&with(&["latency", &trace], skipped), 0);
            let Some(path) = array(&paths).first() else {
                continue;
            };
            let worst = integer(&path["latency_ns"]["worst_at_ns"]);
            let shown = stdout_of(&with(&["latency", &trace], skipped), 0);
            let after = printed(&shown);
            assert_eq!(after, (worst - begin) / 1000 * 1000, "{trace} {skipped:?}");
        }
        let callbacks = json(&["callbacks", &trace], 0);
        let timers = array(&callbacks)
            .iter()
            .filter(|row| row["kind"] == "timer");
        let Some(timer) = timers.max_by_key(|row| row["count"].as_u64()) else {
            continue;
        };
        let name = text(&timer["name"]);
        let worst = ["why", &trace, "--callback", name];
        for skipped in SKIPPED {
            let found = json(&with(&worst, skipped), 0);
            let (first, last) = (integer(&found["begin_ns"]), integer(&found["end_ns"]));
            let shown = stdout_of(&with(&worst, skipped), 0);
            let after = printed(&shown);
            assert_eq!(after, (first - begin) / 1000 * 1000, "{trace} {skipped:?}");
            // A time in the middle of it, with and without the space that is printed.
            let middle = (first - begin + (last - first) / 2) as f64 / 1e9;
            for at in [format!("+{middle:.9}s"), format!("+{middle:.9} s")] {
                let again = json(&with(&with(&worst, &["--at", &at]), skipped), 0);
                assert_eq!(again["begin_ns"], found["begin_ns"], "{trace} {at}");
            }
        }
    }
}

#[test]
fn pages_and_files_count_from_there_too() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        for skipped in SKIPPED {
            let folder = Folder::new();
            let report = ["report", &trace, "-o", &folder.at("report.html")];
            stdout_of(&with(&report, skipped), 0);
            let html = folder.read("report.html");
            let page = OpenedPage { html };
            let overview = page.part("overview").data;
            assert_eq!(overview["begin_ns"], begin.to_string(), "{trace}");
            let from = if skipped.is_empty() { 0 } else { 700_000_000 };
            assert_eq!(overview["from"], from, "{trace}");
            // The worst execution of each callback, on the page and in the table.
            let starts = starts_of(&trace, skipped);
            let callbacks = page.part("callbacks").data;
            let mut compared = 0;
            for callback in array(&callbacks["callbacks"]) {
                for worst in array(&callback["worst"]) {
                    let start = begin + integer(&worst["start"]);
                    assert!(starts.contains(&start), "{trace}: {worst}");
                    compared += 1;
                }
            }
            // A recording that began late has no names.
            assert!(compared > 0 || trace.ends_with("late"), "{trace}");
            let chrome = timeline(&trace, "chrome", skipped);
            let chrome: Value = serde_json::from_slice(&chrome).unwrap();
            let mut found = HashSet::new();
            for event in array(&chrome["traceEvents"]) {
                let is_callback = event["cat"]
                    .as_str()
                    .is_some_and(|it| it.contains("callback"));
                if event["ph"] == "X" && is_callback {
                    found.insert(begin + (event["ts"].as_f64().unwrap() * 1000.0).round() as i64);
                }
            }
            assert_most(&starts, &found, &trace);
        }
    }
}

/// A file need not have all of them.
fn assert_most(starts: &HashSet<i64>, found: &HashSet<i64>, trace: &str) {
    let reported = starts.intersection(found).count();
    let all = starts.len();
    assert!(reported * 2 > all, "{trace}: {reported} of {all}");
}

#[test]
fn the_served_timeline_counts_from_there_whatever_it_shows() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        let set = TraceSet::open(&[&trace]).unwrap();
        let model = Model::load(&set, &mut |_| true);
        assert_eq!(model.begin, Some(Nanos(begin)), "{trace}");
        for skipped in [0, 700_000_000] {
            let analysis = Analysis::new(&model, Nanos(begin + skipped)..=Nanos(i64::MAX));
            let options = Options {
                title: String::new(),
                at: Some(Nanos(begin + 1_000_000_000)),
                losses: Vec::new(),
                selection: Default::default(),
            };
            let timeline = ServedTimeline::new(&analysis, options);
            let answer = timeline.answer("trace", &Query::parse("")).unwrap();
            let description: Value = serde_json::from_slice(&answer.body).unwrap();
            assert_eq!(description["begin_ns"], begin.to_string());
            assert_eq!(description["from_ns"], skipped);
            assert_eq!(description["at"]["time"], 1_000_000_000);
        }
    }
}

/// When callbacks of a recording began, as `export` writes it.
fn starts_of(trace: &str, skipped: &[&str]) -> HashSet<i64> {
    let folder = Folder::new();
    let what = ["--tables", "callback_instances", "--format", "json"];
    let export = with(&["export", trace, "-o", folder.here()], &what);
    stdout_of(&with(&export, skipped), 0);
    let table = folder.read("callback_instances.json");
    let table: Vec<Value> = serde_json::from_str(&table).unwrap();
    table.iter().map(|row| integer(&row["start_ns"])).collect()
}

fn timeline(trace: &str, format: &str, skipped: &[&str]) -> Vec<u8> {
    let folder = Folder::new();
    let file = folder.at("timeline");
    let asked = ["timeline", trace, "--format", format, "-o", &file];
    stdout_of(&with(&asked, skipped), 0);
    std::fs::read(file).unwrap()
}

#[test]
fn a_profile_for_firefox_begins_there() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        for skipped in SKIPPED {
            let starts = starts_of(&trace, skipped);
            let profile = timeline(&trace, "firefox", skipped);
            let profile: Value = serde_json::from_slice(&profile).unwrap();
            let zero = profile["meta"]["startTime"].as_f64().unwrap();
            assert!((zero - begin as f64 / 1e6).abs() < 0.001, "{trace}");
            let mut found = HashSet::new();
            for thread in array(&profile["threads"]) {
                for at in array(&thread["markers"]["startTime"]) {
                    found.extend(at.as_f64().map(|at| begin + (at * 1e6).round() as i64));
                }
            }
            assert_most(&starts, &found, &trace);
        }
    }
}

/// The fields of a message of Protobuf: numbers, and messages or texts as they are.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn number(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes);
        let (value, length) = match key & 7 {
            0 => (number(&mut bytes), 0),
            1 => (0, 8),
            2 => (0, number(&mut bytes) as usize),
            5 => (0, 4),
            other => panic!("type {other}"),
        };
        let (content, rest) = bytes.split_at(length);
        bytes = rest;
        found.push((key >> 3, value, content));
    }
    found
}

#[test]
fn a_trace_for_perfetto_begins_there() {
    const PACKET: u64 = 1;
    const CLOCK_SNAPSHOT: u64 = 6;
    const TIMESTAMP: u64 = 8;
    for trace in recordings() {
        let begin = begin_of(&trace);
        for skipped in SKIPPED {
            let starts = starts_of(&trace, skipped);
            let written = timeline(&trace, "perfetto", skipped);
            let mut found = HashSet::new();
            let mut clocks = Vec::new();
            for (_, _, packet) in fields(&written).iter().filter(|it| it.0 == PACKET) {
                for (field, value, content) in fields(packet) {
                    match field {
                        TIMESTAMP => {
                            found.insert(value as i64);
                        }
                        CLOCK_SNAPSHOT => {
                            let readings = fields(content).into_iter().filter(|it| it.0 == 1);
                            let readings = readings.flat_map(|it| fields(it.2));
                            let readings = readings.filter(|it| it.0 == 2);
                            clocks.extend(readings.map(|it| it.1 as i64));
                        }
                        _ => {}
                    }
                }
            }
            assert!(!clocks.is_empty(), "{trace}");
            assert!(clocks.iter().all(|at| *at == begin), "{trace} {clocks:?}");
            assert_most(&starts, &found, &trace);
        }
    }
}

#[test]
fn what_check_says_was_worst_is_what_why_understands() {
    let folder = Folder::new();
    for trace in recordings() {
        let begin = begin_of(&trace);
        let callbacks = json(&["callbacks", &trace], 0);
        let mut callbacks = array(&callbacks).iter();
        let named = |row: &&Value| row["kind"] == "timer" && row["built_in"] == false;
        let Some(name) = callbacks.find(named).and_then(|row| row["name"].as_str()) else {
            continue;
        };
        let text = format!("budgets:\n  - callback: '{name}'\n    duration: {{ max: 1us }}\n");
        let budgets = folder.write("budgets.yaml", text);
        let check = ["check", &budgets, &trace];
        for skipped in SKIPPED {
            let asked = with(&check, skipped);
            let worst = integer(&json(&asked, 4)[0]["worst_at_ns"]);
            assert!(starts_of(&trace, skipped).contains(&worst), "{trace}");
            let shown = stdout_of(&with(&asked, &["--columns", "what,worst at"]), 4);
            assert_eq!(printed(&shown), (worst - begin) / 1000 * 1000, "{trace}");
            let after = format!("+{:.9}s", (worst - begin) as f64 / 1e9);
            let why = ["why", &trace, "--callback", name, "--at", &after];
            let found = json(&with(&why, skipped), 0);
            let instance = integer(&found["begin_ns"])..=integer(&found["end_ns"]);
            assert!(instance.contains(&worst), "{trace}: {worst} {instance:?}");
        }
    }
}

#[test]
fn both_sides_of_a_comparison_count_from_where_they_begin() {
    let range = ["--since", "+3s", "--until", "+4.5s"];
    for trace in recordings() {
        let callbacks = json(&with(&["callbacks", &trace], &range), 0);
        let asked = with(&["compare", &trace, &trace], &range);
        let columns = ["--columns", "name,kind,metric,base_values"];
        let lines = json(&with(&asked, &columns), 0);
        let mut compared = 0;
        for line in array(&lines) {
            if line["kind"] != "callback" || line["metric"] != "duration" {
                continue;
            }
            let mut rows = array(&callbacks).iter();
            let row = rows.find(|row| row["name"] == line["name"]).unwrap();
            assert_eq!(line["base_values"], row["count"], "{trace}: {line}");
            compared += 1;
        }
        assert!(compared > 0 || trace.ends_with("late"), "{trace}");
    }
}
