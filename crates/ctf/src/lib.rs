//! Reads Common Trace Format 1.8 and 2, writes CTF 1.8.

mod bits;
mod cursor;
mod damage;
mod decode;
mod decoder;
mod error;
mod folder;
mod layout;
mod loss;
pub mod metadata;
mod packet;
mod parallel;
pub mod schema;
mod selection;
mod stream;
mod survey;
mod time;
mod trace;
mod value;
mod walk;

pub use bits::Codec;
pub use cursor::{Cursor, EventView};
pub use damage::{Damage, DamageKind};
pub use decode::Trouble;
pub use error::Error;
pub use layout::{Layout, Leaf, List, Place, Raw, Scope, Shape};
pub use loss::Loss;
pub use packet::Packet;
pub use selection::Selection;
pub use stream::Stream;
pub use survey::{ClassSurvey, ProcessSurvey, StreamSurvey, Survey};
pub use time::{Conversion, TimeBase};
pub use trace::{StreamId, Trace, TraceSet};
pub use value::Value;
pub use walk::{Event, Walker};
