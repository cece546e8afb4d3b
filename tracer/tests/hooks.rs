//! Functions of rcl, rmw, rclcpp and the middleware that are interposed: originals are called, and what they do is recorded.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{folder, installation, library_of, linked, quietly, record};

/// Events as `NAME: FIELDS`, without contexts, and without the time that CARET's have at their end.
fn events(output: &Path) -> Option<Vec<String>> {
    let shown = quietly(output)?;
    let texts = shown.values().map(|(name, values)| {
        let values = values.split(", init_timestamp").next().unwrap();
        format!("{name}:{values}")
    });
    Some(texts.collect())
}

/// Calls of rcl and rmw with this version of ROS 2.
fn recorded_calls(name: &str, version: &str) -> PathBuf {
    let output = folder(name);
    let prefix = installation(version);
    library_of(&prefix, "rcl_rmw.c", "librcl.so", &[]);
    let program = link_with(&prefix, "calls", "-lrcl");
    succeeded(&program, &output);
    output
}

#[test]
fn ends_of_entities_and_service_calls_are_recorded() {
    let output = recorded_calls("hooks-rcl", "4.1.1");
    let gid = "[ [0] = 7, [1] = 7, [2] = 7, [3] = 7, [4] = 7, [5] = 7, [6] = 7, [7] = 7, [8] = 7, [9] = 7, \
        [10] = 7, [11] = 7, [12] = 7, [13] = 7, [14] = 7, [15] = 7 ]";
    if let Some(events) = events(&output) {
        // The address of the message is one of the program's stack.
        let sizes = events.iter();
        let sizes = sizes.filter(|event| event.contains("_serialized: "));
        let sizes = sizes.filter_map(|event| event.rsplit_once("size = "));
        let sizes: Vec<&str> = sizes.map(|(_, size)| size).collect();
        assert_eq!(sizes, ["12", "33", "44"]);
        // The wall clock is another each time.
        let infos = events
            .iter()
            .filter_map(|event| event.strip_prefix("rmw_take_info: "));
        let infos = infos.map(|info| {
            let (before, clock) = info.split_once("wall_clock = ").unwrap();
            let (clock, after) = clock.split_once(", ").unwrap();
            assert!(clock.parse::<i64>().unwrap() > 1_500_000_000_000_000_000);
            format!("{before}{after}")
        });
        let infos: Vec<String> = infos.collect();
        let info = |subscription: &str, received: i64, numbers: [u64; 2]| {
            format!(
                "rmw_subscription_handle = {subscription}, received_timestamp = {received}, \
                 publication_sequence_number = {}, reception_sequence_number = {}",
                numbers[0], numbers[1]
            )
        };
        assert_eq!(
            infos,
            [
                info("0xB", 2000, [4, u64::MAX]),
                info("0xB", 2000, [5, u64::MAX]),
                info("0xC", 3000, [7, 8]),
            ]
        );
        let events: Vec<String> = events
            .into_iter()
            .filter(|event| !event.contains("_serialized: ") && !event.contains("_take_info: "))
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
        succeeded(&program, &output);
        if let Some(events) = events(&output) {
            let names = events.iter().filter_map(|it| it.split(':').next());
            let names: Vec<&str> = names.collect();
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
    succeeded(&program, &output);
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
    let output = recorded_calls("hooks-kilted", "8.6.0");
    if let Some(shown) = quietly(&output) {
        assert_eq!(shown.count("ros2:rmw_"), 0);
        assert_eq!(shown.count("_fini"), 7);
    }
}

/// Releases of Rolling between Jazzy and Kilted had no tracepoints for services yet.
#[test]
fn service_calls_are_recorded_up_to_the_version_that_has_tracepoints_for_them() {
    let output = recorded_calls("hooks-before-kilted", "8.4.1");
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

/// A file that is both a stand-in for librclcpp and, with `-DMAIN`, the program that uses it.
fn recorded_with_rclcpp(name: &str, version: &str, file: &str, form: &[&str]) -> (Output, PathBuf) {
    let output = folder(name);
    let prefix = installation(version);
    let options = [&["-x", "c++", "-std=c++17"], form].concat();
    library_of(&prefix, file, "librclcpp.so", &options);
    let program = prefix.join("program");
    let options = [&options[..], &["-DMAIN"]].concat();
    let libraries = ["-lrclcpp", "-ltracetools", "-lstdc++"];
    linked(&prefix.join("lib"), file, &program, &options, &libraries);
    (succeeded(&program, &output), output)
}

fn succeeded(program: &Path, output: &Path) -> Output {
    let result = record(program, output, &[]);
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    result
}

fn executors_and_groups(name: &str, version: &str, form: &[&str]) {
    let (result, output) = recorded_with_rclcpp(name, version, "rclcpp.cpp", form);
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
    let (_, output) = recorded_with_rclcpp(name, version, "clients.cpp", form);
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
    let seen = assert_stamps(&succeeded(&program, &output), &output, 6);
    assert_eq!(seen.len(), 6);
    assert_eq!(seen[3], "123456789012345");
}

/// A program of an installation that needs one more library.
fn link_with(prefix: &Path, name: &str, library: &str) -> PathBuf {
    let program = prefix.join(format!("{name}-with-library"));
    let file = format!("{name}.c");
    linked(
        &prefix.join("lib"),
        &file,
        &program,
        &[],
        &[library, "-ltracetools"],
    );
    program
}

/// The source timestamps that events of the middleware tell are those that its readers saw.
fn assert_stamps(result: &Output, output: &Path, number: usize) -> Vec<String> {
    let seen = String::from_utf8_lossy(&result.stdout);
    let seen: Vec<String> = seen.lines().map(str::to_owned).collect();
    if let Some(events) = events(output) {
        let stamps = events
            .iter()
            .filter_map(|it| it.split_once("source_stamp = "));
        let written: Vec<&str> = stamps.map(|(_, stamp)| stamp).collect();
        assert_eq!(written, seen);
        assert_eq!(written.len(), number);
    }
    seen
}

#[test]
fn source_timestamps_of_fast_dds_are_those_that_readers_see() {
    if !Path::new("/usr/include/fastdds/rtps/common/CacheChange.h").exists() {
        return;
    }
    let output = folder("hooks-fast");
    let prefix = installation("4.1.2");
    let program = prefix.join("fast_dds");
    let options = ["-x", "c++", "-std=c++17", "-w", "-O0"];
    let libraries = ["-ltracetools", "-lfastrtps", "-lfastcdr", "-lstdc++"];
    linked(
        &prefix.join("lib"),
        "fast_dds.cpp",
        &program,
        &options,
        &libraries,
    );
    assert_stamps(&succeeded(&program, &output), &output, 5);
}
