//! Which events are wanted: by name, time, process, thread and CPU.

use std::ops::{Range, RangeInclusive};

use crate::layout::{Layout, Leaf, LeafType, Raw, Scope};
use crate::schema::{Nanos, Schema};
use crate::trace::Trace;
use crate::trace::decoder::Decoder;
use crate::trace::stream::Stream;
use crate::value::Value;
use crate::walk::{Event, Walker};

/// A filter. Empty lists and absent bounds select everything.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Names or patterns with `*`, `?` and `[…]`; one must match.
    pub events: Vec<String>,
    pub time: Option<RangeInclusive<Nanos>>,
    /// Context `vpid`, or the environment of a per-process trace.
    pub vpids: Vec<i64>,
    pub vtids: Vec<i64>,
    /// `cpu_id` of the packet context.
    pub cpus: Vec<u64>,
}

impl Selection {
    pub fn is_everything(&self) -> bool {
        self.events.is_empty()
            && self.time.is_none()
            && self.vpids.is_empty()
            && self.vtids.is_empty()
            && self.cpus.is_empty()
    }

    /// Whether an event of this name can be selected.
    pub fn wants_name(&self, name: &str) -> bool {
        self.events.is_empty()
            || self.events.iter().any(|wanted| {
                // A plain name is not worth a pattern: traces of kernels declare a thousand classes in each stream.
                wanted == name
                    || wanted.contains(['*', '?', '['])
                        && glob::Pattern::new(wanted).is_ok_and(|pattern| pattern.matches(name))
            })
    }

    /// The time range as a half-open one.
    pub(crate) fn range(&self) -> Range<Nanos> {
        match &self.time {
            None => Nanos(i64::MIN)..Nanos(i64::MAX),
            Some(time) => *time.start()..Nanos(time.end().0.saturating_add(1)),
        }
    }

    /// Prepares the filter for one stream.
    pub(crate) fn of_stream<'a>(&self, trace: &'a Trace, stream: &Stream) -> StreamSelection<'a> {
        let class = &trace.schema.streams[stream.class];
        let layouts = &trace.decoder.streams[stream.class].events;
        let names = class
            .events
            .iter()
            .map(|event| event.name.as_deref().unwrap_or("<unknown>"));
        let classes: Vec<ClassSelection<'a>> = names
            .zip(layouts)
            .map(|(name, layout)| self.of_class(name, layout, &trace.schema))
            .collect();
        let everything = self.vpids.is_empty() && self.vtids.is_empty() && self.events.is_empty();
        StreamSelection {
            classes,
            everything,
            cpus: self.cpus.clone(),
        }
    }

    fn of_class<'a>(&self, name: &str, layout: &'a Layout, schema: &Schema) -> ClassSelection<'a> {
        let mut wanted = self.wants_name(name);
        let mut numbers = Vec::new();
        let contexts = [(&self.vpids, "vpid", "pid"), (&self.vtids, "vtid", "tid")];
        for (list, name, kernel_name) in contexts {
            if list.is_empty() {
                continue;
            }
            let leaf = context(layout, name).or_else(|| context(layout, kernel_name));
            match (leaf, schema.environment_integer(name)) {
                (Some(leaf), _) => numbers.push((leaf, list.clone())),
                (None, Some(number)) => wanted &= list.contains(&number),
                (None, None) => wanted = false,
            }
        }
        ClassSelection { wanted, numbers }
    }
}

/// A number in one of the contexts of an event class.
fn context<'a>(layout: &'a Layout, name: &str) -> Option<&'a Leaf> {
    layout.leaves.iter().find(|leaf| {
        leaf.scope != Scope::Payload
            && &*leaf.name == name
            && matches!(leaf.shape, LeafType::Number(_))
    })
}

/// A [`Selection`], prepared for one stream.
#[derive(Debug)]
pub(crate) struct StreamSelection<'a> {
    classes: Vec<ClassSelection<'a>>,
    everything: bool,
    cpus: Vec<u64>,
}

#[derive(Debug)]
struct ClassSelection<'a> {
    wanted: bool,
    numbers: Vec<(&'a Leaf, Vec<i64>)>,
}

impl StreamSelection<'_> {
    pub(crate) fn wants_class(&self, class: usize) -> bool {
        self.classes[class].wanted
    }

    pub(crate) fn wants_packet(&self, decoder: &Decoder, packet_data: &[u8]) -> bool {
        self.cpus.is_empty()
            || cpu_of(decoder, packet_data).is_some_and(|cpu| self.cpus.contains(&cpu))
    }

    #[inline]
    pub(crate) fn wants_event(&self, event: &Event, walker: &Walker<'_>) -> bool {
        self.everything || self.wants_fields(event, walker)
    }

    fn wants_fields(&self, event: &Event, walker: &Walker<'_>) -> bool {
        let class = &self.classes[event.class as usize];
        class.wanted
            && class.numbers.iter().all(|(leaf, list)| {
                match leaf.read(walker.data(), walker.anchors()) {
                    Raw::Number(number) => list.contains(&(number as i64)),
                    _ => false,
                }
            })
    }
}

/// `cpu_id` in a packet's context.
fn cpu_of(decoder: &Decoder, packet_data: &[u8]) -> Option<u64> {
    let mut registers = decoder.heads.registers();
    let (head, values) = decoder.heads.decode(packet_data, &mut registers).ok()?;
    let class = decoder.schema.streams[head.class].packet_context.as_ref()?;
    let at = class
        .members
        .iter()
        .position(|member| &*member.name == "cpu_id")?;
    match values.context?.members()?.get(at)? {
        Value::Unsigned(cpu) => Some(*cpu),
        Value::Signed(cpu) => u64::try_from(*cpu).ok(),
        _ => None,
    }
}
