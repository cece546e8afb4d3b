//! Every verb that looks at a trace, on every recording that there is: whatever they contain, nothing panics.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};

use support::{rostrace, shared_recordings};

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
