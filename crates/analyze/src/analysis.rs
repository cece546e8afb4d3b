//! A trace as the metrics see it: the model, the names, the range of time that counts, and who belongs to whom.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use rostrace_architecture::Architecture;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::names::Names;
use rostrace_model::entity::{
    CallbackGroupId, CallbackId, ClientCallbackId, DeliveryId, EnqueueId, ExecutorId, InstanceId,
    LockWaitId, PhaseId, PublicationId, PublisherId, RequestId, SubscriptionId, TakeId, ThreadId,
};
use rostrace_model::flow::{
    CallbackInstance, ClientCallback, Delivery, Fate, LockWait, Publication, Request, Take,
};
use rostrace_model::memory::Memory;
use rostrace_model::scheduling::Scheduling;

use crate::activity::Activities;
use crate::communication::{Arrival, DropCause, Messages};
use crate::groups::Groups;
use crate::selection::Selection;
use crate::standstill::Standstills;
use crate::stored_input::StoredInputs;
use crate::why::has_one_clock;

/// What all metrics are computed from.
#[derive(Debug)]
pub struct Analysis<'m> {
    pub model: &'m Model,
    pub names: Names,
    /// Which nodes, topics and processes lists and tables of entities have; everything unless somebody chooses.
    pub selection: Selection,
    /// What begins outside does not count.
    pub window: RangeInclusive<Nanos>,
    /// What the kernel's scheduler did, if the trace tells.
    pub scheduling: Option<Scheduling>,
    /// What was allocated, if the trace tells.
    pub memory: Option<Memory>,
    /// How nodes make outputs from inputs, where somebody has written that down.
    pub architecture: Option<&'m Architecture>,
    instances_of: Groups<CallbackId, InstanceId>,
    instances_on: Groups<ThreadId, InstanceId>,
    publications_of: Groups<PublisherId, PublicationId>,
    publications_in: Groups<InstanceId, PublicationId>,
    deliveries_of: Groups<PublicationId, DeliveryId>,
    deliveries_to: Groups<SubscriptionId, DeliveryId>,
    received_by: Groups<InstanceId, DeliveryId>,
    takes_of: Groups<PublicationId, TakeId>,
    phases_on: Groups<ThreadId, PhaseId>,
    client_callbacks_on: Groups<ThreadId, ClientCallbackId>,
    enqueued_for: Groups<InstanceId, EnqueueId>,
    lock_waits_on: Groups<ThreadId, LockWaitId>,
    requests_in: Groups<InstanceId, RequestId>,
    asked_by: Groups<InstanceId, RequestId>,
    answered: Groups<ClientCallbackId, RequestId>,
    publications_in_client: Groups<ClientCallbackId, PublicationId>,
    activities: OnceLock<Activities>,
    messages: OnceLock<Messages>,
    stored_inputs: OnceLock<StoredInputs>,
    standstills: OnceLock<Standstills>,
    /// By publisher: the outermost layer that the trace has its publications in. Empty if nothing was lost.
    outermost: Vec<u8>,
}

impl<'m> Analysis<'m> {
    pub fn new(model: &'m Model, window: RangeInclusive<Nanos>) -> Analysis<'m> {
        let instances = &model.instances;
        let publications = &model.publications;
        let deliveries = &model.deliveries;
        Analysis {
            names: Names::of(model),
            selection: Selection::default(),
            window,
            scheduling: None,
            memory: None,
            architecture: None,
            instances_of: Groups::new(model.callbacks.len(), instances.len(), |row| {
                instances[row].callback
            }),
            instances_on: Groups::new(model.threads.len(), instances.len(), |row| {
                Some(instances[row].thread)
            }),
            publications_of: Groups::new(model.publishers.len(), publications.len(), |row| {
                publications[row].publisher
            }),
            publications_in: Groups::new(instances.len(), publications.len(), |row| {
                publications[row].instance
            }),
            deliveries_of: Groups::new(publications.len(), deliveries.len(), |row| {
                Some(deliveries[row].publication)
            }),
            deliveries_to: Groups::new(model.subscriptions.len(), deliveries.len(), |row| {
                deliveries[row].subscription
            }),
            received_by: Groups::new(instances.len(), deliveries.len(), |row| {
                deliveries[row].instance
            }),
            takes_of: Groups::new(publications.len(), model.takes.len(), |row| {
                model.takes[row].publication
            }),
            phases_on: Groups::new(model.threads.len(), model.phases.len(), |row| {
                Some(model.phases[row].thread)
            }),
            client_callbacks_on: Groups::new(
                model.threads.len(),
                model.client_callbacks.len(),
                |row| Some(model.client_callbacks[row].thread),
            ),
            enqueued_for: Groups::new(instances.len(), model.enqueues.len(), |row| {
                match model.enqueues[row].fate {
                    Fate::Delivered(instance) => Some(instance),
                    _ => None,
                }
            }),
            lock_waits_on: Groups::new(model.threads.len(), model.lock_waits.len(), |row| {
                Some(model.lock_waits[row].thread)
            }),
            requests_in: Groups::new(instances.len(), model.requests.len(), |row| {
                model.requests[row].sent_by
            }),
            asked_by: Groups::new(instances.len(), model.requests.len(), |row| {
                model.requests[row].instance
            }),
            answered: Groups::new(model.client_callbacks.len(), model.requests.len(), |row| {
                model.requests[row].client_callback
            }),
            publications_in_client: Groups::new(
                model.client_callbacks.len(),
                publications.len(),
                |row| publications[row].client_callback,
            ),
            activities: OnceLock::new(),
            messages: OnceLock::new(),
            stored_inputs: OnceLock::new(),
            standstills: OnceLock::new(),
            outermost: outermost_layers(model),
            model,
        }
    }

    /// What threads did all the time; found when it is first asked for.
    pub fn activities(&self) -> &Activities {
        self.activities.get_or_init(|| Activities::of(self))
    }

    /// Which stored messages outputs are assumed to be made from.
    pub fn stored_inputs(&self) -> &StoredInputs {
        self.stored_inputs.get_or_init(|| StoredInputs::of(self))
    }

    /// When everything stood still; found when it is first asked for.
    pub fn standstills(&self) -> &Standstills {
        self.standstills.get_or_init(|| Standstills::of(self))
    }

    fn messages(&self) -> &Messages {
        self.messages.get_or_init(|| Messages::of(self))
    }

    /// When a message arrived, and the stages of its way; nothing if it did not, or if the trace does not tell when.
    pub fn arrival(&self, delivery: DeliveryId) -> Option<&Arrival> {
        self.messages().arrivals[delivery.index()].as_ref()
    }

    /// Why a message did not arrive; nothing if it did.
    pub fn drop_cause(&self, delivery: DeliveryId) -> Option<DropCause> {
        self.messages().causes[delivery.index()]
    }

    pub fn instance(&self, id: InstanceId) -> &'m CallbackInstance {
        &self.model.instances[id.index()]
    }

    pub fn publication(&self, id: PublicationId) -> &'m Publication {
        &self.model.publications[id.index()]
    }

    pub fn delivery(&self, id: DeliveryId) -> &'m Delivery {
        &self.model.deliveries[id.index()]
    }

    /// The executions of a callback, in the order of time.
    pub fn instances_of(&self, callback: CallbackId) -> &[InstanceId] {
        self.instances_of.of(callback)
    }

    /// What ran on a thread, in the order of time.
    pub fn instances_on(&self, thread: ThreadId) -> &[InstanceId] {
        self.instances_on.of(thread)
    }

    pub fn publications_of(&self, publisher: PublisherId) -> &[PublicationId] {
        self.publications_of.of(publisher)
    }

    /// What an execution published.
    pub fn publications_in(&self, instance: InstanceId) -> &[PublicationId] {
        self.publications_in.of(instance)
    }

    /// One for each subscription that a message should have reached.
    pub fn deliveries_of(&self, publication: PublicationId) -> &[DeliveryId] {
        self.deliveries_of.of(publication)
    }

    pub fn deliveries_to(&self, subscription: SubscriptionId) -> &[DeliveryId] {
        self.deliveries_to.of(subscription)
    }

    /// The message that an execution received.
    pub fn received_by(&self, instance: InstanceId) -> Option<DeliveryId> {
        self.received_by.of(instance).first().copied()
    }

    /// All messages that an execution may have received: several where their publishers share a stamp.
    pub fn all_received_by(&self, instance: InstanceId) -> &[DeliveryId] {
        self.received_by.of(instance)
    }

    pub fn request(&self, id: RequestId) -> &'m Request {
        &self.model.requests[id.index()]
    }

    /// The requests that an execution sent, in the order of time.
    pub fn requests_in(&self, instance: InstanceId) -> &[RequestId] {
        self.requests_in.of(instance)
    }

    /// The request for which a service's callback ran, and when it was sent; nothing if the clocks of the two sides cannot be compared.
    pub fn asked_by(&self, instance: InstanceId) -> Option<(RequestId, Nanos)> {
        let id = *self.asked_by.of(instance).first()?;
        let request = self.request(id);
        let sent = request.sent.filter(|_| has_one_clock(self, request))?;
        (sent <= self.instance(instance).start).then_some((id, sent))
    }

    /// The request whose response a client's callback got.
    pub fn answered(&self, client: ClientCallbackId) -> Option<RequestId> {
        self.answered.of(client).first().copied()
    }

    /// What the callback of a client published, if it ran in no other callback.
    pub fn publications_in_client(&self, client: ClientCallbackId) -> &[PublicationId] {
        self.publications_in_client.of(client)
    }

    /// How the message of a delivery was taken from the middleware.
    pub fn take_of(&self, delivery: &Delivery) -> Option<&'m Take> {
        let of_instance = delivery
            .instance
            .and_then(|instance| self.instance(instance).take);
        let by_hand = || {
            let mut takes = self.takes_of.of(delivery.publication).iter().copied();
            let subscription = delivery.subscription;
            takes.find(|take| self.model.takes[take.index()].subscription == subscription)
        };
        let take = of_instance.or_else(by_hand)?;
        Some(&self.model.takes[take.index()])
    }

    /// When the message that an execution received was put into the ring buffer of its subscription.
    pub fn enqueued_for(&self, instance: InstanceId) -> Option<Nanos> {
        let enqueue = self.enqueued_for.of(instance).first()?;
        Some(self.model.enqueues[enqueue.index()].time)
    }

    /// The innermost execution on a thread at an instant.
    pub fn execution_at(&self, thread: ThreadId, at: Nanos) -> Option<InstanceId> {
        let on_thread = self.instances_on(thread);
        let begun = on_thread.partition_point(|id| self.instance(*id).start <= at);
        // Callbacks are seldom nested, and never deeply.
        let mut latest = on_thread[..begun].iter().rev().copied().take(8);
        latest.find(|id| self.instance(*id).end.is_some_and(|end| end >= at))
    }

    pub fn lock_wait(&self, id: LockWaitId) -> &'m LockWait {
        &self.model.lock_waits[id.index()]
    }

    /// When a thread waited for locks and condition variables, in the order of time.
    pub fn lock_waits_on(&self, thread: ThreadId) -> &[LockWaitId] {
        self.lock_waits_on.of(thread)
    }

    /// What the executor on a thread began to do, in the order of time.
    pub fn phases_on(&self, thread: ThreadId) -> &[PhaseId] {
        self.phases_on.of(thread)
    }

    /// The callbacks of clients that ran on a thread, in the order of time.
    pub fn client_callbacks_on(&self, thread: ThreadId) -> &[ClientCallbackId] {
        self.client_callbacks_on.of(thread)
    }

    pub fn client_callback(&self, id: ClientCallbackId) -> &'m ClientCallback {
        &self.model.client_callbacks[id.index()]
    }

    pub fn group_of(&self, callback: CallbackId) -> Option<CallbackGroupId> {
        self.model.callbacks[callback.index()].group
    }

    pub fn executor_of(&self, callback: CallbackId) -> Option<ExecutorId> {
        let group = self.group_of(callback)?;
        self.model.callback_groups[group.index()].executor
    }

    /// Whether something that begins then counts.
    pub fn counts(&self, begin: Nanos) -> bool {
        self.window.contains(&begin)
    }

    /// Whether events may be missing between two times, so that what lies between is uncertain.
    pub fn is_damaged(&self, from: Nanos, to: Nanos) -> bool {
        self.model.losses.between(from, to)
    }

    /// Whether events were lost between two times, so that what was counted there is too little. Pauses are no losses.
    pub fn is_lossy(&self, from: Nanos, to: Nanos) -> bool {
        self.model.losses.lost_between(from, to)
    }

    /// Whether events were lost during an execution. One without an end lasted at most until the next one on its thread.
    pub fn is_execution_damaged(&self, id: InstanceId) -> bool {
        let instance = self.instance(id);
        let until = instance.end.or_else(|| {
            let on_thread = self.instances_on(instance.thread);
            let next = on_thread.get(on_thread.partition_point(|other| *other <= id));
            next.map(|next| self.instance(*next).start)
        });
        // What was lost last is later than all that was not.
        self.is_damaged(instance.start, until.unwrap_or(Nanos(i64::MAX)))
    }

    /// Whether the first events of a publication were lost, so that it seems to be later than it was: others of the same
    /// publisher tell of a layer further out, or events were lost just before the first one of an inner layer.
    pub fn begins_late(&self, id: PublicationId) -> bool {
        let publication = self.publication(id);
        let shortly_before = Nanos(publication.publish.0.saturating_sub(LONGEST_CALL));
        let is_inner = publication.intra.is_none() && publication.rclcpp.is_none();
        if is_inner && self.is_damaged(shortly_before, publication.publish) {
            return true;
        }
        let usual = publication
            .publisher
            .and_then(|publisher| self.outermost.get(publisher.index()));
        usual.is_some_and(|usual| outermost_layer(publication) > *usual)
    }
}

/// A call of `publish` reaches rcl in far less time than this, in nanoseconds.
const LONGEST_CALL: i64 = 1_000_000;

/// From the outside: 0 to 3, or 4 for none.
fn outermost_layer(publication: &Publication) -> u8 {
    let layers = [
        publication.intra,
        publication.rclcpp,
        publication.rcl,
        publication.rmw,
    ];
    let first = layers.iter().position(Option::is_some);
    first.unwrap_or(layers.len()) as u8
}

fn outermost_layers(model: &Model) -> Vec<u8> {
    if !model.losses.any() {
        return Vec::new();
    }
    let mut outermost = vec![u8::MAX; model.publishers.len()];
    for publication in &model.publications {
        if let Some(publisher) = publication.publisher {
            let layer = &mut outermost[publisher.index()];
            *layer = (*layer).min(outermost_layer(publication));
        }
    }
    outermost
}
