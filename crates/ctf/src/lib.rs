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
//! The rooms, in the order in which data goes through them:
//!
//! | room | what is in it |
//! |---|---|
//! | [`metadata`] | TSDL and JSON become a schema |
//! | [`schema`] | what a trace declares: clocks, streams, events, fields |
//! | `layout` | a schema compiled into where each field lies, and how it is read |
//! | `packet` | the packets of a file, also of a damaged one |
//! | `trace` | files, streams and traces, with what is missing in them |
//! | `walk` | events: in the order of time ([`Cursor`]), counted ([`Survey`]), in [`slices`], selected |
//! | `trim` | a part of a trace becomes a smaller one |
//! | [`writer`] | values become packets |

/// An enumeration whose values have names for other programs, each declared beside its value.
macro_rules! named {
    ($(#[$about:meta])* $public:vis enum $type:ident {
        $($(#[$doc:meta])* $value:ident = $name:literal,)*
    }) => {
        $(#[$about])*
        $public enum $type { $($(#[$doc])* $value,)* }

        impl $type {
            $public const ALL: &[$type] = &[$($type::$value),*];

            $public fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)*
                }
            }
        }
    };
}

mod damage;
mod error;
mod layout;
pub mod metadata;
mod packet;
pub mod schema;
pub mod text;
mod trace;
mod trim;
pub mod value;
mod walk;
pub mod writer;

pub use damage::{Damage, DamageKind, DamageRows, More};
pub use error::Error;
pub use layout::{BitOffset, Codec, DecodeError, Layout, Leaf, LeafType, List, Raw, Scope};
pub use packet::Packet;
pub use trace::{Conversion, Loss, MissingStreams, Recording, Stream, StreamBytes, StreamId};
pub use trace::{Stretch, TimeBase, Trace, TraceSet, input_file, unpacked};
pub use trim::{Trim, TrimError, TrimReport};
pub use value::Value;
pub use walk::{ClassSurvey, Cursor, Event, EventView, ProcessSurvey, Selection, StreamSurvey};
pub use walk::{Survey, Walker, slices};
