//! The syntax tree that both languages become. Lengths and selectors still refer to other fields by name.
//!
//! A class is shared by everything that uses its type, so a text of a few lines can describe a tree of any size. That
//! tree exists only after `build` has lowered it, which counts what it makes.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::error::{Position, Result};
use crate::schema::{
    Base, BitField, ByteOrder, Clock, Encoding, EnvironmentValue, Flag, Identity, IntegerForm,
    Mappings, Range, Uuid, Version,
};

/// How deep fields may be nested in each other.
const MAX_DEPTH: u32 = 100;

#[derive(Debug)]
pub(super) struct AstClass {
    pub(super) kind: AstKind,
    /// Levels of fields, this one included. Bounded, so that recursion over classes is too.
    depth: u32,
}

#[derive(Debug)]
pub(super) enum AstKind {
    Integer(AstInteger),
    Float(BitField),
    Boolean(BitField),
    BitArray(BitField),
    BitMap {
        bits: BitField,
        flags: Arc<[Flag]>,
    },
    String(Encoding),
    Text {
        length: AstLength,
        encoding: Encoding,
    },
    Blob {
        length: AstLength,
        media_type: Option<Arc<str>>,
        /// CTF 2: it has the role `metadata-stream-uuid`.
        is_uuid: bool,
    },
    Structure(AstStruct),
    Array {
        length: AstLength,
        minimum_align: u32,
        element: Rc<AstClass>,
    },
    Optional {
        selector: Reference,
        /// CTF 2: required for integers, forbidden for booleans.
        ranges: Option<Vec<Range>>,
        class: Rc<AstClass>,
    },
    Variant {
        selector: Reference,
        options: Rc<[AstOption]>,
    },
}

#[derive(Debug, Clone)]
pub(super) struct AstInteger {
    pub(super) form: IntegerForm,
    pub(super) signed: bool,
    pub(super) base: Base,
    pub(super) labels: Option<Rc<Labels>>,
    /// CTF 1.8: the clock that it is mapped to.
    pub(super) clock: Option<usize>,
    /// CTF 1.8: arrays of it are text.
    pub(super) is_character: bool,
    /// CTF 2: what `roles` says.
    pub(super) role: Option<&'static str>,
}

/// The mappings of an enumeration, and where each label is.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) mappings: Arc<Mappings>,
    index: HashMap<String, usize>,
}

#[derive(Debug)]
pub(super) enum AstLength {
    Fixed(u64),
    Field(Reference),
}

#[derive(Debug)]
pub(super) struct AstStruct {
    pub(super) members: Vec<AstMember>,
    pub(super) minimum_align: u32,
    index: HashMap<Arc<str>, usize>,
}

#[derive(Debug)]
pub(super) struct AstMember {
    pub(super) name: Arc<str>,
    pub(super) original_name: Arc<str>,
    pub(super) at: Position,
    pub(super) class: Rc<AstClass>,
}

#[derive(Debug)]
pub(super) struct AstOption {
    pub(super) name: Arc<str>,
    pub(super) original_name: Arc<str>,
    /// CTF 2; in CTF 1.8 the labels of the tag decide.
    pub(super) ranges: Option<Vec<Range>>,
    pub(super) at: Position,
    pub(super) class: Rc<AstClass>,
}

/// A field that another field names.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    pub(super) at: Position,
    pub(super) origin: ReferenceOrigin,
    /// At least one.
    pub(super) names: Rc<[String]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceOrigin {
    /// The root of a scope.
    Scope(RootScope),
    /// CTF 1.8: the innermost enclosing structure that has the first name before the referrer.
    Search,
    /// CTF 2: the structure this many levels above the one that contains the referrer.
    Up(usize),
}

named! {
/// The root structures, in the order of decoding, as messages call them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RootScope {
    PacketHeader = "packet header",
    PacketContext = "packet context",
    EventHeader = "event header",
    CommonContext = "common event context",
    SpecificContext = "event's own context",
    Payload = "event payload",
}
}

/// A root structure and where it is declared.
pub(super) type Root = Option<Rc<AstClass>>;

/// Everything that the metadata declares.
#[derive(Debug)]
pub(super) struct AstTrace {
    pub(super) version: Version,
    pub(super) uuid: Option<Uuid>,
    pub(super) identity: Identity,
    pub(super) byte_order: ByteOrder,
    pub(super) environment: Vec<(String, EnvironmentValue)>,
    pub(super) clocks: Vec<Clock>,
    pub(super) packet_header: Root,
    pub(super) streams: Vec<AstStream>,
}

#[derive(Debug)]
pub(super) struct AstStream {
    pub(super) at: Position,
    pub(super) id: u64,
    pub(super) identity: Identity,
    /// CTF 2: the default clock.
    pub(super) clock: Option<usize>,
    pub(super) packet_context: Root,
    pub(super) event_header: Root,
    pub(super) event_context: Root,
    pub(super) events: Vec<AstEvent>,
}

#[derive(Debug)]
pub(super) struct AstEvent {
    pub(super) id: u64,
    pub(super) name: Option<String>,
    pub(super) log_level: Option<u8>,
    pub(super) emf_uri: Option<String>,
    pub(super) context: Root,
    pub(super) payload: Root,
}

impl AstClass {
    pub(super) fn new(kind: AstKind, at: Position) -> Result<Rc<AstClass>> {
        let below = match &kind {
            AstKind::Structure(structure) => {
                (structure.members.iter()).fold(0, |most, member| most.max(member.class.depth))
            }
            AstKind::Array { element: inner, .. } | AstKind::Optional { class: inner, .. } => {
                inner.depth
            }
            AstKind::Variant { options, .. } => {
                (options.iter()).fold(0, |most, option| most.max(option.class.depth))
            }
            _ => 0,
        };
        if below >= MAX_DEPTH {
            return Err(at.error(format!(
                "this field is nested deeper than {MAX_DEPTH} levels, which no tracer writes"
            )));
        }
        Ok(Rc::new(AstClass {
            kind,
            depth: below + 1,
        }))
    }

    pub(super) fn structure(&self) -> Option<&AstStruct> {
        match &self.kind {
            AstKind::Structure(structure) => Some(structure),
            _ => None,
        }
    }

    pub(super) fn integer(&self) -> Option<&AstInteger> {
        match &self.kind {
            AstKind::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// What to call it in a message.
    pub(super) fn description(&self) -> &'static str {
        match &self.kind {
            AstKind::Integer(AstInteger {
                labels: Some(_), ..
            }) => "an enumeration",
            AstKind::Integer(AstInteger { signed: true, .. }) => "a signed integer",
            AstKind::Integer(_) => "an unsigned integer",
            AstKind::Float(_) => "a floating-point number",
            AstKind::Boolean(_) => "a boolean",
            AstKind::BitArray(_) => "a bit array",
            AstKind::BitMap { .. } => "a bit map",
            AstKind::String(_) | AstKind::Text { .. } => "a text",
            AstKind::Blob { .. } => "a BLOB",
            AstKind::Structure(_) => "a structure",
            AstKind::Array { .. } => "an array",
            AstKind::Optional { .. } => "an optional field",
            AstKind::Variant { .. } => "a variant",
        }
    }
}

impl AstStruct {
    /// Fails when two members have the same original name.
    pub(super) fn new(members: Vec<AstMember>, minimum_align: u32) -> Result<AstStruct> {
        let mut index = HashMap::with_capacity(members.len());
        for (i, member) in members.iter().enumerate() {
            if index.insert(Arc::clone(&member.original_name), i).is_some() {
                return Err(member.at.error(format!(
                    "the structure already has a member named '{}'",
                    member.original_name
                )));
            }
        }
        Ok(AstStruct {
            members,
            minimum_align,
            index,
        })
    }

    /// The position of the member with this original name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }
}

impl Labels {
    pub(super) fn new(mappings: Mappings) -> Labels {
        let index = mappings
            .labels
            .iter()
            .enumerate()
            .map(|(i, label)| (label.name.clone(), i))
            .collect();
        Labels {
            mappings: Arc::new(mappings),
            index,
        }
    }

    pub(super) fn ranges(&self, label: &str) -> &[Range] {
        self.index
            .get(label)
            .and_then(|&i| self.mappings.labels.get(i))
            .map_or(&[], |label| label.ranges.as_slice())
    }
}

impl AstStream {
    /// A stream class that says nothing.
    pub(super) fn implicit(at: Position) -> AstStream {
        AstStream {
            at,
            id: 0,
            identity: Identity::default(),
            clock: None,
            packet_context: None,
            event_header: None,
            event_context: None,
            events: Vec::new(),
        }
    }
}

impl AstStream {
    /// Packet context, event header, common context.
    pub(super) fn roots(&self) -> [Option<&AstClass>; 3] {
        [
            &self.packet_context,
            &self.event_header,
            &self.event_context,
        ]
        .map(Option::as_deref)
    }
}

impl AstEvent {
    /// Context and payload.
    pub(super) fn roots(&self) -> [Option<&AstClass>; 2] {
        [&self.context, &self.payload].map(Option::as_deref)
    }
}

impl Reference {
    pub(super) fn new(at: Position, origin: ReferenceOrigin, names: Vec<String>) -> Reference {
        Reference {
            at,
            origin,
            names: names.into(),
        }
    }

    /// As a message shows it.
    pub(super) fn text(&self) -> String {
        self.names.join(".")
    }
}

impl std::fmt::Display for RootScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
