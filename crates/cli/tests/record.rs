//! Recording at the boundary of the program: commands, their children and their ends, what is recorded and what is refused; the doctor
//! and the demo.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::place::{Place, compile, finished, signal, ticker, wait_for_ready};
use crate::support::{Says, array};

#[test]
fn a_command_is_recorded_verified_and_shown() {
    let place = Place::new();
    let (out, err) = place.run(&["record", "-o", "trace", "--", ticker(), "200", "0"], 0);
    out.says_all(&["/ticker · timer 1 ms", "1 process, ", "lost: 0\n trace\n"]);
    assert_eq!(err, "");
    let callbacks = place.callbacks("trace");
    assert_eq!(callbacks[0]["symbol"], "Ticker::tick()");
    assert!(callbacks[0]["count"].as_u64().unwrap() > 20);
    assert!(place.sessions().is_empty(), "the session is gone");
}

#[test]
fn children_are_recorded_and_the_exit_code_is_reported() {
    let place = Place::new();
    let mut command = place.command(&["record", "-o", "trace", "--", "sh", "-c"]);
    command.arg(format!("{0} 150 7 & {0} 150 7; exit 5", ticker()));
    command.env("TICKER_CHILD", "1");
    let (out, err) = finished(command.output().unwrap(), 0);
    out.says("4 processes, ");
    err.says("the command ended with exit code 5");
    assert_eq!(
        place.nodes("trace"),
        ["/child", "/child", "/ticker", "/ticker"]
    );
}

/// Somebody may set the wall clock in the middle of a recording.
#[test]
fn all_traces_of_a_recording_have_one_wall_clock() {
    let place = Place::new();
    let mut command = place.command(&["record", "-o", "trace", "--sample", "--", "sh", "-c"]);
    command.arg(format!("{0} 150 0 & sleep 0.1; {0} 150 0; wait", ticker()));
    finished(command.output().unwrap(), 0);
    let folders = std::fs::read_dir(place.path("trace")).unwrap().flatten();
    let offsets = folders.filter_map(|folder| {
        let metadata = std::fs::read_to_string(folder.path().join("metadata")).ok()?;
        let (_, rest) = metadata.split_once("offset = ")?;
        Some(rest.split_once(';')?.0.to_owned())
    });
    let offsets: Vec<String> = offsets.collect();
    assert!(offsets.len() >= 2);
    assert!(offsets.iter().all(|it| *it == offsets[0]), "{offsets:?}");
}

#[test]
fn a_folder_gets_the_date_when_none_is_named() {
    let place = Place::new();
    let (out, _) = place.run(&["record", "--no-report", "--", ticker(), "50"], 0);
    let folder = out.lines().last().unwrap().trim();
    assert!(folder.starts_with("rostrace-2"), "{folder}");
    assert_eq!(place.nodes(folder), ["/ticker"]);
}

#[test]
fn ctrl_c_ends_the_command_and_the_trace_is_complete() {
    let place = Place::new();
    let command = &mut place.command(&["record", "-o", "trace", "--", ticker(), "600000"]);
    let mut child = command.spawn().unwrap();
    let rest = wait_for_ready(&mut child);
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, libc::SIGINT);
    let mut out = String::new();
    std::io::Read::read_to_string(&mut { rest }, &mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    out.says("lost: 0");
    assert_eq!(place.nodes("trace"), ["/ticker"]);
}

#[test]
fn a_second_ctrl_c_kills_a_command_that_does_not_listen() {
    let place = Place::new();
    let mut child = place
        .command(&["record", "-o", "trace", "--", ticker(), "600000"])
        .env("TICKER_DEAF", "1")
        .spawn()
        .unwrap();
    let rest = wait_for_ready(&mut child);
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, libc::SIGINT);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the command goes on");
    signal(&child, libc::SIGINT);
    std::io::copy(&mut { rest }, &mut std::io::sink()).unwrap();
    let (_, err) = finished(child.wait_with_output().unwrap(), 0);
    err.says("was ended by SIGKILL; ");
    assert_eq!(place.nodes("trace"), ["/ticker"]);
}

#[test]
fn a_duration_ends_the_recording_and_the_command() {
    let place = Place::new();
    let begin = Instant::now();
    let (out, err) = place.run(
        &format!("record -o trace --duration 2s -- {} 600000", ticker()),
        0,
    );
    assert!(begin.elapsed() < Duration::from_secs(300));
    out.says("lost: 0");
    assert_eq!(err, "");
    let count = place.callbacks("trace")[0]["count"].as_u64().unwrap();
    assert!((50..60_000).contains(&count), "{count}");
}

#[test]
fn how_a_command_shuts_down_after_its_duration_is_recorded() {
    let place = Place::new();
    let (out, err) = finished(
        place
            .command(&format!(
                "record --duration 300ms -o trace -- {} 600000",
                ticker()
            ))
            .env("TICKER_LAST", "1500")
            .output()
            .unwrap(),
        0,
    );
    out.says("lost: 0");
    assert_eq!(err, "");
    let callbacks = place.callbacks("trace");
    let last = callbacks
        .iter()
        .find(|it| it["symbol"] == "Ticker::last()")
        .unwrap();
    // Also what happens long after the duration.

    assert!(last["count"].as_u64().unwrap() > 700, "{last}");
}

#[test]
fn a_killed_process_loses_nothing_that_it_wrote() {
    let place = Place::new();
    let script = format!("{} 600000 & sleep 0.3; kill -9 $!; wait", ticker());
    let record = ["record", "--no-report", "-o", "trace", "--", "sh", "-c"];
    let (out, _) = place.run(&[&record[..], &[&script]].concat(), 0);
    out.says_all(&["1 process, ", "lost: 0"]);
    let bytes: u64 = walk(&place.path("trace"));
    assert!(bytes < 300 << 10, "what was not used is cut off: {bytes}");
}

fn walk(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.file_type().unwrap().is_dir() {
            true => walk(&entry.path()),
            false => entry.metadata().unwrap().len(),
        })
        .sum()
}

#[test]
fn what_cannot_be_started_is_said_and_leaves_nothing() {
    let place = Place::new();
    let (_, err) = place.run(&["record", "-o", "trace", "--", "/no/such/program"], 1);
    err.says("the command `/no/such/program` could not be started");
    assert!(!place.path("trace").exists());
    assert!(place.sessions().is_empty());
    let (_, err) = place.run(&["run", "--", "/no/such/program"], 1);
    err.says("could not be started");
}

#[test]
fn nothing_is_overwritten() {
    let place = Place::new();
    std::fs::create_dir(place.path("trace")).unwrap();
    let (_, err) = place.run(&["record", "-o", "trace", "--", ticker(), "10"], 1);
    err.says("exists already");
}

#[test]
fn a_command_without_tracepoints_is_explained() {
    let place = Place::new();
    let (_, err) = place.run(&["record", "-o", "trace", "--", "true"], 1);
    err.says("nothing was recorded: no process that `true` started");
    assert!(!place.path("trace").exists());
}

#[test]
fn a_full_disk_is_noticed_before() {
    let place = Place::new();
    let arguments = format!("record -o trace --keep-free 1000T -- {} 10", ticker());
    let (_, err) = place.run(&arguments, 1);
    err.says("must stay free");
    assert!(!place.path("trace").exists());
}

#[test]
fn events_that_do_not_fit_are_counted_and_the_status_is_3() {
    let place = Place::new();
    let mut command = place.command(&[
        "record", "-o", "trace", "--buffer", "8K", "--limit", "64K", "--",
    ]);
    command.args([ticker(), "300"]).env("TICKER_FLOOD", "1");
    let (out, err) = finished(command.output().unwrap(), 3);
    let lost = out.rsplit_once("lost: ").unwrap().1.lines().next().unwrap();
    assert!(lost.replace(',', "").parse::<u64>().unwrap() > 100, "{out}");
    err.says("could not write everything");
}

#[test]
fn a_limit_on_the_size_of_files_does_not_harm_the_command() {
    let place = Place::new();
    // In blocks of 512 or 1024 bytes.
    let script = format!("ulimit -f 256; TICKER_FLOOD=1 {} 300", ticker());
    let output = place
        .command(&["record", "-o", "trace", "--", "sh", "-c", &script])
        .output()
        .unwrap();
    let code = output.status.code();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(code, Some(0 | 3)), "{err}");
    err.lacks("the command");
}

#[test]
fn filters_and_caret_variables_decide_what_is_recorded() {
    let place = Place::new();
    let script = format!(
        "TICKER_NODE=left {0} 100 & TICKER_NODE=right {0} 100; wait",
        ticker()
    );
    let count = |trace: &str, node: &str| {
        let rows = place.callbacks(trace);
        let row = rows.iter().find(|row| row["node"] == node).unwrap();
        row["count"].as_u64().unwrap()
    };
    let record = [
        "record",
        "-o",
        "one",
        "--ignore-node",
        "/le*",
        "--",
        "sh",
        "-c",
    ];
    place.run(&[&record[..], &[&script]].concat(), 0);
    assert_eq!(count("one", "/left"), 0);
    assert!(count("one", "/right") > 10);
    let mut command = place.command(&["record", "-o", "two", "--", "sh", "-c", &script]);
    command.env("CARET_SELECT_NODES", "^/le");
    let (_, err) = finished(command.output().unwrap(), 0);
    err.says("filtered as CARET_SELECT_NODES says");
    assert!(count("two", "/left") > 10);
    assert_eq!(count("two", "/right"), 0);
    let mut command = place.command(&["record", "-o", "three", "--", "sh", "-c", &script]);
    command.env("CARET_SELECT_NODES", "[lr]eft");
    let (_, err) = finished(command.output().unwrap(), 1);
    err.says("CARET_SELECT_NODES contains `[lr]eft`");
}

#[test]
fn only_the_events_that_were_asked_for_are_recorded() {
    let place = Place::new();
    place.run(
        &format!(
            "record -o trace --events callback_start -- {} 100",
            ticker()
        ),
        0,
    );
    let (out, _) = place.run(&["dump", "trace", "--format", "csv"], 0);
    assert!(out.contains("ros2:callback_start") && out.contains("ros2:rcl_node_init"));
    assert!(!out.contains("ros2:callback_end"));
    let (_, err) = place.run(&["record", "--events", "nothing", "--", "true"], 1);
    err.says("no event is called `nothing`");
}

#[test]
fn no_home_and_a_missing_library_are_said_or_do_not_matter() {
    let place = Place::new();
    let mut command = place.command(&["record", "-o", "trace", "--", ticker(), "50"]);
    command.env_remove("HOME").env_remove("XDG_RUNTIME_DIR");
    command.env("TMPDIR", place.path("runtime"));
    finished(command.output().unwrap(), 0);
    let mut command = place.command(&["record", "-o", "other", "--", ticker(), "50"]);
    command.env("ROSTRACE_TRACER", "/no/such/library.so");
    let (_, err) = finished(command.output().unwrap(), 1);
    err.says("ROSTRACE_TRACER names /no/such/library.so");
    assert!(!place.path("other").exists());
}

#[test]
fn the_doctor_says_whether_anything_can_be_recorded() {
    let place = Place::new();
    let answer = place.json(&["doctor"], 0);
    assert_eq!(answer["can_record"], true);
    let library = &answer["checks"][0];
    assert_eq!(
        (&library["name"], &library["verdict"]),
        (&"library".into(), &"ok".into())
    );
    let (out, _) = place.run(&["doctor"], 0);
    out.says_all(&["tracer · library", "can be loaded"]);
    let mut command = place.command(&["doctor"]);
    std::fs::write(place.path("broken.so"), "no library").unwrap();
    command.env("ROSTRACE_TRACER", place.path("broken.so"));
    let (out, _) = finished(command.output().unwrap(), 1);
    out.says_all(&["BROKEN", "cannot be loaded"]);
}

#[test]
fn the_doctor_says_which_libraries_hide_their_calls() {
    let place = Place::new();
    let folder = place.path("lib");
    std::fs::create_dir(&folder).unwrap();
    let source = place.path("rclcpp.c");
    let text = "void _ZN6rclcpp8ExecutorC2ERKNS_15ExecutorOptionsE(void *a, void *b) { (void)a, (void)b; }\n\
                void other(void) { _ZN6rclcpp8ExecutorC2ERKNS_15ExecutorOptionsE(0, 0); }\n";
    std::fs::write(&source, text).unwrap();
    let said = |option: &str| {
        let library = folder.join("librclcpp.so");
        compile(&["-shared", "-fPIC", option, "-o"], &library, &[&source]);
        let mut command = place.command(&["doctor"]);
        command.env("LD_LIBRARY_PATH", &folder);
        finished(command.output().unwrap(), 0).0
    };
    let seen = said("-O0");
    assert!(seen.contains("lib/librclcpp.so") && seen.contains("its calls can be observed"));
    let hidden = said("-Wl,-Bsymbolic-functions");
    hidden.says("executors and callback groups will not all be seen: it was linked so");
}

#[test]
fn the_demo_is_recorded_live_and_explained() {
    let place = Place::new();
    let mut command = place.command(&["demo", "--seconds", "3", "-o", "demo"]);
    // Whatever is installed here does not matter.
    command.env("ROS_DISTRO", "humble");
    let (out, _) = finished(command.output().unwrap(), 0);
    for part in [
        "/filter ← /points",
        "/lidar → /points → /filter → /points_filtered → /fusion → /state → /planner → /command → /actuator",
        "end to end",
        "execution of /filter ← /points",
        "5 processes, ",
        "kept in demo",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let topics = place.json(&["topics", "demo"], 0);
    let imu = array(&topics)
        .iter()
        .find(|topic| topic["topic"] == "/imu")
        .unwrap();
    assert!(
        imu["lost"].as_u64().unwrap() > 0,
        "a short queue drops: {imu}"
    );
    let points = array(&topics)
        .iter()
        .find(|topic| topic["topic"] == "/points")
        .unwrap();
    assert_eq!(points["lost"], 0, "{points}");
}
