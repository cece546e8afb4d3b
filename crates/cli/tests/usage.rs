//! Wrong usage, help, and what is generated from the declaration of the command line.

use crate::support::{Folder, Says, finished, recording, rostrace, stderr_of, stdout_of};

#[test]
fn wrong_usage_is_exit_status_2() {
    let trace = recording("pingpong");
    let questions = "
        frobnicate
        info
        info --no-such-option TRACE
        info --format csv TRACE
        dump --since yesterday TRACE
        dump --until +3parsecs TRACE
        dump --event [ TRACE
        dump --limit -1 TRACE
        dump --vpid ping TRACE
        nodes
        nodes --node [ TRACE
        topics --format xml TRACE
        callbacks --pid ping TRACE
        dump --since +2s --until +1s TRACE
        latency --since +1s --since +2s TRACE
        why --callback ping --from /pinger TRACE
        export -o unwritten --table nodes --table no_such_table TRACE
        check TRACE TRACE
        check budgets.yaml";
    // The first line is empty: no word at all is wrong, too.
    for question in questions.lines() {
        let said = stderr_of(&question.replace("TRACE", &trace), 2);
        assert!(!said.is_empty(), "{question}");
    }
}

#[test]
fn paths_without_an_architecture_file_say_how_to_make_one() {
    let trace = recording("pingpong");
    let said = stderr_of(&["paths", &trace], 2);
    said.says("give it with --architecture FILE");
    let folder = Folder::new();
    let create = format!("architecture create {trace} -o architecture.yaml");
    said.says(&format!("`rostrace {create}`"));
    // What it proposes works.
    let mut command = rostrace(&create);
    finished(command.current_dir(folder.path()), 0);
    let file = folder.at("architecture.yaml");
    stdout_of(
        &format!("architecture add-path {file} there /pinger /ponger"),
        0,
    );
    let shown = stdout_of(&["paths", &trace, "--architecture", &file], 0);
    shown.says("there");
}

#[test]
fn help_has_an_example_for_every_verb() {
    let help = stdout_of("--help", 0);
    let verbs = "demo info nodes topics callbacks processes executors dump cut completions man";
    for verb in verbs.split(' ') {
        help.says(verb);
        stdout_of(&[verb, "--help"], 0).says("Example");
    }
    assert!(stdout_of("--version", 0).starts_with("rostrace "));
}

#[test]
fn where_nothing_can_be_recorded_the_demo_shows_a_recording() {
    let folder = Folder::new();
    let mut command = rostrace("demo");
    command
        .current_dir(folder.path())
        .env_remove("XDG_RUNTIME_DIR")
        .env("TMPDIR", "/nowhere/at/all");
    let (shown, _) = finished(&mut command, 0);
    for word in [
        "9,644",
        "ros2:callback_start",
        "[04:11:19.530423153]",
        "rostrace info",
    ] {
        shown.says(word);
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish"] {
        stdout_of(&["completions", shell], 0).says("dump");
    }
    let folder = Folder::new();
    let pages = folder.join("man1");
    assert_eq!(stdout_of(&["man", &folder.at("man1")], 0), "");
    folder.read("man1/rostrace-dump.1").says("clock");
    assert!(pages.join("rostrace-record.1").exists());
    assert!(!pages.join("rostrace-demo-process.1").exists());
}
