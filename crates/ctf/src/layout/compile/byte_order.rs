//! The byte order of the bit field before, for the rule about fields that meet inside a byte.
//!
//! Where fields are optional, repeated or chosen, the compiler may not know which field that was.

use crate::schema::{ByteOrder, FieldClass};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastOrder {
    /// No bit field yet, or one that cannot matter.
    Any,
    Is(ByteOrder),
    Unknown,
}

impl LastOrder {
    /// Whether a bit field of this order may begin inside the byte in which the last one ended; nothing if only the data knows.
    pub(super) fn fits(self, order: ByteOrder) -> Option<bool> {
        match self {
            LastOrder::Any => Some(true),
            LastOrder::Is(last) => Some(last == order),
            LastOrder::Unknown => None,
        }
    }

    /// What is known when it may be either.
    pub(super) fn or(self, other: LastOrder) -> LastOrder {
        if self == other {
            self
        } else {
            LastOrder::Unknown
        }
    }
}

/// The byte order of all bit fields in a class, if there is one order only.
pub(super) fn uniform_order(class: &FieldClass) -> Option<ByteOrder> {
    let fields = class.all();
    let mut orders = fields.iter().filter_map(|field| Some(field.bits()?.order));
    let first = orders.next()?;
    orders.all(|order| order == first).then_some(first)
}
