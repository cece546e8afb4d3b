//! Two sessions that recorded the same things at the same time: read together, everything would count twice.
//!
//! Sessions that share the work, as one for initialisation and one for the rest, are none of these: what names things may be known as
//! often as one likes.

use std::collections::HashMap;
use std::path::PathBuf;

use rostrace_ctf::{Conversion, Cursor, Recording, Stretch, Trace, TraceSet};
use rostrace_tracepoints::{Phase, find};

use crate::binding::Bindings;

/// Two recordings, and an event that both have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTwice {
    pub first: PathBuf,
    pub second: PathBuf,
    pub event: String,
    pub pid: Option<i64>,
}

/// An event of a thread: its name, process and thread.
type EventKey<'a> = (&'a str, Option<i64>, Option<i64>);

impl RecordedTwice {
    /// Events are read only where two recordings of one host went on at the same time and can have the same events.
    pub fn find(set: &TraceSet) -> Option<RecordedTwice> {
        let suspects = suspects(set);
        let latest = suspects.iter().map(|suspect| suspect.common.1).max()?;
        let bindings: Vec<Bindings> = set.traces.iter().map(Bindings::new).collect();
        let mut seen: HashMap<EventKey<'_>, Vec<usize>> = HashMap::new();
        let mut cursor = Cursor::new(set, Conversion::Exact);
        while let Some(event) = cursor.next() {
            let Some(time) = event.nanos().filter(|time| *time <= latest) else {
                break;
            };
            let trace = event.stream_id().trace;
            let mut concerned = suspects.iter().filter(|suspect| {
                (suspect.common.0..=suspect.common.1).contains(&time)
                    && [suspect.traces.0, suspect.traces.1].contains(&trace)
            });
            if concerned.clone().next().is_none() {
                continue;
            }
            let class = &set.traces[trace].schema.streams[event.stream().class].events;
            let name = class[event.event().class as usize].name.as_deref();
            let Some(name) = name.filter(|name| happens_again(name)) else {
                continue;
            };
            let (pid, tid) = bindings[trace].of(&event).ids(&event);
            let traces = seen.entry((name, pid, tid)).or_default();
            if !traces.contains(&trace) {
                traces.push(trace);
            }
            let both = concerned.find(|suspect| {
                traces.contains(&suspect.traces.0) && traces.contains(&suspect.traces.1)
            });
            if let Some(suspect) = both {
                return Some(RecordedTwice {
                    first: suspect.folders.0.clone(),
                    second: suspect.folders.1.clone(),
                    event: name.to_owned(),
                    pid,
                });
            }
        }
        None
    }
}

/// Two traces of one host, by their places, that could have the same events.
struct Suspect {
    traces: (usize, usize),
    folders: (PathBuf, PathBuf),
    /// When both were recorded.
    common: Stretch,
}

fn suspects(set: &TraceSet) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    for (number, second) in set.recordings.iter().enumerate() {
        for first in &set.recordings[..number] {
            let Some(common) = in_common(first, second) else {
                continue;
            };
            for &a in &first.traces {
                for &b in &second.traces {
                    if can_have_the_same(&set.traces[a], &set.traces[b]) {
                        suspects.push(Suspect {
                            traces: (a, b),
                            folders: (first.folder.clone(), second.folder.clone()),
                            common,
                        });
                    }
                }
            }
        }
    }
    suspects
}

/// From the first instant that both have to the last one; nothing if they have none.
fn in_common(a: &Recording, b: &Recording) -> Option<Stretch> {
    let pairs = (a.stretches.iter()).flat_map(|x| b.stretches.iter().map(move |y| (x, y)));
    let common = pairs.map(|(x, y)| (x.0.max(y.0), x.1.min(y.1)));
    let common = common.filter(|(begin, end)| begin < end);
    common.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn can_have_the_same(a: &Trace, b: &Trace) -> bool {
    let host = |trace: &Trace| trace.schema.environment_text("hostname").map(str::to_owned);
    // Where the environment names the one process of a trace, others cannot be in it.
    let process = |trace: &Trace| trace.schema.environment_integer("vpid");
    let differ = process(a).zip(process(b)).is_some_and(|(a, b)| a != b);
    let names = |trace: &Trace| -> Vec<String> {
        let classes = (trace.schema.streams.iter()).flat_map(|stream| stream.events.iter());
        let names = classes.filter_map(|class| class.name.clone());
        names.filter(|name| happens_again(name)).collect()
    };
    host(a) == host(b) && !differ && {
        let known = names(b);
        names(a).iter().any(|name| known.contains(name))
    }
}

/// Whether an event counts as something that happened: not one that only names things.
fn happens_again(name: &str) -> bool {
    find(name).is_none_or(|tracepoint| tracepoint.phase != Phase::Init)
}
