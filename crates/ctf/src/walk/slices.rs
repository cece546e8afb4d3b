//! Cutting a trace into stretches of time, so that ordered work can be shared among threads.

use std::ops::Range;

use crate::schema::{Cycles, Nanos};
use crate::trace::time::Conversion;
use crate::trace::{Stream, Trace, TraceSet};
use crate::walk::Selection;

/// Adjoining ranges of time with about `bytes` bytes of packets each, which together cover the selection's. Cursors
/// over them yield every selected event exactly once. One range if the streams cannot be entered in the middle.
pub fn slices(
    set: &TraceSet,
    conversion: Conversion,
    selection: &Selection,
    bytes: u64,
) -> Vec<Range<Nanos>> {
    let whole = selection.range();
    let streams = || (set.streams()).map(|id| (set.trace_of(id), set.stream(id)));
    let is_divisible =
        |(trace, stream): (&Trace, &Stream)| !stream.sequential && trace.clock_of(stream).is_some();
    if !streams().all(is_divisible) {
        return vec![whole];
    }
    let mut begins: Vec<(Nanos, u64)> = Vec::new();
    for (trace, stream) in streams() {
        let time = trace.time_base(stream, conversion);
        let packets = stream.packets.iter();
        begins.extend(packets.map(|packet| (time.nanos(Cycles(packet.begin)), packet.size)));
    }
    begins.sort_unstable();
    let mut ranges = Vec::new();
    let mut start = whole.start;
    let mut gathered = 0;
    for (begin, size) in begins {
        if gathered >= bytes && begin > start && begin < whole.end {
            ranges.push(start..begin);
            start = begin;
            gathered = 0;
        }
        if begin >= start {
            gathered += size;
        }
    }
    ranges.push(start..whole.end);
    ranges
}
