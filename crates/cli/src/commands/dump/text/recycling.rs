//! What babeltrace2 shows in the place of an empty text.
//!
//! babeltrace2 (2.0) uses event objects again. Decoding an empty string into one sets the length of the text that it held
//! before to zero but leaves the bytes, and the text output prints the bytes: an *earlier* event's text. Which one depends
//! on the object that the event got, and so on how many events were decoded but not yet shown at that moment.
//!
//! To print the same, [`Recycling`] replays that life of objects, in order and without any output: sources decode up to
//! [`BATCH`] messages at once, the merge takes as many from them, and only when the output has shown those, one by one, their
//! objects go back to the pool of their class, from which the last one is taken first. Packets and their contexts are used again
//! in the same way, in a pool per stream. It costs a second decoding of the trace up to the last empty text, and nothing
//! where there is none.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};

use rostrace_ctf::schema::{EventClass, FieldClass, Nanos, Struct, Version};
use rostrace_ctf::{
    Broken, EventView, Layout, Message, MessageKind, Messages, Raw, Scope, Shape, StreamId,
    TraceSet, Value,
};

/// Messages that travel together.
const BATCH: usize = 15;

/// Which empty text it is: whose, and how many of the same event or packet context come before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    place: Place,
    number: usize,
}

/// An event by its first bit, or the context of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    stream: StreamId,
    packet: usize,
    event: Option<u64>,
}

impl Owner {
    pub(super) fn of_event(event: &EventView<'_>, number: usize) -> Owner {
        Owner {
            place: Place::of_event(event),
            number,
        }
    }

    pub(super) fn of_packet(event: &EventView<'_>, number: usize) -> Owner {
        let place = Place {
            event: None,
            ..Place::of_event(event)
        };
        Owner { place, number }
    }
}

impl Place {
    fn of_event(event: &EventView<'_>) -> Place {
        Place {
            stream: event.stream_id(),
            packet: event.packet_number(),
            event: Some(event.event().start),
        }
    }
}

/// The replay.
#[derive(Debug)]
pub(super) struct Recycling<'a> {
    set: &'a TraceSet,
    /// Made when the first empty text is met.
    replay: Option<Replay<'a>>,
}

impl<'a> Recycling<'a> {
    /// babeltrace2 2.0 reads no CTF 2.
    pub(super) fn concerns(set: &TraceSet) -> bool {
        (set.traces.iter()).all(|trace| trace.schema.version == Version::Ctf1)
    }

    pub(super) fn new(set: &'a TraceSet) -> Recycling<'a> {
        Recycling { set, replay: None }
    }

    /// What stands in the place of an empty text. Owners come in the order of the output. Nothing where babeltrace2 has given
    /// up the trace.
    pub(super) fn shown(&mut self, owner: Owner) -> Option<&[u8]> {
        let replay = self.replay.get_or_insert_with(|| Replay::new(self.set));
        while !replay.shown.contains_key(&owner.place) && replay.go_on() {}
        let texts = replay.shown.get(&owner.place)?;
        texts.get(owner.number).map(Vec::as_slice)
    }
}

#[derive(Debug)]
struct Replay<'a> {
    lanes: Vec<Lane<'a>>,
    /// Lanes whose queue is empty and whose source may have more.
    hungry: Vec<usize>,
    pools: Pools,
    /// Time of the message that was merged last.
    last: i64,
    /// Per decoded event with empty texts: what they show.
    shown: HashMap<Place, Vec<Vec<u8>>>,
    /// What the last batch has shown: nobody asks for it when the next one is needed.
    done: Vec<Place>,
    over: bool,
}

/// One stream's source, and what the merge has got from it.
#[derive(Debug)]
struct Lane<'a> {
    id: StreamId,
    set: &'a TraceSet,
    messages: Messages<'a>,
    queue: VecDeque<Queued>,
    /// Packets that can be used again.
    packets: Vec<Kept>,
    /// The packet and the event that are being decoded.
    packet: Option<(Place, Kept)>,
    event: Option<(Place, usize, Object)>,
}

/// A message on its way, with the objects that go back when it was shown.
#[derive(Debug)]
struct Queued {
    lane: usize,
    kind: MessageKind,
    time: Option<Nanos>,
    event: Option<(Place, usize, Object)>,
    packet: Option<(Place, Kept)>,
}

/// The pools of all event classes: by trace, stream class and event class.
#[derive(Debug)]
struct Pools(Vec<Vec<Vec<Pool>>>);

#[derive(Debug)]
struct Pool {
    texts: Texts,
    objects: Vec<Object>,
}

/// Where the texts of an event class are.
#[derive(Debug)]
enum Texts {
    /// In these leaves.
    Flat(Vec<usize>),
    /// Also inside arrays and variants.
    Nested,
}

/// The texts that an event object holds.
#[derive(Debug, Default)]
struct Object {
    flat: Vec<Vec<u8>>,
    nested: Kept,
}

/// What a field object holds. Its parts are never given up: neither elements of an array that has become shorter nor
/// options of a variant that are not chosen.
#[derive(Debug, Default)]
struct Kept {
    text: Vec<u8>,
    parts: Vec<Kept>,
}

impl<'a> Replay<'a> {
    fn new(set: &'a TraceSet) -> Replay<'a> {
        let lanes: Vec<Lane<'a>> = set.streams().map(|id| Lane::new(set, id)).collect();
        Replay {
            hungry: (0..lanes.len()).collect(),
            lanes,
            pools: Pools::new(set),
            last: i64::MIN,
            shown: HashMap::new(),
            done: Vec::new(),
            over: false,
        }
    }

    /// Goes on by one batch of the merge; false if there is none.
    fn go_on(&mut self) -> bool {
        self.done.drain(..).for_each(|place| {
            self.shown.remove(&place);
        });
        self.over = self.over || self.show_batch().is_err();
        !self.over
    }

    /// Merges messages, shows them, and gives their objects back.
    fn show_batch(&mut self) -> Result<(), Broken> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            for number in std::mem::take(&mut self.hungry) {
                self.lanes[number].feed(number, &mut self.pools, &mut self.shown)?;
            }
            let Some(number) = self.earliest() else {
                break;
            };
            let queue = &mut self.lanes[number].queue;
            let Some(message) = queue.pop_front() else {
                break;
            };
            if queue.is_empty() {
                self.hungry.push(number);
            }
            let time = message.time_after(self.last);
            if time < self.last {
                return Err(Broken);
            }
            self.last = time;
            batch.push(message);
        }
        if batch.is_empty() {
            return Err(Broken);
        }
        for message in batch {
            let lane = &mut self.lanes[message.lane];
            if let Some((place, class, object)) = message.event {
                self.done.push(place);
                self.pools.of(lane, class).objects.push(object);
            }
            if let Some((place, object)) = message.packet {
                self.done.push(place);
                lane.packets.push(object);
            }
        }
        Ok(())
    }

    /// The lane whose message comes next.
    fn earliest(&self) -> Option<usize> {
        let mut best: Option<(i64, &Lane<'_>, &Queued)> = None;
        for lane in &self.lanes {
            let Some(message) = lane.queue.front() else {
                continue;
            };
            let time = message.time_after(self.last);
            let earlier = best.is_none_or(|(best_time, best_lane, best_message)| {
                let first = time.cmp(&best_time).then_with(|| {
                    let rank = |lane: &Lane<'_>| lane.set.stream(lane.id).rank;
                    rank(lane).cmp(&rank(best_lane))
                });
                first
                    .then_with(|| message.compare_kinds(lane, best_message, best_lane))
                    .is_lt()
            });
            if earlier {
                best = Some((time, lane, message));
            }
        }
        best.map(|(_, _, message)| message.lane)
    }
}

impl Queued {
    /// A message without a time comes at the time of the one before.
    fn time_after(&self, last: i64) -> i64 {
        self.time.map_or(last, |time| time.0)
    }

    /// Streams that nothing tells apart.
    #[cold]
    fn compare_kinds(&self, lane: &Lane<'_>, other: &Queued, others: &Lane<'_>) -> Ordering {
        let classes = (self.event.as_ref()).zip(other.event.as_ref());
        self.kind.cmp(&other.kind).then_with(|| {
            classes.map_or(Ordering::Equal, |((_, mine, _), (_, its, _))| {
                lane.event_class(*mine).compare(others.event_class(*its))
            })
        })
    }
}

impl<'a> Lane<'a> {
    fn new(set: &'a TraceSet, id: StreamId) -> Lane<'a> {
        Lane {
            id,
            set,
            messages: Messages::new(set, id),
            queue: VecDeque::new(),
            packets: Vec::new(),
            packet: None,
            event: None,
        }
    }

    fn stream_class(&self) -> usize {
        self.set.stream(self.id).class
    }

    fn event_class(&self, class: usize) -> &'a EventClass {
        &self.set.trace_of(self.id).schema.streams[self.stream_class()].events[class]
    }

    /// Lets the source decode a batch.
    fn feed(
        &mut self,
        number: usize,
        pools: &mut Pools,
        shown: &mut HashMap<Place, Vec<Vec<u8>>>,
    ) -> Result<(), Broken> {
        while self.queue.len() < BATCH {
            match self.messages.next() {
                Ok(Some(message)) => self.decode(number, message, pools, shown),
                Ok(None) => break,
                Err(Broken) if self.queue.is_empty() => return Err(Broken),
                Err(Broken) => break,
            }
        }
        Ok(())
    }

    fn decode(
        &mut self,
        number: usize,
        message: Message,
        pools: &mut Pools,
        shown: &mut HashMap<Place, Vec<Vec<u8>>>,
    ) {
        let mut texts = Vec::new();
        if message.enters_packet {
            let place = Place {
                stream: self.id,
                packet: self.messages.packet_number(),
                event: None,
            };
            let mut object = self.packets.pop().unwrap_or_default();
            let schema = &self.set.trace_of(self.id).schema;
            let class = &schema.streams[self.stream_class()].packet_context;
            // Only texts matter, and hardly a packet has one.
            if let Some(class) = class.as_ref().filter(|class| has_text(class))
                && let Some(value) = self.messages.packet_context()
            {
                object.decode_members(class, &value, &mut texts);
            }
            self.packet = Some((place, object));
            if !texts.is_empty() {
                shown.insert(place, std::mem::take(&mut texts));
            }
        }
        if message.decodes_event {
            let event = self.messages.event();
            let class = event.event().class as usize;
            let pool = pools.of(self, class);
            let mut object = pool.objects.pop().unwrap_or_default();
            object.decode(&pool.texts, &event, &mut texts);
            let place = Place::of_event(&event);
            self.event = Some((place, class, object));
            if !texts.is_empty() {
                shown.insert(place, texts);
            }
        }
        let event = (message.kind == MessageKind::Event).then(|| self.event.take());
        let packet = (message.kind == MessageKind::PacketEnd).then(|| self.packet.take());
        self.queue.push_back(Queued {
            lane: number,
            kind: message.kind,
            time: message.time,
            event: event.flatten(),
            packet: packet.flatten(),
        });
    }
}

impl Pools {
    fn new(set: &TraceSet) -> Pools {
        let pool = |layout: &Layout| Pool {
            texts: Texts::of(layout),
            objects: Vec::new(),
        };
        let of_trace = |trace: &rostrace_ctf::Trace| {
            (0..trace.schema.streams.len())
                .map(|stream| trace.layouts(stream).iter().map(pool).collect())
                .collect()
        };
        Pools(set.traces.iter().map(of_trace).collect())
    }

    fn of(&mut self, lane: &Lane<'_>, class: usize) -> &mut Pool {
        &mut self.0[lane.id.trace][lane.stream_class()][class]
    }
}

impl Texts {
    fn of(layout: &Layout) -> Texts {
        if !layout.is_flat() {
            return Texts::Nested;
        }
        let is_text = |shape| matches!(shape, Shape::String(_) | Shape::Text { .. });
        let leaves = layout.leaves.iter().enumerate();
        let texts = leaves.filter(|(_, leaf)| is_text(leaf.shape));
        Texts::Flat(texts.map(|(number, _)| number).collect())
    }
}

impl Object {
    /// Takes over the texts of an event, and appends to `shown` what its empty ones show.
    fn decode(&mut self, texts: &Texts, event: &EventView<'_>, shown: &mut Vec<Vec<u8>>) {
        match texts {
            Texts::Flat(leaves) => {
                self.flat.resize(leaves.len(), Vec::new());
                for (kept, leaf) in self.flat.iter_mut().zip(leaves) {
                    if let Raw::Bytes(text) = event.read(*leaf) {
                        keep(kept, text, shown);
                    }
                }
            }
            Texts::Nested => {
                for (scope, value) in event.values().unwrap_or_default() {
                    let (number, class) = match scope {
                        Scope::CommonContext => (0, &event.stream_class().event_context),
                        Scope::SpecificContext => (1, &event.class().context),
                        Scope::Payload => (2, &event.class().payload),
                    };
                    if let Some(class) = class {
                        let kept = self.nested.part(number);
                        kept.decode_members(class, &value, shown);
                    }
                }
            }
        }
    }
}

impl Kept {
    fn part(&mut self, number: usize) -> &mut Kept {
        if self.parts.len() <= number {
            self.parts.resize_with(number + 1, Kept::default);
        }
        &mut self.parts[number]
    }

    fn decode_members(&mut self, class: &Struct, value: &Value, shown: &mut Vec<Vec<u8>>) {
        let values = value.members().unwrap_or_default();
        for (number, (member, value)) in class.members.iter().zip(values).enumerate() {
            self.part(number).decode(&member.class, value, shown);
        }
    }

    fn decode(&mut self, class: &FieldClass, value: &Value, shown: &mut Vec<Vec<u8>>) {
        match (class, value) {
            (FieldClass::Struct(class), value) => self.decode_members(class, value, shown),
            (FieldClass::Array { element, .. }, Value::Array(values)) => {
                for (number, value) in values.iter().enumerate() {
                    self.part(number).decode(element, value, shown);
                }
            }
            (FieldClass::Variant { options, .. }, Value::Variant(chosen, value)) => {
                if let Some(option) = options.get(*chosen) {
                    self.part(*chosen).decode(&option.class, value, shown);
                }
            }
            (_, Value::Text(text)) => keep(&mut self.text, text, shown),
            _ => {}
        }
    }
}

/// An empty text leaves the one before where it is.
fn keep(kept: &mut Vec<u8>, text: &[u8], shown: &mut Vec<Vec<u8>>) {
    if text.is_empty() {
        shown.push(kept.clone());
    } else {
        kept.clear();
        kept.extend_from_slice(text);
    }
}

fn has_text(structure: &Struct) -> bool {
    let members = structure.members.iter();
    members.map(|member| &member.class).any(|class| {
        !matches!(
            class,
            FieldClass::Integer(_) | FieldClass::Float(_) | FieldClass::Boolean { .. }
        )
    })
}
