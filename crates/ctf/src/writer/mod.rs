//! Writes Common Trace Format 1.8.
//!
//! A [`PacketWriter`] makes one packet of a stream. What is to be written is described by the same intermediate form that readers
//! use ([`Schema`](crate::schema::Schema)) and by [`Value`](crate::value::Value)s. Nothing here knows the time or makes up
//! identifiers: callers pass UUIDs and clock values.
//!
//! From the outside in: `packet` → `event_header` and `encode` (values) → `bits`.

mod bits;
mod encode;
mod error;
mod event_header;
mod metadata_packets;
mod packet;

pub use crate::packet::index::{IndexEntry, index_file};
pub use error::{Problem, WriteError};
pub use metadata_packets::metadata_packets;
pub(crate) use packet::says_size;
pub use packet::{EventRecord, FinishedPacket, Others, PacketEnd, PacketStart, PacketWriter};
