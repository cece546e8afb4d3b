//! Which rows tables have: judged by what the recorded programs logged themselves, and limited by filters.

use std::fs;
use std::path::Path;

use crate::export::{exported, header, rows};
use crate::support::{Folder, Says, recording, stderr_of, stdout_of};

/// Lines of a kind, with a text in them, in the logs of the recorded programs.
fn logged(recording: &str, kind: &str, part: &str) -> usize {
    let folder = Path::new(recording).join("ground_truth");
    let logs = fs::read_dir(folder).unwrap();
    let logs = logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap());
    let logs: String = logs.collect();
    let of_kind = |line: &&str| line.split(' ').nth(1) == Some(kind) && line.contains(part);
    logs.lines().filter(of_kind).count()
}

#[test]
fn every_logged_execution_publication_and_reception_is_in_the_tables() {
    let trace = recording("pingpong");
    let folder = exported("pingpong", "--format csv", 0);
    let output = folder.path();

    let own = |topic: &str| !topic.starts_with("/parameter_events") && topic != "/rosout";
    let instances = rows(output, "callback_instances.csv");
    let of_application = instances.iter().filter(|row| own(&row[5])).count();
    assert_eq!(of_application, logged(&trace, "cb_begin", ""));
    // All executions have an end.
    assert!(instances.iter().all(|row| !row[8].is_empty()));

    let publications = rows(output, "publications.csv").into_iter();
    let published = publications.filter(|row| own(&row[4])).count();
    assert_eq!(published, logged(&trace, "pub", ""));

    let deliveries = rows(output, "deliveries.csv").into_iter();
    let delivered = deliveries.filter(|row| own(&row[0]) && row[9] == "delivered");
    assert_eq!(delivered.count(), logged(&trace, "recv", ""));
}

#[test]
fn carets_tables_follow_from_an_architecture_file() {
    let trace = recording("lifecycle_caret");
    let architecture = Folder::new();
    let file = architecture.at("architecture.yaml");
    stdout_of(&["architecture", "create", &trace, "-o", &file], 0);
    let options = format!("--architecture {file} --caret-columns");
    let folder = exported("lifecycle_caret", &options, 0);
    let listener = folder.read("callbacks__listener.callback_0.csv");
    let header =
        "/listener/callback_0/callback_start_timestamp,/listener/callback_0/callback_end_timestamp";
    assert_eq!(listener.lines().next(), Some(header));
    // The listener's only callback ran once for each message that it logged.
    let received = logged(&trace, "recv", "/listener#");
    assert_eq!(listener.lines().count() - 1, received);
}

#[test]
fn an_unknown_table_is_named_with_those_that_exist() {
    let trace = recording("pingpong");
    let error = stderr_of(&format!("export {trace} --tables nonsense -o x"), 2);
    error.says_all(&["no table `nonsense`", "deliveries"]);
}

#[test]
fn a_range_of_time_limits_the_rows() {
    let times = |range: &str| -> Vec<i64> {
        let folder = exported("pingpong", &format!("--tables publications {range}"), 0);
        let rows = rows(folder.path(), "publications.csv").into_iter();
        rows.map(|row| row[5].parse().unwrap()).collect()
    };
    let all = times("");
    let some = times("--skip-start 3s --skip-end 500ms");
    assert!(!some.is_empty() && some.len() < all.len());
    let (first, last) = (some.iter().min().unwrap(), some.iter().max().unwrap());
    let between = all.iter().filter(|time| (first..=last).contains(time));
    assert_eq!(between.count(), some.len());

    // Both limits hold.
    let from = first + 500_000_000;
    let both = times(&format!("--skip-start 3s --since {from}"));
    assert!(both.iter().all(|time| *time >= from) && !both.is_empty());
}

#[test]
fn who_skips_more_than_there_is_is_reported_how_long_the_trace_is() {
    let trace = recording("pingpong");
    for verb in ["nodes", "export -o nowhere"] {
        let error = stderr_of(&format!("{verb} {trace} --skip-start 1h"), 1);
        error.says("--skip-start leaves nothing of the trace");
    }
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn nodes_topics_and_processes_limit_the_rows_of_tables_that_have_them() {
    let folder = exported("pingpong", "--node /pin* --topic /pong", 0);
    let instances = rows(folder.path(), "callback_instances.csv");
    assert_eq!(instances.len(), 301);
    let mut instances = instances.iter();
    assert!(instances.all(|row| row[3] == "/pinger" && row[5] == "/pong"));
    let deliveries = rows(folder.path(), "deliveries.csv");
    assert_eq!(deliveries.len(), 301);
    let mut deliveries = deliveries.iter();
    assert!(deliveries.all(|row| row[6] == "/pinger" && row[0] == "/pong"));

    // The process of the publisher or of the subscription.
    let folder = exported("pingpong", "--pid 22091 --tables deliveries", 0);
    let deliveries = rows(folder.path(), "deliveries.csv");
    let mut ends = deliveries.iter().map(|row| [&row[2], &row[5]]);
    assert!(ends.all(|pids| pids.iter().any(|pid| *pid == "22091")));
    assert!(deliveries.iter().any(|row| row[2] != "22091"));
    assert!(deliveries.iter().any(|row| row[5] != "22091"));
}

#[test]
fn without_simulated_time_its_columns_are_empty_and_that_is_said() {
    let folder = Folder::new();
    let output = folder.here();
    let arguments = ["export", &recording("pingpong"), "--sim-time", "-o", output];
    let note = stderr_of(&arguments, 0);
    note.says("no simulated time");
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
    let folder = Folder::new();
    let file = folder.at("architecture.yaml");
    stdout_of(&["architecture", "create", &trace, "-o", &file], 0);
    let plain = folder.read("architecture.yaml");
    let export = || {
        let options = format!("--architecture {file} --tables node_latencies");
        rows(
            exported("pingpong", &options, 0).path(),
            "node_latencies.csv",
        )
    };
    let of_basis = |rows: &[Vec<String>], basis: &str| {
        let rows = rows.iter().filter(|row| row[9] == basis);
        rows.count()
    };
    // The answer to each ping is observed, which a file need not say.
    let observed = export();
    assert_eq!(observed.len(), of_basis(&observed, "observed"));
    // What /pinger sends from its timer is declared to be made from the newest answer.
    let declared = plain.replace(
        "context_type: UNDEFINED",
        "context_type: use_latest_message",
    );
    assert_ne!(plain, declared);
    folder.write("architecture.yaml", declared);
    let both = export();
    assert_eq!(of_basis(&both, "observed"), observed.len());
    let latest = of_basis(&both, "use_latest_message");
    assert_eq!(latest, both.len() - observed.len());
    assert!((290..=301).contains(&latest), "{latest}");
}
