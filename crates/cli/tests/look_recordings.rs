//! Every verb that looks at a trace, on every recording that there is: whatever they contain, nothing panics.

use std::path::{Path, PathBuf};

use crate::support::{rostrace, shared_recordings};

const VERBS: [&str; 6] = [
    "info",
    "nodes",
    "topics",
    "callbacks",
    "processes",
    "executors",
];

/// The innermost folders that contain whole recordings: those with metadata, without what is above or below.
fn traces(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.join("metadata").is_file() {
        found.push(folder.to_owned());
        return;
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    entries.sort();
    for entry in entries {
        traces(&entry, found);
    }
}

#[test]
fn every_recording_can_be_looked_at() {
    let Some(folder) = shared_recordings() else {
        return;
    };
    let mut found = Vec::new();
    traces(&folder, &mut found);
    assert!(!found.is_empty(), "{} has no traces", folder.display());
    for trace in &found {
        for verb in VERBS {
            for format in ["table", "json"] {
                let trace = trace.to_str().unwrap();
                let output = rostrace(&[verb, "--format", format, trace])
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(
                    matches!(output.status.code(), Some(0 | 3)) && !said.contains("panicked"),
                    "{verb} --format {format} {trace}: {:?}\n{said}",
                    output.status
                );
                assert!(
                    format == "table"
                        || serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok(),
                    "{verb} {trace}"
                );
            }
        }
    }
}

#[test]
fn topics_and_the_exported_table_count_the_same_receptions() {
    let Some(folder) = shared_recordings() else {
        return;
    };
    for name in [
        "jazzy/lossy",
        "jazzy/intra",
        "jazzy/executors",
        "humble/intra",
        "humble/multi_caret",
    ] {
        let trace = folder.join(name);
        let trace = trace.to_str().unwrap();
        let said = rostrace(&["topics", "--all", "--format", "json", trace])
            .output()
            .unwrap();
        let said: Vec<serde_json::Value> = serde_json::from_slice(&said.stdout).unwrap();
        let mut told: Vec<(String, u64)> = said
            .iter()
            .flat_map(|topic| {
                let name = topic["topic"].as_str().unwrap_or_default();
                let ends = topic["subscriptions"].as_array().unwrap().iter();
                ends.map(move |end| (name.to_owned(), end["received"].as_u64().unwrap()))
            })
            .collect();
        let tables = tempfile::tempdir().unwrap();
        let output = tables.path().to_str().unwrap();
        let options = ["--tables", "subscriptions", "--format", "csv", "-o", output];
        let mut export = vec!["export", trace];
        export.extend(options);
        rostrace(&export).output().unwrap();
        let table = std::fs::read_to_string(tables.path().join("subscriptions.csv")).unwrap();
        let mut lines = table
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let column = |name: &str| header.iter().position(|it| *it == name).unwrap();
        let (topic, received) = (column("topic"), column("received"));
        let mut exported: Vec<(String, u64)> = lines
            .map(|row| (row[topic].to_owned(), row[received].parse().unwrap()))
            .collect();
        told.sort();
        exported.sort();
        assert!(!told.is_empty(), "{name}");
        assert_eq!(told, exported, "{name}");
    }
}
