//! `rostrace architecture` at its boundary: exit codes, output, and what happens to files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{recording, rostrace, shared_recordings, stderr_of, stdout_of};

const ROVER: &str = include_str!("../../architecture/tests/files/rover.yaml");

/// A folder with the sample in it, to be changed.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rover.yaml"), ROVER).unwrap();
        Desk { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Changes the sample before a command sees it.
    fn replace(&self, old: &str, new: &str) {
        let text = self.text("rover.yaml");
        assert!(text.contains(old), "{old}");
        std::fs::write(self.path("rover.yaml"), text.replacen(old, new, 1)).unwrap();
    }

    /// `rostrace architecture VERB rover.yaml …`.
    fn stdout(&self, verb: &str, rest: &[&str], status: i32) -> String {
        let file = self.name("rover.yaml");
        stdout_of(&[&["architecture", verb, &file], rest].concat(), status)
    }

    fn stderr(&self, verb: &str, rest: &[&str], status: i32) -> String {
        let file = self.name("rover.yaml");
        stderr_of(&[&["architecture", verb, &file], rest].concat(), status)
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.folder.path()).unwrap().count()
    }
}

#[test]
fn a_whole_file_passes_the_check() {
    let desk = Desk::new();
    let said = desk.stdout("check", &[], 0);
    assert!(
        said.contains("4 nodes, 3 topics, 2 executors, 2 named paths"),
        "{said}"
    );
    // What is not said yet is a note, not a fault.
    assert!(said.contains("note"), "{said}");
}

#[test]
fn a_faulty_file_fails_the_check_with_places() {
    let desk = Desk::new();
    desk.replace("callback_type: timer_callback", "callback_type: x");
    let rows: Value =
        serde_json::from_str(&desk.stdout("check", &["--format", "json"], 1)).unwrap();
    assert_eq!(rows[0]["severity"], "error");
    assert_eq!(
        (rows[0]["line"].as_u64(), rows[0]["column"].as_u64()),
        (Some(49), Some(20))
    );
    assert_eq!(
        rows[0]["message"],
        "`callback_type` must be timer_callback or subscription_callback, found `x`"
    );
    let said = desk.stdout("check", &[], 1);
    assert!(said.contains("line 49, column 20"), "{said}");
}

#[test]
fn a_name_of_nothing_fails_the_check() {
    let desk = Desk::new();
    desk.replace(
        "  - /driver/callback_group_0\n",
        "  - /driver/callback_group_9\n",
    );
    let rows: Value =
        serde_json::from_str(&desk.stdout("check", &["--format", "json"], 1)).unwrap();
    assert_eq!(
        (rows[0]["severity"].as_str(), rows[0]["line"].as_u64()),
        (Some("warning"), Some(32))
    );
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    let desk = Desk::new();
    let said = stderr_of(&["architecture", "check", "/no/such/file.yaml"], 1);
    assert!(
        said.contains("/no/such/file.yaml: cannot be read"),
        "{said}"
    );
    std::fs::write(desk.path("rover.yaml"), b"nodes:\n- \xff\n").unwrap();
    assert!(desk.stderr("check", &[], 1).contains("line 2: not UTF-8"));
    std::fs::write(desk.path("rover.yaml"), "nodes: 1\nexecutors: 2\n").unwrap();
    let said = desk.stderr("remove-path", &["x"], 1);
    assert!(
        said.contains("`nodes` must be a list, found `1`") && said.contains("because of 3 errors"),
        "{said}"
    );
}

#[test]
fn differences_are_listed() {
    let desk = Desk::new();
    let (a, b) = (desk.name("rover.yaml"), desk.name("b.yaml"));
    std::fs::write(
        &b,
        ROVER.replace("period_ns: 20000000", "period_ns: 10000000"),
    )
    .unwrap();
    let rows: Value = serde_json::from_str(&stdout_of(
        &["architecture", "diff", &a, &b, "--format", "json"],
        0,
    ))
    .unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(rows[0]["fields"][0]["after"], "timer of 10000000 ns");
    assert!(
        stdout_of(&["architecture", "diff", &a, &b, "--exit-code"], 1)
            .contains("/driver/callback_0")
    );
    assert_eq!(
        stdout_of(&["architecture", "diff", &a, &a, "--exit-code"], 0),
        "No differences.\n"
    );
}

#[test]
fn paths_are_listed_shortest_first_with_what_was_left_out() {
    let desk = Desk::new();
    let said = desk.stdout("paths", &["--from", "/scanner", "--to", "/motors"], 0);
    assert!(
        said.contains("/scanner →(/scan)→ /mapper →(/map)→ /driver →(/wheels)→ /motors"),
        "{said}"
    );
    let said = desk.stdout(
        "paths",
        &[
            "--from",
            "/scanner",
            "--via",
            "/driver",
            "--to",
            "/motors",
            "--max-paths",
            "1",
            "--format",
            "json",
        ],
        0,
    );
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["paths"].as_array().unwrap().len(), 1);
    assert_eq!(answer["paths"][0]["topics"][0], "/scan");
    // The mapper subscribes twice.
    assert_eq!(
        (answer["total"].as_u64(), answer["total_is_exact"].as_bool()),
        (Some(2), Some(true))
    );
    let note = desk.stderr(
        "paths",
        &["--from", "/scanner", "--to", "/motors", "--max-paths", "1"],
        0,
    );
    assert!(note.contains("1 more paths are not listed"), "{note}");
    assert_eq!(
        desk.stdout("paths", &["--from", "/motors", "--to", "/scanner"], 0),
        "No paths.\n"
    );
    for filter in [
        ["--max-depth", "1"],
        ["--without-topic", "/m*"],
        ["--without-node", "/map*"],
        ["--node", "/x"],
    ] {
        let said = desk.stdout(
            "paths",
            &[&["--from", "/scanner", "--to", "/motors"], &filter[..]].concat(),
            0,
        );
        assert_eq!(said, "No paths.\n", "{filter:?}");
    }
    assert!(
        desk.stderr("paths", &["--from", "/scaner", "--to", "/motors"], 2)
            .contains("no node of this file is named `/scaner`; similar: /scanner")
    );
}

#[test]
fn an_edit_changes_the_file_in_place() {
    let desk = Desk::new();
    desk.stdout("rename", &["node", "/driver", "/steering"], 0);
    desk.stdout("remove-path", &["map_to_wheels"], 0);
    let text = desk.text("rover.yaml");
    assert!(!text.contains("/driver") && !text.contains("map_to_wheels"));
    // Nothing is left beside it.
    assert_eq!(desk.files(), 1);
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
        desk.stdout("rename", &[kind, old, new], 0);
        assert_ne!(desk.text("rover.yaml"), ROVER);
        desk.stdout("rename", &[kind, new, old], 0);
        assert_eq!(desk.text("rover.yaml"), ROVER, "{kind}");
    }
}

#[test]
fn a_failed_edit_changes_nothing_and_proposes_a_name() {
    let desk = Desk::new();
    let said = desk.stderr("rename", &["topic", "/scam", "/x"], 2);
    assert!(
        said.contains(
            "was not changed: OLD: no topic of this file is named `/scam`; similar: /scan"
        ),
        "{said}"
    );
    assert_eq!(desk.text("rover.yaml"), ROVER);
    desk.stderr("rename", &["planet", "/scan", "/x"], 2);
}

#[test]
fn other_files_are_overwritten_only_by_force() {
    let desk = Desk::new();
    let other = desk.name("other.yaml");
    desk.stdout("remove-path", &["map_to_wheels", "-o", &other], 0);
    assert_eq!(desk.text("rover.yaml"), ROVER);
    assert!(!desk.text("other.yaml").contains("map_to_wheels"));
    let said = desk.stderr("remove-path", &["scan_to_wheels", "-o", &other], 1);
    assert!(
        said.contains("exists already; --force overwrites it"),
        "{said}"
    );
    desk.stdout(
        "remove-path",
        &["scan_to_wheels", "-o", &other, "--force"],
        0,
    );
    assert!(!desk.text("other.yaml").contains("scan_to_wheels"));
    // The file itself may be named.
    let itself = desk.name("rover.yaml");
    desk.stdout("remove-path", &["scan_to_wheels", "-o", &itself], 0);
}

#[test]
fn paths_are_added_and_combined() {
    let desk = Desk::new();
    let said = desk.stderr("add-path", &["scan_to_map", "/scanner", "/mapper"], 1);
    assert!(said.contains("several subscriptions"), "{said}");
    desk.stdout(
        "add-path",
        &["map_to_driver", "/mapper", "/map", "/driver"],
        0,
    );
    desk.stdout("add-path", &["driver_to_motors", "/driver", "/motors"], 0);
    desk.stdout(
        "combine",
        &["map_to_driver", "driver_to_motors", "--as", "again"],
        0,
    );
    let text = desk.text("rover.yaml");
    let chain = |name: &str| {
        let begin = text.find(&format!("path_name: {name}\n")).unwrap();
        let chain = &text[begin..];
        let begin = chain.find('\n').unwrap();
        let end = chain
            .find("\n- path_name")
            .or(chain.find("\nexecutors"))
            .unwrap();
        chain[begin..end].to_owned()
    };
    assert_eq!(
        chain("again").trim_end().lines().count(),
        chain("map_to_wheels").trim_end().lines().count()
    );
    assert!(
        desk.stderr(
            "combine",
            &["driver_to_motors", "map_to_driver", "--as", "x"],
            1
        )
        .contains("cannot be combined")
    );
    assert!(
        desk.stderr(
            "combine",
            &["map_to_driver", "driver_to_motors", "--as", "again"],
            1
        )
        .contains("there is a path `again` already")
    );
}

#[test]
fn comments_are_lost_but_not_silently() {
    let desk = Desk::new();
    std::fs::write(desk.path("rover.yaml"), format!("# ours\n{ROVER}")).unwrap();
    assert!(
        desk.stderr("remove-path", &["map_to_wheels"], 0)
            .contains("comments are not kept")
    );
}

#[cfg(unix)]
#[test]
fn permissions_and_links_survive_an_edit() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(
        desk.path("rover.yaml"),
        std::fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    std::os::unix::fs::symlink(desk.path("rover.yaml"), desk.path("link.yaml")).unwrap();
    stdout_of(
        &[
            "architecture",
            "remove-path",
            &desk.name("link.yaml"),
            "map_to_wheels",
        ],
        0,
    );
    assert_eq!(mode(&desk.path("rover.yaml")), 0o640);
    assert!(
        std::fs::symlink_metadata(desk.path("link.yaml"))
            .unwrap()
            .is_symlink()
    );
    assert!(!desk.text("rover.yaml").contains("map_to_wheels"));
}

#[test]
fn pictures_are_drawn_in_three_formats() {
    let desk = Desk::new();
    for (name, begin) in [
        ("x.svg", "<svg"),
        ("x.dot", "digraph"),
        ("x.mmd", "flowchart"),
    ] {
        let output = desk.name(name);
        desk.stdout("graph", &["-o", &output, "--clusters"], 0);
        assert!(desk.text(name).starts_with(begin), "{name}");
        desk.stderr("graph", &["-o", &output], 1);
        desk.stdout("graph", &["-o", &output, "--force"], 0);
    }
    assert!(
        desk.stdout("graph", &["--format", "mermaid"], 0)
            .starts_with("flowchart LR\n")
    );
    let said = desk.stderr("graph", &["-o", &desk.name("x.png")], 2);
    assert!(said.contains("does not tell a format"), "{said}");
}

#[test]
fn names_may_lack_their_slash() {
    let desk = Desk::new();
    let whole = desk.stdout("paths", &["--from", "/scanner", "--to", "/motors"], 0);
    let short = desk.stdout("paths", &["--from", "scanner", "--to", "motors"], 0);
    assert_eq!(whole, short);
    let said = desk.stderr("rename", &["node", "driver", "/steering"], 0);
    assert!(said.contains("/driver is called /steering now"), "{said}");
    assert!(!desk.text("rover.yaml").contains("node_name: /driver"));
}

#[test]
fn a_part_of_a_trace_is_drawn() {
    let trace = recording("pingpong");
    let graph = |more: &[&str]| stdout_of(&[&["architecture", "graph", &trace], more].concat(), 0);
    let whole = graph(&[]);
    for name in ["/pinger", "/ponger", "/ping", "/pong"] {
        assert!(whole.contains(&format!("label=\"{name}\"")), "{whole}");
    }
    let part = graph(&["--node", "pinger"]);
    assert!(
        part.contains("/pinger") && !part.contains("/ponger"),
        "{part}"
    );
    let part = graph(&["--topic", "/ping"]);
    assert!(
        part.contains("/ponger") && !part.contains("\"/pong\""),
        "{part}"
    );
    assert_eq!(graph(&["--around", "/pinger"]), whole);
    let alone = graph(&["--around", "/pinger", "--depth", "0"]);
    assert!(!alone.contains("/ponger"), "{alone}");
    let said = stderr_of(&["architecture", "graph", &trace, "--node", "/pingr"], 2);
    assert!(said.contains("similar: /pinger"), "{said}");
}

#[test]
fn a_real_system_is_drawn_with_few_boxes() {
    let Some(shared) = shared_recordings() else {
        return;
    };
    let trace = shared.join("public/autoware-carla-galactic.tar.zst");
    if !trace.exists() {
        return;
    }
    let trace = trace.to_str().unwrap();
    let output = rostrace(&["architecture", "graph", trace, "--format", "svg"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let boxes = text.matches("<g class=").count();
    assert!((10..=24).contains(&boxes), "{boxes}");
    let size = |name: &str| {
        let (_, rest) = text.split_once(&format!("{name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse::<u32>().unwrap()
    };
    assert!(
        size("width") < 6000 && size("height") < 2000,
        "{} {}",
        size("width"),
        size("height")
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("would tie everything to everything"),
        "{said}"
    );
}

#[test]
fn names_cannot_command_the_terminal() {
    let desk = Desk::new();
    desk.replace("path_name: map_to_wheels", "path_name: \"\\e[31mred\"");
    desk.replace("  - node_name: /motors\n", "  - node_name: \"\\e[31m\"\n");
    let said = desk.stdout("check", &[], 1);
    assert!(!said.contains('\x1b'), "{said:?}");
}

#[test]
fn every_verb_has_help_with_an_example() {
    for verb in [
        "check",
        "diff",
        "paths",
        "add-path",
        "remove-path",
        "rename",
        "combine",
        "graph",
    ] {
        assert!(
            stdout_of(&["architecture", verb, "--help"], 0).contains("Example"),
            "{verb}"
        );
    }
    assert_eq!(
        rostrace(&["architecture"]).output().unwrap().status.code(),
        Some(2)
    );
}

#[test]
fn a_context_that_is_undefined_is_named_and_can_be_declared() {
    let Some(folder) = crate::support::shared_recordings() else {
        return;
    };
    let desk = Desk::new();
    let file = desk.name("made.yaml");
    let trace = folder.join("jazzy/chain");
    let trace = trace.to_str().unwrap();
    crate::support::stderr_of(&["architecture", "create", trace, "-o", &file], 0);
    let undefined = "UNDEFINED from /fused to /plan; `rostrace architecture set-context FILE /planner /fused /plan use_latest_message`";
    let checked = crate::support::stdout_of(&["architecture", "check", &file], 0);
    assert!(checked.contains(undefined), "{checked}");
    let set = ["architecture", "set-context", &file, "/planner", "/fused"];
    let wrong = [&set[..], &["/plan", "newest"]].concat();
    let said = crate::support::stderr_of(&wrong, 2);
    assert!(
        said.contains("there are callback_chain, use_latest_message"),
        "{said}"
    );
    let nothing = [&set[..], &["/pln", "use_latest_message"]].concat();
    let said = crate::support::stderr_of(&nothing, 2);
    assert!(said.contains("/plan"), "{said}");
    let right = [&set[..], &["/plan", "use_latest_message"]].concat();
    crate::support::stderr_of(&right, 0);
    let checked = crate::support::stdout_of(&["architecture", "check", &file], 0);
    assert!(!checked.contains(undefined), "{checked}");
    let back = [&set[..], &["/plan", "UNDEFINED"]].concat();
    crate::support::stderr_of(&back, 0);
    let checked = crate::support::stdout_of(&["architecture", "check", &file], 0);
    assert!(checked.contains(undefined), "{checked}");
}

#[test]
fn one_error_does_not_hide_the_others() {
    let desk = Desk::new();
    desk.replace("callback_type: timer_callback", "callback_type: x");
    desk.replace(
        "  - /driver/callback_group_0\n",
        "  - /driver/callback_group_9\n",
    );
    let said = desk.stdout("check", &[], 1);
    assert!(said.contains("found `x`"), "{said}");
    assert!(said.contains("callback_group_9"), "{said}");
}
