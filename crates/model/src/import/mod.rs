//! One pass over the events, in the order of time.
//!
//! Initialisation events are only collected (`init`); everything else becomes rows at once, tied together by thread, order and
//! message. Nothing here knows a name: rows carry addresses, which `entity::resolve` and `flow` turn into
//! entities when all events have been seen.

mod client_callback;
mod ending;
mod execution;
mod init;
mod init_time;
mod intra_process;
mod lock;
mod message_size;
mod publication;
mod restart;
mod service;
mod take;
mod thread_clock;
mod thread_state;
mod tilde;
mod user_event;

use std::collections::HashMap;

use rostrace_ctf::schema::{Cycles, Nanos};
use rostrace_ctf::{Conversion, Cursor, Damage, Trace, TraceSet};
use rostrace_tracepoints::{Kind, Phase, field};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::binding::{Bindings, Fields};
use crate::entity::{Address, HostId, InstanceId, ProcessId, ThreadId};
use crate::flow::{
    CallbackInstance, ClientCallback, ConditionNotification, DataAvailable, Enqueue, ExecutorPhase,
    LockWait, Losses, MessageLink, MessageSize, PhaseKind, Publication, ServiceStep,
    ServiceStepKind, SimTime, Take, TildeEndpoint, TildeStep, Transition, UserEvent,
};
pub(crate) use ending::{Ending, Ends};
pub(crate) use init::{Grouping, Init, TimedInit};
use intra_process::RingBuffers;
use lock::Locks;
pub(crate) use publication::LATEST_STAMP;
pub(crate) use thread_state::{Layer, Population, ThreadState};
use user_event::UserEvents;

/// What the pass over the events leaves.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) population: Population,
    pub(crate) inits: Vec<TimedInit>,
    pub(crate) instances: Vec<CallbackInstance>,
    /// For callbacks during which another one began or the executor went on: when. If such a callback never ends, it
    /// was over by then.
    pub(crate) covered: FxHashMap<InstanceId, Nanos>,
    pub(crate) publications: Vec<Publication>,
    pub(crate) takes: Vec<Take>,
    pub(crate) data_available: Vec<DataAvailable>,
    pub(crate) enqueues: Vec<Enqueue>,
    pub(crate) phases: Vec<ExecutorPhase>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) service_steps: Vec<ServiceStep>,
    pub(crate) client_callbacks: Vec<ClientCallback>,
    /// What each process says.
    pub(crate) sim_times: Vec<(ProcessId, SimTime)>,
    pub(crate) message_links: Vec<MessageLink>,
    pub(crate) endings: Vec<Ending>,
    pub(crate) message_sizes: Vec<MessageSize>,
    pub(crate) tilde_endpoints: Vec<TildeEndpoint>,
    pub(crate) tilde_steps: Vec<TildeStep>,
    pub(crate) user_events: Vec<UserEvent>,
    pub(crate) lock_waits: Vec<LockWait>,
    pub(crate) condition_notifications: Vec<ConditionNotification>,
    /// Agnocast: what a callable stands for.
    pub(crate) callables: HashMap<(ProcessId, Address), Vec<(Nanos, Callable)>>,
    /// Executions of callables, with the callable's address in place of the callback's.
    pub(crate) callable_instances: Vec<InstanceId>,
    /// How long after reading the clock CARET wrote its first `caret_init`.
    pub(crate) caret_lateness: Option<i64>,
    /// What the clocks of threads said at the ends of executions.
    pub(crate) clocked: FxHashMap<InstanceId, thread_clock::Clocked>,
    /// Where a process may have been restarted under its old id.
    pub(crate) initialised_again: Vec<restart::Reinitialisation>,
    pub(crate) losses: Losses,
    pub(crate) damage: Vec<Damage>,
    pub(crate) events: u64,
    pub(crate) begin: Option<Nanos>,
    pub(crate) end: Option<Nanos>,
    /// How often each kind of event occurred.
    pub(crate) kinds: Vec<u64>,
}

/// What happened this long before it is reported is reported again.
const REPEATED: i64 = 1_000_000_000;

/// Agnocast makes an object for each call of a callback.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Callable {
    /// Entry number of the message, and which subscription's callback.
    Message {
        entry: i64,
        callback_info: u64,
    },
    Timer(Address),
}

/// Reads all events of a set.
pub(crate) fn import(set: &TraceSet, progress: &mut dyn FnMut(u64) -> bool) -> Imported {
    let (mut import, hosts) = Import::begin(set);
    let bindings: Vec<Bindings> = set.traces.iter().map(Bindings::new).collect();
    let mut cursor = Cursor::new(set, Conversion::Exact);
    let mut bits = 0;
    while let Some(event) = cursor.next() {
        let trace = event.stream_id().trace;
        let fields = Fields {
            binding: bindings[trace].of(&event),
            event,
        };
        import.event(hosts[trace], &fields);
        bits += event.event().end - event.event().start;
        if import.out.events.is_multiple_of(1 << 16) && !progress(bits / 8) {
            break;
        }
    }
    import.out.damage = std::mem::take(&mut cursor.damage).into_rows();
    import.finish()
}

/// Whether events of this kind tell of nodes, callbacks and the like.
pub fn creates_entities(kind: Kind) -> bool {
    use rostrace_tracepoints::Layer;
    let elsewhere = matches!(
        kind.layer(),
        Layer::LttngUst | Layer::Kernel | Layer::Dds | Layer::User
    );
    kind.phase() == Phase::Init && !elsewhere
}

/// Reads only the events that create entities, from the start of a set until so many of them were found.
pub(crate) fn import_entities(set: &TraceSet, events: u64) -> Imported {
    let (mut import, hosts) = Import::begin(set);
    let bindings: Vec<Bindings> = set.traces.iter().map(Bindings::new).collect();
    let mut cursor = Cursor::new(set, Conversion::Exact);
    let mut found = 0;
    while found < events
        && let Some(event) = cursor.next()
    {
        let trace = event.stream_id().trace;
        let binding = bindings[trace].of(&event);
        if binding.kind.is_some_and(creates_entities) {
            found += 1;
            import.event(hosts[trace], &Fields { binding, event });
        }
    }
    import.finish()
}

/// Whether a trace is the part of a recording that tells names, as a session for initialisation alone is.
fn tells_names_only(trace: &Trace) -> bool {
    let classes = (trace.schema.streams.iter()).flat_map(|stream| &stream.events);
    let mut names = classes.filter_map(|class| class.name.as_deref());
    let names_things =
        |name: &str| rostrace_tracepoints::find(name).is_some_and(|it| it.phase == Phase::Init);
    trace
        .streams
        .iter()
        .any(|stream| !stream.packets.is_empty())
        && names.all(names_things)
}

struct Import {
    out: Imported,
    /// When the recording began.
    origin: Option<Nanos>,
    rings: RingBuffers,
    user_events: UserEvents,
    locks: Locks,
    /// Where the publication of a message is known by its address (CARET's forks before Iron).
    messages: FxHashMap<(ProcessId, Address), crate::entity::PublicationId>,
    /// Service steps of requests that were begun, whose number is not known yet.
    unsent: FxHashSet<usize>,
    /// By trace: whether it was made to tell names, while another one tells what happens.
    names_only: Vec<bool>,
}

impl Import {
    /// An import without events, and the hosts of the set's traces.
    fn begin(set: &TraceSet) -> (Import, Vec<HostId>) {
        let mut import = Import {
            origin: set.span().map(|(begin, _)| begin),
            out: Imported {
                losses: Losses::of(set),
                kinds: vec![0; Kind::COUNT],
                ..Imported::default()
            },
            rings: RingBuffers::default(),
            user_events: UserEvents::default(),
            locks: Locks::default(),
            messages: FxHashMap::default(),
            unsent: FxHashSet::default(),
            names_only: set.traces.iter().map(tells_names_only).collect(),
        };
        let hosts = set.traces.iter().map(|trace| {
            let name = trace.schema.environment_text("hostname");
            let clock = trace.schema.clocks.first().and_then(|clock| clock.uuid);
            import.out.population.host(name.unwrap_or_default(), clock)
        });
        let hosts = hosts.collect();
        (import, hosts)
    }

    #[inline]
    fn event(&mut self, host: HostId, fields: &Fields<'_>) {
        let time = fields.event.nanos();
        let names_things = (fields.binding.kind).is_some_and(|kind| kind.phase() == Phase::Init);
        if names_things && self.is_in_another_cut(time, fields) {
            return;
        }
        self.out.events += 1;
        if self.out.begin.is_none() {
            self.out.begin = self.origin.or(time);
        }
        self.out.end = time.or(self.out.end);
        let Some(kind) = fields.binding.kind else {
            return;
        };
        self.out.kinds[kind.index()] += 1;
        let Some(time) = time else { return };
        let (Some(pid), Some(tid)) = fields.binding.ids(&fields.event) else {
            return;
        };
        let name = || {
            fields
                .binding
                .procname(&fields.event)
                .map(|name| name.into_owned())
        };
        let before = match kind {
            Kind::RclInit => self.out.population.process_seen(host, pid),
            _ => None,
        };
        let thread = self.out.population.thread(host, pid, tid, time, name);
        if let Some(before) = before {
            self.note_initialised_again(before, time, pid == tid, fields);
        }
        // A lock may be waited for before the middleware has made its stamp.
        if !lock::is_of_locks(kind)
            && let Some(publication) = self.out.population.state(thread).unsettled.take()
        {
            let publication = &mut self.out.publications[publication.index()];
            publication.until = time.min(publication.until);
            publication.returned_by.get_or_insert(time);
        }
        if names_things {
            match self.recorded_from(time, fields) {
                Some(from) => self.out.population.note_replayed(thread, from),
                None => self.out.population.note_recorded(thread, time),
            }
            self.init(kind, thread, time, fields);
        } else {
            self.out.population.note_recorded(thread, time);
            self.run(kind, thread, time, fields);
        }
    }

    #[cold]
    fn is_in_another_cut(&self, time: Option<Nanos>, fields: &Fields<'_>) -> bool {
        let (trace, stream) = (fields.event.trace(), fields.event.stream());
        time.is_some_and(|time| trace.is_in_another_cut(stream, time))
    }

    /// For an event that only names something, and tells nothing of when its process was recorded: from when on that may have been.
    #[cold]
    fn recorded_from(&self, time: Nanos, fields: &Fields<'_>) -> Option<Nanos> {
        let trace = fields.event.trace();
        let tells_names_only = || {
            trace.is_statedump(fields.event.stream())
                || self.names_only[fields.event.stream_id().trace]
        };
        let never = || tells_names_only().then_some(Nanos(i64::MAX));
        trace.kept_from(time).or_else(never)
    }

    #[cold]
    fn note_initialised_again(
        &mut self,
        (process, last): (ProcessId, Nanos),
        time: Nanos,
        on_main_thread: bool,
        fields: &Fields<'_>,
    ) {
        let base = (fields.event.trace()).time_base(fields.event.stream(), Conversion::Exact);
        let happened = fields.number(field::rcl_init::INIT_TIMESTAMP);
        if happened.is_some_and(|then| time.0 - base.nanos(Cycles(then)).0 > REPEATED) {
            return;
        }
        let name = on_main_thread.then(|| fields.binding.procname(&fields.event));
        self.out.initialised_again.push(restart::Reinitialisation {
            process,
            at: time,
            name: name.flatten().map(|name| name.into_owned()),
            version: fields.text(field::rcl_init::VERSION),
            // This event is counted already.
            events: self.out.population.processes[process.index()].events - 1,
            last,
        });
    }

    fn init(&mut self, kind: Kind, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        let process = self.out.population.process_of(thread);
        // What a new entity does at once, a late subscription's messages for instance, is of no publication before.
        self.out.population.state(thread).publication = None;
        if matches!(
            kind,
            Kind::MessageLinkPartialSync | Kind::MessageLinkPeriodicAsync
        ) {
            return self.message_link(kind, thread, time, fields);
        }
        if kind.layer() == rostrace_tracepoints::Layer::Tilde {
            return self.tilde_endpoint(kind, thread, time, fields);
        }
        let Some((init, stamp)) = init::parse(kind, fields) else {
            return;
        };
        // CARET says when it happened, on the trace's own clock.
        let base = fields
            .event
            .trace()
            .time_base(fields.event.stream(), Conversion::Exact);
        let clock = match &init {
            Init::Caret { clock, .. } => Some(*clock),
            _ => stamp,
        };
        let happened = clock.map_or(time, |clock| base.nanos(Cycles(clock)));
        if let (Init::Caret { .. }, None) = (&init, self.out.caret_lateness) {
            self.out.caret_lateness = Some(time.0 - happened.0);
        }
        if let Init::RingBuffer { buffer, .. } = &init {
            self.rings
                .forget_before((process, *buffer), happened, &self.out.enqueues);
        }
        self.out.inits.push(TimedInit {
            process,
            time: happened,
            recorded: time,
            stamp,
            init,
        });
    }

    #[inline]
    fn run(&mut self, kind: Kind, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        match kind {
            Kind::CallbackStart => {
                use field::callback_start::*;
                self.callback_start(
                    thread,
                    time,
                    fields.address(CALLBACK),
                    fields.flag(IS_INTRA_PROCESS),
                );
            }
            Kind::CallbackEnd => {
                self.callback_end(thread, time, fields.address(field::callback_end::CALLBACK));
            }
            Kind::RclcppExecutorGetNextReady => {
                self.phase(thread, time, PhaseKind::GetNextReady, Address(0));
            }
            Kind::RclcppExecutorWaitForWork => {
                self.phase(thread, time, PhaseKind::WaitForWork, Address(0));
            }
            Kind::RclcppExecutorExecute => {
                let handle = fields.address(field::rclcpp_executor_execute::HANDLE);
                self.phase(thread, time, PhaseKind::Execute, handle);
            }
            Kind::RclcppIntraPublish
            | Kind::RclcppPublish
            | Kind::RclPublish
            | Kind::RmwPublish
            | Kind::DdsWrite
            | Kind::DdsBindAddrToStamp
            | Kind::DdsWriterWrite => self.publish(kind, thread, time, fields),
            Kind::RmwTake => self.rmw_take(thread, time, fields),
            Kind::RmwTakeInfo => self.take_info(thread, time, fields),
            Kind::DispatchSubscriptionCallback => self.dispatch(thread, time, fields),
            Kind::OnDataAvailable => self.data_available(thread, time, fields),
            Kind::RclcppRingBufferEnqueue
            | Kind::RclcppRingBufferDequeue
            | Kind::MessageConstruct
            | Kind::DispatchIntraProcessSubscriptionCallback => {
                self.intra_process(kind, thread, time, fields);
            }
            _ => self.rare(kind, thread, time, fields),
        }
    }

    fn rare(&mut self, kind: Kind, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        if lock::is_of_locks(kind) {
            return self.lock(kind, thread, time, fields);
        }
        match kind {
            Kind::RclLifecycleTransition => {
                use field::rcl_lifecycle_transition::*;
                self.out.transitions.push(Transition {
                    thread,
                    machine: fields.address(STATE_MACHINE),
                    state_machine: None,
                    time,
                    from: fields.text(START_LABEL).unwrap_or_default(),
                    to: fields.text(GOAL_LABEL).unwrap_or_default(),
                });
            }
            Kind::SimTime => {
                let simulated = fields.number(field::sim_time::STAMP).unwrap_or(0);
                let process = self.out.population.process_of(thread);
                let note = SimTime { time, simulated };
                self.out.sim_times.push((process, note));
            }
            Kind::RmwSendRequestBegin => self.begin_request(thread, time, fields),
            Kind::RmwSendRequest => self.send_request(thread, time, fields),
            Kind::RmwTakeRequest => {
                use field::rmw_take_request::*;
                if fields.flag(TAKEN) {
                    let step = (RMW_SERVICE_HANDLE, Some(CLIENT_GID), SEQUENCE_NUMBER, None);
                    self.service_step(ServiceStepKind::TakeRequest, thread, time, fields, step);
                }
            }
            Kind::RmwSendResponse => {
                use field::rmw_send_response::*;
                let step = (
                    RMW_SERVICE_HANDLE,
                    Some(CLIENT_GID),
                    SEQUENCE_NUMBER,
                    Some(TIMESTAMP),
                );
                self.service_step(ServiceStepKind::SendResponse, thread, time, fields, step);
            }
            Kind::RmwTakeResponse => {
                use field::rmw_take_response::*;
                if fields.flag(TAKEN) {
                    let step = (
                        RMW_CLIENT_HANDLE,
                        None,
                        SEQUENCE_NUMBER,
                        Some(SOURCE_TIMESTAMP),
                    );
                    self.service_step(ServiceStepKind::TakeResponse, thread, time, fields, step);
                }
            }
            Kind::AgnocastCreateCallable => {
                use field::agnocast_create_callable::*;
                let callable = Callable::Message {
                    entry: fields.signed(ENTRY_ID).unwrap_or(-1),
                    callback_info: fields.number(PID_CALLBACK_INFO_ID).unwrap_or(u64::MAX),
                };
                self.callable(thread, time, fields.address(CALLABLE), callable);
            }
            Kind::AgnocastCreateTimerCallable => {
                use field::agnocast_create_timer_callable::*;
                let callable = Callable::Timer(fields.address(TIMER_HANDLE));
                self.callable(thread, time, fields.address(CALLABLE), callable);
            }
            Kind::AgnocastCallableStart => {
                let callable = fields.address(field::agnocast_callable_start::CALLABLE);
                self.out
                    .callable_instances
                    .push(InstanceId::of(self.out.instances.len()));
                self.callback_start(thread, time, callable, false);
            }
            Kind::AgnocastCallableEnd => {
                self.callback_end(
                    thread,
                    time,
                    fields.address(field::agnocast_callable_end::CALLABLE),
                );
            }
            Kind::AgnocastPublish => self.agnocast_publish(thread, time, fields),
            Kind::TildeSubscribe | Kind::TildePublish => {
                self.tilde_step(kind, thread, time, fields)
            }
            Kind::RmwPublishSerialized | Kind::RmwTakeSerialized => {
                self.message_size(kind, thread, time, fields)
            }
            Kind::UserInstant | Kind::UserSpanBegin | Kind::UserSpanEnd | Kind::UserCounter => {
                self.user_event(kind, thread, time, fields)
            }
            Kind::ThreadClock => self.thread_clock(thread, time, fields),
            Kind::ClientCallbackStart => self.client_callback_start(thread, time, fields),
            Kind::ClientCallbackEnd => self.client_callback_end(thread, time, fields),
            Kind::RclNodeFini
            | Kind::RclPublisherFini
            | Kind::RclSubscriptionFini
            | Kind::RclServiceFini
            | Kind::RclClientFini
            | Kind::RclTimerFini => self.ending(kind, thread, time, fields),
            _ => {}
        }
    }

    fn message_link(&mut self, kind: Kind, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        let partial_sync = kind == Kind::MessageLinkPartialSync;
        let (subscriptions, publishers) = if partial_sync {
            use field::message_link_partial_sync::*;
            (fields.addresses(SUBS), fields.addresses(PUBS))
        } else {
            use field::message_link_periodic_async::*;
            (fields.addresses(SUBS), fields.addresses(PUBS))
        };
        self.out.message_links.push(MessageLink {
            thread,
            time,
            partial_sync,
            subscriptions,
            publishers,
        });
    }

    fn finish(mut self) -> Imported {
        self.drop_unsent();
        self.end_locks();
        // A recording may have nothing but what tracers tell of the time before it: everything after that was lost.
        self.out.end = self.out.end.max(self.out.begin);
        self.out.population.forget_unrecorded();
        let processes = &self.out.population.processes;
        init_time::put_in_order(&mut self.out.inits, processes);
        restart::split_processes(&mut self.out);
        self.out
    }
}
