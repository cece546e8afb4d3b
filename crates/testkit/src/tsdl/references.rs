//! Turns slots back into the names that lengths and variant tags refer to.
//!
//! A slot belongs to one field; the way to it is printed as a name relative to a structure around the reference
//! if no other field of that name hides it there, else as an absolute path.

use std::collections::HashMap;

use rostrace_ctf::schema::{EventClass, FieldClass, Member, Schema, Slot, StreamClass, Struct};

/// The root structures, named as paths begin with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    PacketHeader,
    PacketContext,
    EventHeader,
    CommonContext,
    SpecificContext,
    Payload,
}

impl Scope {
    fn prefix(self) -> &'static str {
        match self {
            Scope::PacketHeader => "trace.packet.header",
            Scope::PacketContext => "stream.packet.context",
            Scope::EventHeader => "stream.event.header",
            Scope::CommonContext => "stream.event.context",
            Scope::SpecificContext => "event.context",
            Scope::Payload => "event.fields",
        }
    }
}

/// The way to the field that a slot belongs to.
#[derive(Debug, Clone)]
pub(super) struct FieldPath {
    scope: Scope,
    /// Printed names, from the scope down.
    path: Vec<String>,
}

/// All fields with slots that can be referred to from some scope.
#[derive(Debug)]
pub(super) struct FieldPaths<'s> {
    schema: &'s Schema,
    by_slot: HashMap<Slot, FieldPath>,
}

impl<'s> FieldPaths<'s> {
    pub(super) fn of_trace(schema: &'s Schema) -> FieldPaths<'s> {
        let mut paths = FieldPaths {
            schema,
            by_slot: HashMap::new(),
        };
        paths.add(Scope::PacketHeader, &schema.packet_header);
        paths
    }

    pub(super) fn of_stream(schema: &'s Schema, stream: &StreamClass) -> FieldPaths<'s> {
        let mut paths = FieldPaths::of_trace(schema);
        paths.add(Scope::PacketContext, &stream.packet_context);
        paths.add(Scope::EventHeader, &stream.event_header);
        paths.add(Scope::CommonContext, &stream.event_context);
        paths
    }

    pub(super) fn of_event(
        schema: &'s Schema,
        stream: &StreamClass,
        event: &EventClass,
    ) -> FieldPaths<'s> {
        let mut paths = FieldPaths::of_stream(schema, stream);
        paths.add(Scope::SpecificContext, &event.context);
        paths.add(Scope::Payload, &event.payload);
        paths
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&FieldPath> {
        self.by_slot.get(&slot)
    }

    fn add(&mut self, scope: Scope, structure: &Option<Struct>) {
        if let Some(structure) = structure {
            self.add_structure(scope, &mut Vec::new(), structure);
        }
    }

    fn add_structure(&mut self, scope: Scope, path: &mut Vec<String>, structure: &Struct) {
        for member in &structure.members {
            path.push(printed_name(self.schema, member));
            self.add_field(scope, path, &member.class);
            path.pop();
        }
    }

    fn add_field(&mut self, scope: Scope, path: &mut Vec<String>, class: &FieldClass) {
        match class {
            FieldClass::Integer(integer) => {
                if let Some(slot) = integer.slot {
                    let field = FieldPath {
                        scope,
                        path: path.clone(),
                    };
                    self.by_slot.insert(slot, field);
                }
            }
            FieldClass::Struct(structure) => self.add_structure(scope, path, structure),
            FieldClass::Array { element, .. } => self.add_field(scope, path, element),
            FieldClass::Variant { options, .. } => {
                for option in options {
                    path.push(option.original_name.to_string());
                    self.add_field(scope, path, &option.class);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}

/// A structure that is being printed: the way to it, and its members so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) path: Vec<String>,
    pub(super) declared: Vec<String>,
}

impl FieldPath {
    /// How a field of `scope`, inside these structures (innermost last), refers to this field.
    pub(super) fn reference(&self, scope: Scope, frames: &[Frame]) -> String {
        self.relative(scope, frames)
            .unwrap_or_else(|| format!("{}.{}", self.scope.prefix(), self.path.join(".")))
    }

    fn relative(&self, scope: Scope, frames: &[Frame]) -> Option<String> {
        if scope != self.scope {
            return None;
        }
        for (index, frame) in frames.iter().enumerate().rev() {
            let Some([first, rest @ ..]) = self.path.strip_prefix(frame.path.as_slice()) else {
                continue;
            };
            if !frame.declared.contains(first) {
                continue;
            }
            let hidden = (frames[index + 1..].iter()).any(|inner| inner.declared.contains(first));
            return (!hidden).then(|| {
                rest.iter()
                    .fold(first.clone(), |path, name| format!("{path}.{name}"))
            });
        }
        None
    }
}

/// The name of a member in the text. Names with a role are reserved.
pub(super) fn printed_name(schema: &Schema, member: &Member) -> String {
    if let FieldClass::Integer(integer) = &member.class
        && let Some(role) = integer.role
    {
        return role.name().to_owned();
    }
    let is_uuid = (schema.packet_header.as_ref().zip(schema.packet_header_uuid))
        .and_then(|(header, index)| header.members.get(index))
        .is_some_and(|uuid| std::ptr::eq(uuid, member));
    if is_uuid {
        "uuid".to_owned()
    } else {
        member.original_name.to_string()
    }
}
