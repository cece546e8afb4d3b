//! Clocks and the fields that advance them.

use super::*;
use crate::schema::{Origin, Role};

#[test]
fn all_attributes_of_a_clock_are_read() {
    let schema = schema(
        "clock { name = \"c\"; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"; description = \"d\"; freq = 1000;
                 precision = 7; offset_s = -3; offset = 18446744073709551615; absolute = true; };
         clock { name = plain; };",
    );
    let clock = &schema.clocks[0];
    assert_eq!((clock.id.as_str(), clock.frequency), ("c", 1000));
    assert_eq!(clock.identity.name.as_deref(), Some("c"));
    assert_eq!(clock.precision, Some(7));
    assert_eq!((clock.offset_seconds, clock.offset_cycles), (-3, u64::MAX));
    assert_eq!(clock.origin, Origin::UnixEpoch);
    assert!(clock.uuid.is_some());
    let plain = &schema.clocks[1];
    assert_eq!(plain.frequency, 1_000_000_000);
    assert_eq!(plain.origin, Origin::Unknown);
}

#[test]
fn impossible_clocks_are_refused() {
    let two = "clock { name = a; }; clock { name = b; };";
    let header = "stream { event.header := struct { u8 timestamp; }; };";
    let both = "integer { size = 8; map = clock.a.value; } x; integer { size = 8; map = clock.b.value; } y;";
    all_refused(
        r#"
        clock { }; => no name
        clock { name = a; freq = 0; }; => cannot be 0
        clock { name = a; offset = -1; }; => unsigned
        clock { name = a; }; clock { name = a; }; => already a clock named 'a'
        "#,
    );
    assert!(refused(&format!("{two}\n{header}")).contains("several clocks"));
    assert!(
        refused(&event(two, both))
            .contains("mapped to the clock 'b', but others of its stream class to 'a'")
    );
    assert!(refused(&format!("{two}\n{header}")).starts_with("line 2"));
}

#[test]
fn the_monotonic_clock_of_lttng_counts_from_1970() {
    for (tracer, clock, origin) in [
        ("lttng-ust", "monotonic", Origin::UnixEpoch),
        ("lttng-modules", "monotonic", Origin::UnixEpoch),
        ("lttng-ust", "other", Origin::Unknown),
        ("barectf", "monotonic", Origin::Unknown),
    ] {
        let blocks = format!("env {{ tracer_name = \"{tracer}\"; }}; clock {{ name = {clock}; }};");
        assert_eq!(schema(&blocks).clocks[0].origin, origin, "{blocks}");
    }
}

const MAPPED: &str = "typealias integer { size = 32; map = clock.c.value; } := time;
    clock { name = c; };";

#[test]
fn a_map_may_precede_its_clock_and_every_mapped_integer_advances_it() {
    let schema = schema(&format!(
        "{MAPPED} stream {{ packet.context := struct {{ time timestamp_begin; time timestamp_end; time other; }};
             event.header := struct {{ time timestamp; }}; event.context := struct {{ struct {{ time a[2]; }} s; }}; }};
         event {{ name = e; fields := struct {{ time timestamp_end; }}; }};"
    ));
    let stream = &schema.streams[0];
    assert_eq!(stream.clock, Some(0));
    let packet = stream.packet_context.as_ref().unwrap();
    let marks = |structure: &Struct, name: &str| {
        let integer = integer(structure, name);
        (integer.role, integer.updates_clock)
    };
    let begin = (Some(Role::TimestampBegin), true);
    assert_eq!(marks(packet, "timestamp_begin"), begin);
    let end = (Some(Role::TimestampEnd), false);
    assert_eq!(marks(packet, "timestamp_end"), end);
    assert_eq!(marks(packet, "other"), (None, true));
    let header = stream.event_header.as_ref().unwrap();
    assert_eq!(marks(header, "timestamp"), (Some(Role::Timestamp), true));
    let payload = stream.events[0].payload.as_ref().unwrap();
    assert_eq!(marks(payload, "timestamp_end"), (None, true));
}

#[test]
fn a_clock_that_only_an_event_uses_is_the_clock_of_its_stream() {
    let schema = schema(&event(MAPPED, "time a;"));
    assert_eq!(schema.streams[0].clock, Some(0));
}

#[test]
fn timestamps_without_a_map_use_the_only_clock() {
    let schema = schema(
        "clock { name = c; freq = 5; };
         stream { packet.context := struct { u8 timestamp_begin; u8 timestamp_end; };
                  event.header := struct { struct { u8 timestamp; } s; }; };",
    );
    let stream = &schema.streams[0];
    assert_eq!(stream.clock, Some(0));
    let packet = stream.packet_context.as_ref().unwrap();
    assert!(integer(packet, "timestamp_begin").updates_clock);
    assert!(!integer(packet, "timestamp_end").updates_clock);
    let header = stream.event_header.as_ref().unwrap();
    assert!(integer(nested(header, "s"), "timestamp").updates_clock);
}

#[test]
fn timestamps_of_a_trace_without_clocks_make_a_default_clock() {
    let first = schema("stream { event.header := struct { u8 timestamp; }; };");
    assert_eq!(first.clocks[0].id, "default");
    assert_eq!(first.clocks[0].frequency, 1_000_000_000);
    assert_eq!(first.streams[0].clock, Some(0));
    let second = schema("stream { event.header := struct { u8 id; }; };");
    assert_eq!((second.clocks.len(), second.streams[0].clock), (0, None));
}

#[test]
fn a_signed_integer_cannot_advance_a_clock() {
    let metadata = read(&event(
        "clock { name = a; };",
        "integer { size = 8; signed = true; map = clock.a.value; } x;",
    ));
    let event = &metadata.schema.streams[0].events[0];
    assert!(!integer(event.payload.as_ref().unwrap(), "x").updates_clock);
    assert_eq!(metadata.warnings.len(), 1);
}
