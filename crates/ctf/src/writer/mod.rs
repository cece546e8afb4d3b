//! Writes Common Trace Format 1.8.
//!
//! A [`TraceWriter`] makes the folder, a [`StreamWriter`] the packets of one stream, and [`tsdl`] the metadata. What is
//! to be written is described by the same intermediate form that readers use ([`Schema`](crate::schema::Schema)) and by
//! [`Value`](crate::value::Value)s; [`lttng`] builds schemas that look like LTTng's. Nothing here knows the time or
//! makes up identifiers: callers pass UUIDs and clock values.
//!
//! From the outside in: `trace` (folder) → `stream` (file) → `packet` → `event_header` and `encode` (values) → `bits`.

mod bits;
mod encode;
mod error;
mod event_header;
mod index;
pub mod lttng;
mod metadata_packets;
mod packet;
mod stream;
mod trace;
mod tsdl;

pub use bits::{BitWriter, Mark};
pub use encode::{Checkpoint, Encoder};
pub use error::{Problem, WriteError};
pub use index::{IndexEntry, index_file};
pub use metadata_packets::metadata_packets;
pub(crate) use packet::says_size;
pub use packet::{EventRecord, FinishedPacket, Others, PacketEnd, PacketStart, PacketWriter};
pub use stream::StreamWriter;
pub use trace::{MetadataForm, StreamFile, TraceOptions, TraceWriter};
pub(crate) use trace::{create_file, create_folder};
pub use tsdl::tsdl;
