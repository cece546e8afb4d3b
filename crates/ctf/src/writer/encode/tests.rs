//! What contradicts itself is refused, with the way to the field that is wrong.

use super::*;
use crate::schema::{BitField, ByteOrder, Member};

fn bits(size: u8, align: u32) -> BitField {
    BitField {
        size,
        align,
        order: ByteOrder::Little,
        reversed: false,
    }
}

fn integer(size: u8, signed: bool, slot: Option<u32>) -> FieldClass {
    FieldClass::Integer(Integer {
        form: IntegerForm::Fixed(bits(size, 8)),
        signed,
        base: Default::default(),
        mappings: None,
        role: None,
        updates_clock: false,
        slot: slot.map(Slot),
    })
}

fn structure(classes: Vec<FieldClass>) -> Struct {
    let align = classes.iter().map(FieldClass::alignment).max().unwrap_or(1);
    let members = (classes.into_iter().enumerate())
        .map(|(index, class)| Member {
            name: format!("m{index}").into(),
            original_name: format!("_m{index}").into(),
            class,
        })
        .collect();
    Struct { members, align }
}

fn encode(classes: Vec<FieldClass>, values: Vec<Value>) -> Result<Vec<u8>, WriteError> {
    let mut encoder = Encoder::new(1, 0);
    encoder.structure("payload", &structure(classes), &Value::Struct(values))?;
    Ok(encoder.into_bytes())
}

fn refused(classes: Vec<FieldClass>, values: Vec<Value>) -> String {
    encode(classes, values).unwrap_err().to_string()
}

fn sequence(element: FieldClass) -> FieldClass {
    FieldClass::Array {
        length: Length::Slot(Slot(0)),
        align: element.alignment(),
        element: Box::new(element),
    }
}

fn option(value: i128, class: FieldClass) -> VariantOption {
    VariantOption {
        name: "option".into(),
        original_name: "option".into(),
        ranges: vec![Range {
            low: value,
            high: value,
        }],
        class,
    }
}

use Value::{Array, Signed, Unsigned};

#[test]
fn an_empty_array_is_aligned() {
    let empty = FieldClass::Array {
        length: Length::Fixed(0),
        align: 16,
        element: Box::new(integer(8, false, None)),
    };
    let byte = integer(8, false, None);
    assert_eq!(
        encode(
            vec![byte.clone(), empty, byte],
            vec![Unsigned(1), Array(vec![]), Unsigned(3)]
        )
        .unwrap(),
        [1, 0, 3]
    );
}

#[test]
fn a_variant_aligns_as_its_selected_option() {
    let wide = FieldClass::Struct(Struct {
        align: 32,
        ..structure(vec![integer(8, false, None)])
    });
    let variant = FieldClass::Variant {
        selector: Slot(0),
        selector_signed: false,
        options: vec![option(0, integer(8, false, None)), option(1, wide)],
    };
    let classes = vec![integer(8, false, Some(0)), variant];
    let inner = Value::Struct(vec![Unsigned(5)]);
    assert_eq!(
        encode(
            classes.clone(),
            vec![Unsigned(1), Value::variant(1, inner.clone())]
        )
        .unwrap(),
        [1, 0, 0, 0, 5]
    );
    assert_eq!(
        refused(classes, vec![Unsigned(0), Value::variant(1, inner)]),
        "The field `payload.m1` cannot be written: its selector has the value 0, which does not lead to option 1."
    );
}

#[test]
fn a_structure_aligns_by_its_own_alignment() {
    let inner = Struct {
        align: 32,
        ..structure(vec![integer(8, false, None)])
    };
    assert_eq!(
        encode(
            vec![integer(8, false, None), FieldClass::Struct(inner)],
            vec![Unsigned(1), Value::Struct(vec![Unsigned(2)])]
        )
        .unwrap(),
        [1, 0, 0, 0, 2]
    );
}

#[test]
fn a_length_must_be_that_of_the_array() {
    let classes = vec![
        integer(8, false, Some(0)),
        sequence(integer(8, false, None)),
    ];
    assert_eq!(
        refused(classes, vec![Unsigned(3), Array(vec![Unsigned(1)])]),
        "The field `payload.m1` cannot be written: its length is 3, but the value has 1."
    );
}

#[test]
fn values_must_fit_in_their_fields() {
    let classes = vec![integer(8, false, Some(0)), sequence(integer(8, true, None))];
    assert_eq!(
        refused(
            classes.clone(),
            vec![Unsigned(2), Array(vec![Signed(-128), Signed(128)])]
        ),
        "The field `payload.m1[1]` cannot be written: the value 128 does not fit in 8 bits."
    );
    assert_eq!(
        refused(classes, vec![Signed(2), Array(vec![])]),
        "The field `payload.m0` cannot be written: an unsigned integer is expected there, but the value is a signed \
         integer."
    );
}

#[test]
fn texts_must_end_where_readers_end_them() {
    let text = FieldClass::Text {
        length: Length::Fixed(3),
        encoding: Encoding::Utf16Le,
    };
    assert!(refused(vec![text.clone()], vec![Value::text("ab")]).contains("4 bytes"));
    // One byte of zeros after the first code unit would be an invalid code unit.
    assert!(refused(vec![text], vec![Value::text("a")]).contains("2 bytes"));
    let string = FieldClass::String {
        encoding: Encoding::Utf8,
    };
    assert!(refused(vec![string], vec![Value::text("a\0b")]).contains("NUL"));
}

#[test]
fn redundant_bytes_of_variable_length_integers_repeat_the_sign() {
    assert_eq!(leb128(7, false, 3), [0x87, 0x80, 0]);
    assert_eq!(leb128(-1i64 as u64, true, 2), [0xFF, 0x7F]);
    assert_eq!(
        leb128(-981_238_311i64 as u64, true, 1),
        [0xD9, 0xFB, 0x8D, 0xAC, 0x7C]
    );
    assert_eq!(leb128(u64::MAX, false, 1).len(), 10);
}
