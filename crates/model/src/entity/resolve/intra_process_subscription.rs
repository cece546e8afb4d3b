//! Subscriptions and the objects of rclcpp that belong to them: with intra-process communication there are two: the
//! second one is the intra-process subscription.
//!
//! It gets its callback and its ring buffer before it is tied to its subscription, so those wait here, and not for long: both
//! come from one constructor.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use super::PATIENCE;
use crate::entity::{
    Address, CallbackId, CallbackOwner, Entities, ProcessId, RingBufferId, SubscriptionId,
};

/// What waits, by process and address of the object, and since when.
#[derive(Debug)]
struct Waiting<T>(HashMap<(ProcessId, Address), (Nanos, T)>);

impl<T> Default for Waiting<T> {
    fn default() -> Waiting<T> {
        Waiting(HashMap::new())
    }
}

impl<T> Waiting<T> {
    fn insert(&mut self, process: ProcessId, object: Address, time: Nanos, what: T) {
        self.0.insert((process, object), (time, what));
    }

    /// What waits for this object, unless it is too old to be meant.
    fn remove(&mut self, process: ProcessId, object: Address, time: Nanos) -> Option<T> {
        let (since, what) = self.0.remove(&(process, object))?;
        (time.0 - since.0 <= PATIENCE).then_some(what)
    }
}

#[derive(Debug, Default)]
pub(super) struct IntraProcessSubscriptions {
    /// Objects that are tied to a subscription but have no callback yet.
    objects: Waiting<SubscriptionId>,
    /// Callbacks of objects that are not tied to a subscription yet.
    callbacks: Waiting<CallbackId>,
    /// Intra-process buffers of objects that are not tied to a subscription yet.
    buffers: Waiting<RingBufferId>,
}

impl IntraProcessSubscriptions {
    /// An object is tied to its subscription; its callback or buffer may have been announced before.
    pub(super) fn object(
        &mut self,
        all: &mut Entities,
        process: ProcessId,
        time: Nanos,
        handle: Address,
        object: Address,
    ) {
        let Some(id) = all.subscription_at.at(process, handle, time) else {
            return;
        };
        all.object_at.create(process, object, time, id);
        let subscription = &mut all.subscriptions[id.index()];
        if let Some(buffer) = self.buffers.remove(process, object, time) {
            all.ring_buffers[buffer.index()].subscription = Some(id);
            subscription.intra_process = true;
        }
        match self.callbacks.remove(process, object, time) {
            Some(callback) => {
                // Only the intra-process subscription gets its callback first.
                subscription.intra_process = true;
                subscription.callback = Some(callback);
                all.callbacks[callback.index()].owner = CallbackOwner::Subscription(id);
            }
            None => self.objects.insert(process, object, time, id),
        }
    }

    /// An object gets its callback.
    pub(super) fn callback(
        &mut self,
        all: &mut Entities,
        process: ProcessId,
        time: Nanos,
        object: Address,
        callback: Address,
    ) {
        let Some(subscription) = self.objects.remove(process, object, time) else {
            let id = all.callback(process, time, callback, CallbackOwner::Unknown);
            self.callbacks.insert(process, object, time, id);
            return;
        };
        match all.subscriptions[subscription.index()].callback {
            Some(known) => {
                // The object for other processes is announced last and stands first.
                all.callbacks[known.index()].addresses.insert(0, callback);
                all.callback_at.create(process, callback, time, known);
            }
            None => {
                let owner = CallbackOwner::Subscription(subscription);
                let id = all.callback(process, time, callback, owner);
                all.subscriptions[subscription.index()].callback = Some(id);
            }
        }
    }

    /// An object gets its intra-process buffer.
    pub(super) fn buffer(
        &mut self,
        process: ProcessId,
        time: Nanos,
        object: Address,
        buffer: RingBufferId,
    ) {
        self.buffers.insert(process, object, time, buffer);
    }
}
