//! What the kernel's scheduler did: when each thread ran, could have run, and slept.
//!
//! [`Scheduling::load`] is a pass of its own over the scheduling events that LTTng's kernel modules record, and over the context switches
//! that rostrace's recorder hears of, which tell of recorded threads only. A *timeline* holds the states of
//! one thread, `inside` its system calls and page faults, and the interrupts of CPUs; `pass` reads the events, `tracker` follows those of one host, `loss` says where events may be missing, and `namespace` which
//! of the kernel's threads a thread of the [`Model`] is.
//!
//! Traces belong to the same host if they name the same one, as in the model. A container with a host name of its own is
//! another host.

mod inside;
mod loss;
mod namespace;
mod pass;
mod processor;
mod task;
mod timeline;
mod tracker;

pub use inside::{Inside, NameId, Stay};
pub use processor::Occupation;
pub use task::{Task, TaskId};
pub use timeline::{Cpu, Latency, OffCpu, Ready, Sleep, Slice, State, Timeline};

use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::Kind;
use rustc_hash::FxHashMap;

use crate::Model;
use crate::binding::declarations;
use crate::entity::{HostId, ThreadId};
use inside::Stays;
use pass::SchedulingPass;
use processor::Processor;

/// The events that are read.
const KINDS: [Kind; 21] = [
    Kind::SchedSwitch,
    Kind::SchedWaking,
    Kind::SchedWakeup,
    Kind::SchedWakeupNew,
    Kind::SchedMigrateTask,
    Kind::SchedProcessFork,
    Kind::SchedProcessExit,
    Kind::LttngStatedumpProcessState,
    Kind::LttngStatedumpProcessPidNs,
    Kind::ContextSwitchIn,
    Kind::ContextSwitchOut,
    Kind::ThreadName,
    Kind::ThreadExit,
    Kind::SyscallEntry,
    Kind::SyscallExit,
    Kind::PageFault,
    Kind::PageFaultDone,
    Kind::IrqHandlerEntry,
    Kind::IrqHandlerExit,
    Kind::IrqSoftirqEntry,
    Kind::IrqSoftirqExit,
];

/// The states of all threads of all hosts, as far as the kernel's events tell them.
#[derive(Debug)]
pub struct Scheduling {
    /// Everyone who was given a CPU.
    pub tasks: Vec<Task>,
    /// Whether wake-ups were recorded. Without them a thread that was woken seems to sleep until it runs.
    pub has_wakeups: bool,
    timelines: Vec<Timeline>,
    /// System calls and page faults, by timeline.
    stays: Vec<Stays>,
    /// By [`HostId`] and [`Cpu`].
    interrupts: Vec<Vec<Stays>>,
    names: Vec<String>,
    /// By timeline.
    host_of: Vec<HostId>,
    timeline_of: FxHashMap<(HostId, i64), usize>,
    /// By [`ThreadId`].
    of_thread: Vec<Option<usize>>,
    /// By [`HostId`] and [`Cpu`].
    processors: Vec<Vec<Processor>>,
    nothing: Timeline,
}

impl Scheduling {
    /// Reads the scheduling events of a set; nothing if it does not have any. `model` is the model of the same set. `progress` hears of
    /// the bytes done and says whether to go on.
    pub fn load(
        set: &TraceSet,
        model: &Model,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Scheduling> {
        let declared = declarations(set, |kind| KINDS.contains(&kind));
        let has = |kind: Kind| declared.iter().any(|class| class.kind == kind);
        if !has(Kind::SchedSwitch) && !has(Kind::ContextSwitchIn) {
            return None;
        }
        let mut pass = SchedulingPass::new(set, model, &declared);
        pass.run(set, &declared, progress);
        let has_wakeups = has(Kind::SchedWakeup) || has(Kind::SchedWaking);
        Some(pass.finish(model, has_wakeups))
    }

    /// The states of a thread between two instants, without gaps: the durations sum to `to - from`.
    pub fn slices(
        &self,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = Slice> + '_ {
        self.timeline_or_nothing(thread).slices(from, to)
    }

    /// Where a thread's time between two instants went.
    pub fn off_cpu(&self, thread: ThreadId, from: Nanos, to: Nanos) -> OffCpu {
        self.timeline_or_nothing(thread).off_cpu(from, to)
    }

    /// Each time that a thread could run and then did.
    pub fn latencies(&self, thread: ThreadId) -> impl Iterator<Item = Latency> + '_ {
        self.timeline_or_nothing(thread).latencies()
    }

    /// Who had a CPU between two instants, without gaps.
    pub fn occupations(
        &self,
        host: HostId,
        cpu: Cpu,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = Occupation> + '_ {
        let processors = self.processors.get(host.index());
        processors
            .and_then(|processors| processors.get(usize::from(cpu.0)))
            .into_iter()
            .flat_map(move |processor| processor.occupations(from, to))
    }

    /// Who else had a CPU of a thread's host between two instants. While the CPU goes over to the thread, which takes the kernel some time,
    /// nobody is told: whoever had it before kept the thread off.
    pub fn occupations_for(
        &self,
        thread: ThreadId,
        cpu: Cpu,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = Occupation> + '_ {
        let timeline = self.of_thread.get(thread.index()).copied().flatten();
        let of_others = move |row: &Occupation| {
            let task = row.task.map(|task| self.task(task));
            let own = task.and_then(|task| self.timeline_of.get(&(task.host, task.tid)));
            own.copied() != timeline
        };
        let host = timeline.map(|timeline| self.host_of[timeline]);
        host.into_iter()
            .flat_map(move |host| self.occupations(host, cpu, from, to))
            .filter(of_others)
    }

    /// The system calls and page faults that a thread was in between two instants, in the order of time.
    pub fn stays(
        &self,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = Stay> + '_ {
        let timeline = self.of_thread.get(thread.index()).copied().flatten();
        let stays = timeline.map(|timeline| &self.stays[timeline]);
        stays
            .into_iter()
            .flat_map(move |stays| stays.between(from, to))
    }

    /// The interrupts that a CPU of a thread's host handled between two instants, in the order of time.
    pub fn interrupts(
        &self,
        thread: ThreadId,
        cpu: Cpu,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = Stay> + '_ {
        let timeline = self.of_thread.get(thread.index()).copied().flatten();
        let host = timeline.map(|timeline| self.host_of[timeline]);
        host.into_iter()
            .flat_map(move |host| self.interrupts_of(host, cpu, from, to))
    }

    /// The interrupts that a CPU of a host handled between two instants, in the order of time.
    pub fn interrupts_of(
        &self,
        host: HostId,
        cpu: Cpu,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = Stay> + '_ {
        let cpus = self.interrupts.get(host.index());
        cpus.and_then(|cpus| cpus.get(usize::from(cpu.0)))
            .into_iter()
            .flat_map(move |stays| stays.between(from, to))
    }

    /// Whether anything is known of what threads and CPUs were inside of.
    pub fn has_stays(&self) -> bool {
        let interrupts = self.interrupts.iter().flatten();
        self.stays.iter().chain(interrupts).any(|it| !it.is_empty())
    }

    pub fn name(&self, name: NameId) -> &str {
        &self.names[name.0 as usize]
    }

    /// The number of CPUs of a host: one more than the highest that was heard of.
    pub fn cpus(&self, host: HostId) -> usize {
        self.processors.get(host.index()).map_or(0, Vec::len)
    }

    pub fn task(&self, task: TaskId) -> &Task {
        &self.tasks[task.index()]
    }

    /// All states of a thread, if the kernel's events tell of it.
    pub fn timeline(&self, thread: ThreadId) -> Option<&Timeline> {
        let timeline = (*self.of_thread.get(thread.index())?)?;
        Some(&self.timelines[timeline])
    }

    /// The kernel's number of each thread of the model, as far as it is known, by [`ThreadId`].
    pub fn kernel_tids(&self) -> Vec<Option<i64>> {
        let mut tids = vec![None; self.timelines.len()];
        for ((_, tid), timeline) in &self.timeline_of {
            tids[*timeline] = Some(*tid);
        }
        let timelines = self.of_thread.iter();
        timelines.map(|timeline| tids[(*timeline)?]).collect()
    }

    /// All states of a thread by the kernel's number; threads that came one after the other under one number are one.
    pub fn timeline_of_tid(&self, host: HostId, tid: i64) -> Option<&Timeline> {
        Some(&self.timelines[*self.timeline_of.get(&(host, tid))?])
    }

    /// All of the kernel's threads, in order.
    pub fn kernel_threads(&self) -> Vec<(HostId, i64)> {
        let mut threads: Vec<(HostId, i64)> = self.timeline_of.keys().copied().collect();
        threads.sort_unstable();
        threads
    }

    fn timeline_or_nothing(&self, thread: ThreadId) -> &Timeline {
        self.timeline(thread).unwrap_or(&self.nothing)
    }
}
