//! Chrome's JSON format, which many programs read, chrome://tracing and ui.perfetto.dev among them.
//!
//! It knows processes and threads only, so every other track is a thread under a number that no kernel gives. Times are microseconds since
//! the beginning: as numbers of JavaScript, times since 1970 would lose their nanoseconds. `otherData` says when that was.

use std::io::{self, Write};

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::Damage;
use rostrace_ctf::schema::Nanos;
use rostrace_model::flow::UserValue;

use super::counting_writer::CountingWriter;
use super::flow::FlowId;
use super::identity::STAND_INS;
use super::json::{integer, real, text};
use super::label::Fixed;
use super::sink::{Argument, Sink, TimelineEvent, Track, TrackId, TrackKind};
use super::{Written, model};

/// Tracks that are no threads are numbered from here on.
const FIRST_TRACK: i64 = STAND_INS * 3;

/// What belongs to the trace and to no process.
const TRACE: i64 = STAND_INS * 3 - 1;

/// Writes what is selected of a trace, in one pass.
pub fn write(
    analysis: &Analysis<'_>,
    selection: &Selection,
    damage: &[Damage],
    out: &mut impl io::Write,
) -> io::Result<Written> {
    let mut chrome = Chrome {
        out: CountingWriter::new(out),
        origin: model::beginning(analysis),
        tracks: Vec::new(),
        has_events: false,
    };
    let mut written = model::write_events(analysis, selection, damage, &mut chrome)?;
    chrome.out.bytes.extend_from_slice(b"\n]}\n");
    written.bytes = chrome.out.end()?;
    Ok(written)
}

struct Chrome<'o, W> {
    out: CountingWriter<'o, W>,
    origin: Nanos,
    tracks: Vec<TrackIds>,
    has_events: bool,
}

/// Where the events of a track go.
#[derive(Debug, Clone)]
struct TrackIds {
    pid: i64,
    tid: i64,
    /// What the names of tracks below begin with.
    prefix: String,
    /// Of a counter.
    name: String,
}

impl<W: io::Write> Chrome<'_, W> {
    fn begin_event(&mut self, kind: &str, pid: i64, tid: i64) -> io::Result<()> {
        self.out.flush_if_full()?;
        let comma = if self.has_events { ",\n" } else { "\n" };
        self.has_events = true;
        write!(
            self.out.bytes,
            "{comma}{{\"ph\":\"{kind}\",\"pid\":{pid},\"tid\":{tid}"
        )
    }

    fn metadata(&mut self, place: &TrackIds, what: &str, name: &str) -> io::Result<()> {
        self.begin_event("M", place.pid, place.tid)?;
        write!(self.out.bytes, ",\"name\":\"{what}\",\"args\":{{\"name\":")?;
        text(&mut self.out.bytes, name)?;
        self.out.bytes.extend_from_slice(b"}}");
        Ok(())
    }

    fn sort_index(&mut self, place: &TrackIds, what: &str, index: u32) -> io::Result<()> {
        self.begin_event("M", place.pid, place.tid)?;
        write!(
            self.out.bytes,
            ",\"name\":\"{what}\",\"args\":{{\"sort_index\":{index}}}}}"
        )
    }

    /// Microseconds with three decimals.
    fn microseconds(&mut self, key: &str, nanos: i64) -> io::Result<()> {
        let (sign, size) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
        let (whole, rest) = (size / 1000, size % 1000);
        write!(self.out.bytes, ",\"{key}\":{sign}{whole}.{rest:03}")
    }

    fn arrow(&mut self, kind: &str, place: &TrackIds, at: Nanos, flow: FlowId) -> io::Result<()> {
        self.begin_event(kind, place.pid, place.tid)?;
        self.microseconds("ts", at.0.saturating_sub(self.origin.0))?;
        let name = flow.kind().name();
        let binding = if kind == "f" { ",\"bp\":\"e\"" } else { "" };
        let id = flow.arrow;
        write!(
            self.out.bytes,
            ",\"id\":{id},\"cat\":\"{name}\",\"name\":\"{name}\"{binding}}}"
        )
    }

    fn arguments(&mut self, event: &TimelineEvent<'_>) -> io::Result<()> {
        let mut list = List::new(&mut self.out.bytes, "args");
        for (key, value) in &event.described.arguments {
            match value {
                Fixed::Integer(value) => integer(list.key(key)?, *value)?,
                Fixed::Text(value) => text(list.key(key)?, value)?,
            }
        }
        for (key, value) in event.arguments {
            let bytes = list.key(key)?;
            match value {
                Argument::Integer(value) => integer(bytes, *value)?,
                Argument::Flag(flag) => write!(bytes, "{flag}")?,
                Argument::Text(value) => text(bytes, value)?,
            }
        }
        for field in event.given {
            let bytes = list.key(&field.name)?;
            match &field.value {
                UserValue::Integer(value) => integer(bytes, *value)?,
                UserValue::Real(value) => real(bytes, *value)?,
                UserValue::Text(value) => text(bytes, value)?,
            }
        }
        list.end();
        Ok(())
    }
}

/// An object that is left out if it is empty.
struct List<'b> {
    bytes: &'b mut Vec<u8>,
    name: &'static str,
    is_empty: bool,
}

impl<'b> List<'b> {
    fn new(bytes: &'b mut Vec<u8>, name: &'static str) -> List<'b> {
        let is_empty = true;
        List {
            bytes,
            name,
            is_empty,
        }
    }

    fn key(&mut self, key: &str) -> io::Result<&mut Vec<u8>> {
        if self.is_empty {
            write!(self.bytes, ",\"{}\":{{", self.name)?;
        } else {
            self.bytes.push(b',');
        }
        self.is_empty = false;
        text(self.bytes, key)?;
        self.bytes.push(b':');
        Ok(self.bytes)
    }

    fn end(self) {
        if !self.is_empty {
            self.bytes.push(b'}');
        }
    }
}

impl<W: io::Write> Sink for Chrome<'_, W> {
    fn notes(&mut self, notes: &[(&str, String)]) -> io::Result<()> {
        self.out
            .bytes
            .extend_from_slice(b"{\"displayTimeUnit\":\"ns\"");
        let mut list = List::new(&mut self.out.bytes, "otherData");
        for (key, value) in notes {
            text(list.key(key)?, value)?;
        }
        list.end();
        self.out.bytes.extend_from_slice(b",\"traceEvents\":[");
        Ok(())
    }

    fn track(&mut self, track: &Track<'_>) -> io::Result<()> {
        let parent = track.parent.map(|id| self.tracks[id.0 as usize].clone());
        let pid = parent.as_ref().map_or(TRACE, |parent| parent.pid);
        let stand_in = FIRST_TRACK + i64::from(track.id.0);
        let place = match track.kind {
            TrackKind::Process { pid, name } => {
                let place = TrackIds {
                    pid,
                    tid: pid,
                    prefix: String::new(),
                    name: String::new(),
                };
                self.metadata(&place, "process_name", name)?;
                self.sort_index(&place, "process_sort_index", track.id.0)?;
                place
            }
            TrackKind::Thread { pid, tid, name } => {
                let place = TrackIds {
                    pid,
                    tid,
                    prefix: format!("{tid} "),
                    name: String::new(),
                };
                self.metadata(&place, "thread_name", name)?;
                self.sort_index(&place, "thread_sort_index", track.id.0)?;
                place
            }
            TrackKind::Named(name) => {
                let prefix = parent.map(|parent| parent.prefix).unwrap_or_default();
                let name = format!("{prefix}{name}");
                let place = TrackIds {
                    pid,
                    tid: stand_in,
                    prefix: format!("{name} "),
                    name: String::new(),
                };
                self.metadata(&place, "thread_name", &name)?;
                self.sort_index(&place, "thread_sort_index", track.id.0)?;
                place
            }
            TrackKind::Counter { name, .. } => TrackIds {
                pid,
                tid: pid,
                prefix: String::new(),
                name: name.to_owned(),
            },
        };
        self.tracks.push(place);
        Ok(())
    }

    fn event(&mut self, event: &TimelineEvent<'_>) -> io::Result<()> {
        let place = &self.tracks[event.track.0 as usize];
        let (pid, tid) = (place.pid, place.tid);
        let kind = if event.end.is_some() { "X" } else { "i" };
        self.begin_event(kind, pid, tid)?;
        self.microseconds("ts", event.begin.0.saturating_sub(self.origin.0))?;
        match event.end {
            Some(end) => self.microseconds("dur", end.0.saturating_sub(event.begin.0))?,
            None => self.out.bytes.extend_from_slice(b",\"s\":\"t\""),
        }
        write!(
            self.out.bytes,
            ",\"cat\":\"{}\",\"name\":",
            event.described.category
        )?;
        text(
            &mut self.out.bytes,
            event.name.unwrap_or(&event.described.name),
        )?;
        self.arguments(event)?;
        self.out.bytes.push(b'}');
        if event.sends.is_empty() && event.receives.is_empty() {
            return Ok(());
        }
        let place = self.tracks[event.track.0 as usize].clone();
        for flow in event.sends {
            self.arrow("s", &place, event.begin, *flow)?;
        }
        for flow in event.receives {
            self.arrow("f", &place, event.begin, *flow)?;
        }
        Ok(())
    }

    fn count(&mut self, track: TrackId, at: Nanos, value: f64) -> io::Result<()> {
        if !value.is_finite() {
            return Ok(());
        }
        let place = self.tracks[track.0 as usize].clone();
        self.begin_event("C", place.pid, place.tid)?;
        self.microseconds("ts", at.0.saturating_sub(self.origin.0))?;
        self.out.bytes.extend_from_slice(b",\"name\":");
        text(&mut self.out.bytes, &place.name)?;
        self.out.bytes.extend_from_slice(b",\"args\":{\"value\":");
        real(&mut self.out.bytes, value)?;
        self.out.bytes.extend_from_slice(b"}}");
        Ok(())
    }

    fn close(&mut self, _track: TrackId) -> io::Result<()> {
        Ok(())
    }
}
