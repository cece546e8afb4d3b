//! Field classes: the shapes that values have in a packet.
//!
//! One enum serves CTF 1.8 and CTF 2. Sizes and alignments are in bits; alignments are *effective*: that of a
//! structure already includes its members, that of an array its elements.

use std::sync::Arc;

/// The shape of one value.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldClass {
    /// Integers and enumerations.
    Integer(Integer),
    /// IEEE 754 binary32 or binary64, by the size of the bit field.
    Float(BitField),
    /// True if any bit is set. The slot serves optional fields.
    Boolean {
        bits: BitField,
        slot: Option<Slot>,
    },
    /// Bits without a meaning as a number.
    BitArray(BitField),
    /// Bits with names.
    BitMap {
        bits: BitField,
        flags: Arc<[Flag]>,
    },
    /// Code units up to a zero code unit.
    String {
        encoding: Encoding,
    },
    /// A number of *bytes*; the text ends before its first NUL, the rest is skipped. CTF 1.8: arrays and
    /// sequences of 8-bit, byte-aligned integers that have an encoding.
    Text {
        length: Length,
        encoding: Encoding,
    },
    /// A number of bytes with no meaning to us.
    Blob {
        length: Length,
        media_type: Option<Arc<str>>,
    },
    Struct(Struct),
    /// Arrays and sequences; aligned even when empty.
    Array {
        length: Length,
        align: u32,
        element: Box<FieldClass>,
    },
    /// Present if the selector is non-zero (`ranges` absent) or within one of the ranges.
    Optional {
        selector: Slot,
        selector_signed: bool,
        ranges: Option<Vec<Range>>,
        class: Box<FieldClass>,
    },
    /// The first option that has the selector's value in one of its ranges.
    Variant {
        selector: Slot,
        selector_signed: bool,
        options: Vec<VariantOption>,
    },
}

/// Where a field's bits lie and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitField {
    /// 1 to 64.
    pub size: u8,
    /// A power of two.
    pub align: u32,
    pub order: ByteOrder,
    /// CTF 2: the bit order is not the natural one of the byte order, so the value is mirrored.
    pub reversed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    Little,
    Big,
}

/// An integer, with labels an enumeration.
#[derive(Debug, Clone, PartialEq)]
pub struct Integer {
    pub form: IntegerForm,
    pub signed: bool,
    pub base: Base,
    pub mappings: Option<Arc<Mappings>>,
    pub role: Option<Role>,
    /// Decoding it advances the stream's clock. Never set for [`Role::TimestampEnd`], which takes effect
    /// at the end of the packet.
    pub updates_clock: bool,
    /// Where to leave the value for the lengths and selectors that refer to this field.
    pub slot: Option<Slot>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerForm {
    Fixed(BitField),
    /// LEB128, aligned to a byte.
    Variable,
}

/// The base in which people want to see the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base {
    Binary,
    Octal,
    #[default]
    Decimal,
    Hexadecimal,
}

named! {
/// What the format itself wants to know from a field; the names are those that CTF 1.8 reserves for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    PacketMagic = "magic",
    StreamClassId = "stream_id",
    StreamInstanceId = "stream_instance_id",
    PacketSize = "packet_size",
    ContentSize = "content_size",
    TimestampBegin = "timestamp_begin",
    TimestampEnd = "timestamp_end",
    EventsDiscarded = "events_discarded",
    PacketSequence = "packet_seq_num",
    /// Event header; the last one decoded wins.
    EventId = "id",
    /// Event header.
    Timestamp = "timestamp",
}
}

/// A register that carries a decoded integer from a field to the fields whose length or presence it
/// decides. Signed values are sign-extended to 64 bits, booleans are 0 or 1.
///
/// Slots are numbered so that fields that are alive together never share one: packet header, packet context, event
/// header and common context of a stream class are numbered one after the other, and each event class goes on
/// from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Fixed(u64),
    Slot(Slot),
}

/// The labels of an enumeration, in the order of first declaration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mappings {
    pub labels: Vec<Label>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub name: String,
    pub ranges: Vec<Range>,
}

/// Both ends belong to it. Wide enough for the whole of `u64` and `i64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub low: i128,
    pub high: i128,
}

/// A name for some bits of a bit map; bit 0 is the least significant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    pub name: String,
    pub mask: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    #[default]
    Utf8,
    Utf16Le,
    Utf16Be,
    Utf32Le,
    Utf32Be,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Struct {
    pub members: Vec<Member>,
    /// At least 1.
    pub align: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// As people see it. In CTF 1.8 without the one leading underscore that producers prefix.
    pub name: Arc<str>,
    /// As the metadata spells it.
    pub original_name: Arc<str>,
    pub class: FieldClass,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VariantOption {
    pub name: Arc<str>,
    pub original_name: Arc<str>,
    pub ranges: Vec<Range>,
    pub class: FieldClass,
}

impl FieldClass {
    /// The bits of everything that has a fixed number of them and is no compound.
    pub fn bits(&self) -> Option<BitField> {
        match self {
            FieldClass::Integer(integer) => integer.bits(),
            FieldClass::Float(bits)
            | FieldClass::BitArray(bits)
            | FieldClass::Boolean { bits, .. }
            | FieldClass::BitMap { bits, .. } => Some(*bits),
            _ => None,
        }
    }

    /// The alignment, in bits, that the cursor must have before this field.
    ///
    /// Optional fields and variants have none: what they contain aligns itself when it exists.
    pub fn alignment(&self) -> u32 {
        match self {
            FieldClass::Struct(structure) => structure.align,
            FieldClass::Array { align, .. } => *align,
            FieldClass::Optional { .. } | FieldClass::Variant { .. } => 1,
            _ => self.bits().map_or(8, |bits| bits.align),
        }
    }

    /// The slot in which it leaves its value.
    pub fn slot(&self) -> Option<Slot> {
        match self {
            FieldClass::Integer(integer) => integer.slot,
            FieldClass::Boolean { slot, .. } => *slot,
            _ => None,
        }
    }

    /// The slot that its own length, presence or choice depends on.
    pub fn depends_on(&self) -> Option<Slot> {
        match self {
            FieldClass::Text { length, .. }
            | FieldClass::Blob { length, .. }
            | FieldClass::Array { length, .. } => match length {
                Length::Fixed(_) => None,
                Length::Slot(slot) => Some(*slot),
            },
            FieldClass::Optional { selector, .. } | FieldClass::Variant { selector, .. } => {
                Some(*selector)
            }
            _ => None,
        }
    }

    /// It and everything in it, in the order of decoding.
    pub fn all(&self) -> Vec<&FieldClass> {
        fn collect<'c>(class: &'c FieldClass, all: &mut Vec<&'c FieldClass>) {
            all.push(class);
            match class {
                FieldClass::Struct(structure) => {
                    (structure.members.iter()).for_each(|member| collect(&member.class, all));
                }
                FieldClass::Array { element: inner, .. }
                | FieldClass::Optional { class: inner, .. } => collect(inner, all),
                FieldClass::Variant { options, .. } => {
                    (options.iter()).for_each(|option| collect(&option.class, all));
                }
                _ => {}
            }
        }
        let mut all = Vec::new();
        collect(self, &mut all);
        all
    }

    /// Whether people want to see it: fields that serve the format alone (times, ids, sizes) are hidden unless
    /// another field depends on them, and so is a structure in which everything is hidden.
    pub fn is_shown(&self) -> bool {
        match self {
            FieldClass::Integer(integer) => {
                integer.slot.is_some() || (integer.role.is_none() && !integer.updates_clock)
            }
            FieldClass::Struct(structure) => {
                structure.members.is_empty()
                    || (structure.members.iter()).any(|member| member.class.is_shown())
            }
            _ => true,
        }
    }
}

impl BitField {
    /// With its bits in the natural order.
    pub fn new(size: u8, align: u32, order: ByteOrder) -> BitField {
        BitField {
            size,
            align,
            order,
            reversed: false,
        }
    }
}

impl Integer {
    /// Nothing if its length varies.
    pub fn bits(&self) -> Option<BitField> {
        match self.form {
            IntegerForm::Fixed(bits) => Some(bits),
            IntegerForm::Variable => None,
        }
    }
}

/// The number that a slot holds.
pub(crate) fn with_sign(raw: u64, signed: bool) -> i128 {
    match signed {
        true => i128::from(raw as i64),
        false => i128::from(raw),
    }
}

impl Length {
    /// The number itself; `load` knows what is in a slot.
    #[inline]
    pub fn of(self, load: impl FnOnce(Slot) -> u64) -> u64 {
        match self {
            Length::Fixed(length) => length,
            Length::Slot(slot) => load(slot),
        }
    }
}

impl Mappings {
    /// The labels that a value has, in the order of declaration.
    pub fn labels_of(&self, value: i128) -> impl Iterator<Item = &str> {
        self.labels
            .iter()
            .filter(move |label| Range::any(&label.ranges, value))
            .map(|label| label.name.as_str())
    }
}

impl Range {
    pub fn contains(&self, value: i128) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn any(ranges: &[Range], value: i128) -> bool {
        ranges.iter().any(|range| range.contains(value))
    }
}

impl Encoding {
    /// Bytes in one code unit.
    pub fn unit(self) -> usize {
        match self {
            Encoding::Utf8 => 1,
            Encoding::Utf16Le | Encoding::Utf16Be => 2,
            Encoding::Utf32Le | Encoding::Utf32Be => 4,
        }
    }
}

impl Struct {
    /// Everything in it, in the order of decoding.
    pub fn all(&self) -> impl Iterator<Item = &FieldClass> {
        self.members.iter().flat_map(|member| member.class.all())
    }

    /// The member with this display name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| &*member.name == name)
    }
}
