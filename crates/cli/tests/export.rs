//! `rostrace export`: the tables, judged by what the recorded programs logged themselves; their formats and filters, and what is
//! left behind when something goes wrong.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{DurationNanosecondType, Int32Type, Int64Type, TimestampNanosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use support::{recording, rostrace, spawn, stderr_of, stdout_of};

const TABLES: [&str; 3] = ["callback_instances", "publications", "deliveries"];

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

/// Exports into a new folder; `more` are further options.
fn exported(recorded: &str, more: &[&str], status: i32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let trace = recording(recorded);
    let mut arguments = vec!["export", &trace, "-o", folder.path().to_str().unwrap()];
    arguments.extend(more);
    rostrace(&arguments).assert().code(status);
    folder
}

/// What is in a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|it| {
            let name = it.file_name().into_string().unwrap();
            (name, fs::read(it.path()).unwrap())
        })
        .collect()
}

/// A cell as CSV has it.
fn cell(array: &dyn Array, row: usize) -> String {
    if array.is_null(row) {
        return String::new();
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::Dictionary(..) => {
            let texts = array.as_dictionary::<Int32Type>();
            cell(texts.values(), texts.keys().value(row) as usize)
        }
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => panic!("no recording has numbers yet: compare them here"),
        DataType::Boolean => u8::from(array.as_boolean().value(row)).to_string(),
        DataType::Timestamp(..) => {
            let times = array.as_primitive::<TimestampNanosecondType>();
            times.value(row).to_string()
        }
        _ => {
            let durations = array.as_primitive::<DurationNanosecondType>();
            durations.value(row).to_string()
        }
    }
}

fn cells(batches: Vec<RecordBatch>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for batch in batches {
        let row = |row| batch.columns().iter().map(|it| cell(it, row)).collect();
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows
}

fn arrow_rows(path: &Path) -> Vec<Vec<String>> {
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    cells(reader.map(Result::unwrap).collect())
}

fn parquet_rows(path: &Path) -> Vec<Vec<String>> {
    let file = File::open(path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
    let reader = reader.unwrap().build().unwrap();
    cells(reader.map(Result::unwrap).collect())
}

fn json_rows(path: &Path, columns: &[String]) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let objects: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Bool(flag) => u8::from(*flag).to_string(),
        number => number.to_string(),
    };
    let row = |object: &serde_json::Value| columns.iter().map(|it| text(&object[it])).collect();
    objects.iter().map(row).collect()
}

fn header(folder: &Path, table: &str) -> Vec<String> {
    let mut csv = csv::Reader::from_path(folder.join(table)).unwrap();
    csv.headers().unwrap().iter().map(str::to_owned).collect()
}

#[test]
fn all_formats_have_the_same_values() {
    for (recorded, status) in [("pingpong", 0), ("lifecycle_caret", 0), ("lossy", 3)] {
        let tables = TABLES.join(",");
        let folder =
            |format| exported(recorded, &["--tables", &tables, "--format", format], status);
        let (csv, json, parquet, arrow) = (
            folder("csv"),
            folder("json"),
            folder("parquet"),
            folder("arrow"),
        );
        for table in TABLES {
            let name = format!("{table}.csv");
            let columns = header(csv.path(), &name);
            let expected = rows(csv.path(), &name);
            assert!(!expected.is_empty(), "{recorded} {table}");
            let file = |folder: &tempfile::TempDir, extension: &str| {
                folder.path().join(format!("{table}.{extension}"))
            };
            assert!(json_rows(&file(&json, "json"), &columns) == expected);
            assert!(parquet_rows(&file(&parquet, "parquet")) == expected);
            assert!(arrow_rows(&file(&arrow, "arrow")) == expected);
        }
    }
}

#[test]
fn carets_tables_are_written_in_every_format() {
    let architecture = tempfile::tempdir().unwrap();
    let file = architecture.path().join("architecture.yaml");
    let file = file.to_str().unwrap();
    rostrace(&[
        "architecture",
        "create",
        &recording("lifecycle_caret"),
        "-o",
        file,
    ])
    .assert()
    .success();
    let folder = |format| {
        let options = [
            "--architecture",
            file,
            "--caret-columns",
            "--format",
            format,
        ];
        exported("lifecycle_caret", &options, 0)
    };
    let (csv, parquet) = (folder("csv"), folder("parquet"));
    let names = |folder: &tempfile::TempDir| -> Vec<String> {
        let names = files(folder.path()).into_keys();
        names
            .map(|name| name.rsplit_once('.').unwrap().0.to_owned())
            .collect()
    };
    assert_eq!(names(&csv), names(&parquet));
    for name in names(&csv) {
        let found = parquet_rows(&parquet.path().join(format!("{name}.parquet")));
        assert!(found == rows(csv.path(), &format!("{name}.csv")), "{name}");
    }
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
        "--from",
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
fn files_of_the_same_name_are_replaced_and_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("deliveries.csv"), "old").unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let output = folder.path().to_str().unwrap();
    let trace = recording("pingpong");
    rostrace(&["export", &trace, "--tables", "deliveries", "-o", output])
        .assert()
        .success();
    let files = files(folder.path());
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["deliveries.csv", "notes.txt"]
    );
    assert!(files["deliveries.csv"].len() > 1_000);
    assert_eq!(files["notes.txt"], b"mine");
}

#[test]
fn where_no_file_can_be_made_that_is_said() {
    let trace = recording("pingpong");
    // A folder in which not even root can make files.
    let error = stderr_of(&["export", &trace, "-o", "/proc"], 1);
    assert!(
        error.contains("/proc: no file can be made in this folder"),
        "{error}"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let error = stderr_of(&["export", &trace, "-o", path], 1);
    assert!(error.contains("this is a file, not a folder"), "{error}");
}

#[test]
fn an_export_that_fails_leaves_everything_as_it_was() {
    for format in ["csv", "json", "parquet", "arrow"] {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join(format!("deliveries.{format}"));
        fs::write(&old, "old").unwrap();
        // Files may have 8 KiB at most, and who writes more is told so instead of being killed.
        let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
        let output = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(assert_cmd::cargo::cargo_bin("rostrace"))
            .args(["export", &recording("pingpong"), "--format", format, "-o"])
            .arg(folder.path())
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(
            error.contains("cannot be written: File too large"),
            "{format}: {error}"
        );
        let files = files(folder.path());
        assert_eq!(files.len(), 1, "{:?}", files.keys());
        assert_eq!(fs::read(&old).unwrap(), b"old");
    }
}

#[test]
fn an_export_that_is_stopped_shows_no_partial_file() {
    let complete = files(exported("lossy", &[], 3).path());
    for (signal, waits) in [("INT", [1, 20, 60, 120]), ("KILL", [5, 30, 80, 150])] {
        for wait in waits {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().to_str().unwrap();
            let mut child = spawn(&["export", &recording("lossy"), "-o", output]);
            std::thread::sleep(Duration::from_millis(wait));
            let kill = format!("kill -{signal} {}", child.id());
            let _ = std::process::Command::new("sh")
                .args(["-c", &kill])
                .output();
            let status = child.wait().unwrap();
            for (name, bytes) in files(folder.path()) {
                // Who is killed cannot clean up, but what is left is hidden.
                if signal == "KILL" && name.starts_with(".rostrace-") {
                    continue;
                }
                assert!(bytes == complete[&name], "{name} after {wait} ms, {status}");
            }
        }
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

#[test]
fn the_guide_lists_the_files_that_are_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("docs/guides/export.md")).unwrap();
    let (_, listing) = guide.split_once("$ ls tables\n").unwrap();
    let (listing, _) = listing.split_once("\n…\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().to_str().unwrap();
    let pingpong = recording("pingpong");
    stdout_of(
        &["export", &pingpong, "--format", "parquet", "-o", target],
        0,
    );
    let files = std::fs::read_dir(folder.path()).unwrap();
    let mut files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let shown: Vec<&str> = listing.lines().collect();
    assert_eq!(files[..shown.len()], shown);
}
