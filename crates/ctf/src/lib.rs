//! Reads Common Trace Format 1.8 and 2, writes CTF 1.8.
//!
//! A [`TraceSet`] is one or more traces found below folders, read as one. There are two ways through it: a [`Cursor`] yields
//! events in the order of time in constant memory, and a [`Survey`] decodes everything on all processors and counts. Whatever is broken or missing becomes [`Damage`] rows; nothing of it stops the
//! reading of the rest.
//!
//! ```no_run
//! use rostrace_ctf::{Conversion, Cursor, TraceSet};
//!
//! let set = TraceSet::open(&["session"])?;
//! let mut cursor = Cursor::new(&set, Conversion::Exact);
//! while let Some(event) = cursor.next() {
//!     println!("{:?} {:?}", event.nanos(), event.class().name);
//! }
//! # Ok::<(), rostrace_ctf::Error>(())
//! ```
//!
//! Metadata in either language becomes a [`schema::Schema`]; layouts are compiled from it (`layout`). [`writer`] writes traces, [`Cut`] makes smaller ones.

mod bits;
pub mod clock_update;
mod cursor;
mod cut;
mod damage;
mod decode;
mod decoder;
mod error;
mod folder;
pub mod input_file;
mod layout;
mod loss;
mod merge;
pub mod metadata;
mod packet;
mod parallel;
pub mod schema;
mod selection;
mod slice;
mod stream;
mod survey;
pub mod text;
mod time;
mod trace;
pub mod unpacked;
pub mod value;
mod walk;
pub mod writer;

pub use bits::Codec;
pub use cursor::{Cursor, EventView};
pub use cut::{Cut, CutError, CutReport};
pub use damage::{Damage, DamageKind, DamageRows, More};
pub use decode::DecodeError;
pub use error::Error;
pub use layout::{BitOffset, Layout, Leaf, LeafType, List, Raw, Scope};
pub use loss::Loss;
pub use packet::Packet;
pub use parallel::on_all_processors;
pub use selection::Selection;
pub use slice::slices;
pub use stream::Stream;
pub use survey::{ClassSurvey, ProcessSurvey, StreamSurvey, Survey};
pub use time::{Conversion, TimeBase};
pub use trace::{MissingStreams, Recording, StreamBytes, StreamId, Stretch, Trace, TraceSet};
pub use value::Value;
pub use walk::{Event, Walker};
