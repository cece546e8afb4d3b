//! Findings, as people meet it: the page, `callbacks` and `why` agree on what is worst, and the commands on the page do what they say.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{
    Folder, Says, array, copy, integer, json_of_any, recording, rostrace, shared,
    shared_recordings, text,
};
use rostrace_testkit::opened_page::OpenedPage;

/// The first screen of a report that the program writes.
fn overview(trace: &str) -> Value {
    let folder = Folder::new();
    let mut command = rostrace(&["report", trace, "-o", &folder.at("report.html")]);
    let status = command.output().unwrap().status.code();
    assert!(matches!(status, Some(0 | 3)), "{trace}");
    let html = folder.read("report.html");
    OpenedPage { html }.part("overview").data
}

fn recordings(names: &[&str]) -> Vec<String> {
    let mut all = vec![recording("pingpong"), recording("lossy")];
    all.extend(names.iter().filter_map(|name| shared(name)));
    all
}

#[test]
fn the_page_callbacks_and_why_agree_on_what_is_worst() {
    let names = [
        "jazzy/chain",
        "jazzy/chain_caret",
        "jazzy/executors",
        "humble/executors_caret",
        "jazzy/timers",
        "humble/multi_caret",
        "jazzy/late",
        "public/caret-cyclic-intra-galactic",
        "public/tracecompass-ros2-humble",
    ];
    let mut compared = 0;
    for trace in recordings(&names) {
        let overview = overview(&trace);
        let Some(worst) = worst_callback(&overview) else {
            continue;
        };
        let callbacks = json_of_any(&["callbacks", &trace]);
        assert_eq!(callbacks[0]["name"], worst, "{trace}");
        let why = json_of_any(&["why", &trace]);
        assert_eq!(why["subject"], worst, "{trace}");
        compared += 1;
    }
    assert!(compared >= 1);
}

/// The callback that is reported as the worst: one that heads a group is as bad as the group, others are as bad as they are said to be.
fn worst_callback(overview: &Value) -> Option<&str> {
    let mut worst: Option<(f64, &str)> = None;
    for group in array(&overview["findings"]) {
        let members = array(&group["members"]).iter();
        let members = members.map(|it| (&it["severity"], &it["callback"]));
        let head = (&group["severity"], &group["head"]["callback"]);
        for (severity, callback) in std::iter::once(head).chain(members) {
            let severity = severity.as_f64().unwrap();
            if let Some(callback) = callback.as_str()
                && worst.is_none_or(|(most, _)| severity > most)
            {
                worst = Some((severity, callback));
            }
        }
    }
    worst.map(|(_, callback)| callback)
}

fn findings(overview: &Value) -> Vec<Value> {
    let groups = array(&overview["findings"]).iter();
    groups
        .flat_map(|group| {
            let members = array(&group["members"]).iter();
            std::iter::once(&group["head"]).chain(members)
        })
        .cloned()
        .collect()
}

/// Runs a command of the page as a person would, in a shell.
fn in_a_shell(command: &str, more: &str) -> std::process::Output {
    let program = assert_cmd::cargo::cargo_bin("rostrace");
    let folder = program.parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = vec![folder];
    all.extend(std::env::split_paths(&path));
    Command::new("sh")
        .args(["-c", &format!("{command} {more}")])
        .env("PATH", std::env::join_paths(all).unwrap())
        .output()
        .unwrap()
}

#[test]
fn commands_of_the_page_explain_that_very_instant() {
    for trace in recordings(&["jazzy/timers", "humble/executors", "jazzy/late"]) {
        let overview = overview(&trace);
        let begin: i64 = overview["begin_ns"].as_str().unwrap().parse().unwrap();
        for finding in findings(&overview) {
            let commands = array(&finding["commands"]);
            let first = commands[0].as_str().unwrap();
            let output = in_a_shell(first, "--format json");
            assert!(
                matches!(output.status.code(), Some(0 | 3)),
                "{first}: {output:?}"
            );
            let of_execution = ["blocked", "long_execution", "late_execution"];
            if of_execution.contains(&text(&finding["kind"])) {
                let why: Value = serde_json::from_slice(&output.stdout).unwrap();
                let at = begin + integer(&finding["at"]);
                let span = integer(&why["begin_ns"])..=integer(&why["end_ns"]);
                assert!(span.contains(&at), "{first}: {at} in {span:?}");
                assert_eq!(why["subject"], finding["callback"], "{first}");
            }
            if let Some(timeline) = commands.get(1) {
                let timeline = timeline.as_str().unwrap();
                timeline.says(" --open --at +");
            }
        }
    }
}

#[test]
fn why_lists_what_an_execution_made_late_and_the_page_says_the_same() {
    let Some(trace) = shared("jazzy/timers") else {
        return;
    };
    let overview = overview(&trace);
    let group = &overview["findings"][0];
    let command = group["head"]["commands"][0].as_str().unwrap();
    let output = in_a_shell(command, "--format json");
    let why: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(why["subject"], group["head"]["callback"]);
    let delayed = array(&why["delayed"]);
    assert!(!delayed.is_empty(), "{why}");
    let caused: Vec<&str> = (array(&group["members"]).iter())
        .filter(|it| it["because"]["name"] == why["subject"])
        .filter_map(|it| it["callback"].as_str())
        .collect();
    for it in delayed {
        assert!(caused.contains(&it["callback"].as_str().unwrap()), "{it}");
        let begin = it["begin_ns"].as_i64().unwrap();
        assert!(begin >= why["begin_ns"].as_i64().unwrap(), "{it}");
        let (late, waited) = (&it["lateness_ns"], &it["waited_ns"]);
        assert!(waited.as_i64() <= late.as_i64(), "{it}");
    }
    let text = in_a_shell(command, "").stdout;
    let text = String::from_utf8(text).unwrap();
    let number = match delayed.len() {
        1 => "1 other execution".to_owned(),
        number => format!("{number} other executions"),
    };
    text.says(&format!("It made {number} late"));
}

#[test]
fn names_on_the_page_are_no_commands_in_the_shell() {
    let folder = Folder::new();
    let trace = folder.join("it's $(touch harm); a trace");
    copy(Path::new(&recording("pingpong")), &trace);
    let overview = overview(trace.to_str().unwrap());
    let findings = findings(&overview);
    assert!(!findings.is_empty());
    for finding in &findings {
        let command = finding["commands"][0].as_str().unwrap();
        let output = in_a_shell(&format!("cd '{}' && {command}", folder.here()), "");
        assert!(output.status.success(), "{command}: {output:?}");
    }
    assert!(!folder.join("harm").exists());
}

#[test]
fn green_only_where_everything_can_be_known() {
    let whole = overview(&recording("pingpong"));
    assert_eq!(array(&whole["unknown"]).len(), 0);
    let Some(late) = shared("jazzy/late") else {
        return;
    };
    let late = overview(&late);
    let first = &late["unknown"][0];
    assert!(first["what"].as_str().unwrap().contains("1,345 executions"));
    assert_eq!(first["command"], "rostrace record -- ros2 launch …");
    assert_eq!(array(&late["damage"]).len(), 0);
}

#[test]
fn a_truncated_stream_makes_no_findings_across_what_is_missing() {
    let Some(folder) = shared_recordings() else {
        return;
    };
    let copied = Folder::new();
    copy(&folder.join("jazzy/chain/ust"), copied.path());
    let stream = copied.join("uid/0/64-bit/ros2_1");
    let file = std::fs::File::options().write(true).open(stream).unwrap();
    file.set_len(100_000).unwrap();
    let whole = overview(folder.join("jazzy/chain").to_str().unwrap());
    let cut = overview(copied.here());
    assert!(!array(&cut["damage"]).is_empty());
    let worst = |overview: &Value| {
        let severities = findings(overview)
            .into_iter()
            .map(|it| it["severity"].as_f64());
        severities.flatten().fold(0.0, f64::max)
    };
    // What is left of a recording has nothing worse in it than all of it.
    assert!(worst(&cut) <= worst(&whole), "{cut}");
    for finding in findings(&cut) {
        let kind = text(&finding["kind"]);
        assert!(
            !["silent_topics", "ended_early"].contains(&kind),
            "{finding}"
        );
    }
}
