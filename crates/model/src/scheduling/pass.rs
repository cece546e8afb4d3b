//! One pass over the scheduling events of all hosts, in the order of time.

use std::borrow::Cow;

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Conversion, Cursor, EventView, StreamId, TraceSet};
use rostrace_tracepoints::{Kind, TRACEPOINTS, field};
use rustc_hash::FxHashMap;

use super::Scheduling;
use super::inside::{Inside, Names, Stays, deferred};
use super::loss::{self, Edge};
use super::processor::{Processor, cpu_of};
use super::task::Tasks;
use super::timeline::{Cpu, Timeline};
use super::tracker::{Kernel, Stop, Tracker, Woken};
use crate::Model;
use crate::binding::{Bindings, Declaration, Fields, selection};
use crate::entity::HostId;
use crate::event_pass::{Passed, hosts};

/// The way through the events.
pub(super) struct SchedulingPass {
    trackers: Vec<Tracker>,
    /// By trace; nothing for a trace of a host that the model does not have.
    hosts: Vec<Option<HostId>>,
    /// By trace.
    kernels: Vec<Kernel>,
    /// By host: whether the kernel's own switches were recorded, which tell more than those of recorded threads alone.
    has_both_sides: Vec<bool>,
    tasks: Tasks,
    names: Names,
    edges: Vec<Edge>,
    /// The first edge that is still to come.
    next_edge: usize,
    /// The begins of windows in which only system calls and the like are lost.
    stay_edges: Vec<Edge>,
    next_stay_edge: usize,
    /// The packet that a stream is in, and its CPU.
    positions: FxHashMap<StreamId, StreamPosition>,
    passed: Passed,
}

#[derive(Debug, Clone, Copy)]
struct StreamPosition {
    packet: usize,
    cpu: Cpu,
    /// Events could not be decoded, until one can.
    broken: bool,
}

impl SchedulingPass {
    pub(super) fn new(
        set: &TraceSet,
        model: &Model,
        declared: &[Declaration<'_>],
    ) -> SchedulingPass {
        let hosts = hosts(set, model);
        let kernels = set.traces.iter().map(|trace| {
            let release = trace.schema.environment_text("kernel_release");
            Kernel::of_release(release.unwrap_or_default())
        });
        let scheduling = |kind: Kind| {
            let statedump = [
                Kind::LttngStatedumpProcessState,
                Kind::LttngStatedumpProcessPidNs,
                Kind::ThreadName,
            ];
            !statedump.contains(&kind) && !is_of_stays(kind)
        };
        let mut has_both_sides = vec![false; model.hosts.len()];
        for class in declared.iter().filter(|it| it.kind == Kind::SchedSwitch) {
            if let Some(host) = hosts[class.trace] {
                has_both_sides[host.index()] = true;
            }
        }
        let is_needless = |trace: usize, kind: Kind| {
            is_one_sided(kind) && hosts[trace].is_some_and(|host| has_both_sides[host.index()])
        };
        let tells = |trace: usize, stream: usize| {
            declared.iter().any(|class| {
                (class.trace, class.stream) == (trace, stream)
                    && scheduling(class.kind)
                    && !is_needless(trace, class.kind)
            })
        };
        // What is lost of these alone leaves the states of threads as they are.
        let tells_stays = |trace: usize, stream: usize| {
            let is_of_stream = |class: &Declaration<'_>| {
                (class.trace, class.stream) == (trace, stream) && is_of_stays(class.kind)
            };
            declared.iter().any(is_of_stream) && !tells(trace, stream)
        };
        let mut stay_edges = loss::edges(set, &hosts, &tells_stays);
        stay_edges.retain(|edge| edge.begins);
        SchedulingPass {
            trackers: (0..model.hosts.len())
                .map(|host| Tracker::new(HostId::of(host)))
                .collect(),
            edges: loss::edges(set, &hosts, &tells),
            next_edge: 0,
            stay_edges,
            next_stay_edge: 0,
            has_both_sides,
            hosts,
            kernels: kernels.collect(),
            tasks: Tasks::default(),
            names: Names::default(),
            positions: FxHashMap::default(),
            passed: Passed::default(),
        }
    }

    pub(super) fn run(
        &mut self,
        set: &TraceSet,
        declared: &[Declaration<'_>],
        progress: &mut dyn FnMut(u64) -> bool,
    ) {
        let bindings: Vec<Bindings> = set.traces.iter().map(Bindings::new).collect();
        let mut cursor = Cursor::select(set, Conversion::Exact, &selection(declared));
        let mut before: Option<StreamId> = None;
        let mut losses = cursor.damage.losses();
        let mut events = 0u64;
        while let Some(event) = cursor.next() {
            let id = event.stream_id();
            let binding = bindings[id.trace].of(&event);
            let time = event.nanos();
            if let (Some(host), Some(time)) = (self.hosts[id.trace], time) {
                let cpu = self.cpu(&event, host);
                self.pass_edges(time);
                let kernel = self.kernels[id.trace];
                self.event(host, (cpu, kernel), time, &Fields { event, binding });
            }
            events += 1;
            if events.is_multiple_of(1 << 16) && !progress(self.passed.bytes) {
                break;
            }
            // The stream of the event before was moved on to find this one.
            if cursor.damage.losses() > losses {
                losses = cursor.damage.losses();
                if let (Some(stream), Some(time)) = (before, time) {
                    self.note_broken(stream, time);
                }
            }
            before = Some(id);
        }
    }

    /// The CPU of an event.
    #[inline]
    fn cpu(&mut self, event: &EventView<'_>, host: HostId) -> Cpu {
        let (id, packet) = (event.stream_id(), event.packet_number());
        match self.positions.get_mut(&id) {
            Some(position) if position.packet == packet && !position.broken => position.cpu,
            _ => self.enter(event, id, packet, host),
        }
    }

    #[cold]
    fn enter(&mut self, event: &EventView<'_>, id: StreamId, packet: usize, host: HostId) -> Cpu {
        let cpu = cpu_of(event.trace(), event.stream(), event.packet());
        let position = StreamPosition {
            packet,
            cpu,
            broken: false,
        };
        let before = self.positions.insert(id, position);
        if let Some(before) = before.filter(|before| before.broken) {
            self.trackers[host.index()].recover(before.cpu);
        }
        self.passed.enter(event);
        cpu
    }

    /// Events of a stream could not be decoded: they are lost, until its next one.
    #[cold]
    fn note_broken(&mut self, stream: StreamId, at: Nanos) {
        if let (Some(position), Some(host)) =
            (self.positions.get_mut(&stream), self.hosts[stream.trace])
            && !position.broken
        {
            position.broken = true;
            self.trackers[host.index()].lose(at, position.cpu);
        }
    }

    #[inline]
    fn pass_edges(&mut self, until: Nanos) {
        while let Some(edge) = self.edges.get(self.next_edge)
            && edge.at <= until
        {
            let tracker = &mut self.trackers[edge.host.index()];
            match edge.begins {
                true => tracker.lose(edge.at, edge.cpu),
                false => tracker.recover(edge.cpu),
            }
            self.next_edge += 1;
        }
        while let Some(edge) = self.stay_edges.get(self.next_stay_edge)
            && edge.at <= until
        {
            self.trackers[edge.host.index()].forget_stays(edge.cpu);
            self.next_stay_edge += 1;
        }
    }

    fn event(
        &mut self,
        host: HostId,
        (cpu, kernel): (Cpu, Kernel),
        at: Nanos,
        fields: &Fields<'_>,
    ) {
        if self.has_both_sides[host.index()] && fields.binding.kind.is_some_and(is_one_sided) {
            return;
        }
        let tracker = &mut self.trackers[host.index()];
        let target = |field: usize| {
            let number = fields.number(field)?;
            u16::try_from(number).ok().map(Cpu)
        };
        match fields.binding.kind {
            Some(Kind::SchedSwitch) => {
                use field::sched_switch::*;
                let (Some(prev), Some(next)) = (fields.signed(PREV_TID), fields.signed(NEXT_TID))
                else {
                    return;
                };
                let stop = Stop::of(fields.signed(PREV_STATE).unwrap_or(0), kernel);
                let name = fields.lossy(NEXT_COMM).unwrap_or(Cow::Borrowed(""));
                tracker.switch(&mut self.tasks, (at, cpu), (prev, stop), (next, name));
            }
            Some(Kind::SchedWaking) => {
                use field::sched_waking::*;
                if let Some(tid) = fields.signed(TID) {
                    // Only this event certainly happens to who wakes.
                    let is_interrupt = fields.number(IN_INTERRUPT).map(|it| it != 0);
                    let by = tracker.waker(&mut self.tasks, cpu, is_interrupt);
                    let target = target(TARGET_CPU);
                    tracker.wake(tid, Woken { at, target, by });
                }
            }
            Some(Kind::SchedWakeup) => {
                use field::sched_wakeup::*;
                if let Some(tid) = fields.signed(TID)
                    && fields.number(SUCCESS) != Some(0)
                {
                    let target = target(TARGET_CPU);
                    let by = None;
                    tracker.wake(tid, Woken { at, target, by });
                }
            }
            Some(Kind::SchedWakeupNew) => {
                use field::sched_wakeup_new::*;
                if let Some(tid) = fields.signed(TID) {
                    let target = target(TARGET_CPU);
                    // Who creates a thread wakes it.
                    let by = tracker.waker(&mut self.tasks, cpu, Some(false));
                    tracker.wake_new(tid, Woken { at, target, by });
                }
            }
            Some(Kind::SchedMigrateTask) => {
                use field::sched_migrate_task::*;
                if let Some(tid) = fields.signed(TID) {
                    tracker.target(at, tid, target(DEST_CPU));
                }
            }
            Some(Kind::SchedProcessFork) => {
                use field::sched_process_fork::*;
                if let (Some(tid), Some(pid)) = (fields.signed(CHILD_TID), fields.signed(CHILD_PID))
                {
                    let numbers = fields.addresses(VTIDS);
                    let numbers: Vec<i64> = numbers.iter().map(|id| id.0 as i64).collect();
                    tracker.fork(at, tid, pid, &numbers);
                }
            }
            Some(Kind::SchedProcessExit) => {
                if let Some(tid) = fields.signed(field::sched_process_exit::TID) {
                    tracker.exit(tid);
                }
            }
            Some(Kind::SyscallEntry) => {
                use field::syscall_entry::*;
                let (tid, own_name) = (fields.signed(TID), fields.lossy(NAME));
                let name = match &own_name {
                    Some(name) => name,
                    None => system_call(class_name(&fields.event)),
                };
                let call = Inside::SystemCall(self.names.intern(name));
                tracker.enter(at, cpu, tid, call);
            }
            Some(Kind::SyscallExit) => {
                let tid = fields.signed(field::syscall_exit::TID);
                let is_call = |it: Inside| matches!(it, Inside::SystemCall(_));
                tracker.leave_kernel(at, cpu, tid, is_call);
            }
            // LTTng does not tell when a fault is over.
            Some(Kind::PageFault) => {
                if let Some(tid) = fields.signed(field::page_fault::TID) {
                    tracker.enter(at, cpu, Some(tid), Inside::PageFault);
                }
            }
            Some(Kind::PageFaultDone) => {
                if let Some(tid) = fields.signed(field::page_fault_done::TID) {
                    tracker.leave_kernel(at, cpu, Some(tid), |it| it == Inside::PageFault);
                }
            }
            Some(Kind::IrqHandlerEntry) => {
                use field::irq_handler_entry::*;
                let name = match (fields.lossy(NAME), fields.signed(IRQ)) {
                    (Some(name), _) if !name.is_empty() => name.into_owned(),
                    (_, number) => format!("{}", number.unwrap_or_default()),
                };
                let name = self.names.intern(&format!("interrupt {name}"));
                tracker.interrupt(at, cpu, Inside::Interrupt(name));
            }
            Some(Kind::IrqSoftirqEntry) => {
                let kind = fields.number(field::irq_softirq_entry::VEC);
                let name = self.names.intern(&deferred(kind.unwrap_or(u64::MAX)));
                tracker.interrupt(at, cpu, Inside::Interrupt(name));
            }
            Some(Kind::IrqHandlerExit | Kind::IrqSoftirqExit) => tracker.interrupted(at, cpu),
            Some(Kind::ContextSwitchIn) => {
                if let Some(tid) = fields.signed(field::context_switch_in::TID) {
                    tracker.switch_in(&mut self.tasks, (at, cpu), tid);
                }
            }
            Some(Kind::ContextSwitchOut) => {
                use field::context_switch_out::*;
                if let Some(tid) = fields.signed(TID) {
                    let preempted = fields.flag(PREEMPTED);
                    tracker.switch_out(&mut self.tasks, (at, cpu), tid, preempted);
                }
            }
            Some(Kind::ThreadExit) => {
                if let Some(tid) = fields.signed(field::thread_exit::TID) {
                    tracker.end(&mut self.tasks, (at, cpu), tid);
                }
            }
            Some(Kind::ThreadName) => {
                use field::thread_name::*;
                if let (Some(tid), Some(name)) = (fields.signed(TID), fields.lossy(NAME)) {
                    tracker.rename(&mut self.tasks, tid, name);
                    if let Some(pid) = fields.signed(PID) {
                        tracker.namespaces.note_process(tid, pid);
                    }
                }
                return;
            }
            Some(Kind::LttngStatedumpProcessState) => {
                use field::lttng_statedump_process_state::*;
                if let (Some(tid), Some(pid)) = (fields.signed(TID), fields.signed(PID)) {
                    tracker.namespaces.note_process(tid, pid);
                    if let (Some(level), Some(vtid)) =
                        (fields.signed(NS_LEVEL), fields.signed(VTID))
                    {
                        let vpid = fields.signed(VPID);
                        tracker.namespaces.note(tid, level, vpid, vtid);
                    }
                }
                return;
            }
            Some(Kind::LttngStatedumpProcessPidNs) => {
                use field::lttng_statedump_process_pid_ns::*;
                if let (Some(tid), Some(level), Some(vtid)) = (
                    fields.signed(TID),
                    fields.signed(NS_LEVEL),
                    fields.signed(VTID),
                ) {
                    let vpid = fields.signed(VPID);
                    tracker.namespaces.note(tid, level, vpid, vtid);
                }
                return;
            }
            _ => return,
        }
        if !fields.binding.kind.is_some_and(is_of_stays) {
            tracker.hear(at);
        }
    }

    pub(super) fn finish(mut self, model: &Model, has_wakeups: bool) -> Scheduling {
        // A window that begins after the last event takes nothing away; one that begins before it was passed.
        let mut timelines = Vec::new();
        let mut stays = Vec::new();
        let mut host_of = Vec::new();
        let mut timeline_of = FxHashMap::default();
        let mut processors: Vec<Vec<Processor>> = Vec::new();
        let mut interrupts: Vec<Vec<Stays>> = Vec::new();
        let mut inner_threads = Vec::new();
        for (host, tracker) in self.trackers.iter_mut().enumerate() {
            let (of_host, interrupts_of_host) = tracker.finish(&mut self.tasks).into_iter().unzip();
            processors.push(of_host);
            interrupts.push(interrupts_of_host);
            inner_threads.push(tracker.namespaces.inner_threads());
            let first = timelines.len();
            for (tid, thread) in &tracker.thread_of {
                timeline_of.insert((HostId::of(host), *tid), first + thread);
            }
            for thread in tracker.threads.drain(..) {
                timelines.push(thread.timeline);
                stays.push(thread.stays);
            }
            host_of.resize(timelines.len(), HostId::of(host));
        }
        let of_thread = model.threads.iter().map(|thread| {
            let process = &model.processes[thread.process.index()];
            let host = process.host.index();
            let namespaces = &self.trackers[host].namespaces;
            let tid = namespaces.tid(&inner_threads[host], process.pid, thread.tid)?;
            timeline_of.get(&(process.host, tid)).copied()
        });
        Scheduling {
            of_thread: of_thread.collect(),
            tasks: self.tasks.list,
            has_wakeups,
            timelines,
            stays,
            interrupts,
            names: self.names.list,
            host_of,
            timeline_of,
            processors,
            nothing: Timeline::default(),
        }
    }
}

fn class_name<'e>(event: &EventView<'e>) -> &'e str {
    let stream = &event.trace().schema.streams[event.stream().class];
    let class = stream.events.get(event.event().class as usize);
    class.and_then(|it| it.name.as_deref()).unwrap_or_default()
}

/// The call that an event of LTTng is named after: `read` for `syscall_entry_read`.
fn system_call(event: &str) -> &str {
    let families = TRACEPOINTS.iter();
    let mut families = families.filter(|it| it.kind == Kind::SyscallEntry);
    families.find_map(|it| it.member(event)).unwrap_or(event)
}

/// Whether an event tells what a thread or a CPU was inside of, and nothing of who ran.
fn is_of_stays(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::SyscallEntry
            | Kind::SyscallExit
            | Kind::PageFault
            | Kind::PageFaultDone
            | Kind::IrqHandlerEntry
            | Kind::IrqHandlerExit
            | Kind::IrqSoftirqEntry
            | Kind::IrqSoftirqExit
    )
}

/// Whether an event tells of a thread that it gets or leaves a CPU, but not of the other one.
fn is_one_sided(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::ContextSwitchIn | Kind::ContextSwitchOut | Kind::ThreadExit
    )
}
