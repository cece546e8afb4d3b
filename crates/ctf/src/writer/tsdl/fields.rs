//! Prints field classes, spelled out where they are used.

use std::fmt::Write;

use super::super::error::WriteError;
use super::references::{Frame, Place, Places, Scope, printed_name};
use super::{byte_order, is_identifier, quoted};
use crate::schema::{
    Base, BitField, Clock, Encoding, FieldClass, Integer, IntegerForm, Length, Mappings, Range,
    Role, Schema, Slot, Struct, VariantOption,
};

pub(super) struct FieldPrinter<'p> {
    schema: &'p Schema,
    scope: Scope,
    clock: Option<&'p Clock>,
    places: &'p Places<'p>,
    /// The structures around what is being printed, innermost last.
    frames: Vec<Frame>,
    /// The names of members and options on the way to what is being printed.
    path: Vec<String>,
}

const TEXT_ELEMENT: &str = "integer { size = 8; align = 8; encoding = UTF8; }";
const UUID_ELEMENT: &str = "integer { size = 8; align = 8; }";

impl<'p> FieldPrinter<'p> {
    pub(super) fn new(
        schema: &'p Schema,
        scope: Scope,
        clock: Option<&'p Clock>,
        places: &'p Places<'p>,
    ) -> FieldPrinter<'p> {
        FieldPrinter {
            schema,
            scope,
            clock,
            places,
            frames: Vec::new(),
            path: Vec::new(),
        }
    }

    pub(super) fn scope(mut self, structure: &Struct) -> Result<String, WriteError> {
        self.structure(structure)
    }

    fn structure(&mut self, structure: &Struct) -> Result<String, WriteError> {
        self.frames.push(Frame {
            path: self.path.clone(),
            declared: Vec::new(),
        });
        let mut text = String::from("struct {\n");
        for member in &structure.members {
            let name = printed_name(self.schema, member);
            if !is_identifier(&name) {
                return self.refuse(format!("\"{name}\" cannot be the name of a member"));
            }
            self.path.push(name.clone());
            let declaration = self.declaration(&member.class, &name)?;
            self.path.pop();
            let _ = writeln!(text, "{}{declaration};", self.indent());
            if let Some(frame) = self.frames.last_mut() {
                frame.declared.push(name);
            }
        }
        self.frames.pop();
        let _ = write!(text, "{}}}", self.indent());
        let natural = (structure.members.iter())
            .map(|member| member.class.alignment())
            .fold(1, u32::max);
        if structure.align > natural {
            let _ = write!(text, " align({})", structure.align);
        }
        Ok(text)
    }

    /// A type and a name, without the semicolon. Arrays are part of the declarator in this language.
    fn declaration(&mut self, class: &FieldClass, name: &str) -> Result<String, WriteError> {
        let mut lengths = String::new();
        let mut class = class;
        loop {
            match class {
                FieldClass::Array {
                    length,
                    align,
                    element,
                } => {
                    if *align > element.alignment() {
                        return self.refuse("an array has an alignment of its own".to_owned());
                    }
                    let _ = write!(lengths, "[{}]", self.length(*length)?);
                    class = element;
                }
                FieldClass::Text { length, encoding } => {
                    self.check_encoding(*encoding)?;
                    let length = self.length(*length)?;
                    return Ok(format!("{TEXT_ELEMENT} {name}{lengths}[{length}]"));
                }
                FieldClass::Blob { .. } if name == "uuid" && self.scope == Scope::PacketHeader => {
                    return Ok(format!("{UUID_ELEMENT} {name}[16]"));
                }
                class => return Ok(format!("{} {name}{lengths}", self.class(class)?)),
            }
        }
    }

    fn class(&mut self, class: &FieldClass) -> Result<String, WriteError> {
        let reason = match class {
            FieldClass::Integer(integer) => return self.integer(integer),
            FieldClass::Float(bits) => return self.float(*bits),
            FieldClass::String { encoding } => {
                self.check_encoding(*encoding)?;
                return Ok("string".to_owned());
            }
            FieldClass::Struct(structure) => return self.structure(structure),
            FieldClass::Variant {
                selector, options, ..
            } => return self.variant(*selector, options),
            FieldClass::Boolean { .. } => "it is a boolean",
            FieldClass::BitArray(_) => "it is an array of bits",
            FieldClass::BitMap { .. } => "it is a map of bits",
            FieldClass::Blob { .. } => "it is a BLOB",
            FieldClass::Optional { .. } => "it is optional",
            FieldClass::Text { .. } | FieldClass::Array { .. } => "arrays have no name of a type",
        };
        self.refuse(reason.to_owned())
    }

    fn integer(&mut self, integer: &Integer) -> Result<String, WriteError> {
        let IntegerForm::Fixed(bits) = integer.form else {
            return self.refuse("it is an integer of variable length".to_owned());
        };
        let depth = self.frames.len();
        if let Some(role) = integer.role
            && depth > 1
            && !matches!(role, Role::EventId | Role::Timestamp)
        {
            return self
                .refuse("it has a role, but is not a member of the scope itself".to_owned());
        }
        let mut text = format!("integer {{ size = {}; align = {};", bits.size, bits.align);
        if integer.signed {
            text.push_str(" signed = true;");
        }
        match integer.base {
            Base::Decimal => {}
            Base::Binary => text.push_str(" base = 2;"),
            Base::Octal => text.push_str(" base = 8;"),
            Base::Hexadecimal => text.push_str(" base = 16;"),
        }
        text.push_str(&self.order(bits)?);
        if integer.updates_clock || is_time(integer.role) {
            let Some(clock) = self.clock else {
                return self.refuse("it is a time, but the stream class has no clock".to_owned());
            };
            let _ = write!(text, " map = clock.{}.value;", clock.id);
        }
        text.push_str(" }");
        match &integer.mappings {
            Some(mappings) => self.enumeration(integer, bits, &text, mappings),
            None => Ok(text),
        }
    }

    fn enumeration(
        &mut self,
        integer: &Integer,
        bits: BitField,
        container: &str,
        mappings: &Mappings,
    ) -> Result<String, WriteError> {
        let size = u32::from(bits.size.clamp(1, 64));
        let possible = if integer.signed {
            Range {
                low: -(1 << (size - 1)),
                high: (1 << (size - 1)) - 1,
            }
        } else {
            Range {
                low: 0,
                high: (1 << size) - 1,
            }
        };
        let mut values = Vec::new();
        for label in &mappings.labels {
            for range in &label.ranges {
                if !possible.contains(range.low) || !possible.contains(range.high) {
                    return self.refuse(format!(
                        "the label \"{}\" has values that do not fit in {size} bits",
                        label.name
                    ));
                }
                let name = quoted(&label.name);
                values.push(if range.low == range.high {
                    format!("{name} = {}", range.low)
                } else {
                    format!("{name} = {} ... {}", range.low, range.high)
                });
            }
        }
        if values.is_empty() {
            return self.refuse("it is an enumeration without any value".to_owned());
        }
        Ok(format!("enum : {container} {{ {} }}", values.join(", ")))
    }

    fn float(&mut self, bits: BitField) -> Result<String, WriteError> {
        let (exponent, mantissa) = match bits.size {
            32 => (8, 24),
            64 => (11, 53),
            size => return self.refuse(format!("it is a floating-point number of {size} bits")),
        };
        let order = self.order(bits)?;
        Ok(format!(
            "floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; align = {};{order} }}",
            bits.align
        ))
    }

    fn variant(&mut self, tag: Slot, options: &[VariantOption]) -> Result<String, WriteError> {
        let place = self.place(tag)?.clone();
        for option in options {
            let label = (place.integer.mappings.iter())
                .flat_map(|mappings| &mappings.labels)
                .find(|label| *label.name == *option.original_name);
            let ranges = label.map_or(&[][..], |label| &label.ranges);
            if ranges != option.ranges {
                return self.refuse(format!(
                    "its tag has no label \"{}\" with the values of that option",
                    option.original_name
                ));
            }
        }
        let tag = place.reference(self.scope, &self.frames);
        let mut text = format!("variant <{tag}> {{\n");
        self.frames.push(Frame {
            path: self.path.clone(),
            declared: Vec::new(),
        });
        for option in options {
            let name = &*option.original_name;
            if !is_identifier(name) {
                return self.refuse(format!("\"{name}\" cannot be the name of an option"));
            }
            self.path.push(name.to_owned());
            let declaration = self.declaration(&option.class, name)?;
            self.path.pop();
            let _ = writeln!(text, "{}{declaration};", self.indent());
        }
        self.frames.pop();
        let _ = write!(text, "{}}}", self.indent());
        Ok(text)
    }

    fn length(&self, length: Length) -> Result<String, WriteError> {
        match length {
            Length::Fixed(length) => Ok(length.to_string()),
            Length::Slot(slot) => {
                let place = self.place(slot)?;
                if place.integer.signed {
                    return self.refuse("its length is a signed integer".to_owned());
                }
                Ok(place.reference(self.scope, &self.frames))
            }
        }
    }

    fn place(&self, slot: Slot) -> Result<&Place<'p>, WriteError> {
        match self.places.get(slot) {
            Some(place) => Ok(place),
            None => self.refuse(format!(
                "it depends on slot {}, which no field before it has",
                slot.0
            )),
        }
    }

    /// Says the byte order where it is not that of the trace.
    fn order(&self, bits: BitField) -> Result<String, WriteError> {
        if bits.reversed {
            return self.refuse("its bits are in the opposite order of its bytes".to_owned());
        }
        Ok(if bits.order == self.schema.byte_order {
            String::new()
        } else {
            format!(" byte_order = {};", byte_order(bits.order))
        })
    }

    fn check_encoding(&self, encoding: Encoding) -> Result<(), WriteError> {
        match encoding {
            Encoding::Utf8 => Ok(()),
            _ => self.refuse("its text is not in UTF-8".to_owned()),
        }
    }

    fn refuse<T>(&self, reason: String) -> Result<T, WriteError> {
        Err(WriteError::FieldNotInCtf1 {
            path: self.path.join("."),
            reason,
        })
    }

    fn indent(&self) -> String {
        "    ".repeat(self.frames.len() + 1)
    }
}

fn is_time(role: Option<Role>) -> bool {
    matches!(
        role,
        Some(Role::TimestampBegin | Role::TimestampEnd | Role::Timestamp)
    )
}

/// The name by which readers of CTF 1.8 know the role.
pub(super) fn reserved_name(role: Role) -> &'static str {
    match role {
        Role::PacketMagic => "magic",
        Role::StreamClassId => "stream_id",
        Role::StreamInstanceId => "stream_instance_id",
        Role::PacketSize => "packet_size",
        Role::ContentSize => "content_size",
        Role::TimestampBegin => "timestamp_begin",
        Role::TimestampEnd => "timestamp_end",
        Role::EventsDiscarded => "events_discarded",
        Role::PacketSequence => "packet_seq_num",
        Role::EventId => "id",
        Role::Timestamp => "timestamp",
    }
}
