//! On which CPU, from when to when, scheduling events may be missing.
//!
//! Unlike the windows of the flows these are kept apart by CPU: a thread that runs on one that lost nothing runs there for certain.

use std::collections::BTreeSet;
use std::path::Path;

use rostrace_ctf::schema::{Cycles, Nanos};
use rostrace_ctf::{Conversion, Damage, DamageKind, Packet, Stream, Trace, TraceSet};

use super::processor::{context_number, cpu_of};
use super::timeline::Cpu;
use crate::entity::HostId;

/// The begin or end of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) at: Nanos,
    pub(super) begins: bool,
    pub(super) host: HostId,
    pub(super) cpu: Cpu,
}

const ALWAYS: (Nanos, Nanos) = (Nanos(i64::MIN), Nanos(i64::MAX));

/// The edges of all windows, in the order of time. `hosts` are those of the traces; `tells` says whether a stream class of a
/// trace has scheduling events.
pub(super) fn edges(
    set: &TraceSet,
    hosts: &[Option<HostId>],
    tells: &dyn Fn(usize, usize) -> bool,
) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (number, trace) in set.traces.iter().enumerate() {
        let Some(host) = hosts[number] else { continue };
        for missing in &trace.missing {
            if missing.class.is_some_and(|class| !tells(number, class)) {
                continue;
            }
            let (begin, end) = missing.window.unwrap_or(ALWAYS);
            for cpu in missing.processors.iter().flat_map(|range| range.clone()) {
                let Ok(cpu) = u16::try_from(cpu) else { break };
                let edge = |at: Nanos, begins: bool| Edge {
                    at,
                    begins,
                    host,
                    cpu: Cpu(cpu),
                };
                edges.extend([edge(begin, true), edge(end, false)]);
            }
        }
        for stream in &trace.streams {
            let Some(first) = stream.packets.first() else {
                continue;
            };
            if !tells(number, stream.class) {
                continue;
            }
            let cpu = cpu_of(trace, stream, first);
            for (begin, end) in windows(set, trace, stream) {
                let edge = |at: Nanos, begins: bool| Edge {
                    at,
                    begins,
                    host,
                    cpu,
                };
                edges.extend([edge(begin, true), edge(end, false)]);
            }
        }
    }
    // At the same instant one window begins before another ends, so that nothing is known between them.
    edges.sort_unstable_by_key(|edge| (edge.at, !edge.begins, edge.host, edge.cpu));
    edges
}

fn windows(set: &TraceSet, trace: &Trace, stream: &Stream) -> Vec<(Nanos, Nanos)> {
    let base = trace.time_base(stream, Conversion::Exact);
    let losses = trace.losses(stream);
    let counted = losses.iter().map(|loss| {
        loss.window
            .map_or(ALWAYS, |(from, to)| (base.nanos(from), base.nanos(to)))
    });
    let mut windows: Vec<(Nanos, Nanos)> = counted.collect();
    let files: BTreeSet<&Path> = (stream.packets.iter())
        .map(|packet| trace.path_of_packet(packet))
        .collect();
    let broken = set.damage.iter().filter(|damage| is_break(damage));
    for damage in broken.filter(|damage| files.contains(&*damage.path)) {
        windows.push(around(trace, stream, damage));
    }
    windows.retain(|(begin, end)| begin < end);
    windows
}

/// Bytes of a stream that could not be read. What the tracer itself counted is reported by the stream.
fn is_break(damage: &Damage) -> bool {
    let counted = matches!(
        damage.kind,
        DamageKind::DiscardedEvents | DamageKind::LostPackets
    );
    damage.kind.is_loss() && !counted
}

/// From the begin of the last packet before a broken place to the begin of the first one behind it.
fn around(trace: &Trace, stream: &Stream, damage: &Damage) -> (Nanos, Nanos) {
    let base = trace.time_base(stream, Conversion::Exact);
    let Some(offset) = damage.offset else {
        return ALWAYS;
    };
    let begin_of = |packet: &Packet| {
        let begin = context_number(trace, stream, packet, "timestamp_begin");
        begin.map(|begin| base.nanos(Cycles(begin)))
    };
    let in_file =
        || (stream.packets.iter()).filter(|packet| trace.path_of_packet(packet) == damage.path);
    let before = in_file().filter(|packet| packet.offset <= offset);
    let before = before.max_by_key(|packet| packet.offset);
    let last = (damage.more).and_then(|more| more.last_offset);
    let last = last.unwrap_or(offset);
    let behind = in_file().filter(|packet| packet.offset > last);
    let behind = behind.min_by_key(|packet| packet.offset);
    (
        before.map_or(ALWAYS.0, |packet| begin_of(packet).unwrap_or(ALWAYS.0)),
        behind.map_or(ALWAYS.1, |packet| begin_of(packet).unwrap_or(ALWAYS.1)),
    )
}
