//! Paths: their stages, response times and chain latency.

use serde_json::{Value, json};

use super::{Tables, assert_near, count, number, statistics, with_columns};

use crate::browser::driver::Browser;
use crate::browser::shown::{assert_same, rows, written_duration};

pub(super) fn paths(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("paths");
    let responses = |path: &Value, case: &str| {
        let rows = tables.all("response_times").iter();
        let own = rows.filter(|row| &row["path"] == path && row["response_case"] == case);
        statistics(own.map(|row| number(row, "response_time_ns")).collect())
    };
    let expected = with_columns(tables.all("paths"), |row| {
        let stages = tables.with("path_stages", "path", &row["path"]);
        json!({
            "lost": stages.iter().map(|it| number(it, "lost")).sum::<f64>(),
            "best": responses(&row["path"], "best")["mean"], "worst": responses(&row["path"], "worst")["max"],
        })
    });
    let columns = "hops flows lost p50=latency_p50_ns p95=latency_p95_ns p99=latency_p99_ns max=latency_max_ns worst best";
    let shown = rows(browser, "path-table");
    let is_shown = |row: &&Value| {
        let id = row["path"].to_string();
        shown.iter().any(|it| it["id"].1 == id)
    };
    // What goes through topics that nobody wrote is left out.
    let (expected, left_out): (Vec<&Value>, Vec<&Value>) = expected.iter().partition(is_shown);
    for row in left_out {
        let title = row["title"].as_str().unwrap();
        let built_in = [
            "/parameter_events",
            "/rosout",
            "/caret",
            "/_",
            "/transition_event",
        ];
        assert!(
            built_in.iter().any(|it| title.contains(it)),
            "{name}: {title} is left out"
        );
    }
    let expected: Vec<Value> = expected.into_iter().cloned().collect();
    assert_same(&format!("{name}: paths"), &shown, &expected, columns);

    let details = browser.value(
        "Array.from(document.querySelectorAll('#path-table tbody tr'), (row) => row.dataset.row)",
    );
    let details: Vec<&str> = details
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for id in details.into_iter().take(3) {
        let Some(row) = tables
            .all("paths")
            .iter()
            .find(|row| row["path"].as_u64() == id.parse().ok())
        else {
            panic!("{name}: the tables have no path {id}");
        };
        browser.go(&format!("paths/{id}"));
        let what = format!("{name}: path {id}");
        let shown = rows(browser, "stage-table");
        if shown.is_empty() {
            continue;
        }
        // How many were not passed on is reported with the message that arrived, and shown with the node that kept it.
        let stages = tables.with("path_stages", "path", &row["path"]);
        let mut kept = Value::Null;
        let mut expected = Vec::new();
        for mut stage in stages {
            let is_hop = stage["kind"] == "communication";
            let ended = number(&stage, "sent") - number(&stage, "arrived") - number(&stage, "lost");
            stage["ended"] = if is_hop { json!(ended) } else { kept.clone() };
            kept = stage["not_passed_on"].clone();
            if !is_hop {
                stage["lost"] = Value::Null;
            }
            expected.push(stage);
        }
        let whole = with_columns(
            std::slice::from_ref(row),
            |row| json!({ "lost": null, "ended": null, "duration_min_ns": row["latency_min_ns"], "duration_mean_ns": row["latency_mean_ns"], "duration_p50_ns": row["latency_p50_ns"], "duration_p95_ns": row["latency_p95_ns"], "duration_p99_ns": row["latency_p99_ns"], "duration_max_ns": row["latency_max_ns"] }),
        );
        expected.extend(whole);
        let columns = "max=duration_max_ns min=duration_min_ns p50=duration_p50_ns p95=duration_p95_ns p99=duration_p99_ns mean=duration_mean_ns lost ended";
        assert_same(&format!("{what}: stages"), &shown, &expected, columns);

        for shown in rows(browser, "response-table") {
            let case = shown["case"].1.replace(' ', "_");
            let expected = responses(&row["path"], &case);
            if count(&expected) == 0 {
                continue;
            }
            for (column, key) in [
                ("count", "n"),
                ("min", "min"),
                ("mean", "mean"),
                ("p50", "p50"),
                ("p95", "p95"),
                ("p99", "p99"),
                ("max", "max"),
            ] {
                assert_near(
                    shown[column].0,
                    expected[key].as_f64(),
                    &format!("{what}: {case} {column}"),
                );
            }
        }
        // The chain is drawn, and reported in words to those who do not see it.
        let chain = browser
            .text("document.querySelector('#main canvas.drawing').getAttribute('aria-label')");
        if let (Some(least), Some(most)) = (
            row["latency_min_ns"].as_f64(),
            row["latency_max_ns"].as_f64(),
        ) {
            let end = format!(
                "end to end min {}, avg {}, max {}",
                written_duration(least),
                written_duration(number(row, "latency_mean_ns")),
                written_duration(most)
            );
            assert!(
                chain.ends_with(&end),
                "{what}: {chain} does not end with {end}"
            );
        }
    }
}
