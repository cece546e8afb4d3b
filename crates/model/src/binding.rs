//! From the event classes of a trace to the tracepoints that we know.
//!
//! Fields are bound by name once per class, since versions add, drop and rename them; afterwards a field is an index.

use std::borrow::Cow;

use rostrace_ctf::schema::{EventClass, Schema};
use rostrace_ctf::{EventView, Layout, Raw, Scope, Selection, Trace, TraceSet};
use rostrace_tracepoints::{Kind, find};

use crate::entity::Address;

/// What one event class of a trace means.
#[derive(Debug)]
pub(crate) struct Binding {
    /// Nothing for an event that is in no table.
    pub(crate) kind: Option<Kind>,
    /// Per field of the kind, the leaf that has it.
    places: Box<[Option<usize>]>,
    vpid: Source,
    vtid: Source,
    procname: Option<usize>,
}

/// Where an id stands: in the event, or for all events of the trace in its environment.
#[derive(Debug, Clone, Copy)]
enum Source {
    Leaf(usize),
    Constant(i64),
    Absent,
}

/// The bindings of one trace: by stream class and event class.
#[derive(Debug)]
pub(crate) struct Bindings(Vec<Vec<Binding>>);

impl Bindings {
    pub(crate) fn new(trace: &Trace) -> Bindings {
        let streams = trace
            .schema
            .streams
            .iter()
            .enumerate()
            .map(|(number, stream)| {
                let classes = stream.events.iter().zip(trace.layouts(number));
                classes
                    .map(|(class, layout)| Binding::new(&trace.schema, class, layout))
                    .collect()
            });
        Bindings(streams.collect())
    }

    #[inline]
    pub(crate) fn of(&self, event: &EventView<'_>) -> &Binding {
        &self.0[event.stream().class][event.event().class as usize]
    }
}

impl Binding {
    fn new(schema: &Schema, class: &EventClass, layout: &Layout) -> Binding {
        let tracepoint = class.name.as_deref().and_then(find);
        let places = tracepoint.map(|tracepoint| {
            let fields = tracepoint.kind.fields().iter();
            let place = |names: &rostrace_tracepoints::Field| {
                layout
                    .leaves
                    .iter()
                    .position(|leaf| leaf.scope == Scope::Payload && names.is_named(&leaf.name))
            };
            fields.map(place).collect()
        });
        let context = |name: &str| {
            layout
                .leaves
                .iter()
                .position(|leaf| leaf.scope != Scope::Payload && &*leaf.name == name)
        };
        let source =
            |name: &str, kernel_name: &str| match context(name).or_else(|| context(kernel_name)) {
                Some(leaf) => Source::Leaf(leaf),
                None => schema
                    .environment_integer(name)
                    .map_or(Source::Absent, Source::Constant),
            };
        Binding {
            kind: tracepoint.map(|tracepoint| tracepoint.kind),
            places: places.unwrap_or_default(),
            vpid: source("vpid", "pid"),
            vtid: source("vtid", "tid"),
            procname: context("procname"),
        }
    }

    /// Process and thread of an event; the process stands for the thread where the trace does not tell it.
    #[inline]
    pub(crate) fn ids(&self, event: &EventView<'_>) -> (Option<i64>, Option<i64>) {
        let vpid = self.vpid.read(event);
        (vpid, self.vtid.read(event).or(vpid))
    }

    pub(crate) fn procname<'e>(&self, event: &EventView<'e>) -> Option<Cow<'e, str>> {
        match event.read(self.procname?) {
            Raw::Bytes(name) => Some(String::from_utf8_lossy(name)),
            _ => None,
        }
    }
}

impl Source {
    #[inline]
    fn read(self, event: &EventView<'_>) -> Option<i64> {
        match self {
            Source::Leaf(leaf) => event.number(leaf).map(|number| number as i64),
            Source::Constant(number) => Some(number),
            Source::Absent => None,
        }
    }
}

/// An event class of a set that means something of interest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declaration<'s> {
    pub(crate) trace: usize,
    /// The stream class.
    pub(crate) stream: usize,
    pub(crate) kind: Kind,
    name: &'s str,
}

/// The event classes of these kinds: whether a set can have such events is known without reading any.
pub(crate) fn declarations(set: &TraceSet, wanted: fn(Kind) -> bool) -> Vec<Declaration<'_>> {
    let mut declarations = Vec::new();
    for (trace, schema) in set.traces.iter().map(|trace| &trace.schema).enumerate() {
        for (stream, class) in schema.streams.iter().enumerate() {
            for name in (class.events.iter()).filter_map(|event| event.name.as_deref()) {
                if let Some(kind) = find(name).map(|tracepoint| tracepoint.kind)
                    && wanted(kind)
                {
                    declarations.push(Declaration {
                        trace,
                        stream,
                        kind,
                        name,
                    });
                }
            }
        }
    }
    declarations
}

/// The events of these classes.
pub(crate) fn selection(declarations: &[Declaration<'_>]) -> Selection {
    let names = declarations
        .iter()
        .map(|declaration| declaration.name.to_owned());
    let mut events: Vec<String> = names.collect();
    events.sort_unstable();
    events.dedup();
    Selection {
        events,
        ..Selection::default()
    }
}

/// The fields of one event, by their index in the kind's list.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'e> {
    pub(crate) event: EventView<'e>,
    pub(crate) binding: &'e Binding,
}

impl<'e> Fields<'e> {
    #[inline]
    fn raw(&self, field: usize) -> Option<Raw<'e>> {
        let leaf = (*self.binding.places.get(field)?)?;
        Some(self.event.read(leaf))
    }

    /// A number; nothing if this trace does not have the field.
    #[inline]
    pub(crate) fn number(&self, field: usize) -> Option<u64> {
        self.event.number((*self.binding.places.get(field)?)?)
    }

    #[inline]
    pub(crate) fn signed(&self, field: usize) -> Option<i64> {
        self.number(field).map(|number| number as i64)
    }

    /// A real number; nothing if this trace does not have the field, or not as such.
    pub(crate) fn real(&self, field: usize) -> Option<f64> {
        match self.raw(field)? {
            Raw::Float(number) => Some(number),
            _ => None,
        }
    }

    /// An address; null if this trace does not have the field.
    #[inline]
    pub(crate) fn address(&self, field: usize) -> Address {
        Address(self.number(field).unwrap_or(0))
    }

    pub(crate) fn flag(&self, field: usize) -> bool {
        self.number(field).is_some_and(|number| number != 0)
    }

    pub(crate) fn text(&self, field: usize) -> Option<String> {
        self.lossy(field).map(Cow::into_owned)
    }

    /// A text without a copy, where it is valid UTF-8.
    #[inline]
    pub(crate) fn lossy(&self, field: usize) -> Option<Cow<'e, str>> {
        match self.raw(field)? {
            Raw::Bytes(text) => Some(String::from_utf8_lossy(text)),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self, field: usize) -> Vec<u8> {
        match self.raw(field) {
            Some(Raw::List(list)) => list.iter().map(|byte| byte as u8).collect(),
            Some(Raw::Bytes(bytes)) => bytes.to_vec(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn addresses(&self, field: usize) -> Vec<Address> {
        match self.raw(field) {
            Some(Raw::List(list)) => list.iter().map(Address).collect(),
            _ => Vec::new(),
        }
    }
}
