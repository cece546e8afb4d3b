//! The intermediate form: what a trace's metadata says, whatever language it was written in.
//!
//! TSDL (CTF 1.8) and JSON (CTF 2) are both read into a [`Schema`]. From here on nobody needs to know which
//! it was: reserved names have become [`Role`]s, alignments are effective, and every reference from a
//! length or a selector to an earlier field has become a [`Slot`]. The decoder is compiled from this form
//! (`layout`), the slow interpreter that the tests compare it with walks it directly (`interpret`), and the writer
//! prints it as TSDL (`writer`).

mod clock;
mod field;

use std::cmp::Ordering;

pub use clock::{Clock, Origin, updated_clock};
pub(crate) use field::with_sign;
pub use field::{
    Base, BitField, ByteOrder, Encoding, FieldClass, Flag, Integer, IntegerForm, Label, Length,
    Mappings, Member, Range, Role, Slot, Struct, VariantOption,
};
pub use rostrace_base::time::{Cycles, Nanos};

/// Sixteen bytes that identify a trace or a clock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub [u8; 16]);

/// Everything that the metadata of one trace folder says.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub version: Version,
    /// CTF 1.8: the trace's `uuid`. CTF 2: the metadata stream's `uuid` of the preamble.
    pub uuid: Option<Uuid>,
    /// CTF 2: namespace, name and uid of the trace class. All empty in CTF 1.8.
    pub identity: Identity,
    /// CTF 1.8: the trace's `byte_order`. In CTF 2 every field says its own and this is little-endian.
    pub byte_order: ByteOrder,
    /// `env` in the order of first appearance; a repeated name has its last value.
    pub environment: Vec<(String, EnvironmentValue)>,
    pub clocks: Vec<Clock>,
    pub packet_header: Option<Struct>,
    /// The member of the packet header that holds the UUID: sixteen 8-bit integers or a BLOB of 16.
    pub packet_header_uuid: Option<usize>,
    /// In the order of declaration; ids are unique.
    pub streams: Vec<StreamClass>,
    /// One more than the largest slot in use: the number of registers that a decoder needs.
    pub slots: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Ctf1,
    Ctf2,
}

/// The identity that CTF 2 gives to traces, streams and events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    pub namespace: Option<String>,
    pub name: Option<String>,
    pub uid: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentValue {
    Integer(i64),
    Text(String),
}

/// A kind of data stream: in LTTng a channel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamClass {
    pub id: u64,
    pub identity: Identity,
    /// Index into [`Schema::clocks`].
    pub clock: Option<usize>,
    pub packet_context: Option<Struct>,
    pub event_header: Option<Struct>,
    /// The context that all events of the stream share.
    pub event_context: Option<Struct>,
    /// In the order of declaration; ids are unique within the stream class.
    pub events: Vec<EventClass>,
}

/// A kind of event: in ROS 2 a tracepoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventClass {
    pub id: u64,
    /// Absent in CTF 2 only.
    pub name: Option<String>,
    /// LTTng's numbers: 0 (emergency) to 14 (debug).
    pub log_level: Option<u8>,
    pub emf_uri: Option<String>,
    /// The context of this event class alone.
    pub context: Option<Struct>,
    pub payload: Option<Struct>,
}

impl EventClass {
    /// Which of two events comes first when neither time nor stream tells.
    pub fn compare(&self, other: &EventClass) -> Ordering {
        (self.id, &self.name)
            .cmp(&(other.id, &other.name))
            .then(self.log_level.is_none().cmp(&other.log_level.is_none()))
            .then(self.log_level.cmp(&other.log_level))
            .then_with(|| self.emf_uri.cmp(&other.emf_uri))
    }
}

impl Schema {
    /// The environment's entry of this name, if it is a text.
    pub fn environment_text(&self, name: &str) -> Option<&str> {
        self.environment.iter().find_map(|(n, value)| match value {
            EnvironmentValue::Text(text) if n == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// The environment's entry of this name, if it is a number.
    pub fn environment_integer(&self, name: &str) -> Option<i64> {
        self.environment.iter().find_map(|(n, value)| match value {
            EnvironmentValue::Integer(number) if n == name => Some(*number),
            _ => None,
        })
    }

    /// How much this metadata declares. Of several versions of one trace's metadata, the one that
    /// declares most is the newest: tracers only ever add.
    pub fn declarations(&self) -> usize {
        let declared = |stream: &StreamClass| 1 + stream.events.len();
        self.streams.iter().map(declared).sum()
    }
}

impl std::fmt::Display for Uuid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Uuid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
