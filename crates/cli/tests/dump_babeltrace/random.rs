//! Any recording that a hand could make, within what babeltrace2 repairs.

use proptest::prelude::*;

use crate::dump_babeltrace::made::{Event, Packet, Recording, Trace, Tracer, one};

fn texts() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        3 => Just(""),
        4 => prop::sample::select(vec!["a", "bb", "c?\"", "dddd", "a longer text", "\u{fc}"]),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let process = prop_oneof![2 => Just("ps"), 1 => Just(""), 1 => Just("abc")];
    (
        prop_oneof![Just(0u64), Just(1), 0..4u64],
        0..4u8,
        process,
        prop::collection::vec(texts(), 1..8),
        any::<u8>(),
    )
        .prop_map(|(wait, class, process, texts, choice)| Event {
            wait,
            class,
            process,
            texts,
            choice,
        })
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let size = prop_oneof![Just(0..1usize), Just(1..4), Just(3..20), Just(10..40)];
    let events = size.prop_flat_map(|size| prop::collection::vec(event(), size));
    let lost = prop_oneof![3 => Just(0u64), 1 => 1..3u64];
    let packet = (0..4u64, lost.clone(), lost, texts(), events, 0..3u64).prop_map(
        |(gap, lost_events, lost_packets, label, events, tail)| Packet {
            gap,
            lost_events,
            lost_packets,
            label,
            events,
            tail,
        },
    );
    prop::collection::vec(packet, 1..7)
}

fn any_trace() -> impl Strategy<Value = Trace> {
    let tracer = prop::sample::select(vec![
        Tracer::Unknown,
        Tracer::Unknown,
        Tracer::OldLttng,
        Tracer::Lttng,
        Tracer::OldBarectf,
    ]);
    (
        prop::option::of(any::<u8>()),
        tracer,
        prop::bool::weighted(0.8),
        prop::collection::vec(packets(), 1..7),
    )
        .prop_map(|(uuid, tracer, has_end, mut streams)| {
            // babeltrace2 repairs these, but not their losses, and ends a stream at barectf's first packet without events.
            for packet in streams.iter_mut().flatten() {
                if matches!(tracer, Tracer::OldLttng | Tracer::OldBarectf) {
                    packet.lost_events = 0;
                    packet.lost_packets = 0;
                }
                if tracer == Tracer::OldBarectf && packet.events.is_empty() {
                    packet.events.push(one("", 1));
                }
            }
            Trace {
                uuid,
                tracer,
                has_end: has_end || tracer != Tracer::Unknown,
                streams,
            }
        })
}

pub fn any_recording() -> impl Strategy<Value = Recording> {
    (
        prop::collection::vec(any_trace(), 1..4),
        prop::bool::weighted(0.85),
    )
        .prop_map(|(mut traces, clock)| {
            for (number, trace) in traces.iter_mut().enumerate() {
                // Equal UUIDs would make one trace of two.
                trace.uuid = trace.uuid.map(|byte| byte & 0xFC | number as u8);
                if !clock {
                    trace.tracer = Tracer::Unknown;
                }
            }
            Recording { traces, clock }
        })
}
