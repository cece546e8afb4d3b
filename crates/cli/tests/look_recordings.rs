//! Every verb that looks at a trace, on every recording that there is: whatever they contain, nothing panics, and all
//! give the same numbers.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Folder, array, json_of_any, rostrace, shared, shared_recordings, text};

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
                let mut command = rostrace(&[verb, "--format", format, trace]);
                let output = command.output().unwrap();
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
    let folder = Folder::new();
    let lists = &VERBS[1..];
    export(trace, &lists.join(","), &folder);
    for verb in lists {
        let mut command = rostrace(&[verb, "--format", "csv", trace]);
        let listed = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let exported = folder.read(&format!("{verb}.csv"));
        assert_eq!(listed.lines().next(), exported.lines().next(), "{verb}");
        let mut lines = [&listed, &exported].map(|it| it.lines().collect::<Vec<&str>>());
        // A list is in the order that people need.
        lines.iter_mut().for_each(|it| it.sort_unstable());
        assert!(lines[0] == lines[1], "{verb} of {trace}");
    }
}

fn export(trace: &str, tables: &str, folder: &Folder) {
    let mut command = rostrace(&["export", trace, "--tables", tables, "-o", folder.here()]);
    command.output().unwrap();
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
    let sum = |column: &str| {
        rows("nodes")
            .map(|it| it[column].as_u64().unwrap())
            .sum::<u64>()
    };
    let of_nodes = rows("callbacks").filter(|it| !it["node"].is_null());
    let built_in = of_nodes.clone().filter(|it| is(it, "built_in")).count();
    assert_eq!(sum("callbacks"), of_nodes.count() as u64, "{trace}");
    assert_eq!(sum("built_in_callbacks"), built_in as u64, "{trace}");
}

#[test]
fn topics_and_the_exported_table_count_the_same_receptions() {
    for name in [
        "jazzy/lossy",
        "jazzy/intra",
        "jazzy/executors",
        "humble/intra",
        "humble/multi_caret",
    ] {
        let Some(trace) = shared(name) else { return };
        let topics = json_of_any(&["topics", "--all", &trace]);
        let subscribed = array(&topics).iter().filter(|it| it["subscriptions"] != 0);
        let reported: BTreeMap<String, u64> = subscribed
            .map(|it| {
                (
                    text(&it["topic"]).to_owned(),
                    it["received"].as_u64().unwrap(),
                )
            })
            .collect();
        let tables = Folder::new();
        export(&trace, "subscriptions", &tables);
        let table = tables.read("subscriptions.csv");
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
        assert!(!reported.is_empty(), "{name}");
        assert_eq!(reported, exported, "{name}");
    }
}
