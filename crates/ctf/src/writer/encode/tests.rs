//! What contradicts itself is refused, with the way to the field that is wrong.

use super::*;
use Value::{Array, Signed, Unsigned};

/// A structure with these members, in the words of CTF 1.8.
fn structure(members: &str) -> Struct {
    let text = format!(
        "trace {{ major = 1; minor = 8; byte_order = le; }};
         typealias integer {{ size = 8; }} := u8; typealias integer {{ size = 8; signed = true; }} := s8;
         event {{ name = e; fields := struct {{ {members} }}; }};"
    );
    let mut schema = crate::metadata::read(text.as_bytes()).unwrap().schema;
    schema.streams[0].events[0].payload.take().unwrap()
}

fn encode(structure: &Struct, values: Vec<Value>) -> Result<Vec<u8>, WriteError> {
    let mut encoder = Encoder::new(1, 0);
    encoder.structure("payload", structure, &Value::Struct(values))?;
    Ok(encoder.into_bytes())
}

fn refused(structure: &Struct, values: Vec<Value>) -> String {
    encode(structure, values).unwrap_err().to_string()
}

const VARIANT: &str =
    "enum : u8 { A, B } t; variant <t> { u8 A; struct { u8 x; } align(32) B; } v;";

#[test]
fn fields_are_aligned_as_they_are_declared() {
    for (members, values, expected) in [
        (
            "u8 a; integer { size = 8; align = 16; } b[0]; u8 c;",
            vec![Unsigned(1), Array(vec![]), Unsigned(3)],
            &[1, 0, 3][..],
        ),
        (
            VARIANT,
            vec![
                Unsigned(1),
                Value::variant(1, Value::Struct(vec![Unsigned(5)])),
            ],
            &[1, 0, 0, 0, 5],
        ),
        (
            "u8 a; struct { u8 x; } align(32) b;",
            vec![Unsigned(1), Value::Struct(vec![Unsigned(2)])],
            &[1, 0, 0, 0, 2],
        ),
    ] {
        assert_eq!(
            encode(&structure(members), values).unwrap(),
            expected,
            "{members}"
        );
    }
}

#[test]
fn values_must_agree_with_their_fields_and_with_each_other() {
    let option = Value::variant(1, Value::Struct(vec![Unsigned(5)]));
    for (members, values, field, problem) in [
        (
            VARIANT,
            vec![Unsigned(0), option],
            "v",
            "its selector has the value 0, which does not lead to option 1",
        ),
        (
            "u8 n; u8 a[n];",
            vec![Unsigned(3), Array(vec![Unsigned(1)])],
            "a",
            "its length is 3, but the value has 1",
        ),
        (
            "u8 n; s8 a[n];",
            vec![Unsigned(2), Array(vec![Signed(-128), Signed(128)])],
            "a[1]",
            "the value 128 does not fit in 8 bits",
        ),
        (
            "u8 n; s8 a[n];",
            vec![Signed(2), Array(vec![])],
            "n",
            "an unsigned integer is expected there, but the value is a signed integer",
        ),
    ] {
        let expected = format!("The field `payload.{field}` cannot be written: {problem}.");
        assert_eq!(refused(&structure(members), values), expected);
    }
}

#[test]
fn texts_must_end_where_readers_end_them() {
    let class = FieldClass::Text {
        length: Length::Fixed(3),
        encoding: Encoding::Utf16Le,
    };
    let (name, original_name) = ("t".into(), "t".into());
    let wide = Struct {
        members: vec![crate::schema::Member {
            name,
            original_name,
            class,
        }],
        align: 8,
    };
    assert!(refused(&wide, vec![Value::text("ab")]).contains("4 bytes"));
    // One byte of zeros after the first code unit would be an invalid code unit.
    assert!(refused(&wide, vec![Value::text("a")]).contains("2 bytes"));
    assert!(refused(&structure("string s;"), vec![Value::text("a\0b")]).contains("NUL"));
}

#[test]
fn redundant_bytes_of_variable_length_integers_repeat_the_sign() {
    assert_eq!(leb128(7, false, 3), [0x87, 0x80, 0]);
    assert_eq!(leb128(-1i64 as u64, true, 2), [0xFF, 0x7F]);
    let bytes = leb128(-981_238_311i64 as u64, true, 1);
    assert_eq!(bytes, [0xD9, 0xFB, 0x8D, 0xAC, 0x7C]);
    assert_eq!(leb128(u64::MAX, false, 1).len(), 10);
}
