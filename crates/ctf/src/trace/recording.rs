//! When something was recorded: the recordings that a set was put together from, each from its start to its stop.
//!
//! What lies between two recordings is a pause: nothing was lost there, and nothing is known of it. Recordings are told apart by
//! who made them (the session, or the folder), never by times in which nothing happened: a system may be idle. A cut says itself which
//! part of a recording it kept ([`KEPT`]), since the events that name things are older than that part.

use std::path::{Path, PathBuf};

use super::{Trace, TraceSet};
use crate::error::Error;
use crate::schema::{Nanos, Schema};
use crate::trace::stream::Stream;
use crate::trace::time::Conversion;
use crate::walk::Cursor;

/// The name in a trace's environment under which a cut says what it kept: `begin..end` in nanoseconds since 1970, both inside;
/// several have commas between them.
pub(crate) const KEPT: &str = "rostrace_kept_ns";

/// From then to then; both belong to it.
pub type Stretch = (Nanos, Nanos);

/// One go of recording, or what cuts kept of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The folder of the session.
    pub folder: PathBuf,
    /// Its traces, by their places in the set.
    pub traces: Vec<usize>,
    /// When it was going on, in order, without overlaps.
    pub stretches: Vec<Stretch>,
}

/// What a folder of a trace says of how it came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TraceFolder {
    pub(crate) path: PathBuf,
    /// The folder that was named on the command line.
    pub(crate) root: PathBuf,
    /// What a cut kept; nothing if this is no cut.
    pub(crate) kept: Option<Vec<Stretch>>,
}

impl TraceFolder {
    pub(crate) fn new(path: &Path, below: &Path, schema: &Schema) -> TraceFolder {
        let depth = below.components().count();
        let root = path.ancestors().nth(depth).unwrap_or(path);
        TraceFolder {
            path: path.to_owned(),
            root: root.to_owned(),
            kept: schema.environment_text(KEPT).map(read),
        }
    }

    /// Where the session is that wrote it: tracers put what they trace below it, by domain.
    fn session(&self) -> &Path {
        let domain = |folder: &&Path| {
            (folder.file_name()).is_some_and(|name| name == "ust" || name == "kernel")
        };
        let above = self.path.ancestors().find(domain).and_then(Path::parent);
        match above {
            Some(above) if above.starts_with(&self.root) => above,
            _ => &self.root,
        }
    }
}

fn read(text: &str) -> Vec<Stretch> {
    let stretch = |text: &str| {
        let (begin, end) = text.split_once("..")?;
        Some((Nanos(begin.parse().ok()?), Nanos(end.parse().ok()?)))
    };
    text.split(',').filter_map(stretch).collect()
}

/// What a cut of these stretches says of itself.
pub(crate) fn kept_text(stretches: &[Stretch]) -> String {
    let texts = stretches
        .iter()
        .map(|(begin, end)| format!("{}..{}", begin.0, end.0));
    texts.collect::<Vec<_>>().join(",")
}

/// The parts of stretches that lie in another one.
pub(crate) fn within(stretches: &[Stretch], (from, to): Stretch) -> Vec<Stretch> {
    let cut = stretches
        .iter()
        .map(|(begin, end)| (*begin.max(&from), *end.min(&to)));
    cut.filter(|(begin, end)| begin <= end).collect()
}

/// Stretches in order; those that overlap or follow each other at once are one.
fn joined(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_unstable();
    let mut joined: Vec<Stretch> = Vec::new();
    for (begin, end) in stretches {
        match joined.last_mut() {
            Some((_, last)) if begin.0 <= last.0.saturating_add(1) => *last = end.max(*last),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

impl Trace {
    /// For the time of an event that a cut kept only because it names something: when the time begins that was kept. Nothing
    /// for all other events.
    pub fn kept_from(&self, time: Nanos) -> Option<Nanos> {
        if self.parts.iter().all(|part| part.kept.is_none()) {
            return None;
        }
        let kept = self.parts.iter().filter_map(|part| part.kept.as_ref());
        let stretches = || kept.clone().flatten();
        if stretches().any(|(begin, end)| (*begin..=*end).contains(&time)) {
            return None;
        }
        let later = stretches().map(|(begin, _)| *begin);
        Some(later.filter(|begin| *begin > time).min().unwrap_or(time))
    }

    /// Whether an event was kept by a cut only because it names something, and is in another cut of the same trace, too: in the one that has
    /// that time, or in a later one.
    pub fn is_in_another_cut(&self, stream: &Stream, time: Nanos) -> bool {
        let kept = |cut: usize| self.parts.get(cut).and_then(|part| part.kept.as_deref());
        let Some((cut, own)) = stream.cut.and_then(|cut| Some((cut, kept(cut)?))) else {
            return false;
        };
        let has = |stretches: &[Stretch]| {
            (stretches.iter()).any(|(begin, end)| (*begin..=*end).contains(&time))
        };
        let last = |stretches: &[Stretch]| stretches.last().map(|(_, end)| *end);
        let others = (0..self.parts.len()).filter(|other| *other != cut);
        let mut others = others.filter_map(kept);
        !has(own) && others.any(|other| has(other) || last(other) > last(own))
    }

    /// When the trace was being written.
    fn stretches(&self) -> Vec<Stretch> {
        if self.parts.iter().any(|part| part.kept.is_some()) {
            let kept = self.parts.iter().filter_map(|part| part.kept.clone());
            return kept.flatten().collect();
        }
        let streams = self.streams.iter();
        let recorded = streams.filter(|stream| !self.is_statedump(stream));
        let spans: Vec<Stretch> = recorded.filter_map(|stream| self.span(stream)).collect();
        whole(&spans).into_iter().collect()
    }

    /// Who wrote it, as far as the trace or its place tells.
    fn session(&self) -> (PathBuf, String) {
        let text = |name: &str| self.schema.environment_text(name);
        let part = self.parts.first();
        let folder = match text("tracer_name") {
            // Ours has a trace for each process, side by side.
            Some("rostrace") => part.and_then(|part| part.path.parent()),
            _ => part.map(TraceFolder::session),
        };
        let folder = folder.unwrap_or(Path::new(""));
        match (text("trace_name"), text("trace_creation_datetime")) {
            (Some(name), Some(date)) => {
                let host = text("hostname").unwrap_or_default();
                (folder.to_owned(), format!("{host} {name} {date}"))
            }
            _ => (folder.to_owned(), folder.display().to_string()),
        }
    }
}

impl TraceSet {
    /// The recordings that the set consists of, by their begin. Those without times are left out.
    pub(super) fn find_recordings(&self) -> Vec<Recording> {
        let mut found: Vec<(String, Recording)> = Vec::new();
        for (number, trace) in self.traces.iter().enumerate() {
            let stretches = trace.stretches();
            let (folder, session) = trace.session();
            match found.iter_mut().find(|(other, _)| *other == session) {
                Some((_, recording)) => {
                    recording.traces.push(number);
                    recording.stretches.extend(stretches);
                }
                None => {
                    let traces = vec![number];
                    let recording = Recording {
                        folder,
                        traces,
                        stretches,
                    };
                    found.push((session, recording));
                }
            }
        }
        let mut recordings: Vec<Recording> = found
            .into_iter()
            .map(|(_, mut recording)| {
                recording.stretches = if self.has_cut(&recording) {
                    joined(recording.stretches)
                } else {
                    whole(&recording.stretches).into_iter().collect()
                };
                recording
            })
            .collect();
        recordings.retain(|recording| !recording.stretches.is_empty());
        recordings.sort_by_key(|recording| recording.stretches[0]);
        recordings
    }

    fn has_cut(&self, recording: &Recording) -> bool {
        let mut traces = recording.traces.iter().map(|trace| &self.traces[*trace]);
        traces.any(|trace| trace.parts.iter().any(|part| part.kept.is_some()))
    }

    /// From when to when something was recorded: all relative times count from the begin, everywhere. What a tracer tells of the
    /// time before, and what a cut has kept from there, does not count. Nothing for a trace without a clock.
    pub fn span(&self) -> Option<Stretch> {
        let stretches = self.recordings.iter().flat_map(|it| &it.stretches);
        let first_event = || {
            let at = Cursor::new(self, Conversion::Exact).next()?.nanos()?;
            Some((at, at))
        };
        whole(stretches).or_else(first_event)
    }

    /// When nothing was recorded, between the begin and the end.
    pub fn pauses(&self) -> Vec<Stretch> {
        let stretches = self.recordings.iter().flat_map(|it| &it.stretches);
        let stretches = joined(stretches.copied().collect());
        let between = stretches.windows(2).map(|pair| (pair[0].1, pair[1].0));
        between.collect()
    }

    /// What cuts of one trace have in common would be read twice.
    pub(super) fn expect_cuts_apart(&self) -> Result<(), Error> {
        for trace in &self.traces {
            // What is no cut has everything that a cut of it has.
            let everything = || vec![(Nanos(i64::MIN), Nanos(i64::MAX))];
            let kept = |part: &TraceFolder| part.kept.clone().unwrap_or_else(everything);
            for (number, part) in trace.parts.iter().enumerate() {
                let earlier = trace.parts[..number].iter();
                for other in earlier.filter(|it| it.kept.is_some() || part.kept.is_some()) {
                    let common = kept(part)
                        .into_iter()
                        .flat_map(|stretch| within(&kept(other), stretch))
                        // Both ends belong to a range, so those that follow each other have an instant in common.
                        .find(|(begin, end)| begin < end);
                    if let Some((begin, end)) = common {
                        return Err(Error::OverlappingCuts {
                            first: other.root.clone(),
                            second: part.root.clone(),
                            begin,
                            end,
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// From the first begin to the last end.
fn whole<'a>(stretches: impl IntoIterator<Item = &'a Stretch>) -> Option<Stretch> {
    let wider = |a: Stretch, b: Stretch| (a.0.min(b.0), a.1.max(b.1));
    stretches.into_iter().copied().reduce(wider)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(numbers: &[(i64, i64)]) -> Vec<Stretch> {
        let stretch = |(begin, end): &(i64, i64)| (Nanos(*begin), Nanos(*end));
        numbers.iter().map(stretch).collect()
    }

    #[test]
    fn what_overlaps_or_follows_at_once_is_one_stretch() {
        let found = joined(stretches(&[(50, 60), (0, 10), (5, 20), (21, 30), (32, 40)]));
        assert_eq!(found, stretches(&[(0, 30), (32, 40), (50, 60)]));
    }

    #[test]
    fn what_a_cut_says_is_read_again() {
        let said = stretches(&[(-5, 7), (9, 1_794_715_879_500_000_000)]);
        assert_eq!(read(&kept_text(&said)), said);
        assert_eq!(read(&kept_text(&[])), []);
    }
}
