//! A trace read through the public cursor, as plain data that can be compared.

use std::path::{Path, PathBuf};

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

/// The recordings in the repository.
pub fn recording(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    folder.join(name)
}

/// A folder of the recordings beside the repository, or a loud word that there is none.
pub fn shared(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os("ROSTRACE_SHARED").map(PathBuf::from);
    let above = || {
        let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        folders.find_map(|folder| Some(folder.join("shared")).filter(|shared| shared.is_dir()))
    };
    let found = named.or_else(above).map(|shared| shared.join(name));
    let found = found.filter(|folder| folder.is_dir());
    if found.is_none() {
        eprintln!(
            "SKIPPED: no recordings `shared/{name}` above this crate and none in ROSTRACE_SHARED; nothing was tested"
        );
    }
    found
}

/// The folders in a folder, sorted.
pub fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = (std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}
