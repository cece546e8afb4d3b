//! The processed format of the Firefox Profiler: what profiler.firefox.com and the tools around it read.
//!
//! It knows processes, threads and counters; what happens on a thread is a marker. Markers are shown in rows by their name, so callbacks have a row
//! each; what happens on a track that is no thread stands in a row with the name of that track, in a thread that stands for the process. Times
//! are milliseconds since the beginning, with a fraction. What refers to all threads comes last, so that they can be written one by one.
//!
//! The crate `fxprof-processed-profile` is made for sampling profilers: it keeps all markers in memory, wants every field on every
//! marker of a kind, and knows no flows.

mod counter;
mod marker;
mod schema;
mod strings;

use std::io::{self, Write};

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::Damage;
use rostrace_ctf::schema::Nanos;
use rostrace_model::flow::UserValue;
use serde_json::{Value, json};

use self::counter::Counter;
use self::marker::Markers;
use self::schema::{CATEGORIES, EVENT, Form, Origin, SchemaKey, Schemas};
use self::strings::Strings;
use super::counting_writer::CountingWriter;
use super::flow::FlowId;
use super::json;
use super::label::Fixed;
use super::sink::{Argument, Sink, TimelineEvent, Track, TrackId, TrackKind};
use super::{Written, model};

/// The version of the format. Newer programs read older versions; from this one on texts and stacks are shared by all threads.
const VERSION: u32 = 60;

/// Writes what is selected of a trace, in one pass.
pub fn write(
    analysis: &Analysis<'_>,
    selection: &Selection,
    damage: &[Damage],
    out: &mut impl io::Write,
) -> io::Result<Written> {
    let mut out = CountingWriter::new(out);
    let head = b"{\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"threads\":[";
    out.bytes.extend_from_slice(head);
    let mut firefox = Firefox {
        out,
        origin: model::beginning(analysis),
        strings: Strings::default(),
        schemas: Schemas::default(),
        notes: Value::Null,
        headings: Vec::new(),
        recording: None,
        places: Vec::new(),
        open: None,
        threads: 0,
        selected: None,
        counters: Vec::new(),
    };
    let mut written = model::write_events(analysis, selection, damage, &mut firefox)?;
    firefox.end()?;
    written.bytes = firefox.out.end()?;
    Ok(written)
}

struct Firefox<'o, W> {
    out: CountingWriter<'o, W>,
    origin: Nanos,
    strings: Strings,
    schemas: Schemas,
    notes: Value,
    headings: Vec<Heading>,
    recording: Option<usize>,
    /// By track.
    places: Vec<TrackRow>,
    /// The thread that is being collected.
    open: Option<(usize, Markers)>,
    /// How many were begun.
    threads: u32,
    /// The first that has callbacks.
    selected: Option<u32>,
    counters: Vec<Counter>,
}

/// What a thread is called, or a process that has a thread to stand for it.
#[derive(Debug, Clone)]
struct Heading {
    pid: String,
    process: String,
    name: String,
    tid: Value,
    is_process: bool,
    /// Of the thread that stands for its process.
    index: u32,
}

/// Where what happens on a track is shown.
#[derive(Debug, Clone, Copy)]
struct TrackRow {
    heading: usize,
    /// The text that all markers are under, in place of their own names.
    row: Option<u32>,
    is_below_thread: bool,
    counter: Option<usize>,
}

/// A number of milliseconds, exactly.
fn milliseconds(bytes: &mut Vec<u8>, nanos: i64) -> io::Result<()> {
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, rest) = (
        nanos.unsigned_abs() / 1_000_000,
        nanos.unsigned_abs() % 1_000_000,
    );
    match rest {
        0 => write!(bytes, "{sign}{whole}"),
        _ => write!(bytes, "{sign}{whole}.{rest:06}"),
    }
}

impl<W: io::Write> Firefox<'_, W> {
    fn since_begin(&self, at: Nanos) -> i64 {
        at.0.saturating_sub(self.origin.0)
    }

    /// Begins a thread, and with it ends the one before.
    fn begin_thread(&mut self, heading: usize) -> io::Result<()> {
        self.end_thread()?;
        self.open = Some((heading, Markers::default()));
        self.threads += 1;
        Ok(())
    }

    fn end_thread(&mut self) -> io::Result<()> {
        let Some((heading, markers)) = self.open.take() else {
            return Ok(());
        };
        let heading = &self.headings[heading];
        let thread = json!({
            "processType": "default",
            "processStartupTime": 0,
            "processShutdownTime": null,
            "registerTime": 0,
            "unregisterTime": null,
            "pausedRanges": [],
            "showMarkersInTimeline": true,
            "name": heading.name,
            "isMainThread": heading.is_process,
            "processName": heading.process,
            "pid": heading.pid,
            "tid": heading.tid,
            "samples": {"stack": [], "time": [], "weight": null, "weightType": "samples", "length": 0},
        });
        let mut head = thread.to_string();
        head.pop();
        if self.threads > 1 {
            self.out.bytes.push(b',');
        }
        write!(self.out.bytes, "\n{head},\"markers\":")?;
        markers.write(&mut self.out.bytes)?;
        self.out.bytes.push(b'}');
        self.out.flush_if_full()
    }

    /// A process, and the thread that stands for it.
    fn process(&mut self, pid: String, name: &str) -> io::Result<usize> {
        let heading = self.headings.len();
        self.headings.push(Heading {
            tid: json!(format!("process {pid}")),
            pid,
            process: name.to_owned(),
            name: name.to_owned(),
            is_process: true,
            index: self.threads,
        });
        self.begin_thread(heading)?;
        Ok(heading)
    }

    /// What belongs to the trace and to no process, however many tracks it has.
    fn recording(&mut self) -> io::Result<usize> {
        match self.recording {
            Some(heading) => Ok(heading),
            None => {
                let heading = self.process("recording".to_owned(), "recording")?;
                Ok(*self.recording.insert(heading))
            }
        }
    }

    /// What speaks of all threads.
    fn end(&mut self) -> io::Result<()> {
        if self.threads == 0 {
            // The program opens no profile without a thread.
            self.recording()?;
        }
        self.end_thread()?;
        self.out.bytes.extend_from_slice(b"\n],\"counters\":[");
        for (place, counter) in self.counters.iter().enumerate() {
            self.out
                .bytes
                .extend_from_slice(if place > 0 { b",\n" } else { b"\n" });
            counter.write(&mut self.out.bytes)?;
        }
        let categories = CATEGORIES
            .iter()
            .map(|(name, color)| json!({"name": name, "color": color, "subcategories": ["Other"]}));
        let meta = json!({
            "interval": 1,
            "processType": 0,
            "product": "rostrace",
            "importedFrom": "rostrace",
            "stackwalk": 0,
            "debug": false,
            "version": 30,
            "preprocessedProfileVersion": VERSION,
            "symbolicated": true,
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
            "keepProfileThreadOrder": true,
            "categories": categories.collect::<Vec<_>>(),
            "markerSchema": self.schemas.declarations(),
            // Without samples the program would take most threads for idle, and hide them.
            "initialVisibleThreads": (0..self.threads).collect::<Vec<_>>(),
            "initialSelectedThreads": [self.selected.unwrap_or(0)],
            "extra": [{"label": "rostrace", "entries": self.notes}],
        });
        let mut head = meta.to_string();
        head.pop();
        write!(self.out.bytes, "\n],\"meta\":{head},\"startTime\":")?;
        milliseconds(&mut self.out.bytes, self.origin.0)?;
        let empty = json!({
            "stackTable": table(&["frame", "prefix"]),
            "frameTable": table(&[
                "address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
                "innerWindowID", "line", "column",
            ]),
            "funcTable": table(&[
                "name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber",
            ]),
            "resourceTable": table(&["name", "host", "type", "lib"]),
            "nativeSymbols": table(&["libIndex", "address", "name", "functionSize"]),
            "sources": table(&["uuid", "filename"]),
        });
        let mut head = empty.to_string();
        head.pop();
        write!(self.out.bytes, "}},\n\"shared\":{head},\"stringArray\":[")?;
        self.out.pass(self.strings.array())?;
        self.out.bytes.extend_from_slice(b"]}}\n");
        Ok(())
    }
}

/// There are no stacks.
fn table(columns: &[&str]) -> Value {
    let columns = columns.iter().map(|name| ((*name).to_owned(), json!([])));
    let mut table: serde_json::Map<String, Value> = columns.collect();
    table.insert("length".to_owned(), json!(0));
    Value::Object(table)
}

/// The payload of a marker that is being written.
struct Payload<'p> {
    bytes: &'p mut Vec<u8>,
    strings: &'p mut Strings,
    schema: &'p mut schema::Schema,
}

impl Payload<'_> {
    fn text(&mut self, origin: Origin, name: &str, text: &str) -> io::Result<()> {
        (self.schema).key(self.bytes, origin, name, Form::Interned)?;
        let number = self.strings.number(text)?;
        write!(self.bytes, "{number}")
    }

    fn integer(&mut self, origin: Origin, name: &str, value: i64) -> io::Result<()> {
        let is_time = origin == Origin::Ours && name.ends_with("_ns");
        // A time since 1970 is neither a duration nor a number that JavaScript knows.
        let is_instant = origin == Origin::Ours && name == "source_timestamp_ns";
        if is_instant || !is_time && !json::is_exact(value) {
            (self.schema).key(self.bytes, origin, name, Form::Inline)?;
            write!(self.bytes, "\"{value}\"")
        } else if is_time {
            (self.schema).key(self.bytes, origin, name, Form::Duration)?;
            milliseconds(self.bytes, value)
        } else {
            (self.schema).key(self.bytes, origin, name, Form::Integer)?;
            write!(self.bytes, "{value}")
        }
    }

    fn real(&mut self, origin: Origin, name: &str, value: f64) -> io::Result<()> {
        if !value.is_finite() {
            return self.text(origin, name, &value.to_string());
        }
        (self.schema).key(self.bytes, origin, name, Form::Decimal)?;
        json::real(self.bytes, value)
    }

    /// A field has one flow: what received several messages has several fields.
    fn flows(&mut self, flows: &[FlowId]) -> io::Result<()> {
        for (place, flow) in flows.iter().enumerate() {
            let before = &flows[..place];
            if before.iter().any(|it| it.sending == flow.sending) {
                continue;
            }
            let name = flow.kind().name();
            let same = before.iter().filter(|it| it.kind() == flow.kind()).count();
            let numbered = format!("{name} {}", same + 1);
            let name = if same == 0 { name } else { &numbered };
            (self.schema).key(self.bytes, Origin::Ours, name, Form::Flow)?;
            let number = self.strings.flow(flow.sending)?;
            write!(self.bytes, "{number}")?;
        }
        Ok(())
    }

    fn write(&mut self, event: &TimelineEvent<'_>, row_name: Option<&str>) -> io::Result<()> {
        use Origin::{Application, Ours};
        if let Some(name) = row_name {
            self.text(Ours, EVENT, name)?;
        }
        for (name, value) in &event.described.arguments {
            match value {
                Fixed::Integer(value) => self.integer(Ours, name, *value)?,
                Fixed::Text(text) => self.text(Ours, name, text)?,
            }
        }
        for (name, value) in event.arguments {
            match value {
                Argument::Integer(value) => self.integer(Ours, name, *value)?,
                Argument::Flag(flag) => {
                    self.text(Ours, name, if *flag { "yes" } else { "no" })?;
                }
                Argument::Text(text) => self.text(Ours, name, text)?,
            }
        }
        for field in event.given {
            match &field.value {
                UserValue::Integer(value) => self.integer(Application, &field.name, *value)?,
                UserValue::Real(value) => self.real(Application, &field.name, *value)?,
                UserValue::Text(text) => self.text(Application, &field.name, text)?,
            }
        }
        self.flows(event.sends)?;
        self.flows(event.receives)
    }
}

impl<W: io::Write> Sink for Firefox<'_, W> {
    fn notes(&mut self, notes: &[(&str, String)]) -> io::Result<()> {
        let notes = notes.iter();
        self.notes = notes
            .map(|(key, value)| json!({"label": key, "format": "string", "value": value}))
            .collect();
        Ok(())
    }

    fn track(&mut self, track: &Track<'_>) -> io::Result<()> {
        let parent = track.parent.map(|id| self.places[id.0 as usize]);
        let place = match track.kind {
            TrackKind::Process { pid, name } => TrackRow {
                heading: self.process(pid.to_string(), name)?,
                row: None,
                is_below_thread: false,
                counter: None,
            },
            TrackKind::Thread { pid, tid, name } => {
                let process = parent.map(|parent| self.headings[parent.heading].process.clone());
                let heading = self.headings.len();
                self.headings.push(Heading {
                    pid: pid.to_string(),
                    process: process.unwrap_or_default(),
                    name: name.to_owned(),
                    tid: json!(tid),
                    is_process: false,
                    index: self.threads,
                });
                self.begin_thread(heading)?;
                TrackRow {
                    heading,
                    row: None,
                    is_below_thread: true,
                    counter: None,
                }
            }
            TrackKind::Named(name) => {
                let place = match parent {
                    Some(parent) => parent,
                    None => TrackRow {
                        heading: self.recording()?,
                        row: None,
                        is_below_thread: false,
                        counter: None,
                    },
                };
                let row = match place.is_below_thread {
                    true => None,
                    false => Some(self.strings.number(name)?),
                };
                TrackRow { row, ..place }
            }
            TrackKind::Counter { name, unit } => {
                let heading = parent.map_or(0, |parent| parent.heading);
                let (pid, thread) = match self.headings.get(heading) {
                    Some(heading) => (heading.pid.clone(), heading.index),
                    None => (String::new(), 0),
                };
                self.counters.push(Counter::new(name, unit, pid, thread));
                TrackRow {
                    heading,
                    row: None,
                    is_below_thread: false,
                    counter: Some(self.counters.len() - 1),
                }
            }
        };
        self.places.push(place);
        Ok(())
    }

    fn event(&mut self, event: &TimelineEvent<'_>) -> io::Result<()> {
        let place = self.places[event.track.0 as usize];
        // Whoever comes back is shown as one more thread of the same name.
        if (self.open.as_ref()).is_none_or(|(heading, _)| *heading != place.heading) {
            self.begin_thread(place.heading)?;
        }
        let begin = self.since_begin(event.begin);
        let end = event.end.map(|end| self.since_begin(end));
        let category = schema::category(event.described.category);
        let name = event.name.unwrap_or(&event.described.name);
        let (row, row_name) = match place.row {
            Some(row) => (row, Some(name)),
            None => (self.strings.number(name)?, None),
        };
        if event.described.category == "callback" && self.selected.is_none() {
            self.selected = self.threads.checked_sub(1);
        }
        let key = SchemaKey {
            category,
            in_row: row_name.is_some(),
        };
        let (schemas, strings) = (&mut self.schemas, &mut self.strings);
        let Some((_, markers)) = &mut self.open else {
            return Ok(());
        };
        markers.push((begin, end), row, category, |bytes| {
            write!(bytes, "{{\"type\":\"{key}\"")?;
            let schema = schemas.of(key);
            Payload {
                bytes: &mut *bytes,
                strings,
                schema,
            }
            .write(event, row_name)?;
            bytes.push(b'}');
            Ok(())
        })
    }

    fn count(&mut self, track: TrackId, at: Nanos, value: f64) -> io::Result<()> {
        let at = self.since_begin(at);
        match self.places[track.0 as usize].counter {
            Some(counter) => self.counters[counter].push(at, value),
            None => Ok(()),
        }
    }

    fn close(&mut self, _track: TrackId) -> io::Result<()> {
        Ok(())
    }
}
