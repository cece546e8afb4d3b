//! Random traces: a schema, packets with known values, and their bytes.
//!
//! ```ignore
//! proptest! {
//!     #[test]
//!     fn my_reader_reads_it(trace in random_trace(Profile::Everything)) {
//!         for packet in &trace.packets {
//!             let read = my_reader(&trace.schema, &packet.bytes, packet.clock_before);
//!             // compare with packet.events: class, time and the values of all scopes
//!         }
//!     }
//! }
//! ```
//!
//! [`Profile::Everything`] has all field classes of CTF 1.8 and CTF 2; [`Profile::Ctf1`] only what can be printed as
//! TSDL, with times that never go back, so that other readers can be asked too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use rostrace_ctf::schema::*;
use rostrace_ctf::value::Value;
use rostrace_ctf::writer::{EventRecord, Others, PacketEnd, PacketStart, PacketWriter, WriteError};
use rostrace_ctf::{StreamBytes, TraceSet};
use rostrace_testkit::tsdl::tsdl;

use super::choices::Choices;
pub use super::random_schema::Profile;
use super::random_schema::{Domains, RandomSchema, random_schema};
use super::random_value::RandomValues;

#[derive(Debug, Clone)]
pub struct RandomTrace {
    pub schema: Arc<Schema>,
    /// Those of one stream class belong to one stream, in this order.
    pub packets: Vec<RandomPacket>,
}

impl RandomTrace {
    /// A file for each stream class, with all of its packets.
    fn files(&self) -> impl Iterator<Item = StreamBytes> {
        (0..self.schema.streams.len()).map(|stream| StreamBytes {
            name: PathBuf::from(format!("stream_{stream}")),
            bytes: (self.packets.iter())
                .filter(|packet| packet.stream == stream)
                .flat_map(|packet| packet.bytes.iter().copied())
                .collect(),
            index: None,
        })
    }

    pub fn open(&self) -> TraceSet {
        TraceSet::in_memory(Arc::clone(&self.schema), self.files().collect())
    }

    /// Writes it into an empty folder.
    pub fn write(&self, folder: &Path) {
        std::fs::write(folder.join("metadata"), tsdl(&self.schema)).unwrap();
        for file in self.files() {
            std::fs::write(folder.join(file.name), file.bytes).unwrap();
        }
    }
}

#[derive(Debug, Clone)]
pub struct RandomPacket {
    /// Index into [`Schema::streams`].
    pub stream: usize,
    pub instance: u64,
    pub begin: u64,
    pub end: u64,
    pub sequence: u64,
    pub discarded: u64,
    /// The stream's clock before and after the packet.
    pub clock_before: u64,
    pub clock_after: u64,
    /// Values of the packet header and the packet context; those of members with a role mean nothing.
    pub header: Option<Value>,
    pub context: Option<Value>,
    pub events: Vec<RandomEvent>,
    /// In bits.
    pub content_size: u64,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone)]
pub struct RandomEvent {
    /// Index into the stream class's events.
    pub event: usize,
    pub time: u64,
    /// Values of the members with a role mean nothing.
    pub header: Option<Value>,
    pub common_context: Option<Value>,
    pub specific_context: Option<Value>,
    pub payload: Option<Value>,
    /// In bits from the beginning of the packet.
    pub begin: u64,
    pub end: u64,
}

/// A strategy that yields random traces, and shrinks them.
pub fn random_trace(profile: Profile) -> impl Strategy<Value = RandomTrace> {
    prop::collection::vec(any::<u32>(), 0..1500).prop_map(move |tape| trace_of(tape, profile))
}

/// The trace that a tape of random numbers leads to.
pub fn trace_of(tape: Vec<u32>, profile: Profile) -> RandomTrace {
    let mut choices = Choices::new(tape);
    let random = random_schema(&mut choices, profile);
    let schema = Arc::new(random.schema.clone());
    let mut packets = Vec::new();
    for stream in 0..schema.streams.len() {
        let mut clock = 0;
        let mut time = 1 << 40;
        for index in 0..=choices.below(3) {
            if index > 0 && says_sizes(&schema.streams[stream]) == 0 {
                break;
            }
            let mut writer = TraceBuilder {
                random: &random,
                schema: &schema,
                choices: &mut choices,
                profile,
                stream,
            };
            let packet = writer.packet(index as u64, clock, time);
            clock = packet.clock_after;
            time = packet.end;
            packets.push(packet);
        }
    }
    RandomTrace { schema, packets }
}

struct TraceBuilder<'t> {
    random: &'t RandomSchema,
    schema: &'t Arc<Schema>,
    choices: &'t mut Choices,
    profile: Profile,
    stream: usize,
}

impl TraceBuilder<'_> {
    fn packet(&mut self, index: u64, clock_before: u64, time: u64) -> RandomPacket {
        let schema = Arc::clone(self.schema);
        let class = &schema.streams[self.stream];
        let domains = &self.random.stream_domains[self.stream];
        let mut values = self.values(domains);
        let header = (schema.packet_header.as_ref()).map(|header| values.structure(header));
        let context = (class.packet_context.as_ref()).map(|context| values.structure(context));
        let packet_slots = values.slots;
        let instance = self.choices.below(200) as u64;
        let (sequence, discarded) = match self.profile {
            Profile::Ctf1 => (index, 0),
            Profile::Everything => (self.choices.wide_number(), self.choices.wide_number()),
        };
        // Integers of variable length that are filled in later have room for 63 bits.
        let (sequence, discarded) = (sequence >> 1, discarded >> 1);
        let begin = time + self.choices.below(1000) as u64;
        let others = |value| match value {
            Some(value) => Others::Whole(value),
            None => Others::None,
        };
        let start = PacketStart {
            begin,
            sequence,
            header: others(header.as_ref()),
            context: others(context.as_ref()),
        };
        let mut writer = PacketWriter::begin(
            Arc::clone(&schema),
            self.stream,
            instance,
            clock_before,
            start,
        )
        .unwrap();
        let mut time = begin;
        let mut events = Vec::new();
        // Without sizes the packet must end at a byte boundary, as every event there does.
        let least = usize::from(says_sizes(class) < 2);
        for _ in 0..self.choices.below(12).max(least) {
            let number = self.choices.below(class.events.len());
            let domains = &self.random.event_domains[self.stream][number];
            let mut values = self.values(domains);
            values.slots.clone_from(&packet_slots);
            let mut scope = |structure: &Option<Struct>| {
                structure.as_ref().map(|scope| values.structure(scope))
            };
            let event_class = &class.events[number];
            let mut event = RandomEvent {
                event: number,
                time: 0,
                header: scope_of_header(class, &mut scope),
                common_context: scope(&class.event_context),
                specific_context: scope(&event_class.context),
                payload: scope(&event_class.payload),
                begin: writer.position(),
                end: 0,
            };
            time += self.step();
            event.time = time;
            match append(&mut writer, &event) {
                Ok(()) => {}
                Err(WriteError::EmptyEvent) => continue,
                // The header has too few bits for the step, or none at all: take the time that it can say.
                Err(WriteError::TimeDoesNotFit { clock, .. }) => {
                    time = clock;
                    event.time = clock;
                    match append(&mut writer, &event) {
                        Err(WriteError::EmptyEvent) => continue,
                        written => written.unwrap(),
                    }
                }
                Err(error) => panic!("{error}"),
            }
            event.end = writer.position();
            events.push(event);
        }
        let end = time.max(begin) + self.choices.below(50) as u64;
        let multiple = self.choices.one_of(&[1, 7, 512]);
        let finished = writer
            .finish(PacketEnd { end, discarded }, multiple)
            .unwrap();
        RandomPacket {
            stream: self.stream,
            instance,
            begin,
            end,
            sequence,
            discarded,
            clock_before,
            clock_after: finished.clock,
            header,
            context,
            events,
            content_size: finished.entry.content_size,
            bytes: finished.bytes,
        }
    }

    fn values<'v>(&'v mut self, domains: &'v Domains) -> RandomValues<'v> {
        RandomValues {
            choices: self.choices,
            domains,
            shortest_text: usize::from(self.profile == Profile::Ctf1),
            slots: Default::default(),
        }
    }

    /// Small steps, and those near the limits of the timestamps that headers have.
    fn step(&mut self) -> u64 {
        let span = 1u64 << self.choices.one_of(&[3, 8, 27, 32, 34]);
        match self.choices.below(5) {
            0 | 1 => self.choices.below(300) as u64,
            2 => 0,
            3 => span - 1,
            _ => span,
        }
    }
}

fn append(writer: &mut PacketWriter, event: &RandomEvent) -> Result<(), WriteError> {
    writer.event(&EventRecord {
        event: event.event,
        time: event.time,
        header: event.header.as_ref(),
        common_context: event.common_context.as_ref(),
        specific_context: event.specific_context.as_ref(),
        payload: event.payload.as_ref(),
    })
}

/// Headers with a variant are filled by their role alone.
fn scope_of_header(
    class: &StreamClass,
    scope: &mut impl FnMut(&Option<Struct>) -> Option<Value>,
) -> Option<Value> {
    let header = class.event_header.as_ref()?;
    let has_variant = (header.members.iter()).any(|member| &*member.original_name == "v");
    if has_variant {
        return None;
    }
    scope(&class.event_header)
}

/// How many of its two sizes a packet says.
fn says_sizes(class: &StreamClass) -> usize {
    (class.packet_context.iter())
        .flat_map(|context| &context.members)
        .filter(|member| matches!(&*member.original_name, "content_size" | "packet_size"))
        .count()
}

/// Whether two values of a scope are equal, members with a role not counted.
pub fn equal_but_roles(structure: &Struct, left: &Value, right: &Value) -> bool {
    let (Some(left), Some(right)) = (left.members(), right.members()) else {
        return false;
    };
    left.len() == structure.members.len()
        && right.len() == structure.members.len()
        && (structure.members.iter().zip(left.iter().zip(right))).all(|(member, (left, right))| {
            match &member.class {
                FieldClass::Integer(integer) if integer.role.is_some() => true,
                _ if &*member.original_name == "uuid" => true,
                _ => left == right,
            }
        })
}
