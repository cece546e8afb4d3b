//! The numbers that stand in the page are those of the program's own tables: every table of every part, read out of the DOM.

mod overview;
mod paths;
mod topics;
mod work;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::browser::driver::Browser;
use crate::browser::opened::{report_of, show};
use crate::browser::shown::{assert_same, rows};
use crate::browser::{scenarios, title};
use crate::support;
use rostrace_testkit::opened_page::STATISTICS;

/// Of each kind one, from both distributions.
const RECORDINGS: &[&str] = &[
    "jazzy-chain_caret",
    "jazzy-multi",
    "jazzy-lossy",
    "jazzy-lifecycle",
    "humble-timers",
    "humble-intra_caret",
    "humble-services",
];

const TABLES: &str = "callbacks,communications,paths,path_stages,response_times,publishers,subscriptions,services,threads,executor_shares,node_shares,process_shares,spins,lifecycle_states";

/// What the program itself says of a recording.
struct Tables {
    exported: BTreeMap<String, Vec<Value>>,
}

impl Tables {
    fn of(scenario: &Path, folder: &Path) -> Tables {
        let scenario = scenario.to_str().unwrap();
        let tables = folder.join("tables");
        let output = tables.to_str().unwrap();
        let arguments = [
            "export", scenario, "--tables", TABLES, "--format", "json", "-o", output,
        ];
        run(&arguments);
        let mut exported = BTreeMap::new();
        for name in TABLES.split(',') {
            let text = std::fs::read_to_string(tables.join(format!("{name}.json"))).unwrap();
            exported.insert(name.to_owned(), list(&text));
        }
        for verb in ["nodes", "topics", "executors", "processes"] {
            let text = run(&[verb, scenario, "--format", "json"]);
            exported.insert(format!("list of {verb}"), list(&text));
        }
        let info = run(&["info", scenario, "--format", "json"]);
        let info = serde_json::from_str(&info).unwrap();
        exported.insert("info".to_owned(), vec![info]);
        Tables { exported }
    }

    fn all(&self, name: &str) -> &[Value] {
        &self.exported[name]
    }

    fn with(&self, name: &str, column: &str, value: &Value) -> Vec<Value> {
        let rows = self.all(name).iter();
        rows.filter(|row| &row[column] == value).cloned().collect()
    }
}

/// A recording with losses ends with 3.
fn run(arguments: &[&str]) -> String {
    let output = support::rostrace(arguments).output().unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn list(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(Value::Array(rows)) => rows,
        _ => support::json_lines(text),
    }
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or(0.0)
}

/// Rows with further columns.
fn with_columns(rows: &[Value], more: impl Fn(&Value) -> Value) -> Vec<Value> {
    let add = |row: &Value| {
        let mut row = row.clone();
        let more = more(&row);
        let (own, more) = (row.as_object_mut().unwrap(), more.as_object().unwrap());
        own.extend(more.clone());
        row
    };
    rows.iter().map(add).collect()
}

fn count(row: &Value) -> u64 {
    row["n"].as_u64().unwrap()
}

/// Count, mean, least, largest and percentiles as they are defined: values that occurred.
fn statistics(mut values: Vec<f64>) -> Value {
    if values.is_empty() {
        return json!({ "n": 0 });
    }
    values.sort_by(f64::total_cmp);
    let rank = |share: usize| values[(values.len() * share).div_ceil(100).max(1) - 1];
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    json!({ "n": values.len(), "min": values[0], "mean": mean, "p50": rank(50), "p95": rank(95), "p99": rank(99), "max": values[values.len() - 1] })
}

/// Also what belongs to rclcpp itself.
fn show_built_in(browser: &Browser) {
    browser.value(
        "(document.querySelectorAll('#main input[data-built-in]').forEach((it) => it.click()), true)",
    );
}

#[test]
fn numbers_in_the_page_are_those_of_the_tables() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let made_up = tempfile::tempdir().unwrap();
    let mut recordings = scenarios();
    recordings.retain(|it| RECORDINGS.contains(&title(it).as_str()));
    recordings.push(crate::browser::made_up::asking(made_up.path()));
    for scenario in recordings {
        let name = title(&scenario);
        let folder = tempfile::tempdir().unwrap();
        let file = report_of(&scenario, folder.path());
        let tables = Tables::of(&scenario, folder.path());
        show(&browser, &file, "overview");
        overview::overview(&browser, &tables, &name);
        callbacks(&browser, &tables, &name);
        topics::topics(&browser, &tables, &name);
        paths::paths(&browser, &tables, &name);
        work::nodes(&browser, &tables, &name);
        work::processes(&browser, &tables, &name);
        assert_eq!(browser.problems(), Vec::<String>::new(), "{name}");
    }
}

fn callbacks(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("callbacks");
    show_built_in(browser);
    let columns = "count duration_max_ns duration_p50_ns duration_p99_ns period_observed_p50_ns period_observed_max_ns lateness_p99_ns lateness_max_ns damaged rate_hz utilisation worst_over_period";
    let shown = rows(browser, "callbacks");
    assert_same(
        &format!("{name}: callbacks"),
        &shown,
        tables.all("callbacks"),
        columns,
    );

    // One alone: the busiest, whatever it is, a timer if there is one.
    let timers = tables.with("callbacks", "kind", &json!("timer"));
    let busiest = |rows: &[Value]| {
        let ran = rows.iter().filter(|row| number(row, "count") > 1.0);
        ran.max_by_key(|row| row["count"].as_u64()).cloned()
    };
    for callback in [busiest(&timers), busiest(tables.all("callbacks"))]
        .into_iter()
        .flatten()
    {
        browser.go(&format!("callbacks/{}", callback["callback"]));
        for row in rows(browser, "numbers") {
            let (_, metric) = &row["name"];
            let metric = metric.trim_end_matches('?').trim();
            let prefix = if metric == "period" {
                "period_observed"
            } else {
                metric
            };
            for shown in STATISTICS {
                let expected = callback[format!("{prefix}_{shown}_ns")].as_f64();
                assert_near(
                    row[*shown].0,
                    expected,
                    &format!("{name}: {metric} {shown} of {}", callback["name"]),
                );
            }
        }
    }
}

fn assert_near(found: Option<f64>, expected: Option<f64>, what: &str) {
    let close = match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => (found - expected).abs() <= expected.abs() * 1e-9,
        _ => false,
    };
    assert!(
        close,
        "{what}: {found:?} in the page, {expected:?} in the table"
    );
}
