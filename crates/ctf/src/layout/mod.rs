//! Layouts: metadata compiled into where things are.
//!
//! Most of an event lies at offsets that are known before any event is seen. A [`Layout`] keeps those as *leaves*: a
//! place relative to an *anchor*, and how to read it. Anchor 0 is the first bit behind the event header; a new anchor begins
//! behind each thing whose size only the data knows (a string, a sequence, an alignment from an unknown
//! position), and [`Step`]s say how to get from one anchor to the next. So the size of an event costs one addition if
//! it has no such thing, and reading one field costs nothing for the others.
//!
//! `compile` makes layouts, with what `phase` and `slots` know of positions and registers; `run` follows them; `header` knows the
//! shapes of event headers. What has no fast way is read field by field (`decode`), all numbers bit by bit (`bits`).

pub(crate) mod bits;
mod compile;
pub(crate) mod decode;
mod header;
mod phase;
mod run;
mod slots;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::schema::{Encoding, FieldClass, Length, Range as ValueRange, Schema, Slot, Struct};

pub use bits::Codec;
pub use decode::DecodeError;
pub(crate) use header::Header;
pub use run::{List, Raw};
pub(crate) use run::{PacketContent, within};

/// Where the fields of one event class are.
#[derive(Debug)]
pub struct Layout {
    pub(crate) block: Block,
    /// The size in bits of every event of this class behind its header, if all have the same.
    constant: Option<u64>,
    /// The class has bit fields of which only the data knows whether they are legal: decoded field by field.
    pub(crate) irregular: bool,
    /// Registers to clear before an event of this class.
    pub(crate) slots: Range<usize>,
    /// Every field that can be reached, in the order of the data.
    pub leaves: Vec<Leaf>,
    /// The size in bits of the common context, if it is known and begins with the body.
    context_bits: Option<u64>,
    /// The scopes in the order of the data: common context, specific context, payload.
    pub(crate) scopes: Vec<(Scope, Arc<Struct>)>,
}

/// The part of an event that a field belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    CommonContext,
    SpecificContext,
    Payload,
}

/// One field that has a place.
#[derive(Debug, Clone)]
pub struct Leaf {
    pub scope: Scope,
    /// Display names of the members that lead to it, joined by dots.
    pub name: Arc<str>,
    pub class: FieldClass,
    pub(crate) place: BitOffset,
    pub shape: LeafType,
}

/// `offset` bits behind an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitOffset {
    pub(crate) anchor: u32,
    pub(crate) offset: u64,
}

/// How the bits of a leaf become a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafType {
    /// An integer, an enumeration, a boolean, bits.
    Number(Codec),
    Float(Codec),
    Variable {
        signed: bool,
    },
    /// Ends one code unit before the next anchor.
    String(Encoding),
    /// A text of so many bytes, or (if not fixed) up to the next anchor.
    Text {
        fixed: Option<u64>,
        encoding: Encoding,
    },
    Blob {
        fixed: Option<u64>,
    },
    /// Numbers or floats, one every `stride` bits.
    List {
        fixed: Option<u64>,
        stride: u64,
        codec: Codec,
        float: bool,
    },
    /// A variant, an optional field or an array of compounds: read by decoding the event field by field.
    Nested,
}

/// Steps, then `tail` bits of known size.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) steps: Vec<Step>,
    pub(crate) tail: u64,
}

/// What to do between two anchors. `skip` is the distance from the last anchor.
#[derive(Debug)]
pub(crate) enum Step {
    /// Keep a number for later; no new anchor.
    Save {
        offset: u64,
        codec: Codec,
        slot: Slot,
        boolean: bool,
    },
    /// A field in a context or payload that advances the clock; no new anchor.
    Clock {
        offset: u64,
        codec: Codec,
    },
    /// Two fields of different byte order meet inside a byte.
    Mixed,
    Align {
        skip: u64,
        align: u64,
    },
    String {
        skip: u64,
        encoding: Encoding,
    },
    Variable {
        skip: u64,
        signed: bool,
        slot: Option<Slot>,
        clock: bool,
    },
    /// `length` times `stride` bits.
    Run {
        skip: u64,
        length: Slot,
        stride: u64,
    },
    /// Elements whose size only the data knows.
    Loop {
        skip: u64,
        length: Length,
        least: u64,
        element: Block,
    },
    Variant {
        skip: u64,
        selector: Slot,
        signed: bool,
        options: Vec<(Vec<ValueRange>, Block)>,
    },
    Optional {
        skip: u64,
        selector: Slot,
        signed: bool,
        ranges: Option<Vec<ValueRange>>,
        block: Block,
    },
}

/// The layouts of one stream class.
#[derive(Debug)]
pub(crate) struct StreamLayout {
    pub(crate) header: Header,
    pub(crate) events: Vec<Layout>,
    by_id: ById,
}

#[derive(Debug)]
enum ById {
    /// The header has no id: the class of all events, if there is only one.
    Unnamed(Option<u32>),
    Table(Vec<Known>),
    Map(std::collections::HashMap<u64, u32>),
}

/// What the loop over events needs of a class, side by side: its index, and its size if all its events have the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) class: u32,
    /// In bits behind the header; [`Known::VARYING`] if only the data knows it.
    pub(crate) size: u64,
}

impl Known {
    pub(crate) const VARYING: u64 = u64::MAX;
    const NOTHING: Known = Known {
        class: NONE,
        size: Known::VARYING,
    };

    fn of(class: u32, layout: &Layout) -> Known {
        Known {
            class,
            size: layout.constant.unwrap_or(Known::VARYING),
        }
    }
}

/// Event ids above this are looked up in a map.
const LARGEST_TABLE: u64 = 1 << 17;
const NONE: u32 = u32::MAX;

impl Leaf {
    /// The text of a string or text leaf, whose bytes [`Raw::Bytes`] holds, as UTF-8.
    pub fn to_utf8<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        match self.shape {
            LeafType::String(encoding) | LeafType::Text { encoding, .. }
                if encoding != Encoding::Utf8 =>
            {
                Cow::Owned(crate::text::to_utf8(bytes, encoding))
            }
            _ => Cow::Borrowed(bytes),
        }
    }
}

impl StreamLayout {
    pub(crate) fn new(schema: &Schema, stream: usize) -> StreamLayout {
        let class = &schema.streams[stream];
        let (header, phase) = Header::new(class);
        let events: Vec<Layout> = (class.events.iter())
            .map(|event| compile::event(class, event, phase))
            .collect();
        let has_id = (class.event_header.as_ref()).is_some_and(header::has_event_id);
        let ids = class.events.iter().map(|event| event.id);
        let largest = ids.clone().max().unwrap_or(0);
        let numbered = ids.zip(0u32..);
        let by_id = if !has_id {
            ById::Unnamed((class.events.len() == 1).then_some(0))
        } else if largest < LARGEST_TABLE {
            let mut table = vec![Known::NOTHING; largest as usize + 1];
            for (id, index) in numbered {
                table[id as usize] = Known::of(index, &events[index as usize]);
            }
            ById::Table(table)
        } else {
            ById::Map(numbered.collect())
        };
        StreamLayout {
            header,
            events,
            by_id,
        }
    }

    /// The event class with this id.
    #[inline(always)]
    pub(crate) fn class_of(&self, id: u64) -> Option<Known> {
        match &self.by_id {
            ById::Table(table) => table
                .get(id as usize)
                .copied()
                .filter(|known| known.class != NONE),
            other => self.class_of_unusual(other, id),
        }
    }

    #[inline(never)]
    fn class_of_unusual(&self, by_id: &ById, id: u64) -> Option<Known> {
        let class = match by_id {
            ById::Table(_) => None,
            ById::Unnamed(only) => *only,
            ById::Map(map) => map.get(&id).copied(),
        };
        class.map(|class| Known::of(class, &self.events[class as usize]))
    }
}

impl Layout {
    /// The leaf of this name: in the payload first, then in the contexts.
    pub fn leaf(&self, name: &str) -> Option<usize> {
        [Scope::Payload, Scope::SpecificContext, Scope::CommonContext]
            .into_iter()
            .find_map(|scope| {
                let mut leaves = self.leaves.iter();
                leaves.position(|leaf| leaf.scope == scope && &*leaf.name == name)
            })
    }

    /// The bytes at the start of the body that the common context occupies, if all events have the same number.
    pub fn context_bytes(&self) -> Option<usize> {
        self.context_bits
            .filter(|bits| bits.is_multiple_of(8))
            .map(|bits| (bits / 8) as usize)
    }

    /// Whether every leaf can be read where it is.
    pub fn is_flat(&self) -> bool {
        let mut leaves = self.leaves.iter();
        leaves.all(|leaf| leaf.shape != LeafType::Nested)
    }
}
