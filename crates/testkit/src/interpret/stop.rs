//! Why the interpreter stopped, and where.

/// The end of the interpreter's way through a packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at bit {position} of the packet: {reason}")]
pub struct Stop {
    /// The first bit of the field that could not be decoded, or where its padding began if that was too long.
    pub position: u64,
    pub reason: StopReason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    #[error("{needed} bits are needed, but only {available} are left")]
    NotEnoughBits { needed: u64, available: u64 },
    #[error("the text has no NUL before the end of the packet's content")]
    TextWithoutEnd,
    #[error(
        "a length of {length} does not fit in the {available} bits that are left of the packet"
    )]
    AbsurdLength { length: u64, available: u64 },
    #[error("more than {limit} array elements have no bits at all")]
    TooManyEmptyElements { limit: u64 },
    #[error("a field begins inside a byte that a field of the other byte order has begun")]
    MixedByteOrder,
    #[error("a variable-length integer does not fit in 64 bits")]
    Leb128TooLong,
    #[error("the variant has no option for the value {selector} of its selector")]
    VariantWithoutOption { selector: i128 },
    #[error("the metadata has no stream class with the id {id}")]
    UnknownStreamClass { id: u64 },
    #[error(
        "the packet does not say its stream class, and the metadata has {declared} of them instead of one"
    )]
    NoStreamClass { declared: usize },
    #[error("stream class {stream_class} has no event class with the id {id}")]
    UnknownEventClass { stream_class: u64, id: u64 },
    #[error(
        "the event does not say its class, and stream class {stream_class} has {declared} of them instead of one"
    )]
    NoEventClass { stream_class: u64, declared: usize },
    #[error("the event has no bits at all")]
    EmptyEvent,
    #[error("the packet's content of {content} bits is larger than its {packet} bits")]
    ContentLargerThanPacket { content: u64, packet: u64 },
    #[error("the packet's size of {size} bits is no whole number of bytes")]
    PacketSizeNotInBytes { size: u64 },
    #[error("the packet's content of {content} bits ends inside its own header or context")]
    ContentEndsInHeaders { content: u64 },
    #[error("the packet has {content} bits of content, but the file ends before that")]
    PacketIsCut { content: u64 },
    #[error("the metadata declares a field of {size} bits, which cannot be read")]
    UnsupportedSize { size: u8 },
}
