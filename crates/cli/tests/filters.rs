//! `--node`, `--topic` and `--pid` mean the same to every verb that speaks of nodes and topics.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::support::{recording, rostrace, shared_recordings, stderr_of, stdout_of};

const VERBS: [&str; 9] = [
    "nodes",
    "topics",
    "callbacks",
    "processes",
    "executors",
    "latency",
    "paths",
    "why",
    "export",
];

/// The lines of a verb's help that belong to an option, up to the next one.
fn help_of(verb: &str, option: &str) -> String {
    let help = stdout_of(&[verb, "--help"], 0);
    let lines = help
        .lines()
        .skip_while(|line| !line.trim_start().starts_with(&format!("{option} ")));
    let mut words: Vec<&str> = Vec::new();
    for (number, line) in lines.map(str::trim).enumerate() {
        if number > 0 && (line.is_empty() || line.starts_with('-')) {
            break;
        }
        // Columns are wider where a verb has longer options.
        words.extend(line.split_whitespace());
    }
    words.join(" ")
}

#[test]
fn every_verb_has_the_same_filters_with_the_same_words() {
    for option in ["--node", "--topic", "--pid", "--skip-start", "--skip-end"] {
        let expected = help_of("nodes", option);
        assert!(expected.len() > option.len() + 20, "{expected}");
        for verb in VERBS {
            assert_eq!(help_of(verb, option), expected, "{verb} {option}");
        }
    }
}

/// A recording of several processes, with an architecture that names a path through them.
struct Chain {
    trace: String,
    architecture: String,
    pids: Vec<(String, String)>,
}

/// Names and processes of all nodes that are not built in.
fn nodes(trace: &str) -> Vec<(String, String)> {
    let rows: Value =
        serde_json::from_str(&stdout_of(&["nodes", trace, "--format", "json"], 0)).unwrap();
    let ours = rows.as_array().unwrap().iter();
    ours.filter(|row| row["built_in"] == false)
        .map(|row| {
            (
                row["node"].as_str().unwrap().to_owned(),
                row["pid"].to_string(),
            )
        })
        .collect()
}

impl Chain {
    /// A node in the middle of the path, and its process.
    fn planner(&self) -> (String, String) {
        let found = self.pids.iter().find(|(node, _)| node == "/planner");
        found.unwrap().clone()
    }
}

fn chain() -> Option<Chain> {
    let folder = shared_recordings()?.join("jazzy/chain_caret");
    let trace = folder.to_str().unwrap().to_owned();
    let architecture = folder.join("expected/edited_architecture.yaml");
    Some(Chain {
        pids: nodes(&trace),
        architecture: architecture.to_str().unwrap().to_owned(),
        trace,
    })
}

/// What a verb shows as JSON, or its error.
fn shown(chain: &Chain, verb: &str, filter: &[&str]) -> Result<Value, String> {
    let mut arguments = vec![verb, chain.trace.as_str(), "--format", "json"];
    if verb == "paths" {
        arguments.extend(["--architecture", chain.architecture.as_str()]);
    }
    arguments.extend(filter);
    let output = rostrace(&arguments).output().unwrap();
    match output.status.code() {
        Some(0) => Ok(serde_json::from_slice(&output.stdout).unwrap()),
        _ => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

#[test]
fn a_list_becomes_shorter_with_each_filter_and_all_that_is_left_fits() {
    let Some(chain) = chain() else { return };
    let (node, pid) = chain.planner();
    let length = |verb: &str, filter: &[&str]| {
        let shown = shown(&chain, verb, filter).unwrap_or(Value::Array(Vec::new()));
        shown.as_array().unwrap().len()
    };
    let topics = shown(&chain, "topics", &["--node", &node]).unwrap();
    let topic = topics
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["built_in"] == false);
    let topic = topic.unwrap()["topic"].as_str().unwrap().to_owned();
    for verb in [
        "nodes",
        "topics",
        "callbacks",
        "processes",
        "executors",
        "latency",
        "paths",
    ] {
        let whole = length(verb, &["--node", "*"]);
        for filter in [["--node", &node], ["--topic", &topic], ["--pid", &pid]] {
            let left = length(verb, &filter);
            assert!(
                (1..=whole).contains(&left),
                "{verb} {filter:?}: {left} of {whole}"
            );
        }
        let all = ["--node", &node, "--topic", &topic, "--pid", &pid];
        assert!((1..=whole).contains(&length(verb, &all)), "{verb} {all:?}");
    }
    for path in shown(&chain, "latency", &["--topic", &topic, "--pid", &pid])
        .unwrap()
        .as_array()
        .unwrap()
    {
        let title = path["path"].as_str().unwrap();
        assert!(title.contains(&topic) && title.contains(&node), "{title}");
    }
}

#[test]
fn what_is_explained_is_among_what_the_filters_leave() {
    let Some(chain) = chain() else { return };
    for (node, pid) in &chain.pids {
        for filter in [["--node", node], ["--pid", pid]] {
            let subject = |explained: Value| explained["subject"].as_str().unwrap().to_owned();
            if let Ok(explained) = shown(&chain, "why", &filter) {
                assert!(subject(explained).starts_with(node.as_str()), "{filter:?}");
            }
            // The same for a path that goes there.
            let to_any = ["--to", "/*", filter[0], filter[1]];
            if let Ok(explained) = shown(&chain, "why", &to_any) {
                assert_eq!(explained["kind"], "path");
                assert!(subject(explained).contains(node.as_str()), "{filter:?}");
            }
        }
    }
}

/// The rows of a CSV file without its header.
fn rows(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap().lines().count() - 1
}

#[test]
fn exported_rows_fit_and_those_of_paths_go_together() {
    let Some(chain) = chain() else { return };
    let (node, pid) = chain.planner();
    let export = |filter: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().to_str().unwrap();
        let mut arguments = vec!["export", chain.trace.as_str(), "-o", output];
        arguments.extend(filter);
        rostrace(&arguments).assert().success();
        folder
    };
    let whole = export(&[]);
    for filter in [["--node", node.as_str()], ["--pid", pid.as_str()]] {
        let part = export(&filter);
        for table in [
            "callbacks",
            "callback_instances",
            "publications",
            "deliveries",
            "paths",
            "path_stages",
            "path_flows",
        ] {
            let file = format!("{table}.csv");
            let (part, whole) = (
                rows(&part.path().join(&file)),
                rows(&whole.path().join(&file)),
            );
            assert!(
                (1..=whole).contains(&part),
                "{table} {filter:?}: {part} of {whole}"
            );
        }
        let titles = std::fs::read_to_string(part.path().join("paths.csv")).unwrap();
        let mut titles = titles.lines().skip(1);
        assert!(titles.all(|title| title.contains(&node)), "{filter:?}");
    }
}

#[test]
fn a_filter_that_nothing_fits_is_refused_by_every_verb() {
    let Some(chain) = chain() else { return };
    for (filter, sentence) in [
        (
            ["--node", "/nowhere"],
            "no node of this trace is named `/nowhere`",
        ),
        (
            ["--topic", "/nothing"],
            "no topic of this trace is named `/nothing`",
        ),
        (["--pid", "1"], "no process of this trace has the pid 1"),
    ] {
        for verb in VERBS {
            let folder = tempfile::tempdir().unwrap();
            let mut arguments = vec![verb, chain.trace.as_str(), filter[0], filter[1]];
            match verb {
                "paths" => arguments.extend(["--architecture", chain.architecture.as_str()]),
                "export" => arguments.extend(["-o", folder.path().to_str().unwrap()]),
                _ => {}
            }
            let output = rostrace(&arguments).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains(sentence), "{verb} {filter:?}: {said}");
            assert_eq!(output.status.code(), Some(2), "{verb} {filter:?}: {said}");
        }
    }
}

#[test]
fn filters_that_fit_alone_but_not_together_are_told() {
    let trace = recording("pingpong");
    let together = ["--node", "/pinger", "--topic", "/parameter_events", "--pid"];
    let other = nodes(&trace)
        .into_iter()
        .find(|(node, _)| node == "/ponger");
    let (_, pid) = other.unwrap();
    for (verb, noun) in [
        ("nodes", "node"),
        ("topics", "topic"),
        ("callbacks", "callback"),
        ("processes", "process"),
    ] {
        let mut arguments = vec![verb, trace.as_str()];
        arguments.extend(together);
        arguments.push(&pid);
        let said = stderr_of(&arguments, 0);
        let sentence =
            format!("no {noun} fits --node /pinger --topic /parameter_events --pid {pid}");
        assert!(said.contains(&sentence), "{verb}: {said}");
    }
    let said = stderr_of(
        &["latency", &trace, "--node", "/pinger", "--topic", "/rosout"],
        0,
    );
    assert!(
        said.contains("no path fits --node /pinger --topic /rosout"),
        "{said}"
    );
}

#[test]
fn carets_tables_keep_their_names_when_there_are_fewer_of_them() {
    let Some(chain) = chain() else { return };
    let files = |filter: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().to_str().unwrap();
        let file = chain.architecture.as_str();
        let mut arguments = vec!["export", chain.trace.as_str(), "-o", output];
        arguments.extend(["--architecture", file, "--caret-columns"]);
        arguments.extend(filter);
        let output = rostrace(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
        (files, String::from_utf8(output.stderr).unwrap())
    };
    let (whole, _) = files(&[]);
    let (node, pid) = chain.planner();
    for filter in [["--node", node.as_str()], ["--pid", pid.as_str()]] {
        let (part, _) = files(&filter);
        assert!(
            (1..whole.len()).contains(&part.len()),
            "{filter:?}: {}",
            part.len()
        );
        for (name, bytes) in &part {
            assert_eq!(whole.get(name), Some(bytes), "{filter:?} {name}");
            let is_path = ["path__", "response__", "stacked__"]
                .iter()
                .any(|it| name.starts_with(it));
            assert!(is_path || name.contains("planner"), "{filter:?} {name}");
        }
        let other = part
            .keys()
            .find(|name| name.starts_with("callbacks__fusion"));
        assert_eq!(other, None, "{filter:?}");
    }
    let mut others = nodes(&chain.trace).into_iter();
    let (_, other) = others.find(|(_, it)| *it != pid).unwrap();
    let (none, said) = files(&["--node", &node, "--topic", "/rosout", "--pid", &other]);
    assert_eq!(none.len(), 0);
    assert!(
        said.contains("no object of the architecture file fits"),
        "{said}"
    );
}

#[test]
fn a_range_of_time_in_which_nothing_happened_is_told() {
    let trace = recording("pingpong");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (page, timeline, part) = (file("page.html"), file("it.json"), file("part"));
    let tables = file("tables");
    let verbs: [&[&str]; 12] = [
        &["nodes", &trace],
        &["topics", &trace],
        &["callbacks", &trace],
        &["processes", &trace],
        &["executors", &trace],
        &["latency", &trace],
        &["export", &trace, "-o", &tables],
        &["report", &trace, "-o", &page],
        &["timeline", &trace, "-o", &timeline],
        &["compare", &trace, &trace],
        &["dump", &trace],
        &["cut", &trace, "-o", &part],
    ];
    for verb in verbs {
        let mut arguments = verb.to_vec();
        arguments.extend(["--since", "+1000s", "--until", "+1001s"]);
        let output = rostrace(&arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let sentence = "nothing of the recording lies between ";
        assert!(said.contains(sentence), "{verb:?}: {said}");
        assert!(said.contains("; it covers "), "{verb:?}: {said}");
        assert!(output.status.code() < Some(2), "{verb:?}: {said}");
    }
    for (option, word) in [("--since", "after"), ("--until", "before")] {
        let time = if word == "after" { "+1000s" } else { "1000" };
        let said = stderr_of(&["callbacks", &trace, option, time], 0);
        let sentence = format!("nothing of the recording lies {word} ");
        assert!(said.contains(&sentence), "{said}");
    }
    let said = stderr_of(&["callbacks", &trace, "--since", "+1s"], 0);
    assert!(!said.contains("nothing of the recording"), "{said}");
}

#[test]
fn filters_that_fit_nothing_together_are_told_by_verbs_that_show_everything() {
    let trace = recording("pingpong");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (page, timeline) = (file("page.html"), file("it.json"));
    let others = nodes(&trace);
    let (_, pid) = others.iter().find(|(node, _)| node == "/ponger").unwrap();
    let verbs: [&[&str]; 3] = [
        &["report", &trace, "-o", &page],
        &["timeline", &trace, "-o", &timeline],
        &["compare", &trace, &trace],
    ];
    for verb in verbs {
        let mut arguments = verb.to_vec();
        arguments.extend(["--node", "/pinger", "--pid", pid]);
        let said = stderr_of(&arguments, 0);
        let sentence = format!("no node, topic or callback fits --node /pinger --pid {pid}");
        assert!(said.contains(&sentence), "{verb:?}: {said}");
    }
}
