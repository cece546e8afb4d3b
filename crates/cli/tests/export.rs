//! `rostrace export`: the tables, judged by what the recorded programs logged themselves.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;

use support::{recording, rostrace};

/// The rows of a table below its header.
fn rows(folder: &Path, table: &str) -> Vec<Vec<String>> {
    let mut csv = csv::Reader::from_path(folder.join(table)).unwrap();
    let rows = csv
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect());
    rows.collect()
}

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
    .code(1)
    .get_output()
    .stderr
    .clone();
    let error = String::from_utf8(error).unwrap();
    assert!(
        error.contains("no table `nonsense`") && error.contains("deliveries"),
        "{error}"
    );
}
