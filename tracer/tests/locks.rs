//! The library for locks: it changes nothing, and what it tells is so.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::{compile, folder, library, program, quietly, source, survey};

fn locks() -> PathBuf {
    let names = ["librostrace_locks.so", "deps/librostrace_locks.so"];
    let beside = library();
    let folder = beside.parent().unwrap();
    let places = [folder, folder.parent().unwrap()];
    let mut places = places
        .iter()
        .flat_map(|place| names.map(|name| place.join(name)));
    places.find(|place| place.exists()).unwrap()
}

fn run(program: &Path, preloaded: &[PathBuf], output: Option<&Path>, words: &[&str]) -> Output {
    let preloaded: Vec<&str> = preloaded.iter().map(|it| it.to_str().unwrap()).collect();
    let mut command = Command::new(program);
    command
        .args(words)
        .env("LD_PRELOAD", preloaded.join(":"))
        .env_remove("ROS_DISTRO")
        .env_remove("AMENT_PREFIX_PATH")
        .env_remove("ROSTRACE")
        .env_remove("ROSTRACE_OUTPUT")
        .env_remove("ROSTRACE_CONTROL")
        .stdin(Stdio::null());
    if let Some(output) = output {
        command.env("ROSTRACE_OUTPUT", output);
    }
    command.output().unwrap()
}

#[test]
fn locks_of_all_kinds_behave_as_they_do_without_it() {
    let program = program("mutexes", "8.2.4", &[]);
    let plain = run(&program, &[], None, &[]);
    assert!(plain.status.success(), "{plain:?}");
    let said = String::from_utf8(plain.stdout).unwrap();
    assert!(
        said.contains("lock of a dead thread: 130, errno 77"),
        "{said}"
    );
    let output = folder("locks-behave");
    for (preloaded, output) in [
        (vec![locks()], None),
        (vec![library(), locks()], None),
        (vec![library(), locks()], Some(&*output)),
        // Here the tracer is behind it.
        (vec![locks(), library()], None),
    ] {
        let other = run(&program, &preloaded, output, &[]);
        assert!(other.status.success(), "{preloaded:?}: {other:?}");
        let other_said = String::from_utf8(other.stdout.clone()).unwrap();
        for (line, (known, found)) in said.lines().zip(other_said.lines()).enumerate() {
            assert_eq!(found, known, "line {line} with {preloaded:?}");
        }
        assert_eq!(said.lines().count(), other_said.lines().count());
        assert!(other.stderr.is_empty(), "{other:?}");
    }
    let (events, lost) = survey(&output);
    assert!(events > 100 && lost == 0, "{events} {lost}");
}

#[test]
fn only_waits_are_reported_with_who_held_the_lock() {
    let output = folder("locks-owners");
    let program = program("mutexes", "8.2.4", &[]);
    let said = run(&program, &[library(), locks()], Some(&output), &["tell"]);
    let said = String::from_utf8(said.stdout).unwrap();
    let mut known: Vec<(String, String)> = (said.lines())
        .filter_map(|line| line.strip_prefix("wait ")?.split_once(' '))
        .map(|(tid, owner)| (tid.to_owned(), owner.to_owned()))
        .collect();
    assert!(known.len() > 100);
    let Some(shown) = quietly(&output) else {
        return;
    };
    let field = |event: &str, name: &str| {
        let (_, rest) = event.split_once(&format!("{name} = ")).unwrap();
        rest.split([',', ' ']).next().unwrap().to_owned()
    };
    let begun = shown
        .events
        .iter()
        .filter(|event| event.contains("lock_wait_begin"));
    let mut reported: Vec<(String, String)> = (begun.clone())
        .map(|event| (field(event, "vtid"), field(event, "owner")))
        .collect();
    // Each wait of another thread is reported. The program writes down no waits of threads for themselves, nor for readers, nor for what has no owner.
    reported.sort();
    known.sort();
    for wait in &known {
        let place = reported.iter().position(|it| it == wait);
        let place = place.unwrap_or_else(|| panic!("{wait:?} is not reported"));
        reported.remove(place);
    }
    let ends = shown.count("lock_wait_end");
    // The thread that was cancelled never came back.
    assert_eq!(ends + 1, begun.count() as u64);
    assert!(shown.count("condition_notify") >= 2);
}

#[test]
fn another_library_that_stands_before_condition_variables_sees_as_many_calls() {
    let program = program("mutexes", "8.2.4", &[]);
    let other = folder("locks-other").join("libother.so");
    let source = source("condition_interposer.c");
    compile(&source, &other, &["-shared", "-fPIC"], &["-ldl"]);
    let seen = |preloaded: &[PathBuf]| {
        let output = run(&program, preloaded, None, &[]);
        assert!(output.status.success(), "{preloaded:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let alone = seen(std::slice::from_ref(&other));
    assert!(alone.contains("waits") && !alone.contains(" 0 "), "{alone}");
    assert_eq!(seen(&[library(), locks(), other.clone()]), alone);
    assert_eq!(seen(&[other, library(), locks()]), alone);
}

#[test]
fn a_free_lock_costs_no_system_call() {
    let program = program("filtered_locks", "8.2.4", &[]);
    for preloaded in [vec![], vec![library(), locks()]] {
        let output = run(&program, &preloaded, None, &[]);
        // Where the system has no filters, nothing can be tried.
        if output.status.code() == Some(7) {
            eprintln!("SKIPPED: system calls cannot be filtered here.");
            return;
        }
        assert!(output.status.success(), "{preloaded:?}: {output:?}");
    }
}
