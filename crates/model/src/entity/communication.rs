//! Publishers, subscriptions, services, clients, and the buffers between publishers and subscriptions of one process.

use rostrace_ctf::schema::Nanos;

use super::{Address, CallbackGroupId, CallbackId, NodeId, ProcessId, SubscriptionId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publisher {
    pub process: ProcessId,
    pub node: Option<NodeId>,
    pub handle: Address,
    pub rmw_handle: Address,
    pub topic: String,
    /// As requested; the middleware may use another one.
    pub depth: u64,
    pub created: Nanos,
    /// When it was destroyed or, where the trace does not tell, when its address was used for another publisher.
    pub ended: Option<Nanos>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub process: ProcessId,
    pub node: Option<NodeId>,
    pub handle: Address,
    pub rmw_handle: Address,
    pub topic: String,
    pub depth: u64,
    pub created: Nanos,
    pub ended: Option<Nanos>,
    /// What runs when a message arrives, from other processes or from its own.
    pub callback: Option<CallbackId>,
    /// It has an intra-process subscription for messages of its own process.
    pub intra_process: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub process: ProcessId,
    pub node: Option<NodeId>,
    pub handle: Address,
    pub rmw_handle: Address,
    pub name: String,
    pub created: Nanos,
    /// When it was destroyed, where the trace tells.
    pub ended: Option<Nanos>,
    pub callback: Option<CallbackId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub process: ProcessId,
    pub node: Option<NodeId>,
    pub handle: Address,
    pub rmw_handle: Address,
    pub name: String,
    /// What the middleware identifies the client by; empty before Kilted.
    pub gid: Vec<u8>,
    pub created: Nanos,
    /// When it was destroyed, where the trace tells.
    pub ended: Option<Nanos>,
    /// Where the trace tells.
    pub group: Option<CallbackGroupId>,
}

/// The ring buffer of an intra-process subscription (Iron and later).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingBuffer {
    pub process: ProcessId,
    pub address: Address,
    pub capacity: u64,
    pub created: Nanos,
    /// Absent for the buffer of a transient-local publisher.
    pub subscription: Option<SubscriptionId>,
}
