//! Which rows tables have: judged by what the recorded programs logged themselves, and limited by filters.

use std::fs;
use std::path::Path;

use crate::export::{exported, header, rows};
use crate::support::{recording, rostrace, stderr_of};

/// Lines of a kind in the logs of the recorded programs.
fn logged(recording: &str, kind: &str) -> usize {
    let folder = Path::new(recording).join("ground_truth");
    let logs = fs::read_dir(folder)
        .unwrap()
        .map(|log| fs::read_to_string(log.unwrap().path()).unwrap());
    let of_kind = |log: String| {
        log.lines()
            .filter(|line| line.split(' ').nth(1) == Some(kind))
            .count()
    };
    logs.map(of_kind).sum()
}

#[test]
fn every_logged_execution_publication_and_reception_is_in_the_tables() {
    let trace = recording("pingpong");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("tables");
    rostrace(&[
        "export",
        &trace,
        "--format",
        "csv",
        "-o",
        output.to_str().unwrap(),
    ])
    .assert()
    .success();

    let own = |topic: &str| !topic.starts_with("/parameter_events") && topic != "/rosout";
    let instances = rows(&output, "callback_instances.csv");
    let of_application = instances.iter().filter(|row| own(&row[5])).count();
    assert_eq!(of_application, logged(&trace, "cb_begin"));
    assert!(
        instances.iter().all(|row| !row[8].is_empty()),
        "all executions have an end"
    );

    let publications = rows(&output, "publications.csv");
    assert_eq!(
        publications.iter().filter(|row| own(&row[4])).count(),
        logged(&trace, "pub")
    );

    let deliveries = rows(&output, "deliveries.csv");
    let delivered = deliveries
        .iter()
        .filter(|row| own(&row[0]) && row[9] == "delivered")
        .count();
    assert_eq!(delivered, logged(&trace, "recv"));
}

#[test]
fn carets_tables_follow_from_an_architecture_file() {
    let trace = recording("lifecycle_caret");
    let folder = tempfile::tempdir().unwrap();
    let (file, output) = (
        folder.path().join("architecture.yaml"),
        folder.path().join("tables"),
    );
    let (file, output_text) = (file.to_str().unwrap(), output.to_str().unwrap());
    rostrace(&["architecture", "create", &trace, "-o", file])
        .assert()
        .success();
    rostrace(&[
        "export",
        &trace,
        "--architecture",
        file,
        "--caret-columns",
        "-o",
        output_text,
    ])
    .assert()
    .success();
    let listener = fs::read_to_string(output.join("callbacks__listener.callback_0.csv")).unwrap();
    let header =
        "/listener/callback_0/callback_start_timestamp,/listener/callback_0/callback_end_timestamp";
    assert_eq!(listener.lines().next(), Some(header));
    // The listener's only callback ran once for each message that it logged.
    let log = fs::read_dir(Path::new(&trace).join("ground_truth")).unwrap();
    let received: usize = log
        .map(|log| fs::read_to_string(log.unwrap().path()).unwrap())
        .map(|log| {
            log.lines()
                .filter(|line| line.contains(" recv ") && line.contains("/listener#"))
                .count()
        })
        .sum();
    assert_eq!(listener.lines().count() - 1, received);
}

#[test]
fn an_unknown_table_is_named_with_those_that_exist() {
    let error = rostrace(&[
        "export",
        &recording("pingpong"),
        "--tables",
        "nonsense",
        "-o",
        "x",
    ])
    .assert()
    .code(2)
    .get_output()
    .stderr
    .clone();
    let error = String::from_utf8(error).unwrap();
    assert!(
        error.contains("no table `nonsense`") && error.contains("deliveries"),
        "{error}"
    );
}

#[test]
fn a_range_of_time_limits_the_rows() {
    let whole = exported("pingpong", &["--tables", "publications"], 0);
    let times = |folder: &tempfile::TempDir| -> Vec<i64> {
        let rows = rows(folder.path(), "publications.csv").into_iter();
        rows.map(|row| row[5].parse().unwrap()).collect()
    };
    let all = times(&whole);
    let some = [
        "--tables",
        "publications",
        "--skip-start",
        "3s",
        "--skip-end",
        "500ms",
    ];
    let some = times(&exported("pingpong", &some, 0));
    assert!(!some.is_empty() && some.len() < all.len());
    let (first, last) = (some.iter().min().unwrap(), some.iter().max().unwrap());
    let between = all.iter().filter(|time| (first..=last).contains(time));
    assert_eq!(between.count(), some.len());

    // Both limits hold.
    let from = first + 500_000_000;
    let text = from.to_string();
    let both = [
        "--tables",
        "publications",
        "--skip-start",
        "3s",
        "--since",
        &text,
    ];
    let both = times(&exported("pingpong", &both, 0));
    assert!(both.iter().all(|time| *time >= from) && !both.is_empty());
}

#[test]
fn who_skips_more_than_there_is_is_told_how_long_the_trace_is() {
    let trace = recording("pingpong");
    for verb in [&["nodes"][..], &["export", "-o", "nowhere"]] {
        let mut arguments = verb.to_vec();
        arguments.extend([trace.as_str(), "--skip-start", "1h"]);
        let error = stderr_of(&arguments, 1);
        assert!(
            error.contains("--skip-start leaves nothing of the trace"),
            "{error}"
        );
    }
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn nodes_topics_and_processes_limit_the_rows_of_tables_that_have_them() {
    let folder = exported("pingpong", &["--node", "/pin*", "--topic", "/pong"], 0);
    let instances = rows(folder.path(), "callback_instances.csv");
    assert!(
        instances
            .iter()
            .all(|row| row[3] == "/pinger" && row[5] == "/pong")
    );
    assert_eq!(instances.len(), 301);
    let deliveries = rows(folder.path(), "deliveries.csv");
    assert!(
        deliveries
            .iter()
            .all(|row| row[6] == "/pinger" && row[0] == "/pong")
    );
    assert_eq!(deliveries.len(), 301);

    // The process of the publisher or of the subscription.
    let folder = exported("pingpong", &["--pid", "22091", "--tables", "deliveries"], 0);
    let deliveries = rows(folder.path(), "deliveries.csv");
    assert!(
        deliveries
            .iter()
            .all(|row| row[2] == "22091" || row[5] == "22091")
    );
    assert!(deliveries.iter().any(|row| row[2] != "22091"));
    assert!(deliveries.iter().any(|row| row[5] != "22091"));
}

#[test]
fn without_simulated_time_its_columns_are_empty_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let arguments = ["export", &recording("pingpong"), "--sim-time", "-o", output];
    let note = stderr_of(&arguments, 0);
    assert!(note.contains("no simulated time"), "{note}");
    let columns = header(folder.path(), "deliveries.csv");
    let twins = columns.iter().filter(|name| name.ends_with("_sim_ns"));
    let twins = twins.count();
    assert!(twins >= 2 && columns[columns.len() - twins] == "publish_sim_ns");
    for row in rows(folder.path(), "deliveries.csv") {
        assert!(row.ends_with(&vec![String::new(); twins]), "{row:?}");
    }
}

#[test]
fn message_contexts_of_an_architecture_file_say_what_outputs_were_made_from() {
    let trace = recording("pingpong");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("architecture.yaml");
    let file = file.to_str().unwrap();
    rostrace(&["architecture", "create", &trace, "-o", file])
        .assert()
        .success();
    let plain = fs::read_to_string(file).unwrap();
    let export = |name: &str| {
        let output = folder.path().join(name);
        let to = output.to_str().unwrap();
        let tables = ["--tables", "node_latencies", "-o", to];
        let mut arguments = vec!["export", &trace, "--architecture", file];
        arguments.extend(tables);
        rostrace(&arguments).assert().success();
        rows(&output, "node_latencies.csv")
    };
    let of_basis = |rows: &[Vec<String>], basis: &str| {
        let rows = rows.iter().filter(|row| row[9] == basis);
        rows.count()
    };
    // The answer to each ping is observed, which a file need not say.
    let observed = export("observed");
    assert_eq!(observed.len(), of_basis(&observed, "observed"));
    // What /pinger sends from its timer is declared to be made from the newest answer.
    let declared = plain.replacen(
        "context_type: UNDEFINED",
        "context_type: use_latest_message",
        99,
    );
    assert_ne!(plain, declared);
    fs::write(file, declared).unwrap();
    let both = export("both");
    assert_eq!(of_basis(&both, "observed"), observed.len());
    let latest = of_basis(&both, "use_latest_message");
    assert_eq!(latest, both.len() - observed.len());
    assert!((290..=301).contains(&latest), "{latest}");
}
