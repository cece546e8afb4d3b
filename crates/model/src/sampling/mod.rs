//! What threads computed, by samples of their call stacks: what `rostrace record --sample` has the kernel take.
//!
//! [`Sampling::load`] is a pass of its own over the samples. It keeps addresses; what the functions there are called is in the files of the
//! programs, which may be on another machine.

mod code;

pub use code::{Code, CodeId};

use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};
use rustc_hash::FxHashMap;

use crate::Model;
use crate::binding::{Fields, declarations};
use crate::entity::{HostId, ThreadId};
use crate::event_pass::for_each_event;
use crate::scheduling::Scheduling;
use code::CodeMap;

/// All samples of a set.
#[derive(Debug)]
pub struct Sampling {
    /// Nanoseconds on a CPU from one sample of a thread to the next.
    pub period: i64,
    /// By host and the kernel's number of the thread, in the order of time.
    samples: FxHashMap<(HostId, i64), Vec<Sample>>,
    stacks: Vec<Box<[Frame]>>,
    codes: Vec<Code>,
    /// By [`ThreadId`]: the kernel's number.
    tids: Vec<Option<(HostId, i64)>>,
}

/// A thread computed, and this was its call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    pub time: Nanos,
    stack: u32,
    /// Whether the stack reaches the first function of the thread.
    pub is_complete: bool,
}

/// A function on a call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    pub address: u64,
    /// The file that was mapped there, if any.
    pub code: Option<CodeId>,
    /// Whether the address is where the function goes on when what it called returns.
    pub is_return: bool,
}

impl Sampling {
    /// Reads the samples of a set; nothing if none were to be taken. `model` is the model of the same set and `scheduling` what it tells of
    /// threads in containers. `progress` hears of the bytes done and says whether to go on.
    pub fn load(
        set: &TraceSet,
        model: &Model,
        scheduling: Option<&Scheduling>,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Sampling> {
        const KINDS: [Kind; 3] = [Kind::SampleSource, Kind::CodeMapping, Kind::StackSample];
        if KINDS.iter().all(|kind| model.count(*kind) == 0) {
            return None;
        }
        let declared = declarations(set, |kind| KINDS.contains(&kind));
        let mut pass = SamplePass::default();
        for_each_event(set, model, &declared, progress, |host, time, fields| {
            pass.event(host, time, fields);
        });
        let inner = scheduling.map(Scheduling::kernel_tids).unwrap_or_default();
        let tids = model.threads.iter().enumerate().map(|(number, thread)| {
            let host = model.processes[thread.process.index()].host;
            // Without a container the numbers are the same.
            let tid = inner.get(number).copied().flatten();
            Some((host, tid.unwrap_or(thread.tid)))
        });
        Some(pass.finish(tids.collect()))
    }

    /// The samples of a thread between two instants.
    pub fn of_thread(&self, thread: ThreadId, from: Nanos, to: Nanos) -> &[Sample] {
        let key = self.tids.get(thread.index()).copied().flatten();
        let Some(samples) = key.and_then(|key| self.samples.get(&key)) else {
            return &[];
        };
        let begin = samples.partition_point(|it| it.time < from);
        let end = samples.partition_point(|it| it.time < to);
        samples.get(begin..end).unwrap_or_default()
    }

    /// The functions that the thread was in, the innermost first.
    pub fn stack(&self, sample: &Sample) -> &[Frame] {
        &self.stacks[sample.stack as usize]
    }

    pub fn code(&self, id: CodeId) -> &Code {
        &self.codes[id.index()]
    }
}

/// The way through the events.
#[derive(Debug, Default)]
struct SamplePass {
    period: i64,
    maps: FxHashMap<(HostId, i64), CodeMap>,
    codes: Vec<Code>,
    raw: Vec<RawSample>,
}

#[derive(Debug)]
struct RawSample {
    host: HostId,
    tid: i64,
    pid: i64,
    time: Nanos,
    is_complete: bool,
    frames: Vec<u64>,
}

impl SamplePass {
    fn event(&mut self, host: HostId, time: Nanos, fields: &Fields<'_>) {
        match fields.binding.kind {
            Some(Kind::SampleSource) => {
                use field::sample_source::*;
                self.period = fields.signed(PERIOD).unwrap_or(0);
            }
            Some(Kind::CodeMapping) => {
                use field::code_mapping::*;
                let (Some(pid), Some(path)) = (fields.signed(PID), fields.text(PATH)) else {
                    return;
                };
                let code = Code {
                    begin: fields.address(BEGIN).0,
                    end: fields.address(END).0,
                    offset: fields.number(OFFSET).unwrap_or(0),
                    linked_at: fields.address(LINKED_AT).0,
                    path,
                    build_id: fields.text(BUILD_ID).unwrap_or_default(),
                };
                self.codes.push(code);
                let id = CodeId::of(self.codes.len() - 1);
                let map = self.maps.entry((host, pid)).or_default();
                map.add(time, id);
            }
            Some(Kind::StackSample) => {
                use field::stack_sample::*;
                if let (Some(tid), Some(pid)) = (fields.signed(TID), fields.signed(PID)) {
                    let frames = fields.addresses(FRAMES);
                    self.raw.push(RawSample {
                        host,
                        tid,
                        pid,
                        time,
                        is_complete: fields.flag(COMPLETE),
                        frames: frames.into_iter().map(|it| it.0).collect(),
                    });
                }
            }
            _ => {}
        }
    }

    /// What is mapped is told when it is found, which may be after the first sample of it: so samples are understood at the end.
    fn finish(self, tids: Vec<Option<(HostId, i64)>>) -> Sampling {
        let mut samples: FxHashMap<(HostId, i64), Vec<Sample>> = FxHashMap::default();
        let mut stacks: Vec<Box<[Frame]>> = Vec::new();
        let mut known: FxHashMap<Box<[Frame]>, u32> = FxHashMap::default();
        for raw in self.raw {
            let map = self.maps.get(&(raw.host, raw.pid));
            let frames = raw.frames.iter().enumerate().map(|(number, address)| {
                let is_return = number > 0;
                let inside = address.wrapping_sub(u64::from(is_return));
                Frame {
                    address: *address,
                    code: map.and_then(|map| map.find(&self.codes, inside, raw.time)),
                    is_return,
                }
            });
            let frames: Box<[Frame]> = frames.collect();
            let stack = *known.entry(frames).or_insert_with_key(|frames| {
                stacks.push(frames.clone());
                (stacks.len() - 1) as u32
            });
            samples
                .entry((raw.host, raw.tid))
                .or_default()
                .push(Sample {
                    time: raw.time,
                    stack,
                    is_complete: raw.is_complete,
                });
        }
        for samples in samples.values_mut() {
            samples.sort_by_key(|it| it.time);
        }
        Sampling {
            period: self.period,
            samples,
            stacks,
            codes: self.codes,
            tids,
        }
    }
}
