//! `rostrace architecture` at its boundary: exit codes, output, and what happens to files.

use std::path::Path;

use serde_json::Value;

use crate::support::{
    Folder, Says, array, finished, json, recording, rostrace, shared, stderr_of, stdout_of,
};

const ROVER: &str = include_str!("../../architecture/tests/files/rover.yaml");

/// A folder with the sample in it, to be changed.
struct Desk {
    folder: Folder,
    file: String,
}

impl Desk {
    fn new() -> Desk {
        let folder = Folder::new();
        let file = folder.write("rover.yaml", ROVER);
        Desk { folder, file }
    }

    fn text(&self) -> String {
        self.folder.read("rover.yaml")
    }

    /// Changes the sample before a command sees it.
    fn replace(&self, old: &str, new: &str) {
        self.text().says(old);
        let text = self.text().replacen(old, new, 1);
        self.folder.write("rover.yaml", text);
    }

    /// `rostrace architecture VERB rover.yaml …`.
    #[track_caller]
    fn asked(&self, question: &str, status: i32) -> (String, String) {
        let (verb, rest) = question.split_once(' ').unwrap_or((question, ""));
        let asked = format!("architecture {verb} {} {rest}", self.file);
        finished(&mut rostrace(&asked), status)
    }

    #[track_caller]
    fn stdout(&self, question: &str, status: i32) -> String {
        self.asked(question, status).0
    }

    #[track_caller]
    fn stderr(&self, question: &str, status: i32) -> String {
        self.asked(question, status).1
    }

    fn problems(&self) -> Value {
        json(&["architecture", "check", &self.file], 1)
    }
}

#[test]
fn a_whole_file_passes_the_check() {
    let desk = Desk::new();
    let said = desk.stdout("check", 0);
    said.says("4 nodes, 3 topics, 2 executors, 2 named paths");
    // What is not said yet is a note, not a fault.
    said.says("note");
}

#[test]
fn a_faulty_file_fails_the_check_with_places() {
    let desk = Desk::new();
    desk.replace("callback_type: timer_callback", "callback_type: x");
    let rows = desk.problems();
    assert_eq!(rows[0]["severity"], "error");
    assert_eq!([&rows[0]["line"], &rows[0]["column"]], [49, 20]);
    let message = "`callback_type` must be timer_callback or subscription_callback, found `x`";
    assert_eq!(rows[0]["message"], message);
    let said = desk.stdout("check", 1);
    said.says("line 49, column 20");
}

#[test]
fn a_name_of_nothing_fails_the_check() {
    let desk = Desk::new();
    desk.replace("/driver/callback_group_0\n", "/driver/callback_group_9\n");
    let rows = desk.problems();
    assert_eq!(rows[0]["severity"], "warning");
    assert_eq!(rows[0]["line"], 32);
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    let desk = Desk::new();
    let said = stderr_of("architecture check /no/such/file.yaml", 1);
    said.says("/no/such/file.yaml: cannot be read");
    desk.folder.write("rover.yaml", b"nodes:\n- \xff\n");
    desk.stderr("check", 1).says("line 2: not UTF-8");
    desk.folder.write("rover.yaml", "nodes: 1\nexecutors: 2\n");
    let said = desk.stderr("remove-path x", 1);
    said.says_all(&["`nodes` must be a list, found `1`", "because of 3 errors"]);
}

#[test]
fn differences_are_listed() {
    let desk = Desk::new();
    let faster = ROVER.replace("period_ns: 20000000", "period_ns: 10000000");
    let (a, b) = (&desk.file, desk.folder.write("b.yaml", faster));
    let rows = json(&["architecture", "diff", a, &b], 0);
    assert_eq!(array(&rows).len(), 1);
    assert_eq!(rows[0]["fields"][0]["after"], "timer of 10000000 ns");
    desk.stdout(&format!("diff {b} --exit-code"), 1)
        .says("/driver/callback_0");
    let same = desk.stdout(&format!("diff {a} --exit-code"), 0);
    assert_eq!(same, "No differences.\n");
}

#[test]
fn paths_are_listed_shortest_first_with_what_was_left_out() {
    let desk = Desk::new();
    let ends = "paths --from /scanner --to /motors";
    let said = desk.stdout(ends, 0);
    said.says("/scanner →(/scan)→ /mapper →(/map)→ /driver →(/wheels)→ /motors");
    let said = desk.stdout(
        &format!("{ends} --via /driver --max-paths 1 --format json"),
        0,
    );
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(array(&answer["paths"]).len(), 1);
    assert_eq!(answer["paths"][0]["topics"][0], "/scan");
    // The mapper subscribes twice.
    assert_eq!(answer["total"], 2);
    assert_eq!(answer["total_is_exact"], true);
    let note = desk.stderr(&format!("{ends} --max-paths 1"), 0);
    note.says("1 more paths are not listed");
    for question in [
        "paths --from /motors --to /scanner",
        &format!("{ends} --max-depth 1"),
        &format!("{ends} --without-topic /m*"),
        &format!("{ends} --without-node /map*"),
        &format!("{ends} --node /x"),
    ] {
        assert_eq!(desk.stdout(question, 0), "No paths.\n", "{question}");
    }
    let said = desk.stderr("paths --from /scaner --to /motors", 2);
    said.says("no node of this file is named `/scaner`; similar: /scanner");
}

#[test]
fn an_edit_changes_the_file_in_place() {
    let desk = Desk::new();
    desk.stdout("rename node /driver /steering", 0);
    desk.stdout("remove-path map_to_wheels", 0);
    desk.text().lacks("/driver");
    desk.text().lacks("map_to_wheels");
    // Nothing is left beside it.
    assert_eq!(desk.folder.names().len(), 1);
}

#[test]
fn edits_that_cancel_each_other_leave_the_file_as_it_was() {
    let desk = Desk::new();
    for (kind, old, new) in [
        ("node", "/mapper", "/m"),
        ("topic", "/scan", "/s"),
        ("callback", "/driver/callback_1", "/driver/callback_1x"),
        ("executor", "executor_0", "executor_00"),
        ("path", "map_to_wheels", "p"),
    ] {
        desk.stdout(&format!("rename {kind} {old} {new}"), 0);
        assert_ne!(desk.text(), ROVER);
        desk.stdout(&format!("rename {kind} {new} {old}"), 0);
        assert_eq!(desk.text(), ROVER, "{kind}");
    }
}

#[test]
fn a_failed_edit_changes_nothing_and_proposes_a_name() {
    let desk = Desk::new();
    let said = desk.stderr("rename topic /scam /x", 2);
    said.says("was not changed: OLD: no topic of this file is named `/scam`; similar: /scan");
    assert_eq!(desk.text(), ROVER);
    desk.stderr("rename planet /scan /x", 2);
}

#[test]
fn other_files_are_overwritten_only_by_force() {
    let desk = Desk::new();
    let other = desk.folder.at("other.yaml");
    let written = || desk.folder.read("other.yaml");
    desk.stdout(&format!("remove-path map_to_wheels -o {other}"), 0);
    assert_eq!(desk.text(), ROVER);
    written().lacks("map_to_wheels");
    let said = desk.stderr(&format!("remove-path scan_to_wheels -o {other}"), 1);
    said.says("exists already; --force overwrites it");
    desk.stdout(&format!("remove-path scan_to_wheels -o {other} --force"), 0);
    written().lacks("scan_to_wheels");
    // The file itself may be named.
    desk.stdout(&format!("remove-path scan_to_wheels -o {}", desk.file), 0);
}

#[test]
fn paths_are_added_and_combined() {
    let desk = Desk::new();
    let said = desk.stderr("add-path scan_to_map /scanner /mapper", 1);
    said.says("several subscriptions");
    desk.stdout("add-path map_to_driver /mapper /map /driver", 0);
    desk.stdout("add-path driver_to_motors /driver /motors", 0);
    desk.stdout("combine map_to_driver driver_to_motors --as again", 0);
    let text = desk.text();
    let chain = |name: &str| {
        let begin = text.find(&format!("path_name: {name}\n")).unwrap();
        let chain = &text[begin..];
        let begin = chain.find('\n').unwrap();
        let end = chain.find("\n- path_name").or(chain.find("\nexecutors"));
        chain[begin..end.unwrap()].trim_end().lines().count()
    };
    assert_eq!(chain("again"), chain("map_to_wheels"));
    desk.stderr("combine driver_to_motors map_to_driver --as x", 1)
        .says("cannot be combined");
    desk.stderr("combine map_to_driver driver_to_motors --as again", 1)
        .says("there is a path `again` already");
}

#[test]
fn comments_are_lost_but_not_silently() {
    let desk = Desk::new();
    desk.folder.write("rover.yaml", format!("# ours\n{ROVER}"));
    desk.stderr("remove-path map_to_wheels", 0)
        .says("comments are not kept");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_survive_an_edit() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let (file, link) = (Path::new(&desk.file), desk.folder.at("link.yaml"));
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(file, &link).unwrap();
    stdout_of(&["architecture", "remove-path", &link, "map_to_wheels"], 0);
    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(Path::new(&link).is_symlink());
    desk.text().lacks("map_to_wheels");
}

#[test]
fn pictures_are_drawn_in_three_formats() {
    let desk = Desk::new();
    for (name, begin) in [
        ("x.svg", "<svg"),
        ("x.dot", "digraph"),
        ("x.mmd", "flowchart"),
    ] {
        let output = desk.folder.at(name);
        desk.stdout(&format!("graph -o {output} --clusters"), 0);
        assert!(desk.folder.read(name).starts_with(begin), "{name}");
        desk.stderr(&format!("graph -o {output}"), 1);
        desk.stdout(&format!("graph -o {output} --force"), 0);
    }
    let printed = desk.stdout("graph --format mermaid", 0);
    assert!(printed.starts_with("flowchart LR\n"), "{printed}");
    let png = desk.folder.at("x.png");
    desk.stderr(&format!("graph -o {png}"), 2)
        .says("does not tell a format");
}

#[test]
fn names_may_lack_their_slash() {
    let desk = Desk::new();
    let whole = desk.stdout("paths --from /scanner --to /motors", 0);
    assert_eq!(desk.stdout("paths --from scanner --to motors", 0), whole);
    let said = desk.stderr("rename node driver /steering", 0);
    said.says("/driver is called /steering now");
    desk.text().lacks("node_name: /driver");
}

#[test]
fn a_part_of_a_trace_is_drawn() {
    let trace = recording("pingpong");
    let graph = |more: &str| stdout_of(&format!("architecture graph {trace} {more}"), 0);
    let whole = graph("");
    for name in ["/pinger", "/ponger", "/ping", "/pong"] {
        whole.says(&format!("label=\"{name}\""));
    }
    let part = graph("--node pinger");
    part.says("/pinger");
    part.lacks("/ponger");
    let part = graph("--topic /ping");
    part.says("/ponger");
    part.lacks("\"/pong\"");
    assert_eq!(graph("--around /pinger"), whole);
    let alone = graph("--around /pinger --depth 0");
    alone.lacks("/ponger");
    let said = stderr_of(&["architecture", "graph", &trace, "--node", "/pingr"], 2);
    said.says("similar: /pinger");
}

#[test]
fn a_real_system_is_drawn_with_few_boxes() {
    let name = "public/autoware-carla-galactic.tar.zst";
    let Some(trace) = shared(name).filter(|it| Path::new(it).exists()) else {
        return;
    };
    let mut command = rostrace(&["architecture", "graph", &trace, "--format", "svg"]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let boxes = text.matches("<g class=").count();
    assert!((10..=24).contains(&boxes), "{boxes}");
    let size = |name: &str| {
        let (_, rest) = text.split_once(&format!("{name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse::<u32>().unwrap()
    };
    let (width, height) = (size("width"), size("height"));
    assert!(width < 6000 && height < 2000, "{width} {height}");
    let said = String::from_utf8(output.stderr).unwrap();
    said.says("would tie everything to everything");
}

#[test]
fn names_cannot_command_the_terminal() {
    let desk = Desk::new();
    desk.replace("path_name: map_to_wheels", "path_name: \"\\e[31mred\"");
    desk.replace("  - node_name: /motors\n", "  - node_name: \"\\e[31m\"\n");
    desk.stdout("check", 1).lacks("\x1b");
}

#[test]
fn every_verb_has_help_with_an_example() {
    let verbs = "check diff paths add-path remove-path rename combine graph";
    for verb in verbs.split(' ') {
        stdout_of(&["architecture", verb, "--help"], 0).says("Example");
    }
    stderr_of("architecture", 2);
}

#[test]
fn a_context_that_is_undefined_is_named_and_can_be_declared() {
    let Some(trace) = shared("jazzy/chain") else {
        return;
    };
    let folder = Folder::new();
    let file = folder.at("made.yaml");
    stderr_of(&["architecture", "create", &trace, "-o", &file], 0);
    let undefined = "UNDEFINED from /fused to /plan; `rostrace architecture set-context FILE /planner /fused /plan use_latest_message`";
    let checked = || stdout_of(&["architecture", "check", &file], 0);
    checked().says(undefined);
    let set = |rest: &str, status: i32| {
        let asked = format!("architecture set-context {file} /planner /fused {rest}");
        stderr_of(&asked, status)
    };
    set("/plan newest", 2).says("there are callback_chain, use_latest_message");
    set("/pln use_latest_message", 2).says("/plan");
    set("/plan use_latest_message", 0);
    checked().lacks(undefined);
    set("/plan UNDEFINED", 0);
    checked().says(undefined);
}

#[test]
fn one_error_does_not_hide_the_others() {
    let desk = Desk::new();
    desk.replace("callback_type: timer_callback", "callback_type: x");
    desk.replace("/driver/callback_group_0\n", "/driver/callback_group_9\n");
    let said = desk.stdout("check", 1);
    said.says_all(&["found `x`", "callback_group_9"]);
}
