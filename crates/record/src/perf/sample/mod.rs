//! Samples of the call stacks of recorded processes while they compute, from the kernel through `perf_event_open`: no root, no code in the
//! process.
//!
//! As for context switches there is an event for each thread and CPU and a ring for each CPU ([`StackSamples`]), but with rings of their
//! own: a sample has a copy of the stack, which is large and short-lived. `record` is what a ring holds; `process` knows the code of a process,
//! which the callers are found by at once, so that what is written is small and has nothing of the stack but addresses of code.

mod process;
mod record;

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Instant;

use rostrace_session::clock;
use rostrace_session::keep::SchedBuffer;
use rostrace_symbols::UnwindCache;

use self::process::{Files, Process};
use self::record::{REGISTERS, Sample, What};
use super::event::{Event, Events, Purpose, Samples};
use super::refusal::Refusal;
use super::ring::Ring;
use super::{BETWEEN_LOOKS, online_cpus, threads};
use crate::limits;

/// Rings are of one size, the largest that may be locked: 2 MiB has room for 120 samples, the smallest for 7.
const LARGEST: usize = 2 << 20;
const SMALLEST: usize = 64 << 10;
/// Code between marks like `PERF_CONTEXT_USER` in a chain of callers.
const FIRST_MARK: u64 = 4095_u64.wrapping_neg();

#[derive(Debug)]
pub(crate) struct StackSamples {
    samples: Samples,
    rings: Vec<(Ring, Vec<u8>)>,
    /// They end with the last descriptor, also for threads that inherited them.
    events: Events,
    /// Threads that events tell of, and their processes, by number in our name space.
    followed: HashMap<u32, u32>,
    /// Processes whose threads may not all be followed yet, with those that nothing was heard of when they were looked at.
    incomplete: HashMap<u32, (Instant, HashSet<u32>)>,
    /// Those that are recorded; nothing else is written.
    processes: HashMap<u32, Process>,
    refused: Option<(u32, io::Error)>,
    files: Files,
    cache: UnwindCache,
    taken: u64,
}

impl StackSamples {
    /// With so many samples in a second of a CPU. To be called before other rings are made, which need less room.
    pub(crate) fn new(hertz: u32) -> Result<StackSamples, Refusal> {
        let cpus: Vec<u32> = online_cpus().collect();
        let mut bytes = LARGEST;
        let rings = loop {
            match rings(&cpus, bytes) {
                Ok(rings) => break rings,
                Err(_) if bytes > SMALLEST => bytes /= 2,
                Err(error) => return Err(Refusal::of(&error)),
            }
        };
        let samples = Samples {
            period: 1_000_000_000 / u64::from(hertz.max(1)),
            registers: REGISTERS,
            // Of a smaller ring, more samples are worth more than deeper ones.
            stack_bytes: if bytes >= LARGEST / 2 {
                16 << 10
            } else {
                8 << 10
            },
        };
        Ok(StackSamples {
            samples,
            rings: rings.into_iter().map(|ring| (ring, Vec::new())).collect(),
            events: Events::of(Vec::new()),
            followed: HashMap::new(),
            incomplete: HashMap::new(),
            processes: HashMap::new(),
            refused: None,
            files: Files::default(),
            cache: UnwindCache::default(),
            taken: 0,
        })
    }

    /// Says in the recording how samples are taken.
    pub(crate) fn describe(&self, buffer: &mut SchedBuffer) {
        let stack_bytes = u64::from(self.samples.stack_bytes);
        buffer.sample_source(
            clock::monotonic(),
            self.samples.period,
            "cpu-clock",
            stack_bytes,
        );
    }

    /// Samples the children of this thread of ours from the moment in which they become another program. Says why that is refused.
    pub(crate) fn follow_children_of(&mut self, starter: u32) -> Option<Refusal> {
        match self.open(starter, Purpose::NextProgram) {
            Ok(opened) => {
                self.events.extend(opened);
                None
            }
            Err(error) => Some(Refusal::of(&error)),
        }
    }

    /// A process is recorded from now on. To be called after [`read`](Self::read).
    pub(crate) fn follow(&mut self, pid: u32, buffer: &mut SchedBuffer) {
        let now = clock::monotonic();
        let process = Process::running(pid, now, &mut self.files, buffer);
        self.processes.insert(pid, process);
        if self.followed.contains_key(&pid) {
            return;
        }
        for tid in threads(pid) {
            self.follow_thread(pid, tid);
        }
        self.incomplete
            .insert(pid, (Instant::now(), HashSet::new()));
    }

    fn follow_thread(&mut self, pid: u32, tid: u32) {
        if self.followed.contains_key(&tid) {
            return;
        }
        match self.open(tid, Purpose::Running) {
            Ok(opened) => {
                self.events.extend(opened);
                self.followed.insert(tid, pid);
            }
            // It has just ended.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => self.refused = Some((pid, error)),
        }
    }

    /// Looks again for threads that were started while those of their process were being found.
    pub(crate) fn complete(&mut self) {
        self.events.close_ended();
        let due = self.incomplete.iter();
        let due = due.filter(|(_, (at, _))| at.elapsed() >= BETWEEN_LOOKS);
        for pid in due.map(|(pid, _)| *pid).collect::<Vec<u32>>() {
            let unheard = threads(pid).filter(|tid| !self.followed.contains_key(tid));
            let unheard: HashSet<u32> = unheard.collect();
            let Some((_, before)) = self.incomplete.remove(&pid) else {
                continue;
            };
            for tid in unheard.intersection(&before) {
                self.follow_thread(pid, *tid);
            }
            if !unheard.is_empty() && self.refused.is_none() {
                self.incomplete.insert(pid, (Instant::now(), unheard));
            } else {
                self.forget_if_ended(pid);
            }
        }
    }

    fn forget_if_ended(&mut self, pid: u32) {
        if !self.followed.values().any(|process| *process == pid) {
            self.processes.remove(&pid);
        }
    }

    /// Moves what the kernel has written until now into the buffer.
    pub(crate) fn read(&mut self, buffer: &mut SchedBuffer) {
        // What is written while the rings are read may belong behind something of a ring that was read already.
        let until = clock::monotonic();
        let mut rings = std::mem::take(&mut self.rings);
        let mut order = Vec::new();
        for (number, (ring, bytes)) in rings.iter_mut().enumerate() {
            ring.take(bytes);
            let mut at = 0;
            let mut last = 0;
            while at < bytes.len() {
                let Some((bytes_of_record, rest)) = record::first(&bytes[at..]) else {
                    buffer.lose(ring.cpu, last, 1);
                    bytes.truncate(at);
                    break;
                };
                let end = bytes.len() - rest.len();
                if let Some(record) = record::read(bytes_of_record) {
                    if record.time > until {
                        break;
                    }
                    last = record.time;
                    order.push((record.time, number, at..end));
                }
                at = end;
            }
        }
        order.sort_by_key(|(time, ..)| *time);
        for (_, number, range) in &order {
            let (ring, bytes) = &rings[*number];
            self.take(ring.cpu, &bytes[range.clone()], buffer);
        }
        for (number, (_, bytes)) in rings.iter_mut().enumerate() {
            let of_ring = order.iter().filter(|(_, ring, _)| *ring == number);
            let end = of_ring.map(|(_, _, range)| range.end).max().unwrap_or(0);
            bytes.drain(..end);
        }
        self.rings = rings;
    }

    fn take(&mut self, cpu: u32, bytes: &[u8], buffer: &mut SchedBuffer) {
        let Some(record) = record::read(bytes) else {
            return;
        };
        let (pid, time) = (record.pid, record.time);
        match record.what {
            What::Sample(sample) => self.write(cpu, time, (pid, record.tid), &sample, buffer),
            What::Mapping(mapping) => {
                if let Some(process) = self.processes.get_mut(&pid) {
                    process.map(pid, time, &mapping, &mut self.files, buffer);
                }
            }
            // It attaches again, if it is to be recorded.
            What::Exec => {
                self.processes.remove(&pid);
                self.followed.insert(record.tid, pid);
            }
            What::Fork { tid, pid } => {
                self.followed.insert(tid, pid);
            }
            What::Exit { tid, pid } => {
                self.followed.remove(&tid);
                // Its first thread may end before the others.
                if !self.incomplete.contains_key(&pid) {
                    self.forget_if_ended(pid);
                }
            }
            What::Lost { records } => buffer.lose(cpu, time, records),
            What::Other => {}
        }
    }

    fn write(
        &mut self,
        cpu: u32,
        time: u64,
        thread: (u32, u32),
        sample: &Sample<'_>,
        buffer: &mut SchedBuffer,
    ) {
        let Some(process) = self.processes.get(&thread.0) else {
            return;
        };
        let mut frames = Vec::with_capacity(64);
        let mut is_complete = false;
        if let Some(registers) = sample.registers {
            let unwinder = &process.unwinder;
            is_complete = unwinder.callers(&mut self.cache, registers, sample.stack, &mut frames);
        }
        if !is_complete {
            let words = sample.chain.chunks_exact(8);
            let words = words.filter_map(|word| word.first_chunk().copied());
            let chain = words.map(u64::from_ne_bytes).filter(|it| *it < FIRST_MARK);
            prolong(&mut frames, &chain.collect::<Vec<u64>>(), process);
        }
        self.taken += 1;
        buffer.stack_sample(cpu, time, thread, is_complete, &frames);
    }

    /// Samples that were written.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// A process whose threads could not all be sampled, and why.
    pub(crate) fn refused(&self) -> Option<(u32, Refusal)> {
        let (pid, error) = self.refused.as_ref()?;
        Some((*pid, Refusal::of(error)))
    }

    /// Events of one thread on all CPUs.
    fn open(&self, tid: u32, purpose: Purpose) -> io::Result<Vec<Event>> {
        limits::with_enough_files(|| {
            let mut events = Vec::with_capacity(self.rings.len());
            for (ring, _) in &self.rings {
                let event = Event::open_sampling(tid, ring.cpu, purpose, &self.samples)?;
                event.write_into(&ring.event)?;
                events.push(event);
            }
            Ok(events)
        })
    }
}

/// Goes on by frame pointers from where the tables ended, because the stack is deeper than its copy or a function has no table. The chain
/// must have the last function that is known; it may have made up others before it.
fn prolong(frames: &mut Vec<u64>, chain: &[u64], process: &Process) {
    let known = match frames.last() {
        Some(last) => chain.iter().position(|it| it == last),
        None => chain.first().map(|first| {
            frames.push(*first);
            0
        }),
    };
    let further = known.map_or(&[][..], |known| &chain[known + 1..]);
    frames.extend(further.iter().take_while(|it| process.has_code_at(**it)));
}

fn rings(cpus: &[u32], bytes: usize) -> io::Result<Vec<Ring>> {
    let mut rings = Vec::new();
    for cpu in cpus {
        match Ring::sized(*cpu, bytes, bytes) {
            Ok(ring) => rings.push(ring),
            // It was switched off meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(rings)
}
