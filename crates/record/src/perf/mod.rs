//! Context switches of recorded processes, from the kernel through `perf_event_open`: no root, no code in the process.
//!
//! An *event* follows one thread on one CPU, and all threads and processes that it starts; a *ring* is the memory of one CPU that all events
//! of that CPU write into; *records* are what is in it. [`ContextSwitches`] has all of them for one recording: a command is followed from
//! its first instruction ([`ContextSwitches::follow_children_of`]), a process that runs already from when it is found
//! ([`ContextSwitches::follow`]). Where the system refuses, a [`Refusal`] says why, and the rest is recorded without.
//!
//! Who may hear of the whole machine gets the kernel's own *tracepoints* instead: who had a CPU is then known of all threads, and who woke
//! whom; and, if that was [chosen](KernelChoice), interrupts, system calls and page faults.

mod choice;
mod event;
mod record;
mod refusal;
mod ring;
mod sample;
mod system_call;
mod tracepoint;

pub use choice::KernelChoice;
pub use refusal::Refusal;
pub(crate) use sample::StackSamples;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use rostrace_session::clock;
use rostrace_session::keep::{SchedBuffer, SchedValue, sched};

use crate::limits;
use event::{Event, Events, Purpose, RecordedBy, Target};
use record::{RecordContent, Records};
use ring::Ring;
use tracepoint::{Format, tracefs};

/// Threads of a process that was found are looked for again after so long, as long as there are new ones.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct ContextSwitches {
    rings: Vec<Ring>,
    /// They end with the last descriptor, also for threads that inherited them.
    events: Events,
    /// What is recorded of each thread that is followed.
    subjects: Vec<RecordedBy>,
    /// Of the tracepoints that are recorded; empty where only recorded threads may be followed.
    formats: Vec<Format>,
    /// Why that is so, or why one that was chosen is missing.
    without_tracepoints: Option<Refusal>,
    /// Threads that events are about, by number in our name space, and what they are called.
    followed: HashMap<u32, Vec<u8>>,
    /// Processes whose threads may not all be followed yet.
    incomplete: HashMap<u32, Look>,
    refused: HashMap<u32, io::Error>,
    scratch: Vec<u8>,
    /// By CPU: the thread that has it, as the tracepoints say.
    running: HashMap<u32, u32>,
}

/// A look at the threads of a process that runs.
#[derive(Debug)]
struct Look {
    at: Instant,
    /// Threads that nothing was heard of then. One that was just started is heard of soon, if who started it was followed.
    unheard: HashSet<u32>,
}

/// Something that happened to a thread, in the order of time once all rings were read.
struct Naming {
    time: u64,
    tid: u32,
    pid: u32,
    /// The name of this thread, if it has none of its own yet.
    name: Option<Vec<u8>>,
    parent: u32,
}

impl ContextSwitches {
    /// With what was chosen, as far as the system allows it.
    pub(crate) fn new(choice: KernelChoice) -> Result<ContextSwitches, Refusal> {
        let machine = (!choice.recorded_threads_only).then(|| Machine::open(choice));
        let (rings, events, formats, without_tracepoints) = match machine {
            None => (rings(false)?, Vec::new(), Vec::new(), None),
            Some(Ok(it)) => (it.rings, it.events, it.formats, it.missing),
            Some(Err(refusal)) => (rings(false)?, Vec::new(), Vec::new(), Some(refusal)),
        };
        // Beside tracepoints, too: the kernel leaves out one of them now and then.
        let mut subjects = vec![RecordedBy::Threads { switches: true }];
        let of_threads = formats.iter().filter(|it| it.tracepoint.is_of_threads());
        subjects.extend(of_threads.map(|format| RecordedBy::Tracepoint(format.id)));
        if choice.page_faults && !formats.is_empty() {
            subjects.push(RecordedBy::PageFaults);
        }
        Ok(ContextSwitches {
            rings,
            events: Events::of(events),
            subjects,
            formats,
            without_tracepoints,
            followed: HashMap::new(),
            incomplete: HashMap::new(),
            refused: HashMap::new(),
            scratch: Vec::new(),
            running: HashMap::new(),
        })
    }

    /// The numbers of the events that may be written.
    pub(crate) fn declared(&self) -> Vec<u16> {
        let mut declared = vec![sched::THREAD_NAME, sched::THREAD_EXIT];
        declared.extend(self.formats.iter().map(|format| format.tracepoint.event()));
        if self.formats.is_empty() {
            declared.extend([sched::SWITCH_IN, sched::SWITCH_OUT]);
        }
        if self.subjects.contains(&RecordedBy::PageFaults) {
            declared.push(sched::PAGE_FAULT_DONE);
        }
        declared
    }

    /// Whether the whole machine is heard of.
    pub(crate) fn has_tracepoints(&self) -> bool {
        !self.formats.is_empty()
    }

    /// Why only recorded threads are followed, if that is so, or why something that was chosen is missing.
    pub(crate) fn without_tracepoints(&self) -> Option<&Refusal> {
        self.without_tracepoints.as_ref()
    }

    /// Follows the children of this thread of ours from the moment in which they become another program. Says why that is refused.
    pub(crate) fn follow_children_of(&mut self, starter: u32) -> Option<Refusal> {
        match self.open(starter, Purpose::NextProgram) {
            Ok(opened) => {
                self.events.extend(opened);
                None
            }
            Err(error) => Some(Refusal::of(&error)),
        }
    }

    /// Follows all threads of a process that runs, unless they were inherited. To be called after [`read`](Self::read).
    pub(crate) fn follow(&mut self, pid: u32, buffer: &mut SchedBuffer) {
        if self.followed.contains_key(&pid) || self.refused.contains_key(&pid) {
            return;
        }
        for tid in threads(pid) {
            self.follow_thread(pid, tid, buffer);
        }
        let look = Look {
            at: Instant::now(),
            unheard: HashSet::new(),
        };
        self.incomplete.insert(pid, look);
    }

    fn follow_thread(&mut self, pid: u32, tid: u32, buffer: &mut SchedBuffer) {
        if self.followed.contains_key(&tid) {
            return;
        }
        match self.open(tid, Purpose::Running) {
            Ok(opened) => {
                self.events.extend(opened);
                let name = fs::read(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
                let name = name.trim_ascii_end().to_vec();
                buffer.thread_name(clock::monotonic(), tid, pid, &name);
                self.followed.insert(tid, name);
            }
            // It has just ended.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => {
                self.refused.insert(pid, error);
            }
        }
    }

    /// Events of one thread on all CPUs. Threads times CPUs can be more than a process usually needs.
    fn open(&self, tid: u32, purpose: Purpose) -> io::Result<Vec<Event>> {
        limits::with_enough_files(|| open(&self.rings, &self.subjects, tid, purpose))
    }

    /// Looks again for threads that were started while those of their process were being found.
    pub(crate) fn complete(&mut self, buffer: &mut SchedBuffer) {
        self.events.close_ended();
        let due = self.incomplete.iter();
        let due = due.filter(|(_, look)| look.at.elapsed() >= BETWEEN_LOOKS);
        for pid in due.map(|(pid, _)| *pid).collect::<Vec<u32>>() {
            let unheard = threads(pid).filter(|tid| !self.followed.contains_key(tid));
            let unheard: HashSet<u32> = unheard.collect();
            let Some(mut look) = self.incomplete.remove(&pid) else {
                continue;
            };
            for tid in unheard.intersection(&look.unheard) {
                self.follow_thread(pid, *tid, buffer);
            }
            if !unheard.is_empty() && !self.refused.contains_key(&pid) {
                look = Look {
                    at: Instant::now(),
                    unheard,
                };
                self.incomplete.insert(pid, look);
            }
        }
    }

    /// Moves everything that the kernel has written into the buffer. Returns whether that was much.
    pub(crate) fn read(&mut self, buffer: &mut SchedBuffer) -> bool {
        let mut is_quick = false;
        let formats = &self.formats;
        let has_tracepoints = !formats.is_empty();
        let mut namings = Vec::new();
        let mut ended = Vec::new();
        for ring in &mut self.rings {
            self.scratch.clear();
            is_quick |= ring.take(&mut self.scratch);
            let cpu = ring.cpu;
            let mut last = 0;
            for record in Records::of(&self.scratch) {
                let sample = record.sample;
                let (time, tid) = (sample.time, sample.tid);
                match record.what {
                    // Both only tell what the tracepoint before them has left out.
                    RecordContent::SwitchIn if has_tracepoints => {
                        if self.running.insert(cpu, tid) != Some(tid) {
                            let name = self.followed.get(&tid).map_or(&[][..], Vec::as_slice);
                            buffer.kernel_event(
                                cpu,
                                time,
                                sched::SCHED_SWITCH,
                                &tracepoint::switch_in(tid, name),
                            );
                        }
                    }
                    RecordContent::SwitchOut { .. } if has_tracepoints => {}
                    RecordContent::SwitchIn => buffer.switch_in(cpu, time, tid),
                    RecordContent::SwitchOut { preempted } => {
                        buffer.switch_out(cpu, time, tid, preempted)
                    }
                    RecordContent::Name {
                        pid,
                        tid,
                        name,
                        is_exec,
                    } => {
                        // Who becomes another program is on a CPU: that of a command was not followed before.
                        if is_exec && !has_tracepoints {
                            buffer.switch_in(cpu, time, tid);
                        }
                        namings.push(Naming {
                            time,
                            tid,
                            pid,
                            name: Some(name.to_vec()),
                            parent: 0,
                        });
                    }
                    RecordContent::Fork { pid, tid, parent } => namings.push(Naming {
                        time,
                        tid,
                        pid,
                        name: None,
                        parent,
                    }),
                    RecordContent::Exit { pid, tid } => {
                        buffer.thread_exit(cpu, time, tid, pid);
                        ended.push((time, tid));
                    }
                    RecordContent::Tracepoint(raw) => {
                        let id = raw.first_chunk().map(|id| u16::from_ne_bytes(*id));
                        let format = formats.iter().find(|format| Some(format.id) == id);
                        if let Some(next) = format.and_then(|format| format.next(raw)) {
                            self.running.insert(cpu, next);
                        }
                        if format.is_none_or(|format| !format.write(raw, sample, buffer)) {
                            buffer.lose(cpu, time, 1);
                        }
                    }
                    RecordContent::PageFaultDone { address } => {
                        let address = SchedValue::Number(address.cast_signed());
                        let values = [address, SchedValue::Number(tid.into())];
                        buffer.kernel_event(cpu, time, sched::PAGE_FAULT_DONE, &values);
                    }
                    RecordContent::Lost { records } => buffer.lose(cpu, time, records),
                    RecordContent::Torn => buffer.lose(cpu, last, 1),
                }
                last = time;
            }
        }
        namings.sort_by_key(|naming| naming.time);
        for naming in namings {
            let name = match naming.name {
                Some(name) => name,
                None => self
                    .followed
                    .get(&naming.parent)
                    .cloned()
                    .unwrap_or_default(),
            };
            buffer.thread_name(naming.time, naming.tid, naming.pid, &name);
            // A number that was used again meanwhile belongs to the new thread.
            ended.retain(|(time, tid)| *tid != naming.tid || *time > naming.time);
            self.followed.insert(naming.tid, name);
        }
        for (_, tid) in ended {
            self.followed.remove(&tid);
        }
        is_quick
    }

    /// Whether there is a process whose threads could not all be followed.
    pub(crate) fn has_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// Whether threads of this process could not be followed.
    pub(crate) fn is_refused(&self, pid: u32) -> bool {
        self.refused.contains_key(&pid)
    }

    /// A process whose threads could not all be followed, and why.
    pub(crate) fn refused(&self) -> Option<(u32, Refusal)> {
        let (pid, error) = self.refused.iter().min_by_key(|(pid, _)| **pid)?;
        Some((*pid, Refusal::of(error)))
    }
}

/// Whether context switches can be recorded here.
pub(crate) fn probe() -> Result<(), Refusal> {
    let cpu = online_cpus().next().unwrap_or(0);
    let ring = Ring::new(cpu, false).map_err(|error| Refusal::of(&error))?;
    let subjects = [RecordedBy::Threads { switches: true }];
    let opened = open(
        std::slice::from_ref(&ring),
        &subjects,
        0,
        Purpose::NextProgram,
    );
    opened.map(drop).map_err(|error| Refusal::of(&error))
}

/// Whether those of the whole machine can.
pub(crate) fn probe_machine() -> Result<(), Refusal> {
    Machine::open(KernelChoice::default()).map(drop)
}

/// Events of the whole machine: its tracepoints.
struct Machine {
    rings: Vec<Ring>,
    events: Vec<Event>,
    formats: Vec<Format>,
    /// Why something that was chosen is not among them.
    missing: Option<Refusal>,
}

impl Machine {
    fn open(choice: KernelChoice) -> Result<Machine, Refusal> {
        // The kernel's records have the numbers that threads have in the outermost name space.
        if !is_in_first_namespace() {
            return Err(Refusal::in_namespace());
        }
        let Some(tracefs) = tracefs() else {
            return Err(Refusal::without_tracefs());
        };
        let mut formats = Vec::new();
        let mut missing = None;
        for tracepoint in choice.tracepoints() {
            match Format::read(&tracefs, tracepoint) {
                Ok(format) => formats.push(format),
                Err(reason) if tracepoint.is_chosen() => {
                    missing = Some(Refusal::of_format(reason));
                }
                Err(reason) => return Err(Refusal::of_format(reason)),
            }
        }
        let rings = rings(true)?;
        // CPUs times tracepoints can be more files than a process usually may have.
        let events = limits::with_enough_files(|| {
            let mut events = Vec::new();
            for ring in &rings {
                for format in formats.iter().filter(|it| !it.tracepoint.is_of_threads()) {
                    let subject = RecordedBy::Tracepoint(format.id);
                    let purpose = Purpose::Running;
                    let event = Event::open(subject, Target::Everybody, ring.cpu, purpose)?;
                    event.write_into(&ring.event)?;
                    events.push(event);
                }
            }
            Ok(events)
        });
        let events = events.map_err(|error| Refusal::of_machine(&error))?;
        Ok(Machine {
            rings,
            events,
            formats,
            missing,
        })
    }
}

/// The number that the outermost name space of process ids has on every machine.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

fn is_in_first_namespace() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() == FIRST_NAMESPACE)
}

/// A ring for each CPU.
fn rings(is_of_machine: bool) -> Result<Vec<Ring>, Refusal> {
    let rings = limits::with_enough_files(|| {
        let mut rings = Vec::new();
        for cpu in online_cpus() {
            match Ring::new(cpu, is_of_machine) {
                Ok(ring) => rings.push(ring),
                // It was switched off meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(rings)
    });
    rings.map_err(|error| Refusal::of(&error))
}

/// Events of one thread on all CPUs.
fn open(
    rings: &[Ring],
    subjects: &[RecordedBy],
    tid: u32,
    purpose: Purpose,
) -> io::Result<Vec<Event>> {
    let mut events = Vec::with_capacity(rings.len() * subjects.len());
    for ring in rings {
        for subject in subjects {
            let event = Event::open(*subject, Target::Thread(tid), ring.cpu, purpose)?;
            event.write_into(&ring.event)?;
            events.push(event);
        }
    }
    Ok(events)
}

fn threads(pid: u32) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let names = entries.into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn online_cpus() -> impl Iterator<Item = u32> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online");
    cpu_list(&text.unwrap_or_else(|_| "0".to_owned())).into_iter()
}

/// `0-3,6`
fn cpu_list(text: &str) -> Vec<u32> {
    let ranges = text.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cpus_may_have_gaps() {
        assert_eq!(cpu_list("0-2,5,8-9\n"), [0, 1, 2, 5, 8, 9]);
        assert_eq!(cpu_list("0\n"), [0]);
        assert_eq!(cpu_list("x,-,3-"), Vec::<u32>::new());
    }
}
