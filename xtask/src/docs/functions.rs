//! The functions of libtracetools that the tracer exports, and the same as safe functions of Rust, one block for each tracepoint of ROS 2. They are
//! committed, so that whoever searches for `ros_trace_callback_start` finds it.

use std::fmt::Write as _;

use rostrace_tracepoints::{FieldKind, Phase, Tracepoint, recorded};

const HEAD: &str = "\
//! The functions of libtracetools, which every ROS 2 since Humble calls. Made from crates/tracepoints by `cargo xtask docs`: do not edit by hand.
//!
//! What a block becomes is written in `entry`. By hand, in `tracetools`, is what is done where arguments are not fields.

use std::ffi::{c_char, c_void};

use crate::abi::entry::{entry, functions, tracepoint, tracepoints};
use crate::abi::left_out::{self, Direction};
use crate::abi::original;
use crate::abi::tracetools::is_enabled;
use crate::control::gate;
use crate::events;
use crate::ring::emit::{Payload, Text, event as run, initialisation as init};
";

const SAFE_HEAD: &str = "\
//! The tracepoints of ROS 2 as safe functions, for client libraries in Rust such as rclrs and r2r. Made from crates/tracepoints by
//! `cargo xtask docs`: do not edit by hand.
//!
//! ```
//! use rostrace_tracer::ros;
//!
//! let callback = 0x5000 as *const std::ffi::c_void;
//! ros::rclcpp_callback_register(callback, c\"robot::tick\");
//! ros::callback_start(callback, false);
//! ros::callback_end(callback);
//! ```

#![allow(clippy::not_unsafe_ptr_arg_deref)] // Addresses are only written down.

use std::ffi::{CStr, c_void};

use crate::abi::functions::*;

macro_rules! safe {
    ($($(#[$about:meta])* $name:ident($($parameter:ident: $kind:ty),*) => $function:ident($($argument:expr),*);)*) => {
        $(
            $(#[$about])*
            #[inline]
            #[allow(clippy::too_many_arguments)]
            pub fn $name($($parameter: $kind),*) {
                // SAFETY: texts end with a zero, gids and lists are as long as is said, addresses are not followed.
                unsafe { $function($($argument),*) }
            }
        )*
    };
}

safe! {
";

/// Lines are broken behind this.
const WIDTH: usize = 140;

fn tracepoints() -> impl Iterator<Item = &'static Tracepoint> {
    recorded().filter(|event| event.provider == "ros2")
}

/// `tracer/src/abi/functions.rs`.
pub(super) fn exported() -> String {
    let mut text = String::from(HEAD);
    text.push_str("\nfunctions! {");
    let mut width = WIDTH;
    for event in tracepoints() {
        width += event.name.len() + 1;
        if width > WIDTH {
            text.push_str("\n   ");
            width = event.name.len() + 4;
        }
        let _ = write!(text, " {}", event.name);
    }
    text.push_str("\n}\n\ntracepoints! {\n");
    for event in tracepoints() {
        let name = event.name;
        let phase = match event.phase {
            Phase::Init => "init",
            Phase::Run => "run",
        };
        let _ = writeln!(
            text,
            "    /// {}\n    {phase} {} {name}: ros_trace_{name}, ros_trace_do_{name}, ros_trace_enabled_{name} {{\n{}    }}",
            event.summary,
            event.constant(),
            body(event),
        );
    }
    text.push_str("}\n");
    text
}

/// Arguments, when the event is left out, and its fields.
fn body(event: &Tracepoint) -> String {
    let name = event.name;
    if let Some(parameters) = event.by_hand() {
        return format!("        fn({parameters}) by trace_{name};\n");
    }
    let (mut parameters, mut size, mut fields) = (Vec::new(), Vec::new(), String::new());
    let mut locals = String::new();
    for field in event.recorded_fields() {
        let field_name = field.name;
        let (kind, bytes, write) = match field.kind {
            FieldKind::Pointer => ("*const c_void", "8".to_owned(), "pointer"),
            FieldKind::Unsigned => ("u64", "8".to_owned(), "unsigned"),
            FieldKind::Signed => ("i64", "8".to_owned(), "signed"),
            FieldKind::Flag => ("bool", "4".to_owned(), "flag"),
            FieldKind::Text => {
                let of = match field_name {
                    "symbol" => "of_symbol",
                    _ => "of",
                };
                let _ = writeln!(
                    locals,
                    "        let {field_name}_text = Text::{of}({field_name});"
                );
                parameters.push(format!("{field_name}: *const c_char"));
                size.push(format!("{field_name}_text.size()"));
                let _ = write!(fields, ".text({field_name}_text)");
                continue;
            }
            FieldKind::Gid => {
                let bytes = match name {
                    "rmw_publisher_init" | "rmw_subscription_init" => "original::gid_bytes()",
                    _ => "16",
                };
                let _ = writeln!(locals, "        let {field_name}_bytes = {bytes};");
                parameters.push(format!("{field_name}: *const u8"));
                size.push(format!("{field_name}_bytes"));
                let _ = write!(fields, ".gid({field_name}, {field_name}_bytes)");
                continue;
            }
            FieldKind::Pointers => {
                let count = format!("Payload::count({field_name}, num_{field_name})");
                let _ = writeln!(locals, "        let {field_name}_count = {count};");
                parameters.push(format!("{field_name}: *const *const c_void"));
                parameters.push(format!("num_{field_name}: usize"));
                size.push(format!("8 + 8 * {field_name}_count"));
                let _ = write!(fields, ".pointers({field_name}, {field_name}_count)");
                continue;
            }
            other => panic!("{event}: no C argument is known for a field of kind {other}"),
        };
        parameters.push(format!("{field_name}: {kind}"));
        size.push(bytes);
        let _ = write!(fields, ".{write}({field_name})");
    }
    let size = match size.as_slice() {
        [] => "0".to_owned(),
        size => size.join(" + "),
    };
    let separator = if fields.is_empty() { "" } else { " " };
    format!(
        "        fn({}){};\n{locals}        [{size}]{separator}{fields}\n",
        parameters.join(", "),
        refused(event),
    )
}

/// What happens to an entity that is not wanted is left out; the entity comes first where there is one. Where there is only a message, the event
/// beside it has reported.
fn refused(event: &Tracepoint) -> String {
    let first = event.recorded_fields().next();
    let first = first.filter(|it| event.phase == Phase::Run && it.kind == FieldKind::Pointer);
    match (event.name, first.map(|field| field.name)) {
        ("rcl_publish", Some(first)) => {
            format!(" unless left_out::refuses({first}, message, Direction::Published)")
        }
        ("rmw_take", Some(first)) => {
            format!(" unless left_out::refuses({first}, message, Direction::Taken)")
        }
        ("rcl_take" | "rclcpp_take", _) => {
            " unless left_out::has(message, Direction::Taken)".to_owned()
        }
        (_, None | Some("message")) => String::new(),
        (_, Some(first)) => format!(" unless gate::refuses({first} as u64)"),
    }
}

/// `tracer/src/api/ros.rs`: the same as safe functions. Addresses are only written down, everything else is borrowed.
pub(super) fn safe() -> String {
    let mut text = String::from(SAFE_HEAD);
    for event in tracepoints() {
        let name = event.name;
        let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
        if name == "rclcpp_publish" {
            arguments.push("std::ptr::null()".to_owned());
        }
        for field in event.recorded_fields() {
            let field_name = field.name;
            if name == "rcl_init" && field_name == "version" {
                continue;
            }
            let (kind, argument) = match field.kind {
                FieldKind::Pointer => ("*const c_void", field_name.to_owned()),
                FieldKind::Unsigned => ("u64", field_name.to_owned()),
                FieldKind::Signed => ("i64", field_name.to_owned()),
                FieldKind::Flag => ("bool", field_name.to_owned()),
                FieldKind::Text => ("&CStr", format!("{field_name}.as_ptr()")),
                // Long enough for every distribution.
                FieldKind::Gid => ("&[u8; 24]", format!("{field_name}.as_ptr()")),
                FieldKind::Pointers => (
                    "&[*const c_void]",
                    format!("{field_name}.as_ptr(), {field_name}.len()"),
                ),
                other => panic!("{event}: no argument is known for a field of kind {other}"),
            };
            parameters.push(format!("{field_name}: {kind}"));
            arguments.push(argument);
        }
        let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
        let separator = match 2 * name.len() + parameters.len() + arguments.len() {
            ..WIDTH => " ",
            _ => "\n        ",
        };
        let _ = writeln!(
            text,
            "    /// {}\n    {name}({parameters}){separator}=> ros_trace_{name}({arguments});",
            event.summary,
        );
    }
    text.push_str("}\n");
    text
}
