//! Builds schemas of the shape that LTTng-UST writes, and the layouts around them.
//!
//! Packet header, packet context and event headers are the same for all such traces; callers say the clock, the
//! contexts and the events with their fields.

use std::sync::Arc;

use crate::schema;
use rostrace_ctf::schema::{
    Base, BitField, ByteOrder, Clock, Encoding, EnvironmentValue, EventClass, FieldClass, Identity,
    Integer, IntegerForm, Label, Length, Mappings, Member, Range, Role, Schema, Slot, StreamClass,
    Struct, Uuid, VariantOption, Version,
};

/// Where fields begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// At any byte, as LTTng does on x86.
    Packed,
    /// At multiples of their size, as on ARM.
    Natural,
}

/// The two event headers of LTTng.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderForm {
    /// 5 bits of id and 27 bits of time, or the extended form.
    Compact,
    /// 16 bits of id and 32 bits of time, or the extended form.
    Large,
}

/// What every event of a stream says about its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Process id, in the process's own name space.
    Vpid,
    /// Thread id, in the process's own name space.
    Vtid,
    /// The thread's name, at most 16 bytes.
    Procname,
}

/// A field of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// As people see it, without the underscore of the metadata.
    pub name: String,
    pub kind: Kind,
}

/// One value, or several after each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    One(Element),
    Array(u64, Element),
    /// Elements after their number, a value of its own before them: `_NAME_length`.
    Sequence(Element),
    /// Text after its length in bytes, a value of its own before it: `_NAME_length`.
    TextSequence,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Element {
    Integer {
        /// 8, 16, 32 or 64.
        bits: u8,
        signed: bool,
        base: Base,
    },
    Float,
    Double,
    String,
    /// At most so many bytes of text.
    Text(u64),
    Enumeration {
        bits: u8,
        signed: bool,
        /// Label, lowest and highest value.
        labels: Vec<(String, i64, i64)>,
    },
}

impl Field {
    pub fn new(name: &str, kind: Kind) -> Field {
        Field {
            name: name.to_owned(),
            kind,
        }
    }

    pub fn one(name: &str, element: Element) -> Field {
        Field::new(name, Kind::One(element))
    }

    pub fn unsigned(name: &str, bits: u8) -> Field {
        Field::one(name, Element::unsigned(bits))
    }

    pub fn signed(name: &str, bits: u8) -> Field {
        Field::one(name, Element::signed(bits))
    }

    /// A pointer, shown in hexadecimal.
    pub fn address(name: &str) -> Field {
        Field::one(name, Element::address())
    }

    pub fn string(name: &str) -> Field {
        Field::one(name, Element::String)
    }
}

impl Element {
    pub fn address() -> Element {
        Element::Integer {
            bits: 64,
            signed: false,
            base: Base::Hexadecimal,
        }
    }

    pub fn unsigned(bits: u8) -> Element {
        Element::Integer {
            bits,
            signed: false,
            base: Base::Decimal,
        }
    }

    pub fn signed(bits: u8) -> Element {
        Element::Integer {
            bits,
            signed: true,
            base: Base::Decimal,
        }
    }
}

/// Collects stream classes and events, then gives the schema.
#[derive(Debug)]
pub struct LttngSchema {
    schema: Schema,
    layout: Layout,
    /// The first slot that event classes of each stream class may use.
    first_event_slot: Vec<u32>,
}

impl LttngSchema {
    pub fn new(uuid: Uuid, byte_order: ByteOrder, alignment: Alignment, clock: Clock) -> Self {
        let layout = Layout {
            order: byte_order,
            alignment,
        };
        let byte = FieldClass::Integer(layout.unsigned(8));
        let uuid_class = array(Length::Fixed(16), byte);
        let packet_header = schema::structure(vec![
            role_member("magic", Role::PacketMagic, layout.unsigned(32)),
            schema::member("uuid", "uuid", uuid_class),
            role_member("stream_id", Role::StreamClassId, layout.unsigned(32)),
            role_member(
                "stream_instance_id",
                Role::StreamInstanceId,
                layout.unsigned(64),
            ),
        ]);
        LttngSchema {
            schema: Schema {
                version: Version::Ctf1,
                uuid: Some(uuid),
                identity: Identity::default(),
                byte_order,
                environment: Vec::new(),
                clocks: vec![clock],
                packet_header: Some(packet_header),
                packet_header_uuid: Some(1),
                streams: Vec::new(),
                slots: 0,
            },
            layout,
            first_event_slot: Vec::new(),
        }
    }

    pub fn environment_text(mut self, name: &str, text: &str) -> Self {
        let value = EnvironmentValue::Text(text.to_owned());
        self.schema.environment.push((name.to_owned(), value));
        self
    }

    pub fn environment_integer(mut self, name: &str, number: i64) -> Self {
        let value = EnvironmentValue::Integer(number);
        self.schema.environment.push((name.to_owned(), value));
        self
    }

    /// Adds a stream class; its id is its index. The packet context has one member without a role, `cpu_id`.
    pub fn stream(mut self, form: HeaderForm, contexts: &[Context]) -> Self {
        let layout = self.layout;
        let mut slots = Slots { next: 0 };
        let event_header = layout.event_header(form, &mut slots);
        let event_context = (!contexts.is_empty()).then(|| {
            schema::structure(contexts.iter().map(|context| match context {
                Context::Vpid => payload_member("vpid", layout.signed(32)),
                Context::Vtid => payload_member("vtid", layout.signed(32)),
                Context::Procname => {
                    schema::member("procname", "_procname", text(Length::Fixed(17)))
                }
            }))
        });
        self.schema.streams.push(StreamClass {
            id: self.schema.streams.len() as u64,
            clock: Some(0),
            packet_context: Some(layout.packet_context()),
            event_header: Some(event_header),
            event_context,
            ..StreamClass::default()
        });
        self.first_event_slot.push(slots.next);
        self.schema.slots = self.schema.slots.max(slots.next);
        self
    }

    /// Adds an event class to the stream class that was added last; its id is its index there.
    pub fn event(mut self, name: &str, log_level: u8, fields: &[Field]) -> Self {
        let first = self.first_event_slot.last().copied().unwrap_or(0);
        let mut slots = Slots { next: first };
        let mut members = Vec::new();
        for field in fields {
            self.layout.add_field(field, &mut slots, &mut members);
        }
        self.schema.slots = self.schema.slots.max(slots.next);
        if let Some(stream) = self.schema.streams.last_mut() {
            stream.events.push(EventClass {
                id: stream.events.len() as u64,
                name: Some(name.to_owned()),
                log_level: Some(log_level),
                payload: Some(schema::structure(members)),
                ..EventClass::default()
            });
        }
        self
    }

    pub fn build(self) -> Schema {
        self.schema
    }
}

struct Slots {
    next: u32,
}

impl Slots {
    fn take(&mut self) -> Slot {
        let slot = Slot(self.next);
        self.next += 1;
        slot
    }
}

/// Byte order and alignment of all fields.
#[derive(Debug, Clone, Copy)]
struct Layout {
    order: ByteOrder,
    alignment: Alignment,
}

impl Layout {
    fn bits(self, size: u8) -> BitField {
        let align = match self.alignment {
            _ if !size.is_multiple_of(8) => 1,
            Alignment::Packed => 8,
            Alignment::Natural => size.into(),
        };
        BitField::new(size, align, self.order)
    }

    fn unsigned(self, size: u8) -> Integer {
        schema::integer(IntegerForm::Fixed(self.bits(size)), false)
    }

    fn signed(self, size: u8) -> Integer {
        schema::integer(IntegerForm::Fixed(self.bits(size)), true)
    }

    fn packet_context(self) -> Struct {
        schema::structure([
            role_member("timestamp_begin", Role::TimestampBegin, self.unsigned(64)),
            role_member("timestamp_end", Role::TimestampEnd, self.unsigned(64)),
            role_member("content_size", Role::ContentSize, self.unsigned(64)),
            role_member("packet_size", Role::PacketSize, self.unsigned(64)),
            role_member("packet_seq_num", Role::PacketSequence, self.unsigned(64)),
            role_member("events_discarded", Role::EventsDiscarded, self.unsigned(64)),
            schema::member("cpu_id", "cpu_id", FieldClass::Integer(self.unsigned(32))),
        ])
    }

    fn event_header(self, form: HeaderForm, slots: &mut Slots) -> Struct {
        let (id_bits, time_bits, natural_align) = match form {
            HeaderForm::Compact => (5, 27, 32),
            HeaderForm::Large => (16, 32, 16),
        };
        let last: i128 = (1 << id_bits) - 1;
        let label = |name: &str, low, high| Label {
            name: name.to_owned(),
            ranges: vec![Range { low, high }],
        };
        let mappings = Mappings {
            labels: vec![label("compact", 0, last - 1), label("extended", last, last)],
        };
        let slot = slots.take();
        let id = Integer {
            mappings: Some(Arc::new(mappings.clone())),
            slot: Some(slot),
            ..self.unsigned(id_bits)
        };
        let compact = schema::structure([role_member(
            "timestamp",
            Role::Timestamp,
            self.unsigned(time_bits),
        )]);
        let extended = schema::structure([
            role_member("id", Role::EventId, self.unsigned(32)),
            role_member("timestamp", Role::Timestamp, self.unsigned(64)),
        ]);
        let options = (mappings.labels.into_iter().zip([compact, extended]))
            .map(|(label, class)| VariantOption {
                name: label.name.as_str().into(),
                original_name: label.name.as_str().into(),
                ranges: label.ranges,
                class: FieldClass::Struct(class),
            })
            .collect();
        let variant = FieldClass::Variant {
            selector: slot,
            selector_signed: false,
            options,
        };
        Struct {
            align: match self.alignment {
                Alignment::Packed => 8,
                Alignment::Natural => natural_align,
            },
            ..schema::structure([
                role_member("id", Role::EventId, id),
                schema::member("v", "v", variant),
            ])
        }
    }

    fn add_field(self, field: &Field, slots: &mut Slots, members: &mut Vec<Member>) {
        let name = &field.name;
        let mut length_before = |bits: u8, members: &mut Vec<Member>| {
            let slot = slots.take();
            let length = Integer {
                slot: Some(slot),
                ..self.unsigned(bits)
            };
            members.push(payload_member(&format!("_{name}_length"), length));
            Length::Slot(slot)
        };
        let class = match &field.kind {
            Kind::One(element) => self.class(element),
            Kind::Array(length, element) => array(Length::Fixed(*length), self.class(element)),
            Kind::Sequence(element) => array(length_before(32, members), self.class(element)),
            Kind::TextSequence => text(length_before(32, members)),
        };
        members.push(schema::member(name, &format!("_{name}"), class));
    }

    fn class(self, element: &Element) -> FieldClass {
        match element {
            Element::Integer { bits, signed, base } => FieldClass::Integer(Integer {
                signed: *signed,
                base: *base,
                ..self.unsigned(*bits)
            }),
            Element::Float => FieldClass::Float(self.bits(32)),
            Element::Double => FieldClass::Float(self.bits(64)),
            Element::String => FieldClass::String {
                encoding: Encoding::Utf8,
            },
            Element::Text(bytes) => text(Length::Fixed(*bytes)),
            Element::Enumeration {
                bits,
                signed,
                labels,
            } => {
                let labels = (labels.iter())
                    .map(|(name, low, high)| Label {
                        name: name.clone(),
                        ranges: vec![Range {
                            low: (*low).into(),
                            high: (*high).into(),
                        }],
                    })
                    .collect();
                FieldClass::Integer(Integer {
                    signed: *signed,
                    mappings: Some(Arc::new(Mappings { labels })),
                    ..self.unsigned(*bits)
                })
            }
        }
    }
}

fn text(length: Length) -> FieldClass {
    FieldClass::Text {
        length,
        encoding: Encoding::Utf8,
    }
}

fn array(length: Length, element: FieldClass) -> FieldClass {
    FieldClass::Array {
        length,
        align: element.alignment(),
        element: Box::new(element),
    }
}

fn payload_member(name: &str, integer: Integer) -> Member {
    schema::member(name, &format!("_{name}"), FieldClass::Integer(integer))
}

fn role_member(name: &str, role: Role, integer: Integer) -> Member {
    let integer = Integer {
        role: Some(role),
        updates_clock: matches!(role, Role::TimestampBegin | Role::Timestamp),
        ..integer
    };
    schema::member(name, name, FieldClass::Integer(integer))
}
