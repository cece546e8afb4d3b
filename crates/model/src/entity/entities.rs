//! All entities of a trace, and which address meant whom when.
//!
//! `resolve` makes them from the events of the initialisation, through the functions here that put one more into its table and
//! note its address; afterwards rows ask for the entity that an address meant at a time.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::Distribution;

use super::{
    Address, Callback, CallbackGroup, CallbackGroupId, CallbackGroupType, CallbackId,
    CallbackOwner, Client, ClientId, Executor, ExecutorId, ExecutorType, Generations, Node, NodeId,
    Process, ProcessId, Publisher, PublisherId, RingBuffer, RingBufferId, Service, ServiceId,
    StateMachine, StateMachineId, Subscription, SubscriptionId, ThreadId, Timer, TimerId,
};
use crate::import::{Ending, Ends, Init, TimedInit};
use crate::symbol;

/// All entities, and which address meant whom when.
#[derive(Debug, Default)]
pub(crate) struct Entities {
    pub(crate) nodes: Vec<Node>,
    pub(crate) publishers: Vec<Publisher>,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) timers: Vec<Timer>,
    pub(crate) services: Vec<Service>,
    pub(crate) clients: Vec<Client>,
    pub(crate) callbacks: Vec<Callback>,
    pub(crate) groups: Vec<CallbackGroup>,
    pub(crate) executors: Vec<Executor>,
    pub(crate) state_machines: Vec<StateMachine>,
    pub(crate) ring_buffers: Vec<RingBuffer>,
    pub(super) node_at: Generations<NodeId>,
    pub(super) publisher_at: Generations<PublisherId>,
    pub(super) rmw_publisher_at: Generations<PublisherId>,
    pub(super) subscription_at: Generations<SubscriptionId>,
    pub(super) rmw_subscription_at: Generations<SubscriptionId>,
    /// By the address of the rclcpp object, of which a subscription can have two.
    pub(super) object_at: Generations<SubscriptionId>,
    pub(super) timer_at: Generations<TimerId>,
    pub(super) service_at: Generations<ServiceId>,
    pub(super) rmw_service_at: Generations<ServiceId>,
    pub(super) client_at: Generations<ClientId>,
    pub(super) rmw_client_at: Generations<ClientId>,
    pub(super) callback_at: Generations<CallbackId>,
    pub(super) group_at: Generations<CallbackGroupId>,
    pub(super) executor_at: Generations<ExecutorId>,
    pub(super) collector_at: Generations<ExecutorId>,
    pub(super) machine_at: Generations<StateMachineId>,
    pub(super) buffer_at: Generations<RingBufferId>,
    pub(super) ipb_at: Generations<RingBufferId>,
    /// Agnocast numbers the callbacks of a process.
    pub(super) agnocast_callbacks: HashMap<(ProcessId, u64), CallbackId>,
}

impl Entities {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn subscription(
        &mut self,
        process: ProcessId,
        time: Nanos,
        handle: Address,
        rmw_handle: Address,
        node: Option<NodeId>,
        topic: &str,
        depth: u64,
    ) -> SubscriptionId {
        let id = SubscriptionId::of(self.subscriptions.len());
        self.subscriptions.push(Subscription {
            process,
            node,
            handle,
            rmw_handle,
            topic: topic.to_owned(),
            depth,
            created: time,
            ended: None,
            callback: None,
            intra_process: false,
        });
        self.subscription_at.create(process, handle, time, id);
        self.rmw_subscription_at
            .create(process, rmw_handle, time, id);
        id
    }

    pub(super) fn callback(
        &mut self,
        process: ProcessId,
        time: Nanos,
        address: Address,
        owner: CallbackOwner,
    ) -> CallbackId {
        let id = CallbackId::of(self.callbacks.len());
        self.callbacks.push(Callback {
            process,
            owner,
            addresses: vec![address],
            symbol: None,
            group: None,
            created: time,
        });
        self.callback_at.create(process, address, time, id);
        id
    }

    pub(super) fn named_callback(
        &mut self,
        process: ProcessId,
        time: Nanos,
        address: Address,
        owner: CallbackOwner,
        name: &str,
    ) -> CallbackId {
        let id = self.callback(process, time, address, owner);
        self.callbacks[id.index()].symbol = Some(symbol::demangled(name));
        id
    }

    pub(super) fn executor(
        &mut self,
        process: ProcessId,
        time: Nanos,
        address: Address,
        name: Option<&str>,
    ) -> ExecutorId {
        let known = self.executor_at.at(process, address, time);
        let id = known.unwrap_or_else(|| {
            let id = ExecutorId::of(self.executors.len());
            let kind = ExecutorType::Other(String::new());
            self.executors.push(Executor {
                process,
                address,
                kind,
                created: time,
            });
            self.executor_at.create(process, address, time, id);
            id
        });
        if let Some(name) = name {
            self.executors[id.index()].kind = ExecutorType::parse(name);
        }
        id
    }

    pub(super) fn group(
        &mut self,
        process: ProcessId,
        time: Nanos,
        address: Address,
    ) -> CallbackGroupId {
        let known = self.group_at.at(process, address, time);
        known.unwrap_or_else(|| self.new_group(process, time, address))
    }

    pub(super) fn new_group(
        &mut self,
        process: ProcessId,
        time: Nanos,
        address: Address,
    ) -> CallbackGroupId {
        let id = CallbackGroupId::of(self.groups.len());
        self.groups.push(CallbackGroup {
            process,
            address,
            kind: CallbackGroupType::Unknown,
            created: time,
            executor: None,
            callbacks: Vec::new(),
        });
        self.group_at.create(process, address, time, id);
        id
    }

    /// The node that a callback belongs to.
    pub(crate) fn node_of(&self, callback: CallbackId) -> Option<NodeId> {
        match self.callbacks[callback.index()].owner {
            CallbackOwner::Timer(id) => self.timers[id.index()].node,
            CallbackOwner::Subscription(id) => self.subscriptions[id.index()].node,
            CallbackOwner::Service(id) => self.services[id.index()].node,
            CallbackOwner::Unknown => None,
        }
    }

    /// Up to Iron a node's publisher of `/rosout` is created before the node tells of itself.
    pub(super) fn link_late_nodes(&mut self, inits: &[TimedInit], processes: &[Process]) {
        for TimedInit {
            process,
            time,
            init,
            ..
        } in inits
        {
            if let Init::Publisher {
                handle,
                node,
                topic,
                ..
            } = init
                && topic == "/rosout"
                && let Some(id) = self.publisher_at.at(*process, *handle, *time)
            {
                self.publishers[id.index()].node = match processes[process.index()].distribution {
                    Some(known) if known >= Distribution::Jazzy => {
                        self.node_at.at(*process, *node, *time)
                    }
                    Some(_) => self.node_at.after(*process, *node, *time),
                    None => self.node_at.nearest(*process, *node, *time),
                };
            }
        }
    }

    pub(super) fn end_lifetimes(&mut self) {
        for (index, publisher) in self.publishers.iter_mut().enumerate() {
            let id = PublisherId::of(index);
            publisher.ended = self.publisher_at.end_of(
                publisher.process,
                publisher.handle,
                publisher.created,
                id,
            );
        }
        for (index, subscription) in self.subscriptions.iter_mut().enumerate() {
            let id = SubscriptionId::of(index);
            subscription.ended = self.subscription_at.end_of(
                subscription.process,
                subscription.handle,
                subscription.created,
                id,
            );
        }
    }
}

impl Entities {
    /// What was destroyed ends then, not when its address is used again.
    pub(crate) fn end(&mut self, endings: &[Ending], process_of: impl Fn(ThreadId) -> ProcessId) {
        for ending in endings {
            let (process, handle, time) = (process_of(ending.thread), ending.handle, ending.time);
            let ended = match ending.what {
                Ends::Node => (self.node_at.at(process, handle, time))
                    .map(|id| &mut self.nodes[id.index()].ended),
                Ends::Publisher => (self.publisher_at.at(process, handle, time))
                    .map(|id| &mut self.publishers[id.index()].ended),
                Ends::Subscription => (self.subscription_at.at(process, handle, time))
                    .map(|id| &mut self.subscriptions[id.index()].ended),
                Ends::Service => (self.service_at.at(process, handle, time))
                    .map(|id| &mut self.services[id.index()].ended),
                Ends::Client => (self.clients.iter_mut().rev())
                    .find(|it| it.process == process && it.handle == handle && it.created <= time)
                    .map(|client| &mut client.ended),
                Ends::Timer => (self.timer_at.at(process, handle, time))
                    .map(|id| &mut self.timers[id.index()].ended),
            };
            if let Some(ended) = ended {
                *ended = Some(ended.map_or(time, |known| known.min(time)));
            }
        }
    }

    pub(crate) fn callback_of(
        &self,
        process: ProcessId,
        address: Address,
        at: Nanos,
    ) -> Option<CallbackId> {
        self.callback_at.at(process, address, at)
    }

    pub(crate) fn agnocast_callback(&self, process: ProcessId, info: u64) -> Option<CallbackId> {
        self.agnocast_callbacks.get(&(process, info)).copied()
    }

    pub(crate) fn timer_callback(
        &self,
        process: ProcessId,
        timer: Address,
        at: Nanos,
    ) -> Option<CallbackId> {
        let timer = self.timer_at.at(process, timer, at)?;
        self.timers[timer.index()].callback
    }

    /// The publisher of a publication: by its rcl handle or, since that of `/rosout` is a passing one, by
    /// its rmw handle.
    pub(crate) fn publisher_of(
        &self,
        process: ProcessId,
        handle: Address,
        rmw_handle: Address,
        at: Nanos,
    ) -> Option<PublisherId> {
        let by_rmw = rmw_handle
            .non_null()
            .and_then(|rmw| self.rmw_publisher_at.at(process, rmw, at));
        let by_rcl = || {
            handle
                .non_null()
                .and_then(|rcl| self.publisher_at.at(process, rcl, at))
        };
        by_rmw.or_else(by_rcl)
    }

    pub(crate) fn subscription_of(
        &self,
        process: ProcessId,
        rmw_handle: Address,
        at: Nanos,
    ) -> Option<SubscriptionId> {
        self.rmw_subscription_at.at(process, rmw_handle, at)
    }

    pub(crate) fn service_of(
        &self,
        process: ProcessId,
        rmw_handle: Address,
        at: Nanos,
    ) -> Option<ServiceId> {
        self.rmw_service_at.at(process, rmw_handle, at)
    }

    pub(crate) fn client_of(
        &self,
        process: ProcessId,
        rmw_handle: Address,
        at: Nanos,
    ) -> Option<ClientId> {
        self.rmw_client_at.at(process, rmw_handle, at)
    }

    pub(crate) fn ring_buffer_of(
        &self,
        process: ProcessId,
        buffer: Address,
        at: Nanos,
    ) -> Option<RingBufferId> {
        self.buffer_at.at(process, buffer, at)
    }

    pub(crate) fn state_machine_of(
        &self,
        process: ProcessId,
        machine: Address,
        at: Nanos,
    ) -> Option<StateMachineId> {
        self.machine_at.at(process, machine, at)
    }
}
