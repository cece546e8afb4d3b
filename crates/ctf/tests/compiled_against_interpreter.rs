//! The compiled decoder says what the interpreter says: for random schemas, for damaged packets, for real recordings.

use std::sync::Arc;

use proptest::prelude::*;
use rostrace_ctf::schema::{ByteOrder, FieldClass, Integer, IntegerForm, Schema, Struct};
use rostrace_ctf::{DamageKind, TraceSet, metadata};

use crate::support::choices::Choices;
use crate::support::damaged;
use crate::support::random_trace::{Profile, RandomTrace, random_trace};
use rostrace_testkit::agreement::compare;

fn one_file(schema: &Arc<Schema>, bytes: Vec<u8>) -> TraceSet {
    damaged::one_file(schema, bytes, None)
}

fn check(trace: &RandomTrace) -> Result<(), TestCaseError> {
    let set = trace.open();
    let compared = compare(&set, |_, _| true).map_err(TestCaseError::fail)?;
    // Of equal neighbours one is dropped.
    let mut packets: Vec<_> = trace.packets.iter().collect();
    packets.dedup_by(|a, b| a.stream == b.stream && a.bytes == b.bytes && a.begin == b.begin);
    let events: usize = packets.iter().map(|packet| packet.events.len()).sum();
    prop_assert!(compared.events >= events as u64, "{compared:?}");
    prop_assert_eq!(compared.events_compared, compared.events);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn both_read_the_same_of_everything(trace in random_trace(Profile::Everything)) {
        check(&trace)?;
    }

    #[test]
    fn both_read_the_same_of_ctf_1(trace in random_trace(Profile::Ctf1)) {
        check(&trace)?;
    }

    #[test]
    fn both_read_the_same_before_the_first_trouble(
        trace in random_trace(Profile::Everything),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u32..8), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        for packet in &trace.packets {
            let mut bytes = packet.bytes.clone();
            if bytes.is_empty() {
                continue;
            }
            for (place, bit) in &flips {
                let place = place.index(bytes.len());
                bytes[place] ^= 1 << bit;
            }
            if let Some(cut) = &cut {
                bytes.truncate(cut.index(bytes.len()) + 1);
            }
            compare(&one_file(&trace.schema, bytes), |_, _| true).map_err(TestCaseError::fail)?;
        }
    }
}

/// Turns the byte order of some bit fields, so that two orders meet inside a byte.
fn turn(class: &mut FieldClass, choices: &mut Choices) {
    match class {
        FieldClass::Integer(Integer {
            form: IntegerForm::Fixed(bits),
            ..
        })
        | FieldClass::Float(bits)
        | FieldClass::BitArray(bits)
        | FieldClass::Boolean { bits, .. }
        | FieldClass::BitMap { bits, .. } => {
            let other = match bits.order {
                ByteOrder::Little => ByteOrder::Big,
                ByteOrder::Big => ByteOrder::Little,
            };
            bits.order = choices.one_of(&[bits.order, bits.order, other]);
        }
        FieldClass::Struct(structure) => turn_members(structure, choices),
        FieldClass::Array { element, .. } => turn(element, choices),
        FieldClass::Optional { class, .. } => turn(class, choices),
        FieldClass::Variant { options, .. } => {
            (options.iter_mut()).for_each(|option| turn(&mut option.class, choices));
        }
        _ => {}
    }
}

fn turn_members(structure: &mut Struct, choices: &mut Choices) {
    (structure.members.iter_mut()).for_each(|member| turn(&mut member.class, choices));
}

fn with_turned_orders(schema: &Schema, tape: Vec<u32>) -> Arc<Schema> {
    let mut choices = Choices::new(tape);
    let mut schema = schema.clone();
    for stream in &mut schema.streams {
        let scopes = (stream.event_header.iter_mut())
            .chain(&mut stream.event_context)
            .chain(
                (stream.events.iter_mut())
                    .flat_map(|event| event.context.iter_mut().chain(&mut event.payload)),
            );
        scopes.for_each(|scope| turn_members(scope, &mut choices));
    }
    Arc::new(schema)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    /// The bytes mean something else then, which is as good as random.
    #[test]
    fn both_refuse_the_same_meetings_of_byte_orders(
        trace in random_trace(Profile::Everything),
        tape in prop::collection::vec(any::<u32>(), 100),
    ) {
        let schema = with_turned_orders(&trace.schema, tape);
        for packet in &trace.packets {
            let set = one_file(&schema, packet.bytes.clone());
            compare(&set, |_, _| true).map_err(TestCaseError::fail)?;
        }
    }
}

fn tsdl_schema(text: &str) -> Arc<Schema> {
    Arc::new(metadata::read(text.as_bytes()).unwrap().schema)
}

fn json_schema(fragments: &[&str]) -> Arc<Schema> {
    let text: String = (fragments.iter())
        .map(|fragment| format!("\u{1e}{fragment}\n"))
        .collect();
    Arc::new(metadata::read(text.as_bytes()).unwrap().schema)
}

#[test]
fn arrays_larger_than_any_packet_are_out_of_bits() {
    let schema = tsdl_schema(
        "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; }; stream { };
         typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 5; align = 1; } := u5;
         event { name = \"e\"; fields := struct {
             u8 a; u5 b[0xFFFFFFFFFFFFFFFF]; u8 c; u5 d[0xFFFFFFFFFFFFFFFF]; string e;
             integer { size = 64; align = 64; } f; }; };",
    );
    let compared = compare(&one_file(&schema, vec![1; 64]), |_, _| true).unwrap();
    assert_eq!((compared.packets, compared.events), (1, 0));
}

#[test]
fn a_content_size_of_all_ones_alone_is_an_open_packet() {
    let schema = tsdl_schema(
        "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
         typealias integer { size = 64; align = 8; } := u64;
         stream { packet.context := struct { u64 content_size; }; };
         event { name = \"e\"; fields := struct { u64 x; }; };",
    );
    let bytes: Vec<u8> = ([u64::MAX, 7, 8, 0, 0].iter())
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let set = one_file(&schema, bytes);
    assert_eq!(set.damage[0].kind, DamageKind::OpenPacket);
    assert_eq!(compare(&set, |_, _| true).unwrap().events, 2);
}

#[test]
fn a_tenth_byte_of_a_variable_length_integer_is_one_or_an_error() {
    let schema = json_schema(&[
        r#"{"type": "preamble", "version": 2}"#,
        r#"{"type": "data-stream-class"}"#,
        r#"{"type": "event-record-class", "payload-field-class": {"type": "structure", "member-classes":
            [{"name": "x", "field-class": {"type": "variable-length-unsigned-integer"}}]}}"#,
    ]);
    for (last, events) in [(0, 0), (1, 1), (2, 0)] {
        let mut bytes = vec![0x80; 9];
        bytes.push(last);
        let compared = compare(&one_file(&schema, bytes), |_, _| true).unwrap();
        assert_eq!(compared.events, events, "{last}");
    }
}

#[test]
fn an_optional_length_of_one_packet_says_nothing_about_the_next() {
    let schema = json_schema(&[
        r#"{"type": "preamble", "version": 2}"#,
        r#"{"type": "field-class-alias", "name": "u8", "field-class":
            {"type": "fixed-length-unsigned-integer", "length": 8, "alignment": 8, "byte-order": "little-endian"}}"#,
        r#"{"type": "data-stream-class", "packet-context-field-class": {"type": "structure", "member-classes": [
            {"name": "size", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8, "alignment": 8,
                "byte-order": "little-endian", "roles": ["packet-total-length"]}},
            {"name": "has", "field-class": {"type": "fixed-length-boolean", "length": 8, "alignment": 8,
                "byte-order": "little-endian"}},
            {"name": "maybe", "field-class": {"type": "optional", "field-class": "u8",
                "selector-field-location": {"path": ["has"]}}}]}}"#,
        r#"{"type": "event-record-class", "payload-field-class": {"type": "structure", "member-classes": [
            {"name": "x", "field-class": "u8"},
            {"name": "blob", "field-class": {"type": "dynamic-length-blob",
                "length-field-location": {"origin": "packet-context", "path": ["maybe"]}}}]}}"#,
    ]);
    // Six bytes with one event and two bytes of BLOB, four bytes with two events and none.
    let bytes = vec![48, 1, 2, 10, 20, 30, 32, 0, 11, 12];
    let compared = compare(&one_file(&schema, bytes), |_, _| true).unwrap();
    assert_eq!((compared.packets, compared.events), (2, 3));
}

const U8: &str = r#"{"type": "fixed-length-unsigned-integer", "length": 8, "alignment": 8, "byte-order": "little-endian"}"#;

/// The header has an id if its first byte is not 0.
fn optional_ids(ids: &[u64]) -> Arc<Schema> {
    let stream = r#"{"type": "data-stream-class", "event-record-header-field-class": {"type": "structure", "member-classes": [
            {"name": "has", "field-class": {"type": "fixed-length-boolean", "length": 8, "alignment": 8,
                "byte-order": "little-endian"}},
            {"name": "id", "field-class": {"type": "optional", "selector-field-location": {"path": ["has"]},
                "field-class": {"type": "fixed-length-unsigned-integer", "length": 8, "alignment": 8,
                    "byte-order": "little-endian", "roles": ["event-record-class-id"]}}}]}}"#;
    let events = ids.iter().map(|id| {
        format!(
            r#"{{"type": "event-record-class", "id": {id}, "payload-field-class":
                {{"type": "structure", "member-classes": [{{"name": "x", "field-class": {U8}}}]}}}}"#
        )
    });
    let mut fragments = vec![
        r#"{"type": "preamble", "version": 2}"#.to_owned(),
        stream.to_owned(),
    ];
    fragments.extend(events);
    let fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
    json_schema(&fragments)
}

#[test]
fn an_event_without_an_id_is_of_the_only_class_or_of_none() {
    let bytes = vec![0, 1, 1, 7, 2, 0, 3];
    for (ids, events) in [(&[7][..], 3), (&[0, 7], 0)] {
        let set = one_file(&optional_ids(ids), bytes.clone());
        assert_eq!(
            compare(&set, |_, _| true).unwrap().events,
            events,
            "{ids:?}"
        );
    }
}
