//! The fields of an event, visited in order, for every format that keeps their structure.
//!
//! Classes whose fields all have a place are read there; the others are decoded field by field. A [`Sink`] does not
//! notice the difference.

use rostrace_ctf::schema::{Encoding, FieldClass, Flag, Mappings, Struct};
use rostrace_ctf::{DecodeError, EventView, List, Raw, Scope, Value};

/// Something that fields are written to.
pub(crate) trait Sink {
    fn unsigned(&mut self, number: u64);
    fn signed(&mut self, number: i64);
    fn float(&mut self, number: f64);
    fn boolean(&mut self, value: bool);
    /// A number with names: an enumeration or a bit map.
    fn labelled(&mut self, number: i128, labels: &mut dyn Iterator<Item = &str>);
    /// UTF-8, or bytes that the tracer wrote as such.
    fn text(&mut self, text: &[u8]);
    fn blob(&mut self, bytes: &[u8]);
    /// An optional field that is not there.
    fn absent(&mut self);
    fn begin_struct(&mut self);
    /// Before each member's value.
    fn key(&mut self, name: &str);
    fn end_struct(&mut self);
    fn begin_list(&mut self);
    /// Before each element.
    fn element(&mut self);
    fn end_list(&mut self);
}

/// The shown fields of one scope, prepared from its class.
#[derive(Debug)]
pub(crate) enum Node<'s> {
    /// The leaf's number, for scopes of events.
    Leaf(usize, &'s FieldClass),
    Struct(Vec<Member<'s>>),
    Array(usize, &'s FieldClass, Box<Node<'s>>),
    Optional(Box<Node<'s>>),
    Variant(Vec<(&'s str, Node<'s>)>),
}

#[derive(Debug)]
pub(crate) struct Member<'s> {
    /// Unique within its structure.
    name: String,
    /// Its place in the class, which may have hidden members too.
    place: usize,
    node: Node<'s>,
}

impl<'s> Node<'s> {
    /// `leaf` is the number of the next leaf; it is counted on.
    pub(crate) fn structure(class: &'s Struct, leaf: &mut usize) -> Node<'s> {
        let mut members: Vec<Member<'s>> = Vec::new();
        for (place, member) in class.members.iter().enumerate() {
            let node = Node::field(&member.class, leaf);
            if !member.class.is_shown() {
                continue;
            }
            let taken = |name: &str| members.iter().any(|member| member.name == name);
            let mut name = member.name.to_string();
            let mut number = 2;
            while taken(&name) {
                name = format!("{}_{number}", member.name);
                number += 1;
            }
            members.push(Member { name, place, node });
        }
        Node::Struct(members)
    }

    fn field(class: &'s FieldClass, leaf: &mut usize) -> Node<'s> {
        // What is inside a compound that has no place is no leaf.
        let unplaced = &mut 0;
        match class {
            FieldClass::Struct(structure) => Node::structure(structure, leaf),
            FieldClass::Array { element, .. } => {
                let number = next(leaf);
                Node::Array(number, element, Box::new(Node::field(element, unplaced)))
            }
            FieldClass::Optional { class, .. } => {
                next(leaf);
                Node::Optional(Box::new(Node::field(class, unplaced)))
            }
            FieldClass::Variant { options, .. } => {
                next(leaf);
                let options = options.iter();
                let nodes =
                    options.map(|option| (&*option.name, Node::field(&option.class, &mut 0)));
                Node::Variant(nodes.collect())
            }
            scalar => Node::Leaf(next(leaf), scalar),
        }
    }

    fn read(&self, event: &EventView<'_>, sink: &mut dyn Sink) {
        match self {
            Node::Struct(members) => {
                sink.begin_struct();
                for member in members {
                    sink.key(&member.name);
                    member.node.read(event, sink);
                }
                sink.end_struct();
            }
            Node::Leaf(leaf, class) => match event.read(*leaf) {
                Raw::Number(number) => scalar(class, number, sink),
                Raw::Float(number) => sink.float(number),
                Raw::Bytes(bytes) if matches!(class, FieldClass::Blob { .. }) => sink.blob(bytes),
                Raw::Bytes(bytes) => sink.text(bytes),
                Raw::List(_) | Raw::Nested => sink.absent(),
            },
            Node::Array(leaf, element, _) => match event.read(*leaf) {
                Raw::List(list) => list_of(element, list, sink),
                _ => sink.absent(),
            },
            // A class that has these is not flat.
            Node::Optional(_) | Node::Variant(_) => sink.absent(),
        }
    }

    /// Writes a decoded value of this class.
    pub(crate) fn write(&self, value: &Value, sink: &mut dyn Sink) {
        match (self, value) {
            (Node::Struct(members), Value::Struct(values)) => {
                sink.begin_struct();
                for member in members {
                    sink.key(&member.name);
                    match values.get(member.place) {
                        Some(value) => member.node.write(value, sink),
                        None => sink.absent(),
                    }
                }
                sink.end_struct();
            }
            (Node::Array(_, _, element), Value::Array(values)) => {
                sink.begin_list();
                for value in values {
                    sink.element();
                    element.write(value, sink);
                }
                sink.end_list();
            }
            (Node::Optional(node), Value::Optional(Some(value))) => node.write(value, sink),
            (Node::Variant(options), Value::Variant(option, value)) => {
                sink.begin_struct();
                if let Some((name, node)) = options.get(*option) {
                    sink.key(name);
                    node.write(value, sink);
                }
                sink.end_struct();
            }
            (Node::Leaf(_, class), value) => match value {
                Value::Unsigned(number) | Value::Bits(number) => scalar(class, *number, sink),
                Value::Signed(number) => scalar(class, *number as u64, sink),
                Value::Float(number) => sink.float(*number),
                Value::Boolean(value) => sink.boolean(*value),
                Value::Text(text) => sink.text(text),
                Value::Blob(bytes) => sink.blob(bytes),
                _ => sink.absent(),
            },
            _ => sink.absent(),
        }
    }
}

fn next(leaf: &mut usize) -> usize {
    *leaf += 1;
    *leaf - 1
}

/// A number as its class means it.
fn scalar(class: &FieldClass, number: u64, sink: &mut dyn Sink) {
    match class {
        FieldClass::Integer(integer) => {
            let wide = if integer.signed {
                i128::from(number as i64)
            } else {
                i128::from(number)
            };
            match &integer.mappings {
                Some(mappings) => labelled(mappings, wide, sink),
                None if integer.signed => sink.signed(number as i64),
                None => sink.unsigned(number),
            }
        }
        FieldClass::Boolean { .. } => sink.boolean(number != 0),
        FieldClass::BitMap { flags, .. } => flagged(flags, number, sink),
        _ => sink.unsigned(number),
    }
}

fn labelled(mappings: &Mappings, number: i128, sink: &mut dyn Sink) {
    sink.labelled(number, &mut mappings.labels_of(number));
}

fn flagged(flags: &[Flag], number: u64, sink: &mut dyn Sink) {
    let mut set = flags
        .iter()
        .filter(|flag| flag.mask & number != 0)
        .map(|flag| flag.name.as_str());
    sink.labelled(i128::from(number), &mut set);
}

fn list_of(element: &FieldClass, list: List<'_>, sink: &mut dyn Sink) {
    sink.begin_list();
    for bits in list.iter() {
        sink.element();
        match element {
            FieldClass::Float(field) if field.size == 32 => {
                sink.float(f64::from(f32::from_bits(bits as u32)));
            }
            FieldClass::Float(_) => sink.float(f64::from_bits(bits)),
            class => scalar(class, bits, sink),
        }
    }
    sink.end_list();
}

/// The scopes of one event class, ready to be visited.
#[derive(Debug)]
pub(crate) struct EventFields<'s> {
    scopes: Vec<(Scope, Node<'s>)>,
    /// Every field can be read where it is.
    is_flat: bool,
}

impl<'s> EventFields<'s> {
    pub(crate) fn new(
        event: &EventView<'_>,
        common_context: Option<&'s Struct>,
        specific_context: Option<&'s Struct>,
        payload: Option<&'s Struct>,
    ) -> EventFields<'s> {
        let mut leaf = 0;
        let scopes = [
            (Scope::CommonContext, common_context),
            (Scope::SpecificContext, specific_context),
            (Scope::Payload, payload),
        ];
        let scopes: Vec<_> = scopes
            .into_iter()
            .filter_map(|(scope, class)| Some((scope, Node::structure(class?, &mut leaf))))
            .collect();
        let leaves = &event.layout().leaves;
        let is_flat = event.layout().is_flat()
            && leaves.len() == leaf
            && leaves.iter().all(|leaf| is_utf8(&leaf.class));
        EventFields { scopes, is_flat }
    }

    /// Visits all scopes that the class has; `enter` is called before each.
    pub(crate) fn visit<S: Sink>(
        &self,
        event: &EventView<'_>,
        sink: &mut S,
        mut enter: impl FnMut(&mut S, Scope),
    ) -> Result<(), DecodeError> {
        if self.is_flat {
            for (scope, node) in &self.scopes {
                enter(sink, *scope);
                node.read(event, sink);
            }
            return Ok(());
        }
        let values = event.values()?;
        for (scope, node) in &self.scopes {
            enter(sink, *scope);
            match values.iter().find(|(of, _)| of == scope) {
                Some((_, value)) => node.write(value, sink),
                None => sink.absent(),
            }
        }
        Ok(())
    }
}

/// Text in other encodings is converted by decoding it field by field.
fn is_utf8(class: &FieldClass) -> bool {
    match class {
        FieldClass::String { encoding } | FieldClass::Text { encoding, .. } => {
            *encoding == Encoding::Utf8
        }
        _ => true,
    }
}
