//! Entities: the things of a ROS 2 system that have a name and a lifetime.
//!
//! An address alone identifies nothing: it is used again when an object is destroyed. So each entity is a
//! *generation* of an address in one process, from the event that created it until the next one at the same address.
//! Ids are indices into the tables of [`crate::Model`], in the order of creation.

mod callback;
mod communication;
mod entities;
mod executor;
mod generation;
mod process;
mod resolve;
mod unseen;

pub use callback::{Callback, CallbackOwner, Timer};
pub use communication::{Client, Publisher, RingBuffer, Service, Subscription};
pub(crate) use entities::Entities;
pub use executor::{CallbackGroup, CallbackGroupType, Executor, ExecutorType};
pub(crate) use generation::Generations;
pub use process::{Host, Node, Process, StateMachine, Thread};
pub(crate) use resolve::resolve;
pub use unseen::{Unseen, UnseenSubject};

/// An address in one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Address(pub u64);

impl Address {
    /// The address, unless it is null.
    pub(crate) fn non_null(self) -> Option<Address> {
        (self.0 != 0).then_some(self)
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }

            #[allow(dead_code)]
            pub(crate) fn of(index: usize) -> $name {
                $name::from_index(index)
            }

            pub fn from_index(index: usize) -> $name {
                // Tables of more than 2^32 rows would not fit into memory.
                $name(index as u32)
            }
        }
    )*};
}

ids! {
    HostId, ProcessId, ThreadId, NodeId, PublisherId, SubscriptionId, TimerId, ServiceId, ClientId,
    CallbackId, CallbackGroupId, ExecutorId, StateMachineId, RingBufferId,
    /// A row of [`crate::Model::instances`].
    InstanceId,
    /// A row of [`crate::Model::publications`].
    PublicationId,
    /// A row of [`crate::Model::takes`].
    TakeId,
    /// A row of [`crate::Model::deliveries`].
    DeliveryId,
    /// A row of [`crate::Model::requests`].
    RequestId,
    /// A row of [`crate::Model::phases`].
    PhaseId,
    /// A row of [`crate::Model::enqueues`].
    EnqueueId,
    /// A row of [`crate::Model::client_callbacks`].
    ClientCallbackId,
    /// A row of [`crate::Model::lock_waits`].
    LockWaitId,
}
