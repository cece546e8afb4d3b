//! The functions of libtracetools are called as ROS 2 calls them, from C, and every value arrives.

use std::path::Path;
use std::process::Command;

use crate::support::{folder, installation, linked, program, quietly, record, survey, traced};

/// Events as babeltrace2 shows them, without host and contexts.
fn events(output: &Path) -> Option<Vec<String>> {
    let shown = quietly(output)?;
    let mut events: Vec<String> = (shown.values())
        .map(|(name, values)| format!("{name}{values}"))
        .collect();
    events.sort();
    Some(events)
}

const GID_16: &str = "[ [0] = 1, [1] = 2, [2] = 3, [3] = 4, [4] = 5, [5] = 6, [6] = 7, [7] = 8, [8] = 9, \
    [9] = 10, [10] = 11, [11] = 12, [12] = 13, [13] = 14, [14] = 15, [15] = 16 ]";

/// What all distributions record of `abi.c`.
fn shared(version: &str, gid: &str) -> Vec<String> {
    [
        &format!("rcl_init context_handle = 0x1, version = \"{version}\""),
        "rcl_node_init node_handle = 0x2, rmw_handle = 0x3, node_name = \"node\", namespace = \"/space\"",
        &format!("rmw_publisher_init rmw_publisher_handle = 0x4, gid = {gid}"),
        "rcl_publisher_init publisher_handle = 0x5, node_handle = 0x2, rmw_publisher_handle = 0x4, \
         topic_name = \"/topic\", queue_depth = 7",
        &format!("rmw_subscription_init rmw_subscription_handle = 0x6, gid = {gid}"),
        "rcl_subscription_init subscription_handle = 0x7, node_handle = 0x2, rmw_subscription_handle = 0x6, \
         topic_name = \"/topic\", queue_depth = 8",
        "rclcpp_subscription_init subscription_handle = 0x7, subscription = 0x9",
        "rclcpp_subscription_callback_added subscription = 0x9, callback = 0xA",
        "rcl_service_init service_handle = 0xB, node_handle = 0x2, rmw_service_handle = 0xC, \
         service_name = \"/service\"",
        "rclcpp_service_callback_added service_handle = 0xB, callback = 0xD",
        "rcl_client_init client_handle = 0xE, node_handle = 0x2, rmw_client_handle = 0xF, service_name = \"/service\"",
        "rcl_timer_init timer_handle = 0x10, period = -5",
        "rclcpp_timer_callback_added timer_handle = 0x10, callback = 0x11",
        "rclcpp_timer_link_node timer_handle = 0x10, node_handle = 0x2",
        "rclcpp_callback_register callback = 0xA, symbol = \"(null)\"",
        "rcl_lifecycle_state_machine_init node_handle = 0x2, state_machine = 0x12",
        "rclcpp_publish message = 0x13",
        "rcl_publish publisher_handle = 0x5, message = 0x13",
        "rmw_take rmw_subscription_handle = 0x6, message = 0x14, source_timestamp = 1234567890123, taken = 1",
        "rcl_take message = 0x14",
        "rclcpp_take message = 0x14",
        "callback_start callback = 0xA, is_intra_process = 1",
        "callback_end callback = 0xA",
        "rcl_lifecycle_transition state_machine = 0x12, start_label = \"inactive\", goal_label = \"active\"",
        "rclcpp_executor_get_next_ready",
        "rclcpp_executor_wait_for_work timeout = -1",
        "rclcpp_executor_execute handle = 0x10",
    ]
    .iter()
    .map(|line| line.to_string())
    .collect()
}

#[test]
fn on_humble_every_value_arrives() {
    let output = folder("abi-humble");
    let program = program("abi", "4.1.1", &["-DHUMBLE"]);
    assert!(record(&program, &output, &[]).status.success());
    let gid = GID_16.replace(
        " ]",
        ", [16] = 17, [17] = 18, [18] = 19, [19] = 20, [20] = 21, [21] = 22, [22] = 23, [23] = 24 ]",
    );
    let mut expected = shared("4.1.1", &gid);
    expected.push("rmw_publish message = 0x13".to_owned());
    are_recorded(&output, expected);
}

/// These events, and no others.
fn are_recorded(output: &Path, mut expected: Vec<String>) {
    expected.sort();
    if let Some(events) = events(output) {
        assert_eq!(events, expected);
    }
    assert_eq!(survey(output), (expected.len() as u64, 0));
}

#[test]
fn on_later_distributions_every_value_arrives() {
    for version in ["8.2.4", "9.0.0"] {
        let output = folder(&format!("abi-{version}"));
        let program = program("abi", version, &[]);
        assert!(record(&program, &output, &[]).status.success());
        let mut expected = shared(version, GID_16);
        let gid = GID_16;
        expected.extend(
            [
                "rmw_publish rmw_publisher_handle = 0x4, message = 0x13, timestamp = 1234567890123",
                "rclcpp_intra_publish publisher_handle = 0x5, message = 0x13",
                "rclcpp_ipb_to_subscription ipb = 0x15, subscription = 0x9",
                "rclcpp_buffer_to_ipb buffer = 0x16, ipb = 0x15",
                "rclcpp_construct_ring_buffer buffer = 0x16, capacity = 3",
                "rclcpp_ring_buffer_enqueue buffer = 0x16, index = 1, size = 2, overwritten = 1",
                "rclcpp_ring_buffer_dequeue buffer = 0x16, index = 1, size = 2",
                "rclcpp_ring_buffer_clear buffer = 0x16",
                &format!(
                    "rmw_take_request rmw_service_handle = 0xC, request = 0x17, client_gid = {gid}, \
                     sequence_number = -9, taken = 1"
                ),
                &format!(
                    "rmw_send_response rmw_service_handle = 0xC, response = 0x18, client_gid = {gid}, \
                     sequence_number = 9, timestamp = 99"
                ),
                &format!("rmw_client_init rmw_client_handle = 0xF, gid = {gid}"),
                "rmw_send_request rmw_client_handle = 0xF, request = 0x19, sequence_number = 9",
                "rmw_take_response rmw_client_handle = 0xF, response = 0x1A, sequence_number = 9, \
                 source_timestamp = 99, taken = 0",
                "message_link_periodic_async _subs_length = 2, subs = [ [0] = 0x7, [1] = 0x8 ], _pubs_length = 1, \
                 pubs = [ [0] = 0x5 ]",
                "message_link_partial_sync _subs_length = 0, subs = [ ], _pubs_length = 1, pubs = [ [0] = 0x5 ]",
            ]
            .iter()
            .map(|line| line.to_string()),
        );
        are_recorded(&output, expected);
    }
}

#[test]
fn calls_are_passed_on_when_the_real_library_has_lttng() {
    let output = folder("abi-lttng");
    let program = program("abi", "8.2.4", &[]);
    let run = |lttng: Option<&str>| {
        let mut command = traced(&program);
        command
            .env("HAS_LTTNG", "1")
            .env("ROSTRACE_OUTPUT", &output);
        if let Some(wanted) = lttng {
            command.env("ROSTRACE_LTTNG", wanted);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let passed = run(None);
    assert_eq!(passed.lines().count(), 42, "{passed}");
    assert_eq!(run(Some("0")), "");
}

#[test]
fn switched_off_it_does_nothing_but_pass_calls_on() {
    let output = folder("abi-off");
    let program = program("abi", "8.2.4", &[]);
    let result = traced(&program)
        .env("ROSTRACE", "off")
        .env("ROSTRACE_OUTPUT", output.join("trace"))
        .env("HAS_LTTNG", "1")
        .output()
        .unwrap();
    assert!(result.status.success());
    let passed = String::from_utf8(result.stdout).unwrap();
    // Two calls are made only by who is told that they are wanted.
    assert_eq!(passed.lines().count(), 40, "{passed}");
    assert!(!output.join("trace").exists());
}

#[test]
fn it_is_a_libtracetools_by_itself() {
    let prefix = installation("8.2.4");
    let output = folder("abi-alone");
    let program = program("abi", "8.2.4", &[]);
    let alone = output.join("libtracetools.so");
    std::os::unix::fs::symlink(crate::support::library(), &alone).unwrap();
    let result = std::process::Command::new(program)
        // Found before the one that the program was linked to.
        .env("LD_LIBRARY_PATH", &output)
        .env("LD_PRELOAD", "")
        .env("ROS_DISTRO", "jazzy")
        .env("ROSTRACE_OUTPUT", output.join("trace"))
        .output()
        .unwrap();
    assert!(result.status.success(), "{result:?}");
    drop(prefix);
    let _ = quietly(&output.join("trace"));
}

#[test]
fn callbacks_in_cpp_get_their_names() {
    let output = folder("abi-symbols");
    let program = output.join("symbols");
    std::os::unix::fs::symlink(crate::support::library(), output.join("libtracetools.so")).unwrap();
    let include = format!("-I{}/include", env!("CARGO_MANIFEST_DIR"));
    let options = ["-x", "c++", "-std=c++17", &include];
    let libraries = ["-rdynamic", "-ltracetools", "-lstdc++"];
    linked(&output, "symbols.cpp", &program, &options, &libraries);
    let result = std::process::Command::new(&program)
        .env("ROS_DISTRO", "jazzy")
        .env("ROSTRACE_OUTPUT", output.join("trace"))
        .output()
        .unwrap();
    assert!(result.status.success(), "{result:?}");
    let Some(shown) = quietly(&output.join("trace")) else {
        return;
    };
    assert_eq!(longest_symbol(&shown.events), 10_000);
    for symbol in [
        "robot::on_message(std::shared_ptr<robot::Message const>)",
        "main::{lambda(int)#1}",
        "std::_Bind<void (robot::Node::*(robot::Node*))()>",
        "(null)",
    ] {
        let text = format!("symbol = \"{symbol}\"");
        assert_eq!(shown.count(&text), 1, "{symbol}: {shown:?}");
    }
    assert_eq!(shown.events.len(), 7);
}

/// Letters of the symbol that consists of one letter.
fn longest_symbol(events: &[String]) -> usize {
    let symbols = (events.iter()).filter_map(|event| event.split_once("symbol = \"s"));
    let letters = symbols.map(|(_, rest)| 1 + rest.bytes().take_while(|it| *it == b's').count());
    letters.max().unwrap_or(0)
}

#[test]
fn who_tells_the_time_in_the_place_of_the_c_library_is_asked() {
    let place = folder("abi-clock");
    let clock = place.join("libclock.so");
    let options = ["-shared", "-fPIC"];
    crate::support::compile(
        &crate::support::source("other_clock.c"),
        &clock,
        &options,
        &[],
    );
    let mut both = clock.into_os_string();
    both.push(":");
    both.push(crate::support::library());
    let trace = place.join("trace");
    let result = traced(&program("abi", "8.2.4", &[]))
        .env("LD_PRELOAD", both)
        .env("ROSTRACE_OUTPUT", &trace)
        .output()
        .unwrap();
    let said = String::from_utf8(result.stderr).unwrap();
    let asked: u64 = said
        .split_whitespace()
        .find_map(|word| word.parse().ok())
        .unwrap();
    let (events, _) = survey(&trace);
    assert!(events > 40 && asked >= events, "{events} events, {said}");
}

/// Neither the library nor the parts of Rust's that are in it reach for the program's allocator.
#[test]
fn its_memory_is_its_own() {
    let listed = Command::new("nm")
        .args(["--dynamic", "--undefined-only"])
        .arg(crate::support::library())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains(" mmap"), "{listed}");
    let of_the_program: Vec<&str> = listed
        .split_whitespace()
        .filter_map(|word| word.split('@').next())
        .filter(|name| {
            [
                "malloc",
                "calloc",
                "realloc",
                "posix_memalign",
                "aligned_alloc",
                "free",
            ]
            .contains(name)
        })
        .collect();
    assert_eq!(of_the_program, Vec::<&str>::new());
}
