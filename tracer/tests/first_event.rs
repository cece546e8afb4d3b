//! The first event of a process, which initialises the tracer, while other threads load libraries or fork.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Recorder, folder, installation, traced};

fn program() -> PathBuf {
    let options = ["-rdynamic", "-Wl,--no-as-needed"];
    crate::support::program("first_event", "8.2.4", &options)
}

/// Without anything to do, switched off, recording, and waiting for commands.
fn situations(name: &str) -> (Recorder, Vec<(&'static str, PathBuf)>) {
    let place = folder(name);
    let recorder = Recorder::new(&place);
    let control = recorder.control.clone();
    let situations = vec![
        ("UNUSED", PathBuf::from("1")),
        ("ROSTRACE", PathBuf::from("off")),
        ("ROSTRACE_OUTPUT", place.join("trace")),
        ("ROSTRACE_CONTROL", control),
    ];
    (recorder, situations)
}

fn succeeds(command: &mut Command, what: &str) {
    let status = command.stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{what}: {status}");
}

#[test]
fn nobody_waits_for_a_library_that_is_being_loaded() {
    let program = program();
    let library = installation("8.2.4").join("lib/libfirst_event.so");
    let options = ["-shared", "-fPIC", "-DLIBRARY"];
    crate::support::compile(
        &crate::support::source("first_event.c"),
        &library,
        &options,
        &[],
    );
    let (_recorder, situations) = situations("first-event-load");
    for (variable, value) in situations {
        succeeds(
            traced(&program)
                .arg("load")
                .arg(&library)
                .env(variable, value),
            variable,
        );
    }
}

#[test]
fn a_child_that_is_made_meanwhile_has_events() {
    let program = program();
    let (_recorder, situations) = situations("first-event-fork");
    for (variable, value) in situations {
        for steps in (0..20).map(|turn| turn * 2000) {
            succeeds(
                traced(&program)
                    .args(["fork", &steps.to_string()])
                    .env(variable, &value),
                &format!("{variable}, {steps} steps"),
            );
        }
    }
}
