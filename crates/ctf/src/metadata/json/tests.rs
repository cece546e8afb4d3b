//! The rules of CTF 2 metadata, each with the smallest text that shows it.

use crate::metadata::{self, Metadata};
use crate::schema::{
    Base, ByteOrder, Encoding, EnvironmentValue, FieldClass, Identity, IntegerForm, Length, Origin,
    Range, Role, Schema, Slot, Struct, Version,
};

const PREAMBLE: &str = r#"{"type": "preamble", "version": 2}"#;
const STREAM: &str = r#"{"type": "data-stream-class"}"#;

const U8: &str =
    r#""type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian""#;
const S8: &str =
    r#""type": "fixed-length-signed-integer", "length": 8, "byte-order": "little-endian""#;

fn try_read(fragments: &[&str]) -> Result<Metadata, String> {
    let text: String = fragments
        .iter()
        .map(|fragment| format!("\x1E{fragment}\n"))
        .collect();
    metadata::read(text.as_bytes()).map_err(|error| error.to_string())
}

fn schema(fragments: &[&str]) -> Schema {
    try_read(fragments).unwrap().schema
}

fn refused(fragments: &[&str]) -> String {
    match try_read(fragments) {
        Ok(metadata) => panic!("should be refused: {:?}", metadata.schema),
        Err(error) => error,
    }
}

/// An event record class with these members: `name`, field class.
fn event(members: &[(&str, &str)]) -> String {
    let payload = structure(members);
    format!(r#"{{"type": "event-record-class", "payload-field-class": {payload}}}"#)
}

fn structure(members: &[(&str, &str)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, class)| format!(r#"{{"name": "{name}", "field-class": {class}}}"#))
        .collect();
    let members = members.join(", ");
    format!(r#"{{"type": "structure", "member-classes": [{members}]}}"#)
}

fn payload(members: &[(&str, &str)]) -> Struct {
    let mut schema = schema(&[PREAMBLE, STREAM, &event(members)]);
    schema.streams[0].events[0].payload.take().unwrap()
}

fn refused_payload(members: &[(&str, &str)]) -> String {
    refused(&[PREAMBLE, STREAM, &event(members)])
}

fn class<'s>(structure: &'s Struct, name: &str) -> &'s FieldClass {
    &structure.member(name).expect(name).class
}

fn slot(structure: &Struct, name: &str) -> Option<Slot> {
    match class(structure, name) {
        FieldClass::Integer(integer) => integer.slot,
        FieldClass::Boolean { slot, .. } => *slot,
        other => panic!("{name} should have a slot, but is {other:?}"),
    }
}

#[test]
fn the_smallest_trace_has_a_preamble_and_a_data_stream_class() {
    let schema = schema(&[PREAMBLE, STREAM]);
    assert_eq!((schema.version, schema.uuid), (Version::Ctf2, None));
    assert_eq!((schema.streams.len(), schema.streams[0].id), (1, 0));
    assert!(refused(&[PREAMBLE]).contains("no data stream class"));
    assert!(refused(&[STREAM]).contains("not the preamble"));
    assert!(refused(&[PREAMBLE, PREAMBLE]).contains("second preamble"));
    let later = r#"{"type": "preamble", "version": 3}"#;
    assert!(refused(&[later]).contains("'version' must be 2, but is 3"));
}

#[test]
fn repeated_separators_are_skipped() {
    let text = format!("\x1E\x1E\n\x1E{PREAMBLE}\x1E{STREAM}");
    assert!(metadata::read(text.as_bytes()).is_ok());
}

#[test]
fn a_fragment_without_its_end_is_left_out() {
    let text = format!("\x1E{PREAMBLE}\n\x1E{STREAM}\n\x1E{{\"type\": \"event-rec");
    let metadata = metadata::read(text.as_bytes()).unwrap();
    assert_eq!(metadata.schema.streams[0].events.len(), 0);
    assert!(metadata.cut_short.unwrap().starts_with("line 3"));
    let text = format!("\x1E{PREAMBLE}\n\x1E{{\"type\": \x1E{STREAM}\n");
    assert!(metadata::read(text.as_bytes()).is_err());
}

#[test]
fn the_trace_class_has_an_identity_and_an_environment() {
    let preamble =
        r#"{"type": "preamble", "version": 2, "uuid": [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255]}"#;
    let trace = r#"{"type": "trace-class", "namespace": "n", "name": "t", "uid": "u",
        "environment": {"a": -1, "b": "text"}, "attributes": {"x": null}}"#;
    let schema = schema(&[preamble, trace, STREAM]);
    assert_eq!(schema.uuid.unwrap().0[15], 255);
    assert_eq!(
        schema.identity,
        Identity {
            namespace: Some("n".to_owned()),
            name: Some("t".to_owned()),
            uid: Some("u".to_owned())
        }
    );
    assert_eq!(
        schema.environment,
        [
            ("a".to_owned(), EnvironmentValue::Integer(-1)),
            ("b".to_owned(), EnvironmentValue::Text("text".to_owned()))
        ]
    );
    assert!(refused(&[PREAMBLE, STREAM, trace]).contains("after a data stream class"));
    assert!(refused(&[PREAMBLE, trace, trace]).contains("second trace class"));
}

#[test]
fn a_clock_class_has_an_origin_and_an_offset() {
    let clock = r#"{"type": "clock-class", "id": "c", "frequency": 1000, "name": "n", "precision": 3, "accuracy": 4,
        "origin": "unix-epoch", "offset-from-origin": {"seconds": -5, "cycles": 999}, "description": "d"}"#;
    let other = r#"{"type": "clock-class", "id": "d", "frequency": 1, "origin": {"name": "x", "uid": "y"}}"#;
    let plain = r#"{"type": "clock-class", "id": "e", "frequency": 1}"#;
    let schema = schema(&[PREAMBLE, clock, other, plain, STREAM]);
    let clock = &schema.clocks[0];
    assert_eq!(
        (clock.id.as_str(), clock.frequency, clock.precision),
        ("c", 1000, Some(3))
    );
    assert_eq!(clock.identity.name.as_deref(), Some("n"));
    assert_eq!((clock.offset_seconds, clock.offset_cycles), (-5, 999));
    assert_eq!(clock.origin, Origin::UnixEpoch);
    assert!(
        matches!(&schema.clocks[1].origin, Origin::Custom(identity) if identity.uid.as_deref() == Some("y"))
    );
    assert_eq!(schema.clocks[2].origin, Origin::Unknown);
    for (fragment, reason) in [
        (
            r#"{"type": "clock-class", "frequency": 1}"#,
            "no property 'id'",
        ),
        (
            r#"{"type": "clock-class", "id": "c"}"#,
            "no property 'frequency'",
        ),
        (
            r#"{"type": "clock-class", "id": "c", "frequency": 0}"#,
            "at least 1",
        ),
        (
            r#"{"type": "clock-class", "id": "c", "frequency": 5, "offset-from-origin": {"cycles": 5}}"#,
            "less than the frequency",
        ),
    ] {
        assert!(
            refused(&[PREAMBLE, fragment]).contains(reason),
            "{fragment}"
        );
    }
    assert!(refused(&[PREAMBLE, plain, plain]).contains("already a clock class"));
}

#[test]
fn unknown_things_are_refused_with_their_place() {
    for (fragment, reason) in [
        (
            r#"{"type": "data-stream-class", "colour": 1}"#,
            "unknown property 'colour'",
        ),
        (
            r#"{"type": "colour"}"#,
            "no type of fragment named 'colour'",
        ),
        (
            r#"{"type": "data-stream-class", "extensions": {"n": {"x": true}}}"#,
            "extension of 'n'",
        ),
        (
            r#"{"type": "data-stream-class", "attributes": 3}"#,
            "must be an object",
        ),
        (r#"{"id": 1}"#, "no property 'type'"),
        ("[]", "must be an object"),
        (
            r#"{"type": "data-stream-class", "id": 1, "id": 2}"#,
            "'id' twice",
        ),
        (r#"{"type": "data-stream-class", "id": -1}"#, "unsigned"),
        (
            r#"{"type": "data-stream-class", "default-clock-class-id": "x"}"#,
            "no clock class",
        ),
        (
            r#"{"type": "event-record-class"}"#,
            "no data stream class with the id 0",
        ),
        (
            r#"{"type": "data-stream-class", "packet-context-field-class": {"type": "null-terminated-string"}}"#,
            "must be a structure",
        ),
    ] {
        let error = refused(&[PREAMBLE, fragment]);
        assert!(error.contains(reason), "{fragment}: {error}");
        assert!(error.starts_with("line 2, column "), "{error}");
    }
    assert!(refused(&[PREAMBLE, STREAM, STREAM]).contains("already a data stream class"));
    let event = r#"{"type": "event-record-class"}"#;
    assert!(refused(&[PREAMBLE, STREAM, event, event]).contains("already an event record class"));
}

#[test]
fn an_event_record_class_may_have_a_log_level_and_a_uri() {
    let schema = schema(&[
        PREAMBLE,
        STREAM,
        r#"{"type": "event-record-class", "name": "e", "attributes":
            {"lttng.org,2009": {"log-level": "debug:line", "emf-uri": "u"}, "other": 1}}"#,
    ]);
    let event = &schema.streams[0].events[0];
    assert_eq!(
        (event.name.as_deref(), event.log_level),
        (Some("e"), Some(13))
    );
    assert_eq!(event.emf_uri.as_deref(), Some("u"));
    let metadata = try_read(&[
        PREAMBLE,
        STREAM,
        r#"{"type": "event-record-class", "attributes": {"babeltrace.org,2020": {"log-level": "loud"}}}"#,
    ])
    .unwrap();
    assert_eq!(metadata.schema.streams[0].events[0].name, None);
    assert_eq!(metadata.warnings.len(), 1);
}

#[test]
fn integers_have_mappings_bases_and_bit_orders() {
    let fields = payload(&[
        (
            "a",
            &format!(
                r#"{{{U8}, "alignment": 16, "preferred-display-base": 16, "bit-order": "last-to-first"}}"#
            ),
        ),
        (
            "b",
            &format!(r#"{{{S8}, "mappings": {{"x": [[-3, -1], [5, 5]]}}}}"#),
        ),
        (
            "c",
            r#"{"type": "variable-length-unsigned-integer", "mappings": {"max": [[0, 18446744073709551615]]}}"#,
        ),
    ]);
    let FieldClass::Integer(a) = class(&fields, "a") else {
        panic!("should be an integer")
    };
    assert_eq!(a.base, Base::Hexadecimal);
    assert!(matches!(a.form, IntegerForm::Fixed(bits)
        if bits.reversed && bits.align == 16 && bits.order == ByteOrder::Little));
    let FieldClass::Integer(b) = class(&fields, "b") else {
        panic!("should be an integer")
    };
    let labels = &b.mappings.as_ref().unwrap().labels;
    assert_eq!(labels[0].ranges[0], Range { low: -3, high: -1 });
    let FieldClass::Integer(c) = class(&fields, "c") else {
        panic!("should be an integer")
    };
    assert_eq!((c.form, c.signed), (IntegerForm::Variable, false));
    assert_eq!(fields.align, 16);
}

#[test]
fn all_other_simple_field_classes_are_read() {
    let bits = r#""length": 20, "byte-order": "big-endian""#;
    let fields = payload(&[
        (
            "array",
            &format!(r#"{{"type": "fixed-length-bit-array", {bits}}}"#),
        ),
        (
            "map",
            &format!(
                r#"{{"type": "fixed-length-bit-map", {bits}, "flags": {{"a": [[0, 0], [2, 3]], "b": [[0, 19]]}}}}"#
            ),
        ),
        (
            "boolean",
            &format!(r#"{{"type": "fixed-length-boolean", {bits}}}"#),
        ),
        (
            "float",
            r#"{"type": "fixed-length-floating-point-number", "length": 32, "byte-order": "big-endian"}"#,
        ),
        (
            "string",
            r#"{"type": "null-terminated-string", "encoding": "utf-16le"}"#,
        ),
        ("text", r#"{"type": "static-length-string", "length": 5}"#),
        (
            "blob",
            r#"{"type": "static-length-blob", "length": 3, "media-type": "image/png"}"#,
        ),
        (
            "list",
            r#"{"type": "static-length-array", "length": 2, "minimum-alignment": 64, "element-field-class": {"type": "null-terminated-string"}}"#,
        ),
        ("inner", r#"{"type": "structure", "minimum-alignment": 32}"#),
    ]);
    assert!(matches!(class(&fields, "array"), FieldClass::BitArray(bits) if bits.size == 20));
    let FieldClass::BitMap { flags, .. } = class(&fields, "map") else {
        panic!("should be a bit map")
    };
    assert_eq!((flags[0].mask, flags[1].mask), (0b1101, 0xF_FFFF));
    assert!(matches!(
        class(&fields, "boolean"),
        FieldClass::Boolean { slot: None, .. }
    ));
    assert!(matches!(class(&fields, "float"), FieldClass::Float(bits) if bits.size == 32));
    assert_eq!(
        class(&fields, "string"),
        &FieldClass::String {
            encoding: Encoding::Utf16Le
        }
    );
    assert!(matches!(
        class(&fields, "text"),
        FieldClass::Text {
            length: Length::Fixed(5),
            ..
        }
    ));
    assert!(matches!(class(&fields, "blob"),
        FieldClass::Blob { length: Length::Fixed(3), media_type: Some(name) } if &**name == "image/png"));
    assert_eq!(class(&fields, "list").alignment(), 64);
    assert_eq!(class(&fields, "inner").alignment(), 32);
}

#[test]
fn impossible_field_classes_are_refused() {
    for (class, reason) in [
        (
            r#"{"type": "colour"}"#,
            "no type of field class named 'colour'",
        ),
        (r#""nobody""#, "no field class alias named 'nobody'"),
        (
            r#"{"type": "fixed-length-bit-array", "length": 65, "byte-order": "big-endian"}"#,
            "1 to 64",
        ),
        (
            r#"{"type": "fixed-length-bit-array", "length": 0, "byte-order": "big-endian"}"#,
            "1 to 64",
        ),
        (
            r#"{"type": "fixed-length-bit-array", "length": 8}"#,
            "byte-order",
        ),
        (
            r#"{"type": "fixed-length-floating-point-number", "length": 16, "byte-order": "big-endian"}"#,
            "16 bits",
        ),
        (
            r#"{"type": "fixed-length-bit-map", "length": 8, "byte-order": "big-endian", "flags": {}}"#,
            "at least one flag",
        ),
        (
            r#"{"type": "fixed-length-bit-map", "length": 8, "byte-order": "big-endian", "flags": {"a": [[8, 8]]}}"#,
            "bit 8",
        ),
        (
            r#"{"type": "null-terminated-string", "encoding": "latin-1"}"#,
            "utf-8",
        ),
        (
            r#"{"type": "static-length-string"}"#,
            "no property 'length'",
        ),
        (
            r#"{"type": "static-length-string", "length": 1.5}"#,
            "no integer",
        ),
        (
            r#"{"type": "structure", "minimum-alignment": 3}"#,
            "power of two",
        ),
        (
            r#"{"type": "structure", "size": 3}"#,
            "unknown property 'size'",
        ),
        (
            &format!(r#"{{{U8}, "mappings": {{"a": [[-1, 2]]}}}}"#),
            "range of 'a'",
        ),
        (
            &format!(r#"{{{U8}, "mappings": {{"a": [[3, 2]]}}}}"#),
            "range of 'a'",
        ),
        (
            &format!(r#"{{{U8}, "preferred-display-base": 7}}"#),
            "2, 8, 10 or 16",
        ),
        (&format!(r#"{{{S8}, "roles": []}}"#), "only unsigned"),
        (
            &format!(r#"{{{U8}, "roles": ["colour"]}}"#),
            "no role named 'colour'",
        ),
        (
            &format!(r#"{{{U8}, "roles": ["event-record-class-id"]}}"#),
            "not allowed in the event payload",
        ),
    ] {
        let error = refused_payload(&[("x", class)]);
        assert!(error.contains(reason), "{class}: {error}");
    }
    let integer = format!("{{{U8}}}");
    let error = refused_payload(&[("x", &integer), ("x", &integer)]);
    assert!(error.contains("already has a member named 'x'"), "{error}");
}

#[test]
fn an_alias_stands_for_its_field_class() {
    let alias =
        format!(r#"{{"type": "field-class-alias", "name": "u8", "field-class": {{{U8}}}}}"#);
    let again = r#"{"type": "field-class-alias", "name": "byte", "field-class": "u8"}"#;
    let members = event(&[("a", "\"u8\""), ("b", "\"byte\"")]);
    let schema = schema(&[PREAMBLE, &alias, again, STREAM, &members]);
    let fields = schema.streams[0].events[0].payload.as_ref().unwrap();
    assert_eq!(class(fields, "a"), class(fields, "b"));
    assert!(refused(&[PREAMBLE, &alias, &alias]).contains("declared twice"));
}

fn array(location: &str) -> String {
    format!(
        r#"{{"type": "dynamic-length-array", "length-field-location": {location}, "element-field-class": {{{U8}}}}}"#
    )
}

#[test]
fn a_relative_location_starts_in_the_structure_of_the_referrer() {
    let integer = format!("{{{U8}}}");
    let inner = structure(&[
        ("n", &integer),
        ("a", &array(r#"{"path": ["n"]}"#)),
        ("b", &array(r#"{"path": [null, "n"]}"#)),
        (
            "c",
            &array(r#"{"origin": "event-record-payload", "path": ["n"]}"#),
        ),
    ]);
    let fields = payload(&[
        ("n", &integer),
        ("inner", &inner),
        ("d", &array(r#"{"path": ["inner", "n"]}"#)),
    ]);
    let FieldClass::Struct(inner) = class(&fields, "inner") else {
        panic!("should be a structure")
    };
    let length = |structure: &Struct, name: &str| match class(structure, name) {
        FieldClass::Array {
            length: Length::Slot(slot),
            ..
        } => Some(*slot),
        _ => None,
    };
    let (outer_slot, inner_slot) = (slot(&fields, "n"), slot(inner, "n"));
    assert_ne!(outer_slot, inner_slot);
    assert_eq!(length(inner, "a"), inner_slot);
    assert_eq!(length(inner, "b"), outer_slot);
    assert_eq!(length(inner, "c"), outer_slot);
    assert_eq!(length(&fields, "d"), inner_slot);
}

#[test]
fn wrong_locations_are_refused() {
    let integer = format!("{{{U8}}}");
    for (location, reason) in [
        (r#"{"path": ["m"]}"#, "no field 'm'"),
        (r#"{"path": ["a"]}"#, "not decoded before"),
        (r#"{"path": ["z"]}"#, "not decoded before"),
        (r#"{"path": [null, "n"]}"#, "leaves the scope"),
        (r#"{"path": []}"#, "end with a name"),
        (r#"{"path": ["n", null]}"#, "end with a name"),
        (r#"{"path": [3]}"#, "made of names"),
        (r#"{"origin": "nowhere", "path": ["n"]}"#, "name of a scope"),
        (
            r#"{"origin": "packet-header", "path": ["n"]}"#,
            "is not declared",
        ),
        (
            r#"{"path": ["s"]}"#,
            "a length must be an unsigned integer, but 's' is a text",
        ),
    ] {
        let error = refused_payload(&[
            ("n", &integer),
            ("s", r#"{"type": "null-terminated-string"}"#),
            ("a", &array(location)),
            ("z", &integer),
        ]);
        assert!(error.contains(reason), "{location}: {error}");
    }
}

#[test]
fn a_location_through_a_variant_means_the_field_in_every_option() {
    let integer = format!("{{{U8}}}");
    let option = |low: u8, members: &[(&str, &str)]| {
        format!(
            r#"{{"selector-field-ranges": [[{low}, {low}]], "field-class": {}}}"#,
            structure(members)
        )
    };
    let variant = format!(
        r#"{{"type": "variant", "selector-field-location": {{"path": ["t"]}}, "options": [{}, {}]}}"#,
        option(0, &[("n", &integer), ("a", &array(r#"{"path": ["n"]}"#))]),
        option(1, &[("x", &integer), ("n", &integer)]),
    );
    let fields = payload(&[
        ("t", &integer),
        ("v", &variant),
        ("a", &array(r#"{"path": ["v", "n"]}"#)),
    ]);
    let FieldClass::Variant {
        selector, options, ..
    } = class(&fields, "v")
    else {
        panic!("should be a variant")
    };
    assert_eq!(Some(*selector), slot(&fields, "t"));
    assert_eq!(options[1].ranges, [Range { low: 1, high: 1 }]);
    let slots: Vec<_> = options
        .iter()
        .map(|option| match &option.class {
            FieldClass::Struct(structure) => slot(structure, "n"),
            _ => None,
        })
        .collect();
    assert!(slots[0].is_some());
    assert_eq!(slots[0], slots[1]);
    assert!(matches!(class(&fields, "a"),
        FieldClass::Array { length: Length::Slot(slot), .. } if Some(*slot) == slots[0]));
}

#[test]
fn options_of_a_variant_do_not_overlap() {
    let integer = format!("{{{U8}}}");
    let variant = format!(
        r#"{{"type": "variant", "selector-field-location": {{"path": ["t"]}}, "options": [
            {{"selector-field-ranges": [[0, 9], [20, 30]], "field-class": {integer}}},
            {{"selector-field-ranges": [[10, 12], [25, 25]], "field-class": {integer}}}]}}"#
    );
    let error = refused_payload(&[("t", &integer), ("v", &variant)]);
    assert!(
        error.contains("the value 25 selects two options"),
        "{error}"
    );
}

#[test]
fn an_optional_field_is_selected_by_a_boolean_or_by_ranges() {
    let integer = format!("{{{S8}}}");
    let boolean = r#"{"type": "fixed-length-boolean", "length": 8, "byte-order": "big-endian"}"#;
    let optional = |selector: &str, ranges: &str| {
        format!(
            r#"{{"type": "optional", "selector-field-location": {{"path": ["{selector}"]}}, {ranges} "field-class": {integer}}}"#
        )
    };
    let ranges = r#""selector-field-ranges": [[-2, -1]],"#;
    let fields = payload(&[
        ("b", boolean),
        ("n", &integer),
        ("x", &optional("b", "")),
        ("y", &optional("n", ranges)),
    ]);
    assert!(matches!(class(&fields, "x"),
        FieldClass::Optional { selector, ranges: None, .. } if Some(*selector) == slot(&fields, "b")));
    assert!(matches!(class(&fields, "y"),
        FieldClass::Optional { selector, selector_signed: true, ranges: Some(ranges), .. }
            if Some(*selector) == slot(&fields, "n") && ranges[0].low == -2));
    let error = refused_payload(&[("b", boolean), ("x", &optional("b", ranges))]);
    assert!(error.contains("has no selector-field-ranges"), "{error}");
    let error = refused_payload(&[("n", &integer), ("x", &optional("n", ""))]);
    assert!(error.contains("needs selector-field-ranges"), "{error}");
}

#[test]
fn roles_have_the_meaning_of_their_scope() {
    let role = |role: &str| format!(r#"{{{U8}, "roles": ["{role}"]}}"#);
    let preamble =
        r#"{"type": "preamble", "version": 2, "uuid": [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}"#;
    let magic = r#"{"type": "fixed-length-unsigned-integer", "length": 32, "byte-order": "big-endian", "roles": ["packet-magic-number"]}"#;
    let uuid = r#"{"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}"#;
    let header = structure(&[("m", magic), ("u", uuid), ("i", &role("data-stream-id"))]);
    let trace = format!(r#"{{"type": "trace-class", "packet-header-field-class": {header}}}"#);
    let clock = r#"{"type": "clock-class", "id": "c", "frequency": 1}"#;
    let context = structure(&[
        ("begin", &role("default-clock-timestamp")),
        ("end", &role("packet-end-default-clock-timestamp")),
        (
            "size",
            &format!(r#"{{{U8}, "roles": ["packet-total-length", "packet-content-length"]}}"#),
        ),
    ]);
    let event_header = structure(&[
        ("t", &role("default-clock-timestamp")),
        ("id", &role("event-record-class-id")),
    ]);
    let scopes = format!(
        r#""packet-context-field-class": {context}, "event-record-header-field-class": {event_header}"#
    );
    let stream =
        format!(r#"{{"type": "data-stream-class", "default-clock-class-id": "c", {scopes}}}"#);
    let schema = schema(&[preamble, &trace, clock, &stream]);
    let marks =
        |structure: &Option<Struct>, name: &str| match class(structure.as_ref().unwrap(), name) {
            FieldClass::Integer(integer) => (integer.role, integer.updates_clock),
            other => panic!("{name} should be an integer, but is {other:?}"),
        };
    assert_eq!(schema.packet_header_uuid, Some(1));
    assert_eq!(
        marks(&schema.packet_header, "m"),
        (Some(Role::PacketMagic), false)
    );
    let stream_class = &schema.streams[0];
    assert_eq!(stream_class.clock, Some(0));
    let context = &stream_class.packet_context;
    assert_eq!(marks(context, "begin"), (Some(Role::TimestampBegin), true));
    assert_eq!(marks(context, "end"), (Some(Role::TimestampEnd), false));
    assert_eq!(marks(context, "size"), (Some(Role::ContentSize), false));
    let header = &stream_class.event_header;
    assert_eq!(marks(header, "t"), (Some(Role::Timestamp), true));
    assert_eq!(marks(header, "id"), (Some(Role::EventId), false));

    let without_clock = format!(r#"{{"type": "data-stream-class", {scopes}}}"#);
    assert!(refused(&[preamble, &without_clock]).contains("needs a clock"));
    assert!(refused(&[PREAMBLE, &trace, STREAM]).contains("the preamble gives none"));
}

#[test]
fn names_that_start_with_an_underscore_are_shown_as_they_are() {
    let fields = payload(&[("_a", &format!("{{{U8}}}")), ("id", &format!("{{{U8}}}"))]);
    assert_eq!(&*fields.members[0].name, "_a");
}

#[test]
fn field_classes_nested_deeper_than_a_limit_are_refused() {
    let mut class = format!("{{{U8}}}");
    for _ in 0..120 {
        class = format!(
            r#"{{"type": "static-length-array", "length": 1, "element-field-class": {class}}}"#
        );
    }
    assert!(refused_payload(&[("x", &class)]).contains("deeper than"));
}
