//! Prints field classes, spelled out where they are used.

use std::fmt::Write;

use super::references::{FieldPath, FieldPaths, Frame, Scope, printed_name};
use super::{byte_order, quoted};
use rostrace_ctf::schema::{
    Base, BitField, Clock, FieldClass, Integer, IntegerForm, Length, Mappings, Role, Schema, Slot,
    Struct, VariantOption,
};

pub(super) struct FieldPrinter<'p> {
    schema: &'p Schema,
    scope: Scope,
    clock: Option<&'p Clock>,
    paths: &'p FieldPaths<'p>,
    /// The structures around what is being printed, innermost last.
    frames: Vec<Frame>,
    /// The names of members and options on the way to what is being printed.
    path: Vec<String>,
}

const TEXT_ELEMENT: &str = "integer { size = 8; align = 8; encoding = UTF8; }";

impl<'p> FieldPrinter<'p> {
    pub(super) fn new(
        schema: &'p Schema,
        scope: Scope,
        clock: Option<&'p Clock>,
        paths: &'p FieldPaths<'p>,
    ) -> FieldPrinter<'p> {
        FieldPrinter {
            schema,
            scope,
            clock,
            paths,
            frames: Vec::new(),
            path: Vec::new(),
        }
    }

    pub(super) fn scope(mut self, structure: &Struct) -> String {
        self.structure(structure)
    }

    fn structure(&mut self, structure: &Struct) -> String {
        self.frames.push(Frame {
            path: self.path.clone(),
            declared: Vec::new(),
        });
        let mut text = String::from("struct {\n");
        for member in &structure.members {
            let name = printed_name(self.schema, member);
            self.path.push(name.clone());
            let declaration = self.declaration(&member.class, &name);
            self.path.pop();
            let _ = writeln!(text, "{}{declaration};", self.indent());
            if let Some(frame) = self.frames.last_mut() {
                frame.declared.push(name);
            }
        }
        self.frames.pop();
        let _ = write!(text, "{}}}", self.indent());
        let natural = crate::schema::structure(structure.members.iter().cloned()).align;
        if structure.align > natural {
            let _ = write!(text, " align({})", structure.align);
        }
        text
    }

    /// A type and a name, without the semicolon. Arrays are part of the declarator in this language.
    fn declaration(&mut self, class: &FieldClass, name: &str) -> String {
        let mut lengths = String::new();
        let mut class = class;
        loop {
            match class {
                FieldClass::Array {
                    length, element, ..
                } => {
                    let _ = write!(lengths, "[{}]", self.length(*length));
                    class = element;
                }
                FieldClass::Text { length, .. } => {
                    let length = self.length(*length);
                    return format!("{TEXT_ELEMENT} {name}{lengths}[{length}]");
                }
                class => return format!("{} {name}{lengths}", self.class(class)),
            }
        }
    }

    fn class(&mut self, class: &FieldClass) -> String {
        match class {
            FieldClass::Integer(integer) => self.integer(integer),
            FieldClass::Float(bits) => self.float(*bits),
            FieldClass::String { .. } => "string".to_owned(),
            FieldClass::Struct(structure) => self.structure(structure),
            FieldClass::Variant {
                selector, options, ..
            } => self.variant(*selector, options),
            other => panic!(
                "CTF 1.8 cannot say what {} is: {other:?}",
                self.path.join(".")
            ),
        }
    }

    fn integer(&mut self, integer: &Integer) -> String {
        let IntegerForm::Fixed(bits) = integer.form else {
            panic!("CTF 1.8 has no integers of variable length");
        };
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
        text.push_str(&self.order(bits));
        if integer.updates_clock || is_time(integer.role) {
            let _ = write!(text, " map = clock.{}.value;", self.clock.unwrap().id);
        }
        text.push_str(" }");
        match &integer.mappings {
            Some(mappings) => enumeration(&text, mappings),
            None => text,
        }
    }

    fn float(&mut self, bits: BitField) -> String {
        let (exponent, mantissa) = match bits.size {
            32 => (8, 24),
            64 => (11, 53),
            size => panic!("CTF 1.8 has no floating-point numbers of {size} bits"),
        };
        let order = self.order(bits);
        format!(
            "floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; align = {};{order} }}",
            bits.align
        )
    }

    fn variant(&mut self, tag: Slot, options: &[VariantOption]) -> String {
        let tag = self.field(tag).reference(self.scope, &self.frames);
        let mut text = format!("variant <{tag}> {{\n");
        self.frames.push(Frame {
            path: self.path.clone(),
            declared: Vec::new(),
        });
        for option in options {
            let name = &*option.original_name;
            self.path.push(name.to_owned());
            let declaration = self.declaration(&option.class, name);
            self.path.pop();
            let _ = writeln!(text, "{}{declaration};", self.indent());
        }
        self.frames.pop();
        let _ = write!(text, "{}}}", self.indent());
        text
    }

    fn length(&self, length: Length) -> String {
        match length {
            Length::Fixed(length) => length.to_string(),
            Length::Slot(slot) => self.field(slot).reference(self.scope, &self.frames),
        }
    }

    fn field(&self, slot: Slot) -> &FieldPath {
        (self.paths.get(slot))
            .expect("a field that has the slot, before the one that depends on it")
    }

    /// Says the byte order where it is not that of the trace.
    fn order(&self, bits: BitField) -> String {
        if bits.order == self.schema.byte_order {
            String::new()
        } else {
            format!(" byte_order = {};", byte_order(bits.order))
        }
    }

    fn indent(&self) -> String {
        "    ".repeat(self.frames.len() + 1)
    }
}

fn enumeration(container: &str, mappings: &Mappings) -> String {
    let mut values = Vec::new();
    for label in &mappings.labels {
        let name = quoted(&label.name);
        for range in &label.ranges {
            values.push(if range.low == range.high {
                format!("{name} = {}", range.low)
            } else {
                format!("{name} = {} ... {}", range.low, range.high)
            });
        }
    }
    format!("enum : {container} {{ {} }}", values.join(", "))
}

fn is_time(role: Option<Role>) -> bool {
    matches!(
        role,
        Some(Role::TimestampBegin | Role::TimestampEnd | Role::Timestamp)
    )
}
