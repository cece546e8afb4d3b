//! Events as text, byte for byte as `babeltrace2` writes them.
//!
//! The trace is cut into stretches of time; each is rendered by one thread and written in order. Only the time difference in
//! the first line of a stretch is not known to the thread that renders it: it is filled in when the stretch is written.

mod number;
mod plan;
mod time;
mod value;

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Conversion, Cursor, Damage, EventView, Selection, StreamId, TraceSet, slices};

use crate::pipeline;
use plan::{ContextMemory, Plan};
pub(crate) use time::ClockFormat;
use time::{Clock, Instant};

/// How lines look.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextOptions {
    pub clock: ClockFormat,
    /// UTC instead of local time.
    pub gmt: bool,
    /// Leave out the time since the event before.
    pub no_delta: bool,
}

/// Bytes of packets in one stretch: its text, about five times as long, must fit the cache a few times.
const STRETCH: u64 = 256 << 10;

/// Writes the selected events. Returns what was found wrong on the way.
pub(crate) fn dump(
    set: &TraceSet,
    options: &TextOptions,
    selection: &Selection,
    limit: Option<u64>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64) -> bool,
) -> io::Result<Vec<Damage>> {
    let plans = Plans::new(set);
    let ranges = slices(set, Conversion::DoublePrecision, selection, STRETCH);
    let total = set.bytes().max(1);
    let count = ranges.len() as u64;
    let damage = Mutex::new(Vec::new());
    let mut before = None;
    let mut left = limit.unwrap_or(u64::MAX);
    let mut delta = Vec::new();
    let mut done = 0u64;
    // Who wants only a few events should not wait for others to be rendered.
    let threads = if limit.is_some() { 1 } else { 0 };
    pipeline::ordered(
        ranges,
        threads,
        || Renderer::new(set, &plans, options),
        |renderer: &mut Renderer<'_>, range, stretch: &mut Stretch| {
            stretch.clear();
            let most = if limit.is_some() { limit } else { None };
            let found = renderer.render(range, selection, most, stretch);
            if let Ok(mut damage) = damage.lock() {
                damage.extend(found);
            }
        },
        |stretch| {
            let text = stretch.up_to(left);
            if let (Some((hole, first)), false) = (stretch.hole, options.no_delta) {
                delta.clear();
                Clock::new(options.clock, true).write_delta(&mut delta, before, first);
                if hole <= text.len() {
                    out.write_all(&text[..hole])?;
                    out.write_all(&delta)?;
                    out.write_all(&text[hole..])?;
                }
            } else {
                out.write_all(text)?;
            }
            before = stretch.last.or(before);
            left = left.saturating_sub(stretch.lines.len() as u64);
            done += 1;
            let stop = left == 0 || !progress(total * done / count);
            Ok(if stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        },
    )?;
    let mut damage = damage.into_inner().unwrap_or_default();
    // A packet that reaches into two stretches is decoded in both.
    damage.sort_by(|a: &Damage, b| (&a.path, a.offset, a.kind).cmp(&(&b.path, b.offset, b.kind)));
    damage.dedup_by(|a, b| (&a.path, a.offset, a.kind) == (&b.path, b.offset, b.kind));
    Ok(damage)
}

/// The text of one stretch of time.
#[derive(Debug, Default)]
struct Stretch {
    text: Vec<u8>,
    /// Ends of the lines, if they are counted.
    lines: Vec<usize>,
    /// Where the first time difference belongs, and the time that it leads to.
    hole: Option<(usize, Instant)>,
    last: Option<Instant>,
}

impl Stretch {
    fn clear(&mut self) {
        self.text.clear();
        self.lines.clear();
        self.hole = None;
        self.last = None;
    }

    /// The first lines.
    fn up_to(&self, lines: u64) -> &[u8] {
        match usize::try_from(lines) {
            Ok(0) => &[],
            Ok(lines) if lines < self.lines.len() => &self.text[..self.lines[lines - 1]],
            _ => &self.text,
        }
    }
}

/// The plans of all event classes: by trace, stream class, event class.
struct Plans(Vec<Vec<Vec<Plan>>>);

impl Plans {
    fn new(set: &TraceSet) -> Plans {
        let of_trace = |trace: &rostrace_ctf::Trace| {
            let streams = trace
                .schema
                .streams
                .iter()
                .enumerate()
                .map(|(number, stream)| {
                    let classes = stream.events.iter().zip(trace.layouts(number));
                    classes
                        .map(|(class, layout)| Plan::new(trace, stream, class, layout))
                        .collect()
                });
            streams.collect()
        };
        Plans(set.traces.iter().map(of_trace).collect())
    }
}

/// Renders events on one thread.
struct Renderer<'a> {
    set: &'a TraceSet,
    plans: &'a Plans,
    clock: Clock,
    no_delta: bool,
    memories: Vec<Vec<ContextMemory>>,
    packets: Vec<Vec<PacketText>>,
}

/// The text of the packet context that a stream's events share at the moment.
#[derive(Default, Clone)]
struct PacketText {
    packet: Option<usize>,
    text: Vec<u8>,
}

impl<'a> Renderer<'a> {
    fn new(set: &'a TraceSet, plans: &'a Plans, options: &TextOptions) -> Renderer<'a> {
        let memories = |trace: &rostrace_ctf::Trace| {
            trace
                .schema
                .streams
                .iter()
                .map(|_| ContextMemory::new())
                .collect()
        };
        Renderer {
            set,
            plans,
            clock: Clock::new(options.clock, options.gmt),
            no_delta: options.no_delta,
            memories: set.traces.iter().map(memories).collect(),
            packets: set
                .traces
                .iter()
                .map(|trace| vec![PacketText::default(); trace.streams.len()])
                .collect(),
        }
    }

    fn render(
        &mut self,
        range: Range<Nanos>,
        selection: &Selection,
        limit: Option<u64>,
        stretch: &mut Stretch,
    ) -> Vec<Damage> {
        let mut cursor = Cursor::within(self.set, Conversion::DoublePrecision, selection, range);
        let mut left = limit.unwrap_or(u64::MAX);
        while left > 0 {
            let Some(event) = cursor.next() else { break };
            self.line(event, stretch);
            if limit.is_some() {
                stretch.lines.push(stretch.text.len());
            }
            left -= 1;
        }
        std::mem::take(&mut cursor.damage)
    }

    #[inline]
    fn line(&mut self, event: EventView<'_>, stretch: &mut Stretch) {
        let out = &mut stretch.text;
        if let Some(Nanos(nanos)) = event.nanos() {
            let now = Instant {
                nanos,
                cycles: event.event().time.0,
            };
            out.push(b'[');
            self.clock.write(out, now);
            out.extend_from_slice(b"] ");
            if !self.no_delta {
                match stretch.last {
                    None => stretch.hole = Some((out.len(), now)),
                    last => self.clock.write_delta(out, last, now),
                }
            }
            stretch.last = Some(now);
        }
        let StreamId { trace, stream } = event.stream_id();
        let class = event.stream().class;
        let packet = &mut self.packets[trace][stream];
        if packet.packet != Some(event.packet_number()) {
            packet.render(event);
        }
        let plan = &self.plans.0[trace][class][event.event().class as usize];
        plan.write(out, event, &packet.text, &mut self.memories[trace][class]);
    }
}

impl PacketText {
    fn render(&mut self, event: EventView<'_>) {
        self.packet = Some(event.packet_number());
        self.text.clear();
        if let (Some(class), Some(value)) =
            (&event.stream_class().packet_context, event.packet_context())
            && plan::is_shown(class)
        {
            value::structure(&mut self.text, class, &value);
        }
    }
}
