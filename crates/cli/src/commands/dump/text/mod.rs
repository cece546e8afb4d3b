//! Events as text, as `babeltrace2` writes them.
//!
//! The time difference in the first line of a stretch is not known to the thread that renders it, and is filled in when it is written.
//! Before 2.0.5 `babeltrace2` can show the text of an earlier event in the place of an empty one. We show what is in the trace.

mod number;
mod plan;
mod time;
mod value;

use std::io::{self, Write};

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Damage, DecodeError, EventView, StreamId, TraceSet};

use super::lines::{self, Chunk, LineRenderer, Request};
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

/// Writes the selected events. Returns what was found wrong on the way.
pub(crate) fn dump(
    request: Request<'_>,
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<Vec<Damage>> {
    let set = request.set;
    let plans = Plans::new(set);
    let mut writer = TextWriter {
        out,
        clock: Clock::new(options.clock, options.gmt),
        before: None,
        scratch: Vec::new(),
    };
    lines::write(
        request,
        || Renderer::new(set, &plans, options),
        |chunk| writer.write(chunk),
    )
}

/// Joins chunks.
struct TextWriter<'o> {
    out: &'o mut dyn Write,
    clock: Clock,
    before: Option<Instant>,
    scratch: Vec<u8>,
}

impl TextWriter<'_> {
    fn write(&mut self, chunk: &Chunk<ChunkBoundary>) -> io::Result<()> {
        let ChunkBoundary { first, last } = chunk.boundary;
        let mut rest = chunk.text.as_slice();
        if let Some((hole, now)) = first {
            self.scratch.clear();
            self.clock.write_delta(&mut self.scratch, self.before, now);
            self.out.write_all(&rest[..hole])?;
            self.out.write_all(&self.scratch)?;
            rest = &rest[hole..];
        }
        self.before = last.or(self.before);
        self.out.write_all(rest)
    }
}

/// What a chunk leaves to the writer.
#[derive(Debug, Default)]
struct ChunkBoundary {
    /// Where the first time difference belongs, and the time that it leads to.
    first: Option<(usize, Instant)>,
    last: Option<Instant>,
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
}

impl LineRenderer for Renderer<'_> {
    type ChunkBoundary = ChunkBoundary;

    #[inline]
    fn line(
        &mut self,
        event: &EventView<'_>,
        chunk: &mut Chunk<ChunkBoundary>,
    ) -> Result<(), DecodeError> {
        let out = &mut chunk.text;
        if let Some(Nanos(nanos)) = event.nanos() {
            let now = Instant {
                nanos,
                cycles: event.event().time.0,
            };
            out.push(b'[');
            self.clock.write(out, now);
            out.extend_from_slice(b"] ");
            if !self.no_delta {
                match chunk.boundary.last {
                    None => chunk.boundary.first = Some((out.len(), now)),
                    last => self.clock.write_delta(out, last, now),
                }
            }
            chunk.boundary.last = Some(now);
        }
        let StreamId { trace, stream } = event.stream_id();
        let class = event.stream().class;
        let packet = &mut self.packets[trace][stream];
        if packet.packet != Some(event.packet_number()) {
            packet.render(*event);
        }
        let plan = &self.plans.0[trace][class][event.event().class as usize];
        plan.write(out, *event, &packet.text, &mut self.memories[trace][class]);
        Ok(())
    }

    fn go_on(boundary: &ChunkBoundary) -> ChunkBoundary {
        ChunkBoundary {
            last: boundary.last,
            ..ChunkBoundary::default()
        }
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
