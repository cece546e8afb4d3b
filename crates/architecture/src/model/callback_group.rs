//! Callbacks of a node that share a rule about running at the same time.

use super::{Extras, UNDEFINED};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackGroup {
    pub group_type: CallbackGroupType,
    pub name: String,
    /// Names of callbacks of the same node.
    pub callbacks: Vec<String>,
    pub extras: Extras,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallbackGroupType {
    MutuallyExclusive,
    Reentrant,
    /// No executor has the group.
    Undefined,
}

impl CallbackGroup {
    pub fn new(
        group_type: CallbackGroupType,
        name: impl Into<String>,
        callbacks: Vec<String>,
    ) -> CallbackGroup {
        CallbackGroup {
            group_type,
            name: name.into(),
            callbacks,
            extras: Extras::default(),
        }
    }
}

impl CallbackGroupType {
    pub const ALL: [CallbackGroupType; 3] = [
        CallbackGroupType::MutuallyExclusive,
        CallbackGroupType::Reentrant,
        CallbackGroupType::Undefined,
    ];

    pub fn keyword(self) -> &'static str {
        match self {
            CallbackGroupType::MutuallyExclusive => "mutually_exclusive",
            CallbackGroupType::Reentrant => "reentrant",
            CallbackGroupType::Undefined => UNDEFINED,
        }
    }
}
