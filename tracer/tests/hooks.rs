//! Functions of rcl, rmw, rclcpp and the middleware that are interposed: originals are called, and what they do is recorded.

use std::path::{Path, PathBuf};

use crate::support::{compile, folder, installation, library_of, quietly, record, source};

/// Events as `NAME: FIELDS`, without contexts, and without the time that CARET's have at their end.
fn events(output: &Path) -> Option<Vec<String>> {
    let shown = quietly(output)?;
    let texts = shown.events.iter().map(|event| {
        let (head, values) = event.split_once(" }, {").unwrap();
        let name = head
            .split(": {")
            .next()
            .unwrap()
            .rsplit(':')
            .next()
            .unwrap();
        let values = values.trim_end_matches(" }");
        let values = values.split(", init_timestamp").next().unwrap();
        format!("{name}:{values}")
    });
    Some(texts.collect())
}

#[test]
fn ends_of_entities_and_service_calls_are_recorded() {
    let output = folder("hooks-rcl");
    let prefix = installation("4.1.1");
    library_of(&prefix, "rcl_rmw.c", "librcl.so", &[]);
    let program = link_with(&prefix, "calls", "-lrcl");
    let result = record(&program, &output, &[]);
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    let gid = "[ [0] = 7, [1] = 7, [2] = 7, [3] = 7, [4] = 7, [5] = 7, [6] = 7, [7] = 7, [8] = 7, [9] = 7, \
        [10] = 7, [11] = 7, [12] = 7, [13] = 7, [14] = 7, [15] = 7 ]";
    if let Some(events) = events(&output) {
        // The address of the message is one of the program's stack.
        let sizes: Vec<&str> = events
            .iter()
            .filter(|event| event.contains("_serialized: "))
            .filter_map(|event| event.rsplit_once("size = "))
            .map(|(_, size)| size)
            .collect();
        assert_eq!(sizes, ["12", "33", "44"]);
        let events: Vec<String> = events
            .into_iter()
            .filter(|event| !event.contains("_serialized: "))
            .collect();
        assert_eq!(
            events,
            [
                "rcl_publisher_init: publisher_handle = 0x1, node_handle = 0x9, rmw_publisher_handle = 0xA, \
                 topic_name = \"/topic\", queue_depth = 1",
                "rmw_implementation: rmw_impl = \"rmw_of_the_test\"",
                "rmw_send_request_begin: rmw_client_handle = 0x14, request = 0x15",
                "rmw_send_request: rmw_client_handle = 0x14, request = 0x15, sequence_number = 41",
                &format!(
                    "rmw_take_request: rmw_service_handle = 0x16, request = 0x17, client_gid = {gid}, \
                     sequence_number = 41, taken = 1"
                ),
                &format!(
                    "rmw_send_response: rmw_service_handle = 0x16, response = 0x18, client_gid = {gid}, \
                     sequence_number = 41, timestamp = 0"
                ),
                "rmw_take_response: rmw_client_handle = 0x14, response = 0x19, sequence_number = 41, \
                 source_timestamp = 1000, taken = 1",
                "rcl_publisher_fini: publisher_handle = 0x1",
                "rcl_subscription_fini: subscription_handle = 0x2",
                "rcl_service_fini: service_handle = 0x3",
                "rcl_client_fini: client_handle = 0x4",
                "rcl_timer_fini: timer_handle = 0x5",
                "rcl_node_fini: node_handle = 0x9",
                "rcl_timer_fini: timer_handle = 0x0",
            ]
        );
    }
}

/// The service may have answered before the call returns.
#[test]
fn a_request_is_sent_before_the_middleware_is_called() {
    for version in ["8.2.4", "8.6.0"] {
        let output = folder(&format!("hooks-request-{version}"));
        let prefix = installation(version);
        library_of(&prefix, "request.c", "librequest.so", &["-DRMW"]);
        let program = link_with(&prefix, "request", "-lrequest");
        let result = record(&program, &output, &[]);
        assert_eq!(result.status.code(), Some(0), "{result:?}");
        if let Some(events) = events(&output) {
            let names: Vec<&str> = events
                .iter()
                .filter_map(|it| it.split(':').next())
                .collect();
            let expected = ["rmw_send_request_begin", "rcl_publish", "rmw_send_request"];
            // From Kilted on the middleware tells the number itself.
            let count = if version == "8.6.0" { 2 } else { 3 };
            assert_eq!(names, expected[..count]);
        }
    }
}

#[test]
fn one_clock_tells_the_simulated_time_and_timers_tell_their_clocks() {
    let output = folder("hooks-clocks");
    let prefix = installation("8.2.4");
    library_of(&prefix, "clocks.c", "libclocks.so", &["-DRCL"]);
    let program = link_with(&prefix, "clocks", "-lclocks");
    let result = record(&program, &output, &[]);
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    if let Some(events) = events(&output) {
        let stamps: Vec<&str> = (events.iter())
            .filter_map(|event| event.strip_prefix("sim_time: stamp = "))
            .collect();
        assert_eq!(stamps, ["1000", "2000", "2000", "500", "4000"]);
        let clocks: Vec<&str> = (events.iter())
            .filter_map(|event| event.strip_prefix("rcl_timer_clock: "))
            .collect();
        assert_eq!(
            clocks,
            [
                "timer_handle = 0x1E, clock_type = 1",
                "timer_handle = 0x1F, clock_type = 3",
            ]
        );
    }
}

/// From Kilted on the middleware says itself what the hooks would say.
#[test]
fn service_calls_are_not_recorded_twice() {
    let output = folder("hooks-kilted");
    let prefix = installation("8.6.0");
    library_of(&prefix, "rcl_rmw.c", "librcl.so", &[]);
    let program = link_with(&prefix, "calls", "-lrcl");
    assert!(record(&program, &output, &[]).status.success());
    if let Some(shown) = quietly(&output) {
        assert_eq!(shown.count("ros2:rmw_"), 0);
        assert_eq!(shown.count("_fini"), 7);
    }
}

/// Releases of Rolling between Jazzy and Kilted had no tracepoints for services yet.
#[test]
fn service_calls_are_recorded_up_to_the_version_that_has_tracepoints_for_them() {
    let output = folder("hooks-before-kilted");
    let prefix = installation("8.4.1");
    library_of(&prefix, "rcl_rmw.c", "librcl.so", &[]);
    let program = link_with(&prefix, "calls", "-lrcl");
    assert!(record(&program, &output, &[]).status.success());
    if let Some(shown) = quietly(&output) {
        assert_eq!(shown.count("ros2:rmw_"), 4);
    }
}

#[test]
fn executors_and_callback_groups_are_recorded() {
    executors_and_groups("hooks-rclcpp", "8.2.4", &[]);
}

/// Lyrical passes shared pointers by reference, which changes the names of the functions.
#[test]
fn executors_and_callback_groups_of_lyrical_are_recorded() {
    executors_and_groups("hooks-rclcpp-lyrical", "8.10.0", &["-DLYRICAL"]);
}

fn executors_and_groups(name: &str, version: &str, form: &[&str]) {
    let output = folder(name);
    let prefix = installation(version);
    let options = [&["-x", "c++", "-std=c++17"], form].concat();
    library_of(&prefix, "rclcpp.cpp", "librclcpp.so", &options);
    let program = prefix.join("groups");
    let (libraries, search) = places(&prefix);
    compile(
        &source("rclcpp.cpp"),
        &program,
        &[&options[..], &["-DMAIN"]].concat(),
        &[
            &libraries,
            &search,
            "-Wl,--no-as-needed",
            "-lrclcpp",
            "-ltracetools",
            "-lstdc++",
        ],
    );
    let result = record(&program, &output, &[]);
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    let mut expected: Vec<String> = String::from_utf8(result.stdout)
        .unwrap()
        .lines()
        .map(|line| line.replace("0X", "0x"))
        .collect();
    expected.sort();
    if let Some(mut events) = events(&output) {
        // The stand-in for rclcpp does not call its own functions, as the real one does.
        events.retain(|event| !event.starts_with("hook_state"));
        events.sort();
        assert_eq!(events, expected);
    }
}

#[test]
fn callbacks_of_clients_begin_with_the_response_and_end_whatever_happens() {
    client_callbacks("hooks-clients", "8.2.5", &[]);
}

#[test]
fn callbacks_of_clients_of_lyrical_begin_with_the_response_and_end_whatever_happens() {
    client_callbacks("hooks-clients-lyrical", "8.10.1", &["-DLYRICAL"]);
}

fn client_callbacks(name: &str, version: &str, form: &[&str]) {
    let output = folder(name);
    let prefix = installation(version);
    let options = [&["-x", "c++", "-std=c++17"], form].concat();
    library_of(&prefix, "clients.cpp", "librclcpp.so", &options);
    let program = prefix.join("clients");
    let (libraries, search) = places(&prefix);
    compile(
        &source("clients.cpp"),
        &program,
        &[&options[..], &["-DMAIN"]].concat(),
        &[
            &libraries,
            &search,
            "-Wl,--no-as-needed",
            "-lrclcpp",
            "-ltracetools",
            "-lstdc++",
        ],
    );
    let result = record(&program, &output, &[]);
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    if let Some(events) = events(&output) {
        let steps: Vec<String> = events
            .iter()
            .filter_map(|event| {
                let (name, fields) = event.split_once(": ")?;
                let number = fields.split("sequence_number = ").nth(1)?;
                let number = number.split(',').next()?;
                Some(format!("{name} {number}"))
            })
            .collect();
        let expected = "rmw_take_response 1, client_callback_start 1, rmw_take_response 2, client_callback_start 2, \
            client_callback_end 2, client_callback_end 1, rmw_take_response 0, rmw_take_response 3, client_callback_start 3, \
            client_callback_end 3, rmw_take_response 4, client_callback_start 4, client_callback_end 4, rmw_take_response 5, \
            client_callback_start 5, client_callback_end 5";
        // From Kilted on the middleware says itself what it took.
        let is_ours = |step: &&str| form.is_empty() || step.starts_with("client_callback");
        let expected: Vec<&str> = expected.split(", ").filter(is_ours).collect();
        assert_eq!(steps, expected);
    }
}

#[test]
fn source_timestamps_of_cyclone_dds_are_those_that_readers_see() {
    if !Path::new("/usr/include/dds/dds.h").exists() {
        return;
    }
    let output = folder("hooks-cyclone");
    let prefix = installation("4.1.1");
    let program = link_with(&prefix, "cyclone", "-lddsc");
    let result = record(&program, &output, &[]);
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    let seen: Vec<String> = String::from_utf8(result.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(seen.len(), 6);
    if let Some(events) = events(&output) {
        let written: Vec<String> = events
            .iter()
            .filter_map(|event| Some(event.split_once("source_stamp = ")?.1.to_owned()))
            .collect();
        assert_eq!(written, seen);
        assert_eq!(seen[3], "123456789012345");
    }
}

fn places(prefix: &Path) -> (String, String) {
    let folder = prefix.join("lib");
    (
        format!("-L{}", folder.display()),
        format!("-Wl,-rpath,{}", folder.display()),
    )
}

/// A program of an installation that needs one more library.
fn link_with(prefix: &Path, name: &str, library: &str) -> PathBuf {
    let program = prefix.join(format!("{name}-with-library"));
    let (libraries, search) = places(prefix);
    compile(
        &source(&format!("{name}.c")),
        &program,
        &[],
        &[
            &libraries,
            &search,
            "-Wl,--no-as-needed",
            library,
            "-ltracetools",
        ],
    );
    program
}

#[test]
fn source_timestamps_of_fast_dds_are_those_that_readers_see() {
    if !Path::new("/usr/include/fastdds/rtps/common/CacheChange.h").exists() {
        return;
    }
    let output = folder("hooks-fast");
    let prefix = installation("4.1.2");
    let program = prefix.join("fast_dds");
    let (libraries, search) = places(&prefix);
    compile(
        &source("fast_dds.cpp"),
        &program,
        &["-x", "c++", "-std=c++17", "-w", "-O0"],
        &[
            &libraries,
            &search,
            "-Wl,--no-as-needed",
            "-ltracetools",
            "-lfastrtps",
            "-lfastcdr",
            "-lstdc++",
        ],
    );
    let result = record(&program, &output, &[]);
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    let seen: Vec<String> = String::from_utf8(result.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    if let Some(events) = events(&output) {
        let written: Vec<String> = events
            .iter()
            .filter_map(|event| Some(event.split_once("source_stamp = ")?.1.to_owned()))
            .collect();
        assert_eq!(written, seen);
        assert_eq!(written.len(), 5);
    }
}
