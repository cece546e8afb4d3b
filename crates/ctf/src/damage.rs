//! Damage: what is missing or broken in a trace, as rows.
//!
//! Nothing of this stops reading. Every reader carries the rows to the end, and they are shown before any result.

use std::path::PathBuf;

use crate::schema::Nanos;

/// One thing that is wrong, where and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Damage {
    pub kind: DamageKind,
    /// The trace's name, as in [`crate::Trace::name`].
    pub trace: String,
    /// The file that it was found in; for losses, the first file of the stream.
    pub path: PathBuf,
    /// Bytes from the start of the file.
    pub offset: Option<u64>,
    /// When, as far as it is known.
    pub begin: Option<Nanos>,
    pub end: Option<Nanos>,
    /// How many events or packets, where the tracer counted them.
    pub count: Option<u64>,
    /// A sentence.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DamageKind {
    /// The tracer counted events that it could not record.
    DiscardedEvents,
    /// Packets are missing from the sequence.
    LostPackets,
    /// The file ends inside a packet.
    CutPacket,
    /// A packet that the tracer never closed.
    OpenPacket,
    /// Bytes that are no packet.
    CorruptPacket,
    /// A packet whose events can be decoded up to a point only.
    UndecodableEvents,
    /// The time goes back inside a stream.
    TimeGoesBack,
    /// Packets stand in the file in another order than that of time.
    UnorderedPackets,
    /// The packets carry the UUID of another trace.
    ForeignPackets,
    /// A file that is no stream of this trace.
    NotAStream,
    /// The index lists packets that the file does not have.
    MissingPackets,
    /// The end of the metadata is missing.
    MetadataCut,
    /// A trace of which nothing can be read.
    UnreadableTrace,
    /// A stream file, or a folder that may hold a trace, that cannot be opened.
    UnreadableFile,
    /// Clocks without a common origin: times of different traces cannot be compared.
    IncomparableClocks,
}

impl DamageKind {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            DamageKind::DiscardedEvents => "discarded_events",
            DamageKind::LostPackets => "lost_packets",
            DamageKind::CutPacket => "cut_packet",
            DamageKind::OpenPacket => "open_packet",
            DamageKind::CorruptPacket => "corrupt_packet",
            DamageKind::UndecodableEvents => "undecodable_events",
            DamageKind::TimeGoesBack => "time_goes_back",
            DamageKind::UnorderedPackets => "unordered_packets",
            DamageKind::ForeignPackets => "foreign_packets",
            DamageKind::NotAStream => "not_a_stream",
            DamageKind::MissingPackets => "missing_packets",
            DamageKind::MetadataCut => "metadata_cut",
            DamageKind::UnreadableTrace => "unreadable_trace",
            DamageKind::UnreadableFile => "unreadable_file",
            DamageKind::IncomparableClocks => "incomparable_clocks",
        }
    }

    /// Whether data is gone, and not only out of order or in doubt.
    pub fn is_loss(self) -> bool {
        !matches!(
            self,
            DamageKind::TimeGoesBack
                | DamageKind::UnorderedPackets
                | DamageKind::ForeignPackets
                | DamageKind::IncomparableClocks
        )
    }
}
