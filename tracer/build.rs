//! Writes one C function per tracepoint of ROS 2 from the declared vocabulary.
//!
//! What the few functions do whose arguments are not their fields is written by hand in `src/tracetools.rs`.

use std::fmt::Write as _;
use std::path::Path;

use rostrace_tracepoints::{FieldKind, Phase, Tracepoint, recorded};

/// What is done for them is written by hand, since it depends on the version of ROS 2; with their arguments.
const BY_HAND: &[(&str, &str)] = &[
    ("rcl_init", "context_handle: *const c_void"),
    (
        "rclcpp_publish",
        "publisher_handle: *const c_void, message: *const c_void",
    ),
    (
        "rmw_publish",
        "first: *const c_void, message: *const c_void, stamp: i64",
    ),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Other threads and the dynamic linker hold addresses of ours: `dlclose` must not unload the library.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Its memory is its own: see `src/own_heap.rs`.
    for function in ["malloc", "calloc", "realloc", "posix_memalign", "free"] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--wrap={function}");
    }
    let events: Vec<&Tracepoint> = recorded().collect();
    let mut functions = String::new();
    let mut safe = String::new();
    for event in events.iter().filter(|event| event.provider == "ros2") {
        functions.push_str(&function(event));
        safe.push_str(&safe_function(event));
    }
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event.provider == "ros2")
        .map(|event| event.name)
        .collect();
    let _ = writeln!(
        functions,
        "/// The functions of libtracetools, for the table of originals.\n\
         #[allow(non_camel_case_types)]\n\
         #[derive(Debug, Clone, Copy)]\n\
         #[repr(u16)]\n\
         pub(crate) enum Function {{ {} }}\n\
         /// Their names without `ros_trace_`.\n\
         pub(crate) static NAMES: [&str; {count}] = {names:?};",
        names.join(", "),
        count = names.len(),
    );
    let out = std::env::var_os("OUT_DIR").expect("cargo names the folder for what is generated");
    std::fs::write(Path::new(&out).join("functions.rs"), functions)
        .expect("a folder to write into");
    std::fs::write(Path::new(&out).join("ros.rs"), safe).expect("a folder to write into");
}

/// The same as a safe function of Rust: addresses are only written down, everything else is borrowed.
fn safe_function(event: &Tracepoint) -> String {
    let name = event.name;
    let (mut parameters, mut arguments) = (String::new(), String::new());
    if name == "rclcpp_publish" {
        arguments.push_str("std::ptr::null(), ");
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
        let _ = write!(parameters, "{field_name}: {kind}, ");
        let _ = write!(arguments, "{argument}, ");
    }
    format!(
        "/// {summary}\n\
         #[inline]\n\
         #[allow(clippy::too_many_arguments)]\n\
         pub fn {name}({parameters}) {{\n\
         // SAFETY: texts end with a zero, gids and lists are as long as is said, addresses are not followed.\n\
         unsafe {{ tracetools::ros_trace_{name}({arguments}) }}\n}}\n",
        summary = event.summary,
    )
}

/// The three functions of one tracepoint.
fn function(event: &Tracepoint) -> String {
    let name = event.name;
    let constant = event.constant();
    let mut text = format!(
        "extern \"C\" fn test_{name}() -> bool {{\n\
         is_enabled(events::{constant}, Function::{name})\n}}\n"
    );
    text.push_str(&exported(
        event,
        &format!("ros_trace_enabled_{name}"),
        &format!(
            "Whether `{}` is recorded, remembered or wanted by LTTng.",
            event.full_name
        ),
        "",
        "-> bool",
        &format!("test_{name}"),
    ));
    if let Some((_, parameters)) = BY_HAND.iter().find(|(by_hand, _)| *by_hand == name) {
        text.push_str(&emitting(event, parameters));
        return text;
    }
    let (mut parameters, mut names, mut size, mut writes, mut lengths) = (
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
    );
    for field in event.recorded_fields() {
        let field_name = field.name;
        match field.kind {
            FieldKind::Pointer => {
                let _ = write!(parameters, "{field_name}: *const c_void, ");
                let _ = write!(writes, ".pointer({field_name})");
                size.push_str(" + 8");
            }
            FieldKind::Unsigned => {
                let _ = write!(parameters, "{field_name}: u64, ");
                let _ = write!(writes, ".unsigned({field_name})");
                size.push_str(" + 8");
            }
            FieldKind::Signed => {
                let _ = write!(parameters, "{field_name}: i64, ");
                let _ = write!(writes, ".signed({field_name})");
                size.push_str(" + 8");
            }
            FieldKind::Flag => {
                let _ = write!(parameters, "{field_name}: bool, ");
                let _ = write!(writes, ".flag({field_name})");
                size.push_str(" + 4");
            }
            FieldKind::Text => {
                let _ = write!(parameters, "{field_name}: *const c_char, ");
                let of = match field_name {
                    "symbol" => "of_symbol",
                    _ => "of",
                };
                let _ = writeln!(
                    lengths,
                    "// SAFETY: the caller passes null or a text that ends with a zero.\n\
                     let {field_name}_text = unsafe {{ Text::{of}({field_name}) }};"
                );
                let _ = write!(writes, ".text({field_name}_text)");
                let _ = write!(size, " + {field_name}_text.size()");
            }
            FieldKind::Gid => {
                let _ = write!(parameters, "{field_name}: *const u8, ");
                let bytes = match name {
                    "rmw_publisher_init" | "rmw_subscription_init" => "original::gid_bytes()",
                    _ => "16",
                };
                let _ = writeln!(lengths, "let {field_name}_bytes = {bytes};");
                let _ = write!(writes, ".gid({field_name}, {field_name}_bytes)");
                let _ = write!(size, " + {field_name}_bytes");
            }
            FieldKind::Pointers => {
                let _ = write!(
                    parameters,
                    "{field_name}: *const *const c_void, num_{field_name}: usize, "
                );
                let _ = writeln!(
                    lengths,
                    "let {field_name}_count = Payload::count({field_name}, num_{field_name});"
                );
                let _ = write!(writes, ".pointers({field_name}, {field_name}_count)");
                let _ = write!(size, " + 8 + 8 * {field_name}_count");
            }
            other => panic!("{event}: no C argument is known for a field of kind {other}"),
        }
        match field.kind {
            FieldKind::Pointers => {
                let _ = write!(names, "{field_name}, num_{field_name}, ");
            }
            _ => {
                let _ = write!(names, "{field_name}, ");
            }
        }
    }
    let types: Vec<&str> = parameters
        .split(", ")
        .filter_map(|one| one.split_once(": ").map(|(_, kind)| kind))
        .collect();
    let types = types.join(", ");
    // What happens to an entity that is not wanted is left out; the entity comes first where there is one. Where there is only a message, the event
    // beside it has told.
    let first = event.recorded_fields().next();
    let first = first.filter(|it| event.phase == Phase::Run && it.kind == FieldKind::Pointer);
    let entity = match (name, first.map(|field| field.name)) {
        ("rcl_publish", Some(first)) => {
            format!(" && !left_out::refuses({first}, message, Direction::Published)")
        }
        ("rmw_take", Some(first)) => {
            format!(" && !left_out::refuses({first}, message, Direction::Taken)")
        }
        ("rcl_take" | "rclcpp_take", _) => {
            " && !left_out::has(message, Direction::Taken)".to_owned()
        }
        (_, None | Some("message")) => String::new(),
        (_, Some(first)) => format!(" && !gate::refuses({first} as u64)"),
    };
    let emit = match event.phase {
        Phase::Init => "emit::initialisation",
        Phase::Run => "emit::event",
    };
    let size = size.strip_prefix(" + ").unwrap_or("0");
    let body = match writes.as_str() {
        "" => "{ let _ = payload; }".to_owned(),
        writes => format!("unsafe {{ payload{writes}; }}"),
    };
    let recorder = format!(
        "{lengths}\n// SAFETY: the payload has the size that is said, and the arguments are what the C function asks for.\n\
         {emit}(events::{constant}, {size}, |payload| {body});"
    );
    let _ = write!(
        text,
        "#[inline(never)]\n\
         #[allow(clippy::too_many_arguments)]\n\
         unsafe extern \"C\" fn trace_{name}({parameters}) {{\n\
         if gate::wants(events::{constant}){entity} {{\n{recorder}\n}}\n\
         if let Some(original) = original::function(Function::{name}) {{\n\
         // SAFETY: this is the function of the same name, with the same arguments.\n\
         unsafe {{ std::mem::transmute::<*const c_void, unsafe extern \"C\" fn({types})>(original)({names}) }};\n\
         }}\n}}\n"
    );
    text.push_str(&emitting(event, parameters.trim_end_matches(", ")));
    text
}

/// The two functions by which an event is told; the second one is for who has asked before.
fn emitting(event: &Tracepoint, parameters: &str) -> String {
    ["ros_trace_", "ros_trace_do_"]
        .map(|prefix| {
            let function = format!("{prefix}{}", event.name);
            let work = format!("trace_{}", event.name);
            exported(event, &function, event.summary, parameters, "", &work)
        })
        .concat()
}

/// A function of libtracetools. Events of initialisation are remembered while nothing is recorded, so they ask otherwise.
fn exported(
    event: &Tracepoint,
    function: &str,
    summary: &str,
    parameters: &str,
    result: &str,
    work: &str,
) -> String {
    let (name, constant) = (event.name, event.constant());
    let safety = "///\n\
                  /// # Safety\n\
                  /// Texts are null or end with a zero; gids and arrays are null or as long as the event says.";
    let arguments: Vec<&str> = parameters
        .split(", ")
        .filter_map(|one| one.split_once(": ").map(|(name, _)| name))
        .collect();
    match event.phase {
        Phase::Run => format!(
            "entry! {{\n/// {summary}\n{safety}\n\
             fn {function}({parameters}) {result};\n\
             {constant}, {name} => {work}\n}}\n"
        ),
        Phase::Init => format!(
            "/// {summary}\n{safety}\n\
             #[unsafe(no_mangle)]\n\
             #[allow(clippy::too_many_arguments, unused_unsafe)]\n\
             pub unsafe extern \"C\" fn {function}({parameters}) {result} {{\n\
             if !gate::may_want(events::{constant}) && !original::wants(Function::{name}) {{\n\
             return Default::default();\n}}\n\
             // SAFETY: as the caller promises.\n\
             unsafe {{ {work}({}) }}\n}}\n",
            arguments.join(", "),
        ),
    }
}
