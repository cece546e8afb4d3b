//! Tracepoints compiled with the tracer's own `tracetools/tracetools.h`: they look at one number before they call.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rostrace_session::Command;
use rostrace_tracepoints::Phase;

use crate::support::driven_program::DrivenProgram;
use crate::support::{Recorder, folder, installation, linked, survey, traced};

const INCLUDE: &str = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");

/// `header.c` linked to the libraries of a folder, found there at run time too.
fn compiled(name: &str, options: &[&str], folder: &Path, libraries: &[&str]) -> PathBuf {
    let program = folder.join(name);
    let options = [options, &[INCLUDE]].concat();
    linked(folder, "header.c", &program, &options, libraries);
    program
}

/// A hundred events. Returns how many arguments were computed up to now.
fn emit(program: &mut DrivenProgram) -> u64 {
    program.tell("", |line| line.parse().ok()).0
}

#[test]
fn nothing_is_computed_until_somebody_records() {
    let forms: [(&str, &[&str]); 3] = [
        ("pie", &[]),
        ("no-pie", &["-no-pie", "-fno-pie"]),
        ("cpp", &["-x", "c++", "-Wextra"]),
    ];
    let place = folder("header-idle");
    std::os::unix::fs::symlink(crate::support::library(), place.join("libtracetools.so")).unwrap();
    for (name, options) in forms {
        let program = compiled(name, options, &place, &["-ltracetools"]);
        let mut recorder = Recorder::new(&folder(&format!("header-{name}")));
        let trace = place.join(format!("{name}-trace"));
        let mut running = DrivenProgram::start(
            traced(&program)
                .env("ROS_DISTRO", "jazzy")
                .env("LD_PRELOAD", "")
                .env("ROSTRACE_CONTROL", &recorder.control),
        );
        let before = emit(&mut running);
        assert_eq!(before, 0, "{name}");
        recorder.issue(&Command::record(trace.to_str().unwrap()));
        assert_eq!(emit(&mut running), 100, "{name}");
        recorder.issue(&Command::idle());
        assert_eq!(emit(&mut running), 100, "{name}");
        running.end();
        // The node, the callbacks and the executor.
        assert_eq!(survey(&trace), (102, 0), "{name}");
    }
}

#[test]
fn every_tracepoint_is_a_call_where_the_library_is_another() {
    let place = folder("header-stock");
    let stock = installation("8.2.4").join("lib/libtracetools.so");
    std::os::unix::fs::symlink(stock, place.join("libtracetools.so")).unwrap();
    std::os::unix::fs::symlink(
        crate::support::library(),
        place.join("librostrace_tracer.so"),
    )
    .unwrap();
    let alone = compiled("alone", &[], &place, &["-ltracetools"]);
    // Ours is there, but tracepoints are not its.
    let behind = compiled(
        "behind",
        &[],
        &place,
        &["-ltracetools", "-lrostrace_tracer"],
    );
    for program in [&alone, &behind] {
        let mut running = DrivenProgram::start(
            traced(program)
                .env("LD_PRELOAD", "")
                // Cargo's would lead to a library of an earlier build.
                .env("LD_LIBRARY_PATH", &place),
        );
        assert_eq!(emit(&mut running), 99, "{}", program.display());
        assert_eq!(emit(&mut running), 198, "{}", program.display());
        running.end();
    }
}

#[test]
fn calls_for_lttng_are_not_skipped() {
    let place = folder("header-lttng");
    let program = crate::support::program("header", "8.2.4", &[INCLUDE]);
    let output = {
        let mut child = traced(&program)
            .env("HAS_LTTNG", "1")
            .env("ROSTRACE_CONTROL", place.join("control"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    let passed = output.lines().filter(|line| line == &"callback_start");
    assert_eq!(passed.count(), 99, "{output}");
}

#[test]
fn the_header_knows_which_events_are_of_initialisation() {
    let header = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tracetools/tracetools.h"),
    )
    .unwrap();
    let of = |form: &str| -> Vec<String> {
        let form = format!("\n{form}(");
        let declared = header.split(&form).skip(1);
        let name = |text: &str| text.trim_start().split(',').next().unwrap().to_owned();
        declared.map(name).collect()
    };
    let mut declared = BTreeMap::new();
    declared.extend(
        of("TRACETOOLS_INIT_")
            .into_iter()
            .map(|name| (name, Phase::Init)),
    );
    declared.extend(
        of("TRACETOOLS_RUN_")
            .into_iter()
            .map(|name| (name, Phase::Run)),
    );
    assert!(declared.len() > 40, "{declared:?}");
    for (name, phase) in declared {
        let mut events = rostrace_tracepoints::recorded();
        let event = events.find(|event| event.provider == "ros2" && event.name == name);
        assert_eq!(event.unwrap().phase, phase, "{name}");
    }
}
