//! Events as text, byte for byte as `babeltrace2` writes them.
//!
//! Two things are not known to the thread that renders a stretch, and are filled in when it is written: the time difference
//! in its first line, and what babeltrace2 shows in the place of an empty text (see `recycling`).

mod number;
mod plan;
mod recycling;
mod time;
mod value;

use std::io::{self, Write};

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Damage, EventView, StreamId, TraceSet, Trouble};

use super::lines::{self, Chunk, LineRenderer, Request};
use plan::{ContextMemory, Plan};
use recycling::{Owner, Recycling};
pub(crate) use time::ClockFormat;
use time::{Clock, Instant};
use value::EmptyPlaces;

/// How lines look.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextOptions {
    pub clock: ClockFormat,
    /// UTC instead of local time.
    pub gmt: bool,
    /// Leave out the time since the event before.
    pub no_delta: bool,
}

/// What became of the text.
#[derive(Debug, Default)]
pub(crate) struct Dumped {
    /// What was found wrong on the way.
    pub(crate) damage: Vec<Damage>,
    /// Empty texts in whose place stands an earlier one, as in babeltrace2's output.
    pub(crate) replaced: u64,
}

impl Dumped {
    /// Of a format that shows what is in the trace.
    pub(crate) fn unchanged(damage: Vec<Damage>) -> Dumped {
        Dumped {
            damage,
            replaced: 0,
        }
    }
}

/// Writes the selected events.
pub(crate) fn dump(
    request: Request<'_>,
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<Dumped> {
    let set = request.set;
    let plans = Plans::new(set);
    // A part of the events has no counterpart in babeltrace2: its empty texts are shown as they are.
    let mut recycling = (request.selection.is_everything() && Recycling::concerns(set))
        .then(|| Recycling::new(set));
    let mut writer = Writer {
        out,
        clock: Clock::new(options.clock, options.gmt),
        before: None,
        scratch: Vec::new(),
        replaced: 0,
    };
    let damage = lines::write(
        request,
        || Renderer::new(set, &plans, options),
        |chunk| writer.write(chunk, recycling.as_mut()),
    )?;
    Ok(Dumped {
        damage,
        replaced: writer.replaced,
    })
}

/// Joins chunks.
struct Writer<'o> {
    out: &'o mut dyn Write,
    clock: Clock,
    before: Option<Instant>,
    scratch: Vec<u8>,
    replaced: u64,
}

impl Writer<'_> {
    fn write(
        &mut self,
        chunk: &Chunk<Seam>,
        mut recycling: Option<&mut Recycling<'_>>,
    ) -> io::Result<()> {
        let Seam { first, last, empty } = &chunk.seam;
        let mut first = *first;
        let mut written = 0;
        if let Some(recycling) = &mut recycling {
            for (place, owner) in empty {
                if first.is_some_and(|(hole, _)| hole < *place) {
                    written = self.write_delta(&chunk.text, written, first.take())?;
                }
                let Some(shown) = recycling.shown(*owner).filter(|text| !text.is_empty()) else {
                    continue;
                };
                self.replaced += 1;
                self.scratch.clear();
                number::quoted(&mut self.scratch, shown);
                let inner = &self.scratch[1..self.scratch.len() - 1];
                self.out.write_all(&chunk.text[written..*place])?;
                self.out.write_all(inner)?;
                written = *place;
            }
        }
        written = self.write_delta(&chunk.text, written, first)?;
        self.before = last.or(self.before);
        self.out.write_all(&chunk.text[written..])
    }

    /// Writes the text up to the first time difference, and that. Returns how much of the text is written.
    fn write_delta(
        &mut self,
        text: &[u8],
        written: usize,
        first: Option<(usize, Instant)>,
    ) -> io::Result<usize> {
        let Some((hole, now)) = first else {
            return Ok(written);
        };
        self.scratch.clear();
        self.clock.write_delta(&mut self.scratch, self.before, now);
        self.out.write_all(&text[written..hole])?;
        self.out.write_all(&self.scratch)?;
        Ok(hole)
    }
}

/// What a chunk leaves to the writer.
#[derive(Debug, Default)]
struct Seam {
    /// Where the first time difference belongs, and the time that it leads to.
    first: Option<(usize, Instant)>,
    last: Option<Instant>,
    /// Where empty texts are, and whose they are.
    empty: Vec<(usize, Owner)>,
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
    empty: EmptyPlaces,
}

/// The text of the packet context that a stream's events share at the moment.
#[derive(Default, Clone)]
struct PacketText {
    packet: Option<usize>,
    text: Vec<u8>,
    empty: EmptyPlaces,
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
            empty: Vec::new(),
        }
    }
}

impl LineRenderer for Renderer<'_> {
    type Seam = Seam;

    #[inline]
    fn line(&mut self, event: &EventView<'_>, chunk: &mut Chunk<Seam>) -> Result<(), Trouble> {
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
                match chunk.seam.last {
                    None => chunk.seam.first = Some((out.len(), now)),
                    last => self.clock.write_delta(out, last, now),
                }
            }
            chunk.seam.last = Some(now);
        }
        let StreamId { trace, stream } = event.stream_id();
        let class = event.stream().class;
        let packet = &mut self.packets[trace][stream];
        if packet.packet != Some(event.packet_number()) {
            packet.render(*event);
        }
        let plan = &self.plans.0[trace][class][event.event().class as usize];
        let start = out.len();
        let memory = &mut self.memories[trace][class];
        plan.write(out, *event, &packet.text, memory, &mut self.empty);
        if !(self.empty.is_empty() && packet.empty.is_empty()) {
            let before = start + plan.head_length();
            let in_packet = packet.empty.iter().map(|place| before + place);
            chunk.seam.take(event, in_packet, self.empty.drain(..));
        }
        Ok(())
    }

    fn go_on(seam: &Seam) -> Seam {
        Seam {
            last: seam.last,
            ..Seam::default()
        }
    }
}

impl Seam {
    #[cold]
    fn take(
        &mut self,
        event: &EventView<'_>,
        in_packet: impl Iterator<Item = usize>,
        in_event: impl Iterator<Item = usize>,
    ) {
        self.empty.extend(
            in_packet
                .enumerate()
                .map(|(number, place)| (place, Owner::of_packet(event, number))),
        );
        self.empty.extend(
            in_event
                .enumerate()
                .map(|(number, place)| (place, Owner::of_event(event, number))),
        );
    }
}

impl PacketText {
    fn render(&mut self, event: EventView<'_>) {
        self.packet = Some(event.packet_number());
        self.text.clear();
        self.empty.clear();
        if let (Some(class), Some(value)) =
            (&event.stream_class().packet_context, event.packet_context())
            && plan::is_shown(class)
        {
            value::structure(&mut self.text, class, &value, &mut self.empty);
        }
    }
}
