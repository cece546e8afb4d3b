//! Writes the table of the events that the tracer can write, with their numbers, from the declared vocabulary.

use std::fmt::Write as _;
use std::path::Path;

use rostrace_tracepoints::{Attribute, Phase, Tracepoint, recorded, vocabulary};

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
    for event in &events {
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
        for field in event.recorded_fields() {
            let _ = writeln!(table, "({:?}, Kind::{:?}),", field.name, field.kind);
        }
        let _ = writeln!(table, "] }},");
    }
    let _ = writeln!(table, "];");
    let out = std::env::var_os("OUT_DIR").expect("cargo names the folder for what is generated");
    std::fs::write(Path::new(&out).join("events.rs"), table).expect("a folder to write into");
}
