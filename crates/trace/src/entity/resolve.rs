//! From initialisation events to entities.
//!
//! Events are taken in the order in which things happened. A reference to an address means the youngest entity there; where
//! rclcpp emits a reference before what it refers to (an intra-process twin gets its callback before it is tied to its
//! subscription), the reference waits.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::distribution;

use super::process::full_name;
use super::{
    Address, CallbackGroupId, CallbackGroupType, CallbackId, CallbackOwner, Client, ClientId,
    Context, Entities, ExecutorId, Node, NodeId, Process, ProcessId, Publisher, PublisherId,
    RingBuffer, RingBufferId, Service, ServiceId, StateMachine, StateMachineId, SubscriptionId,
    Timer, TimerId,
};
use crate::import::{Init, TimedInit};
use crate::symbol;

/// How long a reference may wait for what it refers to: rclcpp emits both within one constructor.
const PATIENCE: i64 = 100_000_000;

/// References that wait, by process and address.
#[derive(Debug, Default)]
struct Waiting {
    /// Subscription objects that are tied to a subscription but have no callback yet.
    objects: HashMap<(ProcessId, Address), (Nanos, SubscriptionId)>,
    /// Callbacks of objects that are not tied to a subscription yet.
    callbacks: HashMap<(ProcessId, Address), (Nanos, CallbackId)>,
    /// Intra-process buffers of objects that are not tied to a subscription yet.
    ipbs: HashMap<(ProcessId, Address), (Nanos, RingBufferId)>,
    /// Groups of collectors that are not tied to an executor yet.
    collectors: HashMap<(ProcessId, Address), Vec<CallbackGroupId>>,
    gids: HashMap<(ProcessId, Address), Vec<u8>>,
}

/// In Iron rcl makes a node's service for descriptions of types and rclcpp adopts it, under a handle of its own, at once.
fn adopted_by_node(services: &[Service], process: ProcessId, time: Nanos) -> Option<ServiceId> {
    let adopted = services.iter().rposition(|service| {
        service.process == process
            && service.callback.is_none()
            && service.name.ends_with("/get_type_description")
            && (0..=PATIENCE).contains(&(time.0 - service.created.0))
    })?;
    Some(ServiceId::of(adopted))
}

pub(crate) fn resolve(inits: &[TimedInit], processes: &mut [Process]) -> Entities {
    let mut resolver = Resolver {
        entities: Entities::default(),
        waiting: Waiting::default(),
        rebound: HashMap::new(),
        processes,
    };
    // What a group is can only be told when all callbacks have their nodes.
    let (grouping, others): (Vec<_>, Vec<_>) =
        inits.iter().partition(|init| init.init.is_about_groups());
    for TimedInit {
        process,
        time,
        init,
        ..
    } in others.into_iter().chain(grouping)
    {
        resolver.take(*process, *time, init);
    }
    let Resolver {
        mut entities,
        processes,
        ..
    } = resolver;
    entities.link_late_nodes(inits, processes);
    entities.end_lifetimes();
    entities
}

struct Resolver<'p> {
    entities: Entities,
    waiting: Waiting,
    /// Groups that were given to an executor after they got their callbacks: what they were before.
    rebound: HashMap<CallbackGroupId, (CallbackGroupType, Option<ExecutorId>)>,
    processes: &'p mut [Process],
}

impl Resolver<'_> {
    fn take(&mut self, process: ProcessId, time: Nanos, init: &Init) {
        let all = &mut self.entities;
        match init {
            Init::Context { handle, version } => {
                all.contexts.push(Context {
                    process,
                    handle: *handle,
                    created: time,
                });
                if let Some(version) = version {
                    let it = &mut self.processes[process.index()];
                    it.distribution = it.distribution.or(distribution(version));
                    it.tracetools_version.get_or_insert_with(|| version.clone());
                }
            }
            Init::Caret { distribution, .. } => {
                let it = &mut self.processes[process.index()];
                it.distribution = distribution.parse().ok().or(it.distribution);
                it.has_caret = true;
            }
            Init::RmwImplementation { name } => {
                self.processes[process.index()]
                    .rmw_implementation
                    .get_or_insert_with(|| name.clone());
            }
            Init::Node {
                handle,
                name,
                namespace,
            } => {
                let id = NodeId::of(all.nodes.len());
                let name = full_name(namespace, name);
                all.nodes.push(Node {
                    process,
                    handle: *handle,
                    name,
                    created: time,
                    ended: None,
                });
                all.node_at.create(process, *handle, time, id);
            }
            Init::StateMachine { node, machine } => {
                let id = StateMachineId::of(all.state_machines.len());
                let node = all.node_at.at(process, *node, time);
                all.state_machines.push(StateMachine {
                    process,
                    node,
                    handle: *machine,
                    created: time,
                });
                all.machine_at.create(process, *machine, time, id);
            }
            Init::Publisher {
                handle,
                node,
                rmw,
                topic,
                depth,
            } => {
                let id = PublisherId::of(all.publishers.len());
                all.publishers.push(Publisher {
                    process,
                    node: all.node_at.at(process, *node, time),
                    handle: *handle,
                    rmw_handle: *rmw,
                    topic: topic.clone(),
                    depth: *depth,
                    created: time,
                    ended: None,
                });
                all.publisher_at.create(process, *handle, time, id);
                all.rmw_publisher_at.create(process, *rmw, time, id);
            }
            Init::Subscription {
                handle,
                node,
                rmw,
                topic,
                depth,
            } => {
                let node = all.node_at.at(process, *node, time);
                all.subscription(process, time, *handle, *rmw, node, topic, *depth);
            }
            Init::SubscriptionObject { handle, object } => {
                self.object(process, time, *handle, *object)
            }
            Init::SubscriptionCallback { object, callback } => {
                self.subscription_callback(process, time, *object, *callback);
            }
            Init::Service {
                handle,
                node,
                rmw,
                name,
            } => {
                let id = ServiceId::of(all.services.len());
                all.services.push(Service {
                    process,
                    node: all.node_at.at(process, *node, time),
                    handle: *handle,
                    rmw_handle: *rmw,
                    name: name.clone(),
                    created: time,
                    ended: None,
                    callback: None,
                });
                all.service_at.create(process, *handle, time, id);
                all.rmw_service_at.create(process, *rmw, time, id);
            }
            Init::ServiceCallback { handle, callback } => {
                let service = all.service_at.at(process, *handle, time);
                // The handle of a service that adopts another one's is not that of any init event.
                let service = service.filter(|id| all.services[id.index()].callback.is_none());
                let service = service.or_else(|| {
                    let adopted = adopted_by_node(&all.services, process, time)?;
                    all.service_at.create(process, *handle, time, adopted);
                    Some(adopted)
                });
                let owner = service.map_or(CallbackOwner::Unknown, CallbackOwner::Service);
                let callback = all.callback(process, time, *callback, owner);
                if let Some(service) = service {
                    all.services[service.index()].callback = Some(callback);
                }
            }
            Init::Client {
                handle,
                node,
                rmw,
                name,
            } => {
                let id = ClientId::of(all.clients.len());
                all.clients.push(Client {
                    process,
                    node: all.node_at.at(process, *node, time),
                    handle: *handle,
                    rmw_handle: *rmw,
                    name: name.clone(),
                    gid: self
                        .waiting
                        .gids
                        .remove(&(process, *rmw))
                        .unwrap_or_default(),
                    created: time,
                    ended: None,
                    group: None,
                });
                all.client_at.create(process, *handle, time, id);
                all.rmw_client_at.create(process, *rmw, time, id);
            }
            Init::RmwClient { rmw, gid } => {
                self.waiting.gids.insert((process, *rmw), gid.clone());
            }
            Init::Timer { handle, period } => {
                let id = TimerId::of(all.timers.len());
                all.timers.push(Timer {
                    process,
                    node: None,
                    handle: *handle,
                    period: Nanos(*period),
                    created: time,
                    ended: None,
                    callback: None,
                    simulated: false,
                });
                all.timer_at.create(process, *handle, time, id);
            }
            Init::TimerClock { handle, is_ros } => {
                if let Some(timer) = all.timer_at.at(process, *handle, time) {
                    all.timers[timer.index()].simulated = *is_ros;
                }
            }
            Init::TimerCallback { handle, callback } => {
                let timer = all.timer_at.at(process, *handle, time);
                let timer = timer.filter(|id| all.timers[id.index()].callback.is_none());
                let owner = timer.map_or(CallbackOwner::Unknown, CallbackOwner::Timer);
                let callback = all.callback(process, time, *callback, owner);
                if let Some(timer) = timer {
                    all.timers[timer.index()].callback = Some(callback);
                }
            }
            Init::TimerNode { handle, node } => {
                let node = all.node_at.at(process, *node, time);
                if let Some(timer) = all.timer_at.at(process, *handle, time) {
                    let timer = &mut all.timers[timer.index()];
                    timer.node = timer.node.or(node);
                }
            }
            Init::CallbackSymbol { callback, symbol } => {
                if let Some(callback) = all.callback_at.at(process, *callback, time) {
                    let callback = &mut all.callbacks[callback.index()];
                    callback.symbol = Some(symbol::demangled(symbol));
                }
            }
            Init::RingBuffer { buffer, capacity } => {
                let id = RingBufferId::of(all.ring_buffers.len());
                all.ring_buffers.push(RingBuffer {
                    process,
                    address: *buffer,
                    capacity: *capacity,
                    created: time,
                    subscription: None,
                });
                all.buffer_at.create(process, *buffer, time, id);
            }
            Init::BufferToIpb { buffer, ipb } => {
                if let Some(id) = all.buffer_at.at(process, *buffer, time) {
                    all.ipb_at.create(process, *ipb, time, id);
                }
            }
            Init::IpbToSubscription { ipb, object } => {
                if let Some(id) = all.ipb_at.at(process, *ipb, time) {
                    self.waiting.ipbs.insert((process, *object), (time, id));
                }
            }
            Init::Executor {
                executor,
                collector,
                name,
            } => {
                all.executor(process, time, *executor, Some(name));
                if let Some(collector) = collector.non_null() {
                    self.collector(process, time, *executor, collector);
                }
            }
            Init::CollectorToExecutor {
                executor,
                collector,
            } => {
                self.collector(process, time, *executor, *collector);
            }
            Init::GroupToExecutor {
                executor,
                group,
                name,
            } => {
                let executor = all.executor(process, time, *executor, None);
                let group = self.bound_group(process, time, *group, name);
                self.entities.groups[group.index()].executor = Some(executor);
            }
            Init::GroupToCollector {
                collector,
                group,
                name,
            } => {
                let group = self.bound_group(process, time, *group, name);
                let all = &mut self.entities;
                match all.collector_at.at(process, *collector, time) {
                    Some(executor) => all.groups[group.index()].executor = Some(executor),
                    None => self
                        .waiting
                        .collectors
                        .entry((process, *collector))
                        .or_default()
                        .push(group),
                }
            }
            Init::GroupTimer { group, timer } => {
                let timer = all.timer_at.around(process, *timer, time);
                let callback = timer.and_then(|timer| all.timers[timer.index()].callback);
                self.add_to_group(process, time, *group, callback);
            }
            Init::GroupSubscription {
                group,
                subscription,
            } => {
                let subscription = all.subscription_at.around(process, *subscription, time);
                let callback = subscription.and_then(|id| all.subscriptions[id.index()].callback);
                self.add_to_group(process, time, *group, callback);
            }
            Init::GroupService { group, service } => {
                let service = all.service_at.around(process, *service, time);
                let callback = service.and_then(|service| all.services[service.index()].callback);
                self.add_to_group(process, time, *group, callback);
            }
            Init::GroupClient { group, client } => {
                let group = all.group(process, time, *group);
                if let Some(client) = all.client_at.around(process, *client, time) {
                    // A group belongs to one node: for another one it is a new group at an old address.
                    let node = all.clients[client.index()].node;
                    let member = all.groups[group.index()].callbacks.first();
                    let fits = member.is_none_or(|member| all.node_of(*member) == node);
                    all.clients[client.index()].group = fits.then_some(group);
                }
            }
            Init::AgnocastSubscription {
                handle,
                node,
                callback,
                group,
                symbol,
                topic,
                depth,
                callback_info,
            } => {
                let node = all.node_at.at(process, *node, time);
                let id = all.subscription(process, time, *handle, Address(0), node, topic, *depth);
                let owner = CallbackOwner::Subscription(id);
                let callback = all.named_callback(process, time, *callback, owner, symbol);
                all.subscriptions[id.index()].callback = Some(callback);
                all.agnocast_callbacks
                    .insert((process, *callback_info), callback);
                self.add_to_group(process, time, *group, Some(callback));
            }
            Init::AgnocastTimer {
                handle,
                node,
                callback,
                group,
                symbol,
                period,
            } => {
                let id = TimerId::of(all.timers.len());
                let owner = CallbackOwner::Timer(id);
                let callback = all.named_callback(process, time, *callback, owner, symbol);
                all.timers.push(Timer {
                    process,
                    node: all.node_at.at(process, *node, time),
                    handle: *handle,
                    period: Nanos(*period),
                    created: time,
                    ended: None,
                    callback: Some(callback),
                    simulated: false,
                });
                all.timer_at.create(process, *handle, time, id);
                self.add_to_group(process, time, *group, Some(callback));
            }
        }
    }

    /// An rclcpp object is tied to its subscription; its callback or buffer may have been announced before.
    fn object(&mut self, process: ProcessId, time: Nanos, handle: Address, object: Address) {
        let all = &mut self.entities;
        let Some(subscription) = all.subscription_at.at(process, handle, time) else {
            return;
        };
        all.object_at.create(process, object, time, subscription);
        let recent = |(since, _): &(Nanos, _)| time.0 - since.0 <= PATIENCE;
        if let Some((_, buffer)) = self
            .waiting
            .ipbs
            .remove(&(process, object))
            .filter(|w| time.0 - w.0.0 <= PATIENCE)
        {
            all.ring_buffers[buffer.index()].subscription = Some(subscription);
            all.subscriptions[subscription.index()].intra_process = true;
        }
        match self
            .waiting
            .callbacks
            .remove(&(process, object))
            .filter(recent)
        {
            Some((_, callback)) => {
                // Only the twin gets its callback first.
                all.subscriptions[subscription.index()].intra_process = true;
                all.subscriptions[subscription.index()].callback = Some(callback);
                all.callbacks[callback.index()].owner = CallbackOwner::Subscription(subscription);
            }
            None => {
                self.waiting
                    .objects
                    .insert((process, object), (time, subscription));
            }
        }
    }

    fn subscription_callback(
        &mut self,
        process: ProcessId,
        time: Nanos,
        object: Address,
        callback: Address,
    ) {
        let all = &mut self.entities;
        let tied = self.waiting.objects.remove(&(process, object));
        match tied.filter(|(since, _)| time.0 - since.0 <= PATIENCE) {
            Some((_, subscription)) => match all.subscriptions[subscription.index()].callback {
                Some(twin) => {
                    // The object for other processes is announced last and stands first.
                    all.callbacks[twin.index()].addresses.insert(0, callback);
                    all.callback_at.create(process, callback, time, twin);
                }
                None => {
                    let owner = CallbackOwner::Subscription(subscription);
                    let id = all.callback(process, time, callback, owner);
                    all.subscriptions[subscription.index()].callback = Some(id);
                }
            },
            None => {
                let id = all.callback(process, time, callback, CallbackOwner::Unknown);
                self.waiting.callbacks.insert((process, object), (time, id));
            }
        }
    }

    /// The group at an address, which is given to an executor now.
    fn bound_group(
        &mut self,
        process: ProcessId,
        time: Nanos,
        address: Address,
        kind: &str,
    ) -> CallbackGroupId {
        let id = self.entities.group(process, time, address);
        let group = &mut self.entities.groups[id.index()];
        let is_bound = group.executor.is_some() || group.kind != CallbackGroupType::Unknown;
        if is_bound && !group.callbacks.is_empty() {
            // A new group may be given away before it has callbacks; then this is not about the one that has them.
            self.rebound
                .entry(id)
                .or_insert((group.kind, group.executor));
        }
        group.kind = CallbackGroupType::parse(kind);
        id
    }

    fn add_to_group(
        &mut self,
        process: ProcessId,
        time: Nanos,
        group: Address,
        callback: Option<CallbackId>,
    ) {
        let Some(callback) = callback else { return };
        let all = &mut self.entities;
        let mut id = all.group(process, time, group);
        // A group belongs to one node: for another one it is a new group at an old address.
        let node = all.node_of(callback);
        let before = self.rebound.remove(&id);
        let members = &all.groups[id.index()].callbacks;
        if members
            .first()
            .is_some_and(|member| all.node_of(*member) != node)
        {
            let new = all.new_group(process, time, group);
            if let Some((kind, executor)) = before {
                let old = &mut all.groups[id.index()];
                let bound = (
                    std::mem::replace(&mut old.kind, kind),
                    std::mem::replace(&mut old.executor, executor),
                );
                let new = &mut all.groups[new.index()];
                (new.kind, new.executor) = bound;
            }
            id = new;
        }
        all.groups[id.index()].callbacks.push(callback);
        all.callbacks[callback.index()].group = Some(id);
    }

    fn collector(
        &mut self,
        process: ProcessId,
        time: Nanos,
        executor: Address,
        collector: Address,
    ) {
        let executor = self.entities.executor(process, time, executor, None);
        self.entities
            .collector_at
            .create(process, collector, time, executor);
        for group in self
            .waiting
            .collectors
            .remove(&(process, collector))
            .unwrap_or_default()
        {
            self.entities.groups[group.index()].executor = Some(executor);
        }
    }
}
