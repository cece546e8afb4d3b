//! What can go wrong when a trace is written.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path leads through the names of members: `payload._points._x`.
    #[error("The field `{path}` cannot be written: {problem}.")]
    Field { path: String, problem: Problem },
    #[error("The metadata has no stream class number {stream} (counted from 0).")]
    NoSuchStream { stream: usize },
    #[error("Stream class {stream_class} has no event class number {event} (counted from 0).")]
    NoSuchEvent { stream_class: u64, event: usize },
    #[error("The packet needs a value for its member `{member}`.")]
    MemberWithoutValue { member: String },
    #[error("The event id {id} does not fit in the event header of stream class {stream_class}.")]
    IdDoesNotFit { stream_class: u64, id: u64 },
    #[error(
        "The event at {time} cycles cannot be told from the clock's value {clock} with the event header of stream \
         class {stream_class}: begin a new packet before it."
    )]
    TimeDoesNotFit {
        stream_class: u64,
        time: u64,
        clock: u64,
    },
    #[error(
        "The event header of stream class {stream_class} has more than one variant: such headers are not supported."
    )]
    HeaderTooComplex { stream_class: u64 },
    #[error("The event has no bits at all: readers could not count such events.")]
    EmptyEvent,
    #[error("There is no open packet: begin one before the events.")]
    NoOpenPacket,
    #[error("Stream class {stream_class} does not say both sizes of its packets, so its {reason}.")]
    PacketsWithoutSizes {
        stream_class: u64,
        reason: &'static str,
    },
    #[error("{path}: {error}")]
    File {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("A packet could not be written: {0}")]
    Output(#[from] std::io::Error),
}

/// Why a value does not agree with its class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("{expected} is expected there, but the value is {found}")]
    OtherKind {
        expected: &'static str,
        found: &'static str,
    },
    #[error("the value {value} does not fit in {size} bits")]
    DoesNotFit { value: i128, size: u8 },
    #[error("the number needs 64 bits, but the field has 32")]
    NeedsDoublePrecision,
    #[error("the metadata declares {size} bits, which cannot be written")]
    UnsupportedSize { size: u8 },
    #[error("it would begin inside a byte that a field of the other byte order has begun")]
    MixedByteOrder,
    #[error("the structure has {declared} members, but the value has {found}")]
    MemberCount { declared: usize, found: usize },
    #[error("its length is {declared}, but the value has {found}")]
    Length { declared: u64, found: usize },
    #[error("the text of {needed} bytes does not fit in the {available} bytes of the field")]
    TextTooLong { needed: usize, available: u64 },
    #[error("the text contains a NUL, where readers would end it")]
    TextWithNul,
    #[error("its selector has the value {selector}, which does not lead to option {option}")]
    OtherOption { selector: i128, option: usize },
    #[error("its selector has the value {selector}, which says that it is {}", if *.present { "present" } else { "absent" })]
    OtherPresence { selector: i128, present: bool },
    #[error("it refers to slot {slot}, but the metadata has only {slots} of them")]
    NoSuchSlot { slot: u32, slots: usize },
    #[error("no field was written at bit {position} before")]
    NothingToPatch { position: u64 },
}

impl WriteError {
    pub(super) fn at(member: &str, problem: Problem) -> WriteError {
        WriteError::Field {
            path: member.to_owned(),
            problem,
        }
    }

    /// The same error, seen from the structure around it.
    pub(super) fn inside(self, outer: &str) -> WriteError {
        match self {
            WriteError::Field { path, problem } => WriteError::Field {
                path: format!("{outer}.{path}"),
                problem,
            },
            other => other,
        }
    }
}
