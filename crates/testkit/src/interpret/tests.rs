//! Small packets, one rule of the format each.

use super::*;
use Value::{Array, Signed, Unsigned};
use rostrace_ctf::metadata;

fn schema(text: &str) -> Schema {
    metadata::read(text.as_bytes()).unwrap().schema
}

fn ctf_1(declarations: &str) -> Schema {
    schema(&format!(
        "trace {{ major = 1; minor = 8; byte_order = le; }};
         typealias integer {{ size = 8; }} := u8; typealias integer {{ size = 64; }} := u64;
         typealias integer {{ size = 8; encoding = UTF8; }} := char;
         {declarations}"
    ))
}

/// An event record class with these members; the data stream class has these properties, too.
fn ctf_2(stream: &str, members: &str) -> Schema {
    schema(&format!(
        r#"{RS}{{"type": "preamble", "version": 2}}{RS}{{"type": "clock-class", "id": "c", "frequency": 1}}
        {RS}{{"type": "data-stream-class", "default-clock-class-id": "c" {stream}}}
        {RS}{{"type": "event-record-class", "payload-field-class": {}}}"#,
        structure(members),
        RS = '\x1E',
    ))
}

fn structure(members: &str) -> String {
    format!(r#"{{"type": "structure", "member-classes": [{members}]}}"#)
}

fn member(name: &str, properties: &str) -> String {
    format!(r#"{{"name": "{name}", "field-class": {{{properties}}}}}"#)
}

/// The payload of the only event in `data`.
fn payload(schema: &Schema, data: &[u8]) -> Result<Vec<Value>, StopReason> {
    match Interpreter::new(schema, data, 0).next().unwrap() {
        Ok(event) => Ok(event.payload.unwrap().members().unwrap().to_vec()),
        Err(stop) => Err(stop.reason),
    }
}

fn decode(members: &str, data: &[u8]) -> Result<Vec<Value>, StopReason> {
    let event = format!("event {{ name = e; fields := struct {{ {members} }}; }};");
    payload(&ctf_1(&event), data)
}

#[test]
fn fields_are_aligned_and_signed_as_they_are_declared() {
    let aligned = "integer { size = 8; align = 32; }";
    let variant = format!("enum : u8 {{ A, B }} t; variant <t> {{ u8 A; {aligned} B; }} v;");
    for (members, data, expected) in [
        (
            "u8 a; integer { size = 8; align = 16; } b[0]; u8 c;",
            &[1, 2, 3][..],
            vec![Unsigned(1), Array(vec![]), Unsigned(3)],
        ),
        (
            &variant,
            &[1, 2, 3, 4, 5],
            vec![Unsigned(1), Value::variant(1, Unsigned(5))],
        ),
        (
            "u8 a; struct { u8 x; } align(32) b;",
            &[1, 0, 0, 0, 2],
            vec![Unsigned(1), Value::Struct(vec![Unsigned(2)])],
        ),
        (
            "integer { size = 5; signed = true; } a;",
            &[0x1E],
            vec![Signed(-2)],
        ),
        ("string a;", b"ab\0", vec![Value::text("ab")]),
        (
            "char a[4]; u8 b;",
            b"a\0cd\x05",
            vec![Value::text("a"), Unsigned(5)],
        ),
    ] {
        assert_eq!(decode(members, data), Ok(expected), "{members}");
    }
    let nothing = StopReason::VariantWithoutOption { selector: 7 };
    assert_eq!(decode(&variant, &[7, 2]), Err(nothing));
    assert_eq!(decode("string a;", b"ab"), Err(StopReason::TextWithoutEnd));
}

#[test]
fn variable_length_integers() {
    let decode_one = |sign: &str, data: &[u8]| {
        let class = format!(r#""type": "variable-length-{sign}-integer""#);
        payload(&ctf_2("", &member("a", &class)), data).map(|mut values| values.remove(0))
    };
    let nine = |byte: u8, last: u8| [vec![byte; 9], vec![last]].concat();
    let too_long = || Err(StopReason::Leb128TooLong);
    for (sign, data, expected) in [
        ("unsigned", vec![0x87, 0x80, 0], Ok(Unsigned(7))),
        ("unsigned", nine(0xFF, 1), Ok(Unsigned(u64::MAX))),
        ("unsigned", nine(0xFF, 2), too_long()),
        ("unsigned", nine(0xFF, 0x81), too_long()),
        ("signed", nine(0x80, 0x7F), Ok(Signed(i64::MIN))),
        (
            "signed",
            vec![0xD9, 0xFB, 0x8D, 0xAC, 0x7C],
            Ok(Signed(-981_238_311)),
        ),
    ] {
        assert_eq!(decode_one(sign, &data), expected, "{sign} {data:x?}");
    }
}

#[test]
fn absurd_lengths_are_refused_before_memory_is_taken() {
    let huge = u64::MAX.to_le_bytes();
    let absurd = StopReason::AbsurdLength {
        length: u64::MAX,
        available: 0,
    };
    assert_eq!(decode("u64 n; u8 a[n];", &huge), Err(absurd));
    assert!(matches!(
        decode("u64 n; struct { } a[n][n];", &huge),
        Err(StopReason::TooManyEmptyElements { .. })
    ));
    let values = decode("u64 n; struct { } a[n];", &3u64.to_le_bytes()).unwrap();
    assert_eq!(values[1], Array(vec![Value::Struct(vec![]); 3]));
}

#[test]
fn a_signed_selector_has_signed_ranges() {
    let byte = |sign| {
        format!(r#""type": "fixed-length-{sign}-integer", "length": 8, "byte-order": "big-endian""#)
    };
    let optional = format!(
        r#""type": "optional", "selector-field-location": {{"path": ["s"]}},
           "selector-field-ranges": [[-2, -1]], "field-class": {{{}}}"#,
        byte("unsigned")
    );
    let members = [member("s", &byte("signed")), member("o", &optional)].join(",");
    let schema = ctf_2("", &members);
    let there = Value::Optional(Some(Box::new(Unsigned(9))));
    assert_eq!(payload(&schema, &[0xFF, 9]), Ok(vec![Signed(-1), there]));
    let absent = vec![Signed(1), Value::Optional(None)];
    assert_eq!(payload(&schema, &[0x01, 9]), Ok(absent));
}

#[test]
fn slots_of_an_event_are_empty_again_in_the_next() {
    let mut schema = ctf_1(
        "stream { event.header := struct { u8 id; }; };
         event { name = a; id = 0; fields := struct { u8 n; char t[n]; }; };
         event { name = b; id = 1; fields := struct { u8 n; char t[n]; }; };",
    );
    // The length is decoded in the first event class only; the second one finds 0.
    let second = schema.streams[0].events[1].payload.as_mut().unwrap();
    second.members.remove(0);
    let events: Vec<_> = Interpreter::new(&schema, b"\0\x02ab\x01", 0)
        .map(|event| event.unwrap().payload.unwrap())
        .collect();
    let expected = [
        Value::Struct(vec![Unsigned(2), Value::text("ab")]),
        Value::Struct(vec![Value::text("")]),
    ];
    assert_eq!(events, expected);
}

#[test]
fn an_event_has_the_time_after_its_header() {
    let schema = ctf_1(
        "clock { name = c; }; typealias integer { size = 8; map = clock.c.value; } := time;
         stream { event.header := struct { u8 id; time timestamp; }; };
         event { name = e; id = 5; fields := struct { time mapped; }; };",
    );
    let mut interpreter = Interpreter::new(&schema, &[5, 0xF0, 0xF8, 5, 0x05, 0x05, 6, 1], 1000);
    let times: Vec<_> = (&mut interpreter)
        .take(2)
        .map(|event| event.unwrap().clock.0)
        .collect();
    assert_eq!(times, [1008, 1029]);
    let unknown = StopReason::UnknownEventClass {
        stream_class: 0,
        id: 6,
    };
    assert_eq!(interpreter.next().unwrap().unwrap_err().reason, unknown);
    assert!(interpreter.next().is_none());
}

#[test]
fn a_variable_length_timestamp_updates_as_many_bits_as_it_carries() {
    let time =
        r#""type": "variable-length-unsigned-integer", "roles": ["default-clock-timestamp"]"#;
    let header = structure(&member("t", time));
    let schema = ctf_2(
        &format!(r#", "event-record-header-field-class": {header}"#),
        "",
    );
    let times: Vec<_> = Interpreter::new(&schema, &[0x7F, 0x01, 0x81, 0x00], 0)
        .map(|event| event.unwrap().clock.0)
        .collect();
    assert_eq!(times, [127, 129, 16385]);
}

#[test]
fn events_end_with_the_content() {
    let schema = ctf_1(
        "stream { packet.context := struct { u8 content_size; u8 packet_size; u8 timestamp_end; }; };
         event { name = e; fields := struct { u8 x; }; };",
    );
    let run = |data: &[u8]| {
        let mut interpreter = Interpreter::new(&schema, data, 0);
        let mut stop = None;
        let mut events = 0;
        for event in &mut interpreter {
            match event {
                Ok(_) => events += 1,
                Err(found) => stop = Some(found),
            }
        }
        (events, stop.map(|stop| stop.reason), interpreter.clock())
    };
    assert_eq!(run(&[40, 56, 99, 1, 2, 0, 0, 7]), (2, None, 99));
    let cut = StopReason::PacketIsCut { content: 40 };
    assert_eq!(run(&[40, 56, 99, 1]), (1, Some(cut), 0));
    let (needed, available) = (8, 4);
    let short = StopReason::NotEnoughBits { needed, available };
    assert_eq!(run(&[36, 56, 99, 1, 2]), (1, Some(short), 0));
    let (content, packet) = (64, 56);
    for (data, reason) in [
        (
            [64, 56, 99, 1],
            StopReason::ContentLargerThanPacket { content, packet },
        ),
        (
            [16, 56, 99, 1],
            StopReason::ContentEndsInHeaders { content: 16 },
        ),
        (
            [16, 57, 99, 1],
            StopReason::PacketSizeNotInBytes { size: 57 },
        ),
    ] {
        assert_eq!(run(&data).1, Some(reason));
    }
}

#[test]
fn an_event_without_bits_is_refused() {
    let schema = ctf_1("event { name = e; fields := struct { }; };");
    let events: Vec<_> = Interpreter::new(&schema, &[0], 0).collect();
    let (position, reason) = (0, StopReason::EmptyEvent);
    assert_eq!(events, [Err(Stop { position, reason })]);
}
