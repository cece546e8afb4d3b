//! Trimming: copies a part of a trace into a new, smaller one. The program calls it a cut.
//!
//! The metadata is copied as it is, so nothing of the declarations is lost, with a word of the times that were kept; every event keeps its bits wherever its
//! alignment permits. Packets are written anew: with the events that are kept, with times and sizes that fit them, and
//! with counters that tell the tracer's losses in the kept range, and no others. A cut is not a loss.
//!
//! Some events are needed whatever the range is: those by which a program said what its things are called. They are named
//! by the caller ([`Trim::initialisation`]), since a format knows nothing of programs.
//!
//! `stream` walks through a stream and decides, `copy` writes packets, `counters` knows what they say of losses,
//! `output` where files go.

mod alignment;
mod copy;
mod counters;
mod error;
mod event_values;
mod output;
mod stream;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;
use std::path::Path;

use crate::damage::{Damage, DamageKind, DamageRows};
use crate::packet::PacketState;
use crate::schema::{Cycles, Nanos};
use crate::trace::time::Conversion;
use crate::trace::{StreamId, TraceSet};
use crate::walk::Selection;

pub use error::TrimError;
use output::TraceOutput;
use stream::StreamTrim;

/// What is to be kept.
#[derive(Debug, Clone, Default)]
pub struct Trim {
    pub selection: Selection,
    /// Names or patterns of events that are kept from before the range too, in all threads and on all CPUs of the
    /// selected processes.
    pub initialisation: Vec<String>,
}

/// What was kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrimReport {
    /// Events in the new trace.
    pub kept: u64,
    /// Those of them that are kept for initialisation alone.
    pub initialisation: u64,
    /// Events that were looked at. What lies behind the range is not read.
    pub read: u64,
    /// Bytes in the new stream files.
    pub bytes: u64,
    pub streams: u64,
    /// The first and the last selected event.
    pub span: Option<(Nanos, Nanos)>,
    /// What is missing or broken in the range.
    pub damage: Vec<Damage>,
}

impl Trim {
    /// Writes the new trace to a folder, which is made if it does not exist and should be empty. Where the set has
    /// several traces, each gets its own folder below. If no event is selected, metadata and empty files are written:
    /// a valid trace without events.
    ///
    /// `go_on` is told how many bytes are done; when it says no, nothing is returned and what was written so far
    /// is of no use.
    pub fn write(
        &self,
        set: &TraceSet,
        folder: &Path,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<TrimReport>, TrimError> {
        let mut report = TrimReport::default();
        let mut damage = DamageRows::default();
        let mut done = 0;
        let mut outputs = output::of_traces(set, folder, self.kept(set));
        for (number, output) in outputs.iter_mut().enumerate() {
            for stream in 0..set.traces[number].streams.len() {
                let id = StreamId {
                    trace: number,
                    stream,
                };
                let found = (&mut report, &mut damage);
                if !self.write_stream(set, id, output, found, &mut done, go_on)? {
                    return Ok(None);
                }
            }
        }
        for output in &mut outputs {
            if report.streams == 0 {
                output.create()?;
            }
            output.finish()?;
        }
        report.damage = (set.damage.iter())
            .filter(|row| self.concerns(set, row))
            .cloned()
            .chain(damage.into_rows())
            .collect();
        Ok(Some(report))
    }

    fn write_stream(
        &self,
        set: &TraceSet,
        id: StreamId,
        output: &mut TraceOutput,
        (report, damage): (&mut TrimReport, &mut DamageRows),
        done: &mut u64,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, TrimError> {
        let stream = set.stream(id);
        let before = *done;
        let trim = StreamTrim::new(self, set.trace_of(id), stream, output);
        let finished = trim.run(report, damage, &mut |bytes| go_on(before + bytes))?;
        *done = before + stream.packets.iter().map(|packet| packet.size).sum::<u64>();
        Ok(finished)
    }

    /// The times that are kept; nothing if those are all, and nothing needs to be said. A set of several recordings, or of cuts, becomes one
    /// that cannot be told apart by its folders.
    fn kept(&self, set: &TraceSet) -> Option<(Nanos, Nanos)> {
        let is_whole = self.selection.time.is_none() && set.pauses().is_empty();
        (!is_whole).then(|| self.range().into_inner())
    }

    /// Both ends belong to it.
    fn range(&self) -> RangeInclusive<Nanos> {
        let everything = Nanos(i64::MIN)..=Nanos(i64::MAX);
        self.selection.time.clone().unwrap_or(everything)
    }

    /// Whether damage that was found before events were read is in the range, as far as is known. What the tracer
    /// counted as lost is not here: streams report it themselves.
    fn concerns(&self, set: &TraceSet, row: &Damage) -> bool {
        if matches!(
            row.kind,
            DamageKind::DiscardedEvents | DamageKind::LostPackets
        ) {
            return false;
        }
        let range = self.range();
        if let Some((begin, end)) = row.begin.zip(row.end) {
            return begin <= *range.end() && end >= *range.start();
        }
        let (Some(offset), None) = (row.offset, row.more) else {
            return true;
        };
        for id in set.streams() {
            let (trace, stream) = (set.trace_of(id), set.stream(id));
            let time = trace.time_base(stream, Conversion::Exact);
            let place = stream.packets.iter().position(|packet| {
                packet.offset == offset
                    && packet.state != PacketState::Closed
                    && trace.path_of_packet(packet) == row.path
            });
            let Some(place) = place else {
                continue;
            };
            if stream.sequential || !time.has_clock() {
                return true;
            }
            let begin = |place: usize| {
                let packet = stream.packets.get(place)?;
                Some(time.nanos(Cycles(packet.begin)))
            };
            let begins_in_time = begin(place).is_none_or(|begin| begin <= *range.end());
            let ends_in_time = begin(place + 1).is_none_or(|next| next >= *range.start());
            return begins_in_time && ends_in_time;
        }
        true
    }
}
