//! An application gets what it would have got without the tracer, for every interposed function, however libraries were loaded.
//!
//! The stand-ins are made from the list of hooks: libraries that define all of them, and libraries that call all of them. What is right is
//! reported by the dynamic linker itself: each program runs without the tracer first, and must then say the same with it.

use std::process::{Command, Output};

use crate::support::stand_ins::{Place, hooks};
use crate::support::{Recorder, folder, library, traced};

/// What the tracer does meanwhile.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Recording,
    Idle,
    Off,
}

fn run(place: &Place, name: &str, program: &str, steps: &str, mode: Mode) -> Output {
    let folder = folder(&format!("originals-{name}-{mode:?}"));
    let mut command = traced(&place.path(program));
    let recorder = Recorder::new(&folder);
    let control = recorder.control.clone();
    match mode {
        Mode::Recording => command.env("ROSTRACE_OUTPUT", folder.join("trace")),
        Mode::Idle => command.env("ROSTRACE_CONTROL", &control),
        Mode::Off => command
            .env("ROSTRACE", "off")
            .env("ROSTRACE_CONTROL", &control),
    };
    place.command(command, steps)
}

/// The program says the same with the tracer as without, and these originals answer.
fn nothing_changes(name: &str, program: &str, steps: &str, originals: &[u32]) {
    let place = Place::get("originals");
    let alone = place.without_tracer(program, steps);
    assert!(alone.status.success(), "{alone:?}");
    let text = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let expected = text(&alone);
    assert!(!expected.contains("do not arrive"), "{expected}");
    let mut answering: Vec<&str> = (expected.lines())
        .filter_map(|line| line.split_once(": original ")?.1.split(',').next())
        .collect();
    answering.dedup();
    let wanted: Vec<String> = originals.iter().map(u32::to_string).collect();
    assert_eq!(answering, wanted, "the stand-ins");
    for mode in [Mode::Recording, Mode::Idle, Mode::Off] {
        let output = run(place, name, program, steps, mode);
        assert!(output.status.success(), "{name} {mode:?}: {output:?}");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert_eq!(complaints, "", "{name} {mode:?}");
        let shown = text(&output);
        for (shown, expected) in shown.lines().zip(expected.lines()) {
            assert_eq!(shown, expected, "{name} {mode:?}");
        }
        assert_eq!(shown.lines().count(), expected.lines().count(), "{name}");
    }
}

#[test]
fn a_program_that_is_linked_with_the_originals_gets_them() {
    nothing_changes("linked", "linked", "own own", &[1]);
}

#[test]
fn libraries_that_were_loaded_for_themselves_get_what_they_need() {
    nothing_changes("local", "plain", "local @caller_1 call call", &[1]);
    nothing_changes("lazy", "plain", "lazy @caller_1 call call", &[1]);
    nothing_changes("global", "plain", "global @caller_1 call", &[1]);
    nothing_changes("old-hash", "plain", "local @caller_3 call", &[3]);
}

#[test]
fn two_copies_that_do_not_see_each_other_have_their_own_originals() {
    nothing_changes(
        "two",
        "plain",
        "local @caller_1 call local @caller_2 call local @caller_1 call local @caller_2 call",
        &[1, 2, 1, 2],
    );
}

/// As Python's module of rclpy needs librcl, and a middleware that librcl does not know of.
#[test]
fn a_library_gets_what_whoever_brought_it_needs() {
    nothing_changes("root", "plain", "local @root_1 call", &[1]);
    nothing_changes("lazy-root", "plain", "lazy @root_2 call", &[2]);
    let steps = "local @root_2 call local @root_1 call";
    nothing_changes("two-roots", "plain", steps, &[2]);
    let steps = "local @original_1 local @root_2 call";
    nothing_changes("other-before", "plain", steps, &[2]);
}

#[test]
fn what_everybody_sees_comes_before_what_only_the_caller_sees() {
    let steps = "global @original_2 local @caller_1 call";
    nothing_changes("global-first", "plain", steps, &[2]);
    nothing_changes("linked-first", "linked", "own local @caller_2 call", &[1]);
}

#[test]
fn functions_of_the_program_itself_come_first() {
    nothing_changes("program", "defining", "local @caller_1 call", &[9]);
    nothing_changes("program-bare", "defining", "local @bare call", &[9]);
}

#[test]
fn libraries_that_the_tracer_does_not_reach_work_as_they_do() {
    nothing_changes("deep", "plain", "deep @caller_1 call", &[1]);
    let steps = "namespace @caller_1 call local @caller_2 call";
    nothing_changes("namespace", "plain", steps, &[1, 2]);
}

#[test]
fn what_was_unloaded_is_not_called_any_more() {
    let steps = "local @caller_1 call close local @caller_2 call close local @caller_1 call";
    nothing_changes("unloaded", "plain", steps, &[1, 2, 1]);
}

/// Nobody could have called it without us: it fails as the function itself would, and is said once.
#[test]
fn a_function_that_nobody_defines_fails_and_says_so_once() {
    let place = Place::get("originals");
    let steps = "nobody rcl_node_fini nobody rcl_node_fini";
    let output = run(place, "nobody", "plain", steps, Mode::Recording);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "nobody 1\nnobody 1\n"
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "rostrace: rcl_node_fini was called, but nothing that is loaded in this process defines it: the call fails.\n"
    );
}

#[test]
fn every_hook_is_a_symbol_of_the_library() {
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library())
        .output()
        .unwrap();
    let symbols = String::from_utf8_lossy(&output.stdout);
    let symbols: Vec<&str> = (symbols.lines())
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    for hook in hooks() {
        assert!(symbols.contains(&hook), "{hook} is not exported");
    }
}

/// Neither takes the other for the application's own library.
#[test]
fn two_copies_of_the_tracer_do_not_call_each_other() {
    let place = Place::get("originals");
    let copy = folder("originals-copy").join("librostrace_tracer.so");
    std::fs::copy(library(), &copy).unwrap();
    let steps = "local @caller_1 call local @root_2 call";
    let expected = place.without_tracer("plain", steps);
    for preloaded in [[&library(), &copy], [&copy, &library()]] {
        let mut command = traced(&place.path("plain"));
        let [first, second] = preloaded.map(|path| path.display());
        command
            .env("LD_PRELOAD", format!("{first}:{second}"))
            .env("ROSTRACE_OUTPUT", folder("originals-copies"));
        let output = place.command(command, steps);
        assert_eq!(output, expected);
    }
}
