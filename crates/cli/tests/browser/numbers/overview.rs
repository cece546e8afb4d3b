//! The first screen: what was counted, and the sentences of findings.

use serde_json::Value;

use super::{Tables, number};

use crate::browser::driver::Browser;
use crate::browser::shown::{digits, written_count, written_duration};

pub(super) fn overview(browser: &Browser, tables: &Tables, name: &str) {
    let info = &tables.all("info")[0];
    let entities = &info["ros"]["entities"];
    let fact = |label: &str| {
        let text = browser.text(&format!(
            "document.querySelector('[data-fact=\"{label}\"]').textContent"
        ));
        text.replace(',', "").parse::<u64>().unwrap()
    };
    // The page counts what the application consists of, and says beside it how much is built in.
    for (label, built_in) in [
        ("nodes", "built_in_nodes"),
        ("topics", "built_in_topics"),
        ("callbacks", "built_in_callbacks"),
    ] {
        let count = |name: &str| entities[name].as_u64().unwrap();
        let expected = count(label) - count(built_in);
        assert_eq!(fact(label), expected, "{name}: {label}");
    }
    let sum = |column: &str| -> u64 {
        let processes = tables.all("list of processes").iter();
        processes.map(|row| row[column].as_u64().unwrap()).sum()
    };
    assert_eq!(fact("executions"), sum("callback_instances"), "{name}");
    assert_eq!(fact("messages"), sum("messages"), "{name}");
    let processes = tables.all("list of processes").len();
    assert_eq!(fact("processes"), processes as u64, "{name}");
    let damage = browser.value("document.querySelectorAll('#damage li').length");
    let damaged = info["damage"].as_array().unwrap();
    assert_eq!(damage.as_u64().unwrap() > 0, !damaged.is_empty(), "{name}");

    let findings = browser.value("Array.from(document.querySelectorAll('#main .finding'), (it) => [it.dataset.kind, it.querySelector('.sentence').textContent])");
    for finding in findings.as_array().unwrap() {
        let (kind, sentence) = (finding[0].as_str().unwrap(), finding[1].as_str().unwrap());
        assert_finding(tables, kind, sentence, name);
    }
}

/// The sentence has the number of what it names.
fn assert_finding(tables: &Tables, kind: &str, sentence: &str, name: &str) {
    if sentence.contains("apart from standstills") {
        // No table has a number without them.
        return;
    }
    let (table, column) = match kind {
        // Executions of anything, or what has no number.
        "blocked" | "standstill" | "silent_topics" | "ended_early" | "late_nodes" => return,
        "long_execution" => ("callbacks", "duration_max_ns"),
        "late_execution" => ("callbacks", "lateness_max_ns"),
        "skipped_firings" => ("callbacks", "skipped"),
        "pause" => ("publishers", "period_max_ns"),
        "busy_thread" => ("threads", "utilisation"),
        "slow_path" => ("paths", "latency_max_ns"),
        "overflowing_queue" => return assert_overflowing(tables, sentence, name),
        "lost_messages" => ("communications", "messages"),
        other => panic!("{name}: nobody knows how to check {other}"),
    };
    let is_meant = |row: &&Value| {
        let named = ["name", "topic", "title", "tid"]
            .iter()
            .filter_map(|column| row.get(column))
            .map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        named
            .into_iter()
            .any(|it| !it.is_empty() && sentence.contains(&it))
    };
    let written = |row: &Value| {
        let value = number(row, column);
        match kind {
            "skipped_firings" | "lost_messages" => written_count(value),
            "busy_thread" => format!("{} %", digits(value * 100.0)),
            _ => written_duration(value),
        }
    };
    let mut meant = tables.all(table).iter().filter(is_meant);
    assert!(
        meant.any(|row| sentence.contains(&written(row))),
        "{name}: no row of {table} says: {sentence}"
    );
}

/// The sentence has what all rows of one subscription have together: there is one for each publisher and each way.
fn assert_overflowing(tables: &Tables, sentence: &str, name: &str) {
    let rows = tables.all("communications").iter().filter(|row| {
        let text = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
        let (topic, node) = (text("topic"), text("sub_node"));
        sentence.contains(&format!("The queue of {node} for {topic},"))
    });
    let sent: f64 = rows.map(|row| number(row, "messages")).sum();
    let written = format!(" of {} messages", written_count(sent));
    assert!(
        sent > 0.0 && sentence.contains(&written),
        "{name}: {sentence}"
    );
}
