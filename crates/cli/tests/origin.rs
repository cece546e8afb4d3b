//! One origin of time: `+1.5s` is the same instant in every verb, page and file, whatever is skipped.

use rostrace_analyze::Analysis;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_report::served::{Options, Query, ServedTimeline};
use serde_json::Value;

use crate::support::{json_lines, recording, shared_recordings, stdout_of};
use rostrace_testkit::opened_page::OpenedPage;

/// What is left out must not move the origin.
const SKIPPED: &[&[&str]] = &[&[], &["--skip-start", "700ms"]];

fn json(arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    serde_json::from_str(&stdout_of(&all, 0)).unwrap()
}

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
    let mut all = vec![recording("pingpong")];
    if let Some(folder) = shared_recordings() {
        let names = ["jazzy/chain_caret", "humble/executors", "jazzy/late"];
        all.extend(names.map(|name| folder.join(name).to_str().unwrap().to_owned()));
    }
    all
}

/// When the recording began, as `info` says it.
fn begin_of(trace: &str) -> i64 {
    json(&["info", trace])["begin_ns"].as_i64().unwrap()
}

#[test]
fn dump_and_cut_count_from_where_info_says_that_it_begins() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        let times = |arguments: &[&str]| -> Vec<i64> {
            let all = with(&["dump", "--format", "json"], arguments);
            let rows = json_lines(&stdout_of(&all, 0));
            rows.iter()
                .map(|row| row["time_ns"].as_i64().unwrap())
                .collect()
        };
        let all = times(&[&trace]);
        let range = begin + 4_000_000_000..=begin + 4_300_000_000;
        let mut expected = all.clone();
        expected.retain(|time| range.contains(time));
        assert!(!expected.is_empty(), "{trace}");
        assert_eq!(
            times(&[&trace, "--since", "+4s", "--until", "+4.3s"]),
            expected,
            "{trace}"
        );
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("part");
        let part = part.to_str().unwrap();
        stdout_of(
            &[
                "cut", &trace, "-o", part, "--since", "+4s", "--until", "+4.3s",
            ],
            0,
        );
        // What was kept of before does not count: times in a cut are those since its own begin.
        assert_eq!(begin_of(part), begin + 4_000_000_000, "{trace}");
        let expected: Vec<i64> = (all.into_iter())
            .filter(|time| (begin + 4_100_000_000..=begin + 4_200_000_000).contains(time))
            .collect();
        assert_eq!(
            times(&[part, "--since", "+0.1s", "--until", "+0.2s"]),
            expected,
            "{trace}"
        );
    }
}

#[test]
fn what_latency_and_why_print_is_what_why_understands() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        for skipped in SKIPPED {
            let Some(path) = json(&with(&["latency", &trace], skipped))
                .as_array()
                .and_then(|paths| paths.first().cloned())
            else {
                continue;
            };
            let worst = path["latency_ns"]["worst_at_ns"].as_i64().unwrap();
            let shown = stdout_of(&with(&["latency", &trace], skipped), 0);
            let after = printed(&shown);
            assert_eq!(after, (worst - begin) / 1000 * 1000, "{trace} {skipped:?}");
        }
        let callbacks = json(&["callbacks", &trace]);
        let busiest = callbacks.as_array().unwrap().iter();
        let Some(timer) = busiest
            .filter(|row| row["kind"] == "timer")
            .max_by_key(|row| row["count"].as_u64())
        else {
            continue;
        };
        let name = timer["name"].as_str().unwrap();
        let worst = ["why", &trace, "--callback", name];
        for skipped in SKIPPED {
            let found = json(&with(&worst, skipped));
            let (first, last) = (
                found["begin_ns"].as_i64().unwrap(),
                found["end_ns"].as_i64().unwrap(),
            );
            let shown = stdout_of(&with(&worst, skipped), 0);
            let after = printed(&shown);
            assert_eq!(after, (first - begin) / 1000 * 1000, "{trace} {skipped:?}");
            // A time in the middle of it, with and without the space that is printed.
            let middle = (first - begin + (last - first) / 2) as f64 / 1e9;
            for at in [format!("+{middle:.9}s"), format!("+{middle:.9} s")] {
                let again = json(&with(&with(&worst, &["--at", &at]), skipped));
                assert_eq!(again["begin_ns"], found["begin_ns"], "{trace} {at}");
            }
        }
    }
}

#[test]
fn pages_and_files_count_from_there_too() {
    for trace in recordings() {
        let begin = begin_of(&trace);
        let folder = tempfile::tempdir().unwrap();
        for (number, skipped) in SKIPPED.iter().enumerate() {
            let page = folder.path().join(format!("{number}.html"));
            stdout_of(
                &with(&["report", &trace, "-o", page.to_str().unwrap()], skipped),
                0,
            );
            let page = OpenedPage {
                html: std::fs::read_to_string(page).unwrap(),
            };
            let overview = page.part("overview").data;
            assert_eq!(overview["begin_ns"], begin.to_string(), "{trace}");
            let skips = !skipped.is_empty();
            assert_eq!(
                overview["from"],
                if skips { 700_000_000 } else { 0 },
                "{trace}"
            );
            // The worst execution of each callback, on the page and in the table.
            let tables = folder.path().join(format!("{number}.tables"));
            let what = ["--tables", "callback_instances", "--format", "json"];
            let export = ["export", &trace, "-o", tables.to_str().unwrap()];
            stdout_of(&with(&with(&export, &what), skipped), 0);
            let table = std::fs::read(tables.join("callback_instances.json")).unwrap();
            let table: Vec<Value> = serde_json::from_slice(&table).unwrap();
            let starts: std::collections::HashSet<i64> = (table.iter())
                .map(|row| row["start_ns"].as_i64().unwrap())
                .collect();
            let callbacks = page.part("callbacks").data;
            let mut compared = 0;
            for callback in callbacks["callbacks"].as_array().unwrap() {
                for worst in callback["worst"].as_array().unwrap() {
                    let start = begin + worst["start"].as_i64().unwrap();
                    assert!(starts.contains(&start), "{trace}: {worst}");
                    compared += 1;
                }
            }
            // A recording that began late has no names.
            assert!(compared > 0 || trace.ends_with("late"), "{trace}");
            let chrome = folder.path().join(format!("{number}.json"));
            stdout_of(
                &with(
                    &[
                        "timeline",
                        &trace,
                        "--format",
                        "chrome",
                        "-o",
                        chrome.to_str().unwrap(),
                    ],
                    skipped,
                ),
                0,
            );
            let chrome: Value =
                serde_json::from_str(&std::fs::read_to_string(chrome).unwrap()).unwrap();
            let mut told = 0;
            for event in chrome["traceEvents"].as_array().unwrap() {
                if event["ph"] == "X"
                    && event["cat"]
                        .as_str()
                        .is_some_and(|it| it.contains("callback"))
                {
                    let after = (event["ts"].as_f64().unwrap() * 1000.0).round() as i64;
                    told += usize::from(starts.contains(&(begin + after)));
                }
            }
            assert!(
                told * 2 > starts.len(),
                "{trace}: {told} of {}",
                starts.len()
            );
        }
    }
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
fn starts_of(trace: &str, skipped: &[&str]) -> std::collections::HashSet<i64> {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().join("tables");
    let what = ["--tables", "callback_instances", "--format", "json"];
    let export = ["export", trace, "-o", tables.to_str().unwrap()];
    stdout_of(&with(&with(&export, &what), skipped), 0);
    let table = std::fs::read(tables.join("callback_instances.json")).unwrap();
    let table: Vec<Value> = serde_json::from_slice(&table).unwrap();
    let starts = table.iter().map(|row| row["start_ns"].as_i64().unwrap());
    starts.collect()
}

fn timeline(trace: &str, format: &str, skipped: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("timeline");
    let asked = [
        "timeline",
        trace,
        "--format",
        format,
        "-o",
        file.to_str().unwrap(),
    ];
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
            let mut found = std::collections::HashSet::new();
            for thread in profile["threads"].as_array().unwrap() {
                for at in thread["markers"]["startTime"].as_array().unwrap() {
                    found.extend(at.as_f64().map(|at| begin + (at * 1e6).round() as i64));
                }
            }
            let told = starts.intersection(&found).count();
            assert!(
                told * 2 > starts.len(),
                "{trace}: {told} of {}",
                starts.len()
            );
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
            let mut found = std::collections::HashSet::new();
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
            let told = starts.intersection(&found).count();
            assert!(
                told * 2 > starts.len(),
                "{trace}: {told} of {}",
                starts.len()
            );
        }
    }
}

#[test]
fn what_check_says_was_worst_is_what_why_understands() {
    let folder = tempfile::tempdir().unwrap();
    for trace in recordings() {
        let begin = begin_of(&trace);
        let callbacks = json(&["callbacks", &trace]);
        let mut callbacks = callbacks.as_array().unwrap().iter();
        let named = |row: &&Value| row["kind"] == "timer" && row["built_in"] == false;
        let Some(name) = callbacks.find(named).and_then(|row| row["name"].as_str()) else {
            continue;
        };
        let budgets = folder.path().join("budgets.yaml");
        let text = format!("budgets:\n  - callback: '{name}'\n    duration: {{ max: 1us }}\n");
        std::fs::write(&budgets, text).unwrap();
        let check = ["check", budgets.to_str().unwrap(), &trace];
        for skipped in SKIPPED {
            let asked = with(&check, skipped);
            let rows = stdout_of(&with(&asked, &["--format", "json"]), 4);
            let rows: Value = serde_json::from_str(&rows).unwrap();
            let worst = rows[0]["worst_at_ns"].as_i64().unwrap();
            assert!(starts_of(&trace, skipped).contains(&worst), "{trace}");
            let shown = stdout_of(&with(&asked, &["--columns", "what,worst at"]), 4);
            assert_eq!(printed(&shown), (worst - begin) / 1000 * 1000, "{trace}");
            let after = format!("+{:.9}s", (worst - begin) as f64 / 1e9);
            let why = ["why", &trace, "--callback", name, "--at", &after];
            let found = json(&with(&why, skipped));
            let (first, last) = (&found["begin_ns"], &found["end_ns"]);
            let instance = first.as_i64().unwrap()..=last.as_i64().unwrap();
            assert!(instance.contains(&worst), "{trace}: {worst} {instance:?}");
        }
    }
}

#[test]
fn both_sides_of_a_comparison_count_from_where_they_begin() {
    let range = ["--since", "+3s", "--until", "+4.5s"];
    for trace in recordings() {
        let callbacks = json(&with(&["callbacks", &trace], &range));
        let asked = with(&["compare", &trace, &trace], &range);
        let lines = json(&with(
            &asked,
            &["--columns", "name,kind,metric,base_values"],
        ));
        let mut compared = 0;
        for line in lines.as_array().unwrap() {
            if line["kind"] != "callback" || line["metric"] != "duration" {
                continue;
            }
            let mut rows = callbacks.as_array().unwrap().iter();
            let row = rows.find(|row| row["name"] == line["name"]).unwrap();
            assert_eq!(line["base_values"], row["count"], "{trace}: {line}");
            compared += 1;
        }
        assert!(compared > 0 || trace.ends_with("late"), "{trace}");
    }
}
