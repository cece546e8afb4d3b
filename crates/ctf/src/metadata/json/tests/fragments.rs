//! Fragments: what a trace, its clocks, its streams and its events may say, and which roles fields have.

use super::*;
use crate::schema::{EnvironmentValue, Identity, Origin, Role, Version};

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
    assert!(refused(&[PREAMBLE, plain, plain]).contains("already a clock class"));
}

#[test]
fn unknown_things_are_refused_with_their_place() {
    for (fragment, reason) in table(
        r#"
        {"type": "data-stream-class", "colour": 1} => unknown property 'colour'
        {"type": "colour"} => no type of fragment named 'colour'
        {"type": "data-stream-class", "extensions": {"n": {"x": true}}} => extension of 'n'
        {"type": "data-stream-class", "attributes": 3} => must be an object
        {"id": 1} => no property 'type'
        [] => must be an object
        {"type": "data-stream-class", "id": 1, "id": 2} => 'id' twice
        {"type": "data-stream-class", "id": -1} => unsigned
        {"type": "data-stream-class", "default-clock-class-id": "x"} => no clock class
        {"type": "event-record-class"} => no data stream class with the id 0
        {"type": "data-stream-class", "packet-context-field-class": {"type": "null-terminated-string"}} => must be a structure
        {"type": "clock-class", "frequency": 1} => no property 'id'
        {"type": "clock-class", "id": "c"} => no property 'frequency'
        {"type": "clock-class", "id": "c", "frequency": 0} => at least 1
        {"type": "clock-class", "id": "c", "frequency": 5, "offset-from-origin": {"cycles": 5}} => less than the frequency
        "#,
    ) {
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
