//! One packet: headers, events, and the sizes and times that are only known at its end.
//!
//! The members of the packet header and the packet context that have a role are filled in here; the caller gives the
//! others. Fields of which the value is not known yet are overwritten when the packet is finished.

use std::sync::Arc;

use super::encode::Encoder;
use super::error::WriteError;
use super::event_header::EventHeader;
use crate::packet::head::MAGIC;
use crate::packet::index::IndexEntry;
use crate::schema::{EventClass, FieldClass, Integer, Role, Schema, StreamClass, Struct, Uuid};
use crate::value::Value;

/// What is known when a packet begins.
#[derive(Debug, Clone, Copy, Default)]
pub struct PacketStart<'v> {
    /// Not after the first event.
    pub begin: u64,
    /// One more for each packet of the stream, also for those that were lost.
    pub sequence: u64,
    pub header: Others<'v>,
    pub context: Others<'v>,
}

/// Values for the members of a scope that have no role.
#[derive(Debug, Clone, Copy, Default)]
pub enum Others<'v> {
    /// There are no such members.
    #[default]
    None,
    /// By display name.
    Named(&'v [(&'v str, Value)]),
    /// A value of the whole scope, for instance from another trace; of its members with a role nothing is taken.
    Whole(&'v Value),
}

/// What is known when a packet ends.
#[derive(Debug, Clone, Copy, Default)]
pub struct PacketEnd {
    /// Not before the last event.
    pub end: u64,
    /// All events that the stream has lost since its beginning.
    pub discarded: u64,
}

/// An event to write. Scopes that its classes do not declare, or that have no members, may be absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventRecord<'v> {
    /// Index into the stream class's events.
    pub event: usize,
    /// The full value of the clock. Ignored if the stream class has no clock.
    pub time: u64,
    /// A value of the event header of which the members without a role are taken.
    pub header: Option<&'v Value>,
    pub common_context: Option<&'v Value>,
    pub specific_context: Option<&'v Value>,
    pub payload: Option<&'v Value>,
}

/// A finished packet. The offset in its index entry is 0: only the file knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedPacket {
    pub bytes: Vec<u8>,
    pub entry: IndexEntry,
    /// What a reader's clock shows after the packet.
    pub clock: u64,
}

/// A packet that is being written.
#[derive(Debug, Clone)]
pub struct PacketWriter {
    schema: Arc<Schema>,
    stream: usize,
    encoder: Encoder,
    /// What the packet's headers left in the slots: the state in which each event begins.
    packet_slots: Vec<u64>,
    entry: IndexEntry,
}

impl PacketWriter {
    /// Writes the headers. `clock` is the stream's clock before the packet: 0, or [`FinishedPacket::clock`] of the
    /// packet before.
    pub fn begin(
        schema: Arc<Schema>,
        stream: usize,
        instance: u64,
        clock: u64,
        start: PacketStart<'_>,
    ) -> Result<PacketWriter, WriteError> {
        let class = stream_class(&schema, stream)?;
        let entry = IndexEntry {
            timestamp_begin: start.begin,
            stream_class_id: class.id,
            stream_instance_id: instance,
            sequence: start.sequence,
            ..IndexEntry::default()
        };
        let mut encoder = Encoder::new(schema.slots, clock);
        encoder.patchable = true;
        let roles = RoleValues { entry: &entry };
        if let Some(header) = &schema.packet_header {
            let uuid = schema.packet_header_uuid.zip(schema.uuid);
            let value = roles.scope(header, start.header, uuid)?;
            encoder.structure("packet header", header, &value)?;
        }
        if let Some(context) = &class.packet_context {
            let value = roles.scope(context, start.context, None)?;
            encoder.structure("packet context", context, &value)?;
        }
        encoder.patchable = false;
        Ok(PacketWriter {
            packet_slots: encoder.slots().to_vec(),
            encoder,
            schema,
            stream,
            entry,
        })
    }

    /// Bits from the beginning of the packet to the next event.
    pub fn position(&self) -> u64 {
        self.encoder.position()
    }

    /// What a reader's clock shows behind the last event.
    pub(crate) fn clock(&self) -> u64 {
        self.encoder.clock
    }

    /// Makes room for so many bytes of events.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.encoder.reserve(bytes);
    }

    /// What the packet says of its begin.
    pub(crate) fn begin_time(&self) -> u64 {
        self.entry.timestamp_begin
    }

    /// Appends encoded events as they are, at the next multiple of `alignment` bits, which must be a byte boundary. Behind
    /// them a reader's clock shows `clock`.
    pub(crate) fn copy(&mut self, events: &[u8], alignment: u32, clock: u64) {
        self.encoder.align(alignment);
        self.encoder.bytes(events);
        self.encoder.clock = clock;
    }

    /// Appends an event. After an error the packet is as it was before.
    pub fn event(&mut self, record: &EventRecord<'_>) -> Result<(), WriteError> {
        let before = self.encoder.checkpoint();
        let written = self.try_event(record);
        if written.is_err() {
            self.encoder.go_back_to(before);
        }
        written
    }

    fn try_event(&mut self, record: &EventRecord<'_>) -> Result<(), WriteError> {
        let class = stream_class(&self.schema, self.stream)?;
        let event = event_class(class, record.event)?;
        let begin = self.encoder.position();
        self.encoder.set_slots(&self.packet_slots);
        if let Some(header) = &class.event_header {
            let value = EventHeader {
                id: event.id,
                time: record.time,
                clock: self.encoder.clock,
                template: record.header,
            }
            .value(class, header)?;
            self.encoder.structure("event header", header, &value)?;
        } else if class.clock.is_some() && record.time != self.encoder.clock {
            return Err(WriteError::TimeDoesNotFit {
                stream_class: class.id,
                time: record.time,
                clock: self.encoder.clock,
            });
        }
        let empty = Value::Struct(Vec::new());
        let scopes = [
            (
                "common context",
                &class.event_context,
                record.common_context,
            ),
            ("context", &event.context, record.specific_context),
            ("payload", &event.payload, record.payload),
        ];
        for (name, structure, value) in scopes {
            if let Some(structure) = structure {
                let value = value.unwrap_or(&empty);
                self.encoder.structure(name, structure, value)?;
            }
        }
        if self.encoder.position() == begin {
            return Err(WriteError::EmptyEvent);
        }
        Ok(())
    }

    /// Fills in what was not known at the beginning, and pads to a multiple of `multiple` bytes.
    pub fn finish(mut self, end: PacketEnd, multiple: u32) -> Result<FinishedPacket, WriteError> {
        let class = stream_class(&self.schema, self.stream)?;
        let content_size = self.encoder.position();
        let says_both =
            self.encoder.has_place(Role::ContentSize) && self.encoder.has_place(Role::PacketSize);
        if says_both {
            self.encoder.align(multiple.max(1).saturating_mul(8));
        } else if !content_size.is_multiple_of(8) {
            return Err(WriteError::PacketsWithoutSizes {
                stream_class: class.id,
                reason: "events must end at a byte boundary",
            });
        }
        let entry = IndexEntry {
            content_size,
            packet_size: self.encoder.position(),
            timestamp_end: end.end,
            events_discarded: end.discarded,
            ..self.entry
        };
        let roles = RoleValues { entry: &entry };
        for (role, name) in [
            (Role::ContentSize, "packet context.content_size"),
            (Role::PacketSize, "packet context.packet_size"),
            (Role::TimestampEnd, "packet context.timestamp_end"),
            (Role::EventsDiscarded, "packet context.events_discarded"),
        ] {
            let integer = role_integer(class, role);
            let value = roles.value(role, integer);
            self.encoder
                .patch(role, value)
                .map_err(|problem| WriteError::at(name, problem))?;
        }
        let clock = if self.encoder.has_place(Role::TimestampEnd) {
            end.end
        } else {
            self.encoder.clock
        };
        Ok(FinishedPacket {
            bytes: self.encoder.into_bytes(),
            entry,
            clock,
        })
    }
}

/// Whether readers find the next packet of a file: without sizes a file is one single packet.
pub(crate) fn says_size(class: &StreamClass) -> bool {
    role_integer(class, Role::PacketSize).is_some()
        || role_integer(class, Role::ContentSize).is_some()
}

pub(super) fn stream_class(schema: &Schema, stream: usize) -> Result<&StreamClass, WriteError> {
    (schema.streams.get(stream)).ok_or(WriteError::NoSuchStream { stream })
}

fn event_class(class: &StreamClass, event: usize) -> Result<&EventClass, WriteError> {
    class.events.get(event).ok_or(WriteError::NoSuchEvent {
        stream_class: class.id,
        event,
    })
}

/// The integer of the packet context that has this role.
fn role_integer(class: &StreamClass, role: Role) -> Option<&Integer> {
    fn find(structure: &Struct, role: Role) -> Option<&Integer> {
        (structure.members.iter()).find_map(|member| match &member.class {
            FieldClass::Integer(integer) if integer.role == Some(role) => Some(integer),
            FieldClass::Struct(inner) => find(inner, role),
            _ => None,
        })
    }
    find(class.packet_context.as_ref()?, role)
}

/// The values that members of the packet header and the packet context have because of their roles.
struct RoleValues<'e> {
    entry: &'e IndexEntry,
}

impl RoleValues<'_> {
    fn value(&self, role: Role, integer: Option<&Integer>) -> u64 {
        let wrapped = |counter: u64| match integer.and_then(Integer::bits) {
            Some(bits) if bits.size < 64 => counter & ((1 << bits.size) - 1),
            _ => counter,
        };
        match role {
            Role::PacketMagic => MAGIC,
            Role::StreamClassId => self.entry.stream_class_id,
            Role::StreamInstanceId => self.entry.stream_instance_id,
            Role::PacketSize => self.entry.packet_size,
            Role::ContentSize => self.entry.content_size,
            Role::TimestampBegin => self.entry.timestamp_begin,
            Role::TimestampEnd => self.entry.timestamp_end,
            // Counters that wrap around, as those of tracers with 32-bit counters do.
            Role::EventsDiscarded => wrapped(self.entry.events_discarded),
            Role::PacketSequence => wrapped(self.entry.sequence),
            Role::EventId | Role::Timestamp => 0,
        }
    }

    /// The value of a scope: by role, or as the caller says.
    fn scope(
        &self,
        structure: &Struct,
        others: Others<'_>,
        uuid: Option<(usize, Uuid)>,
    ) -> Result<Value, WriteError> {
        (structure.members.iter().enumerate())
            .map(|(index, member)| {
                let other = match others {
                    Others::None => None,
                    Others::Named(named) => (named.iter())
                        .find(|(name, _)| *name == &*member.name)
                        .map(|(_, value)| value),
                    Others::Whole(whole) => whole.members().and_then(|all| all.get(index)),
                };
                match (&member.class, uuid, other) {
                    (FieldClass::Integer(integer), ..) if integer.role.is_some() => {
                        let role = integer.role.unwrap_or(Role::PacketMagic);
                        Ok(Value::Unsigned(self.value(role, Some(integer))))
                    }
                    (class, Some((place, uuid)), _) if place == index => {
                        Ok(uuid_value(class, uuid))
                    }
                    (FieldClass::Struct(inner), _, Some(whole)) => {
                        self.scope(inner, Others::Whole(whole), None)
                    }
                    (_, _, Some(value)) => Ok(value.clone()),
                    (FieldClass::Struct(inner), _, None) => self.scope(inner, others, None),
                    (_, _, None) => Err(WriteError::MemberWithoutValue {
                        member: member.name.to_string(),
                    }),
                }
            })
            .collect::<Result<_, _>>()
            .map(Value::Struct)
    }
}

fn uuid_value(class: &FieldClass, uuid: Uuid) -> Value {
    match class {
        FieldClass::Blob { .. } => Value::Blob(uuid.0.to_vec()),
        _ => Value::Array(uuid.0.map(|byte| Value::Unsigned(byte.into())).to_vec()),
    }
}
