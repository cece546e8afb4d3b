//! The reference reader accepts our traces without a word of complaint, and shows the values that we wrote.
//!
//! Without babeltrace2 on the `PATH` these tests have nothing to say.

use std::sync::Arc;

use proptest::prelude::*;
use rostrace_ctf::schema::{Base, ByteOrder, Clock, Origin, Schema, Uuid};
use rostrace_ctf::value::Value;
use rostrace_ctf::writer::{EventRecord, Others, PacketEnd, PacketStart};
use rostrace_testkit::lttng::{Alignment, Context, Element, Field, HeaderForm, Kind, LttngSchema};
use rostrace_testkit::trace_writer::{MetadataForm, StreamFile, TraceOptions, TraceWriter};

use crate::support::babeltrace::{babeltrace, empty_folder};
use crate::support::pretty::line;
use crate::support::random_trace::{Profile, random_trace};

fn schema(order: ByteOrder, alignment: Alignment, form: HeaderForm) -> Schema {
    let clock = Clock {
        origin: Origin::UnixEpoch,
        offset_seconds: 1_700_000_000,
        description: Some("Monotonic \"clock\"".to_owned()),
        uuid: Some(Uuid([0xAB; 16])),
        ..Clock::implicit("monotonic")
    };
    let enumeration = Element::Enumeration {
        bits: 8,
        signed: true,
        labels: vec![
            ("NEGATIVE".to_owned(), -128, -1),
            ("some more".to_owned(), 1, 3),
        ],
    };
    LttngSchema::new(Uuid([0x5A; 16]), order, alignment, clock)
        .environment_text("hostname", "robot")
        .environment_text("domain", "ust")
        .environment_text("tracer_name", "rostrace")
        .environment_integer("tracer_major", 1)
        .environment_integer("vpid", 42)
        .stream(form, &[Context::Vpid, Context::Vtid, Context::Procname])
        .event(
            "ros2:callback_start",
            13,
            &[
                Field::address("callback"),
                Field::signed("is_intra_process", 32),
            ],
        )
        .event(
            "test:everything",
            14,
            &[
                Field::unsigned("small", 8),
                Field::one(
                    "octal",
                    Element::Integer {
                        bits: 16,
                        signed: false,
                        base: Base::Octal,
                    },
                ),
                Field::string("name"),
                Field::new("points", Kind::Sequence(Element::unsigned(64))),
                Field::new("text", Kind::TextSequence),
                Field::one("fixed", Element::Text(5)),
                Field::new("array", Kind::Array(2, Element::signed(16))),
                Field::one("float", Element::Float),
                Field::one("double", Element::Double),
                Field::one("state", enumeration),
            ],
        )
        .build()
}

const FIRST_EVENT: u64 = 5_000_000_000;

fn write_events(stream: &mut StreamFile) {
    let common = Value::Struct(vec![
        Value::Signed(42),
        Value::Signed(-43),
        Value::text("talker"),
    ]);
    let callback = Value::Struct(vec![Value::Unsigned(0x7FFF_1234_5678), Value::Signed(1)]);
    let everything = Value::Struct(vec![
        Value::Unsigned(200),
        Value::Unsigned(0o755),
        Value::text("/chatter"),
        Value::Unsigned(3),
        Value::Array(vec![
            Value::Unsigned(1),
            Value::Unsigned(2),
            Value::Unsigned(u64::MAX),
        ]),
        Value::Unsigned(4),
        Value::text("ab"),
        Value::text("fixed"),
        Value::Array(vec![Value::Signed(-1), Value::Signed(1)]),
        Value::Float(1.5),
        Value::Float(-0.25),
        Value::Signed(-5),
    ]);
    let mut time = FIRST_EVENT;
    for sequence in 0..3u64 {
        stream.begin_packet(PacketStart {
            begin: time,
            sequence,
            context: Others::Named(&[("cpu_id", Value::Unsigned(7))]),
            ..PacketStart::default()
        });
        // The last step needs the extended form of both headers.
        for (event, payload, step) in [
            (0, &callback, 0),
            (1, &everything, 1 << 26),
            (0, &callback, 1 << 33),
        ] {
            time += step;
            stream.event(&EventRecord {
                event,
                time,
                common_context: Some(&common),
                payload: Some(payload),
                ..EventRecord::default()
            });
        }
        time += 10;
        stream.close_packet(PacketEnd {
            end: time,
            discarded: 0,
        });
    }
}

#[test]
fn traces_that_look_like_those_of_lttng() {
    let mut number = 0;
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for alignment in [Alignment::Packed, Alignment::Natural] {
            for form in [HeaderForm::Compact, HeaderForm::Large] {
                for metadata in [MetadataForm::PlainText, MetadataForm::Packets] {
                    number += 1;
                    let case = format!("{order:?}, {alignment:?}, {form:?}, {metadata:?}");
                    let options = TraceOptions {
                        metadata,
                        index: number % 2 == 0,
                    };
                    check_lttng_like(schema(order, alignment, form), options, number, &case);
                }
            }
        }
    }
}

fn check_lttng_like(schema: Schema, options: TraceOptions, number: usize, case: &str) {
    let folder = empty_folder(&format!("lttng-like-{number}"));
    let trace = TraceWriter::create(&folder, Arc::new(schema), options);
    let mut stream = trace.stream("channel_0", 0, 7);
    write_events(&mut stream);
    stream.finish();
    let size = std::fs::metadata(folder.join("channel_0")).unwrap().len();
    assert_eq!(size, 3 * 4096, "{case}");

    let Some(printed) = babeltrace(&folder) else {
        return;
    };
    assert_eq!(printed.errors, "", "{case}");
    assert_eq!(printed.lines.len(), 9, "{case}");
    assert_eq!(
        printed.lines[0],
        "[00000000005000000000] robot:(42) ros2:callback_start: { cpu_id = 7 }, { vpid = 42, vtid = -43, procname = \
         \"talker\" }, { callback = 0x7FFF12345678, is_intra_process = 1 }",
        "{case}"
    );
    assert_eq!(
        printed.lines[1],
        "[00000000005067108864] robot:(42) test:everything: { cpu_id = 7 }, { vpid = 42, vtid = -43, procname = \
         \"talker\" }, { small = 200, octal = 0755, name = \"/chatter\", _points_length = 3, points = [ [0] = 1, [1] = \
         2, [2] = 18446744073709551615 ], _text_length = 4, text = \"ab\", fixed = \"fixed\", array = [ [0] = -1, [1] = 1 ], \
         float = 1.5, double = -0.25, state = ( \"NEGATIVE\" : container = -5 ) }",
        "{case}"
    );
    assert!(
        printed.lines[2].starts_with("[00000000013657043456] "),
        "{case}: {}",
        printed.lines[2]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn random_traces_of_ctf_1_are_read_as_they_were_written(trace in random_trace(Profile::Ctf1)) {
        let folder = empty_folder("random");
        trace.write(&folder);
        if let Some(printed) = babeltrace(&folder) {
            prop_assert_eq!(printed.errors, "");
            let mut expected: Vec<String> = (trace.packets.iter())
                .flat_map(|packet| packet.events.iter().map(move |event| (packet, event)))
                .map(|(packet, event)| line(&trace.schema, packet, event))
                .collect();
            let mut found = printed.lines;
            // The order of events of different streams is not what this test is about.
            expected.sort();
            found.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
