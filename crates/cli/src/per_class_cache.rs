//! What is worked out once for each event class or packet, not once for each event.

use rostrace_ctf::{EventView, Raw, Scope, TraceSet, Value};

/// Something for each event class, made when its first event arrives.
#[derive(Debug)]
pub(crate) struct PerClass<T> {
    /// By trace, stream class, event class.
    entries: Vec<Vec<Vec<Option<T>>>>,
}

impl<T> PerClass<T> {
    pub(crate) fn new(set: &TraceSet) -> PerClass<T> {
        let nothing = |length| std::iter::repeat_with(|| None).take(length).collect();
        let entries = set.traces.iter().map(|trace| {
            let streams = trace.schema.streams.iter();
            streams.map(|stream| nothing(stream.events.len())).collect()
        });
        PerClass {
            entries: entries.collect(),
        }
    }

    pub(crate) fn of(&mut self, event: &EventView<'_>, make: impl FnOnce() -> T) -> &mut T {
        let (trace, stream) = (event.stream_id().trace, event.stream().class);
        let class = event.event().class as usize;
        self.entries[trace][stream][class].get_or_insert_with(make)
    }
}

/// Something for the packet that each stream is in.
#[derive(Debug)]
pub(crate) struct PerPacket<T> {
    /// By trace and stream.
    entries: Vec<Vec<Option<(usize, T)>>>,
}

impl<T> PerPacket<T> {
    pub(crate) fn new(set: &TraceSet) -> PerPacket<T> {
        let entries = set.traces.iter().map(|trace| {
            let nothing = std::iter::repeat_with(|| None);
            nothing.take(trace.streams.len()).collect()
        });
        PerPacket {
            entries: entries.collect(),
        }
    }

    pub(crate) fn of(&mut self, event: &EventView<'_>, make: impl FnOnce() -> T) -> &T {
        let id = event.stream_id();
        let number = event.packet_number();
        let entry = &mut self.entries[id.trace][id.stream];
        if entry.as_ref().is_some_and(|&(of, _)| of != number) {
            *entry = None;
        }
        &entry.get_or_insert_with(|| (number, make())).1
    }
}

/// Where the context fields are by which people know an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contexts {
    pub(crate) vpid: Option<usize>,
    pub(crate) vtid: Option<usize>,
    pub(crate) procname: Option<usize>,
}

impl Contexts {
    pub(crate) fn of(event: &EventView<'_>) -> Contexts {
        let leaves = &event.layout().leaves;
        let find = |name: &str| {
            leaves
                .iter()
                .position(|leaf| leaf.scope != Scope::Payload && &*leaf.name == name)
        };
        Contexts {
            vpid: find("vpid").or_else(|| find("pid")),
            vtid: find("vtid").or_else(|| find("tid")),
            procname: find("procname"),
        }
    }

    /// The process: by the context `vpid` (in the kernel `pid`), or by the environment of a trace of a single process.
    pub(crate) fn vpid(&self, event: &EventView<'_>) -> Option<i64> {
        match self.vpid {
            Some(leaf) => number(event, leaf),
            None => event.trace().schema.environment_integer("vpid"),
        }
    }

    pub(crate) fn vtid(&self, event: &EventView<'_>) -> Option<i64> {
        number(event, self.vtid?)
    }

    /// The process's name, or that of a trace of a single process.
    pub(crate) fn procname(&self, event: &EventView<'_>) -> Option<String> {
        let Some(leaf) = self.procname else {
            let name = event.trace().schema.environment_text("procname");
            return name.map(str::to_owned);
        };
        let text = match event.read(leaf) {
            Raw::Bytes(text) => text.to_vec(),
            _ => member(event, leaf)?.as_text()?.to_vec(),
        };
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

fn number(event: &EventView<'_>, leaf: usize) -> Option<i64> {
    match event.read(leaf) {
        Raw::Number(number) => Some(number as i64),
        _ => match member(event, leaf)? {
            Value::Unsigned(number) => Some(number as i64),
            Value::Signed(number) => Some(number),
            _ => None,
        },
    }
}

/// A leaf that can be read only by decoding the event field by field.
#[cold]
fn member(event: &EventView<'_>, leaf: usize) -> Option<Value> {
    let leaf = &event.layout().leaves[leaf];
    let structure = match leaf.scope {
        Scope::CommonContext => &event.stream_class().event_context,
        Scope::SpecificContext => &event.class().context,
        Scope::Payload => &event.class().payload,
    };
    let mut members = structure.as_ref()?.members.iter();
    let place = members.position(|member| member.name == leaf.name)?;
    let scopes = event.values().ok()?;
    let (_, value) = scopes.into_iter().find(|(scope, _)| *scope == leaf.scope)?;
    value.members()?.get(place).cloned()
}

/// The CPU that the event's packet was recorded on.
pub(crate) fn cpu_of(event: &EventView<'_>) -> Option<u64> {
    let class = event.stream_class().packet_context.as_ref()?;
    let place = class
        .members
        .iter()
        .position(|member| &*member.name == "cpu_id")?;
    match *event.packet_context()?.members()?.get(place)? {
        Value::Unsigned(cpu) => Some(cpu),
        Value::Signed(cpu) => u64::try_from(cpu).ok(),
        _ => None,
    }
}
