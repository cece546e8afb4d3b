//! Callbacks, and the timers that some of them belong to.

use rostrace_ctf::schema::Nanos;

use super::{
    Address, CallbackGroupId, CallbackId, NodeId, ProcessId, ServiceId, SubscriptionId, TimerId,
};

/// What a user's function is called for. A subscription and its intra-process subscription are one callback with two
/// addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    pub process: ProcessId,
    pub owner: CallbackOwner,
    /// Of the callback objects: first the one for other processes, then the intra-process subscription.
    pub addresses: Vec<Address>,
    /// As the trace has it, demangled if it was mangled.
    pub symbol: Option<String>,
    pub group: Option<CallbackGroupId>,
    pub created: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallbackOwner {
    Timer(TimerId),
    Subscription(SubscriptionId),
    Service(ServiceId),
    /// The trace has the callback running, but not the event that says what it is for.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    pub process: ProcessId,
    pub node: Option<NodeId>,
    pub handle: Address,
    pub period: Nanos,
    pub created: Nanos,
    /// When it was destroyed, where the trace tells.
    pub ended: Option<Nanos>,
    pub callback: Option<CallbackId>,
    /// Whether it goes by the clock of ROS; nothing where the trace does not tell.
    pub ros_clock: Option<bool>,
    /// It goes by the clock of ROS, as far as is known, and that is simulated: its process notes simulated times, or its node heard of `/clock`.
    pub simulated: bool,
}

impl Timer {
    /// Its period as far as the time of the trace is concerned; nothing where it goes by another time.
    pub fn system_period(&self) -> Option<Nanos> {
        (!self.simulated).then_some(self.period)
    }
}
