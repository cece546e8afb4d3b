//! Small hand-made packets, one rule of the format each.

use super::*;
use rostrace_ctf::schema::{
    BitField, ByteOrder, Encoding, EventClass, Identity, Integer, IntegerForm, Member, Range, Role,
    Slot, StreamClass, VariantOption, Version,
};

fn unsigned(size: u8, align: u32) -> Integer {
    Integer {
        form: IntegerForm::Fixed(BitField {
            size,
            align,
            order: ByteOrder::Little,
            reversed: false,
        }),
        signed: false,
        base: Default::default(),
        mappings: None,
        role: None,
        updates_clock: false,
        slot: None,
    }
}

fn variable(signed: bool) -> Integer {
    Integer {
        form: IntegerForm::Variable,
        signed,
        ..unsigned(8, 8)
    }
}

fn with_role(role: Role, integer: Integer) -> FieldClass {
    FieldClass::Integer(Integer {
        updates_clock: matches!(role, Role::Timestamp | Role::TimestampBegin),
        role: Some(role),
        ..integer
    })
}

fn with_slot(slot: u32, integer: Integer) -> FieldClass {
    FieldClass::Integer(Integer {
        slot: Some(Slot(slot)),
        ..integer
    })
}

fn byte() -> FieldClass {
    FieldClass::Integer(unsigned(8, 8))
}

fn structure(classes: Vec<FieldClass>) -> Struct {
    let align = classes.iter().map(FieldClass::alignment).max().unwrap_or(1);
    let members = classes
        .into_iter()
        .enumerate()
        .map(|(index, class)| Member {
            name: format!("m{index}").into(),
            original_name: format!("_m{index}").into(),
            class,
        })
        .collect();
    Struct { members, align }
}

fn event(id: u64, payload: Vec<FieldClass>) -> EventClass {
    EventClass {
        id,
        name: Some(format!("event {id}")),
        log_level: None,
        emf_uri: None,
        context: None,
        payload: Some(structure(payload)),
    }
}

fn schema(header: Option<Struct>, events: Vec<EventClass>) -> Schema {
    Schema {
        version: Version::Ctf1,
        uuid: None,
        identity: Identity::default(),
        byte_order: ByteOrder::Little,
        environment: Vec::new(),
        clocks: Vec::new(),
        packet_header: None,
        packet_header_uuid: None,
        streams: vec![StreamClass {
            id: 0,
            identity: Identity::default(),
            clock: None,
            packet_context: None,
            event_header: header,
            event_context: None,
            events,
        }],
        slots: 0,
    }
}

/// The payload of the only event in `data`.
fn decode(payload: Vec<FieldClass>, data: &[u8]) -> Result<Vec<Value>, StopReason> {
    let schema = schema(None, vec![event(0, payload)]);
    let mut interpreter = Interpreter::new(&schema, data, 0);
    match interpreter.next().unwrap() {
        Ok(event) => Ok(event.payload.unwrap().members().unwrap().to_vec()),
        Err(stop) => Err(stop.reason),
    }
}

fn range(low: i128, high: i128) -> Range {
    Range { low, high }
}

fn option(low: i128, high: i128, class: FieldClass) -> VariantOption {
    VariantOption {
        name: "option".into(),
        original_name: "option".into(),
        ranges: vec![range(low, high)],
        class,
    }
}

use Value::{Array, Signed, Unsigned};

#[test]
fn an_empty_array_is_aligned() {
    let array = FieldClass::Array {
        length: Length::Fixed(0),
        align: 16,
        element: Box::new(FieldClass::Integer(unsigned(8, 16))),
    };
    assert_eq!(
        decode(vec![byte(), array, byte()], &[1, 2, 3]),
        Ok(vec![Unsigned(1), Array(vec![]), Unsigned(3)])
    );
}

#[test]
fn a_variant_aligns_as_its_selected_option() {
    let tag = with_slot(0, unsigned(8, 8));
    let variant = FieldClass::Variant {
        selector: Slot(0),
        selector_signed: false,
        options: vec![
            option(0, 0, byte()),
            option(1, 1, FieldClass::Integer(unsigned(8, 32))),
        ],
    };
    assert_eq!(
        decode(vec![tag.clone(), variant.clone()], &[1, 2, 3, 4, 5]),
        Ok(vec![Unsigned(1), Value::variant(1, Unsigned(5))])
    );
    assert_eq!(
        decode(vec![tag, variant], &[7, 2]),
        Err(StopReason::VariantWithoutOption { selector: 7 })
    );
}

#[test]
fn a_structure_aligns_by_its_own_alignment() {
    let inner = Struct {
        align: 32,
        ..structure(vec![byte()])
    };
    assert_eq!(
        decode(vec![byte(), FieldClass::Struct(inner)], &[1, 0, 0, 0, 2]),
        Ok(vec![Unsigned(1), Value::Struct(vec![Unsigned(2)])])
    );
}

#[test]
fn variable_length_integers() {
    let decode_one = |signed, data: &[u8]| {
        decode(vec![FieldClass::Integer(variable(signed))], data).map(|mut v| v.remove(0))
    };
    let nine = |byte: u8, last: u8| [vec![byte; 9], vec![last]].concat();
    assert_eq!(decode_one(false, &[0x87, 0x80, 0]), Ok(Unsigned(7)));
    assert_eq!(decode_one(false, &nine(0xFF, 1)), Ok(Unsigned(u64::MAX)));
    assert_eq!(
        decode_one(false, &nine(0xFF, 2)),
        Err(StopReason::Leb128TooLong)
    );
    assert_eq!(
        decode_one(false, &nine(0xFF, 0x81)),
        Err(StopReason::Leb128TooLong)
    );
    assert_eq!(decode_one(true, &nine(0x80, 0x7F)), Ok(Signed(i64::MIN)));
    assert_eq!(
        decode_one(true, &[0xD9, 0xFB, 0x8D, 0xAC, 0x7C]),
        Ok(Signed(-981_238_311))
    );
}

#[test]
fn signed_integers_are_twos_complement_over_their_size() {
    let class = FieldClass::Integer(Integer {
        signed: true,
        ..unsigned(5, 1)
    });
    assert_eq!(decode(vec![class], &[0x1E]), Ok(vec![Signed(-2)]));
}

#[test]
fn a_text_needs_its_nul() {
    let string = FieldClass::String {
        encoding: Encoding::Utf8,
    };
    assert_eq!(
        decode(vec![string.clone()], b"ab\0"),
        Ok(vec![Value::text("ab")])
    );
    assert_eq!(decode(vec![string], b"ab"), Err(StopReason::TextWithoutEnd));
    let text = FieldClass::Text {
        length: Length::Fixed(4),
        encoding: Encoding::Utf8,
    };
    assert_eq!(
        decode(vec![text, byte()], b"a\0cd\x05"),
        Ok(vec![Value::text("a"), Unsigned(5)])
    );
}

#[test]
fn absurd_lengths_are_refused_before_memory_is_taken() {
    let length = with_slot(0, unsigned(64, 8));
    let sequence = |element| FieldClass::Array {
        length: Length::Slot(Slot(0)),
        align: 1,
        element: Box::new(element),
    };
    let huge = u64::MAX.to_le_bytes();
    assert_eq!(
        decode(vec![length.clone(), sequence(byte())], &huge),
        Err(StopReason::AbsurdLength {
            length: u64::MAX,
            available: 0
        })
    );
    let nothing = FieldClass::Struct(structure(vec![]));
    assert!(matches!(
        decode(
            vec![length.clone(), sequence(sequence(nothing.clone()))],
            &huge
        ),
        Err(StopReason::TooManyEmptyElements { .. })
    ));
    let three = 3u64.to_le_bytes();
    let values = decode(vec![length, sequence(nothing)], &three).unwrap();
    assert_eq!(values[1], Array(vec![Value::Struct(vec![]); 3]));
}

#[test]
fn a_signed_selector_has_signed_ranges() {
    let selector = with_slot(
        0,
        Integer {
            signed: true,
            ..unsigned(8, 8)
        },
    );
    let optional = FieldClass::Optional {
        selector: Slot(0),
        selector_signed: true,
        ranges: Some(vec![range(-2, -1)]),
        class: Box::new(byte()),
    };
    let classes = vec![selector, optional];
    assert_eq!(
        decode(classes.clone(), &[0xFF, 9]),
        Ok(vec![
            Signed(-1),
            Value::Optional(Some(Box::new(Unsigned(9))))
        ])
    );
    assert_eq!(
        decode(classes, &[0x01, 9]),
        Ok(vec![Signed(1), Value::Optional(None)])
    );
}

#[test]
fn slots_of_an_event_are_empty_again_in_the_next() {
    // The length is decoded in the first event class only; the second one finds 0.
    let header = structure(vec![with_role(Role::EventId, unsigned(8, 8))]);
    let text = FieldClass::Text {
        length: Length::Slot(Slot(0)),
        encoding: Encoding::Utf8,
    };
    let events = vec![
        event(0, vec![with_slot(0, unsigned(8, 8)), text.clone()]),
        event(1, vec![text]),
    ];
    let schema = schema(Some(header), events);
    let events: Vec<_> = Interpreter::new(&schema, b"\0\x02ab\x01", 0).collect();
    let payload = |index: usize| events[index].as_ref().unwrap().payload.clone().unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(
        payload(0),
        Value::Struct(vec![Unsigned(2), Value::text("ab")])
    );
    assert_eq!(payload(1), Value::Struct(vec![Value::text("")]));
}

#[test]
fn an_event_has_the_time_after_its_header() {
    let header = structure(vec![
        with_role(Role::EventId, unsigned(8, 8)),
        with_role(Role::Timestamp, unsigned(8, 8)),
    ]);
    let mapped = FieldClass::Integer(Integer {
        updates_clock: true,
        ..unsigned(8, 8)
    });
    let schema = schema(Some(header), vec![event(5, vec![mapped])]);
    let mut interpreter = Interpreter::new(&schema, &[5, 0xF0, 0xF8, 5, 0x05, 0x05, 6, 1], 1000);
    let times: Vec<_> = (&mut interpreter)
        .take(2)
        .map(|event| event.unwrap().clock.0)
        .collect();
    assert_eq!(times, [1008, 1029]);
    let stop = interpreter.next().unwrap().unwrap_err();
    assert_eq!(
        stop.reason,
        StopReason::UnknownEventClass {
            stream_class: 0,
            id: 6
        }
    );
    assert!(interpreter.next().is_none());
}

#[test]
fn a_variable_length_timestamp_updates_as_many_bits_as_it_carries() {
    let header = structure(vec![with_role(Role::Timestamp, variable(false))]);
    let schema = schema(Some(header), vec![event(0, vec![])]);
    let times: Vec<_> = Interpreter::new(&schema, &[0x7F, 0x01, 0x81, 0x00], 0)
        .map(|event| event.unwrap().clock.0)
        .collect();
    assert_eq!(times, [127, 129, 16385]);
}

#[test]
fn events_end_with_the_content() {
    let mut schema = schema(None, vec![event(0, vec![byte()])]);
    schema.streams[0].packet_context = Some(structure(vec![
        with_role(Role::ContentSize, unsigned(8, 8)),
        with_role(Role::PacketSize, unsigned(8, 8)),
        with_role(Role::TimestampEnd, unsigned(8, 8)),
    ]));
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
    assert_eq!(
        run(&[40, 56, 99, 1]),
        (1, Some(StopReason::PacketIsCut { content: 40 }), 0)
    );
    let needed = |needed, available| Some(StopReason::NotEnoughBits { needed, available });
    assert_eq!(run(&[36, 56, 99, 1, 2]), (1, needed(8, 4), 0));
    assert_eq!(
        run(&[64, 56, 99, 1]).1,
        Some(StopReason::ContentLargerThanPacket {
            content: 64,
            packet: 56
        })
    );
    assert_eq!(
        run(&[16, 56, 99, 1]).1,
        Some(StopReason::ContentEndsInHeaders { content: 16 })
    );
    assert_eq!(
        run(&[16, 57, 99, 1]).1,
        Some(StopReason::PacketSizeNotInBytes { size: 57 })
    );
}

#[test]
fn an_event_without_bits_is_refused() {
    let schema = schema(None, vec![event(0, vec![])]);
    let events: Vec<_> = Interpreter::new(&schema, &[0], 0).collect();
    assert_eq!(
        events,
        [Err(Stop {
            position: 0,
            reason: StopReason::EmptyEvent
        })]
    );
}
