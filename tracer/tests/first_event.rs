//! The first event of a process, for which the tracer looks around, while other threads load libraries or fork.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rostrace_session::ControlFile;
use support::{folder, installation, traced};

fn program() -> PathBuf {
    let options = ["-rdynamic", "-Wl,--no-as-needed"];
    support::program("first_event", "8.2.4", &options)
}

/// Without anything to do, switched off, recording, and waiting for orders.
fn situations(name: &str) -> Vec<(&'static str, PathBuf)> {
    let place = folder(name);
    let control = place.join("control");
    ControlFile::create(&control).unwrap();
    vec![
        ("UNUSED", PathBuf::from("1")),
        ("ROSTRACE", PathBuf::from("off")),
        ("ROSTRACE_OUTPUT", place.join("trace")),
        ("ROSTRACE_CONTROL", control),
    ]
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
    support::compile(&support::source("first_event.c"), &library, &options, &[]);
    for (variable, value) in situations("first-event-load") {
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
    for (variable, value) in situations("first-event-fork") {
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
