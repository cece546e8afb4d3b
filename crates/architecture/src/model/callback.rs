//! A function of a node that an executor calls.

use std::fmt;

use super::Extras;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    pub name: String,
    pub kind: CallbackKind,
    pub symbol: String,
    /// Counts callbacks of a node that kind and symbol cannot tell apart, from 0.
    pub construction_order: u32,
    pub extras: Extras,
}

/// What makes an executor call it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallbackKind {
    Timer {
        period_ns: u64,
    },
    Subscription {
        topic: String,
    },
    /// CARET's files have none.
    Service {
        service: String,
    },
}

impl Callback {
    pub fn new(
        name: impl Into<String>,
        kind: CallbackKind,
        symbol: impl Into<String>,
        construction_order: u32,
    ) -> Callback {
        Callback {
            name: name.into(),
            kind,
            symbol: symbol.into(),
            construction_order,
            extras: Extras::default(),
        }
    }

    pub fn is_service(&self) -> bool {
        matches!(self.kind, CallbackKind::Service { .. })
    }

    pub fn topic(&self) -> Option<&str> {
        match &self.kind {
            CallbackKind::Subscription { topic } => Some(topic),
            _ => None,
        }
    }
}

impl CallbackKind {
    /// The file's word for it.
    pub fn keyword(&self) -> &'static str {
        match self {
            CallbackKind::Timer { .. } => "timer_callback",
            CallbackKind::Subscription { .. } => "subscription_callback",
            CallbackKind::Service { .. } => "service_callback",
        }
    }
}

impl fmt::Display for CallbackKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallbackKind::Timer { period_ns } => write!(f, "timer of {period_ns} ns"),
            CallbackKind::Subscription { topic } => write!(f, "subscription to {topic}"),
            CallbackKind::Service { service } => write!(f, "service {service}"),
        }
    }
}
