//! The numbers that stand in the page are those of the program's own tables: every table of every part, read out of the DOM.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::driver::Browser;
use crate::report::report_of;
use crate::shown::{assert_same, digits, rows, written_count, written_duration};
use crate::{scenarios, support, title};

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
    recordings.push(crate::made_up::asking(made_up.path()));
    for scenario in recordings {
        let name = title(&scenario);
        let folder = tempfile::tempdir().unwrap();
        let file = report_of(&scenario, folder.path(), &[]);
        let tables = Tables::of(&scenario, folder.path());
        browser.open_file(&file, "overview");
        browser.wait("document.getElementById('main').dataset.ready === 'overview'");
        overview(&browser, &tables, &name);
        callbacks(&browser, &tables, &name);
        topics(&browser, &tables, &name);
        paths(&browser, &tables, &name);
        nodes(&browser, &tables, &name);
        processes(&browser, &tables, &name);
        assert_eq!(browser.problems(), Vec::<String>::new(), "{name}");
    }
}

fn overview(browser: &Browser, tables: &Tables, name: &str) {
    let info = &tables.all("info")[0];
    let entities = &info["ros"]["entities"];
    let fact = |label: &str| {
        let text = browser.text(&format!(
            "document.querySelector('[data-fact=\"{label}\"]').textContent"
        ));
        text.replace('\u{202f}', "").parse::<u64>().unwrap()
    };
    // Of clients, whose callbacks are not entities, `info` counts those as well.
    let callbacks = tables.all("callbacks").len();
    assert_eq!(fact("callbacks"), callbacks as u64, "{name}: callbacks");
    for label in ["nodes", "topics"] {
        assert_eq!(
            Some(fact(label)),
            entities[label].as_u64(),
            "{name}: {label}"
        );
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

    let findings = browser.value("Array.from(document.querySelectorAll('#main .finding'), (it) => [it.dataset.kind, it.querySelector('span').textContent])");
    for finding in findings.as_array().unwrap() {
        let (kind, sentence) = (finding[0].as_str().unwrap(), finding[1].as_str().unwrap());
        assert_finding(tables, kind, sentence, name);
    }
}

/// The sentence has the number of what it names.
fn assert_finding(tables: &Tables, kind: &str, sentence: &str, name: &str) {
    let (table, column) = match kind {
        "long_execution" => ("callbacks", "duration_max_ns"),
        "late_execution" => ("callbacks", "lateness_max_ns"),
        "skipped_firings" => ("callbacks", "skipped"),
        "pause" => ("publishers", "period_max_ns"),
        "busy_thread" => ("threads", "utilisation"),
        "slow_path" => ("paths", "latency_max_ns"),
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

fn callbacks(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("callbacks");
    show_built_in(browser);
    let columns = [
        ("count", "count"),
        ("duration_max", "duration_max_ns"),
        ("duration_p50", "duration_p50_ns"),
        ("duration_p99", "duration_p99_ns"),
        ("period_p50", "period_observed_p50_ns"),
        ("period_max", "period_observed_max_ns"),
        ("lateness_p99", "lateness_p99_ns"),
        ("lateness_max", "lateness_max_ns"),
        ("damaged", "damaged"),
        ("rate", "rate_hz"),
        ("utilisation", "utilisation"),
        ("hurt", "hurt"),
    ];
    let shown = rows(browser, "callbacks");
    assert_same(
        &format!("{name}: callbacks"),
        &shown,
        tables.all("callbacks"),
        &columns,
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
            for (shown, exported) in [
                ("min", "min_ns"),
                ("mean", "mean_ns"),
                ("p50", "p50_ns"),
                ("p90", "p90_ns"),
                ("p95", "p95_ns"),
                ("p99", "p99_ns"),
                ("p99_9", "p99_9_ns"),
                ("max", "max_ns"),
                ("deviation", "standard_deviation_ns"),
            ] {
                let expected = callback[format!("{prefix}_{exported}")].as_f64();
                assert_near(
                    row[shown].0,
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

fn lost(row: &Value) -> f64 {
    let causes = [
        "dropped_ring_buffer_full",
        "dropped_history_full",
        "dropped_middleware",
    ];
    causes.iter().map(|cause| number(row, cause)).sum()
}

fn topics(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("topics");
    show_built_in(browser);
    let communications = with_columns(
        tables.all("communications"),
        |row| json!({ "lost": lost(row) }),
    );
    let latency = [
        ("latency_p50", "latency_p50_ns"),
        ("latency_p99", "latency_p99_ns"),
        ("latency_max", "latency_max_ns"),
    ];
    let mut columns = vec![
        ("messages", "messages"),
        ("lost", "lost"),
        ("damaged", "damaged"),
    ];
    columns.extend(latency);
    let shown = rows(browser, "communications");
    assert_same(
        &format!("{name}: communications"),
        &shown,
        &communications,
        &columns,
    );
    for row in &shown {
        let (_, topic) = &row["topic"];
        for (column, table) in [
            ("publish_rate", "publishers"),
            ("receive_rate", "subscriptions"),
        ] {
            let ends = tables.with(table, "topic", &json!(topic));
            let (rate, _) = row[column];
            let known = ends
                .iter()
                .any(|end| match (end["rate_hz"].as_f64(), rate) {
                    (Some(a), Some(b)) => (a - b).abs() <= a * 1e-9,
                    (a, b) => a == b,
                });
            assert!(known, "{name}: no end of {topic} has the rate {rate:?}");
        }
    }

    // A publisher whose topic was lost has a row of its own there, and no topic to be shown as here.
    let mut named = tables.all("list of topics").to_vec();
    named.retain(|row| !row["topic"].is_null());
    let topics = with_columns(&named, |row| {
        let own: Vec<&Value> = communications
            .iter()
            .filter(|it| it["topic"] == row["topic"])
            .collect();
        let worst = |column: &str| {
            own.iter()
                .filter_map(|it| it[column].as_f64())
                .reduce(f64::max)
        };
        let ends = |column: &str| row[column].as_array().unwrap().len();
        json!({
            "publisher_count": ends("publishers"), "subscription_count": ends("subscriptions"),
            "lost_count": own.iter().map(|it| number(it, "lost")).sum::<f64>(),
            "latency_p50_ns": worst("latency_p50_ns"), "latency_p99_ns": worst("latency_p99_ns"), "latency_max_ns": worst("latency_max_ns"),
        })
    });
    let mut columns = vec![
        ("published", "messages"),
        ("publishers", "publisher_count"),
        ("subscriptions", "subscription_count"),
        ("lost", "lost_count"),
        ("publish_rate", "rate_hz"),
    ];
    columns.extend(latency);
    let shown = rows(browser, "topics");
    assert_same(&format!("{name}: topics"), &shown, &topics, &columns);
    for row in &shown {
        let (least, text) = &row["receive_rate_min"];
        let ends = tables.with("subscriptions", "topic", &json!(row["name"].1));
        let rates = || ends.iter().map(|end| number(end, "rate_hz"));
        let what = format!("{name}: {} is received at", row["name"].1);
        assert_near(*least, rates().reduce(f64::min), &what);
        if let Some(most) = rates().reduce(f64::max) {
            let most = format!("{} Hz", digits(most));
            assert!(text.ends_with(&most), "{what} {text}, at most {most}");
        }
    }
    // The topics that lost most and that were slowest, by themselves.
    let mut told: Vec<&Value> = topics
        .iter()
        .filter(|it| it["built_in"] == json!(false))
        .collect();
    told.sort_by(|a, b| {
        number(b, "lost_count")
            .total_cmp(&number(a, "lost_count"))
            .then(number(b, "latency_max_ns").total_cmp(&number(a, "latency_max_ns")))
    });
    for topic in told.into_iter().take(3) {
        one_topic(browser, tables, &communications, &topic["topic"], name);
    }
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
    let publishers = with_columns(
        &tables.with("publishers", "topic", topic),
        |_| json!({ "message_age_p50_ns": null, "message_age_max_ns": null }),
    );
    let subscriptions = with_columns(
        &tables.with("subscriptions", "topic", topic),
        |row| json!({ "messages": row["received"] }),
    );
    let ends: Vec<Value> = publishers.into_iter().chain(subscriptions).collect();
    let columns = [
        ("messages", "messages"),
        ("depth", "depth"),
        ("damaged", "damaged"),
        ("period_p50", "period_p50_ns"),
        ("period_p99", "period_p99_ns"),
        ("period_max", "period_max_ns"),
        ("age_p50", "message_age_p50_ns"),
        ("age_max", "message_age_max_ns"),
        ("rate", "rate_hz"),
    ];
    assert_same(
        &format!("{what}: ends"),
        &rows(browser, "ends"),
        &ends,
        &columns,
    );

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

fn paths(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("paths");
    let responses = |path: &Value, case: &str| {
        let rows = tables.all("response_times").iter();
        let own = rows.filter(|row| &row["path"] == path && row["case"] == case);
        statistics(own.map(|row| number(row, "response_time_ns")).collect())
    };
    let expected = with_columns(tables.all("paths"), |row| {
        let stages = tables.with("path_stages", "path", &row["path"]);
        json!({
            "lost": stages.iter().map(|it| number(it, "lost")).sum::<f64>(),
            "best": responses(&row["path"], "best")["mean"], "worst": responses(&row["path"], "worst")["max"],
        })
    });
    let columns = [
        ("hops", "hops"),
        ("flows", "flows"),
        ("lost", "lost"),
        ("p50", "latency_p50_ns"),
        ("p95", "latency_p95_ns"),
        ("p99", "latency_p99_ns"),
        ("max", "latency_max_ns"),
        ("worst", "worst"),
        ("best", "best"),
    ];
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
    assert_same(&format!("{name}: paths"), &shown, &expected, &columns);

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
            .find(|row| row["path"].to_string() == id)
        else {
            panic!("{name}: the tables have no path {id}");
        };
        browser.go(&format!("paths/{id}"));
        let what = format!("{name}: path {id}");
        let shown = rows(browser, "stage-table");
        if shown.is_empty() {
            continue;
        }
        // How many were not passed on is told with the message that arrived, and shown with the node that kept it.
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
        let columns = [
            ("max", "duration_max_ns"),
            ("min", "duration_min_ns"),
            ("p50", "duration_p50_ns"),
            ("p95", "duration_p95_ns"),
            ("p99", "duration_p99_ns"),
            ("mean", "duration_mean_ns"),
            ("lost", "lost"),
            ("ended", "ended"),
        ];
        assert_same(&format!("{what}: stages"), &shown, &expected, &columns);

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
        // The chain is drawn, and told in words to those who do not see it.
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

fn nodes(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("nodes");
    show_built_in(browser);
    let expected = with_columns(tables.all("list of nodes"), |row| {
        let shares = tables.with("node_shares", "node", &row["node"]);
        let own = shares
            .iter()
            .find(|it| it["pid"] == row["pid"] && it["host"] == row["host"]);
        // Those that nobody wrote are not counted here.
        let mut more = json!({ "busy": own.map_or(json!(0), |it| it["busy_ns"].clone()) });
        for part in ["callbacks", "publishers", "subscriptions", "services"] {
            more[format!("own_{part}")] =
                json!(number(row, part) - number(&row["built_in_parts"], part));
        }
        more
    });
    let columns = [
        ("executions", "callback_instances"),
        ("callbacks", "own_callbacks"),
        ("publishes", "own_publishers"),
        ("subscribes", "own_subscriptions"),
        ("services", "own_services"),
        ("busy", "busy"),
    ];
    let shown = rows(browser, "nodes");
    assert_same(&format!("{name}: nodes"), &shown, &expected, &columns);
    for row in &shown {
        if let (Some(share), true) = (row["share"].0, row["executions"].0 > Some(0.0)) {
            let known = tables.with("node_shares", "node", &json!(row["name"].1));
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
            &[("length", "duration_ns")],
        );
        seen += shown.len();
    }
    assert_eq!(seen, tables.all("lifecycle_states").len(), "{name}");
}

fn processes(browser: &Browser, tables: &Tables, name: &str) {
    browser.go("processes");
    let columns = [
        ("executions", "executions"),
        ("threads", "threads"),
        ("busy", "busy_ns"),
        ("observed", "observed_ns"),
        ("cores", "cores"),
    ];
    let shown = rows(browser, "processes");
    assert_same(
        &format!("{name}: processes"),
        &shown,
        tables.all("process_shares"),
        &columns,
    );

    let columns = [
        ("executions", "callback_instances"),
        ("callbacks", "callbacks"),
        ("threads", "threads"),
        ("busy", "busy_ns"),
        ("utilisation", "busy_share"),
    ];
    let shown = rows(browser, "executors");
    let mut executors = tables.all("list of executors").to_vec();
    executors.retain(|row| number(row, "callback_instances") > 0.0);
    assert_same(&format!("{name}: executors"), &shown, &executors, &columns);

    let threads = with_columns(tables.all("threads"), |row| {
        let spins = tables.all("spins").iter();
        let own = spins.filter(|it| {
            it["pid"] == row["pid"] && it["tid"] == row["tid"] && it["host"] == row["host"]
        });
        let spins = statistics(own.filter_map(|it| it["duration_ns"].as_f64()).collect());
        let known = count(&spins) > 0;
        json!({ "spins": if known { spins["n"].clone() } else { Value::Null }, "spin_max": spins["max"] })
    });
    let columns = [
        ("executions", "callbacks"),
        ("busy", "busy_ns"),
        ("executor_work", "executor_ns"),
        ("waiting", "waiting_ns"),
        ("unobserved", "unobserved_ns"),
        ("observed", "observed_ns"),
        ("utilisation", "utilisation"),
        ("spins", "spins"),
        ("spin_max", "spin_max"),
    ];
    let shown = rows(browser, "threads");
    assert_same(&format!("{name}: threads"), &shown, &threads, &columns);

    let columns = [
        ("executions", "executions"),
        ("busy", "busy_ns"),
        ("of_busy", "share_of_busy"),
        ("of_process", "share_of_process"),
    ];
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
            &columns,
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
            let told = statistics(values);
            row[format!("{step}_p50")] = told["p50"].clone();
            row[format!("{step}_max")] = told["max"].clone();
        }
        expected.push(row);
    }
    let columns = [
        "calls",
        "answered",
        "round_trip_p50",
        "round_trip_max",
        "request_p50",
        "request_max",
        "queue_p50",
        "queue_max",
        "answering_p50",
        "answering_max",
        "response_p50",
        "response_max",
    ];
    let columns = columns.map(|column| (column, column));
    let shown = rows(browser, "calls");
    assert_same(&format!("{name}: calls"), &shown, &expected, &columns);
}
