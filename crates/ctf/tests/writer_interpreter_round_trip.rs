//! What the writer writes, the interpreter reads: for random schemas and random values.
//!
//! Both were written from the same text, so this shows that they agree with each other; that they agree with
//! the rest of the world is shown in `babeltrace_reads_what_we_write.rs`.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rostrace_ctf::schema::{Role, Schema};
use rostrace_ctf::value::Value;
use rostrace_testkit::interpret::{Interpreter, Stop};

use crate::support::random_trace::{
    Profile, RandomPacket, RandomTrace, equal_but_roles, random_trace,
};

fn check(trace: &RandomTrace) -> Result<(), TestCaseError> {
    for packet in &trace.packets {
        let mut interpreter = Interpreter::new(&trace.schema, &packet.bytes, packet.clock_before);
        check_headers(&trace.schema, packet, &interpreter)?;
        let events: Vec<_> = (&mut interpreter)
            .collect::<Result<_, Stop>>()
            .map_err(|stop| TestCaseError::fail(format!("the interpreter stopped {stop}")))?;
        prop_assert_eq!(events.len(), packet.events.len());
        let class = &trace.schema.streams[packet.stream];
        for (read, written) in events.iter().zip(&packet.events) {
            prop_assert_eq!(read.stream, packet.stream);
            prop_assert_eq!(read.event, written.event);
            if class.clock.is_some() {
                prop_assert_eq!(read.clock.0, written.time);
            }
            if let (Some(header), Some(read), Some(written)) =
                (&class.event_header, &read.header, &written.header)
            {
                prop_assert!(equal_but_roles(header, read, written));
            }
            prop_assert_eq!(&read.common_context, &written.common_context);
            prop_assert_eq!(&read.specific_context, &written.specific_context);
            prop_assert_eq!(&read.payload, &written.payload);
            prop_assert_eq!((read.begin, read.end), (written.begin, written.end));
        }
        prop_assert_eq!(interpreter.clock(), packet.clock_after);
    }
    Ok(())
}

fn check_headers(
    schema: &Schema,
    packet: &RandomPacket,
    interpreter: &Interpreter<'_>,
) -> Result<(), TestCaseError> {
    let roles = interpreter.roles();
    let class = &schema.streams[packet.stream];
    prop_assert_eq!(interpreter.stream(), Some(packet.stream));
    let expected = [
        (Role::PacketMagic, roles.magic, 0xC1FC_1FC1),
        (Role::StreamClassId, roles.stream_class_id, class.id),
        (
            Role::StreamInstanceId,
            roles.stream_instance_id,
            packet.instance,
        ),
        (Role::ContentSize, roles.content_size, packet.content_size),
        (
            Role::PacketSize,
            roles.packet_size,
            packet.bytes.len() as u64 * 8,
        ),
        (Role::TimestampBegin, roles.timestamp_begin, packet.begin),
        (Role::TimestampEnd, roles.timestamp_end, packet.end),
    ];
    for (role, read, written) in expected {
        prop_assert!(read.is_none_or(|read| read == written), "{role:?}");
    }
    // Counters may have 32 bits and wrap around.
    for (read, written) in [
        (roles.events_discarded, packet.discarded),
        (roles.sequence, packet.sequence),
    ] {
        prop_assert!(read.is_none_or(|read| read == written || read == written & 0xFFFF_FFFF));
    }
    if schema.packet_header_uuid.is_some() {
        prop_assert_eq!(interpreter.uuid(), schema.uuid);
    }
    for (structure, read, written) in [
        (&schema.packet_header, interpreter.header(), &packet.header),
        (
            &class.packet_context,
            interpreter.context(),
            &packet.context,
        ),
    ] {
        prop_assert_eq!(read.is_some(), written.is_some());
        if let (Some(structure), Some(read), Some(written)) = (structure, read, written) {
            prop_assert!(equal_but_roles(structure, read, written));
        }
    }
    Ok(())
}

/// The kinds of values in a tree, and of those inside.
fn kinds(value: &Value, found: &mut BTreeSet<&'static str>) {
    found.insert(value.kind());
    match value {
        Value::Struct(values) | Value::Array(values) => {
            values.iter().for_each(|value| kinds(value, found));
        }
        Value::Optional(Some(value)) | Value::Variant(_, value) => kinds(value, found),
        _ => {}
    }
}

/// A generator that stops making something would make the other tests silent about it.
#[test]
fn random_traces_have_values_of_all_kinds() {
    let mut runner = TestRunner::deterministic();
    let mut found = BTreeSet::new();
    let mut events = 0;
    for _ in 0..200 {
        let trace = random_trace(Profile::Everything)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        for event in trace.packets.iter().flat_map(|packet| &packet.events) {
            events += 1;
            event
                .payload
                .iter()
                .for_each(|value| kinds(value, &mut found));
        }
    }
    assert_eq!(found.len(), 11, "{found:?}");
    assert!(events > 1000, "{events}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn the_interpreter_reads_what_the_writer_writes(trace in random_trace(Profile::Everything)) {
        check(&trace)?;
    }

    #[test]
    fn the_interpreter_reads_what_the_writer_writes_of_ctf_1(trace in random_trace(Profile::Ctf1)) {
        check(&trace)?;
    }

    #[test]
    fn the_interpreter_never_panics_on_damage(
        trace in random_trace(Profile::Everything),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        for packet in &trace.packets {
            let mut bytes = packet.bytes.clone();
            if bytes.is_empty() {
                continue;
            }
            let place = place.index(bytes.len());
            bytes[place] = byte;
            bytes.truncate(cut.index(bytes.len()) + 1);
            let mut interpreter = Interpreter::new(&trace.schema, &bytes, 0);
            let mut position = 0;
            for event in (&mut interpreter).flatten() {
                prop_assert!(event.begin >= position && event.end > event.begin);
                position = event.end;
            }
            prop_assert!(position <= bytes.len() as u64 * 8);
        }
    }
}
