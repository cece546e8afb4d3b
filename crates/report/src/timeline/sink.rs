//! What a format has to be able to write: tracks, what happened on them, values of counters, and switches of CPUs.

use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::flow::UserField;

use super::flow::FlowId;
use super::label::{Label, LabelId};

/// A track, numbered from 0 in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TrackId(pub(super) u32);

/// Something that things happen on. It is shown before anything happens on it, and after its parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Track<'a> {
    pub(super) id: TrackId,
    pub(super) parent: Option<TrackId>,
    pub(super) kind: TrackKind<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum TrackKind<'a> {
    /// The numbers of processes and threads are those that are shown: unique in the whole trace.
    Process {
        pid: i64,
        name: &'a str,
    },
    Thread {
        pid: i64,
        tid: i64,
        name: &'a str,
    },
    /// Below a process or a thread, or on its own; others may be below it.
    Named(&'a str),
    Counter {
        name: &'a str,
        unit: CounterUnit,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterUnit {
    Bytes,
    /// Whatever the application counts.
    Unknown,
}

/// Something that happened on a track. What takes time begins in the order of time, and is either inside what began before it on
/// its track or after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimelineEvent<'a> {
    pub(super) track: TrackId,
    pub(super) begin: Nanos,
    /// Nothing for an instant.
    pub(super) end: Option<Nanos>,
    pub(super) label: LabelId,
    pub(super) described: &'a Label,
    /// In place of the label's.
    pub(super) name: Option<&'a str>,
    pub(super) arguments: &'a [(&'static str, Argument<'a>)],
    /// What the application said about it.
    pub(super) given: &'a [UserField],
    /// Arrows that begin here, and that end here.
    pub(super) sends: &'a [FlowId],
    pub(super) receives: &'a [FlowId],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Argument<'a> {
    Integer(i64),
    Flag(bool),
    Text(&'a str),
}

/// A CPU goes from one thread to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Switch<'a> {
    /// Unique in the whole trace, also with several hosts.
    pub(super) cpu: u32,
    pub(super) at: Nanos,
    pub(super) previous: Running<'a>,
    /// As the kernel says it: 0 it could have gone on, 1 it sleeps, 2 it waits for a disk …
    pub(super) previous_state: i64,
    pub(super) next: Running<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Running<'a> {
    /// As it is shown; 0 for an idle CPU.
    pub(super) tid: i64,
    pub(super) name: &'a str,
}

/// A thread that slept could run from now on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waking<'a> {
    pub(super) cpu: u32,
    pub(super) at: Nanos,
    pub(super) woken: Running<'a>,
}

/// A format that is being written.
pub(super) trait Sink {
    /// What is known of the trace as a whole, first of all: names and sentences.
    fn notes(&mut self, notes: &[(&str, String)]) -> io::Result<()>;

    fn track(&mut self, track: &Track<'_>) -> io::Result<()>;

    fn event(&mut self, event: &TimelineEvent<'_>) -> io::Result<()>;

    fn count(&mut self, track: TrackId, at: Nanos, value: f64) -> io::Result<()>;

    /// Nothing more happens on a track.
    fn close(&mut self, track: TrackId) -> io::Result<()>;

    /// Whether the format knows CPUs; else they are tracks like others.
    fn knows_cpus(&self) -> bool {
        false
    }

    fn switch(&mut self, _switch: &Switch<'_>) -> io::Result<()> {
        Ok(())
    }

    fn waking(&mut self, _waking: &Waking<'_>) -> io::Result<()> {
        Ok(())
    }
}
