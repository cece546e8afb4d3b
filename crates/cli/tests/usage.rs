//! Wrong usage, help, and what is generated from the declaration of the command line.

use crate::support::{recording, rostrace, stderr_of, stdout_of};

#[test]
fn wrong_usage_is_exit_status_2() {
    let trace = recording("pingpong");
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["info"],
        &["info", "--no-such-option", &trace],
        &["info", "--format", "csv", &trace],
        &["dump", "--since", "yesterday", &trace],
        &["dump", "--until", "+3parsecs", &trace],
        &["dump", "--event", "[", &trace],
        &["dump", "--limit", "-1", &trace],
        &["dump", "--vpid", "ping", &trace],
        &["nodes"],
        &["nodes", "--node", "[", &trace],
        &["topics", "--format", "xml", &trace],
        &["callbacks", "--pid", "ping", &trace],
        // Noticed late: it takes two options, the trace's time, or a look at what is there.
        &["dump", "--since", "+2s", "--until", "+1s", &trace],
        &["latency", "--since", "+1s", "--since", "+2s", &trace],
        &["why", "--callback", "ping", "--from", "/pinger", &trace],
        &[
            "export",
            "-o",
            "unwritten",
            "--table",
            "nodes",
            "--table",
            "no_such_table",
            &trace,
        ],
        &["check", &trace, &trace],
        &["check", "budgets.yaml"],
    ] {
        let said = stderr_of(arguments, 2);
        assert!(!said.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_has_an_example_for_every_verb() {
    let help = stdout_of(&["--help"], 0);
    for verb in [
        "demo",
        "info",
        "nodes",
        "topics",
        "callbacks",
        "processes",
        "executors",
        "dump",
        "cut",
        "completions",
        "man",
    ] {
        assert!(help.contains(verb), "{verb}");
        assert!(
            stdout_of(&[verb, "--help"], 0).contains("Example"),
            "{verb}"
        );
    }
    assert!(stdout_of(&["--version"], 0).starts_with("rostrace "));
}

#[test]
fn where_nothing_can_be_recorded_the_demo_shows_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let output = rostrace(&["demo"])
        .current_dir(folder.path())
        .env_remove("XDG_RUNTIME_DIR")
        .env("TMPDIR", "/nowhere/at/all")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for word in [
        "9,644",
        "ros2:callback_start",
        "[04:11:19.530423153]",
        "rostrace info",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            stdout_of(&["completions", shell], 0).contains("dump"),
            "{shell}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_eq!(stdout_of(&["man", pages.to_str().unwrap()], 0), "");
    let page = std::fs::read_to_string(pages.join("rostrace-dump.1")).unwrap();
    assert!(page.contains("clock"), "{page}");
    assert!(pages.join("rostrace-record.1").exists());
    assert!(!pages.join("rostrace-demo-process.1").exists());
}
