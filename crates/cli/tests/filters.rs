//! `--node`, `--topic` and `--pid` mean the same to every verb that speaks of nodes and topics.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{
    Folder, Says, array, finished, recording, rostrace, rows, shared, stderr_of, stdout_of, text,
};

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
    let begin = format!("{option} ");
    let lines = help
        .lines()
        .skip_while(|line| !line.trim_start().starts_with(&begin));
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
    let nodes = rows(&["nodes", trace], 0).into_iter();
    let ours = nodes.filter(|row| row["built_in"] == false);
    ours.map(|row| (text(&row["node"]).to_owned(), row["pid"].to_string()))
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
    let trace = shared("jazzy/chain_caret")?;
    Some(Chain {
        pids: nodes(&trace),
        architecture: format!("{trace}/expected/edited_architecture.yaml"),
        trace,
    })
}

/// What a verb shows as JSON, or its error.
fn shown(chain: &Chain, verb: &str, filter: &[&str]) -> Result<Value, String> {
    let mut arguments = vec![verb, &chain.trace, "--format", "json"];
    if verb == "paths" {
        arguments.extend(["--architecture", &chain.architecture]);
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
        shown(&chain, verb, filter).map_or(0, |shown| array(&shown).len())
    };
    let topics = shown(&chain, "topics", &["--node", &node]).unwrap();
    let topic = array(&topics).iter().find(|it| it["built_in"] == false);
    let topic = text(&topic.unwrap()["topic"]).to_owned();
    for verb in &VERBS[..7] {
        let whole = length(verb, &["--node", "*"]);
        for filter in [["--node", &node], ["--topic", &topic], ["--pid", &pid]] {
            let left = length(verb, &filter);
            assert!((1..=whole).contains(&left), "{verb} {filter:?}: {left}");
        }
        let all = ["--node", &node, "--topic", &topic, "--pid", &pid];
        assert!((1..=whole).contains(&length(verb, &all)), "{verb} {all:?}");
    }
    let paths = shown(&chain, "latency", &["--topic", &topic, "--pid", &pid]).unwrap();
    for path in array(&paths) {
        let title = text(&path["path"]);
        assert!(title.contains(&topic) && title.contains(&node), "{title}");
    }
}

#[test]
fn what_is_explained_is_among_what_the_filters_leave() {
    let Some(chain) = chain() else { return };
    for (node, pid) in &chain.pids {
        for filter in [["--node", node], ["--pid", pid]] {
            let subject = |explained: Value| text(&explained["subject"]).to_owned();
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

#[test]
fn exported_rows_fit_and_those_of_paths_go_together() {
    let Some(chain) = chain() else { return };
    let (node, pid) = chain.planner();
    let export = |filter: &[&str]| {
        let folder = Folder::new();
        let asked = ["export", &chain.trace, "-o", folder.here()];
        stdout_of(&[&asked, filter].concat(), 0);
        folder
    };
    let whole = export(&[]);
    for filter in [["--node", &node], ["--pid", &pid]] {
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
            // Without the header.
            let rows = |folder: &Folder| folder.read(&format!("{table}.csv")).lines().count() - 1;
            let (part, whole) = (rows(&part), rows(&whole));
            assert!((1..=whole).contains(&part), "{table} {filter:?}: {part}");
        }
        let titles = part.read("paths.csv");
        let mut titles = titles.lines().skip(1);
        assert!(titles.all(|title| title.contains(&node)), "{filter:?}");
    }
}

#[test]
fn a_filter_that_nothing_fits_is_refused_by_every_verb() {
    let Some(chain) = chain() else { return };
    for (filter, sentence) in [
        (
            "--node /nowhere",
            "no node of this trace is named `/nowhere`",
        ),
        (
            "--topic /nothing",
            "no topic of this trace is named `/nothing`",
        ),
        ("--pid 1", "no process of this trace has the pid 1"),
    ] {
        for verb in VERBS {
            let folder = Folder::new();
            let more = match verb {
                "paths" => format!("--architecture {}", chain.architecture),
                "export" => format!("-o {}", folder.here()),
                _ => String::new(),
            };
            let said = stderr_of(&format!("{verb} {} {filter} {more}", chain.trace), 2);
            said.says(sentence);
        }
    }
}

#[test]
fn filters_that_fit_alone_but_not_together_are_reported() {
    let trace = recording("pingpong");
    let pid = pid_of_ponger(&trace);
    let together = format!("--node /pinger --topic /parameter_events --pid {pid}");
    for (verb, noun) in [
        ("nodes", "node"),
        ("topics", "topic"),
        ("callbacks", "callback"),
        ("processes", "process"),
    ] {
        let said = stderr_of(&format!("{verb} {trace} {together}"), 0);
        said.says(&format!("no {noun} fits {together}"));
    }
    let said = stderr_of(
        &format!("latency {trace} --node /pinger --topic /rosout"),
        0,
    );
    said.says("no path fits --node /pinger --topic /rosout");
}

fn pid_of_ponger(trace: &str) -> String {
    let mut nodes = nodes(trace).into_iter();
    nodes.find(|(node, _)| node == "/ponger").unwrap().1
}

#[test]
fn carets_tables_keep_their_names_when_there_are_fewer_of_them() {
    let Some(chain) = chain() else { return };
    let files = |filter: &[&str]| {
        let folder = Folder::new();
        let Chain {
            trace,
            architecture,
            ..
        } = &chain;
        let asked = ["export", trace, "-o", folder.here(), "--caret-columns"];
        let asked = [&asked, &["--architecture", architecture][..], filter].concat();
        let (_, said) = finished(&mut rostrace(&asked), 0);
        let names = folder.names().into_iter();
        let files = names.map(|name| (name.clone(), std::fs::read(folder.join(&name)).unwrap()));
        (files.collect::<BTreeMap<String, Vec<u8>>>(), said)
    };
    let (whole, _) = files(&[]);
    let (node, pid) = chain.planner();
    for filter in [["--node", &node], ["--pid", &pid]] {
        let (part, _) = files(&filter);
        assert!(!part.is_empty() && part.len() < whole.len(), "{filter:?}");
        for (name, bytes) in &part {
            assert_eq!(whole.get(name), Some(bytes), "{filter:?} {name}");
            let mut of_paths = ["path__", "response__", "stacked__"].iter();
            let is_path = of_paths.any(|it| name.starts_with(it));
            assert!(is_path || name.contains("planner"), "{filter:?} {name}");
            assert!(!name.starts_with("callbacks__fusion"), "{filter:?} {name}");
        }
    }
    let mut others = nodes(&chain.trace).into_iter();
    let (_, other) = others.find(|(_, it)| *it != pid).unwrap();
    let (none, said) = files(&["--node", &node, "--topic", "/rosout", "--pid", &other]);
    assert_eq!(none.len(), 0);
    said.says("no object of the architecture file fits");
}

#[test]
fn a_range_of_time_in_which_nothing_happened_is_reported() {
    let trace = recording("pingpong");
    let folder = Folder::new();
    let out = folder.here();
    let mut verbs = VERBS[..6].join(&format!(" {trace}\n"));
    verbs += &format!(
        " {trace}
         export {trace} -o {out}/tables
         report {trace} -o {out}/page.html
         timeline {trace} -o {out}/it.json
         compare {trace} {trace}
         dump {trace}
         cut {trace} -o {out}/part"
    );
    for verb in verbs.lines() {
        let mut command = rostrace(&format!("{verb} --since +1000s --until +1001s"));
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        said.says_all(&["nothing of the recording lies between ", "; it covers "]);
        assert!(output.status.code() < Some(2), "{verb}: {said}");
    }
    for (option, word) in [("--since", "after"), ("--until", "before")] {
        let time = if word == "after" { "+1000s" } else { "1000" };
        let said = stderr_of(&["callbacks", &trace, option, time], 0);
        let sentence = format!("nothing of the recording lies {word} ");
        said.says(&sentence);
    }
    let said = stderr_of(&["callbacks", &trace, "--since", "+1s"], 0);
    said.lacks("nothing of the recording");
}

#[test]
fn filters_that_fit_nothing_together_are_reported_by_verbs_that_show_everything() {
    let trace = recording("pingpong");
    let folder = Folder::new();
    let out = folder.here();
    let together = format!("--node /pinger --pid {}", pid_of_ponger(&trace));
    for verb in [
        format!("report {trace} -o {out}/page.html"),
        format!("timeline {trace} -o {out}/it.json"),
        format!("compare {trace} {trace}"),
    ] {
        let said = stderr_of(&format!("{verb} {together}"), 0);
        said.says(&format!("no node, topic or callback fits {together}"));
    }
}
