//! Fields that the format itself wants to know: by reserved name in CTF 1.8, by declaration in CTF 2.

use super::ast::{AstInteger, DeclaredRole, RootScope};
use super::error::{Position, Result};
use crate::schema::{IntegerForm, Role};

/// CTF 1.8: the role of a top-level member, in the event header also of nested ones.
pub(super) fn by_name(scope: RootScope, name: &str, is_top_level: bool) -> Option<Role> {
    match (scope, name) {
        (RootScope::EventHeader, "id") => Some(Role::EventId),
        (RootScope::EventHeader, "timestamp") => Some(Role::Timestamp),
        _ if !is_top_level => None,
        (RootScope::PacketHeader, "magic") => Some(Role::PacketMagic),
        (RootScope::PacketHeader, "stream_id") => Some(Role::StreamClassId),
        (RootScope::PacketHeader, "stream_instance_id") => Some(Role::StreamInstanceId),
        (RootScope::PacketContext, "timestamp_begin") => Some(Role::TimestampBegin),
        (RootScope::PacketContext, "timestamp_end") => Some(Role::TimestampEnd),
        (RootScope::PacketContext, "content_size") => Some(Role::ContentSize),
        (RootScope::PacketContext, "packet_size") => Some(Role::PacketSize),
        (RootScope::PacketContext, "events_discarded") => Some(Role::EventsDiscarded),
        (RootScope::PacketContext, "packet_seq_num") => Some(Role::PacketSequence),
        _ => None,
    }
}

/// CTF 2: what a declared role means in a scope.
pub(super) fn declared(scope: RootScope, role: DeclaredRole, at: Position) -> Result<Role> {
    Ok(match (scope, role) {
        (RootScope::PacketHeader, DeclaredRole::PacketMagicNumber) => Role::PacketMagic,
        (RootScope::PacketHeader, DeclaredRole::DataStreamClassId) => Role::StreamClassId,
        (RootScope::PacketHeader, DeclaredRole::DataStreamId) => Role::StreamInstanceId,
        (RootScope::PacketContext, DeclaredRole::PacketTotalLength) => Role::PacketSize,
        (RootScope::PacketContext, DeclaredRole::PacketContentLength) => Role::ContentSize,
        (RootScope::PacketContext, DeclaredRole::DefaultClockTimestamp) => Role::TimestampBegin,
        (RootScope::PacketContext, DeclaredRole::PacketEndDefaultClockTimestamp) => {
            Role::TimestampEnd
        }
        (RootScope::PacketContext, DeclaredRole::DiscardedEventRecordCounterSnapshot) => {
            Role::EventsDiscarded
        }
        (RootScope::PacketContext, DeclaredRole::PacketSequenceNumber) => Role::PacketSequence,
        (RootScope::EventHeader, DeclaredRole::EventRecordClassId) => Role::EventId,
        (RootScope::EventHeader, DeclaredRole::DefaultClockTimestamp) => Role::Timestamp,
        _ => {
            return Err(at.error(format!(
                "the role '{}' is not allowed in the {scope}",
                role.name()
            )));
        }
    })
}

/// Whether a role is one that the clock's values have.
pub(super) fn is_timestamp(role: Role) -> bool {
    matches!(
        role,
        Role::Timestamp | Role::TimestampBegin | Role::TimestampEnd
    )
}

/// The magic number is the first thing in a packet and has 32 bits.
pub(super) fn check_magic(integer: &AstInteger, is_first: bool, at: Position) -> Result<()> {
    let has_32_bits = matches!(integer.form, IntegerForm::Fixed(bits) if bits.size == 32);
    if is_first && has_32_bits {
        return Ok(());
    }
    Err(at.error(
        "the magic number must be the first member of the packet header and an unsigned integer of 32 bits",
    ))
}

impl DeclaredRole {
    pub(super) const ALL: [DeclaredRole; 10] = [
        DeclaredRole::PacketMagicNumber,
        DeclaredRole::DataStreamClassId,
        DeclaredRole::DataStreamId,
        DeclaredRole::PacketTotalLength,
        DeclaredRole::PacketContentLength,
        DeclaredRole::DefaultClockTimestamp,
        DeclaredRole::PacketEndDefaultClockTimestamp,
        DeclaredRole::DiscardedEventRecordCounterSnapshot,
        DeclaredRole::PacketSequenceNumber,
        DeclaredRole::EventRecordClassId,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            DeclaredRole::PacketMagicNumber => "packet-magic-number",
            DeclaredRole::DataStreamClassId => "data-stream-class-id",
            DeclaredRole::DataStreamId => "data-stream-id",
            DeclaredRole::PacketTotalLength => "packet-total-length",
            DeclaredRole::PacketContentLength => "packet-content-length",
            DeclaredRole::DefaultClockTimestamp => "default-clock-timestamp",
            DeclaredRole::PacketEndDefaultClockTimestamp => "packet-end-default-clock-timestamp",
            DeclaredRole::DiscardedEventRecordCounterSnapshot => {
                "discarded-event-record-counter-snapshot"
            }
            DeclaredRole::PacketSequenceNumber => "packet-sequence-number",
            DeclaredRole::EventRecordClassId => "event-record-class-id",
        }
    }
}
