//! Field classes that do not depend on other fields.

use super::*;
use crate::schema::{Base, ByteOrder, Encoding, IntegerForm, Length, Range};

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
    for (class, reason) in table(
        r#"
        {"type": "colour"} => no type of field class named 'colour'
        "nobody" => no field class alias named 'nobody'
        {"type": "fixed-length-bit-array", "length": 65, "byte-order": "big-endian"} => 1 to 64
        {"type": "fixed-length-bit-array", "length": 0, "byte-order": "big-endian"} => 1 to 64
        {"type": "fixed-length-bit-array", "length": 8} => byte-order
        {"type": "fixed-length-floating-point-number", "length": 16, "byte-order": "big-endian"} => 16 bits
        {"type": "fixed-length-bit-map", "length": 8, "byte-order": "big-endian", "flags": {}} => at least one flag
        {"type": "fixed-length-bit-map", "length": 8, "byte-order": "big-endian", "flags": {"a": [[8, 8]]}} => bit 8
        {"type": "null-terminated-string", "encoding": "latin-1"} => utf-8
        {"type": "static-length-string"} => no property 'length'
        {"type": "static-length-string", "length": 1.5} => no integer
        {"type": "structure", "minimum-alignment": 3} => power of two
        {"type": "structure", "size": 3} => unknown property 'size'
        {U8, "mappings": {"a": [[-1, 2]]}} => range of 'a'
        {U8, "mappings": {"a": [[3, 2]]}} => range of 'a'
        {U8, "preferred-display-base": 7} => 2, 8, 10 or 16
        {S8, "roles": []} => only unsigned
        {U8, "roles": ["colour"]} => no role named 'colour'
        {U8, "roles": ["event-record-class-id"]} => not allowed in the event payload
        "#,
    ) {
        let class = class
            .replace("{U8", &format!("{{{U8}"))
            .replace("{S8", &format!("{{{S8}"));
        let error = refused_payload(&[("x", &class)]);
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
