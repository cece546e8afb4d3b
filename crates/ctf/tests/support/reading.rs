//! A trace read through the public cursor, as plain data that can be compared.

use std::path::Path;

use rostrace_ctf::schema::{FieldClass, Nanos, Struct};
use rostrace_ctf::{Conversion, Cursor, DamageKind, Loss, Scope, Selection, TraceSet, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct ReadEvent {
    pub name: String,
    pub stream_class: u64,
    pub nanos: Option<Nanos>,
    pub cycles: u64,
    /// Members of the packet context that have no role.
    pub context: Vec<Value>,
    pub values: Vec<(Scope, Value)>,
}

pub fn open(folder: &Path) -> TraceSet {
    TraceSet::open(&[folder]).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// All selected events in order.
pub fn events(set: &TraceSet, selection: &Selection) -> Vec<ReadEvent> {
    let mut cursor = Cursor::select(set, Conversion::Exact, selection);
    let mut events = Vec::new();
    while let Some(event) = cursor.next() {
        let class = event.stream_class();
        let context = match (&class.packet_context, event.packet_context()) {
            (Some(class), Some(value)) => without_roles(class, &value),
            _ => Vec::new(),
        };
        events.push(ReadEvent {
            name: event.class().name.clone().unwrap_or_default(),
            stream_class: class.id,
            nanos: event.nanos(),
            cycles: event.event().time.0,
            context,
            values: event.values().unwrap(),
        });
    }
    events
}

fn without_roles(class: &Struct, value: &Value) -> Vec<Value> {
    let members = value.members().unwrap().iter();
    (class.members.iter().zip(members))
        .filter(|(member, _)| {
            !matches!(&member.class, FieldClass::Integer(integer) if integer.role.is_some())
        })
        .map(|(_, value)| value.clone())
        .collect()
}

/// All losses, by stream class and instance: what, how many, and when.
pub type Losses = Vec<(u64, u64, DamageKind, Option<u64>, Option<(u64, u64)>)>;

/// Those whose window has a part in the range.
pub fn losses(set: &TraceSet, from: Nanos, to: Nanos) -> Losses {
    let mut losses = Vec::new();
    for id in set.streams() {
        let (trace, stream) = (set.trace_of(id), set.stream(id));
        let time = trace.time_base(stream, Conversion::Exact);
        let in_range = |loss: &Loss| {
            loss.window
                .is_none_or(|(since, until)| time.nanos(since) <= to && time.nanos(until) >= from)
        };
        let class = trace.schema.streams[stream.class].id;
        for loss in trace.losses(stream).into_iter().filter(in_range) {
            let window = loss.window.map(|(since, until)| (since.0, until.0));
            losses.push((class, stream.id, loss.kind, loss.count, window));
        }
    }
    losses.sort_by_key(|loss| (loss.0, loss.1, loss.4));
    losses
}
