//! A trace understood: entities and flows as tables.

use std::collections::HashSet;

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Damage, TraceSet};
use rostrace_tracepoints::Kind;

use crate::entity::{
    Address, Callback, CallbackGroup, CallbackId, CallbackOwner, Client, Entities, Executor, Host,
    InstanceId, Node, NodeId, Process, ProcessId, Publisher, Service, StateMachine, Subscription,
    Thread, ThreadId, Timer, resolve,
};
use crate::flow::{
    self, CallbackInstance, ClientCallback, ConditionNotification, Delivery, Enqueue,
    ExecutorPhase, LifecycleState, LockWait, Losses, MeasuredExecution, MessageLink, MessageSize,
    MessageSizeOf, Publication, Request, ServiceStep, SimTime, Take, TildeEndpoint, TildeStep,
    Transition, UserEvent,
};
use crate::import::{Imported, import, import_entities};
use crate::left_out::LeftOut;

/// Everything that a trace says about a ROS 2 system. Ids index the tables; rows are in the order of time.
#[derive(Debug)]
pub struct Model {
    pub hosts: Vec<Host>,
    pub processes: Vec<Process>,
    pub threads: Vec<Thread>,
    pub nodes: Vec<Node>,
    pub publishers: Vec<Publisher>,
    pub subscriptions: Vec<Subscription>,
    pub timers: Vec<Timer>,
    pub services: Vec<Service>,
    pub clients: Vec<Client>,
    pub callbacks: Vec<Callback>,
    pub callback_groups: Vec<CallbackGroup>,
    pub executors: Vec<Executor>,
    pub state_machines: Vec<StateMachine>,

    pub instances: Vec<CallbackInstance>,
    /// Executions of which the CPU clock of their thread is known, by [`MeasuredExecution::instance`]; see
    /// [`Model::measured_execution`].
    pub measured_executions: Vec<MeasuredExecution>,
    pub publications: Vec<Publication>,
    pub takes: Vec<Take>,
    pub enqueues: Vec<Enqueue>,
    pub deliveries: Vec<Delivery>,
    pub phases: Vec<ExecutorPhase>,
    pub transitions: Vec<Transition>,
    /// The states that the transitions lead to.
    pub lifecycle_states: Vec<LifecycleState>,
    pub service_steps: Vec<ServiceStep>,
    /// Executions of clients' callbacks, where our own tracer tells them.
    pub client_callbacks: Vec<ClientCallback>,
    /// The steps of each call of a service, together.
    pub requests: Vec<Request>,
    pub sim_times: Vec<SimTime>,
    pub message_links: Vec<MessageLink>,
    pub message_sizes: Vec<MessageSize>,
    /// What TILDE calls its subscriptions, publishers and inputs.
    pub tilde_endpoints: Vec<TildeEndpoint>,
    pub tilde_steps: Vec<TildeStep>,
    /// What applications say of themselves.
    pub user_events: Vec<UserEvent>,
    /// Where locks were recorded: who waited for one that another thread held, or for a condition variable.
    pub lock_waits: Vec<LockWait>,
    pub condition_notifications: Vec<ConditionNotification>,

    /// When the recording began: relative times count from here, in all outputs. Some things were created earlier.
    pub begin: Option<Nanos>,
    pub end: Option<Nanos>,
    pub events: u64,
    /// How long after reading the clock CARET wrote its first `caret_init`. CARET takes both for the same instant, so all its times
    /// of initialisation are late by this.
    pub caret_lateness: Option<Nanos>,
    /// How often each kind of event occurred, by [`Kind::index`].
    pub kinds: Vec<u64>,
    /// What was found wrong while reading; what was known before is in [`TraceSet::damage`].
    pub damage: Vec<Damage>,
    /// When events were lost.
    pub losses: Losses,
    /// What was not to be recorded: of such nodes and topics there is nothing but that they exist.
    pub left_out: LeftOut,
}

impl Model {
    /// Reads all events of a set. `progress` hears of the bytes done and says whether to go on.
    pub fn load(set: &TraceSet, progress: &mut dyn FnMut(u64) -> bool) -> Model {
        Model {
            left_out: LeftOut::of(set),
            ..Model::of(import(set, progress))
        }
    }

    /// Reads only the events that create entities, so that there are no flows: from the start of a set until so many of
    /// them were found.
    pub fn load_entities(set: &TraceSet, events: u64) -> Model {
        Model {
            left_out: LeftOut::of(set),
            ..Model::of(import_entities(set, events))
        }
    }

    fn of(mut imported: Imported) -> Model {
        let measured_executions = imported.measured_executions();
        let inits = std::mem::take(&mut imported.inits);
        let mut entities = resolve(&inits, &mut imported.population.processes);
        entities.end(&imported.endings, |thread| {
            imported.population.process_of(thread)
        });
        drop(inits);
        flow::connect(&mut imported, &entities);
        simulate(&imported, &mut entities);
        for size in &mut imported.message_sizes {
            let process = imported.population.process_of(size.thread);
            match &mut size.by {
                MessageSizeOf::Publisher(handle, id) => {
                    *id = entities.publisher_of(process, Address(0), *handle, size.time);
                }
                MessageSizeOf::Subscription(handle, id) => {
                    *id = entities.subscription_of(process, *handle, size.time);
                }
            }
        }
        let deliveries = flow::deliveries(&mut imported, &entities);
        let requests = flow::requests(&mut imported, &entities);
        let lifecycle_states = flow::lifecycle_states(
            &entities.state_machines,
            &imported.transitions,
            &imported.losses,
        );
        let Entities {
            nodes,
            publishers,
            subscriptions,
            timers,
            services,
            clients,
            callbacks,
            groups,
            executors,
            state_machines,
            ..
        } = entities;
        Model {
            hosts: imported.population.hosts,
            processes: imported.population.processes,
            threads: imported.population.threads,
            nodes,
            publishers,
            subscriptions,
            timers,
            services,
            clients,
            callbacks,
            callback_groups: groups,
            executors,
            state_machines,
            measured_executions,
            instances: imported.instances,
            publications: imported.publications,
            takes: imported.takes,
            enqueues: imported.enqueues,
            deliveries,
            phases: imported.phases,
            transitions: imported.transitions,
            lifecycle_states,
            service_steps: imported.service_steps,
            client_callbacks: imported.client_callbacks,
            requests,
            sim_times: flow::of_one_process_at_a_time(&imported.sim_times),
            message_links: imported.message_links,
            message_sizes: imported.message_sizes,
            tilde_endpoints: imported.tilde_endpoints,
            tilde_steps: imported.tilde_steps,
            user_events: imported.user_events,
            lock_waits: imported.lock_waits,
            condition_notifications: imported.condition_notifications,
            begin: imported.begin,
            end: imported.end,
            events: imported.events,
            caret_lateness: imported.caret_lateness.map(Nanos),
            kinds: imported.kinds,
            left_out: LeftOut::default(),
            damage: imported.damage,
            losses: imported.losses,
        }
    }

    /// What the CPU clock of its thread says of an execution, if it was read.
    pub fn measured_execution(&self, instance: InstanceId) -> Option<&MeasuredExecution> {
        let all = &self.measured_executions;
        let place = all.binary_search_by_key(&instance, |it| it.instance);
        place.ok().map(|place| &all[place])
    }

    pub fn process_of(&self, thread: ThreadId) -> ProcessId {
        self.threads[thread.index()].process
    }

    /// How long a process was observed between two instants, in nanoseconds: what utilisations, rates and shares are parts of.
    pub fn observed(&self, process: ProcessId, from: Nanos, to: Nanos) -> i64 {
        let (begin, end) = self.processes[process.index()].recorded();
        let (begin, end) = (begin.max(from), end.min(to));
        let length = end.0.saturating_sub(begin.0).max(0);
        length - self.losses.paused(begin, end)
    }

    /// Whether the times of two processes are of one clock: they are on one host, or in two containers of one.
    pub fn have_one_clock(&self, a: ProcessId, b: ProcessId) -> bool {
        let host = |process: ProcessId| self.processes[process.index()].host;
        let clock = |process: ProcessId| self.hosts[host(process).index()].clock;
        host(a) == host(b) || clock(a).is_some() && clock(a) == clock(b)
    }

    pub fn host_name(&self, process: ProcessId) -> &str {
        &self.hosts[self.processes[process.index()].host.index()].name
    }

    /// The node that a callback belongs to.
    pub fn node_of_callback(&self, callback: CallbackId) -> Option<NodeId> {
        match self.callbacks[callback.index()].owner {
            CallbackOwner::Timer(id) => self.timers[id.index()].node,
            CallbackOwner::Subscription(id) => self.subscriptions[id.index()].node,
            CallbackOwner::Service(id) => self.services[id.index()].node,
            CallbackOwner::Unknown => None,
        }
    }

    pub fn node_name(&self, node: Option<NodeId>) -> Option<&str> {
        node.map(|node| self.nodes[node.index()].name.as_str())
    }

    /// How often a kind of event occurred.
    pub fn count(&self, kind: Kind) -> u64 {
        self.kinds[kind.index()]
    }
}

/// Says which timers go by simulated time. The clock of ROS is the system's where nobody simulates, and a timer cannot go by a `/clock` that never came.
fn simulate(imported: &Imported, entities: &mut Entities) {
    let simulated: HashSet<ProcessId> = (imported.sim_times.iter())
        .map(|(process, _)| *process)
        .collect();
    let took = imported.takes.iter().filter_map(|take| take.subscription);
    let ran = imported.instances.iter().filter_map(|it| it.callback);
    let ran = ran.filter_map(|id| match entities.callbacks[id.index()].owner {
        CallbackOwner::Subscription(subscription) => Some(subscription),
        _ => None,
    });
    let listening: HashSet<NodeId> = (took.chain(ran))
        .map(|id| &entities.subscriptions[id.index()])
        .filter(|it| it.topic == "/clock")
        .filter_map(|it| it.node)
        .collect();
    for timer in &mut entities.timers {
        let listens = timer.node.is_some_and(|node| listening.contains(&node));
        timer.simulated = match timer.ros_clock {
            Some(false) => false,
            Some(true) => listens || simulated.contains(&timer.process),
            None => listens,
        };
    }
}
