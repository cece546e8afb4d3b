//! Topics, their ends, and communications: rates, latencies, stages, and what did not arrive.

use serde_json::{Value, json};

use super::{Tables, assert_near, number, show_built_in, with_columns};

use crate::browser::driver::Browser;
use crate::browser::shown::{assert_same, digits, rows};

pub(super) fn topics(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("topics");
    show_built_in(browser);
    let communications = with_columns(
        tables.all("communications"),
        |row| json!({ "lost": lost(row) }),
    );
    let columns = "messages lost damaged latency_p50_ns latency_p99_ns latency_max_ns";
    let shown = rows(browser, "communications");
    assert_same(
        &format!("{name}: communications"),
        &shown,
        &communications,
        columns,
    );
    for row in &shown {
        let (_, topic) = &row["topic"];
        for (column, table) in [
            ("publish_rate_hz", "publishers"),
            ("receive_rate_hz", "subscriptions"),
        ] {
            let ends = tables.with(table, "topic", &json!(topic));
            let rate = row.get(column).and_then(|(rate, _)| *rate);
            let known = ends
                .iter()
                .any(|end| match (end["rate_hz"].as_f64(), rate) {
                    (Some(a), Some(b)) => (a - b).abs() <= a * 1e-9,
                    (a, b) => a == b,
                });
            assert!(known, "{name}: no end of {topic} has the rate {rate:?}");
        }
    }

    let topics = with_columns(tables.all("list of topics"), |row| {
        let own: Vec<&Value> = communications
            .iter()
            .filter(|it| it["topic"] == row["topic"])
            .collect();
        let worst = |column: &str| {
            own.iter()
                .filter_map(|it| it[column].as_f64())
                .reduce(f64::max)
        };
        json!({
            "lost_count": own.iter().map(|it| number(it, "lost")).sum::<f64>(),
            "latency_p50_ns": worst("latency_p50_ns"), "latency_p99_ns": worst("latency_p99_ns"), "latency_max_ns": worst("latency_max_ns"),
        })
    });
    let columns = "messages publishers subscriptions lost overwritten rate_hz latency_p50_ns latency_p99_ns latency_max_ns";
    let shown = rows(browser, "topics");
    assert_same(&format!("{name}: topics"), &shown, &topics, columns);
    for row in &shown {
        let Some((least, text)) = row.get("receive_rate_min_hz") else {
            continue;
        };
        let ends = tables.with("subscriptions", "topic", &json!(row["topic"].1));
        let rates = || ends.iter().map(|end| number(end, "rate_hz"));
        let what = format!("{name}: {} is received at", row["topic"].1);
        assert_near(*least, rates().reduce(f64::min), &what);
        if let Some(most) = rates().reduce(f64::max) {
            let most = format!("{} Hz", digits(most));
            assert!(text.ends_with(&most), "{what} {text}, at most {most}");
        }
    }
    // The topics that lost most and that were slowest, by themselves.
    let mut reported: Vec<&Value> = topics
        .iter()
        .filter(|it| it["built_in"] == json!(false))
        .collect();
    reported.sort_by(|a, b| {
        number(b, "lost_count")
            .total_cmp(&number(a, "lost_count"))
            .then(number(b, "latency_max_ns").total_cmp(&number(a, "latency_max_ns")))
    });
    for topic in reported.into_iter().take(3) {
        one_topic(browser, tables, &communications, &topic["topic"], name);
    }
}

fn lost(row: &Value) -> f64 {
    let causes = [
        "dropped_ring_buffer_full",
        "dropped_history_full",
        "dropped_middleware",
    ];
    causes.iter().map(|cause| number(row, cause)).sum()
}

fn one_topic(
    browser: &Browser,
    tables: &Tables,
    communications: &[Value],
    topic: &Value,
    name: &str,
) {
    let what = format!("{name}: {topic}");
    browser.go(&format!("topics/{}", topic.as_str().unwrap()));
    let of_publishers = "messages depth damaged period_p50_ns period_p99_ns period_max_ns rate_hz";
    let of_subscriptions = "received depth damaged period_p50_ns period_max_ns message_age_p50_ns message_age_max_ns rate_hz";
    for (table, columns) in [
        ("publishers", of_publishers),
        ("subscriptions", of_subscriptions),
    ] {
        let (shown, expected) = (rows(browser, table), tables.with(table, "topic", topic));
        assert_same(&format!("{what}: {table}"), &shown, &expected, columns);
    }

    let own: Vec<Value> = communications
        .iter()
        .filter(|it| &it["topic"] == topic)
        .cloned()
        .collect();
    let causes = [
        ("ring buffer full", "dropped_ring_buffer_full"),
        ("history full", "dropped_history_full"),
        ("middleware", "dropped_middleware"),
        ("under way at the end", "not_yet_received"),
        ("unknown", "unknown"),
    ];
    let drops = rows(browser, "drops");
    for (cause, column) in causes {
        let expected: f64 = own.iter().map(|row| number(row, column)).sum();
        let found = drops.iter().find(|row| row["cause"].1 == cause);
        let found = found.map_or(0.0, |row| row["messages"].0.unwrap());
        assert!(
            (found - expected).abs() < 0.5,
            "{what}: {cause}: {found} of {expected}"
        );
    }

    // Stages of its communications, one table each.
    let ids = browser.value(
        "Array.from(document.querySelectorAll('#main div.table[id^=\"stages-\"]'), (it) => it.id)",
    );
    for id in ids.as_array().unwrap() {
        let stages = rows(browser, id.as_str().unwrap());
        let value = |stage: &str, column: &str| {
            let row = stages
                .iter()
                .find(|row| row["name"].1.trim_end_matches('?').trim() == stage);
            row.and_then(|row| row[column].0)
        };
        let is_same = |row: &&Value| {
            ["publish", "transport", "wait", "dispatch"]
                .iter()
                .all(|stage| {
                    ["min", "mean", "p50", "p99", "max"].iter().all(|column| {
                        let expected = row[format!("{stage}_stage_{column}_ns")].as_f64();
                        match (value(stage, column), expected) {
                            (Some(a), Some(b)) => (a - b).abs() <= b.abs() * 1e-9,
                            (a, b) => a == b,
                        }
                    })
                })
                && value("latency", "max") == row["latency_max_ns"].as_f64()
        };
        assert!(
            own.iter().any(|row| is_same(&row)),
            "{what}: stages {id}: {stages:?}"
        );
    }
}
