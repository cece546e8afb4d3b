//! Prints a schema as TSDL, the metadata language of CTF 1.8.
//!
//! The text keeps to what all readers accept: it begins with the signature, every structure is anonymous and spelled
//! out where it is used (babeltrace2 loses underscores in named ones), references are plain names where that is
//! possible. What the language cannot say is a panic.
//!
//! This file prints blocks, `fields` prints field classes, `references` turns slots back into names.

mod fields;
mod references;

use std::fmt::Write;

use fields::FieldPrinter;
use references::{FieldPaths, Scope};
use rostrace_ctf::schema::{
    ByteOrder, Clock, EnvironmentValue, EventClass, FieldClass, Origin, Role, Schema, StreamClass,
    Struct,
};

/// The metadata text of a trace.
pub fn tsdl(schema: &Schema) -> String {
    let mut printer = BlockPrinter {
        schema,
        says_stream: says_stream_class(schema),
        text: String::from("/* CTF 1.8 */\n\n"),
    };
    printer.trace();
    printer.environment();
    for clock in &schema.clocks {
        printer.clock(clock);
    }
    for stream in &schema.streams {
        printer.stream(stream);
        for event in &stream.events {
            printer.event(stream, event);
        }
    }
    printer.text
}

struct BlockPrinter<'s> {
    schema: &'s Schema,
    /// Whether packets say their stream class: without that, blocks must not say it either.
    says_stream: bool,
    text: String,
}

impl<'s> BlockPrinter<'s> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn trace(&mut self) {
        self.line("trace {");
        self.line("    major = 1;");
        self.line("    minor = 8;");
        if let Some(uuid) = self.schema.uuid {
            self.line(&format!("    uuid = \"{uuid}\";"));
        }
        let order = byte_order(self.schema.byte_order);
        self.line(&format!("    byte_order = {order};"));
        if let Some(header) = &self.schema.packet_header {
            let paths = FieldPaths::of_trace(self.schema);
            self.scope("packet.header", Scope::PacketHeader, header, None, &paths);
        }
        self.line("};\n");
    }

    fn environment(&mut self) {
        if self.schema.environment.is_empty() {
            return;
        }
        self.line("env {");
        for (name, value) in &self.schema.environment {
            match value {
                EnvironmentValue::Integer(number) => self.line(&format!("    {name} = {number};")),
                EnvironmentValue::Text(text) => {
                    self.line(&format!("    {name} = {};", quoted(text)));
                }
            }
        }
        self.line("};\n");
    }

    fn clock(&mut self, clock: &Clock) {
        let absolute = clock.origin == Origin::UnixEpoch;
        self.line("clock {");
        self.line(&format!("    name = {};", quoted(&clock.id)));
        if let Some(uuid) = clock.uuid {
            self.line(&format!("    uuid = \"{uuid}\";"));
        }
        if let Some(description) = &clock.description {
            self.line(&format!("    description = {};", quoted(description)));
        }
        self.line(&format!("    freq = {};", clock.frequency));
        if let Some(precision) = clock.precision {
            self.line(&format!("    precision = {precision};"));
        }
        self.line(&format!("    offset_s = {};", clock.offset_seconds));
        self.line(&format!("    offset = {};", clock.offset_cycles));
        self.line(&format!("    absolute = {absolute};"));
        self.line("};\n");
    }

    fn stream(&mut self, stream: &'s StreamClass) {
        self.line("stream {");
        if self.says_stream {
            self.line(&format!("    id = {};", stream.id));
        }
        let paths = FieldPaths::of_stream(self.schema, stream);
        let scopes = [
            (
                "packet.context",
                Scope::PacketContext,
                &stream.packet_context,
            ),
            ("event.header", Scope::EventHeader, &stream.event_header),
            ("event.context", Scope::CommonContext, &stream.event_context),
        ];
        for (name, scope, structure) in scopes {
            if let Some(structure) = structure {
                self.scope(name, scope, structure, stream.clock, &paths);
            }
        }
        self.line("};\n");
    }

    fn event(&mut self, stream: &'s StreamClass, event: &'s EventClass) {
        let name = event.name.as_ref().unwrap();
        self.line("event {");
        self.line(&format!("    name = {};", quoted(name)));
        self.line(&format!("    id = {};", event.id));
        if self.says_stream {
            self.line(&format!("    stream_id = {};", stream.id));
        }
        if let Some(level) = event.log_level {
            self.line(&format!("    loglevel = {level};"));
        }
        if let Some(uri) = &event.emf_uri {
            self.line(&format!("    model.emf.uri = {};", quoted(uri)));
        }
        let paths = FieldPaths::of_event(self.schema, stream, event);
        let scopes = [
            ("context", Scope::SpecificContext, &event.context),
            ("fields", Scope::Payload, &event.payload),
        ];
        for (attribute, scope, structure) in scopes {
            if let Some(structure) = structure {
                self.scope(attribute, scope, structure, stream.clock, &paths);
            }
        }
        self.line("};\n");
    }

    fn scope(
        &mut self,
        attribute: &str,
        scope: Scope,
        structure: &Struct,
        clock: Option<usize>,
        paths: &FieldPaths<'_>,
    ) {
        let clock = clock.and_then(|clock| self.schema.clocks.get(clock));
        let printer = FieldPrinter::new(self.schema, scope, clock, paths);
        let printed = printer.scope(structure);
        let _ = writeln!(self.text, "    {attribute} := {printed};");
    }
}

fn says_stream_class(schema: &Schema) -> bool {
    (schema.packet_header.iter())
        .flat_map(|header| &header.members)
        .any(|member| match &member.class {
            FieldClass::Integer(integer) => integer.role == Some(Role::StreamClassId),
            _ => false,
        })
}

fn byte_order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "le",
        ByteOrder::Big => "be",
    }
}

/// A string literal. Octal escapes have three digits, so that a following digit does not belong to them.
fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            control if control.is_ascii_control() => {
                let _ = write!(literal, "\\{:03o}", u32::from(control));
            }
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}
