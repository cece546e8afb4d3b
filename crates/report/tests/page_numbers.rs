//! The numbers of the page are those of the tables.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::selection::Pattern;
use rostrace_analyze::table::{self as analyze, Column, Unit};
use serde_json::{Value, json};

use crate::recordings::{everything, model, rows};
use crate::support::table;
use rostrace_testkit::opened_page::OpenedPage;

const RECORDINGS: &[&str] = &[
    "testdata/lifecycle_caret",
    "testdata/lossy",
    "testdata/pingpong",
    "jazzy/chain",
    "jazzy/intra",
    "jazzy/lossy",
    "jazzy/lifecycle",
    "jazzy/names_caret",
    "humble/executors_caret",
    "humble/churn",
    "public/caret-multi-talker-galactic",
];

fn each(test: impl Fn(&str, &Analysis<'_>, &OpenedPage)) {
    for name in RECORDINGS {
        let Some(model) = model(name) else { continue };
        let analysis = everything(&model);
        test(name, &analysis, &OpenedPage::of(&analysis));
    }
}

/// Parts of the page, their tables, the exported table of the same rows, and columns in which the page says something else.
const TABLES: &[(&str, &str, &[&str])] = &[
    ("callbacks", "callbacks", &[]),
    ("topics", "topics", &[]),
    ("topics", "communications", &[]),
    ("topics", "publishers", &[]),
    ("topics", "subscriptions", &[]),
    ("processes", "processes", &[]),
    ("processes", "executors", &[]),
    ("processes", "threads", &[]),
    // As in the terminal, without what is built in.
    (
        "nodes",
        "nodes",
        &[
            "callbacks",
            "publishers",
            "subscriptions",
            "timers",
            "services",
            "clients",
        ],
    ),
];

/// The same but for the last digits of a fraction, which reading JSON may change.
fn written(cell: &Value) -> String {
    match cell.as_f64().filter(|_| cell.is_f64()) {
        Some(number) => format!("{number:.10e}"),
        None => cell.to_string(),
    }
}

#[test]
fn tables_of_the_page_have_the_rows_of_the_exported_ones() {
    each(|recording, analysis, page| {
        let begin = analysis.model.begin.unwrap().0;
        for (part, name, other) in TABLES {
            let declared = analyze::TABLES.iter().find(|it| it.name == *name).unwrap();
            let columns = declared
                .columns
                .iter()
                .filter(|it| !other.contains(&it.name));
            let columns: Vec<&Column> = columns.collect();
            let exported = table(analysis, name).into_iter().map(|row| {
                let cell = |column: &&Column| match (column.unit, &row[column.name]) {
                    (Unit::Instant, Value::Number(time)) => {
                        json!(time.as_i64().unwrap() - begin).to_string()
                    }
                    (_, cell) => written(cell),
                };
                columns.iter().map(cell).collect()
            });
            let mut exported: Vec<Vec<String>> = exported.collect();
            let part = page.part(part);
            let found = part.rows(name).iter().map(|row| {
                let cells = columns.iter().map(|column| written(&row[column.name]));
                cells.collect()
            });
            let mut found: Vec<Vec<String>> = found.collect();
            exported.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, exported, "{recording}: {name}");
        }
    });
}

#[test]
fn what_is_joined_to_a_table_is_what_others_say() {
    each(|recording, analysis, page| {
        let nodes = page.part("nodes");
        let shares = table(analysis, "node_shares");
        for found in nodes.rows("nodes") {
            let is_same = |row: &&BTreeMap<&str, Value>| {
                let mut columns = ["node", "host", "pid", "busy_ns", "share"].into_iter();
                columns.all(|column| written(&row[column]) == written(&found[column]))
            };
            assert!(
                shares.iter().any(|row| is_same(&row)),
                "{recording}: {found}"
            );
        }
        let processes = page.part("processes");
        let shares = table(analysis, "process_shares");
        for (found, row) in processes.rows("processes").iter().zip(&shares) {
            for column in ["pid", "busy_ns", "observed_ns", "cores", "damaged"] {
                let (found, row) = (written(&found[column]), written(&row[column]));
                assert_eq!(found, row, "{recording}: {column}");
            }
        }
        let topics = page.part("topics");
        for topic in topics.rows("topics") {
            let own = topics.rows("communications").iter();
            let own = own.filter(|it| it["topic_id"] == topic["id"]);
            for column in ["latency_p50_ns", "latency_p99_ns", "latency_max_ns"] {
                let largest = own.clone().filter_map(|it| it[column].as_i64()).max();
                assert_eq!(topic[column].as_i64(), largest, "{recording}: {column}");
            }
        }
    });
}

/// What is drawn of short series is every value.
#[test]
fn series_of_callbacks_are_their_executions_and_rates() {
    each(|recording, analysis, page| {
        let begin = analysis.model.begin.unwrap().0;
        let part = page.part("callbacks");
        let mut durations: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        let mut periods: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        for row in rows(analysis, "callback_instances") {
            let Some(callback) = row.number("callback") else {
                continue;
            };
            let start = row.integer("start_ns") - begin;
            let value = |column: &str| row.number(column).map(|value| (start, value as i64));
            let own = durations.entry(callback as i64).or_default();
            own.extend(value("duration_ns"));
            let own = periods.entry(callback as i64).or_default();
            own.extend(value("period_observed_ns"));
        }
        let mut frequencies: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        for row in rows(analysis, "rates") {
            if row.text("kind") == "callback" {
                let bin = (row.integer("begin_ns") - begin, row.integer("count"));
                let own = frequencies.entry(row.integer("object")).or_default();
                own.push(bin);
            }
        }
        for callback in part.rows("callbacks") {
            let Some(id) = callback["callback"].as_i64() else {
                continue;
            };
            for (key, expected) in [
                ("duration", &durations),
                ("period", &periods),
                ("frequency", &frequencies),
            ] {
                let found = part.series(&callback["series"][key]);
                let expected = expected.get(&id).cloned().unwrap_or_default();
                if found.len() < expected.len() {
                    let largest = |points: &[(i64, i64)]| points.iter().map(|it| it.1).max();
                    assert_eq!(
                        largest(&found),
                        largest(&expected),
                        "{recording} {id} {key}"
                    );
                } else {
                    assert_eq!(found, expected, "{recording} {id} {key}");
                }
            }
        }
    });
}

#[test]
fn distributions_count_every_value() {
    each(|recording, _, page| {
        let part = page.part("callbacks");
        for callback in part.rows("callbacks") {
            let spread = &callback["spread"]["duration"];
            if spread.is_null() {
                continue;
            }
            let counted: i64 = part.column(&spread["counts"]).iter().sum();
            assert_eq!(counted, callback["duration_count"], "{recording}");
            let quantiles = part.column(&spread["quantiles"]);
            assert!(quantiles.is_sorted());
            assert_eq!(quantiles[0], callback["duration_min_ns"]);
            assert_eq!(*quantiles.last().unwrap(), callback["duration_max_ns"]);
            assert_eq!(quantiles[12], callback["duration_p50_ns"]);
        }
    });
}

#[test]
fn the_parts_of_the_worst_executions_and_messages_add_up() {
    let adds_up = |worst: &Value, what: &str| {
        let why = &worst["why"];
        let waits = why["waits"].as_array().unwrap();
        let sum: i64 = waits
            .iter()
            .map(|wait| wait["duration"].as_i64().unwrap())
            .sum();
        assert_eq!(sum, why["total"], "{what}");
    };
    each(|recording, _, page| {
        for callback in page.part("callbacks").rows("callbacks") {
            let worst = callback["worst"].as_array().unwrap();
            worst.iter().for_each(|worst| adds_up(worst, recording));
            let totals = worst.iter().map(|it| it["why"]["total"].as_i64());
            assert!(totals.rev().is_sorted(), "{recording}");
        }
        for communication in page.part("topics").rows("communications") {
            let worst = communication["worst"].as_array().unwrap();
            worst.iter().for_each(|worst| adds_up(worst, recording));
            if let Some(first) = worst.first() {
                let largest = &communication["latency_max_ns"];
                assert_eq!(&first["why"]["total"], largest, "{recording}");
            }
        }
    });
}

#[test]
fn the_use_of_time_adds_up_over_time() {
    each(|recording, _, page| {
        let part = page.part("processes");
        let width = part.data["width"].as_f64().unwrap();
        for process in part.rows("processes") {
            let shares = part.column(&process["chart"]);
            let busy: f64 = shares.iter().map(|it| *it as f64 / 1e6 * width).sum();
            let expected = process["busy_ns"].as_f64().unwrap();
            // The last stretch is shorter, and shares are rounded down.
            let slack = width * shares.last().map_or(0.0, |it| *it as f64 / 1e6)
                + width * shares.len() as f64 * 1e-6 * 10.0;
            let is_near = (busy - expected).abs() <= slack + 1000.0;
            assert!(is_near, "{recording}: {busy} of {expected}");
        }
    });
}

#[test]
fn a_report_of_one_node_has_only_its_callbacks() {
    let Some(model) = model("jazzy/chain") else {
        return;
    };
    let mut analysis = everything(&model);
    analysis.selection.nodes = vec![Pattern::new("/filter").unwrap()];
    let page = OpenedPage::of(&analysis);
    let callbacks = page.part("callbacks");
    assert!(!callbacks.rows("callbacks").is_empty());
    for callback in callbacks.rows("callbacks") {
        assert_eq!(callback["node"], "/filter");
    }
    let nodes = page.part("nodes");
    assert_eq!(nodes.rows("nodes").len(), 1);
    let topics = page.part("topics");
    let names: Vec<&Value> = topics
        .rows("topics")
        .iter()
        .map(|it| &it["topic"])
        .collect();
    assert!(names.iter().any(|name| **name == "/raw_a"));
    assert!(!names.iter().any(|name| **name == "/plan"));
}
