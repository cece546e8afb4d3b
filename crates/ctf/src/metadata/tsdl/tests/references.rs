//! Lengths and tags: which field is meant and which slot it gets.

use super::*;
use crate::schema::{Range, Slot};

#[test]
fn a_sequence_and_its_length_share_a_slot() {
    let fields = payload("u8 a; u8 n; u8 x[n]; u8 y[n]; u8 z[a];");
    assert_eq!(integer(&fields, "a").slot, Some(Slot(0)));
    assert_eq!(integer(&fields, "n").slot, Some(Slot(1)));
    assert_eq!(length(&fields, "x"), Length::Slot(Slot(1)));
    assert_eq!(length(&fields, "y"), Length::Slot(Slot(1)));
    assert_eq!(length(&fields, "z"), Length::Slot(Slot(0)));
}

#[test]
fn a_length_may_come_from_the_environment() {
    let schema = schema(&event(
        "env { count = 3; text = \"x\"; };",
        "u8 a[env.count];",
    ));
    let fields = schema.streams[0].events[0].payload.as_ref().unwrap();
    assert_eq!(length(fields, "a"), Length::Fixed(3));
    all_refused(
        r#"
        env { count = -3; }; event { name = e; fields := struct { u8 a[env.count]; }; }; => cannot be -3
        env { count = x; }; event { name = e; fields := struct { u8 a[env.count]; }; }; => no number
        event { name = e; fields := struct { u8 a[env.count]; }; }; => no entry 'count'
        "#,
    );
}

#[test]
fn the_innermost_structure_that_has_the_name_is_meant() {
    let fields = payload(
        "u8 n; struct { u8 n; struct { u8 a[n]; } inner; } s; struct { struct { u8 a[n]; } inner; } t;",
    );
    let s = nested(&fields, "s");
    let [outer, inner] = [&fields, s].map(|structure| integer(structure, "n").slot.unwrap());
    assert_ne!(outer, inner);
    assert_eq!(length(nested(s, "inner"), "a"), Length::Slot(inner));
    let t = nested(&fields, "t");
    assert_eq!(length(nested(t, "inner"), "a"), Length::Slot(outer));
}

#[test]
fn a_name_declared_after_the_referrer_does_not_hide_an_outer_one() {
    let fields = payload("u8 n; struct { u8 a[n]; u8 n; } s;");
    let s = nested(&fields, "s");
    let outer = integer(&fields, "n").slot.unwrap();
    assert_eq!(length(s, "a"), Length::Slot(outer));
    assert_eq!(integer(s, "n").slot, None);
}

#[test]
fn a_path_goes_through_structures_arrays_and_options() {
    let fields = payload(
        "enum : u8 { A, B } t; struct { u8 n; } s[2]; variant <t> { struct { u8 n; } A; u8 B; } v;
         u8 a[s.n]; u8 b[v.A.n]; u8 c[event.fields.s.n];",
    );
    let Length::Slot(slot) = length(&fields, "a") else {
        panic!("should be a sequence")
    };
    assert_eq!(length(&fields, "c"), Length::Slot(slot));
    assert_ne!(length(&fields, "b"), Length::Slot(slot));
    let FieldClass::Array { element, .. } = &fields.member("s").unwrap().class else {
        panic!("should be an array")
    };
    let FieldClass::Struct(element) = &**element else {
        panic!("should be a structure")
    };
    assert_eq!(integer(element, "n").slot, Some(slot));
}

#[test]
fn references_use_the_original_names() {
    let fields = payload_with(
        "struct named { u8 __n; u8 _a[__n]; };",
        "struct named s; u8 _n; u8 x[_n];",
    );
    let s = nested(&fields, "s");
    assert_eq!(length(s, "a"), Length::Slot(integer(s, "_n").slot.unwrap()));
}

#[test]
fn a_named_structure_finds_its_length_where_it_is_used() {
    let fields = payload_with(
        "struct tail { u8 a[n]; };",
        "u8 n; struct tail t; struct { u8 n; struct tail t; } s;",
    );
    let s = nested(&fields, "s");
    let outer = Length::Slot(integer(&fields, "n").slot.unwrap());
    let inner = Length::Slot(integer(s, "n").slot.unwrap());
    assert_eq!(length(nested(&fields, "t"), "a"), outer);
    assert_eq!(length(nested(s, "t"), "a"), inner);
}

#[test]
fn a_target_must_be_decoded_before_its_referrer() {
    all_payloads_refused(
        r#"
        u8 a[n]; u8 n; => not decoded before
        u8 a[n]; => no field 'n'
        u8 a[event.fields.n]; u8 n; => not decoded before
        u8 a[a]; => not decoded before
        struct { u8 n; } s[event.fields.s.n]; => not decoded before
        struct { u8 a[s.n]; u8 n; } s; => not decoded before
        enum : u8 { A, B } t; variant <t> { struct { u8 n; } A; struct { u8 a[event.fields.v.A.n]; } B; } v; => not decoded before
        u8 a[stream.event.header.n]; => is not declared
        u8 n[2]; u8 a[n]; => but 'n' is an array
        s8 n; u8 a[n]; => but 'n' is a signed integer
        u8 a[-1]; => cannot be -1
        u8 _n; u8 x[n]; => no field 'n'
        u8 t; variant <t> { u8 A; } v; => must be an enumeration, but 't' is an unsigned integer
        "#,
    );
    all_refused(
        r#"
        stream { event.context := struct { u8 a[event.fields.n]; }; }; event { name = e; fields := struct { u8 n; }; }; => the event payload, which comes later
        "#,
    );
}

#[test]
fn an_error_in_a_reference_has_its_place() {
    assert!(refused_payload("\nu8 a[n];").starts_with("line 2, column 6: "));
}

#[test]
fn a_variant_has_the_ranges_of_the_labels_of_its_tag() {
    let fields = payload(
        "enum : s8 { _A = -5 ... -1, B, _A = 7, C } t; variant <t> { u8 B; u8 _A; u8 X; } v;",
    );
    let FieldClass::Variant {
        selector,
        selector_signed,
        options,
    } = &fields.members[1].class
    else {
        panic!("should be a variant")
    };
    assert_eq!(Some(*selector), integer(&fields, "t").slot);
    assert!(*selector_signed);
    let range = |low, high| Range { low, high };
    assert_eq!(options[0].ranges, [range(0, 0)]);
    assert_eq!(options[1].ranges, [range(-5, -1), range(7, 7)]);
    assert_eq!((&*options[1].name, &*options[1].original_name), ("A", "_A"));
    assert_eq!(options[2].ranges, []);
}

#[test]
fn a_tag_may_be_a_path_and_must_be_an_enumeration() {
    let fields = payload_with(
        "variant named { u8 A; };",
        "struct { enum : u8 { A } t; } s; variant <s.t> { u8 A; } v; variant named <event.fields.s.t> w;",
    );
    let slot = integer(nested(&fields, "s"), "t").slot;
    for name in ["v", "w"] {
        let FieldClass::Variant { selector, .. } = &fields.member(name).unwrap().class else {
            panic!("should be a variant")
        };
        assert_eq!(Some(*selector), slot);
    }
}

#[test]
fn slots_are_numbered_scope_after_scope_and_shared_between_events() {
    let text = "typealias integer { size = 8; } := u8;
        trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u8 stream_id; u8 n; }; };
        stream { id = 0; packet.context := struct { u8 n; u8 a[n]; }; event.header := struct { u8 id; u8 n; };
                 event.context := struct { u8 n; u8 a[n]; }; };
        stream { id = 1; packet.context := struct { u8 n; u8 a[n]; }; };
        event { name = a; id = 0; stream_id = 0; context := struct { u8 n; u8 a[n]; };
                fields := struct { u8 n; u8 a[n]; u8 h[stream.event.header.n]; u8 p[trace.packet.header.n]; }; };
        event { name = b; id = 1; stream_id = 0; fields := struct { u8 n; u8 a[n]; }; };";
    let schema = metadata::read(text.as_bytes()).unwrap().schema;
    let slot =
        |structure: &Option<Struct>| integer(structure.as_ref().unwrap(), "n").slot.unwrap().0;
    let [first, second] = schema.streams.as_slice() else {
        panic!("should be two streams")
    };
    assert_eq!(slot(&schema.packet_header), 0);
    assert_eq!(slot(&first.packet_context), 1);
    assert_eq!(slot(&first.event_header), 2);
    assert_eq!(slot(&first.event_context), 3);
    assert_eq!(slot(&second.packet_context), 1);
    assert_eq!(slot(&first.events[0].context), 4);
    assert_eq!(slot(&first.events[0].payload), 5);
    assert_eq!(slot(&first.events[1].payload), 4);
    let payload = first.events[0].payload.as_ref().unwrap();
    assert_eq!(length(payload, "h"), Length::Slot(Slot(2)));
    assert_eq!(length(payload, "p"), Length::Slot(Slot(0)));
    assert_eq!(schema.slots, 6);
}
