//! The rules of TSDL, each with the smallest metadata that shows it.

mod blocks;
mod clocks;
mod references;
mod types;

use crate::metadata::{self, Metadata, table};
use crate::schema::{FieldClass, Integer, Length, Schema, Struct};

const TRACE: &str = "trace { major = 1; minor = 8; byte_order = le; };
typealias integer { size = 8; } := u8;
typealias integer { size = 16; align = 16; } := u16;
typealias integer { size = 8; signed = true; } := s8;\n";

/// The metadata of a little-endian trace with these declarations.
fn read(declarations: &str) -> Metadata {
    match metadata::read(format!("{TRACE}{declarations}").as_bytes()) {
        Ok(metadata) => metadata,
        Err(error) => panic!("{error}\n{declarations}"),
    }
}

fn schema(declarations: &str) -> Schema {
    read(declarations).schema
}

/// Why these declarations are refused; lines count from the first of them.
fn refused(declarations: &str) -> String {
    match metadata::read(format!("{TRACE}{declarations}").as_bytes()) {
        Ok(metadata) => panic!("should be refused: {:?}", metadata.schema),
        Err(mut error) => {
            error.line = error.line.saturating_sub(4);
            error.to_string()
        }
    }
}

/// The payload of the only event, which has these members.
fn payload(members: &str) -> Struct {
    payload_with("", members)
}

fn payload_with(declarations: &str, members: &str) -> Struct {
    let mut schema = schema(&event(declarations, members));
    schema.streams[0].events[0].payload.take().unwrap()
}

fn refused_payload(members: &str) -> String {
    refused(&event("", members))
}

/// A table: declarations, and why they are refused.
fn all_refused(cases: &str) {
    for (declarations, reason) in table(cases) {
        let error = refused(declarations);
        assert!(error.contains(reason), "{declarations}: {error}");
    }
}

/// A table: members of an event, and why they are refused.
fn all_payloads_refused(cases: &str) {
    for (members, reason) in table(cases) {
        let error = refused_payload(members);
        assert!(error.contains(reason), "{members}: {error}");
    }
}

fn event(declarations: &str, members: &str) -> String {
    format!("{declarations} event {{ name = e; fields := struct {{ {members} }}; }};")
}

fn integer(structure: &Struct, name: &str) -> Integer {
    match &structure.member(name).expect(name).class {
        FieldClass::Integer(integer) => integer.clone(),
        other => panic!("{name} should be an integer, but is {other:?}"),
    }
}

fn nested<'s>(structure: &'s Struct, name: &str) -> &'s Struct {
    match &structure.member(name).expect(name).class {
        FieldClass::Struct(structure) => structure,
        other => panic!("{name} should be a structure, but is {other:?}"),
    }
}

fn length_of(class: &FieldClass) -> Length {
    match class {
        FieldClass::Array { length, .. } | FieldClass::Text { length, .. } => *length,
        other => panic!("should be an array, but is {other:?}"),
    }
}

fn length(structure: &Struct, name: &str) -> Length {
    length_of(&structure.member(name).expect(name).class)
}

/// Size and alignment of an integer.
fn size(structure: &Struct, name: &str) -> (u8, u32) {
    let bits = integer(structure, name).bits().unwrap();
    (bits.size, bits.align)
}
