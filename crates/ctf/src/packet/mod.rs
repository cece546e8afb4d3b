//! Packets: the independent pieces that a stream file consists of.
//!
//! `head` reads what a packet says of itself, `discover` finds the packets of a file, also of a damaged one, and `index`
//! reads the list that a tracer may have left.

pub(crate) mod discover;
pub(crate) mod head;
pub(crate) mod index;

pub(crate) use index::Index;

/// A packet's place. Everything else is read from the packet when it is needed: traces have millions of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes that belong to it and are there.
    pub size: u64,
    /// `timestamp_begin`, or 0.
    pub(crate) begin: u64,
    /// Index into the trace's files.
    pub(crate) file: u32,
    pub(crate) state: PacketState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketState {
    Closed,
    /// The file ends inside it.
    Cut,
    /// The tracer never wrote its sizes, or they cannot be true: it lasts until decoding fails.
    Open,
}
