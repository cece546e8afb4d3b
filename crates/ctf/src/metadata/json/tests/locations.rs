//! Field locations, and the field classes that have one.

use super::*;
use crate::schema::{Length, Range};

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
    for (location, reason) in table(
        r#"
        {"path": ["m"]} => no field 'm'
        {"path": ["a"]} => not decoded before
        {"path": ["z"]} => not decoded before
        {"path": [null, "n"]} => leaves the scope
        {"path": []} => end with a name
        {"path": ["n", null]} => end with a name
        {"path": [3]} => made of names
        {"origin": "nowhere", "path": ["n"]} => name of a scope
        {"origin": "packet-header", "path": ["n"]} => is not declared
        {"path": ["s"]} => a length must be an unsigned integer, but 's' is a text
        "#,
    ) {
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
