//! Who did the work: nodes, processes, executors and threads; and calls of services.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Tables, count, number, show_built_in, statistics, with_columns};

use crate::browser::driver::Browser;
use crate::browser::shown::{assert_same, rows};

pub(super) fn nodes(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("nodes");
    show_built_in(browser);
    let expected = with_columns(tables.all("list of nodes"), |row| {
        let shares = tables.with("node_shares", "node", &row["node"]);
        let own = shares
            .iter()
            .find(|it| it["pid"] == row["pid"] && it["host"] == row["host"]);
        // Those that nobody wrote are not counted here.
        let mut more = json!({ "busy_ns": own.map_or(json!(0), |it| it["busy_ns"].clone()) });
        for part in ["callbacks", "publishers", "subscriptions", "services"] {
            more[format!("own_{part}")] =
                json!(number(row, part) - number(row, &format!("built_in_{part}")));
        }
        more
    });
    let columns = "callback_instances callbacks=own_callbacks publishers=own_publishers subscriptions=own_subscriptions services=own_services busy_ns";
    let shown = rows(browser, "nodes");
    assert_same(&format!("{name}: nodes"), &shown, &expected, columns);
    for row in &shown {
        if let (Some(share), true) = (row["share"].0, row["callback_instances"].0 > Some(0.0)) {
            let known = tables.with("node_shares", "node", &json!(row["node"].1));
            assert!(
                known
                    .iter()
                    .any(|it| (number(it, "share") - share).abs() <= share * 1e-9),
                "{name}: {row:?}"
            );
        }
    }
    // Lifecycle nodes tell their states.
    let mut seen = 0;
    for node in &expected {
        let states = tables.with("lifecycle_states", "node", &node["node"]);
        if states.is_empty() {
            continue;
        }
        browser.go(&format!("nodes/{}", node["node"].as_str().unwrap()));
        let shown = rows(browser, "states");
        assert_same(
            &format!("{name}: states"),
            &shown,
            &states,
            "length=duration_ns",
        );
        seen += shown.len();
    }
    assert_eq!(seen, tables.all("lifecycle_states").len(), "{name}");
}

pub(super) fn processes(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("processes");
    let same = |id: &str, columns: &str, expected: &[Value]| {
        let what = format!("{name}: {id}");
        assert_same(&what, &rows(browser, id), expected, columns);
    };
    let processes = with_columns(tables.all("list of processes"), |row| {
        let shares = tables.with("process_shares", "pid", &row["pid"]);
        let own = shares.iter().find(|it| it["host"] == row["host"]);
        own.cloned().unwrap()
    });
    same(
        "processes",
        "callback_instances busy_ns observed_ns cores",
        &processes,
    );
    let columns = "callback_instances callbacks threads busy_ns busy_share";
    same("executors", columns, tables.all("list of executors"));

    let threads = with_columns(tables.all("threads"), |row| {
        let spins = tables.all("spins").iter();
        let own = spins.filter(|it| {
            it["pid"] == row["pid"] && it["tid"] == row["tid"] && it["host"] == row["host"]
        });
        let spins = statistics(own.filter_map(|it| it["duration_ns"].as_f64()).collect());
        let known = count(&spins) > 0;
        json!({ "spins": if known { spins["n"].clone() } else { Value::Null }, "spin_max_ns": spins["max"] })
    });
    let columns = "callbacks busy_ns executor_ns waiting_ns unobserved_ns observed_ns utilisation spins spin_max_ns";
    same("threads", columns, &threads);

    let columns = "executions busy=busy_ns of_busy=share_of_busy of_process=share_of_process";
    let shown = rows(browser, "shares");
    let busiest = tables
        .all("threads")
        .iter()
        .filter(|it| number(it, "busy_ns") > 0.0)
        .count()
        <= 12;
    if busiest {
        assert_same(
            &format!("{name}: shares"),
            &shown,
            tables.all("executor_shares"),
            columns,
        );
    }

    services(browser, tables, name);
}

/// Calls of one client to one service together.
fn services(browser: &Browser, tables: &Tables, name: &str) {
    let key = |row: &Value| {
        let text = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
        (text("service"), text("client_node"), text("service_node"))
    };
    let mut together: BTreeMap<_, Vec<&Value>> = BTreeMap::new();
    for row in tables.all("services") {
        together.entry(key(row)).or_default().push(row);
    }
    let mut expected = Vec::new();
    for calls in together.values() {
        let mut row = json!({ "calls": calls.len(), "answered": calls.iter().filter(|it| !it["received_ns"].is_null()).count() });
        for step in ["round_trip", "request", "queue", "answering", "response"] {
            let column = format!("{step}_ns");
            let values = calls.iter().filter_map(|it| it[&column].as_f64()).collect();
            let reported = statistics(values);
            row[format!("{step}_p50")] = reported["p50"].clone();
            row[format!("{step}_max")] = reported["max"].clone();
        }
        expected.push(row);
    }
    let columns = "calls answered round_trip_p50 round_trip_max request_p50 request_max queue_p50 queue_max answering_p50 answering_max response_p50 response_max";
    let shown = rows(browser, "calls");
    assert_same(&format!("{name}: calls"), &shown, &expected, columns);
}
