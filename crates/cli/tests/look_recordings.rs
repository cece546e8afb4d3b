//! Every verb that looks at a trace, on every recording that there is: whatever they contain, nothing panics, and all
//! give the same numbers.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;

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
        let mut said_by = HashMap::new();
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
                if format == "json" {
                    let json = serde_json::from_slice(&output.stdout).unwrap();
                    said_by.insert(verb, json);
                }
            }
        }
        assert_one_count(&said_by, trace);
        assert_lists_are_tables(trace);
    }
}

/// A list has the rows, the columns and the values of the exported table of the same name.
fn assert_lists_are_tables(trace: &Path) {
    let trace = trace.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let lists = &VERBS[1..];
    let tables = lists.join(",");
    let export = ["export", trace, "--tables", &tables, "-o", output];
    rostrace(&export).output().unwrap();
    for verb in lists {
        let said = rostrace(&[verb, "--format", "csv", trace])
            .output()
            .unwrap();
        let listed = String::from_utf8(said.stdout).unwrap();
        let table = folder.path().join(format!("{verb}.csv"));
        let exported = std::fs::read_to_string(table).unwrap();
        assert_eq!(listed.lines().next(), exported.lines().next(), "{verb}");
        let mut lines = [&listed, &exported].map(|it| it.lines().collect::<Vec<&str>>());
        // A list is in the order that people need.
        lines.iter_mut().for_each(|it| it.sort_unstable());
        assert!(lines[0] == lines[1], "{verb} of {trace}");
    }
}

/// How many there are of something is the same number, whoever says it.
fn assert_one_count(said_by: &HashMap<&str, Value>, trace: &Path) {
    let trace = trace.display();
    let rows = |verb: &str| said_by[verb].as_array().unwrap().iter();
    let is = |row: &&Value, flag: &str| row[flag] == true;
    let entities = &said_by["info"]["ros"]["entities"];
    if entities.is_null() {
        return;
    }
    let all = |what: &str| entities[what].as_u64().unwrap() as usize;
    for (what, name, of_built_in) in [
        ("nodes", "node", "built_in_nodes"),
        ("topics", "topic", "built_in_topics"),
        ("callbacks", "name", "built_in_callbacks"),
    ] {
        // What the trace does not name has rows by its addresses, which may be those of something that is listed.
        let is_named = |it: &&Value| {
            let name = it[name].as_str();
            name.is_some_and(|name| match what {
                "callbacks" => !name.ends_with("(unnamed)"),
                _ => name.starts_with('/'),
            })
        };
        let named = rows(what).filter(is_named);
        let range = named.count()..=rows(what).count();
        assert!(range.contains(&all(what)), "{what} of {trace}: {range:?}");
        let built_in = rows(what).filter(|it| is(it, "built_in")).count();
        assert_eq!(built_in, all(of_built_in), "{of_built_in} of {trace}");
    }
    let sum = |count: fn(&Value) -> &Value| -> u64 {
        let counts = rows("nodes").map(|it| count(it).as_u64().unwrap());
        counts.sum()
    };
    let of_nodes = rows("callbacks").filter(|it| !it["node"].is_null());
    let built_in = of_nodes.clone().filter(|it| is(it, "built_in")).count();
    assert_eq!(
        sum(|it| &it["callbacks"]),
        of_nodes.count() as u64,
        "{trace}"
    );
    let parts = sum(|it| &it["built_in_callbacks"]);
    assert_eq!(parts, built_in as u64, "{trace}");
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
        let subscribed = said.iter().filter(|it| it["subscriptions"] != 0);
        let told: BTreeMap<String, u64> = subscribed
            .map(|topic| {
                let name = topic["topic"].as_str().unwrap_or_default();
                (name.to_owned(), topic["received"].as_u64().unwrap())
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
        let mut exported: BTreeMap<String, u64> = BTreeMap::new();
        for row in lines {
            let number: u64 = row[received].parse().unwrap();
            *exported.entry(row[topic].to_owned()).or_default() += number;
        }
        assert!(!told.is_empty(), "{name}");
        assert_eq!(told, exported, "{name}");
    }
}
