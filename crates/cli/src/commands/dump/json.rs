//! `dump` as JSON: one object per line, fields with their structure.
//!
//! Integers are exact up to 64 bits, NaN and the infinities are strings, bytes that are no UTF-8 become replacement
//! characters, enumerations and bit maps are `{"value":…,"labels":[…]}`, a variant is an object with the chosen option
//! alone, BLOBs are hexadecimal.

use std::io::{self, Write};

use rostrace_ctf::{Damage, DecodeError, EventView, Scope, TraceSet};

use super::fields::{EventFields, Node, Sink};
use super::lines::{self, Chunk, LineRenderer, Request};
use crate::per_class_cache::{PerClass, PerPacket};

pub(crate) fn dump(request: Request<'_>, out: &mut dyn Write) -> io::Result<Vec<Damage>> {
    let set = request.set;
    let renderer = || JsonLines {
        set,
        classes: PerClass::new(set),
        packets: PerPacket::new(set),
    };
    lines::write(request, renderer, |chunk| out.write_all(&chunk.text))
}

/// Renders events as lines on one thread.
#[derive(Debug)]
struct JsonLines<'s> {
    set: &'s TraceSet,
    classes: PerClass<Prepared<'s>>,
    /// The packet context that the events of a packet share.
    packets: PerPacket<Vec<u8>>,
}

impl LineRenderer for JsonLines<'_> {
    type ChunkBoundary = ();

    fn line(&mut self, event: &EventView<'_>, chunk: &mut Chunk<()>) -> Result<(), DecodeError> {
        let out = &mut chunk.text;
        let prepared = self.classes.of(event, || Prepared::new(self.set, event));
        let packet = self.packets.of(event, || packet_context(event));
        let mut json = Json(out);
        json.begin(event, prepared, packet);
        let visited = prepared.fields.visit(event, &mut json, |json, scope| {
            json.push(match scope {
                Scope::CommonContext => ",\"common_context\":",
                Scope::SpecificContext => ",\"specific_context\":",
                Scope::Payload => ",\"payload\":",
            });
        });
        out.extend_from_slice(&prepared.tail);
        visited
    }
}

/// What all events of a class have in common.
#[derive(Debug)]
struct Prepared<'s> {
    fields: EventFields<'s>,
    /// `"trace":…,"host":…`
    origin: Vec<u8>,
    /// `"name":…`
    name: Vec<u8>,
    /// The scopes that the class does not have, and the end of the line.
    tail: Vec<u8>,
}

impl<'s> Prepared<'s> {
    fn new(set: &'s TraceSet, event: &EventView<'_>) -> Prepared<'s> {
        let trace = &set.traces[event.stream_id().trace];
        let stream = &trace.schema.streams[event.stream().class];
        let class = &stream.events[event.event().class as usize];
        let scopes = [
            ("common_context", &stream.event_context),
            ("specific_context", &class.context),
            ("payload", &class.payload),
        ];
        let mut tail = String::new();
        for (name, _) in scopes.iter().filter(|(_, class)| class.is_none()) {
            tail.push_str(&format!(",\"{name}\":null"));
        }
        tail.push_str("}\n");
        let origin = format!(
            "\"trace\":{},\"host\":{}",
            serde_json::json!(trace.name),
            serde_json::json!(trace.schema.environment_text("hostname"))
        );
        Prepared {
            fields: EventFields::new(
                event,
                stream.event_context.as_ref(),
                class.context.as_ref(),
                class.payload.as_ref(),
            ),
            origin: origin.into_bytes(),
            name: format!("\"name\":{}", serde_json::json!(class.name)).into_bytes(),
            tail: tail.into_bytes(),
        }
    }
}

fn packet_context(event: &EventView<'_>) -> Vec<u8> {
    let class = event.stream_class().packet_context.as_ref();
    let mut text = Vec::new();
    match class.zip(event.packet_context()) {
        Some((class, value)) => Node::structure(class, &mut 0).write(&value, &mut Json(&mut text)),
        None => Json(&mut text).absent(),
    }
    text
}

/// JSON at the end of a text. Writing to memory does not fail.
#[derive(Debug)]
struct Json<'o>(&'o mut Vec<u8>);

impl Json<'_> {
    fn begin(&mut self, event: &EventView<'_>, prepared: &Prepared<'_>, packet_context: &[u8]) {
        self.push("{\"time_ns\":");
        match event.nanos() {
            Some(nanos) => {
                self.signed(nanos.0);
                self.push(",\"cycles\":");
                self.unsigned(event.event().time.0);
            }
            None => self.push("null,\"cycles\":null"),
        }
        self.push(",");
        self.0.extend_from_slice(&prepared.origin);
        self.push(",\"stream\":{\"class\":");
        self.unsigned(event.stream_class().id);
        self.push(",\"id\":");
        self.unsigned(event.stream().id);
        self.push("},");
        self.0.extend_from_slice(&prepared.name);
        self.push(",\"packet_context\":");
        self.0.extend_from_slice(packet_context);
    }

    fn push(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn string(&mut self, text: &str) {
        let _ = serde_json::to_writer(&mut *self.0, text);
    }

    fn number(&mut self, number: impl itoa::Integer) {
        self.push(itoa::Buffer::new().format(number));
    }

    /// A comma, unless nothing stands before it in this object or array.
    fn separate(&mut self) {
        if !matches!(self.0.last(), Some(b'{' | b'[')) {
            self.0.push(b',');
        }
    }
}

impl Sink for Json<'_> {
    fn unsigned(&mut self, number: u64) {
        self.number(number);
    }

    fn signed(&mut self, number: i64) {
        self.number(number);
    }

    fn float(&mut self, number: f64) {
        if number.is_finite() {
            let _ = serde_json::to_writer(&mut *self.0, &number);
        } else if number.is_nan() {
            self.push("\"NaN\"");
        } else if number > 0.0 {
            self.push("\"Infinity\"");
        } else {
            self.push("\"-Infinity\"");
        }
    }

    fn boolean(&mut self, value: bool) {
        self.push(if value { "true" } else { "false" });
    }

    fn labelled(&mut self, number: i128, labels: &mut dyn Iterator<Item = &str>) {
        self.push("{\"value\":");
        self.number(number);
        self.push(",\"labels\":[");
        for label in labels {
            self.separate();
            self.string(label);
        }
        self.push("]}");
    }

    fn text(&mut self, text: &[u8]) {
        self.string(&String::from_utf8_lossy(text));
    }

    fn blob(&mut self, bytes: &[u8]) {
        self.push("\"");
        for byte in bytes {
            let _ = write!(self.0, "{byte:02x}");
        }
        self.push("\"");
    }

    fn absent(&mut self) {
        self.push("null");
    }

    fn begin_struct(&mut self) {
        self.push("{");
    }

    fn key(&mut self, name: &str) {
        self.separate();
        self.string(name);
        self.push(":");
    }

    fn end_struct(&mut self) {
        self.push("}");
    }

    fn begin_list(&mut self) {
        self.push("[");
    }

    fn element(&mut self) {
        self.separate();
    }

    fn end_list(&mut self) {
        self.push("]");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(write: impl FnOnce(&mut Json<'_>)) -> serde_json::Value {
        let mut text = Vec::new();
        write(&mut Json(&mut text));
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn numbers_that_json_does_not_have_are_strings() {
        assert_eq!(json(|line| line.float(f64::NAN)), "NaN");
        assert_eq!(json(|line| line.float(f64::NEG_INFINITY)), "-Infinity");
        assert_eq!(json(|line| line.float(0.5)), 0.5);
        assert_eq!(json(|line| line.unsigned(u64::MAX)), u64::MAX);
        assert_eq!(json(|line| line.signed(i64::MIN)), i64::MIN);
    }

    #[test]
    fn text_that_is_no_utf_8_has_replacement_characters() {
        assert_eq!(
            json(|line| line.text(b"a\xffb\x1b\"")),
            "a\u{fffd}b\u{1b}\""
        );
    }

    #[test]
    fn labels_and_blobs_keep_what_they_hold() {
        let value = json(|line| line.labelled(-1, &mut ["a", "b\""].into_iter()));
        assert_eq!(
            value,
            serde_json::json!({"value": -1, "labels": ["a", "b\""]})
        );
        assert_eq!(json(|line| line.blob(&[0, 0xAB])), "00ab");
    }
}
