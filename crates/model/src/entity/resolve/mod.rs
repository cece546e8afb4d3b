//! From initialisation events to entities.
//!
//! Events are taken in the order in which things happened. A reference to an address means the youngest entity there; where
//! rclcpp emits a reference before what it refers to (an intra-process subscription gets its callback before it is tied to its
//! subscription), the reference waits: `intra_process_subscription` keeps those of subscriptions, `group` those of executors. `lifecycle` knows whose services rclcpp adopts.

mod group;
mod intra_process_subscription;
mod lifecycle;

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::distribution;

use group::Groups;
use intra_process_subscription::IntraProcessSubscriptions;

use super::process::full_name;
use super::{
    Address, CallbackOwner, Client, ClientId, Entities, Node, NodeId, Process, ProcessId,
    Publisher, PublisherId, RingBuffer, RingBufferId, Service, ServiceId, StateMachine,
    StateMachineId, Timer, TimerId, Unseen,
};
use crate::import::{Init, TimedInit};
use crate::symbol;

/// How long a reference may wait for what it refers to: rclcpp emits both within one constructor.
const PATIENCE: i64 = 100_000_000;

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
        intra_process: IntraProcessSubscriptions::default(),
        groups: Groups::default(),
        gids: HashMap::new(),
        processes,
    };
    // What a group is can only be told when all callbacks have their nodes.
    let (grouping, others): (Vec<_>, Vec<_>) = inits
        .iter()
        .partition(|init| matches!(init.init, Init::Grouping(_)));
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
    intra_process: IntraProcessSubscriptions,
    groups: Groups,
    /// Of clients that the layer of the middleware has reported, by their handles there.
    gids: HashMap<(ProcessId, Address), Vec<u8>>,
    processes: &'p mut [Process],
}

impl Resolver<'_> {
    fn take(&mut self, process: ProcessId, time: Nanos, init: &Init) {
        let all = &mut self.entities;
        match init {
            Init::Context { version, .. } => {
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
            Init::Hook {
                function,
                library,
                is_bypassed,
            } => {
                let unseen = &mut self.processes[process.index()].unseen;
                unseen.retain(|other| other.function != *function);
                if *is_bypassed {
                    unseen.push(Unseen {
                        function: function.clone(),
                        library: library.clone(),
                    });
                }
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
                self.intra_process
                    .object(all, process, time, *handle, *object);
            }
            Init::SubscriptionCallback { object, callback } => {
                self.intra_process
                    .callback(all, process, time, *object, *callback);
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
                    gid: self.gids.remove(&(process, *rmw)).unwrap_or_default(),
                    created: time,
                    ended: None,
                    group: None,
                });
                all.client_at.create(process, *handle, time, id);
                all.rmw_client_at.create(process, *rmw, time, id);
            }
            Init::RmwClient { rmw, gid } => {
                self.gids.insert((process, *rmw), gid.clone());
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
                    ros_clock: None,
                    simulated: false,
                });
                all.timer_at.create(process, *handle, time, id);
            }
            Init::TimerClock { handle, is_ros } => {
                if let Some(timer) = all.timer_at.at(process, *handle, time) {
                    all.timers[timer.index()].ros_clock = Some(*is_ros);
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
                if let Some(id) = all.callback_at.at(process, *callback, time) {
                    all.callbacks[id.index()].symbol = Some(symbol::demangled(symbol));
                    lifecycle::adopt(all, id);
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
                    self.intra_process.buffer(process, time, *object, id);
                }
            }
            Init::Grouping(grouping) => self.groups.take(all, process, time, grouping),
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
                self.groups.add(all, process, time, *group, Some(callback));
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
                    ros_clock: None,
                    simulated: false,
                });
                all.timer_at.create(process, *handle, time, id);
                self.groups.add(all, process, time, *group, Some(callback));
            }
        }
    }
}
