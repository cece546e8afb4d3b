//! Callbacks of Python nodes, reported by what the tracer runs inside rclpy, with a stand-in for rclpy.

use std::path::Path;
use std::process::{Output, Stdio};

use crate::support::{folder, installation, python, quietly, source, traced};

fn run(python: &Path, shape: &str, output: &Path) -> Output {
    let tracetools = installation("8.2.4").join("lib/libtracetools.so");
    traced(python)
        .arg(source("python_nodes.py"))
        .arg(tracetools)
        .arg(shape)
        .env("ROSTRACE_OUTPUT", output)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// What matters of an event, with the addresses of callbacks as letters in their order.
fn reported(output: &Path) -> Option<Vec<String>> {
    let mut callbacks: Vec<String> = Vec::new();
    let mut letter = |address: &str| {
        let at = callbacks.iter().position(|known| known == address);
        let at = at.unwrap_or_else(|| {
            callbacks.push(address.to_owned());
            callbacks.len() - 1
        });
        char::from(b'A' + u8::try_from(at).unwrap())
    };
    let shown = quietly(output)?;
    let lines = shown.events.iter().filter_map(|event| {
        let (_, fields) = event.split_once(" }, { ")?;
        let value = |name: &str| {
            let (_, rest) = fields.split_once(&format!("{name} = "))?;
            Some(rest.split([',', ' ']).next()?.trim_matches('"').to_owned())
        };
        let name = event.split("ros2:").nth(1)?.split(": ").next()?;
        Some(match name {
            "rcl_publisher_init" => format!("mark {}", value("publisher_handle")?),
            "callback_start" => format!("start {}", letter(&value("callback")?)),
            "callback_end" => format!("end {}", letter(&value("callback")?)),
            "rclcpp_callback_register" => {
                format!("{} is {}", letter(&value("callback")?), value("symbol")?)
            }
            "rclcpp_subscription_init" => {
                let subscription = letter(&value(" subscription")?);
                format!("{subscription} of {}", value("subscription_handle")?)
            }
            "rclcpp_service_callback_added" => {
                format!(
                    "{} of {}",
                    letter(&value("callback")?),
                    value("service_handle")?
                )
            }
            "rclcpp_timer_callback_added" => {
                format!(
                    "{} of {}",
                    letter(&value("callback")?),
                    value("timer_handle")?
                )
            }
            "rclcpp_timer_link_node" => {
                format!("{} in {}", value("timer_handle")?, value("node_handle")?)
            }
            _ => return None,
        })
    });
    Some(lines.collect())
}

fn callbacks_are_reported(shape: &str) {
    let Some(python) = python() else {
        return;
    };
    let output = folder(&format!("python-{shape}"));
    let result = run(python, shape, &output);
    assert!(result.status.success(), "{result:?}");
    let Some(reported) = reported(&output) else {
        return;
    };
    assert_eq!(
        reported,
        [
            "A of 0x30",
            "A is __main__.Robot.tick",
            "0x30 in 0x100",
            "B of 0x10",
            "B is __main__.Robot.received",
            "C of 0x11",
            "C is __main__.Robot.waits",
            "D of 0x12",
            "D is __main__.Robot.does_not_wait",
            "E of 0x20",
            "E is __main__.Robot.fail",
            "start A",
            "mark 0x1",
            "end A",
            "start B",
            "mark 0x2",
            "end B",
            "mark 0x6",
            "mark 0x5",
            "start D",
            "end D",
            // Only until it waits.
            "start C",
            "mark 0x3",
            "end C",
            "mark 0x4",
            "start C",
            "mark 0x3",
            "end C",
            "start E",
            "end E",
        ]
    );
}

#[test]
fn callbacks_of_humbles_python_executors_are_reported() {
    callbacks_are_reported("humble");
}

#[test]
fn callbacks_of_later_python_executors_are_reported() {
    callbacks_are_reported("jazzy");
}

#[test]
fn python_executors_of_a_version_that_is_not_known_are_left_as_they_are() {
    let Some(python) = python() else {
        return;
    };
    let output = folder("python-unknown");
    let result = run(python, "unknown", &output);
    assert!(result.status.success(), "{result:?}");
}

#[test]
fn a_python_process_that_is_not_to_be_traced_is_left_as_it_is() {
    left_as_it_is("ROSTRACE");
}

#[test]
fn executors_of_python_are_left_as_they_are_where_that_is_wanted() {
    left_as_it_is("ROSTRACE_PYTHON");
}

/// With this variable, which says `off`.
fn left_as_it_is(variable: &str) {
    let Some(python) = python() else {
        return;
    };
    let output = folder(&format!("python-{variable}"));
    let result = traced(python)
        .arg(source("python_nodes.py"))
        .arg(installation("8.2.4").join("lib/libtracetools.so"))
        .arg("left")
        .env("ROSTRACE_OUTPUT", output)
        .env(variable, "off")
        .output()
        .unwrap();
    assert!(result.status.success(), "{result:?}");
}
