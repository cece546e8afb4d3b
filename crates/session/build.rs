//! Writes the table of the events that the tracer can write, with their numbers, from the declared vocabulary.

use std::fmt::Write as _;
use std::path::Path;

use rostrace_tracepoints::{
    Attribute, Field, Phase, Presence, TRACEPOINTS, Tracepoint, recorded, vocabulary,
};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let events: Vec<&Tracepoint> = recorded().collect();
    let mut table = String::new();
    for (number, event) in events.iter().enumerate() {
        let _ = writeln!(
            table,
            "/// {}\npub const {}: u16 = {number};",
            event.summary,
            event.constant()
        );
    }
    let _ = writeln!(
        table,
        "/// Tells this list of events from others.\npub const VOCABULARY: u64 = {};\n\
         /// In the order of their numbers.\npub static EVENTS: [Event; {}] = [",
        vocabulary(),
        events.len()
    );
    events.iter().for_each(|event| declare(&mut table, event));
    let _ = writeln!(table, "];");
    of_the_recorder(&mut table, "rostrace_sched", "sched");
    of_the_recorder(&mut table, "rostrace_sample", "sample");
    let out = std::env::var_os("OUT_DIR").expect("cargo names the folder for what is generated");
    std::fs::write(Path::new(&out).join("events.rs"), table).expect("a folder to write into");
}

fn declare(table: &mut String, event: &Tracepoint) {
    let _ = writeln!(
        table,
        "Event {{ name: {:?}, is_initialisation: {}, identified: Identified::{}, fields: &[",
        event.full_name,
        event.phase == Phase::Init,
        if event.has(Attribute::Repeated) {
            "ByAll"
        } else {
            "ByFirstField"
        },
    );
    for field in event.recorded_fields().filter(|it| is_written(event, it)) {
        let _ = writeln!(table, "({:?}, Kind::{:?}),", field.name, field.kind);
    }
    let _ = writeln!(table, "] }},");
}

/// Events of the kernel that the recorder writes as LTTng's modules would, so that readers find them under the same names.
const AS_LTTNG: [&str; 9] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "irq_handler_entry",
    "irq_handler_exit",
    "irq_softirq_entry",
    "irq_softirq_exit",
];

/// The events that the recorder itself writes, in a trace of their own: their numbers are none of the tracer's.
fn of_the_recorder(table: &mut String, provider: &str, module: &str) {
    let events: Vec<&Tracepoint> = (TRACEPOINTS.iter())
        .filter(|event| {
            let is_kernels = provider == "rostrace_sched" && AS_LTTNG.contains(&event.full_name);
            event.provider == provider || is_kernels
        })
        .collect();
    let _ = writeln!(
        table,
        "/// What the recorder hears from the kernel.\npub mod {module} {{"
    );
    for (number, event) in events.iter().enumerate() {
        let name = event.name.to_uppercase();
        let _ = writeln!(
            table,
            "/// {}\npub const {name}: u16 = {number};",
            event.summary
        );
    }
    let _ = writeln!(
        table,
        "}}\n/// In the order of their numbers.\npub static {}_EVENTS: [Event; {}] = [",
        module.to_uppercase(),
        events.len()
    );
    events.iter().for_each(|event| declare(table, event));
    let _ = writeln!(table, "];");
}

/// What only some versions of LTTng or Linux say is left out of what we write in their place.
fn is_written(event: &Tracepoint, field: &Field) -> bool {
    match field.presence {
        Presence::Versions(versions) if event.provider.is_empty() => {
            versions.starts_with("rostrace")
        }
        _ => true,
    }
}
