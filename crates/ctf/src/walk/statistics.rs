//! What is in a trace: every event decoded once, counted, and forgotten.
//!
//! Packets are independent, so all processors walk through them at the same time; each keeps a tally of its own and the
//! tallies are added at the end.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use rostrace_base::parallel;

use crate::damage::{Damage, DamageRows};
use crate::layout::bits::{Codec, word_le};
use crate::layout::{Layout, Leaf, LeafType, Raw, Scope};
use crate::schema::{ByteOrder, Cycles, Nanos};
use crate::trace::time::Conversion;
use crate::trace::{StreamId, Trace, TraceSet};
use crate::walk::tasks::{Task, tasks};
use crate::walk::{Event, Walker, non_monotonic, undecodable};

/// The result of decoding every event of a [`TraceSet`].
#[derive(Debug, Default)]
pub struct Survey {
    pub events: u64,
    /// When the recording began: see [`TraceSet::span`].
    pub begin: Option<Nanos>,
    /// Time of the last event, or of the last packet's end.
    pub end: Option<Nanos>,
    pub streams: Vec<StreamSurvey>,
    /// Every declared event class, also those without events, in order of trace, stream class and declaration.
    pub classes: Vec<ClassSurvey>,
    /// In order of the first event.
    pub processes: Vec<ProcessSurvey>,
    /// What was found wrong while decoding; what was known before is in [`TraceSet::damage`].
    pub damage: Vec<Damage>,
}

#[derive(Debug, Clone)]
pub struct StreamSurvey {
    pub stream: StreamId,
    pub packets: u64,
    pub bytes: u64,
    pub events: u64,
    pub first: Option<Nanos>,
    pub last: Option<Nanos>,
}

#[derive(Debug, Clone)]
pub struct ClassSurvey {
    pub trace: usize,
    /// Index of the stream class in the schema, and of the event class in it.
    pub stream_class: usize,
    pub event_class: usize,
    pub events: u64,
    /// With header and contexts, without padding.
    pub bits: u64,
}

/// A process, as the `vpid` context (or the environment of a per-process trace) names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSurvey {
    pub trace: usize,
    pub vpid: i64,
    /// The name at the first event; empty if the trace does not have it.
    pub name: String,
    pub events: u64,
    pub first: Option<Nanos>,
    pub last: Option<Nanos>,
}

impl Survey {
    /// Decodes everything on so many threads (0: as many as there are processors). `progress` is called now
    /// and then with the bytes that are done; it returns whether to go on.
    pub fn take(set: &TraceSet, threads: usize, progress: &(dyn Fn(u64) -> bool + Sync)) -> Survey {
        let tasks = tasks(set);
        let bytes_done = AtomicU64::new(0);
        let tallies = parallel::run(
            &tasks,
            parallel::threads(threads, tasks.len()),
            || ThreadCounts::new(set),
            |tally, task| {
                tally.task(set, task);
                progress(bytes_done.fetch_add(task.bytes, Ordering::Relaxed) + task.bytes)
            },
        );
        let mut total = ThreadCounts::new(set);
        for tally in tallies {
            total.add(tally);
        }
        total.finish(set)
    }
}

/// What one thread has counted.
struct ThreadCounts {
    /// Where the classes of a stream class begin in `classes`: by trace, then by stream class.
    class_base: Vec<Vec<usize>>,
    classes: Vec<ClassCount>,
    streams: HashMap<StreamId, StreamCount>,
    processes: Vec<Process>,
    process_of: HashMap<(usize, i64), usize>,
    damage: DamageRows,
}

#[derive(Clone, Copy, Default)]
struct ClassCount {
    events: u64,
    bits: u64,
}

#[derive(Default)]
struct StreamCount {
    events: u64,
    first: Option<Nanos>,
    last: Option<Nanos>,
}

struct Process {
    trace: usize,
    vpid: i64,
    name: Vec<u8>,
    /// The name is that of the main thread; other threads may have names of their own.
    named_by_main: bool,
    events: u64,
    first: Option<Nanos>,
    last: Option<Nanos>,
}

/// Where a stream class has the process of an event.
struct ProcessPlaces<'a> {
    vpid: Option<VpidPlace<'a>>,
    vtid: Option<&'a Leaf>,
    name: Option<&'a Leaf>,
}

impl ThreadCounts {
    fn new(set: &TraceSet) -> ThreadCounts {
        let mut classes = 0;
        let class_base = set.traces.iter().map(|trace| {
            let bases = trace.schema.streams.iter().map(|stream| {
                classes += stream.events.len();
                classes - stream.events.len()
            });
            bases.collect()
        });
        let class_base = class_base.collect();
        ThreadCounts {
            class_base,
            classes: vec![ClassCount::default(); classes],
            streams: HashMap::new(),
            processes: Vec::new(),
            process_of: HashMap::new(),
            damage: DamageRows::default(),
        }
    }

    fn task(&mut self, set: &TraceSet, task: &Task) {
        let (trace, stream) = (set.trace_of(task.stream), set.stream(task.stream));
        let time = trace.time_base(stream, Conversion::Exact);
        let mut walker = trace.decoder.walker(stream.class);
        let base = self.class_base[task.stream.trace][stream.class];
        let layouts = trace.layouts(stream.class).iter();
        let places: Vec<ProcessPlaces<'_>> = layouts.map(ProcessPlaces::new).collect();
        let of_trace = self.process_of_trace(task.stream.trace, trace);
        let mut count = StreamCount::default();
        let mut last_time = Cycles(0);
        for packet in &stream.packets[task.packets.clone()] {
            let Ok(head) = trace.decoder.enter(&mut walker, packet, trace.data(packet)) else {
                continue;
            };
            let mut back = 0u64;
            let mut run = ProcessRun::default();
            let Ok(trouble) = walker.each_event(|walker, event, _| {
                let class = &mut self.classes[base + event.class as usize];
                class.events += 1;
                class.bits += event.end - event.start;
                back += u64::from(event.time < last_time);
                let place = &places[event.class as usize];
                if let Some(vpid) = &place.vpid {
                    let vpid = vpid.read(&event, walker);
                    if run.process.is_none() || vpid != run.vpid {
                        self.end_run(&mut run, time.nanos(last_time));
                        let at = time.nanos(event.time);
                        run.process =
                            Some(self.process(task.stream.trace, vpid, place, walker, at));
                        run.vpid = vpid;
                    }
                } else if run.process.is_none() && of_trace.is_some() {
                    run.process = of_trace;
                    self.meet(of_trace, time.nanos(event.time));
                }
                run.events += 1;
                last_time = event.time;
                if count.events == 0 {
                    count.first = Some(time.nanos(event.time));
                }
                count.events += 1;
                Ok::<(), Infallible>(())
            });
            self.end_run(&mut run, time.nanos(last_time));
            let undecodable = |error| undecodable(trace, stream, packet, &walker, &error);
            self.damage.extend(trouble.and_then(undecodable));
            if back > 0 {
                let at = time.nanos(last_time);
                self.damage.push(non_monotonic(trace, packet, back, at));
            }
            trace.decoder.leave(&mut walker, &head);
        }
        count.last = (count.events > 0).then(|| time.nanos(last_time));
        self.streams.entry(task.stream).or_default().add(&count);
    }

    /// In per-process traces the environment names the one process.
    fn process_of_trace(&mut self, number: usize, trace: &Trace) -> Option<usize> {
        let vpid = trace.schema.environment_integer("vpid")?;
        let index = self.index_of(number, vpid);
        let process = &mut self.processes[index];
        if process.name.is_empty() {
            process.name = trace
                .schema
                .environment_text("procname")
                .unwrap_or_default()
                .into();
        }
        Some(index)
    }

    fn index_of(&mut self, trace: usize, vpid: i64) -> usize {
        *self.process_of.entry((trace, vpid)).or_insert_with(|| {
            self.processes.push(Process {
                trace,
                vpid,
                name: Vec::new(),
                named_by_main: false,
                events: 0,
                first: None,
                last: None,
            });
            self.processes.len() - 1
        })
    }

    fn process(
        &mut self,
        trace: usize,
        vpid: i64,
        places: &ProcessPlaces<'_>,
        walker: &Walker<'_>,
        at: Nanos,
    ) -> usize {
        let index = self.index_of(trace, vpid);
        let process = &mut self.processes[index];
        let earlier = process.first.is_none_or(|first| at < first);
        if earlier {
            process.first = Some(at);
        }
        let by_main = places.vtid.is_some_and(|vtid| number(vtid, walker) == vpid);
        if let Some(name) = places.name
            && (by_main && !process.named_by_main || by_main == process.named_by_main && earlier)
            && let Raw::Bytes(name) = name.read(walker.data(), walker.anchors())
        {
            process.name = name.to_vec();
            process.named_by_main = by_main;
        }
        index
    }

    fn meet(&mut self, process: Option<usize>, at: Nanos) {
        if let Some(index) = process {
            let first = &mut self.processes[index].first;
            *first = Some(first.map_or(at, |first| first.min(at)));
        }
    }

    /// A run of events of one process is over.
    fn end_run(&mut self, run: &mut ProcessRun, at: Nanos) {
        if let Some(index) = run.process {
            let process = &mut self.processes[index];
            process.events += run.events;
            process.last = Some(process.last.map_or(at, |last| last.max(at)));
        }
        run.events = 0;
    }

    fn add(&mut self, other: ThreadCounts) {
        for (total, count) in self.classes.iter_mut().zip(&other.classes) {
            total.events += count.events;
            total.bits += count.bits;
        }
        for (id, count) in &other.streams {
            self.streams.entry(*id).or_default().add(count);
        }
        for process in other.processes {
            let index = self.index_of(process.trace, process.vpid);
            let total = &mut self.processes[index];
            let earlier =
                earliest(total.first, process.first) != total.first || total.first.is_none();
            if process.named_by_main && !total.named_by_main
                || process.named_by_main == total.named_by_main && earlier
            {
                total.name = process.name;
                total.named_by_main = process.named_by_main;
            }
            total.events += process.events;
            total.first = earliest(total.first, process.first);
            total.last = total.last.max(process.last);
        }
        self.damage.append(other.damage);
    }

    fn finish(self, set: &TraceSet) -> Survey {
        let mut survey = Survey {
            damage: self.damage.into_rows(),
            ..Survey::default()
        };
        survey
            .damage
            .sort_by(|a, b| (&a.path, a.offset).cmp(&(&b.path, b.offset)));
        for id in set.streams() {
            let stream = set.stream(id);
            let default = StreamCount::default();
            let count = self.streams.get(&id).unwrap_or(&default);
            let timed = set.trace_of(id).clock_of(stream).is_some();
            let span = set.trace_of(id).span(stream).filter(|_| timed);
            let first = count.first.filter(|_| timed);
            let last = count.last.filter(|_| timed);
            survey.events += count.events;
            let begin = earliest(span.map(|(begin, _)| begin), first);
            survey.begin = earliest(survey.begin, begin);
            survey.end = survey.end.max(span.map(|(_, end)| end)).max(last);
            survey.streams.push(StreamSurvey {
                stream: id,
                packets: stream.packets.len() as u64,
                bytes: stream.packets.iter().map(|packet| packet.size).sum(),
                events: count.events,
                first,
                last,
            });
        }
        let recorded = survey.begin.and_then(|_| set.span());
        survey.begin = recorded.map(|(begin, _)| begin).or(survey.begin);
        for (trace, bases) in self.class_base.iter().enumerate() {
            for (stream_class, &base) in bases.iter().enumerate() {
                let events = set.traces[trace].schema.streams[stream_class].events.len();
                let counts = self.classes[base..base + events].iter().enumerate();
                survey
                    .classes
                    .extend(counts.map(|(event_class, count)| ClassSurvey {
                        trace,
                        stream_class,
                        event_class,
                        events: count.events,
                        bits: count.bits,
                    }));
            }
        }
        survey
            .processes
            .extend(self.processes.into_iter().map(|process| ProcessSurvey {
                trace: process.trace,
                vpid: process.vpid,
                name: String::from_utf8_lossy(&process.name).into_owned(),
                events: process.events,
                first: process.first,
                last: process.last,
            }));
        survey
            .processes
            .sort_by_key(|process| (process.first, process.trace, process.vpid));
        survey
    }
}

/// Consecutive events of one process in a packet.
#[derive(Default)]
struct ProcessRun {
    process: Option<usize>,
    vpid: i64,
    events: u64,
}

impl StreamCount {
    fn add(&mut self, other: &StreamCount) {
        self.events += other.events;
        self.first = earliest(self.first, other.first);
        self.last = self.last.max(other.last);
    }
}

impl<'a> ProcessPlaces<'a> {
    fn new(layout: &'a Layout) -> ProcessPlaces<'a> {
        let context = |name: &str| {
            layout
                .leaves
                .iter()
                .find(|leaf| leaf.scope != Scope::Payload && &*leaf.name == name)
        };
        let is_number = |leaf: &&Leaf| matches!(leaf.shape, LeafType::Number(_));
        ProcessPlaces {
            // The kernel's own contexts are called pid and tid.
            vpid: context("vpid")
                .or(context("pid"))
                .filter(is_number)
                .map(VpidPlace::new),
            vtid: context("vtid").or(context("tid")).filter(is_number),
            name: context("procname"),
        }
    }
}

const USUAL_VPID: Codec = Codec {
    size: 32,
    order: ByteOrder::Little,
    reversed: false,
    signed: true,
};

/// It is read from every event, so its usual form has a short way: 32 bits at a constant distance from the body.
enum VpidPlace<'a> {
    Bytes(u64),
    Leaf(&'a Leaf),
}

impl<'a> VpidPlace<'a> {
    fn new(leaf: &'a Leaf) -> VpidPlace<'a> {
        match leaf.shape {
            LeafType::Number(USUAL_VPID)
                if leaf.place.anchor == 0 && leaf.place.offset.is_multiple_of(8) =>
            {
                VpidPlace::Bytes(leaf.place.offset / 8)
            }
            _ => VpidPlace::Leaf(leaf),
        }
    }

    #[inline]
    fn read(&self, event: &Event, walker: &Walker<'_>) -> i64 {
        match self {
            VpidPlace::Bytes(offset) if event.body.is_multiple_of(8) => {
                let at = (event.body / 8 + offset) as usize;
                i64::from(word_le(walker.data(), at) as u32 as i32)
            }
            VpidPlace::Bytes(offset) => {
                USUAL_VPID.read(walker.data(), event.body + offset * 8) as i64
            }
            VpidPlace::Leaf(leaf) => number(leaf, walker),
        }
    }
}

#[inline]
fn number(leaf: &Leaf, walker: &Walker<'_>) -> i64 {
    match leaf.read(walker.data(), walker.anchors()) {
        Raw::Number(number) => number as i64,
        _ => 0,
    }
}

fn earliest(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
