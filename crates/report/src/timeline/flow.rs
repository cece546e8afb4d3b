//! Arrows: what they are known by on both ends.

use rostrace_trace::entity::DeliveryId;

/// Unique in a trace. The last two bits say what kind of arrow it is, so that nothing has to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FlowId(pub(super) u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowKind {
    Message,
    Request,
    Response,
}

impl FlowId {
    pub(super) fn of_message(delivery: DeliveryId) -> FlowId {
        FlowId((delivery.index() as u64 + 1) << 2)
    }

    /// By the row of the call.
    pub(super) fn of_request(call: usize) -> FlowId {
        FlowId((call as u64 + 1) << 2 | 1)
    }

    pub(super) fn of_response(call: usize) -> FlowId {
        FlowId((call as u64 + 1) << 2 | 2)
    }

    pub(super) fn kind(self) -> FlowKind {
        match self.0 & 3 {
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
