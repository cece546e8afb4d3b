//! The slow, obvious reader of packets: the oracle that the compiled decoder is tested against.
//!
//! It walks the intermediate form ([`Schema`]) once more for each event and reads bit by bit, so that every line can be
//! compared with the text of the specification. Programs that read traces want the compiled decoder instead.
//!
//! `naive_bits` reads bits, `fields` turns them into values, this file knows packets and events.

mod fields;
mod naive_bits;
mod stop;

pub use naive_bits::NaiveBits;
pub use stop::{Stop, StopReason};

use fields::Fields;
use rostrace_ctf::schema::{Cycles, FieldClass, Schema, Uuid};
use rostrace_ctf::value::Value;

/// Reads one packet. An iterator over its events, which ends after the first [`Stop`].
///
/// ```
/// # use rostrace_ctf::schema::Schema;
/// # use rostrace_testkit::interpret::Interpreter;
/// # fn print(schema: &Schema, packet: &[u8]) {
/// let mut interpreter = Interpreter::new(schema, packet, 0);
/// println!("{:?}", interpreter.context());
/// for event in &mut interpreter {
///     match event {
///         Ok(event) => println!("{:?} {:?}", event.clock, event.payload),
///         Err(stop) => println!("stopped {stop}"),
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Interpreter<'a> {
    schema: &'a Schema,
    fields: Fields<'a>,
    header: Option<Value>,
    context: Option<Value>,
    stream: Option<usize>,
    /// What the packet context says, even if there are less data.
    content_size: u64,
    roles: PacketRoles,
    /// Found while reading the headers; the iterator says it first.
    stop: Option<Stop>,
    finished: bool,
}

/// The fields of the packet header and the packet context that serve the format itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketRoles {
    pub magic: Option<u64>,
    pub stream_class_id: Option<u64>,
    pub stream_instance_id: Option<u64>,
    /// In bits.
    pub packet_size: Option<u64>,
    /// In bits.
    pub content_size: Option<u64>,
    pub timestamp_begin: Option<u64>,
    pub timestamp_end: Option<u64>,
    pub events_discarded: Option<u64>,
    pub sequence: Option<u64>,
}

/// One event. The scopes that its classes do not declare are absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Index into [`Schema::streams`].
    pub stream: usize,
    /// Index into the stream class's events.
    pub event: usize,
    /// The stream's clock right after the event header.
    pub clock: Cycles,
    pub header: Option<Value>,
    pub common_context: Option<Value>,
    pub specific_context: Option<Value>,
    pub payload: Option<Value>,
    /// Where the event before this one ended, in bits from the packet's beginning: padding belongs to what
    /// follows it.
    pub begin: u64,
    pub end: u64,
}

impl<'a> Interpreter<'a> {
    /// Reads the headers of the packet that begins with the first byte of `data`. `clock` is the value of the
    /// stream's clock before the packet: 0 or what [`Interpreter::clock`] says after the previous packet.
    pub fn new(schema: &'a Schema, data: &'a [u8], clock: u64) -> Interpreter<'a> {
        let mut interpreter = Interpreter {
            schema,
            fields: Fields::new(data, clock),
            header: None,
            context: None,
            stream: None,
            content_size: data.len() as u64 * 8,
            roles: PacketRoles::default(),
            stop: None,
            finished: false,
        };
        if let Err(reason) = interpreter.read_headers() {
            interpreter.stop = Some(interpreter.stop_here(reason));
        }
        interpreter
    }

    pub fn header(&self) -> Option<&Value> {
        self.header.as_ref()
    }

    pub fn context(&self) -> Option<&Value> {
        self.context.as_ref()
    }

    pub fn roles(&self) -> PacketRoles {
        self.roles
    }

    /// Index into [`Schema::streams`]; absent if the packet header does not lead to a stream class.
    pub fn stream(&self) -> Option<usize> {
        self.stream
    }

    /// The stream's clock, after what has been read so far. At the end of a packet it is `timestamp_end`.
    pub fn clock(&self) -> u64 {
        self.fields.clock
    }

    /// Bits from the beginning of the packet to the next event.
    pub fn bit_position(&self) -> u64 {
        self.fields.bits.position()
    }

    /// The trace's UUID as the packet header says it.
    pub fn uuid(&self) -> Option<Uuid> {
        let members = self.header.as_ref()?.members()?;
        let bytes: Vec<u8> = match members.get(self.schema.packet_header_uuid?)? {
            Value::Blob(bytes) => bytes.clone(),
            Value::Array(numbers) => numbers
                .iter()
                .map(|number| number.as_unsigned().and_then(|n| u8::try_from(n).ok()))
                .collect::<Option<_>>()?,
            _ => return None,
        };
        Some(Uuid(bytes.try_into().ok()?))
    }

    fn read_headers(&mut self) -> Result<(), StopReason> {
        self.header = self.fields.scope(self.schema.packet_header.as_ref())?;
        self.roles = self.fields.roles;
        let declared = self.schema.streams.len();
        let stream = match self.roles.stream_class_id {
            Some(id) => (self.schema.streams.iter())
                .position(|class| class.id == id)
                .ok_or(StopReason::UnknownStreamClass { id })?,
            None if declared == 1 => 0,
            None => return Err(StopReason::NoStreamClass { declared }),
        };
        self.stream = Some(stream);
        let context = self.schema.streams[stream].packet_context.as_ref();
        self.context = self.fields.scope(context)?;
        self.roles = self.fields.roles;
        self.limit_to_content()?;
        self.fields.keep_packet_slots();
        Ok(())
    }

    /// Of two sizes a missing one equals the other; without both the packet is all that there is.
    fn limit_to_content(&mut self) -> Result<(), StopReason> {
        let (content, packet) = (self.roles.content_size, self.roles.packet_size);
        if let Some(size) = packet.filter(|size| !size.is_multiple_of(8)) {
            return Err(StopReason::PacketSizeNotInBytes { size });
        }
        if let (Some(content), Some(packet)) = (content, packet)
            && content > packet
        {
            return Err(StopReason::ContentLargerThanPacket { content, packet });
        }
        let Some(content) = content.or(packet) else {
            return Ok(());
        };
        if content < self.bit_position() {
            return Err(StopReason::ContentEndsInHeaders { content });
        }
        self.content_size = content;
        self.fields.bits.set_end(content);
        Ok(())
    }

    fn read_event(&mut self, stream: usize) -> Result<Event, StopReason> {
        let class = &self.schema.streams[stream];
        let begin = self.bit_position();
        self.fields.begin_event();
        let header = self.fields.scope(class.event_header.as_ref())?;
        self.fields.bits.forget_order();
        let declared = class.events.len();
        let event = match self.fields.event_id {
            Some(id) => class.events.iter().position(|event| event.id == id).ok_or(
                StopReason::UnknownEventClass {
                    stream_class: class.id,
                    id,
                },
            )?,
            None if declared == 1 => 0,
            None => {
                return Err(StopReason::NoEventClass {
                    stream_class: class.id,
                    declared,
                });
            }
        };
        let event_class = &class.events[event];
        let clock = Cycles(self.fields.clock);
        let common_context = self.fields.scope(class.event_context.as_ref())?;
        let specific_context = self.fields.scope(event_class.context.as_ref())?;
        let payload = self.fields.scope(event_class.payload.as_ref())?;
        let end = self.bit_position();
        if begin == end {
            return Err(StopReason::EmptyEvent);
        }
        Ok(Event {
            stream,
            event,
            clock,
            header,
            common_context,
            specific_context,
            payload,
            begin,
            end,
        })
    }

    fn stop_here(&self, reason: StopReason) -> Stop {
        Stop {
            position: self.bit_position(),
            reason,
        }
    }
}

impl Iterator for Interpreter<'_> {
    type Item = Result<Event, Stop>;

    fn next(&mut self) -> Option<Result<Event, Stop>> {
        if self.finished {
            return None;
        }
        let read = match (self.stop.take(), self.stream) {
            (Some(stop), _) => Err(stop),
            (None, None) => return None,
            (None, Some(stream)) if self.fields.bits.remaining() > 0 => self
                .read_event(stream)
                .map_err(|reason| self.stop_here(reason)),
            (None, Some(_)) if self.content_size > self.fields.bits.end() => {
                Err(self.stop_here(StopReason::PacketIsCut {
                    content: self.content_size,
                }))
            }
            (None, Some(_)) => {
                self.finished = true;
                // A tracer that crashed has not written the end.
                if let Some(end) = self.roles.timestamp_end.filter(|end| *end != 0) {
                    self.fields.clock = end;
                }
                return None;
            }
        };
        self.finished = read.is_err();
        Some(read)
    }
}

/// The least number of bits that a value of this class has, padding not counted.
fn minimum_bits(class: &FieldClass) -> u64 {
    let sum = |sum: u64, class| sum.saturating_add(minimum_bits(class));
    let unknown = |_| 0;
    match class {
        FieldClass::String { encoding } => encoding.unit() as u64 * 8,
        FieldClass::Text { length, .. } | FieldClass::Blob { length, .. } => {
            length.of(unknown).saturating_mul(8)
        }
        FieldClass::Struct(structure) => {
            let members = structure.members.iter().map(|member| &member.class);
            members.fold(0, sum)
        }
        FieldClass::Array {
            length, element, ..
        } => length.of(unknown).saturating_mul(minimum_bits(element)),
        FieldClass::Optional { .. } => 0,
        FieldClass::Variant { options, .. } => {
            let least = options.iter().map(|option| minimum_bits(&option.class));
            least.min().unwrap_or(0)
        }
        // Integers of variable length have a byte at least.
        _ => class.bits().map_or(8, |bits| bits.size.into()),
    }
}

#[cfg(test)]
mod tests;
