//! Arrows: what they are known by on both ends.

use rostrace_model::entity::{DeliveryId, PublicationId};

/// An arrow. The last two bits of its numbers say what kind it is, so that nothing has to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FlowId {
    /// Unique in a trace.
    pub(super) arrow: u64,
    /// What all arrows from one place share: a message goes to every subscription.
    pub(super) sending: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowKind {
    Message,
    Request,
    Response,
}

impl FlowId {
    pub(super) fn of_message(delivery: DeliveryId, publication: PublicationId) -> FlowId {
        FlowId {
            arrow: (delivery.index() as u64 + 1) << 2,
            sending: (publication.index() as u64 + 1) << 2,
        }
    }

    /// By the row of the call.
    pub(super) fn of_request(call: usize) -> FlowId {
        FlowId::alone((call as u64 + 1) << 2 | 1)
    }

    pub(super) fn of_response(call: usize) -> FlowId {
        FlowId::alone((call as u64 + 1) << 2 | 2)
    }

    fn alone(arrow: u64) -> FlowId {
        FlowId {
            arrow,
            sending: arrow,
        }
    }

    pub(super) fn kind(self) -> FlowKind {
        match self.arrow & 3 {
            0 => FlowKind::Message,
            1 => FlowKind::Request,
            _ => FlowKind::Response,
        }
    }
}

impl FlowKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            FlowKind::Message => "message",
            FlowKind::Request => "request",
            FlowKind::Response => "response",
        }
    }
}
