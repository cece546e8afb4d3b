//! The numbers of the page are those of the tables.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::selection::{Pattern, Selection};
use rostrace_report::page::Options;
use serde_json::Value;

use crate::recordings::{Row, everything, model, rows};
use rostrace_testkit::opened_page::OpenedPage;
use rostrace_testkit::opened_page::STATISTICS;

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

/// The same, but for the last digit.
fn same(found: &Value, expected: Option<f64>, what: &str) {
    let close = match (found.as_f64(), expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => (found - expected).abs() <= expected.abs() * 1e-12,
        _ => false,
    };
    assert!(
        close,
        "{what}: {found} in the page, {expected:?} in the table"
    );
}

fn same_statistics(found: &Value, row: &Row, prefix: &str, what: &str) {
    for (key, column) in STATISTICS {
        let column = format!("{prefix}_{column}");
        same(
            &found[key],
            row.number(&column),
            &format!("{what} {column}"),
        );
    }
}

#[test]
fn callbacks_have_the_numbers_of_their_table() {
    each(|recording, analysis, page| {
        let part = page.part("callbacks");
        let callbacks = part.rows("callbacks");
        let mut table = rows(analysis, "callbacks");
        // Those of clients, and those without a name, have no page.
        table.retain(|row| row.number("callback").is_some());
        assert_eq!(callbacks.len(), table.len(), "{recording}");
        for row in &table {
            let id = row.integer("callback");
            let found = callbacks.iter().find(|it| it["id"] == id).unwrap();
            let what = format!("{recording}: {}", row.text("name"));
            assert_eq!(found["name"], row.text("name"));
            assert_eq!(found["node_name"], row.text("node"), "{what}");
            assert_eq!(found["kind"], row.text("kind"), "{what}");
            let trigger = [row.text("topic"), row.text("service")].concat();
            assert_eq!(found["trigger"], trigger.as_str(), "{what}");
            for column in [
                "count",
                "skipped",
                "utilisation",
                "worst_over_period",
                "damaged",
                "pid",
            ] {
                same(&found[column], row.number(column), &what);
            }
            same(&found["set_period"], row.number("period_ns"), &what);
            same_statistics(&found["duration"], row, "duration", &what);
            same_statistics(&found["period"], row, "period_observed", &what);
            same_statistics(&found["gap"], row, "gap", &what);
            same_statistics(&found["jitter"], row, "jitter", &what);
            same_statistics(&found["lateness"], row, "lateness", &what);
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
            let id = callback["id"].as_i64().unwrap();
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
            assert_eq!(counted, callback["duration"]["n"], "{recording}");
            let quantiles = part.column(&spread["quantiles"]);
            assert!(quantiles.is_sorted());
            assert_eq!(quantiles[0], callback["duration"]["min"]);
            assert_eq!(*quantiles.last().unwrap(), callback["duration"]["max"]);
            assert_eq!(quantiles[12], callback["duration"]["p50"]);
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
        for topic in page.part("topics").rows("topics") {
            for communication in topic["communications"].as_array().unwrap() {
                let worst = communication["worst"].as_array().unwrap();
                worst.iter().for_each(|worst| adds_up(worst, recording));
                if let Some(first) = worst.first() {
                    let largest = &communication["latency"]["max"];
                    assert_eq!(&first["why"]["total"], largest, "{recording}");
                }
            }
        }
    });
}

#[test]
fn communications_have_the_numbers_of_their_table() {
    each(|recording, analysis, page| {
        let part = page.part("topics");
        let mut found = BTreeMap::new();
        for topic in part.rows("topics") {
            for communication in topic["communications"].as_array().unwrap() {
                let id = communication["id"].as_u64().unwrap() as usize;
                found.insert(id, (&topic["name"], communication));
            }
        }
        let table = rows(analysis, "communications");
        assert_eq!(found.len(), table.len(), "{recording}");
        for (row, (topic, it)) in table.iter().zip(found.values()) {
            let what = format!("{recording}: {topic}");
            assert_eq!(**topic, row.text("topic"));
            assert_eq!(it["from"], row.text("pub_node"), "{what}");
            assert_eq!(it["to"], row.text("sub_node"), "{what}");
            assert_eq!(it["kind"], row.text("kind"), "{what}");
            for column in ["messages", "arrived", "historical", "damaged"] {
                same(&it[column], row.number(column), &what);
            }
            let causes = [
                "dropped_ring_buffer_full",
                "dropped_history_full",
                "dropped_middleware",
                "not_yet_received",
                "unknown",
            ];
            for (index, column) in causes.into_iter().enumerate() {
                same(&it["dropped"][index], row.number(column), &what);
            }
            same_statistics(&it["latency"], row, "latency", &what);
            for (index, stage) in ["publish", "transport", "wait", "dispatch"]
                .into_iter()
                .enumerate()
            {
                same_statistics(&it["stages"][index], row, &format!("{stage}_stage"), &what);
            }
        }
    });
}

#[test]
fn the_ends_of_topics_have_the_numbers_of_their_tables() {
    each(|recording, analysis, page| {
        let part = page.part("topics");
        for (key, table) in [
            ("publishers", "publishers"),
            ("subscriptions", "subscriptions"),
        ] {
            let mut found: BTreeMap<u64, &Value> = BTreeMap::new();
            for topic in part.rows("topics") {
                for end in topic[key].as_array().unwrap() {
                    found.insert(end["id"].as_u64().unwrap(), end);
                }
            }
            let table = rows(analysis, table);
            assert_eq!(found.len(), table.len(), "{recording} {key}");
            for (row, end) in table.iter().zip(found.values()) {
                let what = format!("{recording}: {key} of {}", row.text("topic"));
                assert_eq!(end["node_name"], row.text("node"), "{what}");
                same(&end["rate"], row.number("rate_hz"), &what);
                same(&end["damaged"], row.number("damaged"), &what);
                same_statistics(&end["period"], row, "period", &what);
                if key == "subscriptions" {
                    same(&end["messages"], row.number("received"), &what);
                    same_statistics(&end["age"], row, "message_age", &what);
                }
            }
        }
    });
}

#[test]
fn threads_processes_and_nodes_have_the_numbers_of_their_tables() {
    each(|recording, analysis, page| {
        let part = page.part("processes");
        let table = rows(analysis, "threads");
        assert_eq!(part.rows("threads").len(), table.len(), "{recording}");
        for (found, row) in part.rows("threads").iter().zip(&table) {
            let what = format!("{recording}: thread {}", row.integer("tid"));
            same(&found["tid"], row.number("tid"), &what);
            same(&found["observed"], row.number("observed_ns"), &what);
            same(&found["busy"], row.number("busy_ns"), &what);
            same(&found["executor_work"], row.number("executor_ns"), &what);
            same(&found["unobserved"], row.number("unobserved_ns"), &what);
            same(&found["waiting"], row.number("waiting_ns"), &what);
            same(&found["utilisation"], row.number("utilisation"), &what);
            same(&found["executions"], row.number("callbacks"), &what);
        }
        let table = rows(analysis, "process_shares");
        assert_eq!(part.rows("processes").len(), table.len(), "{recording}");
        for (found, row) in part.rows("processes").iter().zip(&table) {
            same(&found["busy"], row.number("busy_ns"), recording);
            same(&found["cores"], row.number("cores"), recording);
        }
        let nodes = page.part("nodes");
        let table = rows(analysis, "node_shares");
        for found in nodes.rows("nodes") {
            let row = table.iter().find(|row| {
                let (pid, busy) = (row.number("pid"), row.number("busy_ns"));
                found["name"] == row.text("node")
                    && found["pid"].as_f64() == pid
                    && found["busy"].as_f64() == busy
            });
            let row = row.unwrap_or_else(|| panic!("{recording}: {found} is in no row"));
            same(&found["share"], row.number("share"), recording);
            same(&found["executions"], row.number("executions"), recording);
        }
    });
}

#[test]
fn the_use_of_time_adds_up_over_time() {
    each(|recording, _, page| {
        let part = page.part("processes");
        let width = part.data["width"].as_f64().unwrap();
        for process in part.rows("processes") {
            let shares = part.column(&process["shares"]);
            let busy: f64 = shares.iter().map(|it| *it as f64 / 1e6 * width).sum();
            let expected = process["busy"].as_f64().unwrap();
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
    let analysis = everything(&model);
    let options = Options {
        selection: Selection {
            nodes: vec![Pattern::new("/filter").unwrap()],
            ..Selection::default()
        },
        ..Options::default()
    };
    let page = OpenedPage::with(&analysis, &options);
    let callbacks = page.part("callbacks");
    assert!(!callbacks.rows("callbacks").is_empty());
    for callback in callbacks.rows("callbacks") {
        assert_eq!(callback["node_name"], "/filter");
    }
    let nodes = page.part("nodes");
    assert_eq!(nodes.rows("nodes").len(), 1);
    let topics = page.part("topics");
    let names: Vec<&Value> = topics.rows("topics").iter().map(|it| &it["name"]).collect();
    assert!(names.iter().any(|name| **name == "/raw_a"));
    assert!(!names.iter().any(|name| **name == "/plan"));
}
