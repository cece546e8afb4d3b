//! Flows: what happened, one row per occurrence, with references to the entities and to each other.
//!
//! Rows are in the order of time. Addresses are kept beside the ids that they were resolved to: an entity that the
//! trace does not name is still the same address.

mod arrival;
mod client_callback;
mod connect;
mod delivery;
mod lock;
mod loss;
mod matching;
mod measured;
mod reception;
mod request;
mod rosout;
mod sim_time;
mod state;
mod tilde;
mod transient_local;
mod user_event;

pub(crate) use arrival::DataAvailable;
pub use client_callback::ClientCallback;
pub(crate) use client_callback::connect_client_callbacks;
pub(crate) use connect::connect;
pub(crate) use delivery::deliveries;
pub use delivery::{Delivery, DeliveryKind, DeliveryStatus, Match};
pub(crate) use lock::connect_holders;
pub use lock::{ConditionNotification, LockHolder, LockKind, LockWait};
pub use loss::Losses;
pub use measured::{MeasuredExecution, OffCpuReason};
pub(crate) use request::requests;
pub use request::{Request, RequestMatch};
pub use sim_time::SimTime;
pub(crate) use sim_time::of_one_process_at_a_time;
pub use state::LifecycleState;
pub(crate) use state::lifecycle_states;
pub(crate) use tilde::connect_tilde;
pub use tilde::{TildeEndpoint, TildeStep, TildeStepKind};
pub use user_event::{UserEvent, UserEventKind, UserField, UserValue};

use rostrace_ctf::schema::Nanos;

use crate::entity::{
    Address, CallbackId, ClientCallbackId, InstanceId, PublicationId, PublisherId, StateMachineId,
    SubscriptionId, TakeId, ThreadId,
};

/// One execution of a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackInstance {
    pub thread: ThreadId,
    /// The callback object.
    pub address: Address,
    pub callback: Option<CallbackId>,
    pub start: Nanos,
    /// Absent if the trace does not have it, or if lost events make it uncertain.
    pub end: Option<Nanos>,
    pub intra_process: bool,
    /// The take that fetched its message.
    pub take: Option<TakeId>,
    /// The publication of its own process that it received.
    pub source: Option<PublicationId>,
}

/// One call of `publish`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    pub thread: ThreadId,
    pub handle: Address,
    pub rmw_handle: Address,
    pub message: Address,
    pub publisher: Option<PublisherId>,
    /// The first of the events that it left, and the last.
    pub publish: Nanos,
    pub last: Nanos,
    /// When the thread did something else: the middleware's stamp was made before.
    pub until: Nanos,
    /// The next event of its thread: the call had written the message by then, at the latest.
    pub returned_by: Option<Nanos>,
    /// The layers that it went through.
    pub intra: Option<Nanos>,
    pub rclcpp: Option<Nanos>,
    pub rcl: Option<Nanos>,
    pub rmw: Option<Nanos>,
    /// The stamp that takers see.
    pub source_timestamp: Option<i64>,
    /// `header.stamp` of the message, where a fork of rclcpp records it.
    pub message_timestamp: Option<i64>,
    /// The callback that it happened in.
    pub instance: Option<InstanceId>,
    /// The client's callback that it happened in, if it was in no other.
    pub client_callback: Option<ClientCallbackId>,
    /// Agnocast's number of the message.
    pub entry: Option<i64>,
}

/// One message fetched from the middleware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    pub thread: ThreadId,
    pub rmw_handle: Address,
    /// The callback that was told to be next, where the trace says so.
    pub dispatched: Address,
    pub subscription: Option<SubscriptionId>,
    pub time: Nanos,
    pub source_timestamp: i64,
    /// What the middleware tells of its arrival, where it does.
    pub info: Option<TakeInfo>,
    /// The execution that got the message; nothing if it was taken by hand.
    pub instance: Option<InstanceId>,
    pub publication: Option<PublicationId>,
}

/// What the middleware tells of a message that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeInfo {
    /// When the message arrived, on the clock of the trace.
    pub arrival: Nanos,
    /// The publisher's number of it: one more than that of the message before.
    pub publication_sequence: u64,
    /// The subscription's number of it.
    pub reception_sequence: Option<u64>,
}

/// A message put into the ring buffer of a subscription in the same process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enqueue {
    pub thread: ThreadId,
    pub buffer: Address,
    pub time: Nanos,
    pub publication: Option<PublicationId>,
    pub fate: Fate,
    /// When a later message pushed it out, if one did.
    pub pushed_out: Option<Nanos>,
}

/// What became of a message in a ring buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Still there when the recording ended.
    Queued,
    Overwritten,
    /// Fetched, but no callback followed.
    Dequeued,
    Delivered(InstanceId),
    /// Lost events make it uncertain.
    Unknown,
}

/// What an executor began to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutorPhase {
    pub thread: ThreadId,
    pub time: Nanos,
    pub kind: PhaseKind,
    /// The timer or subscription that is executed.
    pub handle: Address,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhaseKind {
    GetNextReady,
    WaitForWork,
    Execute,
}

/// A lifecycle node changed its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    pub thread: ThreadId,
    pub machine: Address,
    pub state_machine: Option<StateMachineId>,
    pub time: Nanos,
    pub from: String,
    pub to: String,
}

/// A step of a service call (Kilted and later).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceStep {
    pub thread: ThreadId,
    pub time: Nanos,
    pub kind: ServiceStepKind,
    /// For a request the callback that sent it, or that got it.
    pub instance: Option<InstanceId>,
    /// For a taken response the callback that got it; for a request the one that sent it, if no other callback did.
    pub client_callback: Option<ClientCallbackId>,
    /// Of the service or the client, in the rmw layer.
    pub rmw_handle: Address,
    /// Of the client; empty where the event does not carry it.
    pub client_gid: Vec<u8>,
    pub sequence: i64,
    pub source_timestamp: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServiceStepKind {
    SendRequest,
    TakeRequest,
    SendResponse,
    TakeResponse,
}

/// The size of a message that was sent or received in serialised form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageSize {
    pub thread: ThreadId,
    pub time: Nanos,
    pub bytes: u64,
    pub by: MessageSizeOf,
}

/// Who sent or received it; nothing if the trace does not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSizeOf {
    Publisher(Address, Option<PublisherId>),
    Subscription(Address, Option<SubscriptionId>),
}

/// Inputs and outputs that a program declared to depend on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageLink {
    pub thread: ThreadId,
    pub time: Nanos,
    pub partial_sync: bool,
    pub subscriptions: Vec<Address>,
    pub publishers: Vec<Address>,
}
