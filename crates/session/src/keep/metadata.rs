//! The metadata of our traces, of a process and of context switches: Common Trace Format 1.8, as LTTng writes it.
//!
//! All events are declared from the beginning, so the file is complete before the first stream exists, and never changes.

use std::fmt::Write as _;

use crate::events::{EVENTS, Event, Kind};
use crate::memory::header::{Header, read_text};
use crate::memory::packet::{CONTEXT_FIELDS, HEAD, HEADER_FIELDS};
use crate::tracetools::TracetoolsVersion;

/// LTTng's level of tracepoints that have none.
const LOG_LEVEL: u8 = 13;

/// The text of the file, for a trace of this process.
pub(crate) fn text(header: &Header, uuid: [u64; 2], offset: i64) -> String {
    let version = TracetoolsVersion::parse(&header.tracetools_version());
    let context = "\tevent.context := struct {\n\
        \t\tinteger { size = 32; align = 8; signed = 1; base = 10; } _vpid;\n\
        \t\tinteger { size = 32; align = 8; signed = 1; base = 10; } _vtid;\n\
        \t\tinteger { size = 8; align = 8; signed = 0; encoding = UTF8; } _procname[17];\n\t};\n";
    let mut text = trace(uuid, offset, &environment(header), context);
    declare(&mut text, (0..).zip(&EVENTS), version);
    text
}

/// The same for a trace that the recorder itself writes, of context switches or samples: one stream for each CPU, no context. Of the events of
/// such traces those with these numbers are declared: readers take what is declared for what was recorded.
pub(crate) fn recorder_text(
    (events, declared): (&[Event], &[u16]),
    host: &str,
    kernel_release: &str,
    uuid: [u64; 2],
    offset: i64,
) -> String {
    let mut environment = String::from("env {\n");
    for (key, value) in [
        ("domain", "kernel"),
        ("sysname", "Linux"),
        ("kernel_release", kernel_release),
        ("tracer_name", "rostrace"),
        ("tracer_buffering_scheme", "global"),
        ("hostname", host),
    ] {
        let _ = writeln!(environment, "\t{key} = \"{}\";", escaped(value));
    }
    for (key, value) in [
        ("tracer_major", 0),
        ("tracer_minor", 1),
        ("architecture_bit_width", usize::BITS),
    ] {
        let _ = writeln!(environment, "\t{key} = {value};");
    }
    environment.push_str("};\n");
    let mut text = trace(uuid, offset, &environment, "");
    let events = (0..).zip(events);
    let events = events.filter(|(number, _)| declared.contains(number));
    declare(&mut text, events, TracetoolsVersion::parse(b""));
    text
}

/// Everything before the events. All our traces have packets and heads of events of one kind, and one clock.
fn trace(uuid: [u64; 2], offset: i64, environment: &str, context: &str) -> String {
    let mut text = String::with_capacity(32 << 10);
    let order = if cfg!(target_endian = "little") {
        "le"
    } else {
        "be"
    };
    let integer = |bits: u32| format!("integer {{ size = {bits}; align = 8; signed = 0; }}");
    let clock = |bits: u32| {
        format!("integer {{ size = {bits}; align = 8; signed = 0; map = clock.monotonic.value; }}")
    };
    // Each field is as long as it is to where the next one begins.
    let head = |fields: &[(&str, usize)], end: usize| -> String {
        let ends = fields[1..].iter().map(|(_, at)| *at).chain([end]);
        let line = |((name, at), end): (&(&str, usize), usize)| match end - at {
            16 => format!("\t\t{} {name}[16];\n", integer(8)),
            8 if name.starts_with("timestamp_") => format!("\t\t{} {name};\n", clock(64)),
            bytes => format!("\t\t{} {name};\n", integer(8 * bytes as u32)),
        };
        fields.iter().zip(ends).map(line).collect()
    };
    let boot = boot_id()
        .map(|id| format!("\tuuid = \"{id}\";\n"))
        .unwrap_or_default();
    let _ = write!(
        text,
        "/* CTF 1.8 */\n\n\
         trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{uuid}\";\n\tbyte_order = {order};\n\
         \tpacket.header := struct {{\n\
         {packet_header}\t}};\n}};\n\n\
         {environment}\n\
         clock {{\n\tname = \"monotonic\";\n{boot}\tdescription = \"Monotonic Clock\";\n\
         \tfreq = 1000000000;\n\toffset = {offset};\n}};\n\n\
         stream {{\n\tid = 0;\n\
         \tevent.header := struct {{\n\
         \t\tenum : {u16} {{ compact = 0 ... 65534, extended = 65535 }} id;\n\
         \t\tvariant <id> {{\n\
         \t\t\tstruct {{ {clock32} timestamp; }} compact;\n\
         \t\t\tstruct {{ {u32} id; {clock64} timestamp; }} extended;\n\
         \t\t}} v;\n\t}} align(8);\n\
         \tpacket.context := struct {{\n\
         {packet_context}\t}};\n\
         {context}}};\n\n",
        uuid = hyphenated(&bytes_of(uuid)),
        packet_header = head(&HEADER_FIELDS, CONTEXT_FIELDS[0].1),
        packet_context = head(&CONTEXT_FIELDS, HEAD),
        u16 = integer(16),
        u32 = integer(32),
        clock32 = clock(32),
        clock64 = clock(64),
    );
    text
}

fn declare<'e>(
    text: &mut String,
    events: impl Iterator<Item = (u16, &'e Event)>,
    version: TracetoolsVersion,
) {
    for (number, event) in events {
        let _ = write!(
            text,
            "event {{\n\tname = \"{}\";\n\tid = {number};\n\tstream_id = 0;\n\tloglevel = {LOG_LEVEL};\n\
             \tfields := struct {{\n{}\t}};\n}};\n\n",
            event.name,
            fields(event, version),
        );
    }
}

fn environment(header: &Header) -> String {
    let mut text = String::from("env {\n");
    let identity = header.identity();
    let name = identity.name;
    let end = name.iter().position(|byte| *byte == 0);
    let process = identity.pid;
    for (key, value) in [
        ("domain", "ust"),
        ("tracer_name", "rostrace"),
        ("tracer_buffering_scheme", "pid"),
        ("hostname", &String::from_utf8_lossy(&header.host())),
        (
            "procname",
            &String::from_utf8_lossy(&name[..end.unwrap_or(name.len())]),
        ),
        (
            "ros_tracetools_version",
            &String::from_utf8_lossy(&header.tracetools_version()),
        ),
    ] {
        let _ = writeln!(text, "\t{key} = \"{}\";", escaped(value));
    }
    // So that readers draw no conclusions from what was not to be recorded.
    let filters = &header.filters;
    for (key, patterns) in [
        ("rostrace_select_nodes", &filters.select_nodes),
        ("rostrace_ignore_nodes", &filters.ignore_nodes),
        ("rostrace_select_topics", &filters.select_topics),
        ("rostrace_ignore_topics", &filters.ignore_topics),
    ] {
        let patterns = read_text(patterns);
        if !patterns.is_empty() {
            let patterns = String::from_utf8_lossy(&patterns);
            let _ = writeln!(text, "\t{key} = \"{}\";", escaped(&patterns));
        }
    }
    for (key, value) in [
        ("tracer_major", 0),
        ("tracer_minor", 1),
        ("tracer_buffering_id", process),
        ("architecture_bit_width", usize::BITS),
        ("vpid", process),
    ] {
        let _ = writeln!(text, "\t{key} = {value};");
    }
    text.push_str("};\n");
    text
}

/// The fields of an event as this version of ROS 2 fills them.
fn fields(event: &Event, version: TracetoolsVersion) -> String {
    let mut text = String::new();
    for (name, kind) in event.fields {
        if event.name == "ros2:rmw_publish" && *name != "message" && !version.stamps_publications()
        {
            continue;
        }
        let integer = |bits: u32, signed: u32, base: u32| {
            format!(
                "integer {{ size = {bits}; align = 8; signed = {signed}; encoding = none; base = {base}; }}"
            )
        };
        let double = "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }";
        let mut sequence = |element: &str| {
            let _ = writeln!(text, "\t\t{} __{name}_length;", integer(64, 0, 10));
            let _ = writeln!(text, "\t\t{element} _{name}[ __{name}_length ];");
        };
        match kind {
            Kind::Pointers => sequence(&integer(64, 0, 16)),
            Kind::Numbers => sequence(&integer(64, 1, 10)),
            Kind::Reals => sequence(double),
            Kind::Texts => sequence("string"),
            Kind::Gid => {
                let bytes = match event.name {
                    "ros2:rmw_publisher_init" | "ros2:rmw_subscription_init" => version.gid_bytes(),
                    _ => 16,
                };
                let _ = writeln!(text, "\t\t{} _{name}[{bytes}];", integer(8, 0, 10));
            }
            Kind::Pointer
            | Kind::Unsigned
            | Kind::Signed
            | Kind::Flag
            | Kind::Text
            | Kind::Real => {
                let one = match kind {
                    Kind::Pointer => integer(64, 0, 16),
                    Kind::Unsigned => integer(64, 0, 10),
                    Kind::Signed => integer(64, 1, 10),
                    Kind::Flag => integer(32, 1, 10),
                    Kind::Real => double.to_owned(),
                    _ => "string".to_owned(),
                };
                let _ = writeln!(text, "\t\t{one} _{name};");
            }
        }
    }
    text
}

/// The same for all traces since the machine was started: their clocks are one clock.
fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| id.len() == 36)
}

fn bytes_of(uuid: [u64; 2]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (half, word) in bytes.chunks_exact_mut(8).zip(uuid) {
        half.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

fn hyphenated(uuid: &[u8; 16]) -> String {
    let mut text = String::new();
    for (place, byte) in uuid.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn escaped(text: &str) -> String {
    text.chars()
        .filter(|one| !one.is_control())
        .flat_map(|one| match one {
            '"' | '\\' => vec!['\\', one],
            _ => vec![one],
        })
        .collect()
}
