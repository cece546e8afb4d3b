//! Lines prepared in advance: what is the same in every event of a class is written once.
//!
//! A [`Plan`] is the text of a class with gaps for its fields. Contexts repeat from event to event (the same process, the
//! same thread), so the text of the last few of them is kept by their bytes.

use rostrace_ctf::schema::{EventClass, FieldClass, StreamClass, Struct};
use rostrace_ctf::{EventView, Layout, LeafType, Raw, Scope, Trace};

use super::{number, value};

/// How to write the events of one class.
#[derive(Debug)]
pub(super) struct Plan {
    /// Trace part, name and colon.
    head: Vec<u8>,
    /// Bytes of the common context at the start of the body, if they can be looked up.
    context_bytes: Option<usize>,
    context: Vec<Piece>,
    /// The rest of the scopes.
    rest: Vec<Piece>,
    /// Nothing is shown in front of the first piece yet.
    shows_context: bool,
    shows_rest: bool,
    nested: bool,
}

/// A literal text, then a field.
#[derive(Debug)]
struct Piece {
    literal: Vec<u8>,
    field: Option<Gap>,
}

#[derive(Debug)]
struct Gap {
    leaf: usize,
    style: Style,
}

/// The forms that most fields have; others ask the class.
#[derive(Debug, Clone, Copy)]
enum Style {
    Unsigned,
    Signed,
    Hexadecimal,
    Text,
    ByClass,
}

impl Plan {
    pub(super) fn new(
        trace: &Trace,
        stream: &StreamClass,
        class: &EventClass,
        layout: &Layout,
    ) -> Plan {
        let mut head = trace_part(trace);
        head.extend_from_slice(class.name.as_deref().unwrap_or("<unknown>").as_bytes());
        head.extend_from_slice(b": ");
        let mut leaves = 0;
        let mut builder = Builder {
            layout,
            leaves: &mut leaves,
            pieces: Vec::new(),
            literal: Vec::new(),
        };
        let mut shows_context = false;
        if let Some(context) = &stream.event_context {
            shows_context = builder.scope(context, false);
        }
        let context = builder.take();
        let mut shows_rest = false;
        for scope in [&class.context, &class.payload].into_iter().flatten() {
            shows_rest |= builder.scope(scope, shows_rest);
        }
        let rest = builder.take();
        let context_bytes = layout.context_bytes();
        let nested = !layout.is_flat();
        Plan {
            head,
            context_bytes,
            context,
            rest,
            shows_context,
            shows_rest,
            nested,
        }
    }

    /// Writes everything behind the time.
    #[inline]
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        event: EventView<'_>,
        packet_context: &[u8],
        memory: &mut ContextMemory,
    ) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(packet_context);
        let mut any = !packet_context.is_empty();
        if self.nested {
            return self.write_values(out, event, any);
        }
        if self.shows_context {
            if any {
                out.extend_from_slice(b", ");
            }
            match self.context_bytes.and_then(|length| body(event, length)) {
                Some(bytes) => memory.write(out, bytes, |out| {
                    write_pieces(out, &self.context, event);
                }),
                None => write_pieces(out, &self.context, event),
            }
            any = true;
        }
        if self.shows_rest {
            if any {
                out.extend_from_slice(b", ");
            }
            write_pieces(out, &self.rest, event);
        }
        out.push(b'\n');
    }

    fn write_values(&self, out: &mut Vec<u8>, event: EventView<'_>, mut any: bool) {
        let stream = event.stream_class();
        let class = event.class();
        // The event was followed to its end before: decoding it again cannot fail.
        for (scope, scope_value) in event.values().unwrap_or_default() {
            let structure = match scope {
                Scope::CommonContext => &stream.event_context,
                Scope::SpecificContext => &class.context,
                Scope::Payload => &class.payload,
            };
            let Some(structure) = structure.as_ref().filter(|structure| is_shown(structure)) else {
                continue;
            };
            if any {
                out.extend_from_slice(b", ");
            }
            value::structure(out, structure, &scope_value);
            any = true;
        }
        out.push(b'\n');
    }
}

#[inline]
fn write_pieces(out: &mut Vec<u8>, pieces: &[Piece], event: EventView<'_>) {
    for piece in pieces {
        out.extend_from_slice(&piece.literal);
        let Some(Gap { leaf, style }) = &piece.field else {
            continue;
        };
        match (style, event.read(*leaf)) {
            (Style::Unsigned, Raw::Number(raw)) => number::unsigned(out, raw),
            (Style::Signed, Raw::Number(raw)) => number::signed(out, raw as i64),
            (Style::Hexadecimal, Raw::Number(raw)) => {
                out.extend_from_slice(b"0x");
                number::hexadecimal(out, raw);
            }
            (Style::Text, Raw::Bytes(text)) => number::quoted(out, text),
            (_, raw) => write_by_class(out, &event.layout().leaves[*leaf], raw),
        }
    }
}

fn write_by_class(out: &mut Vec<u8>, leaf: &rostrace_ctf::Leaf, raw: Raw<'_>) {
    match raw {
        Raw::Number(raw) => value::numeric(out, &leaf.class, raw),
        Raw::Float(float) => number::float(out, float),
        Raw::Bytes(bytes) => match &leaf.class {
            FieldClass::Blob { .. } => number::blob(out, bytes),
            _ => number::quoted(out, &leaf.to_utf8(bytes)),
        },
        Raw::List(list) => {
            let FieldClass::Array { element, .. } = &leaf.class else {
                return;
            };
            let mut numbers = list.iter();
            value::list(out, list.len(), |out, _| {
                if let Some(raw) = numbers.next() {
                    value::numeric(out, element, raw);
                }
            });
        }
        Raw::Nested => {}
    }
}

/// `hostname:procname:(vpid) ` as far as the environment has them.
fn trace_part(trace: &Trace) -> Vec<u8> {
    let mut parts = Vec::new();
    parts.extend(trace.schema.environment_text("hostname").map(str::to_owned));
    parts.extend(trace.schema.environment_text("procname").map(str::to_owned));
    parts.extend(
        trace
            .schema
            .environment_integer("vpid")
            .map(|vpid| format!("({vpid})")),
    );
    let mut text = parts.join(":");
    if !text.is_empty() {
        text.push(' ');
    }
    text.into_bytes()
}

pub(super) fn is_shown(structure: &Struct) -> bool {
    structure.members.is_empty()
        || structure
            .members
            .iter()
            .any(|member| member.class.is_shown())
}

fn body<'e>(event: EventView<'e>, length: usize) -> Option<&'e [u8]> {
    let start = event.event().body;
    if !start.is_multiple_of(8) {
        return None;
    }
    event.data().get((start / 8) as usize..)?.get(..length)
}

/// Goes through the members as the layout does, and meets the leaves in the same order.
struct Builder<'a> {
    layout: &'a Layout,
    leaves: &'a mut usize,
    pieces: Vec<Piece>,
    literal: Vec<u8>,
}

impl Builder<'_> {
    /// Returns whether the scope is shown.
    fn scope(&mut self, structure: &Struct, comma: bool) -> bool {
        let shown = is_shown(structure);
        if shown && comma {
            self.literal.extend_from_slice(b", ");
        }
        self.structure(structure, shown);
        shown
    }

    fn structure(&mut self, structure: &Struct, shown: bool) {
        if shown {
            self.literal.extend_from_slice(b"{ ");
        }
        let mut any = false;
        for member in &structure.members {
            let member_shown = shown && member.class.is_shown();
            if member_shown {
                if any {
                    self.literal.extend_from_slice(b", ");
                }
                self.literal.extend_from_slice(member.name.as_bytes());
                self.literal.extend_from_slice(b" = ");
                any = true;
            }
            match &member.class {
                FieldClass::Struct(inner) => self.structure(inner, member_shown),
                class => self.field(class, member_shown),
            }
        }
        if shown {
            self.literal
                .extend_from_slice(if any { b" }" } else { b"}" });
        }
    }

    fn field(&mut self, class: &FieldClass, shown: bool) {
        let leaf = *self.leaves;
        *self.leaves += 1;
        if !shown {
            return;
        }
        let style = match (class, self.layout.leaves.get(leaf).map(|leaf| leaf.shape)) {
            (FieldClass::Integer(integer), Some(LeafType::Number(_)))
                if integer.mappings.is_none() =>
            {
                match (integer.base, integer.signed) {
                    (rostrace_ctf::schema::Base::Decimal, false) => Style::Unsigned,
                    (rostrace_ctf::schema::Base::Decimal, true) => Style::Signed,
                    (rostrace_ctf::schema::Base::Hexadecimal, false) => Style::Hexadecimal,
                    _ => Style::ByClass,
                }
            }
            (FieldClass::String { encoding } | FieldClass::Text { encoding, .. }, _)
                if *encoding == rostrace_ctf::schema::Encoding::Utf8 =>
            {
                Style::Text
            }
            _ => Style::ByClass,
        };
        let literal = std::mem::take(&mut self.literal);
        self.pieces.push(Piece {
            literal,
            field: Some(Gap { leaf, style }),
        });
    }

    fn take(&mut self) -> Vec<Piece> {
        let literal = std::mem::take(&mut self.literal);
        let mut pieces = std::mem::take(&mut self.pieces);
        if !literal.is_empty() {
            pieces.push(Piece {
                literal,
                field: None,
            });
        }
        pieces
    }
}

/// The texts of the contexts that were written last, by their bytes.
#[derive(Debug)]
pub(super) struct ContextMemory {
    entries: Vec<Remembered>,
}

#[derive(Debug, Default, Clone)]
struct Remembered {
    bytes: Vec<u8>,
    text: Vec<u8>,
}

impl ContextMemory {
    pub(super) fn new() -> ContextMemory {
        ContextMemory {
            entries: vec![Remembered::default(); 64],
        }
    }

    #[inline]
    fn write(&mut self, out: &mut Vec<u8>, bytes: &[u8], render: impl FnOnce(&mut Vec<u8>)) {
        // The first bytes are ids of processes and threads: their low bits tell contexts apart.
        let mix = bytes.iter().take(8).fold(0usize, |mix, &byte| {
            mix.wrapping_mul(31).wrapping_add(byte.into())
        });
        let place = mix % self.entries.len();
        let entry = &mut self.entries[place];
        if entry.bytes.as_slice() != bytes {
            entry.bytes.clear();
            entry.bytes.extend_from_slice(bytes);
            entry.text.clear();
            render(&mut entry.text);
        }
        out.extend_from_slice(&entry.text);
    }
}
