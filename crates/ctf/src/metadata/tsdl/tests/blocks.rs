//! Blocks, their attributes, reserved names, and texts whose end is missing.

use super::*;
use crate::schema::{ByteOrder, EnvironmentValue, Role, Version};

#[test]
fn the_smallest_trace_has_three_attributes() {
    let schema = metadata::read(b"trace { major = 1; minor = 8; byte_order = network; };")
        .unwrap()
        .schema;
    assert_eq!(schema.version, Version::Ctf1);
    assert_eq!(schema.byte_order, ByteOrder::Big);
    assert_eq!((schema.uuid, schema.streams.len()), (None, 0));
}

#[test]
fn the_trace_block_must_be_complete_and_the_only_one() {
    let refused = |text: &str| metadata::read(text.as_bytes()).unwrap_err().to_string();
    for (text, reason) in table(
        r#"
        env { }; => no trace block
        trace { minor = 8; byte_order = le; }; => no major
        trace { major = 1; byte_order = le; }; => no minor
        trace { major = 1; minor = 8; }; => no byte_order
        trace { major = 1; minor = 9; byte_order = le; }; => version 1.9
        trace { major = 1; minor = 8; byte_order = native; }; => le, be or network
        trace { major = 1; major = 1; minor = 8; byte_order = le; }; => 'major' is given twice
        trace { major = 1; minor = 8; byte_order = le; uuid = "x"; }; => UUID
        trace { major = 1; minor = 8; byte_order = le; packet.header := string; }; => must be a structure
        /* CTF 1.8 */ trace { major = 1; => its end is missing
        "#,
    ) {
        assert!(refused(text).contains(reason), "{text}: {}", refused(text));
    }
    let twice = "trace { major = 1; minor = 8; byte_order = le; };\n".repeat(2);
    let second = "line 2, column 1: there is a second trace block";
    assert_eq!(refused(&twice), second);
}

#[test]
fn the_signature_may_be_absent_or_spaced_in_any_way_but_not_of_another_version() {
    let trace = "trace { major = 1; minor = 8; byte_order = le; };";
    for signature in [
        "",
        "\n ",
        "/* CTF 1.8 */",
        "\n/*CTF 1.8 and more */",
        "/*\tCTF  1.8*/",
        "/* CTF */",
    ] {
        assert!(metadata::read(format!("{signature}{trace}").as_bytes()).is_ok());
    }
    let error = metadata::read(format!("/* CTF 1.9 */{trace}").as_bytes()).unwrap_err();
    assert!(error.message.contains("1.9"));
}

#[test]
fn a_final_line_comment_without_line_feed_is_accepted() {
    assert_eq!(schema("stream { }; // the end").streams.len(), 1);
}

#[test]
fn bytes_that_are_no_utf_8_are_allowed_in_comments_and_texts() {
    let mut text = TRACE.as_bytes().to_vec();
    text.extend(b"/* \xE9 */ env { a = \"caf\xE9\"; };");
    let metadata = metadata::read(&text).unwrap();
    assert_eq!(metadata.schema.environment_text("a"), Some("caf\u{FFFD}"));
}

#[test]
fn the_environment_holds_texts_and_numbers_and_the_last_value_of_a_name() {
    let schema = schema("env { a = \"x\"; b = -5; c.d = kernel; }; env { a = 2; event = 1; };");
    let expected = [
        ("a", EnvironmentValue::Integer(2)),
        ("b", EnvironmentValue::Integer(-5)),
        ("c.d", EnvironmentValue::Text("kernel".to_owned())),
        ("event", EnvironmentValue::Integer(1)),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    assert_eq!(schema.environment, expected);
}

#[test]
fn a_number_in_the_environment_that_does_not_fit_is_a_warning() {
    let metadata = read("env { a = 18446744073709551615; };");
    assert_eq!(metadata.schema.environment, []);
    assert_eq!(metadata.warnings.len(), 1);
}

#[test]
fn an_event_has_a_name_an_id_a_level_and_a_uri() {
    let schema = schema(
        "stream { event.header := struct { u8 id; }; };
         event { name = \"a:b\"; loglevel = 13; model.emf.uri = \"http://x\"; };
         event { name = one.two; id = 0x10; loglevel = 15; };",
    );
    let [first, second] = schema.streams[0].events.as_slice() else {
        panic!("should be two events")
    };
    assert_eq!((first.name.as_deref(), first.id), (Some("a:b"), 0));
    assert_eq!(first.log_level, Some(13));
    assert_eq!(first.emf_uri.as_deref(), Some("http://x"));
    assert_eq!((second.name.as_deref(), second.id), (Some("one.two"), 16));
    assert_eq!(second.log_level, None);
}

#[test]
fn streams_and_events_can_be_told_apart() {
    all_refused(
        r#"
        event { id = 1; }; => no name
        stream { event.header := struct { u8 id; }; }; event { name = a; }; event { name = b; }; => already an event of this stream with the id 0
        stream { }; stream { id = 0; }; => already a stream with the id 0
        event { name = a; id = 9223372036854775808; }; => 2^63
        event { name = e; stream_id = 4; }; stream { id = 3; }; => stream that is not declared
        stream { id = 0; }; stream { id = 1; }; => several stream classes
        stream { }; event { name = a; id = 0; }; event { name = b; id = 1; }; => several event classes
        stream { ] }; event { name =  => found ']'
        "#,
    );
}

#[test]
fn an_event_may_precede_its_stream_and_lack_a_stream_at_all() {
    let first = schema("event { name = e; stream_id = 3; }; stream { id = 3; };");
    assert_eq!((first.streams[0].id, first.streams[0].events.len()), (3, 1));
    let second = schema("event { name = e; }; stream { id = 3; };");
    assert_eq!(second.streams[0].events.len(), 1);
    let third = schema("event { name = e; };");
    assert_eq!((third.streams[0].id, third.streams[0].events.len()), (0, 1));
}

#[test]
fn blocks_of_unknown_use_are_skipped() {
    let schema = schema("callsite { name = \"x\"; line = 3; };");
    assert_eq!(schema.streams.len(), 0);
}

fn with_packet_header(members: &str) -> Result<Schema, String> {
    let text = format!(
        "typealias integer {{ size = 8; }} := u8; typealias integer {{ size = 32; }} := u32;
         trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ {members} }}; }};"
    );
    metadata::read(text.as_bytes())
        .map(|metadata| metadata.schema)
        .map_err(|error| error.to_string())
}

#[test]
fn reserved_names_of_the_packet_header_are_roles() {
    let schema = with_packet_header(
        "u32 magic; u8 uuid[16]; u32 stream_id; u32 stream_instance_id; u32 other; struct { u32 stream_id; } s;",
    )
    .unwrap();
    let header = schema.packet_header.unwrap();
    assert_eq!(schema.packet_header_uuid, Some(1));
    let role = |name| integer(&header, name).role;
    assert_eq!(role("magic"), Some(Role::PacketMagic));
    assert_eq!(role("stream_id"), Some(Role::StreamClassId));
    assert_eq!(role("stream_instance_id"), Some(Role::StreamInstanceId));
    assert_eq!(role("other"), None);
    assert_eq!(integer(nested(&header, "s"), "stream_id").role, None);
}

#[test]
fn reserved_names_must_have_the_right_type() {
    for (members, reason) in table(
        "
        u8 magic; => 32 bits
        u8 a; u32 magic; => first member
        string stream_id; => must be an unsigned integer, but is a text
        integer { size = 32; signed = true; } stream_id; => but is signed
        ",
    ) {
        let error = with_packet_header(members).unwrap_err();
        assert!(error.contains(reason), "{members}: {error}");
    }
    let short = with_packet_header("u8 uuid[15];").unwrap();
    assert_eq!(short.packet_header_uuid, None);
}

#[test]
fn every_id_in_the_event_header_is_a_role() {
    let schema = schema(
        "stream { event.header := struct {
            enum : u8 { compact = 0 ... 30, extended = 31 } id;
            variant <id> { struct { u8 x; } compact; struct { u16 id; } extended; } v;
            struct { u8 id; } list[2];
         }; event.context := struct { u8 id; }; };",
    );
    let header = schema.streams[0].event_header.as_ref().unwrap();
    assert_eq!(integer(header, "id").role, Some(Role::EventId));
    let ids = (header.all()).filter(|class| {
        matches!(class, FieldClass::Integer(integer) if integer.role == Some(Role::EventId))
    });
    assert_eq!(ids.count(), 3);
    let context = schema.streams[0].event_context.as_ref().unwrap();
    assert_eq!(integer(context, "id").role, None);
}

#[test]
fn metadata_without_its_end_is_used_up_to_the_last_complete_block() {
    let metadata = read("stream { }; event { name = a; }; event { name = ");
    assert_eq!(metadata.schema.streams[0].events.len(), 1);
    let cut = metadata.cut_short.unwrap();
    assert!(cut.contains("the end of the text"), "{cut}");
}

#[test]
fn an_event_that_lost_its_stream_to_the_cut_is_left_out() {
    let metadata = read(
        "stream { id = 1; }; event { name = a; stream_id = 1; }; event { name = b; stream_id = 2; }; stream { id = 2;",
    );
    assert_eq!(metadata.schema.streams[0].events.len(), 1);
    assert_eq!(metadata.warnings.len(), 1);
}
