//! Follows the threads and CPUs of one host through the scheduler's events.
//!
//! A switch is certain: one thread stops, another goes on. A wake-up is not, for a thread can be woken while it is still
//! on its way to sleep: of a thread whose state is unknown it means something only once a switch shows that the thread did
//! not run in between.
//!
//! Where only threads of recorded processes are followed, a switch has one side: a thread gets a CPU, or leaves it. Who had the CPU instead of
//! a thread that was preempted is known as far as it was recorded, too.

use std::borrow::Cow;

use rostrace_ctf::schema::Nanos;
use rustc_hash::FxHashMap;

use super::inside::{Inside, Stays};
use super::namespace::Namespaces;
use super::processor::{NO_CPU, Processor};
use super::task::{TaskId, Tasks};
use super::timeline::{Cpu, Ready, Sleep, State, Timeline};
use crate::entity::HostId;

/// One host on the way through its events.
#[derive(Debug)]
pub(super) struct Tracker {
    host: HostId,
    pub(super) threads: Vec<KernelThread>,
    pub(super) thread_of: FxHashMap<i64, usize>,
    cpus: Vec<CpuState>,
    pub(super) namespaces: Namespaces,
    /// How many windows of loss are open, on all CPUs together.
    losing: u32,
    last: Option<Nanos>,
}

/// A thread of the kernel's.
#[derive(Debug)]
pub(super) struct KernelThread {
    task: Option<TaskId>,
    pub(super) timeline: Timeline,
    /// It was woken at this time, if it was not running.
    woken: Option<Woken>,
    /// It will end when it stops.
    ending: bool,
    /// System calls and page faults.
    pub(super) stays: Stays,
    /// It was preempted there, by whoever has that CPU in each moment.
    preempted_on: Option<Cpu>,
}

/// A wake-up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Woken {
    pub(super) at: Nanos,
    /// Where the thread is to run.
    pub(super) target: Option<Cpu>,
    pub(super) by: Option<TaskId>,
}

impl Woken {
    fn waiting(self) -> State {
        State::Waiting {
            cpu: self.target,
            ready: Ready::Woken { by: self.by },
        }
    }
}

/// From one thread leaving a CPU to the next one having it, at most: the kernel takes the time of both.
const SWITCHING: i64 = 20_000;

#[derive(Debug, Default)]
struct CpuState {
    running: Option<usize>,
    idle: Option<TaskId>,
    processor: Processor,
    losing: u32,
    /// The last thread that was heard of left it then, and who came next is not known yet.
    left: Option<Nanos>,
    /// Threads that were preempted on it.
    preempted: Vec<usize>,
    /// Interrupts.
    stays: Stays,
}

/// Why a thread stopped running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Preempted,
    Sleeps(Sleep),
    Ended,
    /// Ended in kernels before 4.14, parked in later ones.
    EndedOrParked,
}

impl Stop {
    /// The meaning of `prev_state`. A thread that was preempted has 0, or in kernels that can be preempted themselves only the bit
    /// behind all states, which has moved from 512 to 4096 and back to 256 over the years. The eight lowest bits have
    /// always been reasons not to run. Of these 128 stands alone where a thread has ended, from 4.14 on; before, it came with another one.
    pub(super) fn of(prev_state: i64, kernel: Kernel) -> Stop {
        match prev_state & 0xff {
            0 => Stop::Preempted,
            state if state & 0x30 != 0 => Stop::Ended,
            state if state & 0x01 != 0 => Stop::Sleeps(Sleep::Interruptible),
            state if state & 0x02 != 0 => Stop::Sleeps(Sleep::Uninterruptible),
            state if state & 0x0c != 0 => Stop::Sleeps(Sleep::Stopped),
            state if state & 0x40 != 0 => match kernel {
                Kernel::Before4_14 => Stop::Ended,
                Kernel::Since4_14 => Stop::Sleeps(Sleep::Other),
                Kernel::Unknown => Stop::EndedOrParked,
            },
            _ => Stop::Ended,
        }
    }
}

/// What the numbers of states mean was changed with this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    Before4_14,
    Since4_14,
    Unknown,
}

impl Kernel {
    /// As a trace tells it: `5.15.0-91-generic`.
    pub(super) fn of_release(release: &str) -> Kernel {
        let digits = |text: &str| {
            let end = text.find(|letter: char| !letter.is_ascii_digit());
            text[..end.unwrap_or(text.len())].parse::<u32>().ok()
        };
        let mut parts = release.split('.');
        let major = parts.next().and_then(digits);
        let minor = parts.next().and_then(digits);
        match major.zip(minor) {
            Some(version) if version < (4, 14) => Kernel::Before4_14,
            Some(_) => Kernel::Since4_14,
            None => Kernel::Unknown,
        }
    }
}

impl Tracker {
    pub(super) fn new(host: HostId) -> Tracker {
        Tracker {
            host,
            threads: Vec::new(),
            thread_of: FxHashMap::default(),
            cpus: Vec::new(),
            namespaces: Namespaces::default(),
            losing: 0,
            last: None,
        }
    }

    /// Something was heard of the scheduler: until here states last.
    pub(super) fn hear(&mut self, at: Nanos) {
        self.last = self.last.max(Some(at));
    }

    fn thread(&mut self, tid: i64) -> usize {
        let threads = &mut self.threads;
        *self.thread_of.entry(tid).or_insert_with(|| {
            threads.push(KernelThread {
                task: None,
                timeline: Timeline::default(),
                woken: None,
                ending: false,
                stays: Stays::default(),
                preempted_on: None,
            });
            threads.len() - 1
        })
    }

    fn cpu(&mut self, cpu: Cpu) -> &mut CpuState {
        let index = usize::from(cpu.0);
        if self.cpus.len() <= index {
            self.cpus.resize_with(index + 1, CpuState::default);
        }
        &mut self.cpus[index]
    }

    /// While events are being lost only a thread on a CPU that loses none is known to do what it does.
    fn is_certain(&self, state: State) -> bool {
        self.losing == 0
            || matches!(state, State::Running { cpu } if
                self.cpus.get(usize::from(cpu.0)).is_none_or(|cpu| cpu.losing == 0))
    }

    fn set(&mut self, thread: usize, at: Nanos, state: State) {
        let state = if self.is_certain(state) {
            state
        } else {
            State::Unknown
        };
        let thread = &mut self.threads[thread];
        thread.woken = None;
        thread.timeline.push(at, state);
    }

    /// A CPU goes from one thread to another.
    pub(super) fn switch(
        &mut self,
        tasks: &mut Tasks,
        (at, cpu): (Nanos, Cpu),
        (prev, stop): (i64, Stop),
        (next, name): (i64, Cow<'_, str>),
    ) {
        let task = self.name(tasks, cpu, next, name);
        let prev = (prev != 0).then(|| self.thread(prev));
        let next = (next != 0).then(|| self.thread(next));
        let believed = std::mem::replace(&mut self.cpu(cpu).running, next);
        // Where the trace does not show how a thread left its CPU, it can be anywhere.
        if let Some(believed) = believed.filter(|_| believed != prev)
            && self.threads[believed].timeline.state_now() == (State::Running { cpu })
        {
            self.set(believed, at, State::Unknown);
        }
        if let Some(prev) = prev {
            let ending = self.threads[prev].ending;
            let state = match stop {
                Stop::Preempted => State::Waiting {
                    cpu: Some(cpu),
                    ready: Ready::Preempted { by: task },
                },
                Stop::EndedOrParked if !ending => State::Blocked(Sleep::Other),
                Stop::Ended | Stop::EndedOrParked => {
                    self.threads[prev].ending = false;
                    State::Unknown
                }
                Stop::Sleeps(sleep) => State::Blocked(sleep),
            };
            self.set(prev, at, state);
        }
        if let Some(next) = next {
            if let Some(woken) = self.threads[next].woken {
                self.set(next, woken.at, woken.waiting());
            }
            self.set(next, at, State::Running { cpu });
        }
        let occupant = self.is_certain(State::Running { cpu }).then_some(task);
        self.cpu(cpu).processor.push(at, occupant);
    }

    /// A recorded thread gets a CPU; whom from is not reported.
    pub(super) fn switch_in(&mut self, tasks: &mut Tasks, (at, cpu): (Nanos, Cpu), tid: i64) {
        let thread = self.thread(tid);
        let known = self.threads[thread].task;
        let task = known.unwrap_or_else(|| self.name(tasks, cpu, tid, Cow::Borrowed("")));
        let believed = self.cpu(cpu).running.replace(thread);
        // Where the trace does not show how a thread left its CPU, it can be anywhere.
        if let Some(believed) = believed.filter(|believed| *believed != thread)
            && self.threads[believed].timeline.state_now() == (State::Running { cpu })
        {
            self.set(believed, at, State::Unknown);
        }
        if let Some(other) = self.threads[thread].preempted_on.filter(|on| *on != cpu) {
            self.settle(tasks, other, at);
        }
        let from = self.settle(tasks, cpu, at);
        self.no_longer_preempted(thread);
        self.occupy(cpu, from, task);
        self.set(thread, at, State::Running { cpu });
    }

    /// A recorded thread leaves its CPU; whom it goes to is not reported.
    pub(super) fn switch_out(
        &mut self,
        tasks: &mut Tasks,
        (at, cpu): (Nanos, Cpu),
        tid: i64,
        preempted: bool,
    ) {
        let thread = self.thread(tid);
        self.leave(cpu, at, thread);
        if preempted {
            let by = tasks.unrecorded(self.host);
            let ready = Ready::Preempted { by };
            let cpu_state = self.cpu(cpu);
            if !cpu_state.preempted.contains(&thread) {
                cpu_state.preempted.push(thread);
            }
            self.threads[thread].preempted_on = Some(cpu);
            self.set(
                thread,
                at,
                State::Waiting {
                    cpu: Some(cpu),
                    ready,
                },
            );
        } else {
            self.set(thread, at, State::Blocked(Sleep::Unspecified));
        }
    }

    /// A recorded thread ends: nothing is heard of it any more.
    pub(super) fn end(&mut self, tasks: &mut Tasks, (at, cpu): (Nanos, Cpu), tid: i64) {
        let thread = self.thread(tid);
        self.leave(cpu, at, thread);
        self.no_longer_preempted(thread);
        self.set(thread, at, State::Unknown);
        let unrecorded = tasks.unrecorded(self.host);
        self.occupy(cpu, at, unrecorded);
    }

    /// A thread is called so from now on.
    pub(super) fn rename(&mut self, tasks: &mut Tasks, tid: i64, name: Cow<'_, str>) {
        let host = self.host;
        let thread = self.thread(tid);
        let last = &mut self.threads[thread].task;
        *last = Some(tasks.intern(host, tid, name, *last));
    }

    /// Decides who had a CPU since it was left. What is not recorded had it only if there was time for that. Returns since when whoever gets
    /// it now has it.
    fn settle(&mut self, tasks: &mut Tasks, cpu: Cpu, at: Nanos) -> Nanos {
        match self.cpu(cpu).left.take() {
            Some(left) if at.0.saturating_sub(left.0) > SWITCHING => {
                let unrecorded = tasks.unrecorded(self.host);
                self.occupy(cpu, left, unrecorded);
                at
            }
            Some(left) => left,
            None => at,
        }
    }

    fn leave(&mut self, cpu: Cpu, at: Nanos, thread: usize) {
        let state = self.cpu(cpu);
        if state.running.is_none_or(|running| running == thread) {
            state.running = None;
            state.left = Some(at);
        }
    }

    /// Since then this task has had the CPU, instead of those that were preempted on it.
    fn occupy(&mut self, cpu: Cpu, since: Nanos, task: TaskId) {
        let occupant = self.is_certain(State::Running { cpu }).then_some(task);
        self.cpu(cpu).processor.push(since, occupant);
        let ready = Ready::Preempted { by: task };
        let waiting = State::Waiting {
            cpu: Some(cpu),
            ready,
        };
        for thread in self.cpu(cpu).preempted.clone() {
            if matches!(
                self.threads[thread].timeline.state_now(),
                State::Waiting { .. }
            ) {
                self.set(thread, since, waiting);
            }
        }
    }

    fn no_longer_preempted(&mut self, thread: usize) {
        if let Some(cpu) = self.threads[thread].preempted_on.take() {
            self.cpu(cpu).preempted.retain(|it| *it != thread);
        }
    }

    /// The task of a thread; idle loops are one for each CPU.
    fn name(&mut self, tasks: &mut Tasks, cpu: Cpu, tid: i64, name: Cow<'_, str>) -> TaskId {
        let host = self.host;
        let last = match tid {
            0 => &mut self.cpu(cpu).idle,
            _ => {
                let thread = self.thread(tid);
                &mut self.threads[thread].task
            }
        };
        let task = tasks.intern(host, tid, name, *last);
        *last = Some(task);
        task
    }

    /// Someone wakes a thread.
    pub(super) fn wake(&mut self, tid: i64, woken: Woken) {
        if tid == 0 {
            return;
        }
        let thread = self.thread(tid);
        match self.threads[thread].timeline.state_now() {
            State::Running { .. } => {}
            State::Blocked(_) => self.set(thread, woken.at, woken.waiting()),
            State::Waiting { .. } => self.target(woken.at, tid, woken.target),
            State::Unknown if self.losing == 0 => {
                let first = self.threads[thread].woken.get_or_insert(woken);
                first.target = woken.target;
            }
            State::Unknown => {}
        }
    }

    /// A thread runs for the first time, when it gets a CPU.
    pub(super) fn wake_new(&mut self, tid: i64, woken: Woken) {
        if tid == 0 {
            return;
        }
        let thread = self.thread(tid);
        self.threads[thread].ending = false;
        self.set(thread, woken.at, woken.waiting());
    }

    /// Who wakes others on this CPU: the thread that has it, unless that is only interrupted. Where the trace does not tell which of the two it
    /// is, nobody is named.
    pub(super) fn waker(
        &mut self,
        tasks: &mut Tasks,
        cpu: Cpu,
        is_interrupt: Option<bool>,
    ) -> Option<TaskId> {
        match is_interrupt? {
            true => Some(tasks.interrupt(self.host)),
            false => self.cpus.get(usize::from(cpu.0))?.processor.now(),
        }
    }

    /// A thread that waits is to run on this CPU.
    pub(super) fn target(&mut self, at: Nanos, tid: i64, target: Option<Cpu>) {
        let Some(thread) = self.thread_of.get(&tid).copied() else {
            return;
        };
        if let State::Waiting { cpu, ready } = self.threads[thread].timeline.state_now()
            && target.is_some()
            && target != cpu
        {
            self.set(thread, at, State::Waiting { cpu: target, ready });
        }
    }

    pub(super) fn fork(&mut self, at: Nanos, tid: i64, pid: i64, numbers: &[i64]) {
        self.namespaces.note_fork(tid, pid, numbers);
        let thread = self.thread(tid);
        self.threads[thread].ending = false;
        self.set(thread, at, State::Unknown);
    }

    pub(super) fn exit(&mut self, tid: i64) {
        if tid != 0 {
            let thread = self.thread(tid);
            self.threads[thread].ending = true;
        }
    }

    /// A thread enters the kernel; where the event does not say which one, it is the one that has the CPU.
    pub(super) fn enter(&mut self, at: Nanos, cpu: Cpu, tid: Option<i64>, inside: Inside) {
        if let Some(thread) = self.thread_on(cpu, tid).filter(|_| self.losing == 0) {
            self.threads[thread].stays.begin_instead(at, inside);
        }
    }

    /// It is back.
    pub(super) fn leave_kernel(
        &mut self,
        at: Nanos,
        cpu: Cpu,
        tid: Option<i64>,
        is_such: impl Fn(Inside) -> bool,
    ) {
        if let Some(thread) = self.thread_on(cpu, tid) {
            self.threads[thread].stays.end(at, is_such);
        }
    }

    fn thread_on(&mut self, cpu: Cpu, tid: Option<i64>) -> Option<usize> {
        match tid {
            Some(tid) => Some(self.thread(tid)),
            None => self.cpus.get(usize::from(cpu.0))?.running,
        }
    }

    /// A CPU begins to handle an interrupt.
    pub(super) fn interrupt(&mut self, at: Nanos, cpu: Cpu, inside: Inside) {
        let state = self.cpu(cpu);
        if state.losing == 0 {
            state.stays.begin_inner(at, inside);
        }
    }

    pub(super) fn interrupted(&mut self, at: Nanos, cpu: Cpu) {
        let is_interrupt = |it: Inside| matches!(it, Inside::Interrupt(_));
        self.cpu(cpu).stays.end(at, is_interrupt);
    }

    /// What threads and a CPU are inside of can end unseen.
    pub(super) fn forget_stays(&mut self, cpu: Cpu) {
        for thread in &mut self.threads {
            thread.stays.forget();
        }
        if cpu != NO_CPU {
            self.cpu(cpu).stays.forget();
        }
    }

    /// From now on events of a CPU may be missing.
    pub(super) fn lose(&mut self, at: Nanos, cpu: Cpu) {
        self.losing += 1;
        if cpu != NO_CPU {
            let state = self.cpu(cpu);
            state.losing += 1;
            state.running = None;
            state.left = None;
            state.processor.push(at, None);
        }
        self.forget_stays(cpu);
        for thread in 0..self.threads.len() {
            let state = self.threads[thread].timeline.state_now();
            if !self.is_certain(state) {
                self.set(thread, at, State::Unknown);
            }
            self.threads[thread].woken = None;
        }
    }

    /// Events of a CPU are complete again.
    pub(super) fn recover(&mut self, cpu: Cpu) {
        self.losing = self.losing.saturating_sub(1);
        if cpu == NO_CPU {
            return;
        }
        let state = self.cpu(cpu);
        state.losing = state.losing.saturating_sub(1);
    }

    /// Nothing is known after the last event. Yields the CPUs, and their interrupts.
    pub(super) fn finish(&mut self, tasks: &mut Tasks) -> Vec<(Processor, Stays)> {
        if let Some(last) = self.last {
            for cpu in 0..self.cpus.len() {
                self.settle(tasks, Cpu(cpu as u16), last);
            }
            for thread in &mut self.threads {
                thread.timeline.push(last, State::Unknown);
                thread.timeline.shrink();
            }
            for cpu in &mut self.cpus {
                cpu.processor.push(last, None);
            }
        }
        std::mem::take(&mut self.cpus)
            .into_iter()
            .map(|cpu| (cpu.processor, cpu.stays))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preemption_is_reported_in_several_ways() {
        let stop = |state: i64| Stop::of(state, Kernel::Unknown);
        for state in [0, 256, 512, 1024, 2048, 4096, 8192] {
            assert_eq!(stop(state), Stop::Preempted);
        }
        assert_eq!(stop(1), Stop::Sleeps(Sleep::Interruptible));
        assert_eq!(stop(130), Stop::Sleeps(Sleep::Uninterruptible));
        assert_eq!(stop(1026), Stop::Sleeps(Sleep::Uninterruptible));
        assert_eq!(stop(132), Stop::Sleeps(Sleep::Stopped));
        assert_eq!(stop(16), Stop::Ended);
        assert_eq!(stop(128), Stop::Ended);
    }

    #[test]
    fn the_version_of_the_kernel_says_who_has_ended_and_who_is_parked() {
        for (release, stop) in [
            ("3.13.0-24-generic", Stop::Ended),
            ("4.9.337", Stop::Ended),
            ("4.14.0", Stop::Sleeps(Sleep::Other)),
            ("5.15-rc1", Stop::Sleeps(Sleep::Other)),
            ("", Stop::EndedOrParked),
            ("99999999999.1", Stop::EndedOrParked),
            ("ö.ß", Stop::EndedOrParked),
        ] {
            assert_eq!(Stop::of(64, Kernel::of_release(release)), stop, "{release}");
        }
    }
}
