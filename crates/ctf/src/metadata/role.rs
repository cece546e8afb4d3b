//! Fields that the format itself wants to know: by reserved name in CTF 1.8, by declaration in CTF 2.

use super::ast::{AstInteger, RootScope};
use super::error::{Position, Result};
use crate::schema::{IntegerForm, Role};

/// CTF 2: the scope in which a field can have a role, and what it is called there.
fn declaration(role: Role) -> (RootScope, &'static str) {
    use RootScope::{EventHeader, PacketContext, PacketHeader};
    match role {
        Role::PacketMagic => (PacketHeader, "packet-magic-number"),
        Role::StreamClassId => (PacketHeader, "data-stream-class-id"),
        Role::StreamInstanceId => (PacketHeader, "data-stream-id"),
        Role::PacketSize => (PacketContext, TOTAL_LENGTH),
        Role::ContentSize => (PacketContext, CONTENT_LENGTH),
        Role::TimestampBegin => (PacketContext, "default-clock-timestamp"),
        Role::TimestampEnd => (PacketContext, "packet-end-default-clock-timestamp"),
        Role::EventsDiscarded => (PacketContext, "discarded-event-record-counter-snapshot"),
        Role::PacketSequence => (PacketContext, "packet-sequence-number"),
        Role::EventId => (EventHeader, "event-record-class-id"),
        Role::Timestamp => (EventHeader, "default-clock-timestamp"),
    }
}

/// One field may say both.
pub(super) const TOTAL_LENGTH: &str = "packet-total-length";
pub(super) const CONTENT_LENGTH: &str = "packet-content-length";

fn find(is_it: impl Fn(Role) -> bool) -> Option<Role> {
    Role::ALL.iter().copied().find(|&role| is_it(role))
}

/// CTF 1.8: the role of a top-level member, in the event header also of nested ones.
pub(super) fn by_name(scope: RootScope, name: &str, is_top_level: bool) -> Option<Role> {
    let role = find(|role| role.name() == name && declaration(role).0 == scope)?;
    (is_top_level || scope == RootScope::EventHeader).then_some(role)
}

/// CTF 2: whether a role has this name in any scope.
pub(super) fn known(name: &str) -> Option<&'static str> {
    find(|role| declaration(role).1 == name).map(|role| declaration(role).1)
}

/// CTF 2: what a declared role means in a scope.
pub(super) fn declared(scope: RootScope, name: &'static str, at: Position) -> Result<Role> {
    find(|role| declaration(role) == (scope, name))
        .ok_or_else(|| at.error(format!("the role '{name}' is not allowed in the {scope}")))
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
