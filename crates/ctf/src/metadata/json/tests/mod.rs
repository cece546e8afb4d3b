//! The rules of CTF 2 metadata, each with the smallest text that shows it.

mod classes;
mod fragments;
mod locations;

use crate::metadata::{self, Metadata, table};
use crate::schema::{FieldClass, Schema, Slot, Struct};

const PREAMBLE: &str = r#"{"type": "preamble", "version": 2}"#;
const STREAM: &str = r#"{"type": "data-stream-class"}"#;

const U8: &str =
    r#""type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian""#;
const S8: &str =
    r#""type": "fixed-length-signed-integer", "length": 8, "byte-order": "little-endian""#;

fn try_read(fragments: &[&str]) -> Result<Metadata, String> {
    let text: String = fragments
        .iter()
        .map(|fragment| format!("\x1E{fragment}\n"))
        .collect();
    metadata::read(text.as_bytes()).map_err(|error| error.to_string())
}

fn schema(fragments: &[&str]) -> Schema {
    try_read(fragments).unwrap().schema
}

fn refused(fragments: &[&str]) -> String {
    match try_read(fragments) {
        Ok(metadata) => panic!("should be refused: {:?}", metadata.schema),
        Err(error) => error,
    }
}

/// An event record class with these members: `name`, field class.
fn event(members: &[(&str, &str)]) -> String {
    let payload = structure(members);
    format!(r#"{{"type": "event-record-class", "payload-field-class": {payload}}}"#)
}

fn structure(members: &[(&str, &str)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, class)| format!(r#"{{"name": "{name}", "field-class": {class}}}"#))
        .collect();
    let members = members.join(", ");
    format!(r#"{{"type": "structure", "member-classes": [{members}]}}"#)
}

fn payload(members: &[(&str, &str)]) -> Struct {
    let mut schema = schema(&[PREAMBLE, STREAM, &event(members)]);
    schema.streams[0].events[0].payload.take().unwrap()
}

fn refused_payload(members: &[(&str, &str)]) -> String {
    refused(&[PREAMBLE, STREAM, &event(members)])
}

fn class<'s>(structure: &'s Struct, name: &str) -> &'s FieldClass {
    &structure.member(name).expect(name).class
}

fn slot(structure: &Struct, name: &str) -> Option<Slot> {
    match class(structure, name) {
        FieldClass::Integer(integer) => integer.slot,
        FieldClass::Boolean { slot, .. } => *slot,
        other => panic!("{name} should have a slot, but is {other:?}"),
    }
}
